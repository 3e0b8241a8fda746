//! Reads any bytes as a filter's file with valid checksums. The result is an error, or a filter whose operations all
//! end and keep their promises. Half of the inputs are files of valid filters, changed at arbitrary places.
#![no_main]

use std::io::Write;

use furui::filter::{AnyFilter, BlockedBloom, Bloom, CheckedFilter, CountingBloom, Filter, FilterMut, FilterRef};
use furui::filter::{Fuse, StableBloomLight, WindowBloom};
use furui::filter::{Gamma, GrowingBloom, QuotientFilter, RingedBloom, RingedParams, SplitBlockBloom, StableBloom};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
use furui::{HashSpec, Hashes, KeyHash};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

const KINDS: [Kind; 11] = [
    Kind::Bloom,
    Kind::BlockedBloom,
    Kind::CountingBloom,
    Kind::StableBloom,
    Kind::StableBloomLight,
    Kind::RingedBloom,
    Kind::QuotientFilter,
    Kind::SplitBlockBloom,
    Kind::GrowingBloom,
    Kind::WindowBloom,
    Kind::Fuse,
];

#[derive(Arbitrary, Debug)]
struct Input {
    kind: u8,
    start: Start,
    /// The bytes to change, each with its section.
    changes: Vec<(u8, u16, u8)>,
    keys: Vec<(u8, u64)>,
}

#[derive(Arbitrary, Debug)]
enum Start {
    Bytes { meta: Vec<u8>, bits: Vec<u8> },
    Filter { size: u8, width: u8, keys: Vec<u64> },
}

fuzz_target!(|input: Input| {
    let kind = KINDS[usize::from(input.kind) % KINDS.len()];
    let mut sections = match input.start {
        Start::Bytes { meta, bits } => {
            let table = if matches!(kind, Kind::GrowingBloom | Kind::WindowBloom) { *b"BITA" } else { *b"BITS" };
            vec![(Tag::new(*b"META"), meta), (Tag::new(table), bits)]
        }
        Start::Filter { size, width, keys } => {
            let Some(mut filter) = good(kind, size, width) else { return };
            for key in keys {
                let _ = filter.insert_hash(KeyHash::new(key));
            }
            sections_of(&filter)
        }
    };
    for (section, at, change) in input.changes {
        let count = sections.len();
        let (_, section) = &mut sections[usize::from(section) % count];
        if let Some(at) = usize::from(at).checked_rem(section.len()) {
            section[at] ^= change;
        }
    }
    let file = sealed(kind, &sections);
    let Ok(borrowed) = FilterRef::from_bytes(&file, "any") else { return };
    let mut again = vec![];
    borrowed.write_to(&mut again).expect("a vector takes all");
    assert_eq!(again, file);
    let keys: Vec<KeyHash> = input.keys.iter().map(|&(_, key)| KeyHash::new(key)).collect();
    let mut answers = vec![];
    borrowed.contains_all(&keys, &mut answers);
    assert!(keys.iter().zip(&answers).all(|(&key, &answer)| borrowed.contains_hash(key) == answer));

    let path = std::env::temp_dir().join(format!("furui-fuzz-{}", std::process::id()));
    std::fs::write(&path, &file).expect("a file can be written");
    let checked = CheckedFilter::open(&path).expect("what was read once");
    let mut batch = Hashes::new(&checked.hash_spec().hasher());
    keys.iter().for_each(|&key| batch.push_hash(key));
    checked.contains_hashes(&batch, &mut answers).expect("whole");
    assert!(keys.iter().zip(&answers).all(|(&key, &answer)| borrowed.contains_hash(key) == answer));
    let mut filter = AnyFilter::open(&path).expect("what was read once");
    for &(operation, key) in &input.keys {
        play(&mut filter, operation, KeyHash::new(key));
    }
    let _ = filter.insert_all(&keys);
    check(&filter);
});

fn good(kind: Kind, size: u8, width: u8) -> Option<AnyFilter> {
    let (counters, bits) = (usize::from(size), 1 << (width % 4));
    Some(match kind {
        Kind::Bloom => AnyFilter::Bloom(Bloom::from_parts(size.into(), u32::from(width)).ok()?),
        Kind::GrowingBloom => {
            let mut chain = GrowingBloom::with_rate(f64::from(width) / 1e5).ok()?;
            for _ in 0..size % 4 {
                chain.union_with(&chain.clone()).ok()?;
            }
            AnyFilter::Growing(chain)
        }
        Kind::WindowBloom => AnyFilter::Window(WindowBloom::for_last(size.into(), f64::from(width) / 256.0).ok()?),
        Kind::BlockedBloom => AnyFilter::Blocked(BlockedBloom::from_parts(size.into(), u32::from(width % 17)).ok()?),
        Kind::RingedBloom => {
            let params = RingedParams::new(1 + u32::from(width % 9), Gamma::Exact, 1 + u32::from(width / 9)).ok()?;
            AnyFilter::Ringed(RingedBloom::with_size(params, size.into()).ok()?)
        }
        Kind::SplitBlockBloom => AnyFilter::SplitBlock(SplitBlockBloom::from_parts(size.into()).ok()?),
        Kind::CountingBloom => AnyFilter::Counting(CountingBloom::from_parts(counters, 3, bits).ok()?),
        Kind::StableBloom => AnyFilter::Stable(StableBloom::from_parts(counters, bits, 3, 4).ok()?),
        Kind::StableBloomLight => AnyFilter::StableLight(StableBloomLight::from_parts(counters, 3, 7).ok()?),
        Kind::QuotientFilter => {
            let filter = QuotientFilter::with_fingerprint_bits(u64::from(size), u32::from(width % 64)).ok()?;
            AnyFilter::Quotient(if width > 127 { filter.counting() } else { filter })
        }
        Kind::Fuse => {
            let keys = (0..size).map(|i| [i, width]);
            AnyFilter::Fuse(Fuse::from_keys(HashSpec::default(), keys, 0.5f64.powi(i32::from(width % 26))).ok()?)
        }
        _ => return None,
    })
}

fn play(filter: &mut AnyFilter, operation: u8, key: KeyHash) {
    let contained = filter.contains_hash(key);
    match (operation % 2, &mut *filter) {
        (0, AnyFilter::Quotient(filter)) if filter.is_counting() => {
            assert_eq!(filter.remove_hash(key), Ok(contained))
        }
        (0, AnyFilter::Counting(filter)) => assert_eq!(filter.remove_hash(key), contained),
        _ => match filter.insert_hash(key) {
            Ok(new) => assert!(new != contained && filter.contains_hash(key)),
            // A key in an old slice of a window is inserted again.
            Err(_) => assert!(
                !contained || matches!(filter, AnyFilter::Quotient(_) | AnyFilter::Window(_) | AnyFilter::Fuse(_))
            ),
        },
    }
}

/// Checks that a filter that was used can still be read; a quotient filter's table is then checked completely.
fn check(filter: &AnyFilter) {
    assert!(filter.false_positive_rate() >= 0.0);
    let mut file = vec![];
    filter.write_to(&mut file).expect("a vector takes all");
    FilterRef::from_bytes(&file, "used").expect("the parts that were used are whole");
    if let AnyFilter::Quotient(filter) = filter {
        let fingerprints: Vec<u64> = filter.fingerprints().collect();
        assert!(fingerprints.is_sorted() && fingerprints.len() as u64 == filter.len());
        let mut twice = filter.clone();
        match twice.union_with(filter) {
            Ok(()) => assert_eq!(twice.distinct(), filter.distinct()),
            Err(_) => assert_eq!(&twice, filter),
        }
        twice = filter.clone();
        twice.intersect_with(filter).expect("they match");
        assert_eq!(&twice, filter);
    }
}

fn sections_of(filter: &AnyFilter) -> Vec<(Tag, Vec<u8>)> {
    let mut file = vec![];
    filter.write_to(&mut file).expect("a vector takes all");
    let envelope = Envelope::open(&file[..], "good").expect("a good file");
    let bytes = |tag| envelope.read_section(&file[..], tag, 1 << 20).expect("a section");
    envelope.sections().iter().map(|section| (section.tag, bytes(section.tag))).collect()
}

fn sealed(kind: Kind, sections: &[(Tag, Vec<u8>)]) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = EnvelopeWriter::new(&mut file, kind, HashSpec::default()).expect("a vector takes all");
    for (tag, bytes) in sections {
        writer.section(*tag, Align::Line).expect("a vector takes all");
        writer.write_all(bytes).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all");
    file
}
