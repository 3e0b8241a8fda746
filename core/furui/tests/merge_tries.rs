//! Tries merged in one walk, compared with the trie of the union of their keys.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use furui::dict::{MAX_KEY, TrieError};
use furui::filter::{AnyFilter, BlockedBloom, Filter, FilterMut};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
use furui::raw::Rolling;
use furui::raw::{Found, MAX_MERGED, Skeleton, Trie};
use furui::{HashSpec, KeyHash};
use proptest::prelude::*;

type Model = BTreeMap<Vec<u8>, Option<u32>>;

const SEED: u64 = 7;

fn build(model: &Model) -> Trie {
    let keys = model.iter().map(|(key, value)| (key.as_slice(), *value));
    Trie::encode(&Skeleton::from_sorted(keys).unwrap()).unwrap()
}

fn bytes(trie: &Trie) -> Vec<u8> {
    let mut file = vec![];
    trie.write_to(&mut file).unwrap();
    file
}

/// The label of each node, and whether a key ends at the node, in breadth-first order.
fn nodes(trie: &Trie) -> Vec<(Vec<u8>, bool)> {
    let mut queue = VecDeque::from([trie.root()]);
    let mut nodes = vec![];
    while let Some(node) = queue.pop_front() {
        queue.extend(std::iter::successors(trie.first_child(node), |&child| trie.sibling(child)));
        let mut label = vec![];
        trie.push_label(node, &mut label);
        nodes.push((label, trie.terminal(node).is_some()));
    }
    nodes
}

fn filter(hashes: &[KeyHash]) -> BlockedBloom {
    let mut filter = BlockedBloom::with_rate(hashes.len() as u64, 0.01).unwrap().hashed_by(Rolling::spec(SEED));
    filter.insert_all(hashes).unwrap();
    filter
}

fn filter_bytes(filter: BlockedBloom) -> Vec<u8> {
    let mut file = vec![];
    AnyFilter::Blocked(filter).write_to(&mut file).unwrap();
    file
}

/// Checks the merge of `parts`, which are newest first.
fn check(parts: &[Model]) {
    let tries: Vec<Trie> = parts.iter().map(build).collect();
    let tries: Vec<&Trie> = tries.iter().collect();
    let mut union = Model::new();
    for part in parts.iter().rev() {
        union.extend(part.clone());
    }
    for forget in [false, true] {
        if forget {
            union.retain(|_, value| value.is_some());
        }
        let mut hashes = vec![];
        let merged = Trie::merge(&tries, &Rolling::new(SEED), forget, |hash| hashes.push(hash)).unwrap();
        assert_eq!(merged.check(), Ok(()));
        assert_eq!(merged.keys(), union.len() as u64, "forget: {forget}");
        let found = |value: Option<u32>| value.map_or(Found::Deleted, Found::Value);
        assert!(merged.iter().eq(union.iter().map(|(key, value)| (key.clone(), found(*value)))), "forget: {forget}");
        let built = build(&union);
        assert!(nodes(&merged) == nodes(&built), "the nodes differ; forget: {forget}");
        for (key, value) in &union {
            assert_eq!(merged.get(key), Some(found(*value)));
            assert_eq!(merged.get(key), built.get(key));
        }

        let hasher = Rolling::spec(SEED).hasher();
        let of_keys: Vec<KeyHash> = union.keys().map(|key| hasher.hash(key)).collect();
        let (carried, from_keys) = (filter(&hashes), filter(&of_keys));
        assert!(of_keys.iter().all(|&hash| carried.contains_hash(hash)));
        assert!(filter_bytes(carried) == filter_bytes(from_keys));
    }
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    let letters = |len| prop::collection::vec(prop::sample::select(vec![0, b'a', b'b', 0xFF]), 0..len);
    let words = prop::collection::vec(prop::sample::select(vec!["usr/", "share/", "doc/", "lib", "x"]), 0..6);
    prop_oneof![
        3 => letters(5),
        2 => letters(12),
        2 => words.prop_map(|words| words.concat().into_bytes()),
        1 => (letters(3), 1usize..400, letters(3)).prop_map(|(a, n, b)| [a, vec![b'l'; n], b].concat()),
    ]
}

fn part() -> impl Strategy<Value = Model> {
    let value = prop_oneof![3 => (0u32..1000).prop_map(Some), 1 => Just(None)];
    prop::collection::btree_map(key(), value, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn merged_tries_are_the_trie_of_the_union(parts in prop::collection::vec(part(), 1..9)) {
        check(&parts);
    }
}

fn paths(from: u32, to: u32) -> Model {
    let key = |i: u32| {
        let word = ["alpha", "beta", "gamma", "delta"][(i * 7 % 11 % 4) as usize];
        format!("/srv/{word}/{:03}/{word}-{i:x}.d/file.{}", i % 97, i.wrapping_mul(2_654_435_761) >> 20).into_bytes()
    };
    (from..to).map(|i| (key(i), Some(i))).collect()
}

#[test]
fn many_keys_split_at_random_come_together_again() {
    let all = paths(0, 6000);
    for ways in [2, 4, 8] {
        let mut parts = vec![Model::new(); ways];
        for (i, (key, value)) in all.iter().enumerate() {
            parts[(i * 2_654_435_761) >> 7 & (ways - 1)].insert(key.clone(), *value);
        }
        check(&parts);
    }
}

#[test]
fn what_is_left_of_deleted_subtrees_is_path_compressed() {
    let old = paths(0, 3000);
    let mut new: Model = old.keys().step_by(3).map(|key| (key.clone(), None)).collect();
    new.extend(old.keys().filter(|key| key.starts_with(b"/srv/beta/")).map(|key| (key.clone(), None)));
    check(&[new.clone(), old.clone()]);
    let all: Model = old.keys().map(|key| (key.clone(), None)).collect();
    check(&[all.clone(), new, old.clone()]);
    check(&[paths(5, 6), all, old]);
}

#[test]
fn the_empty_key_empty_tries_and_long_labels() {
    let one = |key: &[u8], value| Model::from([(key.to_vec(), value)]);
    check(&[]);
    check(&[Model::new(), Model::new()]);
    check(&[one(b"", Some(1)), Model::new(), one(b"", Some(2)), one(b"a", None)]);
    check(&[one(b"", None), one(b"", Some(2))]);
    let long = vec![b'x'; MAX_KEY];
    let mut other = long.clone();
    other[MAX_KEY - 1] = b'y';
    let half = long[..MAX_KEY / 2].to_vec();
    check(&[one(&long, Some(1)), one(&other, Some(2)), one(&half, Some(3))]);
    check(&[one(&long, None), one(&other, Some(2)), one(&half, None)]);
    check(&[(0..=255).map(|byte| (vec![byte; 3], Some(1))).collect(), one(&[9, 9, 8], None)]);
}

#[test]
fn too_many_tries_are_refused() {
    let (trie, rolling) = (build(&Model::new()), Rolling::new(0));
    assert!(matches!(Trie::merge(&vec![&trie; MAX_MERGED + 1], &rolling, true, drop), Err(TrieError::TooLarge(_))));
    assert!(Trie::merge(&vec![&trie; MAX_MERGED], &rolling, true, drop).is_ok());
}

#[test]
fn damaged_tries_are_errors_or_some_trie() {
    let whole = build(&paths(0, 400));
    let other = build(&paths(300, 500));
    let envelope = Envelope::open(bytes(&whole).as_slice(), "whole").unwrap();
    let section = |tag| envelope.read_section(bytes(&whole).as_slice(), Tag::new(tag), 1 << 24).unwrap();
    let (meta, mut body) = (section(*b"META"), section(*b"TRIE"));
    let other = bytes(&other);
    let other = Trie::from_bytes(&other, "memory").unwrap();
    for at in (0..body.len()).step_by(11) {
        body[at] ^= 0x5A;
        // The checksums fit, as in a file of an attacker, or of a furui with a bug.
        let mut file = vec![];
        let mut writer = EnvelopeWriter::new(&mut file, Kind::Trie, HashSpec::default()).unwrap();
        for (tag, bytes) in [(*b"META", &meta), (*b"TRIE", &body)] {
            writer.section(Tag::new(tag), Align::Line).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        let damaged = Trie::from_bytes(&file, "memory").unwrap();
        for forget in [false, true] {
            if let Ok(merged) = Trie::merge(&[&damaged, &other], &Rolling::new(0), forget, drop) {
                merged.iter().count();
                merged.check().unwrap();
            }
        }
        body[at] ^= 0x5A;
    }
}
