//! Reads a trie's file that was changed anywhere, and has valid checksums: the result is an error, or a trie whose
//! operations all end, in bounded time and memory. An unchanged trie answers like a map.
#![no_main]

use std::collections::BTreeMap;
use std::io::Write;

use furui::HashSpec;
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
use furui::raw::Rolling;
use furui::raw::{Skeleton, Trie};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

const META: Tag = Tag::new(*b"META");
const TRIE: Tag = Tag::new(*b"TRIE");

#[derive(Arbitrary, Debug)]
struct Input {
    map: BTreeMap<Vec<u8>, Option<u32>>,
    /// The bytes of `META` or `TRIE` to change.
    changes: Vec<(bool, u16, u8)>,
    asked: Vec<Vec<u8>>,
}

fuzz_target!(|input: Input| {
    let entries = input.map.iter().map(|(key, &value)| (key.as_slice(), value));
    let skeleton = Skeleton::from_sorted(entries).expect("sorted and short");
    let trie = Trie::encode(&skeleton).expect("small");
    let mut made = vec![];
    trie.write_to(&mut made).expect("a vector takes all");
    let envelope = Envelope::open(&made[..], "good").expect("a good file");
    let [mut meta, mut body] =
        [META, TRIE].map(|tag| envelope.read_section(&made[..], tag, 1 << 24).expect("a section"));
    for &(in_meta, at, change) in &input.changes {
        let section = if in_meta { &mut meta } else { &mut body };
        if let Some(at) = usize::from(at).checked_rem(section.len()) {
            section[at] ^= change;
        }
    }
    let file = sealed(&meta, &body);
    let Ok(trie) = Trie::from_bytes(&file, "any") else { return };
    let good = trie.check().is_ok() && input.changes.is_empty();
    assert!(good || !input.changes.is_empty());
    let keys: Vec<&[u8]> = input.map.keys().chain(&input.asked).map(Vec::as_slice).collect();
    let mut found = vec![];
    trie.get_all(&keys, &mut found);
    for (key, found) in keys.iter().zip(&found) {
        assert_eq!(trie.get(key), *found);
        if good {
            assert_eq!(found.map(|found| found.value()), input.map.get(*key).copied());
        }
        let _ = trie.prefixes(key).count();
        let _ = trie.iter_from(key).take(1000).count();
    }
    let count = trie.iter().take(100_000).count();
    assert!(!good || count == input.map.len());
    let made = Trie::from_bytes(&made, "good").expect("a good file");
    for tries in [[&trie, &made], [&made, &trie]] {
        let merged = Trie::merge(&tries, &Rolling::new(0), false, drop);
        let nodes = merged.map(|merged| (merged.check().is_ok(), merged.iter().take(100_000).count()));
        assert!(!good || nodes == Ok((true, input.map.len())));
    }
});

fn sealed(meta: &[u8], body: &[u8]) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = EnvelopeWriter::new(&mut file, Kind::Trie, HashSpec::default()).expect("a vector takes all");
    for (tag, bytes) in [(META, meta), (TRIE, body)] {
        writer.section(tag, Align::Line).expect("a vector takes all");
        writer.write_all(bytes).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all");
    file
}
