//! Tests unions, differences and intersections of sets, which are compared with those of plain `BTreeSet`s, and what
//! happens if storage fails.

use std::collections::BTreeSet;

use crate::support::{Failing, Fault};
use furui::error::{StoreError, StoreProblem};
use furui::raw::SortedSource;
use furui::store::cascade::{Cascade, CascadeFilter, CascadeOptions, Combination};
use furui::store::{Manifest, Memory, Storage};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash};
use proptest::collection::vec;
use proptest::prelude::*;

const HASH: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 1 };

const OPTIONS: CascadeOptions = CascadeOptions { memory: 1 << 20, hash: Some(HASH), form: None, journal: false };

const ALL: [Combination; 3] = [Combination::Union, Combination::Difference, Combination::Intersection];

/// A set with the keys of the last batch in RAM. Each earlier batch was published before the next one was inserted.
fn set(batches: &[Vec<u64>]) -> Cascade<Memory> {
    let mut set = Cascade::open(Memory::new(), OPTIONS).unwrap();
    for (i, batch) in batches.iter().enumerate() {
        let keys: Vec<KeyHash> = batch.iter().copied().map(KeyHash::new).collect();
        set.insert_all(&keys, &mut vec![]).unwrap();
        if i + 1 < batches.len() {
            set.publish().unwrap();
        }
    }
    set
}

/// All keys of the runs of a set.
fn keys_of(set: &Cascade<impl Storage>) -> Vec<u64> {
    let mut keys = vec![];
    for run in set.runs() {
        let mut reader = run.reader();
        while let some @ [_, ..] = reader.fill().unwrap() {
            keys.extend_from_slice(some);
            let count = some.len();
            reader.consume(count);
        }
    }
    keys
}

fn model(how: Combination, sets: &[BTreeSet<u64>]) -> Vec<u64> {
    let (first, others) = sets.split_first().unwrap();
    let mut result = first.clone();
    for other in others {
        match how {
            Combination::Union => result.extend(other),
            Combination::Difference => result.retain(|key| !other.contains(key)),
            Combination::Intersection => result.retain(|key| other.contains(key)),
        }
    }
    result.into_iter().collect()
}

/// Strategy for hashes: from a small range, so that sets share some; uniform ones; and the largest.
fn hash() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 1u64..3000, 2 => any::<u64>(), 1 => (0u64..50).prop_map(|i| u64::MAX - i)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn combines_as_plain_sets_do(all in vec(vec(vec(hash(), 0..3000), 0..4), 1..5)) {
        let sets: Vec<_> = all.iter().map(|batches| set(batches)).collect();
        let known = |batches: &Vec<Vec<u64>>| batches.iter().flatten().map(|&key| KeyHash::new(key).get()).collect();
        let plain: Vec<BTreeSet<u64>> = all.iter().map(known).collect();
        for how in ALL {
            let storage = Memory::new();
            let others: Vec<_> = sets[1..].iter().collect();
            let expected = model(how, &plain);
            prop_assert_eq!(sets[0].combine(how, &others, &storage).unwrap(), expected.len() as u64);
            let result = Cascade::open(storage, OPTIONS).unwrap();
            result.verify().unwrap();
            prop_assert!(result.runs().len() <= 1);
            prop_assert!(keys_of(&result) == expected, "{:?}", how);
        }
    }
}

/// Two sets with more keys than a merge takes from a set at a time.
fn two() -> [Cascade<Memory>; 2] {
    let keys = |from: u64, step: u64| (0..6000).map(|i| (from + i * step) << 40).collect::<Vec<u64>>();
    [set(&[keys(1, 2), keys(2, 6)]), set(&[keys(1, 3), vec![]])]
}

#[test]
fn a_fault_leaves_the_whole_result_or_none() {
    let [a, b] = two();
    for (how, fault) in ALL.into_iter().flat_map(|how| Fault::ALL.map(|fault| (how, fault))) {
        let whole = Memory::new();
        let count = a.combine(how, &[&b], &whole).unwrap();
        for at in 0.. {
            let storage = Failing::new(&Memory::new(), at, fault);
            let outcome = a.combine(how, &[&b], &storage);
            if !storage.struck() {
                assert_eq!(outcome.unwrap(), count);
                assert!(at > 5, "the fault struck at {at} operations only");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                if let Ok(Some(manifest)) = Manifest::load(&left) {
                    assert_eq!(manifest.keys(), count, "{how:?}, {fault:?} at {at}");
                    let result = Cascade::open(left, OPTIONS).unwrap();
                    result.verify().unwrap();
                    assert_eq!(result.len(), count);
                } else {
                    assert!(outcome.is_err(), "{how:?}, {fault:?} at {at}");
                }
            }
            if fault == Fault::Fail && !matches!(Manifest::load(&storage), Ok(Some(_))) {
                // Files that a failure left do not prevent another attempt.
                assert!(a.combine(how, &[&b], &storage).is_ok(), "{how:?} at {at}");
            }
        }
    }
}

#[test]
fn sets_that_do_not_fit_together_and_storage_that_is_taken_are_refused() {
    let [a, b] = two();
    let out = Memory::new();
    a.combine(Combination::Union, &[&b], &out).unwrap();
    let refused = |outcome: furui::Result<u64>| match outcome.unwrap_err() {
        Error::Store(StoreError { problem, .. }) => problem,
        other => panic!("{other}"),
    };
    assert_eq!(refused(a.combine(Combination::Union, &[&b], &out)), StoreProblem::Occupied);
    let with = |options| Cascade::open(Memory::new(), options).unwrap();
    let other_hash = with(CascadeOptions { hash: Some(HashSpec::random()), ..OPTIONS });
    let outcome = a.combine(Combination::Union, &[&other_hash], &Memory::new());
    assert!(matches!(outcome, Err(Error::Format(_))), "{outcome:?}");
    let other_form = with(CascadeOptions { form: Some("--csv".parse().unwrap()), ..OPTIONS });
    let problem = refused(a.combine(Combination::Difference, &[&other_form], &Memory::new()));
    assert!(matches!(problem, StoreProblem::OtherForm { .. }), "{problem}");
    let filter = CascadeFilter::create_with(Memory::new(), 100, 0.01, OPTIONS).unwrap();
    let problem = refused(a.combine(Combination::Union, &[filter.set()], &Memory::new()));
    assert!(matches!(problem, StoreProblem::OtherKind { .. }), "{problem}");
}
