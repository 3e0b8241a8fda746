//! The dictionary of bytes: its limits, its ids, and what it refuses.

use furui::Error;
use furui::dict::{Dict, DictOptions, MAX_VALUE, Snapshot};
use furui::error::{StoreError, StoreProblem};
use furui::filter::ConfigError;
use furui::store::{Memory, Storage};

use crate::dict::made::{MADE, Model, SMALL, contents};
use crate::dict::model::wear_out;
use crate::dict::values::bytes;

type ByteDict<S> = Dict<S, [u8]>;

fn open<S: Storage>(storage: S) -> ByteDict<S> {
    Dict::open_bytes_with(storage, SMALL).unwrap()
}

#[test]
fn it_goes_to_other_threads_with_what_it_lends() {
    fn shared<T: Send + Sync>() {}
    shared::<ByteDict<Memory>>();
    shared::<Snapshot<[u8]>>();
    shared::<furui::dict::Entries<'_, [u8]>>();
    let mut dict = open(Memory::new());
    dict.put("a", "old").unwrap();
    let snapshot = dict.snapshot();
    let reader = std::thread::spawn(move || snapshot.get("a").unwrap().map(<[u8]>::to_vec));
    dict.put("a", "new").unwrap();
    assert_eq!(reader.join().unwrap().as_deref(), Some(&b"old"[..]));
    assert_eq!(dict.get("a").unwrap(), Some(&b"new"[..]));
}

#[test]
fn values_up_to_the_limit_are_taken_and_no_longer_ones() {
    for made in MADE {
        let storage = Memory::new();
        let mut dict = Dict::open_bytes_with(storage.clone(), made).unwrap();
        let longest = vec![0xA5; MAX_VALUE];
        dict.put("longest", &longest).unwrap();
        dict.put("empty", "").unwrap();
        match dict.put("longer", vec![0; MAX_VALUE + 1]).unwrap_err() {
            Error::Config(ConfigError::OutOfRange { what: "bytes of a value", given, most, .. }) => {
                assert_eq!((given, most), (MAX_VALUE as u64 + 1, MAX_VALUE as u64));
            }
            other => panic!("{other}"),
        }
        dict.compact().unwrap();
        let dict = open(storage);
        assert!(dict.get("longest").unwrap() == Some(&longest));
        assert_eq!((dict.get("empty").unwrap(), dict.get("longer").unwrap()), (Some(&b""[..]), None));
    }
}

#[test]
fn a_window_is_bounded_by_the_bytes_of_its_values_replaced_ones_too() {
    for made in MADE {
        let options = DictOptions { window: 1000, window_bytes: 10_000, ..made };
        let mut dict = Dict::open_bytes_with(Memory::new(), options).unwrap();
        for i in 0..100u8 {
            dict.put([i], vec![i; 1000]).unwrap();
            assert!(dict.buffered() <= 20);
        }
        for i in 0..200u8 {
            dict.put("one", vec![i; 1000]).unwrap();
        }
        assert!(dict.tries().count() > 0 && dict.count().unwrap() == 101);
        assert_eq!(dict.get("one").unwrap().unwrap(), [199; 1000]);
    }
}

/// A few keys are put again until the ids of values run out, and this several times over.
#[test]
fn ids_of_values_that_are_gone_are_given_again() {
    for made in MADE {
        let storage = Memory::new();
        let options = DictOptions { window: 100, ..made };
        let open = || Dict::open_bytes_with(storage.clone(), options).unwrap();
        let mut dict = open();
        dict.put("a", "first").unwrap();
        dict.put("b", "never put again").unwrap();
        dict.put("c", "deleted").unwrap();
        dict.delete("c").unwrap();
        dict.sync().unwrap();
        for round in 0..3 {
            wear_out(&storage);
            let mut dict = open();
            dict.put("a", "second").unwrap();
            let snapshot = dict.snapshot();
            for put in 0..20 {
                dict.put("a", format!("{round} {put}")).unwrap();
            }
            assert_eq!(snapshot.get("a").unwrap(), Some(&b"second"[..]));
            assert_eq!(dict.get("a").unwrap(), Some(format!("{round} 19").as_bytes()));
            // Everything that was put before the ids ran out is durable.
            let left = open();
            assert!(left.get("a").unwrap().unwrap().starts_with(format!("{round} ").as_bytes()));
            assert!(left.manifest().next_id <= 2, "{}", left.manifest().next_id);
            dict.compact().unwrap();
            dict.verify().unwrap();
            assert!(contents(&dict).into_keys().eq([b"a", b"b"].map(Vec::from)));
            assert_eq!(open().get("b").unwrap(), Some(&b"never put again"[..]));
            assert_eq!(dict.manifest().next_id, 2);
        }
        // The case that all keys are deleted when the ids run out.
        let mut dict = open();
        dict.delete("a").unwrap();
        dict.delete("b").unwrap();
        dict.compact().unwrap();
        wear_out(&storage);
        let mut dict = open();
        for put in 0..10 {
            dict.put("d", [put]).unwrap();
            dict.delete("d").unwrap();
        }
        dict.put("d", "last").unwrap();
        dict.sync().unwrap();
        assert_eq!(open().get("d").unwrap(), Some(&b"last"[..]));
    }
}

#[test]
fn numbers_and_bytes_are_never_taken_for_each_other() {
    let (numbers, bytes) = (Memory::new(), Memory::new());
    Dict::open_with(numbers.clone(), SMALL).unwrap().sync().unwrap();
    open(bytes.clone()).sync().unwrap();
    let errors = [
        Dict::open_with(bytes, SMALL).map(drop).unwrap_err(),
        Dict::open_bytes_with(numbers, SMALL).map(drop).unwrap_err(),
    ];
    for error in errors {
        let message = error.to_string();
        assert!(matches!(error, Error::Store(StoreError { problem: StoreProblem::OtherKind { .. }, .. })), "{message}");
        assert!(message.contains("a dictionary of numbers") && message.contains("a dictionary of bytes"), "{message}");
    }
}

#[test]
fn merged_values_are_in_many_blocks_and_all_found() {
    for made in MADE {
        let storage = Memory::new();
        let options = DictOptions { window: 700, merge_after: 2, ..made };
        let mut dict = Dict::open_bytes_with(storage.clone(), options).unwrap();
        let mut model = Model::<[u8]>::new();
        for i in 0..5000u32 {
            let (key, value) = ((i % 3100).to_le_bytes().to_vec(), bytes((i * 7 % 61) as usize, i as u8));
            dict.put(&key, &value).unwrap();
            model.insert(key, value);
        }
        dict.sync().unwrap();
        let dict = Dict::open_bytes_with(storage, options).unwrap();
        for (key, value) in &model {
            assert_eq!(dict.get(key).unwrap(), Some(value.as_slice()));
        }
        assert!(contents(&dict) == model);
        dict.verify().unwrap();
    }
}
