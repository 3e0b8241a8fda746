//! Compares the LOUDS trie with maps, merged tries with the union of their keys, and walks over tries with each other.
use std::collections::BTreeMap;
use std::io::Write;

use crate::louds_oracle;
use crate::louds_oracle::walk_pairs;
use furui::dict::{Dict, DictOptions, Layout};
use furui::filter::{Bloom, Filter, FilterMut};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Seal, Section, Tag};
use furui::raw::{LoudsBuilder, LoudsTrie, Merged, Node, SortedKeys, SortedNode, Value, breadth_first, freeze};
use furui::raw::{Rank1, Select0};
use furui::raw::{Rolling, RollingState};
use furui::store::{Memory, Purpose, Storage, StoreKind};
use furui::{Error, HashSpec};
use proptest::prelude::*;

type Map = BTreeMap<Vec<u8>, Value>;
type Entries = Vec<(Vec<u8>, Value)>;

fn entries(map: &Map) -> Entries {
    map.iter().map(|(key, value)| (key.clone(), *value)).collect()
}

fn root(entries: &Entries) -> SortedNode<'_, Vec<u8>> {
    SortedKeys::new(entries).unwrap().root()
}

fn build(root: impl Node) -> LoudsTrie {
    let mut builder = LoudsBuilder::new().unwrap();
    let walked = breadth_first(root, |parent, node| builder.visit(parent.copied(), node.alphabet(), node.value()));
    walked.unwrap();
    builder.finish().unwrap()
}

/// A trie and the filter of its keys.
fn with_filter(root: impl Node, rate: f64, seed: u64, forget: bool) -> (LoudsTrie, Bloom) {
    let rolling = Rolling::new(seed);
    let mut hashes = vec![];
    let push = |&state: &RollingState, byte| rolling.push(state, byte);
    let trie = freeze(root, rolling.start(), push, forget, |state| hashes.push(state.finish())).unwrap();
    assert_eq!(trie.keys(), hashes.len() as u64);
    let mut filter = Bloom::with_rate(trie.keys(), rate).unwrap().hashed_by(Rolling::spec(seed));
    filter.insert_all(&hashes).unwrap();
    (trie, filter)
}

fn trie_of(map: &Map) -> LoudsTrie {
    build(root(&entries(map)))
}

/// The nodes that a walk visits: the number of the parent, the byte, and the value.
fn walk(root: impl Node) -> Vec<(Option<usize>, u8, Option<Value>)> {
    let mut met = vec![];
    breadth_first(root, |parent, node| {
        met.push((parent.copied(), node.alphabet(), node.value()));
        Ok(met.len() - 1)
    })
    .unwrap();
    met
}

/// All parts of a trie.
fn parts(trie: &LoudsTrie) -> (u64, [&[u8]; 5]) {
    (trie.nodes(), [trie.base().words(), trie.leaf().words(), trie.edge(), trie.values(), trie.dead()])
}

fn bits(bit: impl Fn(u64) -> bool, len: u64) -> String {
    (0..len).map(|i| if bit(i) { '1' } else { '0' }).collect()
}

/// Strategy for keys that share prefixes and are prefixes of each other, with the smallest and largest bytes.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(b'b'), Just(0xFE), Just(0xFF)];
    prop_oneof![9 => prop::collection::vec(byte, 0..6), 1 => prop::collection::vec(any::<u8>(), 0..80)]
}

fn map() -> impl Strategy<Value = Map> {
    prop::collection::btree_map(key(), prop::option::weighted(0.9, any::<u32>()), 0..60)
}

#[test]
fn the_papers_figure_2_bit_for_bit() {
    let trie = build(SortedKeys::new(&[("ab", Some(7)), ("ac", Some(8)), ("bd", Some(9))]).unwrap().root());
    assert_eq!(bits(|i| trie.base().bit(i), trie.base().len()), ["10", "110", "110", "10", "0", "0", "0"].concat());
    assert_eq!(bits(|i| trie.leaf().bit(i), trie.leaf().len()), "000111");
    assert_eq!(trie.edge(), b"abbcd");
    assert_eq!(trie.values(), [7u32, 8, 9].map(u32::to_le_bytes).concat());
}

#[test]
fn keys_that_end_within_others_are_marked_where_they_end() {
    let trie = build(SortedKeys::new(&[("", Some(1)), ("a", Some(2)), ("ab", None)]).unwrap().root());
    assert_eq!(bits(|i| trie.base().bit(i), trie.base().len()), ["10", "10", "10", "0"].concat());
    assert_eq!(bits(|i| trie.leaf().bit(i), trie.leaf().len()), "111");
    assert_eq!((trie.get(b""), trie.get(b"a"), trie.get(b"ab")), (Some(Some(1)), Some(Some(2)), Some(None)));
    assert_eq!((trie.get(b"b"), trie.get(b"abc"), trie.get(b"aa")), (None, None, None));
}

#[test]
fn a_trie_without_keys_and_one_of_a_key_of_64_kib() {
    let empty = trie_of(&Map::new());
    assert_eq!((empty.keys(), empty.nodes(), empty.get(b"")), (0, 1, None));
    let mut map = Map::from([(vec![0; 65_536], Some(1)), (vec![0; 65_535], Some(2)), (vec![0xFF; 65_536], Some(3))]);
    let trie = trie_of(&map);
    assert_eq!(trie.nodes(), 1 + 2 * 65_536);
    assert!(map.iter().all(|(key, value)| trie.get(key) == Some(*value)));
    assert_eq!(trie.get(&[0; 65_534]), None);
    map.insert(vec![0; 65_534], None);
    let merged = build(Merged::new([trie_of(&map).root(), trie.root()]).unwrap());
    assert_eq!(parts(&merged), parts(&trie_of(&map)));
}

#[test]
fn the_filter_is_sized_for_the_merged_keys_and_has_its_rate() {
    const RATE: f64 = 0.01;
    let of = |range: std::ops::Range<u32>| {
        let map: Map = range.map(|i| (format!("key {i}").into_bytes(), Some(i))).collect();
        with_filter(root(&entries(&map)), RATE, 5, false)
    };
    // A third of the keys are in both tries.
    let (new, old) = (of(10_000..30_000), of(0..20_000));
    let both = with_filter(Merged::new([new.0.root(), old.0.root()]).unwrap(), RATE, 5, false);
    for ((trie, filter), keys) in [(&new, 10_000..30_000), (&old, 0..20_000), (&both, 0..30_000)] {
        assert_eq!((trie.keys(), filter.capacity()), (keys.len() as u64, keys.len() as u64));
        assert_eq!(filter.bits(), Bloom::with_rate(keys.len() as u64, RATE).unwrap().bits());
        assert_eq!(filter.hash_spec(), Rolling::spec(5));
        let contains = |i: u32| filter.contains_hash(filter.hash_spec().hash(format!("key {i}").as_bytes()));
        assert!(keys.clone().all(contains));
        // With 100,000 absent keys at 1 %, 1000 are expected; sigma is 32.
        let wrong = (1_000_000..1_100_000).filter(|&i| contains(i)).count();
        assert!((850..1150).contains(&wrong), "{wrong} of 100000");
    }
}

#[test]
fn keys_out_of_order_are_refused_by_their_place() {
    for keys in [[("a", None), ("b", None), ("b", None)], [("a", None), ("c", None), ("b", None)]] {
        let error = SortedKeys::new(&keys).unwrap_err().to_string();
        assert!(error.starts_with("key 2 is not greater"), "{error}");
    }
}

#[test]
fn a_second_child_of_the_super_root_is_no_trie() {
    let trie = build(SortedKeys::new(&[("ab", Some(7)), ("ac", Some(8)), ("bd", Some(9))]).unwrap().root());
    let (base, leaf) = (trie.base(), trie.leaf());
    let of = |words: &[u8]| {
        let base = Select0::from_parts(words.to_vec(), base.len(), base.zeros(), base.index().map(<[u8]>::to_vec));
        let leaf = Rank1::from_parts(leaf.words().to_vec(), leaf.len(), leaf.index().to_vec());
        LoudsTrie::from_parts(base.unwrap(), leaf.unwrap(), trie.edge().into(), trie.values().into(), vec![])
    };
    let mut words = base.words().to_vec();
    assert!(of(&words).is_some());
    // The bits "10 110 ..." become "110 10 ...": there are as many nodes, but a walk from the root does not reach all
    // of them.
    words[0] ^= 0b110;
    assert!(of(&words).is_none());
}

/// A file of these sections, which are aligned as in a dictionary.
fn sealed(kind: Kind, hash: HashSpec, sections: &[(Tag, Vec<u8>)]) -> (Vec<u8>, Seal) {
    let mut file = vec![];
    let mut writer = EnvelopeWriter::new(&mut file, kind, hash).unwrap();
    for (tag, bytes) in sections {
        let align = if *tag == Tag::new(*b"TRIE") { Align::Page } else { Align::Line };
        writer.section(*tag, align).unwrap();
        writer.write_all(bytes).unwrap();
    }
    let seal = writer.finish().unwrap();
    (file, seal)
}

fn sections(file: &[u8]) -> Vec<(Tag, Vec<u8>)> {
    let envelope = Envelope::open(file, "good").unwrap();
    let read = |section: &Section| (section.tag, envelope.read_section(file, section.tag, 1 << 20).unwrap());
    envelope.sections().iter().map(read).collect()
}

/// Files of an attacker whose checksums fit: each is refused, or all queries to it end, with any answer.
#[test]
fn files_of_an_enemy_are_errors_or_some_trie() {
    let good = Memory::new();
    let options = DictOptions { layout: Some(Layout::Louds), hash: Some(Rolling::spec(3)), ..DictOptions::default() };
    let mut dict = Dict::open_with(good.clone(), options).unwrap();
    let keys: Vec<String> = (0..300).map(|i| format!("{}/{:x}", ["a", "ab", "abc"][i % 3], i * 7919 % 1000)).collect();
    for (key, value) in keys.iter().zip(0..) {
        dict.put(key, value).unwrap();
    }
    dict.delete(&keys[7]).unwrap();
    dict.delete("no key").unwrap();
    dict.sync().unwrap();
    let manifest = dict.manifest().clone();
    let name = StoreKind::Dict(Purpose::Numbers).file_name(manifest.runs[0].number);
    let outer = sections(&good.open(&name).unwrap());
    let inner = sections(&outer[0].1);
    let (mut opened, mut merged) = (0, 0);
    for part in 0..inner.len() {
        let length = inner[part].1.len();
        let changes =
            (0..length).step_by(1 + length / 25).map(|at| (at, if at % 2 == 0 { 0x5A } else { 1 << (at % 8) }));
        // The first bits of BASE are exchanged, so that the root is its own child.
        for (at, bits) in changes.chain((length > 0).then_some((0, 0b11))) {
            let (mut inner, mut outer, mut manifest) = (inner.clone(), outer.clone(), manifest.clone());
            inner[part].1[at] ^= bits;
            outer[0].1 = sealed(Kind::LoudsTrie, HashSpec::default(), &inner).0;
            let (file, seal) = sealed(Kind::FilteredTrie, manifest.hash, &outer);
            manifest.runs[0].seal = seal;
            let storage = Memory::new();
            storage.publish(&name, |out| out.write_all(&file).map_err(|e| Error::io("cannot write", "it", e))).unwrap();
            manifest.save(&storage).unwrap();
            let Ok(mut dict) = Dict::open_with(storage, options) else { continue };
            opened += 1;
            for key in keys.iter().step_by(9) {
                let _ = (dict.get(key), dict.prefixes(key), dict.prefix(&key[..2]).count());
            }
            assert!(dict.iter().count().max(dict.prefix("\0").count()) <= 10_000);
            let _ = dict.verify();
            dict.put("more", 1).unwrap();
            merged += u32::from(dict.compact().is_ok());
        }
    }
    // Wrong numbers of nodes and keys are refused when the file is opened, and parts that form no tree are refused by
    // merges. If only values or bytes of nodes are changed, the file is valid.
    assert!(opened > 60 && merged > 20, "{opened} opened, {merged} merged");
}

proptest! {
    #[test]
    fn a_trie_answers_like_a_map(map in map(), others in prop::collection::vec(key(), 0..60)) {
        let trie = trie_of(&map);
        prop_assert_eq!(trie.keys(), map.len() as u64);
        for key in map.keys().chain(&others) {
            prop_assert_eq!(trie.get(key), map.get(key).copied());
        }
    }

    #[test]
    fn a_merge_is_the_trie_of_the_union(newest_first in prop::collection::vec(map(), 1..6), seed: u64) {
        let mut union = Map::new();
        newest_first.iter().rev().for_each(|map| union.extend(map.clone()));
        let expected = trie_of(&union);
        let tries: Vec<LoudsTrie> = newest_first.iter().map(trie_of).collect();
        let merged = || Merged::new(tries.iter().map(LoudsTrie::root)).unwrap();
        let (trie, filter) = with_filter(merged(), 0.01, seed, false);
        prop_assert_eq!(parts(&trie), parts(&expected));
        prop_assert_eq!(walk(merged()), walk(expected.root()));
        prop_assert_eq!(walk(merged()), walk(root(&entries(&union))));
        // Virtual nodes of virtual nodes give an equal trie.
        let nested = Merged::new([Merged::new([tries[0].root()]).unwrap()].into_iter().chain(
            Merged::new(tries[1..].iter().map(LoudsTrie::root)),
        ));
        prop_assert_eq!(walk(nested.unwrap()), walk(expected.root()));
        let hasher = Rolling::spec(seed).hasher();
        prop_assert!(union.keys().all(|key| filter.contains_hash(hasher.hash(key))));
        prop_assert_eq!(filter, with_filter(expected.root(), 0.01, seed, false).1);
        // Without the deleted keys, the merged trie is the trie of the other keys.
        union.retain(|_, value| value.is_some());
        let (pruned, expected) = (with_filter(merged(), 0.01, seed, true).0, trie_of(&union));
        prop_assert_eq!(parts(&pruned), parts(&expected));
    }

    #[test]
    fn virtual_nodes_are_walked_like_the_pairs_of_the_appendix(new in map(), old in map()) {
        let (new, old) = (trie_of(&new), trie_of(&old));
        let byte = |pair: &louds_oracle::Pair<_>| {
            [pair.0, pair.1].into_iter().flatten().map(|node: furui::raw::LoudsNode<'_>| node.alphabet()).min()
        };
        let mut pairs = vec![];
        walk_pairs(new.root(), old.root(), |parent, pair| pairs.push((parent.and_then(byte), byte(pair))));
        let mut nodes = vec![];
        breadth_first(Merged::new([new.root(), old.root()]).unwrap(), |parent, node| {
            nodes.push((parent.copied(), Some(node.alphabet())));
            Ok(node.alphabet())
        })
        .unwrap();
        prop_assert_eq!(nodes, pairs);
    }

    #[test]
    fn the_hash_carried_to_a_key_is_that_of_its_bytes(map in map(), seed: u64) {
        let trie = trie_of(&map);
        let rolling = Rolling::new(seed);
        let mut carried = vec![];
        breadth_first(trie.root(), |parent: Option<&(Vec<u8>, RollingState)>, node| {
            let (mut path, mut state) = parent.cloned().unwrap_or((vec![], rolling.start()));
            if parent.is_some() {
                path.push(node.alphabet());
                state = rolling.push(state, node.alphabet());
            }
            if node.value().is_some() {
                carried.push((path.clone(), state.finish()));
            }
            Ok((path, state))
        })
        .unwrap();
        carried.sort_unstable();
        let hasher = Rolling::spec(seed).hasher();
        prop_assert_eq!(carried, map.keys().map(|key| (key.clone(), hasher.hash(key))).collect::<Vec<_>>());
    }

    #[test]
    fn parts_of_a_trie_are_the_trie_and_any_others_are_refused_or_harmless(
        map in map(), flips in prop::collection::vec((0..5usize, any::<usize>(), 0..8u32), 0..4),
    ) {
        let trie = trie_of(&map);
        let mut bytes = parts(&trie).1.map(<[u8]>::to_vec);
        for &(part, at, bit) in &flips {
            let len = bytes[part].len();
            if len > 0 {
                bytes[part][at % len] ^= 1 << bit;
            }
        }
        let (base, leaf) = (trie.base(), trie.leaf());
        let again = LoudsTrie::from_parts(
            Select0::from_parts(&bytes[0][..], base.len(), base.zeros(), base.index()).unwrap(),
            Rank1::from_parts(&bytes[1][..], leaf.len(), leaf.index()).unwrap(),
            &bytes[2][..],
            &bytes[3][..],
            &bytes[4][..],
        );
        if flips.is_empty() {
            let again = again.as_ref().unwrap();
            prop_assert!(map.iter().all(|(key, value)| again.get(key) == Some(*value)));
        }
        if let Some(again) = again {
            prop_assert_eq!(walk(again.root()).len() as u64, trie.nodes());
            map.keys().for_each(|key| _ = again.get(key));
        }
    }
}
