//! Fuse filters: every key is found, others at the stated rate, for any number of keys; what cannot be built or read is
//! an error.

use std::collections::HashSet;
use std::io::Write;

use furui::filter::{AnyFilter, Bloom, CheckedFilter, ConfigError, Filter, FilterMut, FilterRef, Full, Fuse, Mismatch};
use furui::format::{Align, EnvelopeWriter, Kind, Tag};
use furui::{HashSpec, KeyHash};
use proptest::prelude::*;

/// `n` uniform hashes. Lists with different `list` have no key in common.
fn keys(list: u64, n: u64) -> Vec<KeyHash> {
    let hasher = HashSpec::default().hasher();
    (0..n).map(|i| hasher.hash(&(list << 40 | i).to_le_bytes())).collect()
}

fn fuse(keys: &[KeyHash], rate: f64) -> Result<Fuse, ConfigError> {
    Fuse::from_hashes(HashSpec::default(), keys.to_vec(), rate)
}

fn file_of(filter: &Fuse) -> Vec<u8> {
    let mut bytes = Vec::new();
    AnyFilter::from(filter.clone()).write_to(&mut bytes).unwrap();
    bytes
}

/// The answer for a key, computed from the bytes of `BITS` and the numbers of `META` as docs/format.md says.
fn by_the_format(file: &[u8], key: KeyHash) -> bool {
    let number = |at: usize, bytes: usize| (0..bytes).fold(0, |n, i| n | u128::from(file[at + i]) << (8 * i));
    let (z, w, l, c) = (number(0x40, 8), number(0x50, 4), number(0x54, 4), number(0x58, 8));
    let (h, of_64) = (u128::from(key.get()), 1u128 << 64);
    let fingerprints = (c + 3) << l;
    let block = (fingerprints * w).div_ceil(8) + 8;
    let start = 0x80 + ((h * z / of_64) * block) as usize;
    let s = number(start + block as usize - 8, 8);
    let (a, p) = ((h * z % of_64) * (c << l) / of_64, h * s % of_64);
    let fingerprint = |index: u128| {
        (0..w).fold(0, |n, i| {
            let bit = index * w + i;
            n | u128::from(file[start + (bit / 8) as usize] >> (bit % 8) & 1) << i
        })
    };
    let others = (1..=3u32).map(|i| (((a >> l) + u128::from(i)) << l) + (p >> (64 - 13 * i)) % (1 << l));
    let xor = others.fold(fingerprint(a), |xor, index| xor ^ fingerprint(index));
    number(0x48, 8) > 0 && xor == p >> (25 - w) & ((1 << w) - 1)
}

#[test]
fn a_filter_of_any_number_of_keys_has_them_all() {
    for n in (0..200).chain((200..5000).step_by(97)) {
        let (list, rate) = (keys(n, n), [0.5, 0.01, 1.0 / 256.0, 1e-7][n as usize % 4]);
        let filter = fuse(&list, rate).unwrap();
        assert!(list.iter().all(|&key| filter.contains_hash(key)), "{n} keys");
        assert_eq!((filter.len(), filter.is_empty(), filter.shards()), (n, n == 0, 1));
        assert!(
            filter.bits() <= u64::from(filter.fingerprint_bits()) * (32 + 2 * n) + 64 + 7,
            "{n}: {}",
            filter.bits()
        );
        let file = file_of(&filter);
        let asked = [list, keys(1 << 20, 300)].concat();
        let mut answers = vec![true; 3];
        filter.contains_all(&asked, &mut answers);
        for (&key, answer) in asked.iter().zip(answers) {
            assert_eq!((filter.contains_hash(key), by_the_format(&file, key)), (answer, answer), "{n}: {key:?}");
        }
    }
}

#[test]
fn all_of_many_small_sets_can_be_built() {
    for (n, sets) in [(42, 1000), (86, 1000), (253, 3000), (300, 1000)] {
        for set in 0..sets {
            let list = keys(set, n);
            let filter = fuse(&list, 0.01).unwrap();
            assert!(list.iter().all(|&key| filter.contains_hash(key)), "{n} keys, set {set}");
        }
    }
}

#[test]
fn the_measured_rate_is_the_stated_one_and_the_space_is_that_of_the_paper() {
    const TRIALS: u64 = 100_000;
    for (rate, bits) in [(0.5, 1), (0.1, 4), (0.01, 7), (1.0 / 256.0, 8), (0.0039, 9), (1e-4, 14), (3e-8, 25)] {
        let filter = fuse(&keys(0, 30_000), rate).unwrap();
        assert_eq!(filter.fingerprint_bits(), bits);
        let stated = filter.false_positive_rate();
        assert!(stated <= rate && 2.0 * stated > rate, "{stated} for {rate}");
        let hits = keys(1, TRIALS).iter().filter(|&&key| filter.contains_hash(key)).count() as f64;
        let expected = stated * TRIALS as f64;
        assert!((hits - expected).abs() <= 3.0 * expected.sqrt().max(1.0), "{bits} bits: {hits}, not {expected}");
        let each = filter.bits() as f64 / 30_000.0 / f64::from(bits);
        assert!((1.1..1.2).contains(&each), "{each} fingerprints a key");
    }
}

#[test]
fn many_keys_are_cut_into_shards_and_take_1_075_fingerprints_each() {
    const KEYS: u64 = 3_300_000;
    let list = keys(0, KEYS);
    let filter = fuse(&list, 1.0 / 256.0).unwrap();
    assert_eq!((filter.len(), filter.shards()), (KEYS, 4));
    let bits = filter.bits() as f64 / KEYS as f64;
    assert!(bits < 8.7, "{bits} bits a key");
    let mut answers = vec![];
    filter.contains_all(&list, &mut answers);
    assert!(answers.iter().all(|&found| found));
    let others = keys(1, 200_000);
    filter.contains_all(&others, &mut answers);
    let (hits, expected) = (answers.iter().filter(|&&found| found).count() as f64, 200_000.0 / 256.0);
    assert!((hits - expected).abs() <= 3.0 * expected.sqrt(), "{hits}, not {expected}");
    let file = file_of(&filter);
    for (&key, answer) in others.iter().zip(answers).take(3000) {
        assert_eq!((filter.contains_hash(key), by_the_format(&file, key)), (answer, answer));
    }
}

#[test]
fn hashes_that_are_not_uniform_are_an_error_that_says_what_to_do() {
    let near: Vec<KeyHash> = (0..5000).map(KeyHash::new).collect();
    let in_one_shard: Vec<KeyHash> = (0..(1 << 20) + 10).map(|i| KeyHash::new(i << 40)).collect();
    for list in [near, in_one_shard] {
        let error = fuse(&list, 0.01).unwrap_err();
        assert_eq!(error, ConfigError::Unbuildable { keys: list.len() as u64 });
        assert!(error.to_string().contains("secret seed"), "{error}");
    }
}

#[test]
fn rates_that_no_fuse_filter_has_are_refused() {
    for rate in [0.0, 1.0, -1.0, f64::NAN, 2.9e-8, 1e-300] {
        let error = fuse(&keys(0, 10), rate).unwrap_err();
        assert!(matches!(error, ConfigError::Rate { .. }), "{rate}: {error}");
        assert!(error.to_string().contains("more than"), "{rate}: {error}");
    }
}

#[test]
fn nothing_is_inserted_removed_or_united() {
    let whole = fuse(&keys(0, 100), 0.01).unwrap();
    let mut filter = AnyFilter::from(whole.clone());
    assert_eq!(filter.insert("new"), Err(Full::Fixed));
    assert_eq!(filter.insert_all(&keys(0, 1)), Err(Full::Fixed));
    assert!(Full::Fixed.to_string().contains("build a new one from all keys"));
    assert_eq!(filter.remove("new"), Err(ConfigError::NotRemovable(Kind::Fuse)));
    let (other, bloom) = (filter.clone(), AnyFilter::from(Bloom::with_rate(100, 0.01).unwrap()));
    assert_eq!(filter.union_with(&other), Err(Mismatch::Unsupported(Kind::Fuse)));
    assert_eq!(filter.intersect_with(&other), Err(Mismatch::Unsupported(Kind::Fuse)));
    assert_eq!(filter.similarity(&other), Err(Mismatch::Unsupported(Kind::Fuse)));
    assert!(matches!(filter.union_with(&bloom), Err(Mismatch::Kind { .. })));
    assert_eq!(Fuse::try_from(filter).unwrap(), whole);
}

#[test]
fn a_saved_filter_is_mapped_with_the_hash_and_the_answers_it_had() {
    let dir = std::env::temp_dir().join(format!("furui-fuse-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("words.filter");
    let words: Vec<String> = (0..20_000).map(|i| format!("word {i}")).collect();
    let spec = HashSpec { seed: 7, ..HashSpec::default() };
    let filter = Fuse::from_keys(spec, words.iter().chain(&words), 0.001).unwrap();
    filter.save(&path).unwrap();
    let (opened, checked) = (Fuse::open(&path).unwrap(), CheckedFilter::open(&path).unwrap());
    assert_eq!((opened.hash_spec(), opened.len(), &opened), (spec, 20_000, &filter));
    for word in &words {
        assert!(opened.contains(word) && checked.contains(word).unwrap());
    }
    assert!(Bloom::open(&path).unwrap_err().to_string().contains("a fuse filter"));
    let any = AnyFilter::open(&path).unwrap();
    assert_eq!((any.kind(), any.capacity(), any.bytes()), (Kind::Fuse, 20_000, filter.bits() / 8));
    assert_eq!((any.intended_rate(), any.cardinality().unwrap().value), (Some(1.0 / 1024.0), 20_000.0));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn no_meta_makes_a_filter_that_fails() {
    let file = |meta: &[u8], table: &[u8]| {
        let mut bytes = Vec::new();
        let mut writer = EnvelopeWriter::new(&mut bytes, Kind::Fuse, HashSpec::default()).unwrap();
        for (tag, section) in [(*b"META", meta), (*b"BITS", table)] {
            writer.section(Tag::new(tag), Align::Line).unwrap();
            writer.write_all(section).unwrap();
        }
        writer.finish().unwrap();
        bytes
    };
    let meta = |shards: u64, width: u32, segment: u32, starts: u64| {
        let mut meta = [1; 32];
        meta[..8].copy_from_slice(&shards.to_le_bytes());
        meta[16..20].copy_from_slice(&width.to_le_bytes());
        meta[20..24].copy_from_slice(&segment.to_le_bytes());
        meta[24..].copy_from_slice(&starts.to_le_bytes());
        meta
    };
    // Two shards of 4 places of 3 bits in 2 bytes, and the multiplier.
    let good = file(&meta(2, 3, 0, 1), &[255; 20]);
    let filter = FilterRef::from_bytes(&good, "good").unwrap();
    for key in [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1].map(KeyHash::new) {
        assert_eq!(filter.contains_hash(key), by_the_format(&good, key));
    }
    for (bytes, why) in [
        (file(&meta(0, 3, 0, 1), &[]), "cannot have these sizes"),
        (file(&meta(1 << 32, 3, 0, 1), &[]), "cannot have these sizes"),
        (file(&meta(2, 0, 0, 1), &[0; 16]), "cannot have these sizes"),
        (file(&meta(2, 26, 0, 1), &[0; 42]), "cannot have these sizes"),
        (file(&meta(2, 3, 14, 1), &[0; 20]), "cannot have these sizes"),
        (file(&meta(2, 3, 0, 0), &[0; 20]), "cannot have these sizes"),
        (file(&meta(2, 3, 0, 1 << 32), &[0; 20]), "cannot have these sizes"),
        (file(&meta(1 << 31, 25, 13, u32::MAX.into()), &[0; 20]), "cannot have these sizes"),
        (file(&meta(2, 3, 0, 1), &[0; 19]), "the length of the table"),
        (file(&meta(2, 3, 0, 3), &[0; 20]), "the length of the table"),
        (file(&meta(2, 3, 0, 1)[..31], &[0; 20]), "META is too short"),
    ] {
        let error = FilterRef::from_bytes(&bytes, "bad").unwrap_err().to_string();
        assert!(error.contains(why), "{error}, not {why}");
    }
}

proptest! {
    #[test]
    fn a_filter_has_what_a_set_has(
        list in prop::collection::vec(0..600u64, 0..400),
        asked in prop::collection::vec(0..1200u64, 0..400),
        bits in 1..=25i32,
    ) {
        let spec = HashSpec { seed: list.first().copied().unwrap_or(3), ..HashSpec::default() };
        let set: HashSet<u64> = list.iter().copied().collect();
        let filter = Fuse::from_keys(spec, list.iter().map(|key| key.to_le_bytes()), 0.5f64.powi(bits)).unwrap();
        prop_assert_eq!((filter.len(), filter.fingerprint_bits()), (set.len() as u64, bits as u32));
        let file = file_of(&filter);
        let read = FilterRef::from_bytes(&file, "read").unwrap();
        let mut wrong = 0;
        for key in asked.iter().chain(&list) {
            let found = filter.contains(key.to_le_bytes());
            prop_assert_eq!(read.contains(key.to_le_bytes()), found);
            prop_assert!(found || !set.contains(key));
            wrong += i32::from(found && !set.contains(key));
        }
        // A wrong answer has a probability of 2⁻ʷ: with 20 bits there are none in practice, but once in 10 runs of 256.
        prop_assert!(bits < 20 || wrong <= 1, "{wrong} wrong");
    }
}
