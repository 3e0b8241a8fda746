//! Files that are damaged.

use std::thread;

use furui::dict::{Dict, DictOptions};
use furui::store::{Memory, Storage};
use furui::{Error, Result};

use crate::dict::made::{MADE, Model, SMALL, contents, format_error, three_tries};
use crate::dict::values::Values;

/// What a reader or a merge gets from a damaged file is right, or is an error that names the file. A damaged byte that
/// affects no answer may go unnoticed, but is never copied under a new checksum that fits.
#[test]
fn damage_is_named_with_its_file_and_never_read_as_if_it_were_whole() {
    thread::scope(|scope| {
        for made in MADE {
            scope.spawn(move || damage_is_named::<u32>(made));
        }
        // With bytes as values, the kind of filter makes no difference.
        for made in [MADE[0], MADE[1]] {
            scope.spawn(move || damage_is_named::<[u8]>(made));
        }
    });
}

fn damage_is_named<V: Values + ?Sized>(made: DictOptions) {
    let (good, model) = three_tries::<V>(made);
    for number in [0, 2] {
        let file = V::kind().file_name(number);
        for at in (0..good.open(&file).unwrap().as_ref().len()).step_by(31) {
            named_or_right::<V>(&good, &model, &file, at);
        }
    }
}

/// Flips a bit of the byte at `at` in the file `file` of a dictionary, and checks that each query and merge is right,
/// or fails with an error that names the file.
pub(crate) fn named_or_right<V: Values + ?Sized>(good: &Memory, model: &Model<V>, file: &str, at: usize) {
    let storage = Memory::new();
    for name in good.list().unwrap() {
        let mut bytes = good.open(&name).unwrap().to_vec();
        if name == file {
            bytes[at] ^= 0x10;
        }
        storage.publish(&name, |out| out.write_all(&bytes).map_err(|e| Error::io("cannot write", &name, e))).unwrap();
    }
    let named = |error: Error| {
        let error = format_error(Err::<(), _>(error));
        assert!(error.file.contains(file), "at {at}: {error}");
    };
    let open = || V::open(storage.clone(), SMALL);
    if let Err(error) = open() {
        return named(error);
    }
    // Each reader may meet the damage first; all others then report it too.
    let open = || -> Dict<Memory, V> { open().unwrap() };
    let dict = open();
    for (key, value) in model {
        dict.get(key).map_or_else(named, |found| assert_eq!(found, Some(V::lent(value)), "at {at}"));
    }
    let keys: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
    let (dict, mut found) = (open(), vec![]);
    let all = dict.get_all(&keys, &mut found);
    all.map_or_else(named, |()| assert!(found.into_iter().eq(model.values().map(|v| Some(V::lent(v)))), "at {at}"));
    let dict = open();
    let all = dict.iter().map(|entry| entry.map(|(key, value)| (key, V::owned(value)))).collect::<Result<Model<V>>>();
    all.map_or_else(named, |found| assert!(found == *model, "at {at}"));
    let dict = open();
    let prefixes = [5, 6, 7].map(|length| Some((length, V::lent(model.get(&b"key 100"[..length])?))));
    let expected: Vec<_> = prefixes.into_iter().flatten().collect();
    dict.prefixes(b"key 100").map_or_else(named, |found| assert_eq!(found, expected, "at {at}"));
    named(open().verify().unwrap_err());
    let mut dict = open();
    match dict.compact() {
        Err(error) => named(error),
        Ok(()) => {
            dict.verify().unwrap();
            assert!(contents(&dict) == *model, "at {at}");
        }
    }
}
