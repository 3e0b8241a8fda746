//! Tests `Seen`: its verdicts compared with a plain set, and the effects of failing storage and of a dying process.

use std::collections::HashSet;

use crate::support::{Failing, Fault};
use furui::filter::Mismatch;
use furui::seen::{Cache, Replacement, Seen, SeenOptions, TierSizes, Verdict};
use furui::store::{Memory, Storage, StoreKind};
use furui::{Error, HashSpec, Result};
use proptest::collection::vec;
use proptest::prelude::*;

const SIZES: TierSizes =
    TierSizes { lru: None, counters: None, probes: None, decrements: None, replacement: Replacement::Lru };
const SMALL: SeenOptions =
    SeenOptions { cache: Cache::Recent, sizes: SIZES, memory: 1 << 20, hash: None, form: None, journal: false };

type Key = [u8; 8];

fn key(i: u64) -> Key {
    i.to_le_bytes()
}

fn keys(range: std::ops::Range<u64>) -> Vec<Key> {
    range.map(key).collect()
}

fn new_keys<S: Storage>(seen: &mut Seen<S>, keys: &[Key]) -> Result<Vec<Key>> {
    let mut verdicts = vec![];
    seen.observe_all(&seen.hash_spec().hasher().hash_all(keys), &mut verdicts)?;
    assert_eq!(verdicts.len(), keys.len());
    Ok(keys.iter().zip(verdicts).filter(|&(_, verdict)| verdict == Verdict::New).map(|(&key, _)| key).collect())
}

#[derive(Clone, Debug)]
enum Step {
    Observe(Vec<u64>),
    ObserveMany { from: u64, count: u64 },
    Sync,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => vec(0u64..300, 0..200).prop_map(Step::Observe),
        2 => (0u64..100_000, 0u64..60_000).prop_map(|(from, count)| Step::ObserveMany { from, count }),
        1 => Just(Step::Sync),
        1 => Just(Step::Reopen),
    ]
}

fn cache() -> impl Strategy<Value = Cache> {
    prop_oneof![Just(Cache::Recent), Just(Cache::Lru), Just(Cache::None)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 5))]

    #[test]
    fn verdicts_are_those_of_a_plain_set(cache in cache(), steps in vec(step(), 1..40)) {
        let storage = Memory::new();
        let options = SeenOptions { cache, ..SMALL };
        let mut seen = Seen::open_with(storage.clone(), options).unwrap();
        let mut model = HashSet::new();
        let mut durable = model.clone();
        for step in steps {
            let batch = match step {
                Step::Observe(picks) => picks.into_iter().map(key).collect(),
                Step::ObserveMany { from, count } => keys(from..from + count),
                Step::Sync => {
                    seen.sync().unwrap();
                    durable = model.clone();
                    continue;
                }
                Step::Reopen => {
                    // The set was not synced, so keys recorded since the last sync may be lost or still there.
                    seen = Seen::open_with(storage.clone(), options).unwrap();
                    let set = seen.set().len();
                    prop_assert!(set >= durable.len() as u64 && set <= model.len() as u64);
                    let (all, mut there): (Vec<_>, _) = (model.drain().collect(), vec![]);
                    let mut cascade = furui::store::cascade::Cascade::open(storage.clone(), Default::default()).unwrap();
                    let hashes = cascade.hash_spec().hasher().hash_all(&all);
                    cascade.contains_all(hashes.as_slice(), &mut there).unwrap();
                    model = all.into_iter().zip(there).filter(|&(_, there)| there).map(|(key, _)| key).collect();
                    prop_assert!(durable.is_subset(&model));
                    continue;
                }
            };
            let expected: Vec<Key> = batch.iter().copied().filter(|&key| model.insert(key)).collect();
            prop_assert_eq!(new_keys(&mut seen, &batch).unwrap(), expected);
            prop_assert_eq!(seen.set().len(), model.len() as u64);
        }
        let counters = *seen.counters();
        let answered = counters.recent_hits + counters.lru_hits + counters.set_repeats + counters.new;
        prop_assert_eq!(answered, counters.keys);
    }
}

/// Observes the batches, and syncs after each. The keys called new in a batch count as printed once the call has
/// returned; keys covered by a successful sync are acknowledged.
fn session<S: Storage>(
    storage: S,
    batches: &[Vec<Key>],
    printed: &mut HashSet<Key>,
    acknowledged: &mut HashSet<Key>,
) -> Result<()> {
    let mut seen = Seen::open_with(storage, SMALL)?;
    for batch in batches {
        printed.extend(new_keys(&mut seen, batch)?);
        seen.sync()?;
        acknowledged.extend(batch);
    }
    Ok(())
}

/// Runs sessions with a fault at operation k, for k from 0 in steps, until the fault no longer strikes. After each
/// session, a second process observes all its keys again, as a user would.
fn nothing_is_lost_whatever_fails(start: &Memory, recorded: &HashSet<Key>, batches: &[Vec<Key>], step: usize) {
    let all: HashSet<Key> = batches.iter().flatten().copied().chain(recorded.iter().copied()).collect();
    for fault in Fault::ALL {
        for at in (0..).step_by(step) {
            let storage = Failing::new(start, at, fault);
            let (mut printed, mut acknowledged) = (recorded.clone(), recorded.clone());
            let outcome = session(storage.clone(), batches, &mut printed, &mut acknowledged);
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 30, "the fault struck at only {at} operations");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut seen = Seen::open_with(left.clone(), SMALL).unwrap();
                seen.set().verify().unwrap();
                let again: HashSet<Key> =
                    new_keys(&mut seen, &all.iter().copied().collect::<Vec<_>>()).unwrap().into_iter().collect();
                assert!(acknowledged.is_disjoint(&again), "{fault:?} at {at}: an acknowledged key was forgotten");
                assert!(all.iter().all(|key| printed.contains(key) || again.contains(key)), "{fault:?} at {at}: lost");
                seen.sync().unwrap();
                let named = seen.set().manifest().runs.len();
                assert_eq!(left.list().unwrap().len(), 1 + named, "files that the manifest does not name are removed");
            }
        }
    }
}

#[test]
fn nothing_is_lost_whatever_fails_in_a_new_store() {
    let batches: Vec<_> = (0..4).map(|i| keys(i * 200..i * 200 + 300)).collect();
    nothing_is_lost_whatever_fails(&Memory::new(), &HashSet::new(), &batches, 1);
}

#[test]
fn nothing_is_lost_whatever_fails_in_a_store_of_many_runs() {
    let start = Memory::new();
    let recorded = keys(0..210_000);
    let (mut printed, mut acknowledged) = (HashSet::new(), HashSet::new());
    session(start.clone(), &[recorded], &mut printed, &mut acknowledged).unwrap();
    // The second batch does not fit into memory with the first, so keys go to storage during a call.
    let batches = [keys(200_000..300_000), keys(290_000..360_000), keys(0..1000)];
    nothing_is_lost_whatever_fails(&start, &acknowledged, &batches, 41);
}

#[test]
fn a_set_is_of_no_use_after_an_error_but_the_store_is() {
    let start = Memory::new();
    session(start.clone(), &[keys(0..100)], &mut HashSet::new(), &mut HashSet::new()).unwrap();
    // Reading the manifest and the run takes fewer operations than this; writing the next run takes more.
    let storage = Failing::new(&start, 45, Fault::Fail);
    let mut seen = Seen::open_with(storage.clone(), SMALL).unwrap();
    new_keys(&mut seen, &keys(100..200)).unwrap();
    let mut outcome = seen.sync();
    while outcome.is_ok() {
        new_keys(&mut seen, &keys(200..300)).unwrap();
        outcome = seen.sync();
    }
    assert!(seen.insert(key(1)).is_err(), "the tiers may know keys that the set does not");
    assert!(seen.sync().is_err());
    let mut seen = Seen::open_with(storage, SMALL).unwrap();
    assert!(!seen.insert(key(1)).unwrap());
    assert!(seen.insert(key(1000)).unwrap());
}

#[test]
fn hashes_of_another_spec_are_an_error_and_nothing_is_recorded() {
    let mut seen = Seen::open_with(Memory::new(), SMALL).unwrap();
    let other = HashSpec::default();
    let mut verdicts = vec![];
    let batch = other.hasher().hash_all(keys(0..100));
    match seen.observe_all(&batch, &mut verdicts).unwrap_err() {
        Error::Mismatch(mismatch) => {
            assert_eq!(mismatch, Mismatch::Hash { ours: seen.hash_spec(), theirs: other });
        }
        error => panic!("{error}"),
    }
    assert!(seen.observe_protected(&batch, |_| true, &mut verdicts).is_err());
    assert_eq!((seen.counters().keys, seen.set().len()), (0, 0));
    assert_eq!(new_keys(&mut seen, &keys(0..100)).unwrap().len(), 100);
}

#[test]
fn the_stable_tiers_drop_new_keys_at_their_rate_and_no_protected_ones() {
    let options = SeenOptions { cache: Cache::LruStable { rate: 0.02 }, ..SMALL };
    let all = keys(0..600_000);
    let mut seen = Seen::open_with(Memory::new(), options).unwrap();
    let mut printed = 0;
    for batch in all.chunks(5000) {
        printed += new_keys(&mut seen, batch).unwrap().len();
    }
    let dropped = (all.len() - printed) as f64;
    let counters = *seen.counters();
    assert_eq!(counters.new, printed as u64);
    assert_eq!(counters.stable_hits as f64, dropped, "all keys are new, so every claim that is believed drops one");
    assert_eq!(counters.dropped_measured(), dropped, "and every audited claim is wrong");
    // The filter is empty at the beginning, so it drops fewer keys at first.
    let expected = counters.dropped_expected(0.02);
    assert!(dropped < expected * 1.03 && dropped > expected * 0.6, "{dropped} dropped, {expected} expected");

    let mut seen = Seen::open_with(Memory::new(), options).unwrap();
    let mut verdicts = vec![];
    for batch in all.chunks(5000) {
        let batch = seen.hash_spec().hasher().hash_all(batch);
        seen.observe_protected(&batch, |i| i % 2 == 0, &mut verdicts).unwrap();
        assert!(verdicts.iter().step_by(2).all(|&verdict| verdict == Verdict::New));
    }
}

#[test]
fn the_stable_filter_catches_repeats_that_the_lru_has_forgotten() {
    let options = SeenOptions { cache: Cache::LruStable { rate: 1e-4 }, memory: 1 << 20, ..SMALL };
    let mut seen = Seen::open_with(Memory::new(), options).unwrap();
    // The LRU has an eighth of the memory, at 21 bytes a key.
    let lru = (1 << 20) / 8 / 21;
    new_keys(&mut seen, &keys(0..3 * lru)).unwrap();
    new_keys(&mut seen, &keys(lru..2 * lru)).unwrap();
    let counters = seen.counters();
    assert!(counters.stable_hits > lru * 9 / 10, "{counters:?}");
    assert_eq!(counters.audited_false, 0);
    assert_eq!(counters.keys, 4 * lru);
    let answered = counters.stable_hits + counters.set_repeats + counters.new + counters.lru_hits;
    assert_eq!(answered, counters.keys);
}

#[test]
fn a_rate_that_cannot_be_is_refused() {
    for rate in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        let options = SeenOptions { cache: Cache::LruStable { rate }, ..SMALL };
        assert!(Seen::open_with(Memory::new(), options).is_err(), "{rate}");
    }
}

#[test]
fn names_of_runs_are_what_the_format_says() {
    let storage = Memory::new();
    session(storage.clone(), &[keys(0..10)], &mut HashSet::new(), &mut HashSet::new()).unwrap();
    assert_eq!(storage.list().unwrap(), [StoreKind::Seen.file_name(0), "MANIFEST".into()]);
}
