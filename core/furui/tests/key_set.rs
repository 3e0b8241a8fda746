//! A set of hashes in RAM is as a model says, and its run is that of a store.
use std::collections::BTreeSet;
use std::sync::Arc;

use furui::store::cascade::{KeySet, Run};
use furui::{Error, HashSpec, KeyHash};
use proptest::prelude::*;

fn key(i: u64) -> KeyHash {
    HashSpec::default().hash(&i.to_le_bytes())
}

fn run_of(set: &KeySet) -> Run<Arc<[u8]>> {
    let mut file = vec![];
    set.write_run(&mut file, "set", HashSpec::default()).unwrap();
    Run::open(file.into(), "set", HashSpec::default()).unwrap()
}

proptest! {
    #[test]
    fn a_set_is_as_its_model(steps in prop::collection::vec((0u8..3, 0u64..300), 0..800)) {
        let (mut set, mut model) = (KeySet::new(), BTreeSet::new());
        for (step, i) in steps {
            match step {
                0 => prop_assert_eq!(set.remove(key(i)), model.remove(&key(i))),
                _ => prop_assert_eq!(set.insert(key(i)).unwrap(), model.insert(key(i))),
            }
            prop_assert_eq!(set.contains(key(i)), model.contains(&key(i)));
            prop_assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
        }
        prop_assert!(set.iter().eq(model.iter().copied()));
        let mut read = KeySet::new();
        prop_assert_eq!(read.read_run(&run_of(&set)).unwrap(), model.len() as u64);
        prop_assert!(read.iter().eq(set.iter()));
    }
}

#[test]
fn keys_take_little_memory_whatever_their_number() {
    for keys in [0u64, 1, 5000, 200_000, 1_500_000] {
        let mut set = KeySet::new();
        for i in 0..keys {
            let (before, growth) = (set.bytes(), set.growth(1));
            set.insert(key(i)).unwrap();
            assert!(set.bytes() <= before + growth, "a set tells beforehand how much it grows");
        }
        assert!(set.bytes() as u64 <= 256 + keys * 13, "{keys}: {}", set.bytes());
    }
}

#[test]
fn runs_are_united_and_damage_is_found() {
    let (mut one, mut other) = (KeySet::new(), KeySet::new());
    for i in 0..30_000 {
        one.insert(key(i)).unwrap();
        other.insert(key(i + 20_000)).unwrap();
    }
    assert_eq!(one.read_run(&run_of(&other)).unwrap(), 20_000);
    assert_eq!(one.len(), 50_000);
    assert!((0..50_000).all(|i| one.contains(key(i))));

    let mut file = vec![];
    one.write_run(&mut file, "set", HashSpec::default()).unwrap();
    assert!(file.len() < 50_000 * 8);
    file[20_000] ^= 1;
    let found =
        Run::open(Arc::<[u8]>::from(file), "set", HashSpec::default()).and_then(|run| KeySet::new().read_run(&run));
    assert!(matches!(found, Err(Error::Format(_))), "{found:?}");
}

#[test]
fn hashes_that_crowd_are_refused_and_change_nothing() {
    let mut set = KeySet::new();
    let refused = (1..u64::MAX).find(|&i| set.insert(KeyHash::new(i)).is_err()).unwrap();
    assert!(refused > 1000);
    assert_eq!(set.len() as u64, refused - 1);
    assert!(!set.contains(KeyHash::new(refused)) && set.contains(KeyHash::new(refused - 1)));
    assert!(matches!(set.insert(KeyHash::new(u64::MAX)), Err(Error::NoMemory { .. })));
}

#[test]
fn a_long_run_is_read_into_an_empty_set() {
    let mut set = KeySet::new();
    for i in 0..100_000 {
        set.insert(key(i)).unwrap();
    }
    let mut copy = KeySet::new();
    assert_eq!(copy.read_run(&run_of(&set)).unwrap(), 100_000);
    assert!(copy.iter().eq(set.iter()));
    assert_eq!(copy.read_run(&run_of(&set)).unwrap(), 0);
}

/// A set of more than half a million keys is several tables.
#[test]
fn a_large_set_is_as_its_model() {
    let mut set = KeySet::new();
    let mut largest = 0;
    for i in 0..2_000_000 {
        let before = set.bytes();
        assert!(set.insert(key(i)).unwrap());
        largest = largest.max(if i > 1_000_000 { set.bytes() - before } else { 0 });
    }
    assert!(largest < 1 << 20, "no insertion moves all keys: {largest} bytes at once");
    assert!((0..2_000_000).all(|i| set.contains(key(i)) && !set.contains(key(i + 2_000_000))));
    assert!((0..2_000_000).step_by(3).all(|i| set.remove(key(i)) && !set.remove(key(i))));
    let mut model: Vec<KeyHash> = (0..2_000_000).filter(|i| i % 3 != 0).map(key).collect();
    model.sort_unstable();
    assert!(set.len() == model.len() && set.iter().eq(model.iter().copied()));
    let (mut copy, mut other) = (KeySet::new(), KeySet::new());
    assert_eq!(copy.read_run(&run_of(&set)).unwrap(), model.len() as u64);
    assert!(copy.iter().eq(set.iter()) && copy.bytes() <= 13 * model.len());
    // Runs are read into sets of one table, of several, and on both sides of the limit.
    for first in [100_000, 1_900_000, 0] {
        for i in first..first + 450_000 {
            other.insert(key(i)).unwrap();
        }
        let mut union: BTreeSet<KeyHash> = other.iter().collect();
        union.extend(&model);
        let before = other.len();
        assert_eq!(other.read_run(&run_of(&copy)).unwrap(), (union.len() - before) as u64);
        assert!(other.iter().eq(union));
    }
}
