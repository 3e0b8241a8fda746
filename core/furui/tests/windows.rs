//! Tests a `Seen` with a window: its verdicts compared with a model, its bounds, and the effects of crashes and damage.

use std::collections::HashMap;
use std::num::NonZeroU64;

use crate::support::{Failing, Fault};
use furui::error::{StoreError, StoreProblem};
use furui::filter::ConfigError;
use furui::seen::{Cache, Seen, SeenOptions, Verdict};
use furui::store::cascade::{Cascade, Journal};
use furui::store::{JOURNAL, MANIFEST, Manifest, Memory, ReadAt, Storage, Window, snapshot};
use furui::{Error, Result};
use proptest::collection::vec;
use proptest::prelude::*;

pub fn window_of(keys: bool, ticks: u64) -> Window {
    let ticks = NonZeroU64::new(ticks).unwrap();
    if keys { Window::Keys(ticks) } else { Window::Milliseconds(ticks) }
}

pub fn options(cache: Cache, journal: bool) -> SeenOptions {
    SeenOptions { cache, journal, memory: 1 << 20, ..SeenOptions::default() }
}

pub fn observe<S: Storage>(seen: &mut Seen<S>, keys: &[u64]) -> Result<Vec<bool>> {
    let mut verdicts = vec![];
    seen.observe_all(&seen.hash_spec().hasher().hash_all(keys.iter().map(|key| key.to_le_bytes())), &mut verdicts)?;
    Ok(verdicts.into_iter().map(|verdict| verdict == Verdict::New).collect())
}

/// Says which of the keys a set knows.
fn known_of(seen: &mut Seen<Memory>, keys: &[u64]) -> Vec<bool> {
    let hashes = seen.hash_spec().hasher().hash_all(keys.iter().map(|key| key.to_le_bytes()));
    let mut known = vec![];
    seen.contains_hashes(&hashes, &mut known).unwrap();
    known
}

/// The slices in which keys occurred last. After a crash it is not known which of the keys since the last sync are
/// there, so each key has the earliest and the latest possible slice.
#[derive(Clone, Default)]
struct Model {
    tick: u64,
    last: HashMap<u64, (Option<u64>, u64)>,
    /// For each key whose last occurrence is durable, the slice of that occurrence.
    synced: HashMap<u64, u64>,
    /// The tick at the last sync.
    synced_tick: u64,
}

impl Model {
    /// Checks the verdict on a key that occurs in `slice`, and notes the occurrence.
    fn check(&mut self, key: u64, slice: u64, is_new: bool) {
        let remembered = |last: u64| slice.saturating_sub(last) <= Window::SLICES;
        match self.last.get(&key) {
            None => assert!(is_new, "{key} never occurred"),
            Some(&(earliest, latest)) => {
                assert!(
                    !is_new || !earliest.is_some_and(remembered),
                    "{key} is forgotten early: {earliest:?}, now {slice}"
                );
                assert!(is_new || remembered(latest), "{key} is remembered for too long: {latest}, now {slice}");
            }
        }
        self.last.insert(key, (Some(slice), slice));
    }

    fn sync(&mut self) {
        let known = self.last.iter().filter_map(|(&key, &(earliest, _))| Some((key, earliest?)));
        self.synced = known.collect();
        self.synced_tick = self.tick;
    }

    /// The time is set from `slice` to the beginning of the slice `now`. What may be remembered counts from then on,
    /// and is durable.
    fn reset(&mut self, slice: u64, now: u64) {
        let remembered = |last: u64| slice.saturating_sub(last) <= Window::SLICES;
        self.last.retain(|_, &mut (_, latest)| remembered(latest));
        for (earliest, latest) in self.last.values_mut() {
            *earliest = earliest.filter(|&last| remembered(last)).map(|_| now);
            *latest = now;
        }
        self.sync();
    }

    fn crash(&mut self) {
        for (key, (earliest, _)) in &mut self.last {
            *earliest = self.synced.get(key).copied();
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Observe(Vec<u64>),
    ObserveMany {
        from: u64,
        count: u64,
    },
    /// This many thirds of a slice pass. A slice is a sixteenth of a window.
    Pass(u64),
    GoBack,
    /// The clock was wrong: the set is told an earlier time, this many thirds of a slice ago.
    Reset(u64),
    Remove(Vec<u64>),
    Sync,
    Publish,
    Compact,
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => vec(0u64..300, 0..100).prop_map(Step::Observe),
        1 => (0u64..20_000, 0u64..20_000).prop_map(|(from, count)| Step::ObserveMany { from, count }),
        6 => (0u64..12).prop_map(Step::Pass),
        1 => (40u64..80).prop_map(Step::Pass),
        1 => Just(Step::GoBack),
        1 => (0u64..100).prop_map(Step::Reset),
        1 => vec(0u64..300, 0..100).prop_map(Step::Remove),
        2 => Just(Step::Sync),
        1 => Just(Step::Publish),
        1 => Just(Step::Compact),
        1 => Just(Step::Crash),
    ]
}

/// Checks that storage has no run of a slice that the window has left, and no run that the manifest does not name.
fn check_bounds(seen: &Seen<Memory>, storage: &Memory) {
    let manifest = seen.set().manifest();
    let slice = manifest.slice();
    assert!(manifest.runs.iter().all(|run| run.slice + Window::SLICES >= slice), "slice {slice}: {:?}", manifest.runs);
    let mut slices: Vec<u64> = manifest.runs.iter().map(|run| run.slice).collect();
    slices.retain(|&run| run < slice);
    assert!(slices.is_sorted_by(|a, b| a < b), "one run for each slice that has ended: {slices:?}");
    let runs = storage.list().unwrap().iter().filter(|name| name.ends_with(".run")).count();
    assert_eq!(runs, manifest.runs.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn verdicts_are_those_of_the_window(
        keys in any::<bool>(),
        ticks in prop_oneof![1u64..50, 500u64..3000, 100_000u64..1_000_000],
        cache in prop_oneof![Just(Cache::Recent), Just(Cache::Lru), Just(Cache::None)],
        journal in any::<bool>(),
        steps in vec(step(), 1..60),
    ) {
        let (storage, window) = (Memory::new(), window_of(keys, ticks));
        let options = options(cache, journal);
        let mut seen = Seen::open_window(storage.clone(), options, window).unwrap();
        let mut model = Model::default();
        for step in steps {
            let batch: Vec<u64> = match step {
                Step::Observe(batch) => batch,
                // If a window has only a few keys, a large `count` would fill the window a thousand times.
                Step::ObserveMany { from, count } => (from..from + count.min(ticks.max(100))).collect(),
                Step::Pass(thirds) => {
                    if !keys {
                        model.tick += thirds * ticks / 48;
                        seen.set_time(model.tick);
                    }
                    continue;
                }
                Step::GoBack => {
                    seen.set_time(model.tick / 2);
                    continue;
                }
                Step::Reset(thirds) => {
                    if !keys {
                        let tick = model.tick.saturating_sub(thirds * ticks / 48);
                        let slice = window.slice_of(model.tick);
                        seen.reset_time(tick).unwrap();
                        if tick < model.tick {
                            model.reset(slice, window.slice_of(tick));
                            model.tick = tick;
                        }
                        check_bounds(&seen, &storage);
                    }
                    continue;
                }
                Step::Remove(keys) => {
                    let same = SeenOptions { hash: Some(seen.hash_spec()), ..SeenOptions::default() };
                    let mut gone = Seen::open_with(Memory::new(), same).unwrap();
                    observe(&mut gone, &keys).unwrap();
                    seen.remove_all(&gone).unwrap();
                    model.last.retain(|key, _| !keys.contains(key));
                    model.sync();
                    check_bounds(&seen, &storage);
                    continue;
                }
                Step::Sync => {
                    seen.sync().unwrap();
                    prop_assert_eq!((seen.unsynced(), seen.unsynced_repeats()), (0, 0));
                    model.sync();
                    continue;
                }
                Step::Publish | Step::Compact => {
                    seen.publish().unwrap();
                    model.sync();
                    if matches!(step, Step::Compact) {
                        drop(seen);
                        // A program that only maintains the store need not know the window.
                        let mut set = Cascade::open(storage.clone(), Default::default()).unwrap();
                        set.compact().unwrap();
                        set.verify().unwrap();
                        drop(set);
                        seen = Seen::open_window(storage.clone(), options, window).unwrap();
                        if keys {
                            prop_assert_eq!(seen.set().manifest().tick, model.tick);
                        } else {
                            seen.set_time(model.tick);
                        }
                    }
                    continue;
                }
                Step::Crash => {
                    drop(seen);
                    seen = Seen::open_window(storage.clone(), options, window).unwrap();
                    seen.set().verify().unwrap();
                    model.crash();
                    if keys {
                        let tick = seen.set().manifest().tick;
                        let known = model.synced_tick;
                        prop_assert!(tick <= model.tick);
                        prop_assert!(window.slice_of(tick) >= window.slice_of(known.saturating_sub(1).max(tick.min(known)))
                            || seen.set().is_empty());
                        model.tick = tick;
                    } else {
                        seen.set_time(model.tick);
                    }
                    continue;
                }
            };
            let will_sync = seen.will_sync(batch.len());
            let durable = |seen: &Seen<Memory>| seen.set().manifest().keys() + seen.set().journal_keys().unwrap();
            let before = durable(&seen);
            let new = observe(&mut seen, &batch).unwrap();
            prop_assert!(will_sync || durable(&seen) <= before, "keys became durable");
            for (&key, is_new) in batch.iter().zip(new) {
                model.check(key, window.slice_of(model.tick), is_new);
                model.tick += u64::from(keys);
            }
            check_bounds(&seen, &storage);
        }
        seen.set().verify().unwrap();
    }
}

/// Observes each batch at its own time. Returns how many batches a sync has acknowledged.
fn session<S: Storage>(storage: S, journal: bool, batches: &[(u64, Vec<u64>)]) -> (usize, Result<()>) {
    let mut acknowledged = 0;
    let run = || {
        let mut seen = Seen::open_window(storage, options(Cache::Recent, journal), window_of(false, 1600))?;
        for (time, batch) in batches {
            seen.set_time(*time);
            observe(&mut seen, batch)?;
            seen.sync()?;
            acknowledged += 1;
        }
        seen.publish()
    };
    let outcome = run();
    (acknowledged, outcome)
}

#[test]
fn no_acknowledged_occurrence_is_forgotten_early_whatever_fails() {
    // Keys 0 to 9 occur in the first slice and again in the third, and other keys in between. The last batches come so
    // late that earlier slices are forgotten.
    let batches: Vec<(u64, Vec<u64>)> = vec![
        (0, (0..40).collect()),
        (150, (30..60).collect()),
        (250, (0..10).chain(60..70).collect()),
        (260, (0..20).collect()),
        (1750, (70..80).collect()),
        (1900, (0..5).collect()),
    ];
    let mut struck = 0;
    for (journal, fault) in [true, false].into_iter().flat_map(|journal| Fault::ALL.map(|fault| (journal, fault))) {
        for at in 0.. {
            let storage = Failing::new(&Memory::new(), at, fault);
            let (acknowledged, outcome) = session(storage.clone(), journal, &batches);
            if !storage.struck() {
                outcome.unwrap();
                break;
            }
            struck += 1;
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut seen =
                    Seen::open_window(left.clone(), options(Cache::Recent, journal), window_of(false, 1600)).unwrap();
                seen.set().verify().unwrap();
                // The slice of each key's last occurrence: `earliest` has only the acknowledged batches, and
                // `latest` has also the batch at which the fault struck.
                let (mut earliest, mut latest) = (HashMap::new(), HashMap::new());
                for (index, (time, batch)) in batches.iter().enumerate() {
                    for &key in batch {
                        if index < acknowledged {
                            earliest.insert(key, time / 100);
                        }
                        if index <= acknowledged {
                            latest.insert(key, time / 100);
                        }
                    }
                }
                let now = batches[acknowledged.min(batches.len() - 1)].0 + 100;
                seen.set_time(now);
                let all: Vec<u64> = (0..80).collect();
                let new = observe(&mut seen, &all).unwrap();
                for (key, is_new) in all.into_iter().zip(new) {
                    let remembered =
                        |last: &HashMap<u64, u64>| last.get(&key).is_some_and(|last| now / 100 - last <= 16);
                    assert!(!is_new || !remembered(&earliest), "{fault:?} at {at}: {key} is forgotten early");
                    assert!(is_new || remembered(&latest), "{fault:?} at {at}: {key} is remembered for too long");
                }
                seen.publish().unwrap();
                assert_eq!(left.list().unwrap().len(), 1 + seen.set().runs().len());
            }
        }
    }
    assert!(struck > 400, "{struck} faults");
}

#[test]
fn a_window_that_fits_in_memory_writes_nothing_until_a_sync_asks_for_it() {
    for keys in [true, false] {
        let storage = Memory::new();
        let mut seen = Seen::open_window(storage.clone(), options(Cache::Recent, false), window_of(keys, 160)).unwrap();
        for time in 0..5000 {
            seen.set_time(time);
            assert!(!seen.will_sync(2));
            assert_eq!(observe(&mut seen, &[time, time.saturating_sub(100)]).unwrap(), [true, keys && time > 100]);
        }
        assert_eq!(storage.list().unwrap().len(), 0);
        seen.sync().unwrap();
        // Each key is on storage once, in the slice in which it occurred last.
        let runs = &seen.set().manifest().runs;
        assert!(runs.len() == 17 && seen.set().len() < 400, "{runs:?}");
        seen.set().verify().unwrap();
    }
}

#[test]
fn the_end_of_a_slice_writes_nothing_and_a_journal_knows_the_slice_of_each_key() {
    let (storage, window) = (Memory::new(), window_of(true, 320));
    let open = |storage: &Memory| Seen::open_window(storage.clone(), options(Cache::Recent, true), window).unwrap();
    let copy = |storage: &Memory| {
        let copy = Memory::new();
        for name in storage.list().unwrap() {
            let file = storage.open(&name).unwrap();
            copy.publish(&name, |out| {
                out.write_all(file.as_ref()).unwrap();
                Ok(())
            })
            .unwrap();
        }
        copy
    };
    let mut seen = open(&storage);
    // A batch goes over many slices, and keys 0 to 9 occur again in it.
    let batch: Vec<u64> = (0..100).chain(0..10).chain(100..200).collect();
    assert!(!seen.will_sync(batch.len()));
    let new = observe(&mut seen, &batch).unwrap();
    assert!(new[..100].iter().chain(&new[110..]).all(|&new| new) && !new[100..110].contains(&true));
    assert!(storage.list().unwrap().is_empty());
    assert_eq!((seen.unsynced(), seen.unsynced_repeats()), (200, 10));
    // Keys become durable in the order in which they came, those that occurred again not before their first occurrence.
    for (synced, known) in [(5, 5), (50, 55), (45, 100), (10, 110)] {
        seen.sync_first(synced).unwrap();
        let mut left = open(&copy(&storage));
        let keys: Vec<u64> = (0..200).collect();
        let known_now = known_of(&mut left, &keys);
        assert_eq!(known_now, (0..200).map(|key| key < known).collect::<Vec<_>>(), "{known}");
    }
    observe(&mut seen, &(200..350).collect::<Vec<_>>()).unwrap();
    seen.sync().unwrap();
    assert_eq!((seen.unsynced(), seen.unsynced_repeats()), (0, 0));
    assert_eq!(storage.list().unwrap().len(), 2, "a manifest and a journal");
    // At tick 359 the window, of slices of 20 ticks, begins with slice 1: keys 20 on, and 0 to 9, which came again.
    let mut left = open(&copy(&storage));
    assert_eq!(left.set().manifest().tick / 20, 17);
    let keys: Vec<u64> = (0..50).collect();
    assert_eq!(known_of(&mut left, &keys), (0..50).map(|key| !(10..20).contains(&key)).collect::<Vec<_>>());
    // A manifest with or without a window does not fit the other's journal.
    let mut manifest = Manifest::load(&storage).unwrap().unwrap();
    let check = |manifest: &Manifest, storage: &Memory| {
        let journal = Journal::of(storage.open(JOURNAL).unwrap(), JOURNAL, manifest).unwrap();
        journal.unwrap().check().map_err(|error| error.to_string())
    };
    assert_eq!(check(&manifest, &storage), Ok(360));
    (manifest.window, manifest.tick) = (None, 0);
    assert!(check(&manifest, &storage).unwrap_err().contains("no fingerprint"));
    let storage = Memory::new();
    let mut all = Seen::open_with(storage.clone(), options(Cache::Recent, true)).unwrap();
    observe(&mut all, &[1]).unwrap();
    all.sync().unwrap();
    let mut manifest = Manifest::load(&storage).unwrap().unwrap();
    manifest.window = Some(window);
    assert!(check(&manifest, &storage).unwrap_err().contains("no tick"));
}

#[test]
fn a_journal_is_never_much_longer_than_what_the_window_remembers() {
    for (window, batch) in [(window_of(true, 16), 1000), (window_of(true, 64_000), 3000)] {
        let storage = Memory::new();
        let options = SeenOptions { memory: 8 << 20, ..options(Cache::Recent, true) };
        let mut seen = Seen::open_window(storage.clone(), options, window).unwrap();
        let length = || storage.open(JOURNAL).map_or(0, |journal| journal.len());
        let (mut ended, mut most) = (0, 0);
        for start in (0..2_000_000u64).step_by(batch) {
            let (before, will_sync) = (length(), seen.will_sync(batch));
            assert!(
                observe(&mut seen, &(start..start + batch as u64).collect::<Vec<_>>()).unwrap().iter().all(|new| *new)
            );
            assert!(will_sync || length() == before);
            seen.sync().unwrap();
            ended += usize::from(length() < before);
            most = most.max(length());
        }
        assert!(ended >= 1 && most < 16 << 20, "{ended} journals, {most} bytes");
        seen.publish().unwrap();
        seen.set().verify().unwrap();
        check_bounds(&seen, &storage);
    }
}

#[test]
fn a_store_keeps_to_its_window() {
    let hour = window_of(false, 3_600_000);
    let open = |storage: &Memory, window| {
        Seen::open_window(storage.clone(), SeenOptions::default(), window).map(drop).map_err(|error| match error {
            Error::Store(StoreError { problem: StoreProblem::OtherWindow { found, expected }, .. }) => {
                (found, expected)
            }
            other => panic!("{other}"),
        })
    };
    let storage = Memory::new();
    Seen::open_window(storage.clone(), SeenOptions::default(), hour).unwrap().publish().unwrap();
    assert_eq!(open(&storage, hour), Ok(()));
    for other in [window_of(false, 3_600_001), window_of(true, 3_600_000)] {
        assert_eq!(open(&storage, other), Err((Some(hour), other)));
    }
    let storage = Memory::new();
    Seen::open_with(storage.clone(), SeenOptions::default()).unwrap().publish().unwrap();
    assert_eq!(open(&storage, hour), Err((None, hour)));

    let stable = options(Cache::LruStable { rate: 0.01 }, false);
    let error = Seen::open_window(Memory::new(), stable, hour).unwrap_err();
    assert!(matches!(error, Error::Config(ConfigError::WindowOfStable)), "{error}");
}

/// A store of a set with a window, with runs of three slices of the window.
fn sample() -> Memory {
    let storage = Memory::new();
    let mut seen = Seen::open_window(storage.clone(), SeenOptions::default(), window_of(false, 160)).unwrap();
    for time in [5, 10, 30] {
        seen.set_time(time);
        observe(&mut seen, &[1, time]).unwrap();
    }
    seen.publish().unwrap();
    storage
}

#[test]
fn damage_and_contradictions_of_the_manifest_are_errors() {
    let bytes = sample().open(MANIFEST).unwrap();
    let bytes: &[u8] = bytes.as_ref();
    let manifest = Manifest::decode(bytes, "sample").unwrap();
    assert_eq!((manifest.window, manifest.tick), (Some(window_of(false, 160)), 30));
    assert_eq!(manifest.runs.iter().map(|run| run.slice).collect::<Vec<_>>(), [0, 1, 3]);
    for at in 0..bytes.len() {
        let mut bad = bytes.to_vec();
        bad[at] ^= 0x10;
        assert!(Manifest::decode(bad.as_slice(), "sample").is_err(), "byte {at}");
        assert!(Manifest::decode(&bytes[..at], "sample").is_err(), "cut at {at}");
    }
    let contradictions: [fn(&mut Manifest); 4] = [
        |manifest| manifest.runs.swap(0, 1),
        |manifest| manifest.tick = 29,
        |manifest| manifest.runs[2].slice = u64::MAX,
        |manifest| manifest.store = furui::store::StoreKind::Dict(furui::store::Purpose::Numbers),
    ];
    for (index, contradict) in contradictions.into_iter().enumerate() {
        let mut bad = manifest.clone();
        contradict(&mut bad);
        assert!(bad.save(&Memory::new()).is_err(), "contradiction {index}");
        let mut encoded = vec![];
        bad.encode(&mut encoded).unwrap();
        assert!(Manifest::decode(encoded.as_slice(), "bad").is_err(), "contradiction {index}");
    }
    let mut bad = manifest;
    bad.window = None;
    assert!(bad.save(&Memory::new()).is_err(), "slices without a window");
}

#[test]
fn a_snapshot_keeps_the_window() {
    let dir = std::env::temp_dir().join(format!("furui-windows-{}", std::process::id()));
    let (from, to) = (dir.join("from"), dir.join("to"));
    let open = |path: &std::path::Path| {
        let storage = furui::store::Directory::open(path).unwrap();
        Seen::open_window(storage, options(Cache::Recent, true), window_of(true, 32)).unwrap()
    };
    std::fs::create_dir_all(&dir).unwrap();
    let mut seen = open(&from);
    observe(&mut seen, &[1, 2, 3]).unwrap();
    seen.sync().unwrap();
    snapshot(&from, &to).unwrap();
    let mut copy = open(&to);
    assert_eq!(observe(&mut copy, &[1, 2, 3, 4]).unwrap(), [false, false, false, true]);
    drop((seen, copy));
    std::fs::remove_dir_all(&dir).unwrap();
}
