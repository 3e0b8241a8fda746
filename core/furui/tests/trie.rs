//! The compact trie compared with a `BTreeMap`.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Bound;

use furui::HashSpec;
use furui::dict::{MAX_KEY, TrieError};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
use furui::raw::{Found, Skeleton, Trie, TrieNode};
use proptest::prelude::*;

use crate::dump;

type Model = BTreeMap<Vec<u8>, Option<u32>>;

fn found(value: Option<u32>) -> Found {
    value.map_or(Found::Deleted, Found::Value)
}

fn build(model: &Model) -> Trie {
    let keys = model.iter().map(|(key, value)| (key.as_slice(), *value));
    Trie::encode(&Skeleton::from_sorted(keys).unwrap()).unwrap()
}

/// The result of a walk over all nodes: every key with its value, in byte order.
fn walked(trie: &Trie) -> Vec<(Vec<u8>, Found)> {
    fn walk(trie: &Trie, node: TrieNode, path: &mut Vec<u8>, out: &mut Vec<(Vec<u8>, Found)>) {
        let len = path.len();
        trie.push_label(node, path);
        out.extend(trie.terminal(node).map(|found| (path.clone(), found)));
        let mut child = trie.first_child(node);
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
        // These are neighbours of the key: one byte shorter, one longer, and another last byte.
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
    check_batches(&trie, model);
    check_file(&trie, &expected);
}

fn check_batches(trie: &Trie, model: &Model) {
    let mut keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    keys.extend(model.keys().map(|key| [key, b"/".as_slice()].concat()));
    keys.extend(model.keys().map(|key| key[..key.len() / 2].to_vec()));
    keys.sort_by_key(|key| key.iter().fold(7u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)));
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let one_by_one: Vec<Option<Found>> = keys.iter().map(|key| trie.get(key)).collect();
    let mut all = vec![None; 3];
    trie.get_all(&keys, &mut all);
    assert_eq!(all, one_by_one);
    assert!(keys.iter().zip(all).all(|(&key, answer)| answer == model.get(key).map(|value| found(*value))));
}

fn file_of(trie: &Trie) -> Vec<u8> {
    let mut file = vec![];
    let seal = trie.write_to(&mut file).unwrap();
    assert_eq!(seal.length, file.len() as u64);
    file
}

fn check_file(trie: &Trie, expected: &[(Vec<u8>, Found)]) {
    let file = file_of(trie);
    let read = Trie::from_bytes(&file, "memory").unwrap();
    assert!(read.iter().eq(expected.iter().cloned()));
    let mut again = vec![];
    read.write_to(&mut again).unwrap();
    assert!(again == file);
    read.check().unwrap();
}

#[test]
fn entries_from_a_key_on_and_prefixes_are_those_of_the_map() {
    let mut model = paths(3000);
    model.extend([(vec![], Some(1)), (vec![0], Some(2)), (vec![0xFF; 5], None), (b"a/b".to_vec(), Some(3))]);
    let trie = build(&model);
    let expected = |from: &[u8]| -> Vec<(Vec<u8>, Found)> {
        let range = (Bound::Included(from), Bound::Unbounded);
        model.range::<[u8], _>(range).map(|(key, value)| (key.clone(), found(*value))).collect()
    };
    let mut bounds: Vec<Vec<u8>> = model.keys().step_by(211).cloned().collect();
    bounds.extend(bounds.clone().into_iter().map(|key| [&key[..key.len() / 2], b"m"].concat()));
    bounds.extend(bounds.clone().into_iter().map(|key| key[..key.len() / 3].to_vec()));
    for bound in &bounds {
        for from in [bound.clone(), [bound, &[0][..]].concat()] {
            assert_eq!(trie.iter_from(&from).collect::<Vec<_>>(), expected(&from), "{from:?}");
        }
        let text = [bound, b"/tail".as_slice()].concat();
        let on_the_way: Vec<(usize, Found)> =
            (0..=text.len()).filter_map(|len| Some((len, found(*model.get(&text[..len])?)))).collect();
        assert_eq!(trie.prefixes(&text).collect::<Vec<_>>(), on_the_way);
    }
}

#[test]
fn keys_on_a_chain_are_all_prefixes_of_the_longest() {
    let model: Model = (0..700).map(|len| (vec![b'a' + (len % 3) as u8; len], Some(len as u32))).collect();
    let trie = build(&model);
    for key in model.keys() {
        let expected: Vec<usize> = (0..=key.len()).filter(|&len| model.contains_key(&key[..len])).collect();
        assert_eq!(trie.prefixes(key).map(|(len, _)| len).collect::<Vec<_>>(), expected);
    }
}

/// Calls all operations of a trie, whose bytes may be anything.
fn ask(trie: &Trie<&[u8]>, keys: &[&[u8]]) {
    let mut out = vec![];
    trie.get_all(keys, &mut out);
    for (i, key) in keys.iter().enumerate() {
        assert_eq!(trie.get(key), out[i]);
        trie.prefixes(key).take(100).for_each(drop);
        trie.iter_from(key).take(20).for_each(drop);
    }
    let mut entries = trie.iter();
    let mut visited = 0;
    while entries.next_entry().is_some() {
        visited += 1;
    }
    assert!(visited <= trie.nodes() + 1);
    let _ = trie.check();
}

#[test]
fn damaged_bytes_give_wrong_answers_or_errors_but_no_panic() {
    let mut model = paths(1500);
    let long = vec![b'l'; 3000];
    model.insert(long, Some(3));
    let file = file_of(&build(&model));
    let keys: Vec<&[u8]> = model.keys().step_by(29).map(Vec::as_slice).collect();
    let mut random = 1u64;
    let mut next = |n: usize| {
        random = random.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
        ((u128::from(random) * n as u128) >> 64) as usize
    };
    let (meta, body) = sections(&file);
    for round in 0..300 {
        let mut damaged = body.clone();
        for _ in 0..1 + next(40) {
            let at = next(if round % 2 == 0 { body.len() } else { 2000 });
            damaged[at] = [0, 0xFF, next(256) as u8, damaged[at] ^ (1 << next(8))][next(4)];
        }
        ask(&Trie::from_bytes(&sealed(&meta, &damaged), "damaged").unwrap(), &keys);
    }
    for byte in [0, 0xFF] {
        ask(&Trie::from_bytes(&sealed(&meta, &vec![byte; body.len()]), "one byte only").unwrap(), &keys);
    }
}

/// The two sections of a trie's file.
fn sections(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let envelope = Envelope::open(file, "trie").unwrap();
    let section = |tag| envelope.read_section(file, Tag::new(tag), 1 << 24).unwrap();
    (section(*b"META"), section(*b"TRIE"))
}

/// The file of a trie with these sections, and checksums that fit.
fn sealed(meta: &[u8], body: &[u8]) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = EnvelopeWriter::new(&mut file, Kind::Trie, HashSpec::default()).unwrap();
    for (tag, align, bytes) in [(*b"META", Align::Line, meta), (*b"TRIE", Align::Page, body)] {
        writer.section(Tag::new(tag), align).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
    file
}

#[test]
fn any_numbers_in_meta_are_an_error_or_a_trie_that_works() {
    let file = file_of(&build(&paths(700)));
    let (meta, body) = sections(&file);
    for at in 0..meta.len() {
        for byte in [0, 1, 0x7F, 0xFF, meta[at] ^ 1, meta[at].wrapping_add(1)] {
            let mut meta = meta.clone();
            meta[at] = byte;
            if let Ok(trie) = Trie::from_bytes(&sealed(&meta, &body), "meta") {
                ask(&trie, &[b"", b"a", b"somewhere/else"]);
            }
        }
    }
}

#[test]
fn damage_anywhere_in_a_file_is_an_error() {
    let file = file_of(&build(&paths(200)));
    for at in (0..file.len()).step_by(3) {
        let mut damaged = file.clone();
        damaged[at] ^= 1;
        assert!(Trie::from_bytes(&damaged, "damaged").is_err(), "at {at}");
        assert!(Trie::from_bytes(&file[..at], "cut off").is_err(), "at {at}");
    }
}

/// The keys of the golden file.
fn golden() -> Model {
    let mut model = Model::from([
        (b"rom".to_vec(), Some(1)),
        (b"romane".to_vec(), Some(2)),
        (b"romanus".to_vec(), Some(3)),
        (b"rubens".to_vec(), None),
        (vec![], Some(5)),
    ]);
    model.extend((0..200u32).map(|i| (format!("dir{}/file{i}.txt", i % 9).into_bytes(), Some(i))));
    model.insert(b"long".repeat(100), Some(7));
    model
}

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/compact.trie");

#[test]
#[ignore = "writes the golden file, once"]
fn write_the_golden_file() {
    std::fs::write(GOLDEN, file_of(&build(&golden()))).unwrap();
}

#[test]
fn the_example_of_the_format_description_is_what_is_written() {
    let entries = [("rom", Some(3)), ("romane", Some(1)), ("romanus", None)];
    let file = file_of(&build(&entries.map(|(key, value)| (key.as_bytes().to_vec(), value)).into()));
    dump::check("### Compact trie", "### LOUDS trie", &file, 0x40..0x11c0);
}

#[test]
fn the_golden_file_is_read_and_written_as_it_is() {
    let file = std::fs::read(GOLDEN).unwrap();
    let trie = Trie::from_bytes(&file, "golden").unwrap();
    let expected: Vec<_> = golden().into_iter().map(|(key, value)| (key, found(value))).collect();
    assert_eq!(trie.iter().collect::<Vec<_>>(), expected);
    assert!(file_of(&build(&golden())) == file, "the encoder writes other bytes: has the format changed?");
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
        // Long labels repeat under other nodes.
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

/// Keys like file names, with labels of many lengths that occur often, rarely, or once.
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

/// Among these numbers of nodes are those around each full block, of 64 nodes, and around the blocks of which the
/// directory has the place.
#[test]
fn tries_of_any_number_of_nodes_have_all_keys() {
    let mut nodes = vec![];
    for count in (1..=270).chain(4074..=4086) {
        let model: Model = (0..count).map(|i: u16| (vec![(i >> 8) as u8, i as u8], Some(i.into()))).collect();
        check(&model);
        nodes.push(build(&model).nodes());
    }
    for full in [64, 128, 256, 64 * 64] {
        assert!([full - 1, full, full + 1].iter().all(|near| nodes.contains(near)), "{full} nodes");
    }
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
