//! The cascade: an exact set in RAM and on storage, against a plain set; and storage that is not what it should be.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::collections::BTreeSet;

use furui::format::{FormatError, Problem};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{MANIFEST, Memory, RunEntry, Storage};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

/// Hashes as they are, for those that no hash function is likely to give.
fn raw(hashes: &[u64]) -> Vec<KeyHash> {
    hashes.iter().map(|&hash| KeyHash::new(hash)).collect()
}

fn open<S: Storage>(storage: S) -> Cascade<S> {
    Cascade::open(storage, CascadeOptions::default()).unwrap()
}

fn insert<S: Storage>(set: &mut Cascade<S>, hashes: &[u64]) -> Vec<u32> {
    let mut new = vec![];
    set.insert_all(&raw(hashes), &mut new).unwrap();
    new.sort_unstable();
    new
}

fn format_error<T>(outcome: Result<T>) -> FormatError {
    match outcome {
        Err(Error::Format(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

/// Uniform hashes, a crowd in one place, and both ends.
fn hash() -> impl Strategy<Value = u64> {
    prop_oneof![3 => any::<u64>(), 2 => 0u64..400, 1 => (0u64..50).prop_map(|i| u64::MAX - i)]
}

proptest! {
    #[test]
    fn behaves_as_a_set(batches in vec((vec(hash(), 0..300), 0..6u8), 1..20)) {
        let storage = Memory::new();
        let mut set = open(storage.clone());
        let mut model = BTreeSet::new();
        for (batch, then) in batches {
            let mut there = vec![];
            set.contains_all(&raw(&batch), &mut there).unwrap();
            let expected: Vec<bool> = batch.iter().map(|&hash| model.contains(&hash.max(1))).collect();
            prop_assert_eq!(&there, &expected);
            for (&hash, expected) in batch.iter().zip(expected) {
                prop_assert_eq!(set.contains(KeyHash::new(hash)).unwrap(), expected);
            }
            // Hash 0 is taken for hash 1.
            let expected: Vec<u32> = (0..).zip(&batch).filter(|&(_, &hash)| model.insert(hash.max(1))).map(|(i, _)| i).collect();
            prop_assert_eq!(insert(&mut set, &batch), expected);
            match then {
                0 => set.sync().unwrap(),
                1 => set.compact().unwrap(),
                2 => {
                    set.sync().unwrap();
                    set = open(storage.clone());
                }
                _ => {}
            }
            prop_assert_eq!(set.len(), model.len() as u64);
            set.verify().unwrap();
        }
        set.compact().unwrap();
        prop_assert!(set.runs().len() <= 1);
        let mut there = vec![];
        set.contains_all(&raw(&model.iter().copied().collect::<Vec<_>>()), &mut there).unwrap();
        prop_assert!(there.iter().all(|&there| there));
    }
}

/// Several runs that are too large to be merged at once, looked up together.
#[test]
fn many_runs_answer_as_one() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    let mix = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for (from, to) in [(0, 2_000_000u64), (2_000_000, 3_000_000), (3_000_000, 3_400_000)] {
        let hashes: Vec<u64> = (from..to).map(mix).collect();
        assert_eq!(insert(&mut set, &hashes).len() as u64, to - from);
        set.sync().unwrap();
    }
    assert_eq!(set.runs().len(), 3);
    let mut there = vec![];
    let asked: Vec<u64> = (0..3_500_000).step_by(7).map(mix).collect();
    set.contains_all(&raw(&asked), &mut there).unwrap();
    assert!((0..3_500_000u64).step_by(7).zip(&there).all(|(i, &there)| there == (i < 3_400_000)));
    // Half new, half in one run or another; one of each twice.
    let batch: Vec<u64> = (3_350_000..3_450_000).chain([3_399_999, 3_400_000]).map(mix).collect();
    assert_eq!(insert(&mut set, &batch), (50_000..100_000).collect::<Vec<u32>>());
    set.verify().unwrap();
    set.compact().unwrap();
    assert_eq!((set.runs().len(), set.len()), (1, 3_450_000));
    assert_eq!(open(storage).len(), 3_450_000);
}

#[test]
fn a_compacted_set_is_near_the_information_floor() {
    let mut set = open(Memory::new());
    let keys = 1_000_000u64;
    insert(&mut set, &(0..keys).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (i << 7)).collect::<Vec<_>>());
    set.compact().unwrap();
    let bits = set.manifest().runs[0].seal.length as f64 * 8.0 / keys as f64;
    let floor = 64.0 - (keys as f64).log2() + std::f64::consts::LOG2_E;
    assert!(bits < floor * 1.05, "{bits} bits a key, the floor is {floor}");
}

#[test]
fn memory_is_bounded_by_what_was_asked_for() {
    let options = CascadeOptions { memory: 2 << 20, ..CascadeOptions::default() };
    let mut set = Cascade::open(Memory::new(), options).unwrap();
    for batch in (0..1_500_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect::<Vec<_>>().chunks(10_000) {
        insert(&mut set, batch);
        assert!(set.memory() <= 2 << 20, "{}", set.memory());
    }
    assert_eq!(set.len(), 1_500_000);
}

#[test]
fn another_hash_is_refused_and_both_are_named() {
    let storage = Memory::new();
    let made = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 7 };
    let mut set = Cascade::open(storage.clone(), CascadeOptions { hash: Some(made), ..Default::default() }).unwrap();
    insert(&mut set, &[1, 2, 3]);
    set.sync().unwrap();
    assert_eq!(open(storage.clone()).hash_spec(), made);
    let other = CascadeOptions { hash: Some(HashSpec::default()), ..Default::default() };
    let error = format_error(Cascade::open(storage, other));
    assert_eq!(error.problem, Problem::OtherHash { found: made, expected: HashSpec::default() });
    let message = error.to_string();
    assert!(message.contains(&made.to_string()) && message.contains(&HashSpec::default().to_string()), "{message}");
}

#[test]
fn a_run_is_the_very_file_that_the_manifest_means() {
    let stores: Vec<Memory> = [[1u64, 2, 3], [4, 5, 6]]
        .iter()
        .map(|hashes| {
            let storage = Memory::new();
            let mut set = open(storage.clone());
            insert(&mut set, hashes);
            set.sync().unwrap();
            storage
        })
        .collect();
    let name = RunEntry::file_name(0);
    let foreign = stores[1].open(&name).unwrap();
    let put = |bytes: &[u8]| {
        stores[0].publish(&name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", &name, e))).unwrap();
    };
    put(&foreign);
    let error = format_error(Cascade::open(stores[0].clone(), CascadeOptions::default()));
    assert!(error.file.contains(&name) && error.problem == Problem::OtherFile, "{error}");
    put(&stores[1].open(MANIFEST).unwrap());
    assert!(format_error(Cascade::open(stores[0].clone(), CascadeOptions::default())).file.contains(&name));
}

#[test]
fn nothing_is_written_before_there_are_keys() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    set.sync().unwrap();
    set.compact().unwrap();
    set.verify().unwrap();
    assert!(set.is_empty());
    assert_eq!(storage.list().unwrap(), [""; 0]);
}
