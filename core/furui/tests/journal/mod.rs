//! The journal of a set: synced keys are found again whatever else happens, and nothing else is known.

mod damage;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::dump;
use crate::support::{Failing, Fault};
use furui::raw::MAX_RECORD_KEYS;
use furui::store::cascade::{Cascade, CascadeOptions, Journal};
use furui::store::{Bytes, JOURNAL, MANIFEST, Manifest, Memory, Overlay, Storage, StoreKind};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

const HEAD: usize = 88;
/// The bytes of a record besides its keys.
const RECORD: usize = 24;
const OPTIONS: CascadeOptions = CascadeOptions { memory: 1 << 20, hash: None, form: None, journal: true };

/// The golden file, written once by version 1 of the format and never written again. Every later version reads it.
const GOLDEN: &[u8] = include_bytes!("../golden/v1/JOURNAL");
const GOLDEN_SPEC: HashSpec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 0x0123_4567_89AB_CDEF };

fn open<S: Storage>(storage: S) -> Cascade<S> {
    Cascade::open(storage, OPTIONS).unwrap()
}

fn hash(i: u64) -> u64 {
    (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Inserts these keys, and returns those that were new.
fn insert<S: Storage>(set: &mut Cascade<S>, numbers: impl IntoIterator<Item = u64>) -> Result<Vec<u64>> {
    let numbers: Vec<u64> = numbers.into_iter().collect();
    let keys: Vec<KeyHash> = numbers.iter().map(|&i| KeyHash::new(hash(i))).collect();
    let mut new = vec![];
    set.insert_all(&keys, &mut new)?;
    new.sort_unstable();
    Ok(new.into_iter().map(|i| numbers[i as usize]).collect())
}

fn put(storage: &Memory, name: &str, bytes: &[u8]) {
    storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
}

fn bytes_of(storage: &Memory, name: &str) -> Vec<u8> {
    storage.open(name).unwrap().to_vec()
}

/// A second storage with equal files.
fn copy(storage: &Memory) -> Memory {
    let copy = Memory::new();
    storage.list().unwrap().iter().for_each(|name| put(&copy, name, &bytes_of(storage, name)));
    copy
}

/// A store as a killed process leaves it: keys 0 to 99 in a run; 100 to 109, 110, and 111 to 139 in three records of
/// the journal.
fn killed() -> Memory {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    insert(&mut set, 0..100).unwrap();
    set.publish().unwrap();
    for range in [100..110, 110..111, 111..140] {
        insert(&mut set, range).unwrap();
        set.sync().unwrap();
    }
    storage
}

/// The keys from 0 to 149 that a newly opened set has.
fn found(storage: Memory) -> Result<Vec<u64>> {
    let mut set = Cascade::open(storage, OPTIONS)?;
    let missing = insert(&mut set, 0..150)?;
    Ok((0..150).filter(|i| !missing.contains(i)).collect())
}

#[test]
fn what_was_synced_is_there_after_a_kill_and_a_publish_ends_the_journal() {
    let storage = killed();
    assert_eq!(storage.list().unwrap(), ["0000000000000000.run", JOURNAL, MANIFEST]);
    assert_eq!(bytes_of(&storage, JOURNAL).len(), HEAD + 3 * RECORD + 40 * 8);
    assert_eq!(found(copy(&storage)).unwrap(), (0..140).collect::<Vec<_>>());

    // A set that is opened for reading keeps none of the journal's keys in memory, and changes nothing.
    let set = Cascade::open_published(storage.clone(), OPTIONS).unwrap();
    assert_eq!((set.len(), set.journal_keys().unwrap()), (100, 40));
    set.verify().unwrap();
    let mut set = set;
    assert!(insert(&mut set, [1]).is_err() && set.sync().is_err() && set.publish().is_err() && set.compact().is_err());

    // Another process does not continue the journal: it moves the journal's keys into a run.
    let mut set = open(storage.clone());
    assert_eq!((set.len(), set.unsynced()), (140, 0));
    set.sync().unwrap();
    assert!(!storage.list().unwrap().contains(&JOURNAL.to_owned()));
    insert(&mut set, 140..150).unwrap();
    assert_eq!(set.unsynced(), 10);
    set.sync().unwrap();
    assert_eq!((set.unsynced(), bytes_of(&storage, JOURNAL).len()), (0, HEAD + RECORD + 10 * 8));
    set.publish().unwrap();
    assert!(!storage.list().unwrap().contains(&JOURNAL.to_owned()));
    assert_eq!(open(storage).len(), 150);
}

#[test]
fn a_journal_without_a_whole_record_is_ended_too() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    insert(&mut set, 0..100).unwrap();
    set.publish().unwrap();
    let left = copy(&storage);
    insert(&mut set, 100..101).unwrap();
    set.sync().unwrap();
    put(&left, JOURNAL, &bytes_of(&storage, JOURNAL)[..HEAD]);
    open(left.clone()).publish().unwrap();
    assert!(!left.list().unwrap().contains(&JOURNAL.to_owned()));
    assert_eq!(open(left).len(), 100);
}

#[test]
fn a_new_journal_takes_the_place_of_another_only_when_the_keys_of_that_are_in_a_run() {
    let storage = killed();
    let mut set = open(storage.clone());
    for start in (1000..41_000).step_by(1000) {
        insert(&mut set, start..start + 1000).unwrap();
        assert_eq!(found(copy(&storage)).unwrap(), (0..140).collect::<Vec<_>>());
    }
    assert!(storage.list().unwrap().contains(&JOURNAL.to_owned()));
}

/// More keys wait than there is room for, and nothing makes them durable until another key comes.
#[test]
fn a_batch_without_keys_makes_nothing_durable() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    insert(&mut set, 0..30_000).unwrap();
    assert!(!set.will_sync(0) && set.will_sync(1));
    insert(&mut set, []).unwrap();
    assert_eq!((set.unsynced(), storage.list().unwrap().len()), (30_000, 0));
    insert(&mut set, [30_000]).unwrap();
    assert_eq!(set.unsynced(), 1);
}

#[test]
fn compact_takes_the_journal_in() {
    let storage = killed();
    Cascade::open(storage.clone(), CascadeOptions::default()).unwrap().compact().unwrap();
    assert_eq!(storage.list().unwrap().len(), 2);
    let set = open(storage);
    assert_eq!((set.len(), set.runs().len()), (140, 1));
}

#[test]
fn a_set_without_a_journal_publishes_when_it_is_synced() {
    let storage = killed();
    let mut set = Cascade::open(storage.clone(), CascadeOptions::default()).unwrap();
    insert(&mut set, 140..141).unwrap();
    set.sync().unwrap();
    assert!(!storage.list().unwrap().contains(&JOURNAL.to_owned()));
    assert_eq!(open(storage).len(), 141);
}

#[test]
fn keys_are_recorded_in_the_order_in_which_they_came_as_many_as_the_caller_says() {
    for published in [false, true] {
        let storage = Memory::new();
        let mut set = open(storage.clone());
        insert(&mut set, 1000..1100).unwrap();
        if published {
            set.publish().unwrap();
        }
        set.sync().unwrap();
        // Some of these keys are known; the others come in no particular order.
        let batch: Vec<u64> = (0..600).map(|i| i * 7919 % 1201 + 900).collect();
        let new = insert(&mut set, batch).unwrap();
        assert_eq!(set.unsynced(), new.len());
        let mut recorded = 0;
        for count in [0, 1, 100, 7] {
            set.sync_first(count).unwrap();
            recorded += count;
            assert_eq!(set.unsynced(), new.len() - recorded);
            let mut left = open(copy(&storage));
            assert_eq!(insert(&mut left, new.iter().copied()).unwrap(), new[recorded..]);
        }
    }
}

#[test]
fn keys_that_nobody_syncs_are_recorded_when_too_many_wait() {
    let storage = Memory::new();
    let mut set = Cascade::open(storage.clone(), CascadeOptions { memory: 2 << 20, ..OPTIONS }).unwrap();
    let mut recorded = 0;
    for batch in 0..200u64 {
        let will_sync = set.will_sync(1000);
        let waited = set.unsynced();
        insert(&mut set, batch * 1000..batch * 1000 + 1000).unwrap();
        assert_eq!(will_sync, set.unsynced() < waited + 1000, "batch {batch}");
        recorded += usize::from(will_sync);
        assert!(set.resident_bytes() <= 2 << 20, "{}", set.resident_bytes());
    }
    assert!(recorded >= 4 && set.unsynced() <= (2 << 20) / 8 / 8);
    let known = 200_000 - set.unsynced() as u64;
    assert_eq!(open(storage).len(), known);
}

/// The first process is killed, perhaps because it used too much memory; the next process has less memory.
#[test]
fn a_journal_larger_than_the_memory_is_taken_in_and_needed_until_then() {
    let storage = Memory::new();
    let mut set = Cascade::open(storage.clone(), CascadeOptions { memory: 64 << 20, ..OPTIONS }).unwrap();
    insert(&mut set, 0..1000).unwrap();
    set.publish().unwrap();
    insert(&mut set, 1000..400_000).unwrap();
    set.sync().unwrap();
    drop(set);
    let all = |storage: Memory| {
        let mut set = open(storage);
        set.verify().unwrap();
        assert_eq!(set.len(), 400_000);
        assert_eq!(insert(&mut set, (0..400_000).step_by(97)).unwrap(), [0; 0]);
        set.sync().unwrap();
        set
    };
    // The process that opens the store dies at some operation.
    for fault in [Fault::Die, Fault::DieAfter] {
        for at in (0..).step_by(23) {
            let dying = Failing::new(&storage, at, fault);
            if Cascade::open(dying.clone(), OPTIONS).and_then(|mut set| set.sync()).is_ok() {
                assert!(!dying.struck() && at > 100, "{at}");
                break;
            }
            let left = all(dying.after_crash(at % 2 == 0));
            assert!(left.runs().iter().map(|run| run.len()).sum::<u64>() == 400_000);
        }
    }
    all(storage);
}

#[test]
fn a_reader_beside_the_writer_sees_what_is_recorded_and_changes_nothing() {
    let storage = killed();
    let before = storage.list().unwrap();
    let mut dry = Cascade::open(Overlay::new(storage.clone(), Memory::new()), OPTIONS).unwrap();
    assert_eq!(dry.len(), 140);
    assert_eq!(insert(&mut dry, 130..145).unwrap(), (140..145).collect::<Vec<_>>());
    assert_eq!(storage.list().unwrap(), before);
}

#[test]
fn a_sync_that_failed_is_not_tried_again() {
    let start = killed();
    for fault in [Fault::Fail, Fault::FailAfter] {
        let mut at = 0;
        let storage = loop {
            let storage = Failing::new(&start, at, fault);
            let Ok(mut set) = Cascade::open(storage.clone(), OPTIONS) else {
                at += 1;
                continue;
            };
            if set.sync().is_err() {
                at += 1;
                continue;
            }
            let outcome = insert(&mut set, 140..150).and_then(|_| set.sync());
            if outcome.is_err() {
                assert!(set.sync().is_err() && set.publish().is_err() && insert(&mut set, [1]).is_err());
                if storage.after_crash(false).list().unwrap().contains(&JOURNAL.to_owned()) {
                    break storage;
                }
            }
            assert!(storage.struck(), "no append has failed");
            at += 1;
        };
        let left = found(storage.after_crash(false)).unwrap();
        assert!(left.len() >= 140 && left[..140] == (0..140).collect::<Vec<_>>());
    }
}

/// Each batch is printed, then recorded, and sometimes published. Any single operation may fail: acknowledged keys are
/// never forgotten, and keys that were not printed are never known.
#[test]
fn nothing_that_was_synced_is_lost_and_nothing_else_is_known_whatever_fails() {
    let batches: Vec<_> = (0..6u64).map(|i| i * 40 + 90..i * 40 + 140).collect();
    let work = |storage: Failing, begun: &mut u64, acknowledged: &mut u64| -> Result<()> {
        let mut set = Cascade::open(storage, OPTIONS)?;
        set.sync()?;
        for (i, batch) in batches.iter().enumerate() {
            insert(&mut set, batch.clone())?;
            *begun = batch.end;
            if i % 3 == 2 {
                set.publish()?
            } else {
                set.sync()?
            }
            *acknowledged = batch.end;
        }
        Ok(())
    };
    for (start, known) in [(Memory::new(), 90..90), (killed(), 0..140)] {
        for fault in Fault::ALL {
            for at in 0.. {
                let storage = Failing::new(&start, at, fault);
                let (mut begun, mut acknowledged) = (known.end, known.end);
                let outcome = work(storage.clone(), &mut begun, &mut acknowledged);
                if !storage.struck() {
                    outcome.unwrap();
                    assert!(at > 40, "the fault struck at only {at} operations");
                    break;
                }
                for removed_come_back in [false, true] {
                    let left = storage.after_crash(removed_come_back);
                    // Another tool may read the store first.
                    if left.list().unwrap().contains(&MANIFEST.to_owned()) {
                        Cascade::open_published(copy(&left), OPTIONS).unwrap().verify().unwrap();
                    }
                    let mut set = open(left.clone());
                    set.verify().unwrap();
                    let missing = insert(&mut set, known.start..400).unwrap();
                    assert!(missing.iter().all(|&i| i >= acknowledged), "{fault:?} at {at}: {missing:?}");
                    assert!((begun..400).all(|i| missing.contains(&i)), "{fault:?} at {at}");
                    set.publish().unwrap();
                    assert_eq!(left.list().unwrap().len(), 1 + set.runs().len(), "{fault:?} at {at}");
                }
            }
        }
    }
}

const GOLDEN_KEYS: [u64; 3] = [0x0123_4567_89AB_CDEF, 1, u64::MAX];

/// A store with the journal of the golden file.
fn golden() -> Memory {
    let storage = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Seen, GOLDEN_SPEC);
    manifest.journal = 0x1234_5678;
    manifest.save(&storage).unwrap();
    let mut set = open(storage.clone());
    for record in [&GOLDEN_KEYS[..2], &GOLDEN_KEYS[2..]] {
        set.insert_all(&record.iter().map(|&key| KeyHash::new(key)).collect::<Vec<_>>(), &mut vec![]).unwrap();
        set.sync().unwrap();
    }
    storage
}

#[test]
fn the_golden_file_is_what_the_format_says() {
    assert_eq!(bytes_of(&golden(), JOURNAL), GOLDEN);
    assert_eq!(
        (Journal::open(Bytes::from(Arc::<[u8]>::from(GOLDEN)), "sample").unwrap().hash(), decode(GOLDEN).unwrap()),
        (GOLDEN_SPEC, GOLDEN_KEYS.to_vec())
    );

    dump::check("## Journal", "## Tiers", GOLDEN, 0..GOLDEN.len());
}

#[test]
#[ignore = "writes the golden file"]
fn write_the_golden_file() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/JOURNAL"), bytes_of(&golden(), JOURNAL))
        .unwrap();
}

/// The keys of a journal with these bytes. An error must not be one of the operating system.
fn decode(bytes: &[u8]) -> Result<Vec<u64>> {
    let mut keys = vec![];
    let outcome = Journal::open(Bytes::from(Arc::<[u8]>::from(bytes)), "sample").and_then(|journal| {
        journal.for_each(|_, chunk| {
            keys.extend_from_slice(chunk);
            Ok(())
        })
    });
    assert!(!matches!(outcome, Err(Error::Io { .. })), "{outcome:?}");
    outcome.map(|()| keys)
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u64>),
    Sync,
    SyncFirst(usize),
    Publish,
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec(0u64..2000, 0..200).prop_map(Step::Insert),
        1 => (0u64..50, 5000u64..60_000).prop_map(|(from, count)| Step::Insert((from * 1000..from * 1000 + count).collect())),
        3 => Just(Step::Sync),
        2 => (0usize..100).prop_map(Step::SyncFirst),
        1 => Just(Step::Publish),
        2 => Just(Step::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn what_is_kept_through_kills_is_what_was_synced(steps in vec(step(), 1..40)) {
        let storage = Memory::new();
        let mut set = open(storage.clone());
        let mut known = BTreeSet::new();
        let mut unsynced: Vec<u64> = vec![];
        for step in steps {
            match step {
                Step::Insert(numbers) => {
                    let mut expected = vec![];
                    for &number in &numbers {
                        if known.insert(number) {
                            expected.push(number);
                        }
                    }
                    if set.will_sync(numbers.len()) {
                        unsynced.clear();
                    }
                    prop_assert_eq!(insert(&mut set, numbers).unwrap(), expected.clone());
                    unsynced.extend(expected);
                    prop_assert_eq!(set.unsynced(), unsynced.len());
                }
                Step::Sync => {
                    set.sync().unwrap();
                    unsynced.clear();
                }
                Step::SyncFirst(count) => {
                    set.sync_first(count).unwrap();
                    unsynced.drain(..count.min(unsynced.len()));
                }
                Step::Publish => {
                    set.publish().unwrap();
                    unsynced.clear();
                }
                Step::Kill => {
                    set = open(storage.clone());
                    unsynced.drain(..).for_each(|number| { known.remove(&number); });
                }
            }
            prop_assert_eq!(set.len(), known.len() as u64);
        }
        set.verify().unwrap();
    }
}

#[test]
fn a_batch_of_more_keys_than_a_record_has_is_recorded_in_several() {
    let storage = Memory::new();
    let mut set = Cascade::open(storage.clone(), CascadeOptions { memory: 256 << 20, ..OPTIONS }).unwrap();
    let count = MAX_RECORD_KEYS as u64 + 10;
    insert(&mut set, 0..count).unwrap();
    set.sync().unwrap();
    assert_eq!(bytes_of(&storage, JOURNAL).len() as u64, HEAD as u64 + 2 * RECORD as u64 + count * 8);
    assert_eq!(Cascade::open_published(storage, OPTIONS).unwrap().journal_keys().unwrap(), count);
}
