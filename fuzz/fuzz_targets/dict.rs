//! Opens a dictionary of any layout, with any filters and values, whose files were changed at arbitrary places and then
//! given valid checksums. The result is an error, or a dictionary whose operations all end, in bounded time and memory.
//! An unchanged dictionary answers like a map.
#![no_main]

use std::collections::BTreeMap;
use std::io::Write;

use furui::dict::{Dict, DictOptions, DictValue, FilterHash, Layout, Snapshot};
use furui::format::{Align, Envelope, EnvelopeWriter, Seal};
use furui::store::{Memory, Storage};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    is_of_bytes: bool,
    layout: u8,
    /// The keys of each file that are put or, without a value, deleted.
    files: [Vec<(Vec<u8>, Option<Vec<u8>>)>; 2],
    changes: Vec<Change>,
    asked: Vec<Vec<u8>>,
}

/// A byte to change: whether it is in the second file, its section, the section within that section, its place, and the
/// bits to flip.
#[derive(Arbitrary, Debug)]
struct Change(bool, u8, u8, u16, u8);

const LAYOUTS: [(Layout, FilterHash); 6] = [
    (Layout::Compact, FilterHash::OneState),
    (Layout::Louds, FilterHash::OneState),
    (Layout::Louds, FilterHash::Polynomials1),
    (Layout::Louds, FilterHash::Polynomials2),
    (Layout::Louds, FilterHash::Polynomials4),
    (Layout::Louds, FilterHash::Polynomials8),
];

fuzz_target!(|input: Input| {
    let (layout, filter_hash) = LAYOUTS[usize::from(input.layout) % LAYOUTS.len()];
    // Tries are merged only when the target asks for it.
    let options = DictOptions {
        layout: Some(layout),
        filter_hash: Some(filter_hash),
        hash: Some(furui::raw::Rolling::spec(1)),
        ..DictOptions::default()
    };
    if input.is_of_bytes {
        let open = |storage| Dict::open_bytes_with(storage, options);
        run(&input, open, |dict, key, value| dict.put(key, value), |value| value.to_vec());
    } else {
        let number = |value: &[u8]| value.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let open = |storage| Dict::open_with(storage, options);
        let put = |dict: &mut Dict<Memory>, key: &[u8], value: &[u8]| dict.put(key, number(value));
        // A value that is shorter than a number is put as 0, and 0 is read back as an empty value.
        let owned = |value: u32| if value == 0 { vec![] } else { value.to_le_bytes().to_vec() };
        run(&input, open, put, owned);
    }
});

fn run<V: DictValue + ?Sized>(
    input: &Input,
    open: impl Fn(Memory) -> furui::Result<Dict<Memory, V>>,
    put: impl Fn(&mut Dict<Memory, V>, &[u8], &[u8]) -> furui::Result<()>,
    owned: impl Fn(V::Read<'_>) -> Vec<u8>,
) {
    let storage = Memory::new();
    let mut dict = open(storage.clone()).expect("a new dictionary");
    let mut model = BTreeMap::new();
    for entries in &input.files {
        for (key, value) in entries {
            match value {
                Some(value) => {
                    put(&mut dict, key, value).expect("short");
                    let read = dict.get(key).expect("a window").map(&owned).expect("it was just put");
                    model.insert(key.clone(), read);
                }
                None => {
                    dict.delete(key).expect("short");
                    model.remove(key);
                }
            }
        }
        dict.sync().expect("memory");
    }
    let mut manifest = dict.manifest().clone();
    drop(dict);
    for (run, is_second) in manifest.runs.iter_mut().zip([false, true]) {
        let changes: Vec<&Change> = input.changes.iter().filter(|change| change.0 == is_second).collect();
        if !changes.is_empty() {
            let name = manifest.store.file_name(run.number);
            let file = storage.open(&name).expect("it is named").to_vec();
            run.seal = storage.publish(&name, |out| Ok(resealed(&file, &changes, out))).expect("memory");
        }
    }
    manifest.save(&storage).expect("it names what there is");

    let is_good = input.changes.is_empty();
    let Ok(mut dict) = open(storage) else {
        assert!(!is_good);
        return;
    };
    ask(&dict, &model, &input.asked, is_good, &owned);
    assert!(dict.verify().is_ok() || !is_good);
    put(&mut dict, b"more", b"more").expect("a window has room");
    if dict.compact().is_err() {
        assert!(!is_good);
    } else if dict.verify().is_ok() {
        model.insert(b"more".to_vec(), owned(dict.get("more").expect("whole").expect("it was put")));
        ask(&dict, &model, &input.asked, is_good, &owned);
    } else {
        // LOUDS tries are checked before they are merged. Compact tries are not: from an invalid one, a merge makes
        // some other trie.
        assert!(!is_good && dict.layout() == Layout::Compact);
        ask(&dict, &model, &input.asked, is_good, &owned);
    }
}

/// Makes every kind of look-up. If the dictionary is good, its answers must be those of the model.
fn ask<V: DictValue + ?Sized>(
    dict: &Snapshot<V>,
    model: &BTreeMap<Vec<u8>, Vec<u8>>,
    asked: &[Vec<u8>],
    is_good: bool,
    owned: impl Fn(V::Read<'_>) -> Vec<u8>,
) {
    let keys: Vec<&[u8]> = model.keys().chain(asked).map(Vec::as_slice).collect();
    let mut values = vec![];
    assert!(dict.get_all(&keys, &mut values).is_ok() || !is_good);
    for (i, &key) in keys.iter().enumerate() {
        let found = dict.get(key).map(|value| value.map(&owned));
        if is_good {
            assert_eq!(found.expect("whole").as_ref(), model.get(key));
            assert_eq!(values[i].map(&owned).as_ref(), model.get(key));
        }
        let _ = (dict.prefixes(key), dict.longest_prefix(key), dict.prefix(key).take(1000).count());
    }
    let count = dict.iter().take(100_000).count();
    assert!(!is_good || count == model.len());
}

/// Writes a file of a dictionary anew, with these changes, under checksums that fit.
fn resealed(file: &[u8], changes: &[&Change], out: &mut dyn Write) -> Seal {
    let count = Envelope::open(file, "good").expect("a good file").sections().len();
    copied(file, out, Align::Page, &mut |at, section| {
        let here: Vec<&&Change> = changes.iter().filter(|change| usize::from(change.1) % count == at).collect();
        let inner = Envelope::open(&section[..], "good").expect("a section is a file").sections().len();
        let mut changed = vec![];
        copied(section, &mut changed, Align::Line, &mut |at, section| {
            for Change(.., place, bits) in here.iter().filter(|change| usize::from(change.2) % inner == at) {
                if let Some(place) = usize::from(*place).checked_rem(section.len()) {
                    section[place] ^= bits;
                }
            }
        });
        *section = changed;
    })
}

/// Copies a file section by section.
fn copied(file: &[u8], out: &mut dyn Write, align: Align, change: &mut dyn FnMut(usize, &mut Vec<u8>)) -> Seal {
    let envelope = Envelope::open(file, "good").expect("a good file");
    let mut writer = EnvelopeWriter::new(out, envelope.kind(), envelope.hash()).expect("a vector takes all");
    for (at, section) in envelope.sections().iter().enumerate() {
        let mut bytes = envelope.read_section(file, section.tag, 1 << 24).expect("a section");
        change(at, &mut bytes);
        writer.section(section.tag, align).expect("a vector takes all");
        writer.write_all(&bytes).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all")
}
