//! The write buffer of a dictionary compared with an ordered map.

use std::collections::BTreeMap;

use furui::HashSpec;
use furui::dict::MAX_KEY;
use furui::raw::{Found, WriteBuffer};
use proptest::collection::vec;
use proptest::prelude::*;

const SPEC: HashSpec = HashSpec { algorithm: furui::HashAlgorithm::Xxh3, seed: 1 };

/// Strategy for keys of few letters, so that they share prefixes and repeat; some end in zeros or ones, and some are
/// long.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let letters = prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(b'b'), Just(0xFF)];
    prop_oneof![
        4 => vec(letters.clone(), 0..6),
        3 => vec(letters, 0..3).prop_map(|end| [&[b'x'; 20][..], &end].concat()),
        1 => (0usize..40).prop_map(|length| vec![0; length]),
    ]
}

fn entry() -> impl Strategy<Value = Found> {
    prop_oneof![3 => any::<u32>().prop_map(Found::Value), 1 => Just(Found::Deleted)]
}

fn assert_same(buffer: &WriteBuffer, model: &BTreeMap<Vec<u8>, Found>) {
    assert_eq!(buffer.len(), model.len());
    let ordered: Vec<_> = (0..).map_while(|i| buffer.nth(i)).map(|r| (r.key.to_vec(), r.found)).collect();
    assert_eq!(ordered, model.clone().into_iter().collect::<Vec<_>>());
    for (rank, (key, &entry)) in model.iter().enumerate() {
        assert_eq!(buffer.get(key, SPEC.hash(key)), Some(entry));
        assert_eq!(buffer.rank(key), rank);
    }
}

proptest! {
    #[test]
    fn behaves_as_an_ordered_map(rounds in vec(vec((key(), entry()), 0..200), 1..4), absent in vec(key(), 0..20)) {
        let (mut buffer, mut model) = (WriteBuffer::new(), BTreeMap::new());
        for round in rounds {
            for (key, entry) in round {
                prop_assert_eq!(buffer.put(&key, SPEC.hash(&key), entry), model.insert(key, entry));
            }
            assert_same(&buffer, &model);
        }
        for key in absent {
            prop_assert_eq!(buffer.get(&key, SPEC.hash(&key)), model.get(&key).copied());
            prop_assert_eq!(buffer.rank(&key), model.range(..key).count());
        }
    }
}

#[test]
fn keys_of_every_length_come_back_in_order() {
    let (mut buffer, mut model) = (WriteBuffer::new(), BTreeMap::new());
    for length in (0..300).chain([MAX_KEY - 1, MAX_KEY]).rev() {
        let key: Vec<u8> = (0..length).map(|i| (i / 40) as u8).collect();
        let entry = Found::Value(length as u32);
        assert_eq!(buffer.put(&key, SPEC.hash(&key), entry), None);
        model.insert(key, entry);
    }
    assert_same(&buffer, &model);
    assert!(buffer.bytes() > 2 * MAX_KEY && buffer.has_room(MAX_KEY));
}

#[test]
fn keys_whose_hashes_are_equal_are_kept_apart() {
    let mut buffer = WriteBuffer::new();
    let hash = SPEC.hash(b"the same");
    for i in 0..500u32 {
        assert_eq!(buffer.put(&i.to_le_bytes(), hash, Found::Value(i)), None);
    }
    assert!((0..500u32).all(|i| buffer.get(&i.to_le_bytes(), hash) == Some(Found::Value(i))));
    assert_eq!(buffer.get(b"none", hash), None);
}

#[test]
#[should_panic(expected = "a key that fits")]
fn a_key_over_the_limit_is_the_callers_error() {
    WriteBuffer::new().put(&vec![0; MAX_KEY + 1], SPEC.hash(b""), Found::Deleted);
}
