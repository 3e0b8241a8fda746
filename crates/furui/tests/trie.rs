//! The compact trie against a `BTreeMap`.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::collections::BTreeMap;

use furui::dict::{Found, MAX_KEY, Skeleton, Trie, TrieError, TrieNode};
use proptest::prelude::*;

type Model = BTreeMap<Vec<u8>, Option<u32>>;

fn found(value: Option<u32>) -> Found {
    value.map_or(Found::Deleted, Found::Value)
}

fn build(model: &Model) -> Trie {
    let keys = model.iter().map(|(key, value)| (key.as_slice(), *value));
    Trie::encode(&Skeleton::from_sorted(keys).unwrap()).unwrap()
}

/// What a walk over all nodes comes to: every key with what it holds, in byte order.
fn walked(trie: &Trie) -> Vec<(Vec<u8>, Found)> {
    fn walk(trie: &Trie, node: TrieNode, path: &mut Vec<u8>, out: &mut Vec<(Vec<u8>, Found)>) {
        let len = path.len();
        trie.push_label(node, path);
        assert_eq!(path.get(len).copied().unwrap_or(0), trie.first_byte(node));
        out.extend(trie.terminal(node).map(|found| (path.clone(), found)));
        let mut child = trie.first_child(node);
        assert_eq!(child.is_some(), trie.has_children(node));
        while let Some(node) = child {
            walk(trie, node, path, out);
            child = trie.sibling(node);
        }
        path.truncate(len);
    }
    let mut out = vec![];
    walk(trie, trie.root(), &mut vec![], &mut out);
    out
}

fn check(model: &Model) {
    let trie = build(model);
    assert_eq!(trie.keys(), model.len() as u64);
    let expected: Vec<(Vec<u8>, Found)> = model.iter().map(|(key, value)| (key.clone(), found(*value))).collect();
    assert_eq!(walked(&trie), expected);
    for (key, value) in model {
        assert_eq!(trie.get(key), Some(found(*value)), "{key:?}");
        // Neighbours: one byte less, one more, another last byte.
        let mut near = key.clone();
        near.pop();
        assert_eq!(trie.get(&near), model.get(&near).map(|value| found(*value)));
        near.clone_from(key);
        near.push(0);
        assert_eq!(trie.get(&near), model.get(&near).map(|value| found(*value)));
        near.clone_from(key);
        if let Some(last) = near.last_mut() {
            *last ^= 1;
        }
        assert_eq!(trie.get(&near), model.get(&near).map(|value| found(*value)));
    }
}

#[test]
fn no_key_the_empty_key_and_one_key() {
    check(&Model::new());
    check(&Model::from([(vec![], Some(7))]));
    check(&Model::from([(vec![], None)]));
    check(&Model::from([(b"one".to_vec(), Some(u32::MAX))]));
    check(&Model::from([(vec![0], Some(0)), (vec![0, 0], None), (vec![0xFF; 3], Some(1))]));
}

#[test]
fn every_byte_under_every_byte() {
    let keys = (0..=255u8).flat_map(|a| (0..=255u8).map(move |b| (vec![a, b], Some(u32::from(a) << 8 | u32::from(b)))));
    check(&keys.collect());
}

#[test]
fn keys_of_the_greatest_length() {
    let long: Vec<u8> = (0..MAX_KEY as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut model = Model::from([(long.clone(), Some(1)), (long[..MAX_KEY - 1].to_vec(), Some(2))]);
    for len in [1, 2, 126, 127, 128, 255, 256, 257, 1000, 30_000] {
        model.insert(long[..len].to_vec(), Some(len as u32));
        // The same long labels under other nodes.
        model.insert([b"x", &long[..len]].concat(), None);
        model.insert([b"y", &long[..len], b"z"].concat(), Some(5));
    }
    check(&model);
    let deep: Model = (0..600).map(|len| (vec![b'a'; len * 100], Some(len as u32))).collect();
    check(&deep);
    let longer = vec![1; MAX_KEY + 1];
    let error = Skeleton::from_sorted([(b"".as_slice(), Some(0)), (&longer, Some(0))]).unwrap_err();
    assert_eq!(error, TrieError::KeyTooLong { index: 1, length: MAX_KEY + 1 });
}

#[test]
fn keys_out_of_order_are_refused() {
    for keys in [["b", "a"], ["a", "a"], ["ab", "a"], ["", ""]] {
        let error = Skeleton::from_sorted(keys.map(|key| (key.as_bytes(), Some(0)))).unwrap_err();
        assert_eq!(error, TrieError::Unsorted { index: 1 }, "{keys:?}");
    }
}

/// Keys like file names: labels that come often, rarely and once, of many lengths.
fn paths(count: usize) -> Model {
    let word = |i: u64| {
        let x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let len = (x >> 60) as usize + 1;
        x.to_le_bytes().into_iter().cycle().take(len).map(|byte| b'a' + byte % 16).collect::<Vec<u8>>()
    };
    (0..count as u64)
        .map(|i| {
            let words = [word(i % 7), word(i % 300), word(i / 9), word(i), word(i % 5)];
            (words.join(&b'/'), (i % 11 > 0).then_some(i as u32 * 3))
        })
        .collect()
}

#[test]
fn many_keys_with_labels_that_come_again() {
    check(&paths(30_000));
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        3 => prop::collection::vec(prop_oneof![Just(0u8), Just(0xFF), Just(b'a'), Just(b'b')], 0..4),
        2 => prop::sample::select(vec![b"/usr/share/doc/".to_vec(), b"a".repeat(300), b"\0\0".to_vec(), vec![0xFF; 70]]),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_trie_is_the_map_of_its_keys(model in prop::collection::btree_map(key(), any::<Option<u32>>(), 0..300)) {
        check(&model);
    }
}
