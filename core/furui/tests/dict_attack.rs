//! Dictionaries whose keys were chosen by an attacker.

use std::collections::HashSet;

use furui::dict::{Dict, DictOptions};
use furui::raw::MAX_PROBE_LENGTH;
use furui::store::Memory;
use furui::{HashSpec, KeyHash};

fn open(storage: Memory) -> Dict<Memory> {
    Dict::open_with(storage, DictOptions::default()).unwrap()
}

/// Words chosen by strangers who know everything about the hash of keys except the seed. Some are made of blocks of
/// letters, found by lattice reduction, whose polynomials are equal modulo 2⁶⁴ at a point that dictionaries once used
/// for hashing. Others are made of Thue-Morse strings, whose polynomials are equal modulo 2⁶⁴ at every point.
fn words_that_once_met(count: u32) -> impl Iterator<Item = Vec<u8>> {
    const LETTERS: [&[u8]; 2] = [b"mmmmmmmmmmmmmmmmmm", b"nmipkmknmmnegnnkln"];
    let morse = |turn: u32| (0..2048u32).map(move |i| b'a' + ((i.count_ones() + turn) % 2) as u8).collect::<Vec<u8>>();
    let morse = [morse(0), morse(1)];
    let letters = (0..count).map(|n| (0..18).flat_map(|bit| LETTERS[(n >> bit & 1) as usize]).copied().collect());
    letters.chain((0..256usize).map(move |n| (0..8).flat_map(|bit| &morse[n >> bit & 1]).copied().collect()))
}

#[test]
fn words_made_to_meet_are_as_any_others() {
    let mut dict = Dict::open_with(Memory::new(), DictOptions::default()).unwrap();
    let words: Vec<Vec<u8>> = words_that_once_met(40_000).collect();
    for word in &words {
        dict.number(word).unwrap();
    }
    // No probe sequence was long; otherwise a window (a write buffer) would have been frozen early.
    assert_eq!(dict.buffered(), words.len());
    let hasher = dict.hash_spec().hasher();
    let hashes: HashSet<KeyHash> = words.iter().map(|word| hasher.hash(word)).collect();
    assert_eq!(hashes.len(), words.len());
    assert!((0..).zip(&words).all(|(number, word)| dict.get(word).unwrap() == Some(number)));
}

#[test]
fn a_window_of_keys_that_meet_is_frozen_early() {
    // Under XXH3 without a seed, the last 8 of these bytes have no influence: they are multiplied by 0.
    let turn = 0xDB97_9083_E96D_D4DE_u64.to_le_bytes();
    let key = |i: u64| [&[b'.'; 16], &turn[..], &i.to_le_bytes()].concat();
    let hash = HashSpec::default();
    assert_eq!(hash.hash(&key(1)), hash.hash(&key(2)));
    let storage = Memory::new();
    let mut dict =
        Dict::open_with(storage.clone(), DictOptions { hash: Some(hash), ..DictOptions::default() }).unwrap();
    let keys = 10 * MAX_PROBE_LENGTH as u64;
    for i in 0..keys {
        assert_eq!(u64::from(dict.number(key(i)).unwrap()), i);
        assert!(dict.buffered() <= 2 * (MAX_PROBE_LENGTH + 1));
        // A concurrent reader does not block the writer.
        if i % 100 == 0 {
            assert_eq!(dict.snapshot().get(key(i / 2)).unwrap().map(u64::from), Some(i / 2));
        }
    }
    dict.sync().unwrap();
    drop(dict);
    let dict = open(storage);
    dict.verify().unwrap();
    assert_eq!(dict.count().unwrap(), keys);
    assert!((0..keys).all(|i| dict.get(key(i)).unwrap().map(u64::from) == Some(i)));
}
