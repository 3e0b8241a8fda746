//! The growing chain of Bloom filters: its rate at any size, and its batches, sets and files.

use std::collections::HashSet;
use std::io::Write;

use furui::filter::{AnyFilter, Filter, FilterMut, FilterRef, Full, GrowingBloom, MAX_PARTS};
use furui::format::{Align, EnvelopeWriter, Kind, Tag};
use furui::{HashSpec, KeyHash};
use proptest::prelude::*;

use crate::dump;

const GOLDEN: &[u8] = include_bytes!("golden/v1/growing.filter");

/// `n` keys. Lists with different `list` have no key in common.
fn keys(list: u64, n: u64) -> Vec<KeyHash> {
    (0..n).map(|i| HashSpec::default().hash(&(list << 40 | i).to_le_bytes())).collect()
}

fn filled(rate: f64, keys: &[KeyHash]) -> GrowingBloom {
    let mut filter = GrowingBloom::with_rate(rate).unwrap();
    filter.insert_all(keys).unwrap();
    filter
}

fn file_of(filter: GrowingBloom) -> Vec<u8> {
    let mut bytes = Vec::new();
    AnyFilter::Growing(filter).write_to(&mut bytes).unwrap();
    bytes
}

/// A part of a file: the numbers of bits, of keys that it has room for, of keys and of probes, and the table.
type Part = (u64, u64, u64, u32, Vec<u8>);

/// A file in the format, with any content.
fn file(rate: f64, count: u32, parts: &[Part]) -> Vec<u8> {
    let mut meta = vec![0; 32 + 32 * MAX_PARTS];
    meta[..8].copy_from_slice(&rate.to_bits().to_le_bytes());
    meta[8..12].copy_from_slice(&count.to_le_bytes());
    meta[12] = 2;
    meta[16..24].copy_from_slice(&0.5f64.to_bits().to_le_bytes());
    for (entry, (bits, room, keys, probes, _)) in meta[32..].chunks_mut(32).zip(parts) {
        entry[..8].copy_from_slice(&bits.to_le_bytes());
        entry[8..16].copy_from_slice(&room.to_le_bytes());
        entry[16..24].copy_from_slice(&keys.to_le_bytes());
        entry[24..28].copy_from_slice(&probes.to_le_bytes());
    }
    let mut bytes = Vec::new();
    let mut writer = EnvelopeWriter::new(&mut bytes, Kind::GrowingBloom, HashSpec::default()).unwrap();
    writer.section(Tag::new(*b"META"), Align::Line).unwrap();
    writer.write_all(&meta).unwrap();
    for (i, part) in parts.iter().enumerate() {
        writer.section(Tag::new([b'B', b'I', b'T', b'A' + i as u8]), Align::Line).unwrap();
        writer.write_all(&part.4).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// A part of `bits` bits with one key, whose probes are computed as the format specifies.
fn part(bits: u64, room: u64, probes: u32, hash: u64) -> Part {
    let mut table = vec![0; bits.div_ceil(64) as usize * 8];
    let mut state = hash;
    for _ in 0..probes {
        let position = ((u128::from(state) * u128::from(bits)) >> 64) as usize;
        table[position / 8] |= 1 << (position % 8);
        state = state.wrapping_mul(2_862_933_555_777_941_757);
    }
    (bits, room, 1, probes, table)
}

const GOLDEN_KEYS: [u64; 2] = [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3211];

fn golden() -> Vec<u8> {
    file(0.1, 2, &[part(20, 1, 6, GOLDEN_KEYS[0]), part(70, 2, 7, GOLDEN_KEYS[1])])
}

#[test]
#[ignore = "writes the golden file"]
fn write_golden() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/growing.filter"), golden()).unwrap();
}

#[test]
fn the_golden_file_is_read_and_written_byte_for_byte() {
    assert_eq!(golden(), GOLDEN);
    let filter = FilterRef::from_bytes(GOLDEN, "growing.filter").unwrap();
    assert!(GOLDEN_KEYS.iter().all(|&key| filter.contains_hash(KeyHash::new(key))));
    assert_eq!(keys(0, 1000).iter().filter(|&&key| filter.contains_hash(key)).count(), 0);
    let FilterRef::Growing(growing) = &filter else { panic!("{filter:?}") };
    assert_eq!((growing.len(), growing.capacity(), growing.parts(), growing.bits()), (2, 3, 2, 90));
    let mut written = Vec::new();
    filter.write_to(&mut written).unwrap();
    assert_eq!(written, GOLDEN);
}

#[test]
fn the_dump_in_the_format_description_is_the_golden_file() {
    dump::check("### Growing chain", "### Filter with a window", GOLDEN, 0x40..0x480);
}

#[test]
fn the_rate_is_kept_whatever_the_number_of_keys() {
    const TRIALS: u64 = 200_000;
    // These numbers of keys are near the ends of the first parts, and far beyond them. (`furui-papers filters growing`
    // has a million keys and more.)
    for n in [1, 100, 4095, 4096, 4097, 12_288, 12_289, 100_000] {
        for rate in [0.2, 0.01] {
            let filter = filled(rate, &keys(0, n));
            let stated = filter.false_positive_rate();
            assert!(stated <= rate, "{n} keys: {stated}");
            let hits = keys(1, TRIALS).iter().filter(|&&key| filter.contains_hash(key)).count() as f64;
            let expected = stated * TRIALS as f64;
            assert!((hits - expected).abs() <= 3.0 * expected.sqrt().max(1.0), "{n} keys: {hits}, {expected} expected");
            assert!(keys(0, n).iter().all(|&key| filter.contains_hash(key)), "{n} keys");
        }
    }
}

#[test]
fn a_stream_with_repetitions_takes_the_room_of_its_distinct_keys() {
    let distinct = keys(0, 4000);
    let mut filter = GrowingBloom::with_rate(0.001).unwrap();
    for _ in 0..10 {
        filter.insert_all(&distinct).unwrap();
    }
    assert_eq!(filter.parts(), 1);
    // Keys that were not counted as new are false positives.
    assert!((3980..=4000).contains(&filter.len()), "{}", filter.len());
}

#[test]
fn a_filter_of_a_file_grows_on() {
    let (first, all) = (keys(0, 5000), keys(0, 20_000));
    let bytes = file_of(filled(0.01, &first));
    let path = std::env::temp_dir().join(format!("furui-growing-{}.filter", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let mut filter = AnyFilter::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    filter.insert_all(&all).unwrap();
    let AnyFilter::Growing(filter) = filter else { panic!("{filter:?}") };
    assert_eq!(filter, filled(0.01, &all));
}

#[test]
fn a_union_has_the_keys_of_both_at_the_sum_of_their_rates() {
    let (one, two, more) = (keys(0, 10_000), keys(1, 5000), keys(2, 30_000));
    let mut filter = filled(0.01, &one);
    filter.union_with(&filled(0.02, &two)).unwrap();
    assert_eq!((filter.parts(), filter.rate()), (4, 0.03));
    filter.insert_all(&more).unwrap();
    assert!(one.iter().chain(&two).chain(&more).all(|&key| filter.contains_hash(key)));
    assert!(filter.false_positive_rate() <= 0.03, "{}", filter.false_positive_rate());
}

#[test]
fn a_union_grows_only_when_all_its_parts_are_full() {
    let fine = || GrowingBloom::with_rate(1e-9).unwrap();
    let mut filter = filled(1e-9, &keys(0, 1000));
    for _ in 1..MAX_PARTS {
        filter.union_with(&fine()).unwrap();
    }
    let capacity = filter.capacity();
    let path = std::env::temp_dir().join(format!("furui-united-{}.filter", std::process::id()));
    std::fs::write(&path, file_of(filter.clone())).unwrap();
    let AnyFilter::Growing(read) = AnyFilter::open(&path).unwrap() else { panic!("another kind") };
    assert_eq!(read, filter);
    std::fs::remove_file(&path).unwrap();
    for batch in keys(1, capacity + 1000).chunks(777) {
        if let Err(full) = filter.insert_all(batch) {
            assert_eq!((full, filter.len()), (Full::AtCapacity { capacity }, capacity));
            return;
        }
    }
    panic!("{} keys where there is room for {capacity}", filter.len());
}

#[test]
fn filters_that_do_not_fit_together_are_not_united() {
    let mut filter = GrowingBloom::with_rate(0.1).unwrap();
    let seeded = GrowingBloom::with_rate(0.1).unwrap().hashed_by(HashSpec { seed: 7, ..HashSpec::default() });
    assert!(filter.union_with(&seeded).unwrap_err().to_string().contains("0x0000000000000007"));
    assert!(filter.union_with(&GrowingBloom::with_rate(0.9).unwrap()).unwrap_err().to_string().contains("add up"));
    let mut fine = GrowingBloom::with_rate(1e-9).unwrap();
    for _ in 1..MAX_PARTS {
        fine.union_with(&GrowingBloom::with_rate(1e-9).unwrap()).unwrap();
    }
    let error = fine.union_with(&GrowingBloom::with_rate(1e-9).unwrap()).unwrap_err().to_string();
    assert!(error.contains("27 parts together, and a filter has at most 26"), "{error}");
}

#[test]
fn a_chain_of_all_its_parts_is_full_and_stays_as_it_is() {
    let parts = vec![part(64, 1, 5, 1 << 40); MAX_PARTS];
    let bytes = file(0.1, MAX_PARTS as u32, &parts);
    let path = std::env::temp_dir().join(format!("furui-full-{}.filter", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let mut filter = AnyFilter::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(filter.insert_hash(KeyHash::new(1 << 40)), Ok(false));
    assert_eq!(
        filter.insert_hash(KeyHash::new(u64::MAX)).unwrap_err(),
        Full::AtCapacity { capacity: MAX_PARTS as u64 }
    );
    assert_eq!(filter.insert_all(&keys(0, 10)).unwrap_err(), Full::AtCapacity { capacity: MAX_PARTS as u64 });
    let mut written = Vec::new();
    filter.write_to(&mut written).unwrap();
    assert_eq!(written, bytes);
}

#[test]
fn no_meta_makes_a_filter_that_fails() {
    let good = || part(20, 2, 6, 5);
    assert!(FilterRef::from_bytes(&file(0.1, 1, &[good()]), "good").is_ok());
    for (bytes, why) in [
        (file(0.0, 1, &[good()]), "rate, tightening or number of parts"),
        (file(1.0, 1, &[good()]), "rate, tightening or number of parts"),
        (file(f64::NAN, 1, &[good()]), "rate, tightening or number of parts"),
        (file(f64::INFINITY, 1, &[good()]), "rate, tightening or number of parts"),
        (file(0.1, 0, &[]), "rate, tightening or number of parts"),
        (file(0.1, 27, &[good()]), "rate, tightening or number of parts"),
        (file(0.1, u32::MAX, &[good()]), "rate, tightening or number of parts"),
        (file(0.1, 2, &[good()]), "its sections are not those of its kind"),
        (file(0.1, 1, &[good(), good()]), "its section BITB is unknown"),
        (file(0.1, 1, &[(20, 0, 0, 6, good().4)]), "numbers of keys"),
        (file(0.1, 1, &[(20, 2, 3, 6, good().4)]), "numbers of keys"),
        (file(0.1, 1, &[(20, 21, 1, 6, good().4)]), "numbers of keys"),
        (file(0.1, 1, &[(20, u64::MAX, u64::MAX, 6, good().4)]), "numbers of keys"),
        (file(0.1, 1, &[(0, 0, 0, 6, vec![])]), "numbers of keys"),
        (file(0.1, 1, &[(u64::MAX, 2, 1, 6, good().4)]), "numbers of bits and probes"),
        (file(0.1, 1, &[(20, 2, 1, 65, good().4)]), "numbers of bits and probes"),
        (file(0.1, 1, &[(1 << 40, 2, 1, 6, good().4)]), "the length of the table"),
        (file(0.1, 1, &[(20, 2, 1, 6, vec![0xFF; 8])]), "a bit beyond the last"),
    ] {
        let error = FilterRef::from_bytes(&bytes, "bad").unwrap_err().to_string();
        assert!(error.contains(why), "{error}, not {why}");
    }
    // Whatever the rate is, an insertion into a full chain either adds a part or returns an error.
    let bytes = file(1e-300, 1, &[(20, 20, 20, 6, good().4)]);
    let path = std::env::temp_dir().join(format!("furui-huge-{}.filter", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let mut filter = AnyFilter::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(filter.insert_hash(KeyHash::new(u64::MAX)).unwrap_err(), Full::AtCapacity { capacity: 20 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn batches_are_insertions_one_by_one(
        lengths in prop::collection::vec(0usize..3000, 1..8),
        range in 1u64..20_000,
        seed in any::<u64>(),
    ) {
        let mut random = seed;
        let (mut single, mut batch) = (GrowingBloom::with_rate(0.3).unwrap(), GrowingBloom::with_rate(0.3).unwrap());
        let mut set = HashSet::new();
        for length in lengths {
            let keys: Vec<KeyHash> = (0..length)
                .map(|_| {
                    random = random.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
                    HashSpec::default().hash(&((random >> 33) % range).to_le_bytes())
                })
                .collect();
            let mut new = 0;
            for &key in &keys {
                let contained = single.contains_hash(key);
                prop_assert!(contained || !set.contains(&key));
                prop_assert_eq!(single.insert_hash(key), Ok(!contained));
                new += u64::from(!contained);
                set.insert(key);
            }
            prop_assert_eq!(batch.insert_all(&keys), Ok(new));
        }
        prop_assert_eq!(&batch, &single);
        prop_assert!(set.iter().all(|&key| batch.contains_hash(key)));
    }
}

#[test]
fn a_filter_for_a_number_of_keys_has_one_part_until_there_are_more() {
    let mut filter = GrowingBloom::for_keys(100_000, 0.01).unwrap();
    (0..90_000u32).for_each(|key| _ = filter.insert(key.to_le_bytes()).unwrap());
    assert_eq!(filter.parts(), 1);
    (90_000..250_000u32).for_each(|key| _ = filter.insert(key.to_le_bytes()).unwrap());
    assert!(filter.parts() > 1 && (0..250_000u32).all(|key| filter.contains(key.to_le_bytes())));
    assert!(filter.false_positive_rate() <= 0.01);
    assert!(GrowingBloom::for_keys(u64::MAX, 0.01).is_err());
}

#[test]
fn parts_have_the_sizes_that_the_expansion_says_and_together_keep_to_the_rate() {
    for (expansion, capacities) in [(1, vec![100, 200, 300, 400]), (2, vec![100, 300, 700]), (10, vec![100, 1100])] {
        let mut filter = GrowingBloom::with_expansion(100, 0.01, expansion).unwrap();
        assert_eq!(filter.bits().div_ceil(8), GrowingBloom::bytes_with_expansion(100, 0.01, expansion));
        let mut found = vec![filter.capacity()];
        for key in keys(0, 400) {
            let (growth, bits) = (filter.growth(), filter.bits());
            let is_new = filter.insert_hash(key).unwrap();
            if is_new && growth != 0 {
                found.push(filter.capacity());
            }
            assert_eq!(filter.bits() - bits > 0, is_new && growth != 0);
            assert!(!is_new || (filter.bits() - bits).abs_diff(8 * growth) < 8);
        }
        assert_eq!(found[..], capacities[..found.len()]);
        assert!(filter.parts() > 1 && filter.false_positive_rate() <= 0.01);
    }
    let mut fixed = GrowingBloom::with_expansion(1000, 0.01, 0).unwrap();
    let full = keys(0, 2000).into_iter().find_map(|key| fixed.insert_hash(key).err());
    assert_eq!((full, fixed.len(), fixed.growth()), (Some(Full::AtCapacity { capacity: 1000 }), 1000, 0));
    assert!(fixed.false_positive_rate() > 0.005, "the only part has the whole rate");
    // A filter that may not grow makes none grow that it is united with.
    let mut united = GrowingBloom::with_expansion(10, 0.01, 2).unwrap();
    united.union_with(&fixed).unwrap();
    assert_eq!(united.insert_all(&keys(1, 100)), Err(Full::AtCapacity { capacity: 1010 }));
    // Thirteen equal parts, and thirteen that double: with 26 equal ones a filter for few keys would soon be full.
    let mut equal = GrowingBloom::with_expansion(1, 0.01, 1).unwrap();
    let full = keys(0, 20_000).into_iter().find_map(|key| equal.insert_hash(key).err());
    assert_eq!((full, equal.parts()), (Some(Full::AtCapacity { capacity: 13 + (1 << 14) - 2 }), 26));
}
