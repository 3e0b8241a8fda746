//! The dictionary compared with an ordered map, through all interleavings of its operations.

use std::collections::BTreeSet;
use std::sync::Arc;

use furui::HashSpec;
use furui::dict::{Dict, DictOptions, Done, Job, Merging, Snapshot};
use furui::store::{Manifest, Memory, Purpose, Storage, StoreKind, Taken};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::dict::made::{MADE, Model, SMALL, assert_same, contents};
use crate::dict::values::Values;

#[derive(Clone, Debug)]
enum Step<T> {
    Put(Vec<u8>, T),
    Delete(Vec<u8>),
    Number(Vec<u8>),
    Snapshot,
    Forget,
    Sync,
    TakeJob,
    RunJob,
    Install,
    DropJob,
    Compact,
    Reopen,
    Crash,
}

/// Strategy for keys of few letters, so that keys repeat and are prefixes of others; the empty key, zero bytes and 255
/// occur too.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let letters = prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xFF)];
    prop_oneof![3 => vec(letters.clone(), 0..4), 1 => vec(letters, 0..3).prop_map(|end| [&b"abcdefgh"[..], &end].concat())]
}

fn step<V: Values + ?Sized>() -> impl Strategy<Value = Step<V::Owned>> {
    prop_oneof![
        20 => (key(), V::values()).prop_map(|(key, value)| Step::Put(key, value)),
        8 => key().prop_map(Step::Delete),
        8 => key().prop_map(Step::Number),
        2 => Just(Step::Snapshot),
        1 => Just(Step::Forget),
        2 => Just(Step::Sync),
        4 => Just(Step::TakeJob),
        4 => Just(Step::RunJob),
        4 => Just(Step::Install),
        1 => Just(Step::DropJob),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ]
}

fn options() -> impl Strategy<Value = DictOptions> {
    let made = prop_oneof![2 => Just(MADE[0]), 2 => Just(MADE[1]), 1 => Just(MADE[2])];
    (1usize..8, 1usize..4, any::<bool>(), any::<bool>(), any::<bool>(), made).prop_map(
        |(window, merge_after, all, xxh3, tight, made)| DictOptions {
            window,
            merge_after,
            window_bytes: if tight { 2000 } else { SMALL.window_bytes },
            merging: if all { Merging::All } else { Merging::Geometric },
            hash: xxh3.then(HashSpec::default),
            ..made
        },
    )
}

/// A dictionary, the entries that it should hold, and the jobs in progress.
struct Run<V: Values + ?Sized> {
    storage: Memory,
    options: DictOptions,
    /// True if nearly all ids of values have been given when the dictionary is opened.
    is_worn: bool,
    dict: Dict<Memory, V>,
    model: Model<V>,
    /// Every number that was given or put.
    taken: BTreeSet<u32>,
    /// Every state since the last one that is known to be durable.
    history: Vec<(Model<V>, BTreeSet<u32>)>,
    snapshots: Vec<(Arc<Snapshot<V>>, Model<V>)>,
    jobs: Vec<Job<Memory>>,
    done: Vec<Done>,
}

impl<V: Values + ?Sized> Run<V> {
    fn new(options: DictOptions, is_worn: bool) -> Self {
        let storage = Memory::new();
        let mut dict = V::open(storage.clone(), options).unwrap();
        let is_worn = is_worn && V::kind() == StoreKind::Dict(Purpose::Bytes);
        if is_worn {
            dict.sync().unwrap();
            wear_out(&storage);
            dict = V::open(storage.clone(), options).unwrap();
        }
        let (model, taken) = (Model::<V>::new(), BTreeSet::new());
        let history = vec![(model.clone(), taken.clone())];
        Self { storage, options, is_worn, dict, model, taken, history, snapshots: vec![], jobs: vec![], done: vec![] }
    }

    fn step(&mut self, step: Step<V::Owned>) {
        let next = V::next(&self.dict);
        let (had_jobs, tries) = (self.has_jobs(), self.dict.tries().count());
        match step {
            Step::Put(key, value) => {
                V::put(&mut self.dict, &key, &value).unwrap();
                self.taken.extend(V::taken(&value));
                self.model.insert(key, value);
            }
            Step::Delete(key) => {
                self.dict.delete(&key).unwrap();
                self.model.remove(&key);
            }
            Step::Number(key) => {
                if let Some(id) = V::number(&mut self.dict, &key) {
                    let is_new = !self.model.contains_key(&key);
                    assert_eq!(id.unwrap(), *self.model.entry(key).or_insert(V::value(next)));
                    assert!(!is_new || self.taken.insert(next), "{next} was given twice");
                }
            }
            Step::Snapshot => self.snapshots.push((self.dict.snapshot(), self.model.clone())),
            Step::Forget => drop(self.snapshots.pop()),
            Step::Sync => {
                self.dict.sync().unwrap();
                assert_eq!(self.dict.buffered(), 0);
                self.history.clear();
            }
            Step::TakeJob => self.jobs.extend(self.dict.job().unwrap()),
            Step::RunJob => self.done.extend(self.jobs.pop().map(|job| job.run().unwrap())),
            Step::Install => drop(self.done.pop().map(|done| self.dict.install(done).unwrap())),
            Step::DropJob => drop(self.jobs.pop()),
            Step::Compact => {
                self.dict.compact().unwrap();
                let count = self.model.len() as u64;
                assert!(self.dict.tries().count() <= 1);
                assert_eq!(self.dict.len_at_most(), count);
                let held = self.model.values().map(V::len).sum();
                if let Some(stored) = self.dict.tries().map(|trie| trie.value_bytes()).sum::<Option<u64>>() {
                    assert!((held..=held + 10 * count).contains(&stored), "{stored} for {held} of {count} values");
                }
                self.history.clear();
            }
            Step::Reopen => {
                self.dict.sync().unwrap();
                if self.is_worn {
                    wear_out(&self.storage);
                }
                self.reopen();
                assert_eq!(V::next(&self.dict), next);
            }
            Step::Crash => {
                self.reopen();
                let found = (contents(&self.dict), self.dict.manifest().taken.clone());
                let ranges = |taken: &BTreeSet<u32>| {
                    let mut ranges = Taken::default();
                    taken.iter().for_each(|&number| ranges.insert(number..=number));
                    ranges
                };
                let mut earlier = self.history.iter().rev();
                let earlier = earlier.find(|(model, taken)| *model == found.0 && ranges(taken) == found.1);
                (self.model, self.taken) = earlier.expect("an earlier state").clone();
            }
        }
        // While a job is in progress, buffers are frozen without merging; without a job, a dictionary has no more tries
        // than the last job left.
        if !had_jobs && !self.has_jobs() {
            assert!(self.dict.tries().count() <= self.options.merge_after.max(tries));
        }
        assert_eq!(V::next(&self.dict), self.next());
        self.history.push((self.model.clone(), self.taken.clone()));
    }

    /// The number that should be given next: the one after the greatest of all, or the smallest that never was.
    fn next(&self) -> u32 {
        match self.taken.last() {
            None => 0,
            Some(&last) if last < u32::MAX - 1 => last + 1,
            Some(_) => (0..u32::MAX).find(|number| !self.taken.contains(number)).unwrap_or(u32::MAX),
        }
    }

    fn has_jobs(&self) -> bool {
        !self.jobs.is_empty() || !self.done.is_empty()
    }

    fn reopen(&mut self) {
        self.jobs.clear();
        self.done.clear();
        self.dict = V::open(self.storage.clone(), self.options).unwrap();
        self.dict.verify().unwrap();
        assert_eq!(
            self.storage.list().unwrap().len(),
            self.dict.tries().count() + usize::from(self.dict.manifest().generation() > 0)
        );
    }
}

/// Changes the manifest of a dictionary of bytes, as if its keys had been put again so often that at most four ids of
/// values are left.
pub(crate) fn wear_out(storage: &Memory) {
    let mut manifest = Manifest::load(storage).unwrap().unwrap();
    manifest.next_id = manifest.next_id.max(u32::MAX - 4);
    manifest.save(storage).unwrap();
}

fn play<V: Values + ?Sized>(mut run: Run<V>, steps: Vec<Step<V::Owned>>, asked: &[Vec<u8>]) {
    for step in steps {
        run.step(step);
    }
    assert_same(&run.dict, &run.model, asked);
    for (snapshot, model) in &run.snapshots {
        assert_same(snapshot, model, asked);
    }
    run.dict.verify().unwrap();
    run.dict.compact().unwrap();
    assert_same(&run.dict, &run.model, asked);
}

proptest! {
    #[test]
    fn a_dictionary_of_numbers_behaves_as_an_ordered_map(
        options in options(), steps in vec(step::<u32>(), 1..120), asked in vec(key(), 4)
    ) {
        play(Run::<u32>::new(options, false), steps, &asked);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_dictionary_of_bytes_behaves_as_an_ordered_map(
        options in options(), is_worn: bool, steps in vec(step::<[u8]>(), 1..100), asked in vec(key(), 4)
    ) {
        play(Run::<[u8]>::new(options, is_worn), steps, &asked);
    }
}
