//! The dictionary of bytes: against an ordered map through what can happen to it, and on storage that fails or is damaged.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use furui::dict::{Dict, DictOptions, Done, FilterHash, Job, Layout, MAX_VALUE, Merging, Snapshot};
use furui::error::{StoreError, StoreProblem};
use furui::filter::ConfigError;
use furui::hash::Rolling;
use furui::store::{Manifest, Memory, Storage, StoreKind};
use furui::{Error, HashSpec, Result};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{Failing, Fault};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;
type ByteDict<S> = Dict<S, [u8]>;

const SMALL: DictOptions = DictOptions {
    layout: None,
    window: 5,
    window_bytes: 1 << 20,
    merge_after: 3,
    merging: Merging::Geometric,
    filter_rate: 0.05,
    filter_hash: None,
    hash: None,
};

/// The ways of making tries.
const MADE: [DictOptions; 3] = [
    SMALL,
    DictOptions { layout: Some(Layout::Louds), ..SMALL },
    DictOptions { layout: Some(Layout::Louds), filter_hash: Some(FilterHash::Polynomials4), ..SMALL },
];

fn open<S: Storage>(storage: S) -> ByteDict<S> {
    Dict::open_bytes_with(storage, SMALL).unwrap()
}

/// Bytes of any length that tell lengths and seeds apart.
fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ seed).collect()
}

fn contents(snapshot: &Snapshot<[u8]>) -> Model {
    snapshot.iter().map(|entry| entry.map(|(key, value)| (key, value.to_vec()))).collect::<Result<_>>().unwrap()
}

/// Everything that can be asked.
fn assert_same(snapshot: &Snapshot<[u8]>, model: &Model, asked: &[Vec<u8>]) {
    assert!(contents(snapshot) == *model);
    assert_eq!(snapshot.count().unwrap(), model.len() as u64);
    let keys: Vec<&[u8]> = asked.iter().chain(model.keys()).map(Vec::as_slice).collect();
    let mut values = vec![];
    snapshot.get_all(&keys, &mut values).unwrap();
    for (&key, value) in keys.iter().zip(values) {
        assert!(value == model.get(key).map(Vec::as_slice), "{key:?}");
        assert!(snapshot.get(key).unwrap() == value, "{key:?}");
        assert_eq!(snapshot.contains(key).unwrap(), value.is_some());
    }
    let owned = |entry: Result<(Vec<u8>, &[u8])>| entry.map(|(key, value)| (key, value.to_vec())).unwrap();
    for key in asked {
        let under: Model =
            model.iter().filter(|(other, _)| other.starts_with(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        assert!(snapshot.prefix(key).map(owned).collect::<Model>() == under);
        let from: Model = model.range(key.clone()..).map(|(k, v)| (k.clone(), v.clone())).collect();
        assert!(snapshot.range(key.as_slice()..).map(owned).collect::<Model>() == from);
        let prefixes: Vec<(usize, &[u8])> =
            (0..=key.len()).filter_map(|length| Some((length, model.get(&key[..length])?.as_slice()))).collect();
        assert!(snapshot.prefixes(key).unwrap() == prefixes);
        assert!(snapshot.longest_prefix(key).unwrap() == prefixes.last().copied());
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A key, and the length and the seed of a value.
    Put(Vec<u8>, usize, u8),
    Delete(Vec<u8>),
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

/// Keys of few letters, so that they come again and are prefixes of others.
fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xFF)], 0..4)
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(0usize), 10 => 1usize..40, 4 => 500usize..3000, 1 => 20_000usize..100_000]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (key(), length(), any::<u8>()).prop_map(|(key, length, seed)| Step::Put(key, length, seed)),
        6 => key().prop_map(Step::Delete),
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
    (1usize..8, 1usize..4, any::<bool>(), any::<bool>(), any::<bool>(), 0..MADE.len()).prop_map(
        |(window, merge_after, all, xxh3, tight, made)| DictOptions {
            window,
            merge_after,
            window_bytes: if tight { 2000 } else { SMALL.window_bytes },
            merging: if all { Merging::All } else { Merging::Geometric },
            hash: xxh3.then(HashSpec::default),
            ..MADE[made]
        },
    )
}

/// A dictionary, what it should hold, and what is under way.
struct Run {
    storage: Memory,
    options: DictOptions,
    dict: ByteDict<Memory>,
    model: Model,
    /// Every state since the last one that is known to be durable.
    history: Vec<Model>,
    snapshots: Vec<(Arc<Snapshot<[u8]>>, Model)>,
    jobs: Vec<Job<Memory>>,
    done: Vec<Done>,
}

impl Run {
    fn new(options: DictOptions) -> Self {
        let storage = Memory::new();
        let dict = Dict::open_bytes_with(storage.clone(), options).unwrap();
        let history = vec![Model::new()];
        Self { storage, options, dict, model: Model::new(), history, snapshots: vec![], jobs: vec![], done: vec![] }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Put(key, length, seed) => {
                let value = bytes(length, seed);
                self.dict.put(&key, &value).unwrap();
                self.model.insert(key, value);
            }
            Step::Delete(key) => {
                self.dict.delete(&key).unwrap();
                self.model.remove(&key);
            }
            Step::Snapshot => self.snapshots.push((self.dict.snapshot(), self.model.clone())),
            Step::Forget => drop(self.snapshots.pop()),
            Step::Sync => {
                self.dict.sync().unwrap();
                self.history.clear();
            }
            Step::TakeJob => self.jobs.extend(self.dict.job().unwrap()),
            Step::RunJob => self.done.extend(self.jobs.pop().map(|job| job.run().unwrap())),
            Step::Install => drop(self.done.pop().map(|done| self.dict.install(done).unwrap())),
            Step::DropJob => drop(self.jobs.pop()),
            Step::Compact => {
                self.dict.compact().unwrap();
                let stored = self.dict.tries().map(|trie| trie.value_bytes().unwrap()).sum::<u64>();
                let (count, held) =
                    (self.model.len() as u64, self.model.values().map(|value| value.len() as u64).sum());
                assert!((held..=held + 10 * count).contains(&stored), "{stored} for {held} of {count} values");
                self.history.clear();
            }
            Step::Reopen => {
                self.dict.sync().unwrap();
                self.reopen();
                self.history.clear();
            }
            Step::Crash => {
                self.reopen();
                let found = contents(&self.dict);
                assert!(self.history.contains(&found), "no earlier state");
                self.model = found;
                self.history.clear();
            }
        }
        self.history.push(self.model.clone());
    }

    fn reopen(&mut self) {
        self.jobs.clear();
        self.done.clear();
        self.dict = Dict::open_bytes_with(self.storage.clone(), self.options).unwrap();
        self.dict.verify().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn behaves_as_an_ordered_map(options in options(), steps in vec(step(), 1..100), asked in vec(key(), 4)) {
        let mut run = Run::new(options);
        for step in steps {
            run.step(step);
        }
        assert_same(&run.dict, &run.model, &asked);
        for (snapshot, model) in &run.snapshots {
            assert_same(snapshot, model, &asked);
        }
        run.dict.verify().unwrap();
        run.dict.compact().unwrap();
        assert_same(&run.dict, &run.model, &asked);
    }
}

#[test]
fn it_goes_to_other_threads_with_what_it_lends() {
    fn shared<T: Send + Sync>() {}
    shared::<ByteDict<Memory>>();
    shared::<Snapshot<[u8]>>();
    shared::<furui::dict::Entries<'_, [u8]>>();
    let mut dict = open(Memory::new());
    dict.put("a", "old").unwrap();
    let snapshot = dict.snapshot();
    let reader = std::thread::spawn(move || snapshot.get("a").unwrap().map(<[u8]>::to_vec));
    dict.put("a", "new").unwrap();
    assert_eq!(reader.join().unwrap().as_deref(), Some(&b"old"[..]));
    assert_eq!(dict.get("a").unwrap(), Some(&b"new"[..]));
}

#[test]
fn values_up_to_the_limit_are_taken_and_no_longer_ones() {
    let storage = Memory::new();
    let mut dict = open(storage.clone());
    let longest = vec![0xA5; MAX_VALUE];
    dict.put("longest", &longest).unwrap();
    dict.put("empty", "").unwrap();
    match dict.put("longer", vec![0; MAX_VALUE + 1]).unwrap_err() {
        Error::Config(ConfigError::OutOfRange { what: "bytes of a value", given, most, .. }) => {
            assert_eq!((given, most), (MAX_VALUE as u64 + 1, MAX_VALUE as u64));
        }
        other => panic!("{other}"),
    }
    dict.compact().unwrap();
    let dict = open(storage);
    assert!(dict.get("longest").unwrap() == Some(&longest));
    assert_eq!((dict.get("empty").unwrap(), dict.get("longer").unwrap()), (Some(&b""[..]), None));
}

#[test]
fn a_window_is_bounded_by_the_bytes_of_its_values_replaced_ones_too() {
    let options = DictOptions { window: 1000, window_bytes: 10_000, ..SMALL };
    let mut dict = Dict::open_bytes_with(Memory::new(), options).unwrap();
    for i in 0..100u8 {
        dict.put([i], vec![i; 1000]).unwrap();
        assert!(dict.buffered() <= 20);
    }
    for i in 0..200u8 {
        dict.put("one", vec![i; 1000]).unwrap();
    }
    assert!(dict.tries().count() > 0 && dict.count().unwrap() == 101);
    assert_eq!(dict.get("one").unwrap().unwrap(), [199; 1000]);
}

#[test]
fn values_have_numbers_and_those_end_with_an_error() {
    let storage = Memory::new();
    let mut manifest = Manifest::new(StoreKind::ByteDict, Rolling::spec(0));
    manifest.next_id = u32::MAX - 2;
    manifest.save(&storage).unwrap();
    let mut dict = open(storage.clone());
    dict.put("a", "1").unwrap();
    dict.sync().unwrap();
    dict.put("a", "2").unwrap();
    assert!(matches!(dict.put("a", "3"), Err(Error::NoNumberLeft { to: "values" })));
    dict.compact().unwrap();
    let mut dict = open(storage);
    assert!(matches!(dict.put("a", "3"), Err(Error::NoNumberLeft { to: "values" })));
    dict.verify().unwrap();
    assert_eq!(dict.get("a").unwrap(), Some(&b"2"[..]));
    dict.delete("a").unwrap();
    assert_eq!(dict.get("a").unwrap(), None);
}

#[test]
fn numbers_and_bytes_are_never_taken_for_each_other() {
    let (numbers, bytes) = (Memory::new(), Memory::new());
    Dict::open_with(numbers.clone(), SMALL).unwrap().sync().unwrap();
    open(bytes.clone()).sync().unwrap();
    let errors = [
        Dict::open_with(bytes, SMALL).map(drop).unwrap_err(),
        Dict::open_bytes_with(numbers, SMALL).map(drop).unwrap_err(),
    ];
    for error in errors {
        let message = error.to_string();
        assert!(matches!(error, Error::Store(StoreError { problem: StoreProblem::OtherKind { .. }, .. })), "{message}");
        assert!(message.contains("`furui dict`") && message.contains("`furui dict --values bytes`"), "{message}");
    }
}

/// A dictionary of three parts with replaced and deleted keys.
fn three_parts() -> (Memory, Model) {
    let storage = Memory::new();
    let options = DictOptions { window: 1000, merge_after: 9, hash: Some(HashSpec::default()), ..SMALL };
    let mut dict = Dict::open_bytes_with(storage.clone(), options).unwrap();
    let mut model = Model::new();
    for (from, to) in [(0u32, 60), (50, 80), (75, 82)] {
        for i in from..to {
            let (key, value) = (format!("key {i}").into_bytes(), bytes((i * i % 97) as usize, to as u8));
            dict.put(&key, &value).unwrap();
            model.insert(key, value);
        }
        dict.delete(format!("key {}", from + 1).as_bytes()).unwrap();
        model.remove(format!("key {}", from + 1).as_bytes());
        dict.sync().unwrap();
    }
    assert_eq!(dict.tries().count(), 3);
    (storage, model)
}

/// Whatever fails while windows are frozen, parts merged and jobs installed: what was durable is so still, with its values.
#[test]
fn every_fault_is_an_error_and_harms_nothing() {
    let (start, old) = three_parts();
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&start, at, fault);
            let mut acknowledged = old.clone();
            let outcome = work(&storage, &mut acknowledged);
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 60, "the fault struck at {at} operations only");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut dict = open(left.clone());
                dict.verify().unwrap();
                for (key, value) in &acknowledged {
                    assert_eq!(dict.get(key).unwrap(), Some(value.as_slice()), "{fault:?} at {at}: {key:?}");
                }
                assert_eq!(left.list().unwrap().len(), 1 + dict.tries().count(), "{fault:?} at {at}");
                // The next process works on.
                dict.put("more", "1").unwrap();
                dict.compact().unwrap();
                assert_eq!(open(left).get("more").unwrap(), Some(&b"1"[..]));
            }
        }
    }
}

/// Puts, jobs and a sync; what is in `acknowledged` is durable.
fn work(storage: &Failing, acknowledged: &mut Model) -> Result<()> {
    let mut dict = Dict::open_bytes_with(storage.clone(), SMALL)?;
    let mut put = Model::new();
    for i in 0..17u8 {
        let (key, value) = (format!("new {i}").into_bytes(), bytes(usize::from(i) * 7, i));
        dict.put(&key, &value)?;
        put.insert(key, value);
        if i % 3 == 0
            && let Some(job) = dict.job()?
        {
            dict.install(job.run()?)?;
        }
    }
    dict.sync()?;
    acknowledged.append(&mut put);
    while let Some(job) = dict.job()? {
        dict.install(job.run()?)?;
    }
    dict.put("late", "1")?;
    dict.compact()
}

#[test]
fn merged_values_are_in_many_blocks_and_all_found() {
    let storage = Memory::new();
    let options = DictOptions { window: 700, merge_after: 2, ..SMALL };
    let mut dict = Dict::open_bytes_with(storage.clone(), options).unwrap();
    let mut model = Model::new();
    for i in 0..5000u32 {
        let (key, value) = ((i % 3100).to_le_bytes().to_vec(), bytes((i * 7 % 61) as usize, i as u8));
        dict.put(&key, &value).unwrap();
        model.insert(key, value);
    }
    dict.sync().unwrap();
    let dict = Dict::open_bytes_with(storage, options).unwrap();
    for (key, value) in &model {
        assert_eq!(dict.get(key).unwrap(), Some(value.as_slice()));
    }
    assert!(contents(&dict) == model);
    dict.verify().unwrap();
}
