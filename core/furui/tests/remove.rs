//! Removing keys from sets: answers compared with a model, what files hold afterwards, and storage that fails at every
//! operation.

use std::collections::BTreeSet;

use crate::support::{Failing, Fault};
use furui::error::{StoreError, StoreProblem};
use furui::raw::SortedSource;
use furui::seen::{Cache, KeptTiers, Seen, SeenOptions, Start};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{JOURNAL, MANIFEST, Memory, Storage, TIERS, Window};
use furui::{Error, HashAlgorithm, HashSpec, KeyForm, Result};
use proptest::collection::vec;
use proptest::prelude::*;

const HASH: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 1 };

fn options(cache: Cache, journal: bool) -> SeenOptions {
    SeenOptions { cache, journal, memory: 1 << 20, hash: Some(HASH), ..SeenOptions::default() }
}

fn open<S: Storage>(storage: S) -> Seen<S> {
    Seen::open_with(storage, options(Cache::Recent, true)).unwrap()
}

/// A set with these numbers.
fn set(numbers: impl IntoIterator<Item = u64>) -> Seen<Memory> {
    let mut set = open(Memory::new());
    set.extend(numbers.into_iter().map(u64::to_le_bytes)).unwrap();
    set
}

/// The given numbers that are in a set.
fn found<S: Storage>(seen: &mut Seen<S>, numbers: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
    let (numbers, mut answers): (Vec<u64>, _) = (numbers.into_iter().collect(), vec![]);
    let hashes = HASH.hasher().hash_all(numbers.iter().map(|number| number.to_le_bytes()));
    seen.contains_hashes(&hashes, &mut answers).unwrap();
    numbers.into_iter().zip(answers).filter(|&(_, answer)| answer).map(|(number, _)| number).collect()
}

/// The hashes in the runs that the manifest of a storage names. The storage has no other files.
fn only_files<S: Storage + Clone>(storage: &S) -> BTreeSet<u64> {
    let set = Cascade::open_published(storage.clone(), CascadeOptions::default()).unwrap();
    set.verify().unwrap();
    let mut names: Vec<String> =
        set.manifest().runs.iter().map(|run| set.manifest().store.file_name(run.number)).collect();
    names.push(MANIFEST.into());
    names.sort_unstable();
    assert_eq!(storage.list().unwrap(), names);
    let mut hashes = BTreeSet::new();
    for run in set.runs() {
        let mut reader = run.reader();
        while let some @ [_, ..] = reader.fill().unwrap() {
            hashes.extend(some);
            let count = some.len();
            reader.consume(count);
        }
    }
    hashes
}

fn hashes(numbers: &BTreeSet<u64>) -> BTreeSet<u64> {
    numbers.iter().map(|number| HASH.hash(&number.to_le_bytes()).get()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u64>),
    Remove(Vec<u64>),
    /// Inserts so many numbers that they do not stay in RAM.
    InsertMany(u64, u64),
    RemoveMany(u64, u64),
    Sync,
    Publish,
    Compact,
    /// The process is killed, and another one opens the set.
    Crash,
}

/// The numbers of small steps are less than this.
const FEW: u64 = 500;
/// Each number of a large step is 7 times a number less than this.
const MANY: u64 = 150_000;

fn many(from: u64, to: u64) -> impl Iterator<Item = u64> {
    (from.min(to)..from.max(to)).map(|number| number * 7)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => vec(0..FEW, 0..200).prop_map(Step::Insert),
        4 => vec(0..FEW, 0..200).prop_map(Step::Remove),
        1 => (0..MANY, 0..MANY).prop_map(|(from, to)| Step::InsertMany(from, to)),
        1 => (0..MANY, 0..MANY).prop_map(|(from, to)| Step::RemoveMany(from, to)),
        2 => Just(Step::Sync),
        2 => Just(Step::Publish),
        1 => Just(Step::Compact),
        2 => Just(Step::Crash),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    #[test]
    fn what_is_removed_is_in_no_answer_and_in_no_file_until_it_comes_again(
        cache in prop_oneof![Just(Cache::Recent), Just(Cache::Lru), Just(Cache::None)],
        journal in any::<bool>(),
        steps in vec(step(), 1..20),
    ) {
        let (storage, options) = (Memory::new(), options(cache, journal));
        let mut seen = Seen::open_with(storage.clone(), options).unwrap();
        // The numbers that the set has, and those of them that are known to be durable.
        let (mut model, mut durable) = (BTreeSet::new(), BTreeSet::new());
        for step in steps {
            match step {
                Step::Insert(_) | Step::InsertMany(..) => {
                    let numbers = match step {
                        Step::Insert(numbers) => numbers,
                        Step::InsertMany(from, to) => many(from, to).collect(),
                        _ => vec![],
                    };
                    let new = numbers.iter().filter(|&&number| model.insert(number)).count();
                    prop_assert_eq!(seen.extend(numbers.iter().map(|number| number.to_le_bytes())).unwrap(), new as u64);
                }
                Step::Remove(_) | Step::RemoveMany(..) => {
                    let numbers = match step {
                        Step::Remove(numbers) => numbers,
                        Step::RemoveMany(from, to) => many(from, to).collect(),
                        _ => vec![],
                    };
                    let mut gone = set(numbers.iter().copied());
                    let removed = seen.remove_all(&gone).unwrap();
                    prop_assert_eq!(removed as usize, numbers.iter().filter(|&number| model.remove(number)).count());
                    prop_assert_eq!(seen.set().len(), model.len() as u64);
                    prop_assert_eq!(found(&mut seen, numbers.iter().copied()), BTreeSet::new());
                    prop_assert_eq!(only_files(&storage), hashes(&model));
                    let kept: BTreeSet<u64> = numbers.iter().copied().collect();
                    prop_assert_eq!(found(&mut gone, numbers), kept, "what is removed is only read");
                    durable = model.clone();
                }
                Step::Sync => {
                    seen.sync().unwrap();
                    durable = model.clone();
                }
                Step::Publish => {
                    seen.publish().unwrap();
                    durable = model.clone();
                }
                Step::Compact => {
                    seen.publish().unwrap();
                    drop(seen);
                    Cascade::open(storage.clone(), CascadeOptions::default()).unwrap().compact().unwrap();
                    durable = model.clone();
                    seen = Seen::open_with(storage.clone(), options).unwrap();
                }
                Step::Crash => {
                    drop(seen);
                    seen = Seen::open_with(storage.clone(), options).unwrap();
                    let left = found(&mut seen, (0..FEW).chain(many(0, MANY)));
                    prop_assert!(left.is_subset(&model) && left.is_superset(&durable));
                    model = left;
                }
            }
        }
        prop_assert_eq!(found(&mut seen, (0..FEW).chain(many(0, MANY))), model);
    }
}

/// A small store of three runs, one of which has only keys that are removed, with tiers and with a journal.
struct Small {
    storage: Memory,
    all: BTreeSet<u64>,
    gone: Seen<Memory>,
    left: BTreeSet<u64>,
}

fn small() -> Small {
    let storage = Memory::new();
    let window = Window::Milliseconds(std::num::NonZeroU64::new(1600).unwrap());
    let parts = [0..300, 300..310, 310..700, 700..720];
    for (time, part) in (0..).step_by(100).zip(parts.clone()) {
        let mut seen = Seen::open_window(storage.clone(), options(Cache::None, true), window).unwrap();
        seen.set_time(time);
        // The first keys come again with each part, so they are in several slices of the window.
        seen.extend(part.chain(0..5).map(u64::to_le_bytes)).unwrap();
        // The keys of the last part stay in the journal.
        if time < 300 { seen.publish().unwrap() } else { seen.sync().unwrap() }
    }
    storage.publish(TIERS, |_| Ok(())).unwrap();
    let all: BTreeSet<u64> = (0..720).collect();
    let removed: BTreeSet<u64> = (0..5).chain(300..310).chain([400, 401, 710, 9999]).collect();
    let left = all.difference(&removed).copied().collect();
    Small { storage, all, gone: set(removed), left }
}

fn open_small<S: Storage>(storage: S) -> Result<Seen<S>> {
    let window = Window::Milliseconds(std::num::NonZeroU64::new(1600).unwrap());
    Seen::open_window(storage, options(Cache::None, true), window)
}

#[test]
fn whatever_fails_all_is_removed_or_nothing() {
    let Small { storage, all, gone, left } = small();
    let slices = |seen: &Seen<Memory>| seen.set().manifest().runs.iter().map(|run| run.slice).collect::<Vec<_>>();
    for fault in Fault::ALL {
        let mut removals = 0;
        for at in 0.. {
            let failing = Failing::new(&storage, at, fault);
            let outcome = open_small(failing.clone()).and_then(|mut seen| seen.remove_all(&gone));
            for come_back in [false, true] {
                let files = failing.after_crash(come_back);
                let mut seen = open_small(files.clone()).unwrap();
                seen.set().verify().unwrap();
                let now = found(&mut seen, 0..1000);
                assert!(now == left || now == all && outcome.is_err(), "{fault:?} at {at}: {outcome:?}, {}", now.len());
                assert_eq!(seen.set().len(), if now == left { now.len() } else { now.len() + 15 } as u64);
                if outcome.is_ok() && !come_back {
                    assert_eq!(only_files(&failing.after_crash(false)), hashes(&left));
                }
                removals += u32::from(now == left && !come_back);
                // The request is made again.
                let again = seen.remove_all(&gone).unwrap();
                assert_eq!(again, if now == left { 0 } else { 18 });
                assert_eq!(only_files(&files), hashes(&left));
                assert_eq!(slices(&seen), [0, 2, 3]);
            }
            if !failing.struck() {
                assert_eq!(outcome.unwrap(), 18);
                break;
            }
        }
        assert!(removals > 0);
    }
}

#[test]
fn an_error_with_the_files_after_the_removal_is_told_and_the_set_can_be_used() {
    let Small { storage, gone, left, .. } = small();
    let mut told = 0;
    for at in 0.. {
        let failing = Failing::new(&storage, at, Fault::Fail);
        let Ok(mut seen) = open_small(failing.clone()) else { continue };
        let outcome = seen.remove_all(&gone);
        if !failing.struck() {
            break;
        }
        let names = failing.after_crash(false).list().unwrap();
        if outcome.is_err() && seen.sync().is_ok() && found(&mut seen, 0..1000) == left {
            told += 1;
            assert!(names.len() > 4, "{names:?}");
            assert_eq!(seen.remove_all(&gone).unwrap(), 0);
            assert_eq!(only_files(&failing.after_crash(false)), hashes(&left));
        }
    }
    assert!(told > 0);
}

#[test]
fn runs_without_such_keys_stay_as_they_are_and_one_without_others_vanishes() {
    let storage = Memory::new();
    // Each part is too large to be merged with the next one.
    for part in [0..600_000, 1_000_000..1_250_000, 2_000_000..2_000_100] {
        let mut seen =
            Seen::open_with(storage.clone(), SeenOptions { hash: Some(HASH), ..SeenOptions::default() }).unwrap();
        seen.extend(part.map(u64::to_le_bytes)).unwrap();
        seen.publish().unwrap();
    }
    let mut seen = open(storage.clone());
    let before = seen.set().manifest().runs.clone();
    assert_eq!(seen.remove_all(&set((2_000_000..2_000_100).chain([5, 3_000_000]))).unwrap(), 101);
    let after = seen.set().manifest().runs.clone();
    assert_eq!((before.len(), after.len()), (3, 2));
    assert_eq!((after[0].keys, after[1]), (before[0].keys - 1, before[1]));
    // What is left can be removed, too, and the set can be filled again.
    assert_eq!(seen.remove_all(&set(0..1_250_000)).unwrap(), 849_999);
    assert_eq!((seen.set().len(), only_files(&storage).len()), (0, 0));
    assert_eq!(seen.extend([1, 2u64].map(u64::to_le_bytes)).unwrap(), 2);
}

#[test]
fn kept_tiers_forget_what_is_removed() {
    let storage = Memory::new();
    let options = options(Cache::LruStable { rate: 0.01 }, true);
    let mut seen = Seen::open_with(storage.clone(), options).unwrap();
    // These are so many keys that the filter drops some, which are then in no run.
    seen.extend((0..60_000).map(u64::to_le_bytes)).unwrap();
    seen.publish().unwrap();
    assert!(seen.set().len() < 60_000 && storage.list().unwrap().contains(&TIERS.to_owned()));
    let old = storage.open(TIERS).unwrap();
    drop(seen);
    // A program that opened the set without the LRU and the stable filter removes keys.
    let mut other = open(storage.clone());
    let there = other.set().len();
    assert_eq!(other.remove_all(&set(0..60_000)).unwrap(), there);
    assert!(only_files(&storage).is_empty());
    drop(other);
    // A power cut may bring the file of the tiers back.
    storage.publish(TIERS, |out| out.write_all(&old).map_err(|error| Error::io("cannot write", TIERS, error))).unwrap();
    let mut seen = Seen::open_with(storage.clone(), options).unwrap();
    assert_eq!(seen.start(), Start::Outdated);
    let first = seen.extend((0..1000).map(u64::to_le_bytes)).unwrap();
    assert_eq!(first, 1000, "an empty filter drops nothing");
    // The tiers in the memory of this process forget removed keys as well.
    assert_eq!(seen.remove_all(&set(0..500)).unwrap(), 500);
    assert!(!storage.list().unwrap().contains(&TIERS.to_owned()));
    assert_eq!(seen.extend((0..1000).map(u64::to_le_bytes)).unwrap(), 500);
    seen.publish().unwrap();
    assert!(KeptTiers::of(seen.set()).unwrap().unwrap().is_current);
}

#[test]
fn the_journal_of_an_earlier_process_brings_nothing_back() {
    let storage = Memory::new();
    let mut seen = open(storage.clone());
    seen.extend((0..100).map(u64::to_le_bytes)).unwrap();
    seen.sync().unwrap();
    drop(seen);
    let journal = storage.open(JOURNAL).unwrap();
    let mut seen = open(storage.clone());
    assert_eq!(seen.remove_all(&set(0..50)).unwrap(), 50);
    drop(seen);
    storage
        .publish(JOURNAL, |out| out.write_all(&journal).map_err(|error| Error::io("cannot write", JOURNAL, error)))
        .unwrap();
    assert_eq!(found(&mut open(storage), 0..1000), (50..100).collect());
}

#[test]
fn keys_that_were_made_otherwise_are_refused() {
    let mut seen = set(0..10);
    let mut refused = |options: SeenOptions| {
        let mut gone = Seen::open_with(Memory::new(), options).unwrap();
        gone.insert(3u64.to_le_bytes()).unwrap();
        let error = seen.remove_all(&gone).unwrap_err();
        assert_eq!(found(&mut seen, 0..20).len(), 10);
        error
    };
    let other = options(Cache::None, false);
    assert!(matches!(refused(SeenOptions { hash: None, ..other }), Error::Format(_)));
    let form: KeyForm = "--csv --key url".parse().unwrap();
    let error = refused(SeenOptions { form: Some(form), ..other });
    assert!(matches!(error, Error::Store(StoreError { problem: StoreProblem::OtherForm { .. }, .. })), "{error}");
    let gone = open_small(Memory::new()).unwrap();
    let error = seen.remove_all(&gone).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError { problem: StoreProblem::HasWindow { .. }, .. })), "{error}");
}
