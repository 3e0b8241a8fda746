//! The first code that a new user writes: sets and dictionaries opened by a path, keys passed as they are, and errors
//! that can be matched.

use std::fs;
use std::path::PathBuf;

use furui::dict::{Dict, DictOptions, Done, Entries, Job, Snapshot};
use furui::error::{StoreError, StoreProblem};
use furui::filter::ConfigError;
use furui::format::EnvelopeWriter;
use furui::raw::Lru;
use furui::raw::RunWriter;
use furui::raw::{Trie, TrieEntries, WriteBuffer};
use furui::seen::{Seen, SeenOptions, Verdict};
use furui::store::cascade::{Cascade, CascadeFilter, Journal, Run};
use furui::store::{Directory, DiskFile, Memory, Overlay, Scratch};
use furui::{Error, HashSpec, KeyHash, KeyHasher};

fn free(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("furui-door-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

#[test]
fn a_set_takes_keys_of_any_type_and_hashes_them_by_its_own_spec() {
    let path = free("keys");
    let mut seen = Seen::open(&path).unwrap();
    assert!(seen.insert("a").unwrap());
    assert!(seen.insert(b"b").unwrap());
    assert!(seen.insert(String::from("c")).unwrap());
    assert!(!seen.insert(vec![b'a']).unwrap());
    let spec = seen.hash_spec();
    assert_ne!(spec, Seen::open(free("other")).unwrap().hash_spec(), "each set draws a seed");
    let mut verdicts = vec![];
    seen.observe_all(&spec.hasher().hash_all(["a", "e"]), &mut verdicts).unwrap();
    assert_eq!(verdicts, [Verdict::Repeat, Verdict::New]);
    assert!(seen.contains("e").unwrap());
    assert!(!seen.contains("d").unwrap());
    assert!(seen.insert("d").unwrap(), "a query does not record the key");
}

#[test]
fn extend_counts_what_is_new_over_many_batches() {
    let mut seen = Seen::open_with(Memory::new(), SeenOptions::default()).unwrap();
    let numbers = |range: std::ops::Range<u32>| range.map(u32::to_le_bytes);
    assert_eq!(seen.extend(numbers(0..10_000)).unwrap(), 10_000);
    assert_eq!(seen.extend(numbers(5_000..15_000)).unwrap(), 5_000);
    assert_eq!(seen.extend([""; 0]).unwrap(), 0);
    assert_eq!(seen.counters().keys, 20_000);
}

#[test]
fn a_set_that_is_dropped_keeps_what_was_synced_and_no_more() {
    let path = free("seen-drop");
    let mut seen = Seen::open(&path).unwrap();
    seen.insert("synced").unwrap();
    seen.sync().unwrap();
    seen.insert("dropped").unwrap();
    drop(seen);
    let seen = Seen::open(&path).unwrap();
    assert!(seen.contains("synced").unwrap());
    assert!(!seen.contains("dropped").unwrap());
}

#[test]
fn a_dictionary_that_is_dropped_keeps_what_was_synced_and_no_more() {
    let path = free("dict-drop");
    let mut dict = Dict::open(&path).unwrap();
    assert_eq!(dict.number("synced").unwrap(), 0);
    dict.sync().unwrap();
    assert_eq!(dict.number("dropped").unwrap(), 1);
    drop(dict);
    let dict = Dict::open(&path).unwrap();
    assert_eq!(dict.get("synced").unwrap(), Some(0));
    assert_eq!((dict.get("dropped").unwrap(), dict.next_id()), (None, 1));
}

#[test]
fn ranges_take_bounds_of_any_type() {
    let mut dict = Dict::open_with(Memory::new(), DictOptions::default()).unwrap();
    for (key, value) in [("a", 1), ("b", 2), ("c", 3)] {
        dict.put(key, value).unwrap();
    }
    let values = |entries: Entries<'_>| entries.map(|entry| entry.unwrap().1).collect::<Vec<_>>();
    assert_eq!(values(dict.range("b"..)), [2, 3]);
    assert_eq!(values(dict.range(String::from("a")..String::from("c"))), [1, 2]);
    assert_eq!(values(dict.range(..=vec![b'b'])), [1, 2]);
    assert_eq!(values(dict.range(&b"b"[..]..)), [2, 3]);
    assert_eq!(values(dict.prefix(b"c")), [3]);
}

#[test]
fn another_hash_than_the_files_is_an_error() {
    let memory = Memory::new();
    let mut seen = Seen::open_with(memory.clone(), SeenOptions::default()).unwrap();
    seen.sync().unwrap();
    let other = SeenOptions { hash: Some(HashSpec::default()), ..SeenOptions::default() };
    assert!(matches!(Seen::open_with(memory.clone(), other), Err(Error::Format(_))));
    let kind = Dict::open_with(memory, DictOptions::default()).unwrap_err();
    assert!(matches!(kind, Error::Store(StoreError { problem: StoreProblem::OtherKind { .. }, .. })), "{kind}");
}

#[test]
fn invalid_arguments_are_named_with_their_range() {
    let mut dict = Dict::open_with(Memory::new(), DictOptions::default()).unwrap();
    let long = vec![0; furui::dict::MAX_KEY + 1];
    match dict.put(&long, 1).unwrap_err() {
        Error::Config(ConfigError::OutOfRange { what: "bytes of a key", given, most, .. }) => {
            assert_eq!(given, most + 1)
        }
        other => panic!("{other}"),
    }
    let none = DictOptions { window: 0, ..DictOptions::default() };
    assert!(matches!(
        Dict::open_with(Memory::new(), none),
        Err(Error::Config(ConfigError::OutOfRange { given: 0, least: 1, .. }))
    ));
    let rate = DictOptions { filter_rate: 1.5, ..DictOptions::default() };
    assert!(matches!(Dict::open_with(Memory::new(), rate), Err(Error::Config(ConfigError::Rate { given: 1.5, .. }))));
    assert!(matches!(Lru::new(0), Err(Error::Config(ConfigError::OutOfRange { given: 0, .. }))));
}

#[test]
fn debug_says_how_much_there_is_and_not_every_key() {
    let mut seen = Seen::open_with(Memory::new(), SeenOptions::default()).unwrap();
    seen.extend((0..10_000u32).map(u32::to_le_bytes)).unwrap();
    let shown = format!("{seen:?}");
    assert!(shown.contains("10000") && shown.len() < 2000, "{shown}");
    let mut dict = Dict::open_with(Memory::new(), DictOptions::default()).unwrap();
    for i in 0..10_000u32 {
        dict.put(i.to_le_bytes(), i).unwrap();
    }
    let shown = format!("{dict:?}");
    assert!(shown.contains("10000") && shown.len() < 2000, "{shown}");
}

/// Compiles only if values of the types below can be sent to other threads, and shared between threads.
#[test]
fn everything_is_send_and_sync() {
    fn is<T: Send + Sync>() {}
    is::<Seen>();
    is::<Seen<Scratch>>();
    is::<Seen<Overlay<Directory, Memory>>>();
    is::<Cascade<Directory>>();
    is::<CascadeFilter>();
    is::<Dict>();
    is::<Dict<Memory>>();
    is::<Snapshot>();
    is::<Job<Directory>>();
    is::<Done>();
    is::<Entries<'static>>();
    is::<Trie>();
    is::<TrieEntries<Trie<&[u8]>>>();
    is::<WriteBuffer>();
    is::<Lru>();
    is::<Run<DiskFile>>();
    is::<RunWriter<Vec<u8>>>();
    is::<EnvelopeWriter<Vec<u8>>>();
    is::<Journal<DiskFile>>();
    is::<(KeyHash, KeyHasher, HashSpec)>();
    is::<Error>();
}
