//! The golden files of a dictionary: the bytes in docs/format.md are the bytes that are written and read.

use furui::dict::{Dict, DictOptions, FilterHash, Layout, Merging};
use furui::raw::Rolling;
use furui::store::{MANIFEST, Memory, Storage};
use furui::{Error, Result};

use crate::dump;

const OPTIONS: DictOptions = DictOptions {
    purpose: None,
    form: None,
    layout: None,
    window: 100,
    window_bytes: 1 << 20,
    merge_after: 9,
    merging: Merging::Geometric,
    filter_rate: 0.05,
    filter_hash: None,
    hash: None,
};

/// The files of version 1 of the format, byte for byte.
const GOLDEN: [(&str, &[u8]); 3] = [
    (MANIFEST, include_bytes!("golden/v1/dict/MANIFEST")),
    ("0000000000000000.trie", include_bytes!("golden/v1/dict/0000000000000000.trie")),
    ("0000000000000001.trie", include_bytes!("golden/v1/dict/0000000000000001.trie")),
];

/// The files of a dictionary of LOUDS tries, with filters of two polynomials.
const LOUDS: [(&str, &[u8]); 2] = [
    (MANIFEST, include_bytes!("golden/v1/dict-louds/MANIFEST")),
    ("0000000000000000.trie", include_bytes!("golden/v1/dict-louds/0000000000000000.trie")),
];

fn louds() -> Memory {
    let storage = Memory::new();
    let mut dict =
        Dict::open_with(storage.clone(), DictOptions { hash: Some(Rolling::spec(0)), ..LOUDS_OPTIONS }).unwrap();
    for (key, value) in [("ab", 1), ("ac", 2), ("bd", 3)] {
        dict.put(key, value).unwrap();
    }
    dict.sync().unwrap();
    storage
}

const LOUDS_OPTIONS: DictOptions =
    DictOptions { layout: Some(Layout::Louds), filter_hash: Some(FilterHash::Polynomials2), ..OPTIONS };

/// Puts files into a storage.
fn stored(files: &[(&str, &[u8])]) -> Memory {
    let storage = Memory::new();
    for (name, bytes) in files {
        storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", *name, e))).unwrap();
    }
    storage
}

#[test]
fn today_reads_and_writes_the_louds_tries_of_version_1() {
    for (name, bytes) in LOUDS {
        assert!(*louds().open(name).unwrap() == *bytes, "{name}");
    }
    let dict = Dict::open_with(stored(&LOUDS), OPTIONS).unwrap();
    dict.verify().unwrap();
    let expected = [(b"ab".to_vec(), 1), (b"ac".to_vec(), 2), (b"bd".to_vec(), 3)];
    assert_eq!(dict.iter().collect::<Result<Vec<_>>>().unwrap(), expected);
    assert_eq!((dict.layout(), dict.filter_hash()), (Layout::Louds, FilterHash::Polynomials2));
}

fn golden() -> Memory {
    let storage = Memory::new();
    let options = DictOptions { hash: Some(Rolling::spec(0)), ..OPTIONS };
    let mut dict = Dict::open_with(storage.clone(), options).unwrap();
    for word in ["romane", "romanus", "rom"] {
        dict.number(word.as_bytes()).unwrap();
    }
    dict.put(b"rome", 9).unwrap();
    dict.sync().unwrap();
    dict.delete(b"romanus").unwrap();
    dict.put(b"rom", 12).unwrap();
    dict.sync().unwrap();
    storage
}

#[test]
fn today_reads_and_writes_the_bytes_of_version_1() {
    for (name, bytes) in GOLDEN {
        assert!(*golden().open(name).unwrap() == *bytes, "{name}");
    }
    let dict = Dict::open_with(stored(&GOLDEN), OPTIONS).unwrap();
    dict.verify().unwrap();
    let expected = [(b"rom".to_vec(), 12), (b"romane".to_vec(), 0), (b"rome".to_vec(), 9)];
    assert_eq!(dict.iter().collect::<Result<Vec<_>>>().unwrap(), expected);
    assert_eq!((dict.next_id(), dict.hash_spec(), dict.manifest().generation()), (13, Rolling::spec(0), 3));
}

#[test]
fn the_dumps_in_the_format_description_are_of_the_golden_files() {
    assert_eq!(dump::check("### Filtered trie", "### Values", GOLDEN[2].1, 0..0), 2);
    assert_eq!(dump::check("### LOUDS trie", "### Filter of polynomials", LOUDS[1].1, 0..0), 15);
}

#[test]
#[ignore = "writes the golden files anew, which changes the format"]
fn write_the_golden_files() {
    for (storage, directory) in [(golden(), "dict"), (louds(), "dict-louds")] {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(directory);
        for name in storage.list().unwrap() {
            std::fs::write(directory.join(&name), &*storage.open(&name).unwrap()).unwrap();
        }
    }
}
