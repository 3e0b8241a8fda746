//! The cascade filter compared with a plain set of fingerprints; and storage that is damaged or altered.

use std::collections::BTreeSet;

use crate::support::{Failing, Fault};
use furui::error::{StoreError, StoreProblem};
use furui::seen::{Seen, SeenOptions};
use furui::store::cascade::{CascadeFilter, CascadeOptions};
use furui::store::{Fingerprints, JOURNAL, Memory, Storage};
use furui::{Error, HashSpec, Hashes, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

const JOURNALED: CascadeOptions = CascadeOptions { memory: 1 << 20, hash: None, form: None, journal: true };

/// A filter whose fingerprints have this many bits. Its capacity is the number of keys at which its rate is 1/2.
fn of_bits(storage: Memory, bits: u32, options: CascadeOptions) -> CascadeFilter<Memory> {
    let capacity = (f64::from(bits).exp2() * std::f64::consts::LN_2) as u64;
    let filter = CascadeFilter::create_with(storage, capacity, 0.5, options).unwrap();
    assert!((filter.fingerprints().last() as f64).log2().round() == f64::from(bits));
    filter
}

fn keys(numbers: std::ops::Range<u64>) -> Vec<KeyHash> {
    numbers.map(|i| HashSpec::default().hash(&i.to_le_bytes())).collect()
}

/// A batch of these hashes, as if they were hashed by this filter's spec.
fn of<S: Storage>(filter: &CascadeFilter<S>, keys: &[KeyHash]) -> Hashes {
    let mut hashes = Hashes::new(&filter.hash_spec().hasher());
    keys.iter().for_each(|&key| hashes.push_hash(key));
    hashes
}

fn has_all<S: Storage>(filter: &mut CascadeFilter<S>, keys: &[KeyHash]) -> bool {
    let mut there = vec![];
    filter.contains_hashes(&of(filter, keys), &mut there).unwrap();
    there.len() == keys.len() && there.iter().all(|&there| there)
}

/// Strategy for hashes: uniform ones, hashes that crowd in one place, and the smallest and largest.
fn hash() -> impl Strategy<Value = u64> {
    prop_oneof![3 => any::<u64>(), 2 => 0u64..400, 1 => (0u64..50).prop_map(|i| u64::MAX - i)]
}

proptest! {
    #[test]
    fn behaves_as_a_set_of_fingerprints(
        bits in 8..=55u32,
        journal in any::<bool>(),
        batches in vec((vec(hash(), 0..300), 0..7u8), 1..16),
    ) {
        let options = CascadeOptions { journal, ..JOURNALED };
        let storage = Memory::new();
        let mut filter = of_bits(storage.clone(), bits, options);
        let fingerprints = filter.fingerprints();
        let mut model = BTreeSet::new();
        for (batch, then) in batches {
            let batch: Vec<KeyHash> = batch.into_iter().map(KeyHash::new).collect();
            let expected: Vec<bool> = batch.iter().map(|&key| model.contains(&fingerprints.of(key))).collect();
            let mut there = vec![];
            filter.contains_hashes(&of(&filter, &batch), &mut there).unwrap();
            prop_assert_eq!(&there, &expected);
            filter.insert_hashes(&of(&filter, &batch)).unwrap();
            model.extend(batch.iter().map(|&key| fingerprints.of(key)));
            match then {
                0 => filter.publish().unwrap(),
                1 => filter.compact().unwrap(),
                2 | 3 => {
                    filter.sync().unwrap();
                    filter = CascadeFilter::open_with(storage.clone(), options).unwrap();
                }
                4 => filter.sync().unwrap(),
                _ => {}
            }
            prop_assert!(has_all(&mut filter, &batch));
            prop_assert!(filter.len() >= model.len() as u64);
            filter.set().verify().unwrap();
        }
        filter.compact().unwrap();
        prop_assert_eq!(filter.len(), model.len() as u64);
        prop_assert_eq!(filter.false_positive_rate(), model.len() as f64 / fingerprints.last() as f64);
    }
}

#[test]
fn one_key_at_a_time_is_as_a_batch_of_hashes() {
    let create = || CascadeFilter::create_with(Memory::new(), 1000, 1e-9, CascadeOptions::default()).unwrap();
    let [mut one, mut batch] = [(); 2].map(|()| create());
    assert!(one.is_empty() && (one.intended_rate() / 1e-9 - 1.0).abs() < 0.01);
    one.insert("a").unwrap();
    assert!(!one.is_empty());
    one.extend((0..20_000u32).map(u32::to_le_bytes)).unwrap();
    let mut hashes = Hashes::new(&batch.hash_spec().hasher());
    hashes.push("a");
    (0..20_000u32).for_each(|i| hashes.push(i.to_le_bytes()));
    batch.insert_hashes(&hashes).unwrap();
    for filter in [&one, &batch] {
        assert_eq!(filter.len(), 20_001);
        assert!(filter.contains("a").unwrap() && !filter.contains("b").unwrap());
        assert!((0..20_000u32).all(|i| filter.contains(i.to_le_bytes()).unwrap()));
    }
}

#[test]
fn a_key_in_several_runs_is_one_key_once_they_are_merged() {
    let storage = Memory::new();
    let mut filter = CascadeFilter::create_with(storage.clone(), 1_000_000, 1e-6, CascadeOptions::default()).unwrap();
    for (from, to) in [(0, 700_000), (300_000, 800_000), (0, 250_000)] {
        filter.insert_hashes(&of(&filter, &keys(from..to))).unwrap();
        filter.publish().unwrap();
    }
    assert_eq!(filter.set().runs().len(), 3);
    assert!(filter.len() > 1_440_000);
    assert!(has_all(&mut filter, &keys(0..800_000)));
    filter.set().verify().unwrap();
    filter.compact().unwrap();
    assert_eq!(filter.set().runs().len(), 1);
    let fingerprints = filter.fingerprints();
    let distinct: BTreeSet<u64> = keys(0..800_000).into_iter().map(|key| fingerprints.of(key)).collect();
    assert_eq!(filter.len(), distinct.len() as u64);
    assert!(has_all(&mut filter, &keys(0..800_000)));
    assert!((filter.cardinality().value - 800_000.0).abs() < 3.0 * filter.cardinality().error + 1.0);
}

#[test]
fn it_errs_at_the_rate_it_was_made_for_and_says_when_it_has_outgrown_that() {
    for (capacity, rate) in [(20_000u64, 0.1), (20_000, 0.01), (50_000, 0.001)] {
        let mut filter = CascadeFilter::create_with(Memory::new(), capacity, rate, JOURNALED).unwrap();
        assert!((filter.intended_rate() / rate - 1.0).abs() < 1e-3);
        filter.insert_hashes(&of(&filter, &keys(0..capacity))).unwrap();
        filter.publish().unwrap();
        let asked = 400_000;
        for more in [0, 2 * capacity] {
            filter.insert_hashes(&of(&filter, &keys(capacity..capacity + more))).unwrap();
            // Before this, fingerprints that two levels share are counted twice.
            filter.compact().unwrap();
            let mut there = vec![];
            filter.contains_hashes(&of(&filter, &keys(1 << 32..(1 << 32) + asked)), &mut there).unwrap();
            let found = there.iter().filter(|&&there| there).count() as f64;
            let expected = filter.false_positive_rate();
            let sigma = (asked as f64 * expected * (1.0 - expected)).sqrt();
            assert!((found - asked as f64 * expected).abs() < 3.0 * sigma, "{found} of {asked}, not {expected}");
            let held = filter.cardinality();
            let sigma = held.value / (2.0 * filter.fingerprints().last() as f64).sqrt();
            assert!((held.error / sigma - 1.0).abs() < 1e-9, "{held:?}");
            assert!((held.value - (capacity + more) as f64).abs() < 4.0 * held.error, "{held:?}");
            match more {
                0 => assert!((expected / rate - 1.0).abs() < 0.02, "{expected} at {rate}"),
                _ => assert!(expected > 2.0 * rate),
            }
        }
    }
}

#[test]
fn space_is_two_bits_above_the_remainder() {
    for (rate, most) in [(0.1, 5.4), (0.01, 8.8), (0.001, 12.1), (1e-6, 22.1)] {
        let mut filter = CascadeFilter::create_with(Memory::new(), 500_000, rate, CascadeOptions::default()).unwrap();
        filter.insert_hashes(&of(&filter, &keys(0..500_000))).unwrap();
        filter.compact().unwrap();
        let bits = filter.set().manifest().runs[0].seal.length as f64 * 8.0 / 500_000.0;
        assert!(bits < most, "{bits} bits a key at {rate}");
    }
}

#[test]
fn a_store_of_another_kind_is_refused_and_nothing_is_overwritten() {
    let problem = |error: Error| match error {
        Error::Store(StoreError { problem, .. }) => problem,
        other => panic!("{other}"),
    };
    let filter = Memory::new();
    CascadeFilter::create_with(filter.clone(), 1000, 0.01, JOURNALED).unwrap();
    let set = Memory::new();
    Seen::open_with(set.clone(), SeenOptions::default()).unwrap().publish().unwrap();
    let other = |outcome: Result<()>| assert!(matches!(problem(outcome.unwrap_err()), StoreProblem::OtherKind { .. }));
    other(Seen::open_with(filter.clone(), SeenOptions::default()).map(drop));
    other(CascadeFilter::open_with(set.clone(), JOURNALED).map(drop));
    other(CascadeFilter::open_published(set.clone(), JOURNALED).map(drop));
    for taken in [filter, set] {
        let error = CascadeFilter::create_with(taken, 1000, 0.01, JOURNALED).unwrap_err();
        assert_eq!(problem(error), StoreProblem::Occupied);
    }
    assert_eq!(problem(CascadeFilter::open_with(Memory::new(), JOURNALED).unwrap_err()), StoreProblem::NoStore);
    for (capacity, rate) in [(0, 0.1), (1000, 0.0), (1000, 1.0), (1000, f64::NAN), (1 << 40, 1e-9)] {
        let empty = Memory::new();
        let outcome = CascadeFilter::create_with(empty.clone(), capacity, rate, JOURNALED);
        assert!(matches!(outcome, Err(Error::Config(_))), "{capacity}, {rate}");
        assert_eq!(empty.list().unwrap(), [""; 0]);
    }
}

/// A filter as a killed process leaves it: keys 0 to 299 in a run, keys 300 to 399 in the journal.
fn killed() -> Memory {
    let storage = Memory::new();
    let mut filter = CascadeFilter::create_with(storage.clone(), 1000, 0.001, JOURNALED).unwrap();
    filter.insert_hashes(&of(&filter, &keys(0..300))).unwrap();
    filter.publish().unwrap();
    filter.insert_hashes(&of(&filter, &keys(300..400))).unwrap();
    filter.sync().unwrap();
    storage
}

/// Any operation may fail: acknowledged keys are there afterwards, and a filter that failed once takes no more keys.
#[test]
fn every_fault_is_an_error_and_loses_nothing_that_was_acknowledged() {
    let start = killed();
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&start, at, fault);
            let mut acknowledged = 400;
            let outcome = CascadeFilter::open_with(storage.clone(), JOURNALED).and_then(|mut filter| {
                let mut there = vec![];
                filter.contains_hashes(&of(&filter, &keys(0..400)), &mut there)?;
                for (more, step) in [(500, 0), (600, 1), (700, 2)] {
                    filter.insert_hashes(&of(&filter, &keys(acknowledged..more)))?;
                    let done = match step {
                        0 => filter.sync(),
                        1 => filter.publish(),
                        _ => filter.compact(),
                    };
                    if let Err(error) = done {
                        assert!(filter.insert_hashes(&of(&filter, &keys(0..1))).is_err() && filter.publish().is_err());
                        return Err(error);
                    }
                    acknowledged = more;
                }
                Ok(())
            });
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 40, "the fault struck at {at} operations only");
                break;
            }
            for removed_come_back in [false, true] {
                let mut filter = CascadeFilter::open_with(storage.after_crash(removed_come_back), JOURNALED).unwrap();
                filter.set().verify().unwrap();
                assert!(has_all(&mut filter, &keys(0..acknowledged)), "{fault:?} at {at}");
                filter.compact().unwrap();
            }
        }
    }
}

/// If the process dies while it creates a filter, there is a complete filter afterwards, or none.
#[test]
fn a_crash_during_creation_leaves_a_filter_or_nothing() {
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&Memory::new(), at, fault);
            let outcome = CascadeFilter::create_with(storage.clone(), 1000, 0.001, JOURNALED);
            if !storage.struck() {
                outcome.unwrap();
                break;
            }
            let left = storage.after_crash(false);
            match CascadeFilter::open_with(left.clone(), JOURNALED) {
                Ok(filter) => assert_eq!((filter.len(), filter.capacity()), (0, 1000)),
                Err(_) => {
                    assert!(CascadeFilter::create_with(left, 1000, 0.001, JOURNALED).is_ok(), "{fault:?} at {at}")
                }
            }
        }
    }
}

#[test]
fn a_changed_byte_is_an_error_and_loses_no_key() {
    let whole = killed();
    for name in whole.list().unwrap() {
        let bytes = whole.open(&name).unwrap().to_vec();
        // Most of a page is zeros.
        let places = (0..bytes.len()).filter(|at| bytes[*at] != 0 || at % 61 == 0);
        for at in places {
            let damaged = Memory::new();
            for other in whole.list().unwrap() {
                let mut bytes = whole.open(&other).unwrap().to_vec();
                if other == name {
                    bytes[at] ^= 1 << (at % 8);
                }
                damaged
                    .publish(&other, |out| out.write_all(&bytes).map_err(|e| Error::io("cannot write", &other, e)))
                    .unwrap();
            }
            let checked = CascadeFilter::open_published(damaged.clone(), JOURNALED);
            assert!(checked.and_then(|filter| filter.set().verify()).is_err(), "{name}, byte {at}");
            if let Ok(mut filter) = CascadeFilter::open_with(damaged, JOURNALED) {
                let mut there = vec![];
                let asked = filter.contains_hashes(&of(&filter, &keys(0..400)), &mut there);
                assert!(asked.is_err() || there.iter().all(|&there| there), "{name}, byte {at}");
            }
        }
    }
}

#[test]
fn a_journal_holds_fingerprints_and_one_beyond_the_last_is_damage() {
    let storage = killed();
    let filter = CascadeFilter::open_published(storage.clone(), JOURNALED).unwrap();
    let fingerprints = filter.fingerprints();
    let journal = storage.open(JOURNAL).unwrap().to_vec();
    let recorded: Vec<u64> =
        journal[88 + 16..journal.len() - 8].as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let expected: Vec<u64> = keys(300..400).into_iter().map(|key| fingerprints.of(key)).collect();
    assert_eq!(recorded, expected);

    // This store has an equal journal but fewer fingerprints, as if the journal came from another store.
    let mut manifest = filter.set().manifest().clone();
    manifest.fingerprints = Fingerprints::new(fingerprints.last() / 2).unwrap();
    manifest.runs.clear();
    let fewer = Memory::new();
    manifest.save(&fewer).unwrap();
    fewer.publish(JOURNAL, |out| out.write_all(&journal).map_err(|e| Error::io("cannot write", JOURNAL, e))).unwrap();
    let error = CascadeFilter::open_with(fewer, JOURNALED).unwrap_err().to_string();
    assert!(error.contains("no fingerprint of this store"), "{error}");
}
