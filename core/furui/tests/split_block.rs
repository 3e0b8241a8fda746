//! The split-block filter: the figures and the bytes of Parquet's specification, and files.

use std::collections::HashSet;
use std::io::Write;

use furui::filter::{AnyFilter, Filter, FilterMut, FilterRef, MAX_PARQUET_BYTES, ParquetError, SplitBlockBloom};
use furui::format::{Align, EnvelopeWriter, Kind, Tag};
use furui::{HashAlgorithm, HashSpec, KeyHash};
use proptest::prelude::*;

use crate::dump;

const GOLDEN: &[u8] = include_bytes!("golden/v1/split_block.filter");

/// A filter of four blocks with the hundred keys of [`url`], as the Rust crate `parquet` wrote it.
const PARQUET: &[u8] = include_bytes!("golden/v1/parquet.bloom");

const XXH64: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh64, seed: 0 };

fn url(i: u64) -> KeyHash {
    XXH64.hash(format!("https://example.org/{i}").as_bytes())
}

fn filter_of(blocks: u64, keys: impl IntoIterator<Item = KeyHash>) -> SplitBlockBloom {
    let mut filter = SplitBlockBloom::from_parts(blocks).unwrap();
    for key in keys {
        filter.insert_hash(key).unwrap();
    }
    filter
}

fn golden() -> SplitBlockBloom {
    filter_of(2, ["a", "b", "c"].map(|key| XXH64.hash(key.as_bytes())))
}

fn file_of(filter: SplitBlockBloom) -> Vec<u8> {
    let mut bytes = Vec::new();
    AnyFilter::SplitBlock(filter).write_to(&mut bytes).unwrap();
    bytes
}

fn parquet_of(filter: &SplitBlockBloom) -> Result<Vec<u8>, ParquetError> {
    let mut bytes = Vec::new();
    filter.to_parquet(&mut bytes).map(|()| bytes)
}

#[test]
fn the_golden_file_is_read_and_written_byte_for_byte() {
    let filter = FilterRef::from_bytes(GOLDEN, "split_block.filter").unwrap();
    for i in 0..1000 {
        assert_eq!(filter.contains_hash(url(i)), golden().contains_hash(url(i)), "{i}");
    }
    let mut written = Vec::new();
    filter.write_to(&mut written).unwrap();
    assert!(written == GOLDEN && file_of(golden()) == GOLDEN);
}

#[test]
fn the_dump_in_the_format_description_is_the_golden_file() {
    dump::check("### Split-block Bloom filter", "### Growing chain", GOLDEN, 0x40..0xc0);
}

#[test]
#[ignore = "writes the golden file"]
fn write_golden() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/split_block.filter");
    std::fs::write(path, file_of(golden())).unwrap();
}

#[test]
fn what_another_writer_wrote_is_read_and_written_byte_for_byte() {
    let filter = SplitBlockBloom::from_parquet(PARQUET).unwrap();
    assert_eq!(filter, filter_of(4, (0..100).map(url)));
    assert_eq!(parquet_of(&filter).unwrap(), PARQUET);
    // Older files do not record where a filter ends.
    assert_eq!(SplitBlockBloom::from_parquet(&[PARQUET, b"PAR1"].concat()).unwrap(), filter);
}

#[test]
fn rates_are_those_of_the_specification() {
    let percent = |rate: f64, digits: i32| (rate * 100.0 * 10f64.powi(digits)).round() / 10f64.powi(digits);
    assert_eq!(percent(SplitBlockBloom::rate_with(26_214, 1024), 2), 1.26);
    assert_eq!(percent(SplitBlockBloom::rate_with(52_428, 1024), 0), 18.0);
    assert_eq!(percent(SplitBlockBloom::rate_with(13_107, 1024), 2), 0.04);
    for (rate, bits) in [(0.1, 6.0), (0.01, 10.5), (0.001, 16.9), (0.0001, 26.4), (0.00001, 41.0)] {
        let filter = SplitBlockBloom::with_rate(100_000, rate).unwrap();
        let bits_a_key = filter.blocks() as f64 * 256.0 / 100_000.0;
        assert!((bits_a_key / bits - 1.0).abs() < 0.01, "{rate}: {bits_a_key} bits a key, {bits} in the specification");
    }
    assert_eq!(SplitBlockBloom::rate_with(0, 1), 0.0);
    assert_eq!(SplitBlockBloom::rate_with(u64::MAX, 1), 1.0);
}

#[test]
fn a_filter_is_no_larger_than_its_rate_asks_for() {
    for keys in [0, 1, 100, 12_345] {
        for rate in [0.9, 0.3, 0.01, 1e-7] {
            let exact = SplitBlockBloom::with_rate(keys, rate).unwrap().blocks();
            assert!(SplitBlockBloom::rate_with(keys, exact) <= rate, "{keys} {rate}");
            assert!(exact == 1 || SplitBlockBloom::rate_with(keys, exact - 1) > rate, "{keys} {rate}");
            let rounded = SplitBlockBloom::for_parquet(keys, rate).unwrap();
            assert!(rounded.capacity() == keys && rounded.blocks() == exact.next_power_of_two());
        }
    }
}

#[test]
fn what_readers_of_parquet_would_refuse_is_not_written() {
    for (filter, why) in [
        (SplitBlockBloom::from_parts(3).unwrap(), "it has 96 bytes, and common readers take a power of two"),
        (SplitBlockBloom::from_parts(8 << 20).unwrap(), "it has 268435456 bytes"),
        (SplitBlockBloom::from_parts(4).unwrap().hashed_by(HashSpec::default()), "its keys are hashed by xxh3"),
        (SplitBlockBloom::from_parts(4).unwrap().hashed_by(HashSpec { seed: 1, ..XXH64 }), "0x0000000000000001"),
    ] {
        let error = parquet_of(&filter).unwrap_err();
        assert!(
            matches!(error, ParquetError::Size(_) | ParquetError::OtherHash(_)) && error.to_string().contains(why),
            "{error}"
        );
    }
    let error = SplitBlockBloom::for_parquet(200_000_000, 0.01).unwrap_err().to_string();
    assert!(error.contains(&MAX_PARQUET_BYTES.to_string()), "{error}");
}

#[test]
fn bitsets_that_cannot_be_are_refused() {
    let header = |length: &[u8]| [&[0x15], length, &[0x1C, 0x1C, 0, 0].repeat(3), &[0]].concat();
    for (bytes, why) in [
        (header(&[0]), "a bitset of 0 bytes"),
        (header(&[0x3F]), "a bitset of -32 bytes"),
        (header(&[0x42]), "a bitset of 33 bytes"),
        (header(&[0x40]), "the bitset has 32 bytes, but only 0 follow"),
        (header(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40]), "but only 0 follow"),
        (PARQUET[..PARQUET.len() - 1].to_vec(), "the bitset has 128 bytes, but only 127 follow"),
    ] {
        let error = SplitBlockBloom::from_parquet(&bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}, not {why}");
    }
}

#[test]
fn filters_that_differ_are_not_combined() {
    let mut four = SplitBlockBloom::from_parts(4).unwrap();
    let five = SplitBlockBloom::from_parts(5).unwrap();
    let seeded = SplitBlockBloom::from_parts(4).unwrap().hashed_by(HashSpec { seed: 7, ..XXH64 });
    for error in [four.union_with(&five), four.intersect_with(&five)] {
        assert!(error.unwrap_err().to_string().contains("4 blocks and the other 5"));
    }
    for error in [four.union_with(&seeded), four.intersect_with(&seeded)] {
        assert!(error.unwrap_err().to_string().contains("0x0000000000000007"));
    }
}

#[test]
fn no_meta_makes_a_filter_that_fails() {
    let file = |meta: &[u8], table: &[u8]| {
        let mut bytes = Vec::new();
        let mut writer = EnvelopeWriter::new(&mut bytes, Kind::SplitBlockBloom, XXH64).unwrap();
        writer.section(Tag::new(*b"META"), Align::Line).unwrap();
        writer.write_all(meta).unwrap();
        writer.section(Tag::new(*b"BITS"), Align::Line).unwrap();
        writer.write_all(table).unwrap();
        writer.finish().unwrap();
        bytes
    };
    let meta = |blocks: u64, reserved: u8| {
        let mut meta = [0; 32];
        meta[..8].copy_from_slice(&blocks.to_le_bytes());
        meta[31] = reserved;
        meta
    };
    assert!(FilterRef::from_bytes(&file(&meta(2, 0), &[0; 64]), "good").is_ok());
    for (bytes, why) in [
        (file(&meta(0, 0), &[]), "number of blocks"),
        (file(&meta(1 << 31, 0), &[]), "number of blocks"),
        (file(&meta(u64::MAX, 0), &[]), "number of blocks"),
        (file(&meta(2, 1), &[0; 64]), "number of blocks"),
        (file(&meta(2, 0), &[0; 63]), "the length of the table"),
        (file(&meta((1 << 31) - 1, 0), &[0; 64]), "the length of the table"),
        (file(&meta(2, 0)[..31], &[0; 64]), "META is too short"),
    ] {
        let error = FilterRef::from_bytes(&bytes, "bad").unwrap_err().to_string();
        assert!(error.contains(why), "{error}, not {why}");
    }
}

proptest! {
    #[test]
    fn a_filter_has_every_key_and_knows_what_is_new(
        blocks in 1u64..200,
        keys in prop::collection::vec(any::<u64>(), 0..300),
    ) {
        let keys: Vec<KeyHash> = keys.into_iter().map(KeyHash::new).collect();
        let mut filter = SplitBlockBloom::from_parts(blocks).unwrap();
        let mut set = HashSet::new();
        for &key in &keys {
            let contained = filter.contains_hash(key);
            prop_assert!(contained || !set.contains(&key));
            prop_assert_eq!(filter.insert_hash(key), Ok(!contained));
            set.insert(key);
        }
        prop_assert!(set.iter().all(|&key| filter.contains_hash(key)));
        let mut batch = SplitBlockBloom::from_parts(blocks).unwrap();
        prop_assert!(batch.insert_all(&keys).unwrap() <= set.len() as u64);
        prop_assert_eq!(&batch, &filter);
    }

    #[test]
    fn union_is_inserting_both_and_intersection_keeps_what_both_have(
        blocks in 1u64..50,
        one in prop::collection::vec(any::<u64>(), 0..100),
        two in prop::collection::vec(any::<u64>(), 0..100),
        shared in prop::collection::vec(any::<u64>(), 0..100),
    ) {
        let key = |&key: &u64| KeyHash::new(key);
        let (left, right) = (
            filter_of(blocks, one.iter().chain(&shared).map(key)),
            filter_of(blocks, two.iter().chain(&shared).map(key)),
        );
        let mut union = left.clone();
        union.union_with(&right).unwrap();
        prop_assert_eq!(&union, &filter_of(blocks, one.iter().chain(&two).chain(&shared).map(key)));
        let mut both = left.clone();
        both.intersect_with(&right).unwrap();
        prop_assert!(shared.iter().all(|shared| both.contains_hash(key(shared))));
        prop_assert!(both.false_positive_rate() <= left.false_positive_rate().min(right.false_positive_rate()));
    }

    #[test]
    fn any_bytes_are_a_filter_or_an_error(
        mut bytes in prop::collection::vec(any::<u8>(), 0..100),
        header in any::<bool>(),
        damage in prop::collection::vec((0usize..100, any::<u8>()), 0..4),
    ) {
        if header {
            bytes.splice(0..0, PARQUET.iter().copied());
        }
        for (at, byte) in damage {
            if let Some(target) = bytes.get_mut(at) {
                *target = byte;
            }
        }
        if let Ok(filter) = SplitBlockBloom::from_parquet(&bytes) {
            filter.contains_hash(KeyHash::new(u64::MAX));
            prop_assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        }
    }
}
