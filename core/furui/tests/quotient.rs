//! The properties of `QuotientFilter` that users rely on: the paper's table, slot by slot; sets and multisets compared
//! with models; and the values of sizes, rates and errors.

use std::collections::BTreeMap;

use crate::quotient_oracle::Oracle;
use furui::filter::{ConfigError, Filter, FilterMut, Full, QuotientFilter};
use furui::{HashSpec, KeyHash};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(u64),
    Remove(u64),
}

/// Strategy for hashes that collide: anywhere, crowded at the start, at the end or at a place inside the table, and
/// repeated.
fn hash() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => any::<u64>(),
        2 => any::<u64>().prop_map(|h| u64::MAX - (h >> 4)),
        1 => any::<u64>().prop_map(|h| h >> 5),
        1 => any::<u64>().prop_map(|h| (0xB << 60) + (h >> 8)),
        2 => (0..24u64).prop_map(|h| h.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
    ]
}

fn ops(max: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(prop_oneof![5 => hash().prop_map(Op::Insert), 2 => hash().prop_map(Op::Remove)], 0..max)
}

fn table_sizes() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![1, 2, 3, 5, 31, 33, 34, 63, 64, 65, 100, 127, 128, 129, 200, 320])
}

/// The smallest hash with this fingerprint.
fn hash_of(filter: &QuotientFilter, fingerprint: u64) -> KeyHash {
    let domain = u128::from(filter.last_fingerprint()) + 1;
    let hash = KeyHash::new(u64::try_from((u128::from(fingerprint) << 64).div_ceil(domain)).expect("a fingerprint"));
    assert_eq!(filter.fingerprint(hash), fingerprint);
    hash
}

/// Uniform hashes (SplitMix64) without repeats.
fn hashes(seed: u64) -> impl Iterator<Item = KeyHash> {
    (1..).map(move |i: u64| {
        let mut x = seed.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        KeyHash::new(x ^ x >> 31)
    })
}

/// Applies `ops` to a filter and to its model, a map from fingerprint to count, and compares every answer.
fn run(filter: &mut QuotientFilter, counting: bool, ops: &[Op]) -> BTreeMap<u64, u64> {
    let mut model = BTreeMap::new();
    let mut len = 0;
    for &op in ops {
        match op {
            Op::Insert(hash) => {
                let key = KeyHash::new(hash);
                let count = model.entry(filter.fingerprint(key)).or_insert(0);
                let answer = filter.insert_hash(key);
                if *count > 0 && !counting {
                    assert_eq!(answer, Ok(false));
                } else if len == filter.capacity() {
                    assert_eq!(answer, Err(Full::AtCapacity { capacity: len }));
                } else {
                    assert_eq!(answer, Ok(*count == 0));
                    *count += 1;
                    len += 1;
                }
            }
            Op::Remove(hash) => {
                let key = KeyHash::new(hash);
                let count = model.entry(filter.fingerprint(key)).or_insert(0);
                if !counting {
                    assert_eq!(filter.remove_hash(key), Err(ConfigError::OneCopy));
                    continue;
                }
                assert_eq!(filter.remove_hash(key), Ok(*count > 0));
                len -= u64::from(*count > 0);
                *count -= u64::from(*count > 0);
            }
        }
        assert_eq!(filter.len(), len);
    }
    model.retain(|_, count| *count > 0);
    model
}

fn copies(model: &BTreeMap<u64, u64>) -> Vec<u64> {
    model.iter().flat_map(|(&fingerprint, &count)| std::iter::repeat_n(fingerprint, count as usize)).collect()
}

/// Compares all answers of a filter with the model.
fn check(filter: &QuotientFilter, model: &BTreeMap<u64, u64>, probes: &[u64]) {
    let all = copies(model);
    assert_eq!(filter.fingerprints().collect::<Vec<_>>(), all);
    assert_eq!(filter.fingerprints().len(), all.len());
    assert_eq!(filter.len(), all.len() as u64);
    let domain = filter.last_fingerprint() as f64 + 1.0;
    assert_eq!(filter.false_positive_rate(), model.len() as f64 / domain);
    let held = model.keys().map(|&fingerprint| hash_of(filter, fingerprint));
    let keys: Vec<KeyHash> = held.chain(probes.iter().map(|&hash| KeyHash::new(hash))).collect();
    let mut answers = vec![];
    filter.contains_all(&keys, &mut answers);
    for (&key, answer) in keys.iter().zip(answers) {
        let count = model.get(&filter.fingerprint(key)).copied().unwrap_or(0);
        assert_eq!(filter.contains_hash(key), count > 0);
        assert_eq!(answer, count > 0);
        assert_eq!(filter.count_hash(key), count);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn every_slot_is_as_in_the_paper(
        quotient_bits in 0..=8u32, remainder_bits in 1..=9u32, counting: bool, ops in ops(400),
    ) {
        let mut filter = QuotientFilter::new(1 << quotient_bits, remainder_bits).unwrap();
        if counting {
            filter = filter.counting();
        }
        let mut oracle = Oracle::new(quotient_bits, remainder_bits);
        for op in ops {
            match op {
                Op::Insert(hash) => {
                    let key = KeyHash::new(hash);
                    let fingerprint = filter.fingerprint(key);
                    let known = oracle.contains(fingerprint);
                    let full = filter.len() == filter.capacity();
                    prop_assert_eq!(filter.insert_hash(key).ok(), (!full || known && !counting).then_some(!known));
                    if !full && (counting || !known) {
                        oracle.insert(fingerprint);
                    }
                }
                Op::Remove(hash) => {
                    let key = KeyHash::new(hash);
                    if counting {
                        prop_assert_eq!(filter.remove_hash(key), Ok(oracle.remove(filter.fingerprint(key))));
                    } else {
                        prop_assert_eq!(filter.remove_hash(key), Err(ConfigError::OneCopy));
                    }
                }
            }
            for (i, &slot) in oracle.slots.iter().enumerate() {
                prop_assert_eq!(filter.slot(i as u64), Some(slot), "slot {}", i);
            }
        }
        for fingerprint in 0..=filter.last_fingerprint().min(300) {
            prop_assert_eq!(filter.contains_hash(hash_of(&filter, fingerprint)), oracle.contains(fingerprint));
        }
    }

    #[test]
    fn a_filter_is_the_set_or_multiset_of_its_fingerprints(
        slots in table_sizes(), remainder_bits in 1..=57u32, counting: bool, ops in ops(500), probes in prop::collection::vec(hash(), 20),
    ) {
        let mut filter = QuotientFilter::new(slots, remainder_bits.min(64 - slots.ilog2() - 1)).unwrap();
        if counting {
            filter = filter.counting();
        }
        let empty = filter.clone();
        let model = run(&mut filter, counting, &ops);
        check(&filter, &model, &probes);

        // These fingerprints have only one possible table, in whatever order they are inserted.
        let sorted: Vec<KeyHash> = copies(&model).iter().map(|&fingerprint| hash_of(&filter, fingerprint)).collect();
        let mut built = empty.clone();
        prop_assert_eq!(built.insert_all(&sorted), Ok(model.len() as u64));
        prop_assert_eq!(&built, &filter);
        let mut shuffled = sorted.clone();
        shuffled.reverse();
        let mut inserted = empty.clone();
        prop_assert_eq!(inserted.insert_all(&shuffled), Ok(model.len() as u64));
        prop_assert_eq!(&inserted, &filter);

        // After everything is removed, the table is empty.
        if counting {
            for key in shuffled {
                prop_assert_eq!(filter.remove_hash(key), Ok(true));
            }
            prop_assert_eq!(filter, empty);
        }
    }

    #[test]
    fn any_slots_hold_the_same_fingerprints(
        slots in table_sizes(), bits in 9..=58u32, more in table_sizes(), ops in ops(300), probes in prop::collection::vec(hash(), 20),
    ) {
        let mut filter = QuotientFilter::with_fingerprint_bits(slots, bits.min(57)).unwrap();
        let model = run(&mut filter, false, &ops);
        check(&filter, &model, &probes);
        let capacity = more.max(filter.len());
        let resized = filter.resized(capacity, 0.999).unwrap();
        prop_assert!(resized.capacity() >= capacity);
        check(&resized, &model, &probes);
        prop_assert_eq!(&resized.resized(filter.capacity(), 0.999).unwrap().fingerprints().collect::<Vec<_>>(), &copies(&model));
        match filter.with_slots(more) {
            Ok(resized) => {
                prop_assert_eq!(resized.slots(), more);
                check(&resized, &model, &probes);
            }
            Err(_) => prop_assert!(filter.len() > (more * 97).div_ceil(100) || more - 1 > filter.last_fingerprint()),
        }
    }

    #[test]
    fn a_merge_is_the_union(
        parts in prop::collection::vec((table_sizes(), ops(120)), 1..6), counting: bool, bits in 9..=57u32,
    ) {
        let mut filters = vec![];
        let mut union = BTreeMap::new();
        for (slots, ops) in &parts {
            let filter = QuotientFilter::with_fingerprint_bits(*slots, bits).unwrap();
            let mut filter = if counting { filter.counting() } else { filter };
            for (fingerprint, count) in run(&mut filter, counting, ops) {
                let entry = union.entry(fingerprint).or_insert(0);
                *entry = if counting { *entry + count } else { 1 };
            }
            filters.push(filter);
        }
        let len = copies(&union).len() as u64;
        let merged = QuotientFilter::merge(&filters.iter().collect::<Vec<_>>(), len).unwrap();
        check(&merged, &union, &[]);
    }

    #[test]
    fn a_batch_is_the_same_as_its_keys_one_at_a_time(
        slots in table_sizes(), counting: bool, first in prop::collection::vec(hash(), 0..150), second in prop::collection::vec(hash(), 0..60),
    ) {
        let filter = QuotientFilter::new(slots, 11).unwrap();
        let mut filter = if counting { filter.counting() } else { filter };
        for &hash in &first {
            let _ = filter.insert_hash(KeyHash::new(hash));
        }
        let mut one_by_one = filter.clone();
        let batch: Vec<KeyHash> = second.iter().map(|&hash| KeyHash::new(hash)).collect();
        let mut new = Ok(0);
        for &key in &batch {
            match one_by_one.insert_hash(key) {
                Ok(was_new) => new = new.map(|n| n + u64::from(was_new)),
                Err(full) => new = Err(full),
            }
        }
        let answer = filter.insert_all(&batch);
        prop_assert_eq!(answer, new);
        if new.is_ok() {
            prop_assert_eq!(filter, one_by_one);
        }
    }
}

#[test]
fn small_tables_fill_to_the_last_slot_and_large_ones_to_97_percent() {
    for slots in [1, 2, 3, 33, 63, 64, 65, 127, 1000, 5000] {
        for remainder_bits in [1, 7, 13, 40] {
            let mut filter = QuotientFilter::new(slots, remainder_bits).unwrap();
            assert_eq!(filter.capacity(), (slots * 97).div_ceil(100));
            let mut new = vec![];
            for key in hashes(slots) {
                match filter.insert_hash(key) {
                    Ok(true) => new.push(key),
                    Ok(false) => {}
                    Err(full) => {
                        assert_eq!(full, Full::AtCapacity { capacity: filter.capacity() });
                        break;
                    }
                }
            }
            assert_eq!(filter.len(), filter.capacity());
            assert!(new.iter().all(|&key| filter.contains_hash(key) && filter.insert_hash(key) == Ok(false)));
            let mut copies = QuotientFilter::new(slots, remainder_bits).unwrap().counting();
            new.iter().for_each(|&key| assert_eq!(copies.insert_hash(key), Ok(true)));
            assert!(new.iter().all(|&key| copies.remove_hash(key) == Ok(true)));
            assert_eq!(copies, QuotientFilter::new(slots, remainder_bits).unwrap().counting());
        }
    }
}

#[test]
fn runs_that_wrap_around_the_end_are_found() {
    // Every key has the last quotient, so the run goes around the whole table.
    for slots in [1, 2, 3, 31, 33, 63, 64, 65, 127, 200] {
        let mut filter = QuotientFilter::new(slots, 40).unwrap().counting();
        let keys: Vec<KeyHash> = (0..filter.capacity()).map(|i| KeyHash::new(u64::MAX - (i << 24))).collect();
        for (i, &key) in keys.iter().enumerate() {
            assert_eq!(filter.insert_hash(key), Ok(true), "{slots} slots, key {i}");
        }
        assert!(keys.iter().all(|&key| filter.contains_hash(key)));
        assert!(filter.fingerprints().is_sorted());
        let mut built = QuotientFilter::new(slots, 40).unwrap().counting();
        let backwards: Vec<KeyHash> = keys.iter().rev().copied().collect();
        assert_eq!(built.insert_all(&backwards), Ok(filter.len()));
        assert_eq!(built, filter);
        for (i, &key) in keys.iter().enumerate() {
            assert_eq!(filter.remove_hash(key), Ok(true));
            assert!(keys[i + 1..].iter().all(|&key| filter.contains_hash(key)));
            assert!(!filter.contains_hash(key));
        }
    }
}

#[test]
fn false_positives_are_as_the_formula_says() {
    let (keys, probes) = (40_000, 200_000);
    for (slots, remainder_bits) in [(1 << 16, 7), (45_000, 5), (41_500, 10)] {
        let mut filter = QuotientFilter::new(slots, remainder_bits).unwrap();
        let new = filter.insert_all(&hashes(1).take(keys).collect::<Vec<_>>()).unwrap();
        let domain = filter.last_fingerprint() as f64 + 1.0;
        let rate = filter.false_positive_rate();
        assert_eq!(rate, new as f64 / domain);

        // The expected number of distinct fingerprints is D (1 - (1 - 1/D)^n), with a variance below the expected
        // number of collisions.
        let expected = -domain * (keys as f64 * (-1.0 / domain).ln_1p()).exp_m1();
        assert!((new as f64 - expected).abs() < 3.0 * (keys as f64 - expected).sqrt(), "{new}, {expected}");

        let found = hashes(0xFEED_FACE_0000).take(probes).filter(|&key| filter.contains_hash(key)).count() as f64;
        let sigma = (probes as f64 * rate * (1.0 - rate)).sqrt();
        assert!((found - probes as f64 * rate).abs() < 3.0 * sigma, "{found} of {probes}, {rate}");
    }
}

#[test]
fn a_rate_is_kept_at_few_bits_a_key_for_any_capacity() {
    for capacity in [1, 2, 40, 1000, 12_345, 1_000_000, 1 << 20, 2_000_000] {
        for (rate, bits) in [(0.1, 7.5), (0.01, 10.6), (0.001, 13.7)] {
            let filter = QuotientFilter::with_rate(capacity, rate).unwrap();
            assert!(filter.capacity() >= capacity);
            let full_rate = filter.capacity() as f64 / (filter.last_fingerprint() as f64 + 1.0);
            assert!(full_rate <= rate, "{capacity}, {rate}: {full_rate}");
            if capacity >= 1_000_000 {
                let per_key = filter.bits() as f64 / capacity as f64;
                assert!(per_key <= bits, "{per_key} bits a key for {capacity} at {rate}");
            }
        }
    }
}

#[test]
fn a_resize_keeps_the_rate_or_says_that_it_cannot() {
    let mut filter = QuotientFilter::with_rate(1000, 0.001).unwrap();
    filter.insert_all(&hashes(3).take(1000).collect::<Vec<_>>()).unwrap();
    let wider = filter.resized(2000, 0.002).unwrap();
    assert!(wider.remainder_bits() < filter.remainder_bits());
    assert!(hashes(3).take(1000).all(|key| wider.contains_hash(key)));
    assert_eq!(wider.false_positive_rate(), filter.false_positive_rate());
    assert!(matches!(filter.resized(2000, 0.001), Err(ConfigError::RateExceeded { keys: 2000, .. })));
    assert!(filter.resized(999, 0.001).unwrap_err().to_string().contains("from 1000"));
    assert!(filter.resized(2000, 0.0).is_err());
    let doubled = QuotientFilter::new(1 << 10, 8).unwrap().resized((1 << 11) * 97 / 100, 0.5).unwrap();
    assert_eq!((doubled.slots(), doubled.remainder_bits()), (1 << 11, 7), "one bit goes to the quotient");
}

/// Fig. 7 of the notes on the quotient filter: up to the slot of quotient q₃ its cluster has four occupied slots and
/// the beginnings of two runs, so k = 2, and the run of q₃ is the second one that begins after that slot.
#[test]
fn the_example_of_figure_7() {
    const REMAINDER_BITS: u32 = 5;
    let mut filter = QuotientFilter::new(1 << 4, REMAINDER_BITS).unwrap();
    let mut oracle = Oracle::new(4, REMAINDER_BITS);
    let q3 = 4;
    let (held, other) = ([(1, 3), (1, 9), (2, 0), (2, 30), (3, 7), (q3, 1), (q3, 31)], [(q3, 0), (q3, 7), (5, 1)]);
    for (quotient, remainder) in held {
        let fingerprint = quotient << REMAINDER_BITS | remainder;
        assert_eq!(filter.insert_hash(hash_of(&filter, fingerprint)), Ok(true));
        oracle.insert(fingerprint);
    }
    let slots: Vec<_> = (0..16).map(|i| filter.slot(i).unwrap()).collect();
    let to_q3 = &slots[1..=q3 as usize];
    let occupied = to_q3.iter().filter(|slot| slot.is_occupied).count();
    let runs = to_q3.iter().filter(|slot| !slot.is_continuation).count();
    assert_eq!((occupied, runs), (4, 2));
    let later: Vec<usize> = (q3 as usize + 1..8).filter(|&i| !slots[i].is_continuation).collect();
    assert_eq!((later[1], oracle.run_start(q3 as usize)), (6, 6));
    assert_eq!([slots[6].remainder, slots[7].remainder], [1, 31]);
    let has = |(quotient, remainder)| filter.contains_hash(hash_of(&filter, quotient << REMAINDER_BITS | remainder));
    assert!(held.into_iter().all(has) && !other.into_iter().any(has));
}

#[test]
fn impossible_parameters_are_errors() {
    for (slots, remainder_bits) in [(0, 8), (100, 0), (100, 58), (100, 64), (u64::MAX, 8), (1 << 32, 33), (1 << 40, 25)]
    {
        assert!(QuotientFilter::new(slots, remainder_bits).is_err(), "{slots}, {remainder_bits}");
    }
    for (slots, bits) in [(1, 0), (1, 65), (1, 64), (100, 64), (1 << 20, 19)] {
        assert!(QuotientFilter::with_fingerprint_bits(slots, bits).is_err(), "{slots}, {bits}");
    }
    assert_eq!(QuotientFilter::with_fingerprint_bits(128, 64).unwrap().remainder_bits(), 57);
    for rate in [0.0, -1.0, 1.0, 2.0, f64::NAN, f64::INFINITY, 1e-18, f64::MIN_POSITIVE] {
        assert!(QuotientFilter::with_rate(1000, rate).is_err(), "{rate}");
    }
    assert!(QuotientFilter::with_rate(u64::MAX, 0.01).is_err());
    assert!(QuotientFilter::with_rate(0, 0.01).is_ok());
}

#[test]
fn filters_of_keys_hashed_differently_are_not_merged_and_both_are_named() {
    let other = HashSpec { seed: 1, ..HashSpec::default() };
    let a = QuotientFilter::new(100, 8).unwrap();
    let b = QuotientFilter::new(100, 8).unwrap().hashed_by(other);
    let message = QuotientFilter::merge(&[&a, &b], 100).unwrap_err().to_string();
    assert!(message.contains(&other.to_string()) && message.contains(&HashSpec::default().to_string()), "{message}");
    assert_eq!(QuotientFilter::merge(&[&b, &b], 100).unwrap().hash_spec(), other);
    assert_eq!(b.resized(150, 0.5).unwrap().hash_spec(), other);
}

#[test]
fn filters_that_do_not_fit_are_not_merged() {
    let a = QuotientFilter::with_fingerprint_bits(100, 20).unwrap();
    let b = QuotientFilter::with_fingerprint_bits(100, 21).unwrap();
    assert!(
        QuotientFilter::merge(&[&a, &b], 100)
            .unwrap_err()
            .to_string()
            .contains("1048576 fingerprints and the other 2097152")
    );
    assert!(QuotientFilter::merge(&[] as &[&QuotientFilter], 100).is_err());
    let mut c = a.clone();
    c.insert_all(&hashes(1).take(90).collect::<Vec<_>>()).unwrap();
    let full = QuotientFilter::merge(&[&a, &c], 40).unwrap_err();
    assert_eq!(full, ConfigError::Full(Full::AtCapacity { capacity: 40 }));
}

#[test]
fn a_run_never_lies_65536_slots_behind_its_place() {
    let mut filter = QuotientFilter::new(100_000, 4).unwrap().counting();
    let key = KeyHash::new(1 << 63);
    filter.insert_all(&[key; 65_500]).unwrap();
    while filter.insert_hash(key).is_ok() {}
    let stored = filter.len();
    assert_eq!(filter.insert_hash(key), Err(Full::Crowded { len: stored }));
    assert!((65_536..=65_536 + 64).contains(&stored), "{stored}");
    assert_eq!(filter.count_hash(key), stored);
    assert_eq!(filter.len(), stored);
    let other = KeyHash::new((1 << 63) + (1 << 50));
    assert!(!filter.contains_hash(other));
    assert_eq!(filter.insert_hash(KeyHash::new(0)), Ok(true), "room elsewhere is not touched");
    assert_eq!(filter.remove_hash(key), Ok(true));
    assert_eq!(filter.insert_hash(key), Ok(false));
    let mut sorted = QuotientFilter::new(100_000, 4).unwrap().counting();
    assert!(sorted.insert_all(&[key; 100_000]).is_err());
    assert_eq!(sorted.len(), stored);
    assert_eq!(sorted.count_hash(key), stored);
}

/// Merges over many windows, with the largest fingerprint, with copies within and across filters, and into tables that
/// are nearly full.
#[test]
fn large_merges_are_unions_too() {
    let hash = |i: u64| KeyHash::new(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let ends = [0, 1, u64::MAX - 1, u64::MAX].map(KeyHash::new);
    let parts: Vec<Vec<KeyHash>> = [0..30_000u64, 20_000..50_000, 45_000..45_700]
        .into_iter()
        .map(|range| range.map(hash).chain(ends).collect())
        .collect();
    for counting in [false, true] {
        let filters: Vec<QuotientFilter> = parts
            .iter()
            .enumerate()
            .map(|(i, keys)| {
                let filter = QuotientFilter::with_fingerprint_bits(40_000 + 1000 * i as u64, 64).unwrap();
                let mut filter = if counting { filter.counting() } else { filter };
                filter.insert_all(keys).unwrap();
                filter
            })
            .collect();
        let mut model: BTreeMap<u64, u64> = BTreeMap::new();
        for key in parts.iter().flatten() {
            *model.entry(key.get()).or_default() += 1;
        }
        let expected: Vec<u64> =
            model.iter().flat_map(|(&key, &count)| vec![key; if counting { count as usize } else { 1 }]).collect();
        let merged = QuotientFilter::merge(&filters.iter().collect::<Vec<_>>(), expected.len() as u64).unwrap();
        assert!(merged.fingerprints().eq(expected.iter().copied()));
        assert!(merged.load() > 0.9, "{}", merged.load());
        assert!(parts.iter().flatten().all(|&key| merged.contains_hash(key)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn unions_intersections_and_common_counts_are_those_of_multisets(
        counting: bool, slots in (40..100u64, 40..100u64), ops in (ops(30), ops(30)),
    ) {
        let filled = |slots, ops: &[Op]| {
            let filter = QuotientFilter::with_fingerprint_bits(slots, 12).unwrap();
            let mut filter = if counting { filter.counting() } else { filter };
            let model = run(&mut filter, counting, ops);
            (filter, model)
        };
        let ((a, in_a), (b, in_b)) = (filled(slots.0, &ops.0), filled(slots.1, &ops.1));
        let count = |model: &BTreeMap<u64, u64>, fingerprint| model.get(&fingerprint).copied().unwrap_or(0);

        let mut union = a.clone();
        let fits = union.union_with(&b).is_ok();
        let mut in_union = in_a.clone();
        for (&fingerprint, &copies) in &in_b {
            let sum = count(&in_a, fingerprint) + copies;
            in_union.insert(fingerprint, if counting { sum } else { 1 });
        }
        prop_assert_eq!(fits, in_union.values().sum::<u64>() <= a.capacity());
        check(&union, if fits { &in_union } else { &in_a }, &[]);

        let mut both = a.clone();
        both.intersect_with(&b).unwrap();
        let mut in_both = in_a.clone();
        in_both.iter_mut().for_each(|(&fingerprint, copies)| *copies = count(&in_b, fingerprint).min(*copies));
        in_both.retain(|_, copies| *copies > 0);
        check(&both, &in_both, &[]);
        prop_assert_eq!(a.common(&b), Ok(in_both.len() as u64));
        prop_assert_eq!((a.distinct(), b.distinct()), (in_a.len() as u64, in_b.len() as u64));
    }
}

#[test]
fn set_operations_refuse_other_fingerprints_and_hashes() {
    let a = QuotientFilter::with_fingerprint_bits(100, 20).unwrap();
    let longer = QuotientFilter::with_fingerprint_bits(100, 21).unwrap();
    let seeded = a.clone().hashed_by(HashSpec { seed: 77, ..HashSpec::default() });
    let specs = [&a, &seeded].map(|filter| filter.hash_spec().to_string());
    for (b, named) in [(longer, ["1048576", "2097152"]), (seeded, [&specs[0], &specs[1]])] {
        let answers = [a.clone().union_with(&b), a.clone().intersect_with(&b), a.common(&b).map(drop)];
        for message in answers.map(|answer| answer.unwrap_err().to_string()) {
            assert!(named.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}

#[test]
fn a_filter_that_was_made_to_grow_keeps_its_rate_through_ten_doublings() {
    for (rate, counting) in [(0.01, false), (0.3, true), (1e-6, false)] {
        let mut filter = QuotientFilter::growing(97, rate, 10).unwrap();
        if counting {
            filter = filter.counting();
        }
        let keys = |list: u64| (0..).map(move |i: u64| HashSpec::default().hash(&(list << 40 | i).to_le_bytes()));
        let (mut known, mut doublings) = (keys(1), 0);
        loop {
            while filter.len() < filter.capacity() {
                assert!(filter.insert_hash(known.next().unwrap()).is_ok());
            }
            let stated = filter.false_positive_rate();
            assert!(stated <= rate, "{stated} after {doublings} doublings of a filter for {rate}");
            if doublings == 10 {
                break;
            }
            filter = filter.with_slots(2 * filter.slots()).unwrap();
            doublings += 1;
        }
        let plain = QuotientFilter::with_rate(filter.capacity(), rate).unwrap();
        assert_eq!(filter.remainder_bits(), plain.remainder_bits(), "the last table has no bit more than it needs");
        let inserted = keys(1).take(50_000).filter(|&key| filter.contains_hash(key)).count();
        assert_eq!(inserted, 50_000);
        let wrong = keys(2).take(50_000).filter(|&key| filter.contains_hash(key)).count() as f64;
        let expected = 50_000.0 * filter.false_positive_rate();
        assert!((wrong - expected).abs() <= 3.0 * expected.sqrt().max(1.0), "{wrong}, not {expected}");
    }
    assert!(matches!(QuotientFilter::growing(1000, 0.01, 60), Err(ConfigError::Rate { .. })));
    assert!(matches!(QuotientFilter::growing(1000, 0.01, u32::MAX), Err(ConfigError::Rate { .. })));
}
