//! The cascade, an exact set in RAM and on storage, compared with a plain set; and storage that is damaged or altered.

use std::collections::BTreeSet;

use crate::support::{Failing, Fault};
use furui::format::{FormatError, Problem};
use furui::raw::{RunWriter, WrittenRun};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{JOURNAL, MANIFEST, Manifest, Memory, RunEntry, Storage, StoreKind};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

/// Makes hashes with exactly these bits, even ones that a hash function is unlikely to give.
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

/// Strategy for hashes: uniform ones, hashes that crowd in one place, and the smallest and largest.
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
            // Hash 0 is treated as hash 1.
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

#[test]
fn what_is_written_is_counted_to_the_byte() {
    for journal in [false, true] {
        let storage = Memory::new();
        let mut set = Cascade::open(storage.clone(), CascadeOptions { journal, ..CascadeOptions::default() }).unwrap();
        assert!(set.is_empty() && set.written() == 0);
        let mut runs = 0;
        for batch in 0..4u64 {
            insert(&mut set, &(1..500).map(|i| (batch * 500 + i) << 40).collect::<Vec<_>>());
            assert!(!set.is_empty());
            set.sync().unwrap();
            runs += set.manifest().runs.last().map_or(0, |run| run.seal.length);
            let log = storage.open(JOURNAL).map_or(0, |log| log.len() as u64);
            assert_eq!(set.written(), runs + log);
            assert_eq!((runs > 0, log > 0), (!journal, journal));
        }
        let before = set.written();
        set.compact().unwrap();
        let run = set.manifest().runs[0].seal.length;
        assert_eq!(set.written() - before, if journal { run } else { 0 });
        assert_eq!(open(storage).written(), 0);
    }
}

/// Looks up keys in several runs whose sizes differ so much that the runs are not merged.
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
    // Half of the keys are new, half are in some run, and one of each kind occurs twice.
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
        assert!(set.resident_bytes() <= 2 << 20, "{}", set.resident_bytes());
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
            let same = CascadeOptions { hash: Some(HashSpec::default()), ..Default::default() };
            let mut set = Cascade::open(storage.clone(), same).unwrap();
            insert(&mut set, hashes);
            set.sync().unwrap();
            storage
        })
        .collect();
    let name = StoreKind::Seen.file_name(0);
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

/// A store of several small runs, with keys `i << 40`. The merge policy would not leave it in this state.
fn store_of_runs(runs: &[std::ops::Range<u64>]) -> Memory {
    let storage = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Seen, HashSpec::default());
    manifest.save(&storage).unwrap();
    for range in runs {
        let hashes: Vec<u64> = range.clone().map(|i| i << 40).collect();
        let number = manifest.take_number().unwrap();
        let name = StoreKind::Seen.file_name(number);
        let WrittenRun { keys, seal } = storage
            .publish(&name, |out| {
                let mut writer = RunWriter::new(out, &name, HashSpec::default(), hashes.len() as u64)?;
                writer.push(&hashes)?;
                writer.finish()
            })
            .unwrap();
        manifest.runs.push(RunEntry { number, keys, seal, slice: 0 });
    }
    manifest.save(&storage).unwrap();
    storage
}

#[test]
fn runs_that_share_a_key_are_damage() {
    open(store_of_runs(&[1..10, 10..20])).verify().unwrap();
    assert!(format_error(open(store_of_runs(&[1..10, 9..20])).verify()).to_string().contains("two runs share keys"));
}

/// Any operation may fail while runs are looked up, filled and merged: the store keeps its keys, and a set that failed
/// in a change refuses all later changes.
#[test]
fn every_fault_in_lookup_insertion_and_compaction_is_an_error_and_harms_nothing() {
    let start = store_of_runs(&[1..1000, 1000..1500, 1500..1600]);
    let old: Vec<u64> = (1..1600).map(|i| i << 40).collect();
    let batch: Vec<u64> = (1500..1700).map(|i| i << 40).collect();
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&start, at, fault);
            let (mut new, mut there) = (vec![], vec![]);
            let outcome = Cascade::open(storage.clone(), CascadeOptions::default()).and_then(|mut set| {
                set.contains_all(&raw(&old), &mut there)?;
                if let Err(error) = set.insert_all(&raw(&batch), &mut new) {
                    assert!(
                        set.insert_all(&raw(&batch), &mut new).is_err() && set.sync().is_err(),
                        "{fault:?} at {at}"
                    );
                    return Err(error);
                }
                if let Err(error) = set.compact() {
                    assert!(
                        set.insert_all(&raw(&batch), &mut new).is_err() && set.sync().is_err(),
                        "{fault:?} at {at}"
                    );
                    return Err(error);
                }
                assert_eq!((new.len(), set.runs().len()), (100, 1));
                Ok(())
            });
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 40, "the fault struck at only {at} operations");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut set = open(left.clone());
                set.verify().unwrap();
                set.contains_all(&raw(&old), &mut there).unwrap();
                assert!(there.iter().all(|&there| there), "{fault:?} at {at}");
                assert_eq!(left.list().unwrap().len(), 1 + set.runs().len());
            }
        }
    }
}

/// An earlier manifest is put back, as by an incomplete copy. Run files that this manifest does not name are then
/// damage, not left-overs to remove.
#[test]
fn an_older_manifest_is_damage_and_nothing_is_removed() {
    let storage = Memory::new();
    let mut history = vec![];
    let mut set = open(storage.clone());
    for i in 0..6u64 {
        insert(&mut set, &(1 + i * 300..1 + i * 300 + 300).map(|hash| hash << 40).collect::<Vec<_>>());
        set.sync().unwrap();
        history.push(storage.open(MANIFEST).unwrap());
    }
    let files = |storage: &Memory| -> Vec<_> {
        storage.list().unwrap().into_iter().map(|name| (name.clone(), storage.open(&name).unwrap())).collect()
    };
    history.pop();
    for old in history {
        storage
            .publish(MANIFEST, |out| out.write_all(&old).map_err(|e| Error::io("cannot write", MANIFEST, e)))
            .unwrap();
        let before = files(&storage);
        format_error(Cascade::open(storage.clone(), CascadeOptions::default()));
        assert_eq!(files(&storage), before);
    }
}

#[test]
fn sets_made_without_a_hash_draw_a_seed() {
    assert_ne!(open(Memory::new()).hash_spec(), open(Memory::new()).hash_spec());
}

#[test]
fn will_sync_says_when_earlier_keys_become_durable() {
    let storage = Memory::new();
    let options = CascadeOptions { memory: CascadeOptions::MIN_MEMORY, ..Default::default() };
    let mut set = Cascade::open(storage.clone(), options).unwrap();
    let mut generation = 0;
    for start in 0..60u64 {
        let batch: Vec<u64> =
            (start * 7000..start * 7000 + 7000).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let will_sync = set.will_sync(batch.len());
        insert(&mut set, &batch);
        assert_eq!(will_sync, set.manifest().generation() != generation, "at batch {start}");
        generation = set.manifest().generation();
    }
    assert!(generation > 2);
}

#[test]
fn an_empty_set_is_a_set_once_it_is_synced() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    set.verify().unwrap();
    insert(&mut set, &[]);
    assert_eq!(storage.list().unwrap(), [""; 0]);
    set.sync().unwrap();
    set.compact().unwrap();
    assert!(set.is_empty());
    assert_eq!(storage.list().unwrap(), [MANIFEST]);
    assert_eq!(open(storage).hash_spec(), set.hash_spec());
}

/// The memory is full before anything was recorded. The process dies at any operation.
#[test]
fn a_new_store_has_a_manifest_before_its_first_run() {
    let options = CascadeOptions { memory: CascadeOptions::MIN_MEMORY, ..Default::default() };
    let keys: Vec<u64> = (1..=150_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    for window in [None, std::num::NonZeroU64::new(160).map(furui::store::Window::Milliseconds)] {
        for at in 0.. {
            let storage = Failing::new(&Memory::new(), at, Fault::Die);
            let opened = match window {
                Some(window) => Cascade::open_window(storage.clone(), options, window),
                None => Cascade::open(storage.clone(), options),
            };
            let outcome = opened
                .and_then(|mut set| keys.chunks(30_000).try_for_each(|batch| set.insert_all(&raw(batch), &mut vec![])));
            assert!(storage.struck() && outcome.is_err(), "no run was written");
            let left = open(storage.after_crash(false));
            left.verify().unwrap();
            if !left.runs().is_empty() {
                break;
            }
        }
    }
}
