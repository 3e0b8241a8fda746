//! Tests sets that are split: programs with several threads, whose steps come here in a random order in one thread.

use std::collections::{BTreeSet, VecDeque};

use crate::support::{Failing, Fault};
use furui::seen::{Cache, Recent, Seen, SeenOptions, Verdict};
use furui::store::cascade::{Share, SplitBatch};
use furui::store::{Memory, Storage};
use furui::{Hashes, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

/// A batch on its way through the shares.
struct Flight {
    numbers: Vec<u64>,
    keys: Hashes,
    batch: SplitBatch,
}

/// A program that keeps several batches in progress, whose keys are numbers.
struct Program<S: Storage> {
    seen: Seen<S>,
    count: usize,
    shares: Vec<Share<S::File>>,
    /// The number of the batch that each share takes next.
    turns: Vec<usize>,
    flights: VecDeque<Flight>,
    /// How many batches are finished.
    finished: usize,
    recent: Recent<u64, 1>,
    random: u64,
    /// The numbers that were called new, in order.
    printed: Vec<u64>,
    /// How many of `printed` are durable for certain.
    durable: usize,
}

fn options(journal: bool) -> SeenOptions {
    SeenOptions { cache: Cache::Recent, memory: 1 << 20, journal, ..SeenOptions::default() }
}

impl<S: Storage> Program<S> {
    fn new(storage: S, count: usize, journal: bool, random: u64) -> Result<Self> {
        let mut seen = Seen::open_with(storage, options(journal))?;
        seen.sync()?;
        let shares = seen.split(count)?;
        Ok(Self {
            seen,
            count,
            shares,
            turns: vec![0; count],
            flights: VecDeque::new(),
            finished: 0,
            recent: Recent::new(500).unwrap(),
            random: random | 1,
            printed: vec![],
            durable: 0,
        })
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % bound
    }

    /// Takes a batch, and does some of the work that there is.
    fn take(&mut self, numbers: Vec<u64>) -> Result<()> {
        let keys = self.seen.hash_spec().hasher().hash_all(numbers.iter().map(|number| number.to_le_bytes()));
        let (mut misses, mut batch) = (vec![], SplitBatch::new(self.count));
        self.recent.observe_all(keys.as_slice(), &mut misses);
        batch.fill(&keys, &misses)?;
        assert_eq!(batch.len(), misses.len());
        if !self.seen.admit(&keys, &batch)? {
            self.finish_all()?;
            let will_sync = self.seen.will_sync_for(&batch);
            if will_sync {
                // A program makes its output durable here, so these keys may become durable.
                self.durable = self.printed.len();
            }
            let generation = self.seen.set().manifest().generation();
            self.join()?;
            self.seen.make_room_for(&batch)?;
            assert!(will_sync || self.seen.set().manifest().generation() == generation);
            self.shares = self.seen.split(self.count)?;
            assert!(self.seen.admit(&keys, &batch)?, "there is room now");
        }
        self.flights.push_back(Flight { numbers, keys, batch });
        for _ in 0..self.below(3 * self.count) {
            self.step()?;
        }
        while self.flights.len() > 4 {
            self.step()?;
        }
        Ok(())
    }

    /// Does a random piece of the work that there is.
    fn step(&mut self) -> Result<()> {
        let share = self.below(self.count + 1);
        if share == self.count {
            return self.finish();
        }
        let Some(flight) = self.flights.get_mut(self.turns[share] - self.finished) else { return Ok(()) };
        self.turns[share] += 1;
        if flight.batch.waits_for(share) {
            let mut part = flight.batch.take(share);
            assert!(!flight.batch.waits_for(share) && !flight.batch.is_complete());
            self.shares[share].observe(&mut part)?;
            flight.batch.put(share, part);
        }
        Ok(())
    }

    /// Finishes the first batch if all shares have observed it.
    fn finish(&mut self) -> Result<()> {
        let ready = self.turns.iter().all(|&turn| turn > self.finished);
        let Some(flight) = self.flights.front().filter(|_| ready) else { return Ok(()) };
        assert!(flight.batch.is_complete());
        let mut verdicts = vec![];
        self.seen.finish(&flight.keys, &flight.batch, &mut verdicts)?;
        assert_eq!(verdicts.len(), flight.numbers.len());
        let new = flight.numbers.iter().zip(verdicts).filter(|&(_, verdict)| verdict == Verdict::New);
        self.printed.extend(new.map(|(&number, _)| number));
        self.flights.pop_front();
        self.finished += 1;
        Ok(())
    }

    fn finish_all(&mut self) -> Result<()> {
        while !self.flights.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    fn join(&mut self) -> Result<()> {
        self.seen.join(std::mem::take(&mut self.shares))
    }

    /// Records all but the last `left` of the keys that were printed.
    fn sync(&mut self, left: usize) -> Result<()> {
        let unsynced = self.seen.unsynced();
        assert_eq!(unsynced, self.printed.len() - self.durable, "keys of batches that are not finished do not wait");
        self.seen.sync_first(unsynced.saturating_sub(left))?;
        self.durable = self.printed.len() - self.seen.unsynced();
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.finish_all()?;
        self.join()?;
        self.seen.publish()?;
        self.durable = self.printed.len();
        self.shares = self.seen.split(self.count)?;
        Ok(())
    }
}

/// Which of the numbers are new to the store.
fn unknown<S: Storage>(storage: S, numbers: &[u64]) -> Vec<u64> {
    let mut seen = Seen::open_with(storage, options(true)).unwrap();
    seen.set().verify().unwrap();
    let keys = seen.hash_spec().hasher().hash_all(numbers.iter().map(|number| number.to_le_bytes()));
    let mut verdicts = vec![];
    seen.observe_all(&keys, &mut verdicts).unwrap();
    numbers.iter().zip(verdicts).filter(|&(_, verdict)| verdict == Verdict::New).map(|(&number, _)| number).collect()
}

fn copy(storage: &Memory) -> Memory {
    Failing::new(storage, u64::MAX, Fault::Fail).after_crash(false)
}

#[derive(Clone, Debug)]
enum Step {
    Take(Vec<u64>),
    TakeMany { from: u64, count: u64 },
    Sync { left: usize },
    Publish,
    Kill { shares: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => vec(0u64..2000, 0..200).prop_map(Step::Take),
        6 => (0u64..200_000, 0u64..40_000).prop_map(|(from, count)| Step::TakeMany { from, count }),
        3 => (0usize..100).prop_map(|left| Step::Sync { left }),
        1 => Just(Step::Publish),
        1 => (1usize..=8).prop_map(|shares| Step::Kill { shares }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_split_set_is_a_set_and_keeps_what_was_synced(
        shares in 1usize..=8,
        random in any::<u64>(),
        steps in vec(step(), 1..40),
    ) {
        let storage = Memory::new();
        let mut program = Program::new(storage.clone(), shares, true, random).unwrap();
        // All numbers so far, and those of them that an earlier process has recorded.
        let (mut taken, mut known) = (vec![], BTreeSet::new());
        for step in steps {
            match step {
                Step::Take(numbers) => {
                    taken.extend(&numbers);
                    program.take(numbers).unwrap();
                }
                Step::TakeMany { from, count } => {
                    taken.extend(from..from + count);
                    program.take((from..from + count).collect()).unwrap();
                }
                Step::Sync { left } => program.sync(left).unwrap(),
                Step::Publish => program.publish().unwrap(),
                Step::Kill { shares } => {
                    let mut left = known.clone();
                    left.extend(&program.printed[..program.durable]);
                    let mut seen = BTreeSet::new();
                    let mut expected = taken.clone();
                    expected.retain(|number| !left.contains(number) && seen.insert(*number));
                    prop_assert_eq!(unknown(copy(&storage), &taken), expected);
                    (known, taken) = (left, vec![]);
                    program = Program::new(storage.clone(), shares, true, random).unwrap();
                }
            }
        }
        program.publish().unwrap();
        let first: Vec<u64> = taken.into_iter().filter(|&number| known.insert(number)).collect();
        prop_assert_eq!(&program.printed, &first);
        program.join().unwrap();
        prop_assert_eq!(program.seen.set().len(), known.len() as u64);
        program.seen.set().verify().unwrap();
    }
}

#[test]
fn nothing_is_lost_and_nothing_else_is_known_whatever_fails() {
    let batches: Vec<Vec<u64>> = (0..40u64).map(|i| (i * 3000..i * 3000 + 5000).collect()).collect();
    let all: Vec<u64> = (0..130_000).collect();
    // Also tells which numbers were printed, and how many of them are certainly durable.
    let work = |storage: Failing, printed: &mut Vec<u64>, acknowledged: &mut usize| -> Result<()> {
        let mut program = Program::new(storage, 3, true, 7)?;
        let mut outcome = Ok(());
        for (i, batch) in batches.iter().enumerate() {
            outcome = program.take(batch.clone());
            if outcome.is_ok() && i % 5 == 4 {
                outcome = program.sync(10);
            }
            if outcome.is_err() {
                break;
            }
            *acknowledged = program.durable;
        }
        outcome = outcome.and_then(|()| program.publish());
        printed.clone_from(&program.printed);
        if outcome.is_ok() {
            *acknowledged = program.durable;
        }
        outcome
    };
    for fault in Fault::ALL {
        for at in (0..).step_by(3) {
            let storage = Failing::new(&Memory::new(), at, fault);
            let (mut printed, mut acknowledged) = (vec![], 0);
            let outcome = work(storage.clone(), &mut printed, &mut acknowledged);
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 100 && printed == all[..122_000], "the fault struck at only {at} operations");
                break;
            }
            for removed_come_back in [false, true] {
                let missing = unknown(storage.after_crash(removed_come_back), &all);
                // The numbers come in order, so the store has all numbers below some number, and no others.
                let kept = all.len() - missing.len();
                assert!(missing == all[kept..], "{fault:?} at {at}");
                assert!(acknowledged <= kept && kept <= printed.len(), "{fault:?} at {at}: {acknowledged} {kept}");
            }
        }
    }
}

#[test]
fn a_batch_that_fails_is_void_and_earlier_ones_can_be_recorded() {
    let start = Memory::new();
    let mut program = Program::new(start.clone(), 4, true, 1).unwrap();
    program.take((0..60_000).collect()).unwrap();
    program.publish().unwrap();
    drop(program);
    // The run is read in the second batch. Reads are tried one by one, until one of that batch fails.
    let mut failed = 0;
    for at in 0..200 {
        let storage = Failing::new(&start, at, Fault::Fail);
        let Ok(mut program) = Program::new(storage.clone(), 4, true, 1) else { continue };
        // The numbers are too few for a read of the run.
        if program.take(vec![]).and_then(|()| program.finish_all()).is_err() {
            continue;
        }
        let batch = |from: u64| (from..from + 1000).collect::<Vec<_>>();
        let first = program.take(batch(70_000)).and_then(|()| program.finish_all());
        if first.is_err() || program.printed.len() < 1000 {
            continue;
        }
        if program.take(batch(80_000)).and_then(|()| program.finish_all()).is_ok() {
            continue;
        }
        failed += 1;
        let printed = program.printed.len();
        program.sync(0).unwrap();
        program.join().unwrap();
        assert!(program.seen.publish().is_err() && program.seen.insert("a").is_err());
        assert_eq!(printed, 1000);
        let missing = unknown(storage.after_crash(false), &[batch(70_000), batch(80_000)].concat());
        assert_eq!(missing, batch(80_000));
    }
    assert!(failed > 0);
}

#[test]
fn a_set_without_a_journal_is_split_too_and_is_whole_again_after_the_end() {
    let storage = Memory::new();
    let mut program = Program::new(storage.clone(), 5, false, 3).unwrap();
    for i in 0..30u64 {
        program.take((i * 9000..i * 9000 + 10_000).collect()).unwrap();
    }
    program.finish_all().unwrap();
    assert!(program.printed.iter().copied().eq(0..271_000));
    assert!(!program.seen.set().runs().is_empty() && program.seen.contains(1u64.to_le_bytes()).is_err());
    program.join().unwrap();
    let seen = &mut program.seen;
    assert!(seen.contains(270_999u64.to_le_bytes()).unwrap() && !seen.contains(271_000u64.to_le_bytes()).unwrap());
    // The set has five tables now. A batch needs one.
    assert!(seen.insert(271_000u64.to_le_bytes()).unwrap() && !seen.insert(271_000u64.to_le_bytes()).unwrap());
    assert_eq!(seen.set().len(), 271_001);
    // Keys in RAM are divided anew.
    let shares = seen.split(2).unwrap();
    assert!(seen.split(2).is_err() && seen.publish().is_err());
    seen.join(shares).unwrap();
    assert_eq!(seen.set().len(), 271_001);
    seen.publish().unwrap();
    assert_eq!(unknown(storage, &[5, 271_000, 271_001]), [271_001]);
}

#[test]
fn only_the_shares_that_were_lent_are_taken_back() {
    let mut seen = Seen::open_with(Memory::new(), options(false)).unwrap();
    let mut other = Seen::open_with(Memory::new(), options(false)).unwrap();
    let (mut shares, others) = (seen.split(3).unwrap(), other.split(3).unwrap());
    assert!(seen.join(others).is_err());
    shares.swap(0, 2);
    seen.join(shares).unwrap();
    let mut shares = seen.split(3).unwrap();
    shares.pop();
    assert!(seen.join(shares).is_err() && seen.insert("a").is_err());
}

#[test]
fn a_batch_knows_the_keys_of_each_share_and_is_finished_only_when_all_were_observed() {
    let mut seen = Seen::open_with(Memory::new(), options(true)).unwrap();
    let mut shares = seen.split(3).unwrap();
    let mut batch = SplitBatch::new(3);
    assert!(batch.shares() == 3 && batch.is_empty());
    for round in 0..4u64 {
        let keys = seen.hash_spec().hasher().hash_all((round * 60..round * 60 + 100).map(u64::to_le_bytes));
        batch.fill(&keys, &(0..100).collect::<Vec<_>>()).unwrap();
        let of_share = |share: usize| {
            let share_of = |key: &KeyHash| ((u128::from(key.get()) * 3) >> 64) as usize;
            keys.as_slice().iter().filter(|key| share_of(key) == share).count()
        };
        assert!(batch.len() == 100 && !batch.is_empty());
        assert!((0..3).all(|share| batch.count(share) == of_share(share)));
        if round == 3 {
            // An empty batch has nothing to observe.
            batch.clear();
            assert!(batch.is_empty() && batch.is_complete() && !(0..3).any(|share| batch.waits_for(share)));
            break;
        }
        assert!(seen.admit(&keys, &batch).unwrap());
        for (share, lent) in shares.iter_mut().enumerate() {
            assert!(batch.waits_for(share));
            let mut part = batch.take(share);
            assert!(part.len() == of_share(share) && !part.is_empty());
            assert!(seen.finish(&keys, &batch, &mut vec![]).is_err(), "a part is missing");
            lent.observe(&mut part).unwrap();
            batch.put(share, part);
            assert_eq!(batch.is_complete(), share == 2);
            assert!(share == 2 || seen.finish(&keys, &batch, &mut vec![]).is_err(), "a part was not observed");
        }
        let mut verdicts = vec![];
        seen.finish(&keys, &batch, &mut verdicts).unwrap();
        let new = verdicts.iter().filter(|&&verdict| verdict == Verdict::New).count();
        assert_eq!(new, if round == 0 { 100 } else { 60 });
    }
    seen.join(shares).unwrap();
    assert_eq!(seen.set().len(), 220);
}

#[test]
fn a_share_in_which_hashes_crowd_takes_no_more_batches() {
    let mut seen = Seen::open_with(Memory::new(), SeenOptions { memory: 64 << 20, ..options(false) }).unwrap();
    let mut shares = seen.split(2).unwrap();
    let mut admit = |seen: &mut Seen<Memory>, hashes: std::ops::Range<u64>| {
        let (mut keys, mut batch) = (Hashes::new(&seen.hash_spec().hasher()), SplitBatch::new(2));
        hashes.clone().for_each(|hash| keys.push_hash(KeyHash::new(hash)));
        batch.fill(&keys, &(0..(hashes.end - hashes.start) as u32).collect::<Vec<_>>()).unwrap();
        let is_admitted = seen.admit(&keys, &batch).unwrap();
        if is_admitted {
            for (share, lent) in shares.iter_mut().enumerate() {
                if !batch.waits_for(share) {
                    continue;
                }
                let mut part = batch.take(share);
                lent.observe(&mut part).unwrap();
                batch.put(share, part);
            }
            seen.finish(&keys, &batch, &mut vec![]).unwrap();
        }
        is_admitted
    };
    assert!(admit(&mut seen, 1..(16 << 10) + 10));
    assert!(!admit(&mut seen, 100_000..100_001) && admit(&mut seen, 1 << 63..(1 << 63) + 1));
}
