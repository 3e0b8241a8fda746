//! The dictionary compared with an ordered map, through all interleavings of its operations; and on storage that is
//! damaged or altered.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use furui::dict::{Dict, DictOptions, Done, FilterHash, Job, Layout, MAX_KEY, Merging, Snapshot};
use furui::error::{StoreError, StoreProblem};
use furui::format::{FormatError, Problem};
use furui::hash::Rolling;
use furui::seen::{Seen, SeenOptions};
use furui::store::{Directory, MANIFEST, Manifest, Memory, Storage, StoreKind};
use furui::{Error, HashAlgorithm, HashSpec, Result};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{Failing, Fault};

type Model = BTreeMap<Vec<u8>, u32>;

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

fn open<S: Storage>(storage: S) -> Dict<S> {
    Dict::open_with(storage, SMALL).unwrap()
}

fn format_error<T>(outcome: Result<T>) -> FormatError {
    match outcome {
        Err(Error::Format(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

fn contents(snapshot: &Snapshot) -> Model {
    let mut last: Option<Vec<u8>> = None;
    for (key, _) in snapshot.iter().map(Result::unwrap) {
        assert!(last.is_none_or(|last| last < key));
        last = Some(key);
    }
    snapshot.iter().collect::<Result<_>>().unwrap()
}

/// Compares the answers to all queries.
fn assert_same(snapshot: &Snapshot, model: &Model, asked: &[Vec<u8>]) {
    assert_eq!(&contents(snapshot), model);
    assert_eq!(snapshot.count().unwrap(), model.len() as u64);
    assert!(snapshot.len_at_most() >= snapshot.count().unwrap());
    let keys: Vec<&[u8]> = asked.iter().chain(model.keys()).map(Vec::as_slice).collect();
    let mut values = vec![];
    snapshot.get_all(&keys, &mut values).unwrap();
    for (&key, value) in keys.iter().zip(values) {
        assert_eq!(value, model.get(key).copied(), "{key:?}");
        assert_eq!(snapshot.get(key).unwrap(), value);
        assert_eq!(snapshot.contains(key).unwrap(), value.is_some());
    }
    let pairs = |range: &mut dyn Iterator<Item = (&Vec<u8>, &u32)>| -> Vec<(Vec<u8>, u32)> {
        range.map(|(key, &value)| (key.clone(), value)).collect()
    };
    for key in asked {
        let under = pairs(&mut model.iter().filter(|(other, _)| other.starts_with(key)));
        assert_eq!(snapshot.prefix(key).collect::<Result<Vec<_>>>().unwrap(), under, "under {key:?}");
        let from = pairs(&mut model.range(key.clone()..));
        assert_eq!(snapshot.range(key.as_slice()..).collect::<Result<Vec<_>>>().unwrap(), from);
        let to = pairs(&mut model.range(..=key.clone()));
        assert_eq!(snapshot.range(..=key.as_slice()).collect::<Result<Vec<_>>>().unwrap(), to);
        let prefixes: Vec<(usize, u32)> =
            (0..=key.len()).filter_map(|length| Some((length, *model.get(&key[..length])?))).collect();
        assert_eq!(snapshot.prefixes(key).unwrap(), prefixes, "of {key:?}");
        assert_eq!(snapshot.longest_prefix(key).unwrap(), prefixes.last().copied());
    }
    if let [a, b, ..] = asked
        && a < b
    {
        let between = pairs(&mut model.range(a.clone()..b.clone()));
        assert_eq!(snapshot.range(a.as_slice()..b.as_slice()).collect::<Result<Vec<_>>>().unwrap(), between);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<u8>, u32),
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

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (key(), any::<u16>()).prop_map(|(key, value)| Step::Put(key, value.into())),
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

/// The ways of making tries.
const MADE: [DictOptions; 3] = [
    SMALL,
    DictOptions { layout: Some(Layout::Louds), ..SMALL },
    DictOptions { layout: Some(Layout::Louds), filter_hash: Some(FilterHash::Polynomials4), ..SMALL },
];

fn made() -> impl Strategy<Value = DictOptions> {
    prop_oneof![2 => Just(MADE[0]), 2 => Just(MADE[1]), 1 => Just(MADE[2])]
}

fn options() -> impl Strategy<Value = DictOptions> {
    (1usize..8, 1usize..4, any::<bool>(), any::<bool>(), made()).prop_map(|(window, merge_after, all, xxh3, made)| {
        DictOptions {
            window,
            merge_after,
            merging: if all { Merging::All } else { Merging::Geometric },
            hash: xxh3.then(HashSpec::default),
            ..made
        }
    })
}

/// A dictionary, the entries that it should hold, and the job in progress.
struct Run {
    storage: Memory,
    options: DictOptions,
    dict: Dict<Memory>,
    model: Model,
    /// Every state since the last one that is known to be durable.
    history: Vec<(Model, u32)>,
    snapshots: Vec<(Arc<Snapshot>, Model)>,
    jobs: Vec<Job<Memory>>,
    done: Vec<Done>,
}

impl Run {
    fn new(options: DictOptions) -> Self {
        let storage = Memory::new();
        let dict = Dict::open_with(storage.clone(), options).unwrap();
        let history = vec![(Model::new(), 0)];
        Self { storage, options, dict, model: Model::new(), history, snapshots: vec![], jobs: vec![], done: vec![] }
    }

    fn step(&mut self, step: Step) {
        let next = self.dict.next_id();
        let (had_jobs, tries) = (self.has_jobs(), self.dict.tries().count());
        match step {
            Step::Put(key, value) => {
                self.dict.put(&key, value).unwrap();
                self.model.insert(key, value);
                assert_eq!(self.dict.next_id(), next, "a value is not an id");
            }
            Step::Delete(key) => {
                self.dict.delete(&key).unwrap();
                self.model.remove(&key);
            }
            Step::Number(key) => {
                let id = self.dict.number(&key).unwrap();
                assert_eq!(id, *self.model.entry(key).or_insert(next));
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
                assert!(self.dict.tries().count() <= 1);
                assert_eq!(self.dict.len_at_most(), self.model.len() as u64);
                self.history.clear();
            }
            Step::Reopen => {
                self.dict.sync().unwrap();
                self.reopen();
                assert_eq!(self.dict.next_id(), next);
            }
            Step::Crash => {
                self.reopen();
                let found = (contents(&self.dict), self.dict.next_id());
                assert!(self.history.contains(&found), "no earlier state");
                self.model = found.0;
            }
        }
        // While a job is in progress, buffers are frozen without merging; without a job, a dictionary has no more tries
        // than the last job left.
        if !had_jobs && !self.has_jobs() {
            assert!(self.dict.tries().count() <= self.options.merge_after.max(tries));
        }
        self.history.push((self.model.clone(), self.dict.next_id()));
    }

    fn has_jobs(&self) -> bool {
        !self.jobs.is_empty() || !self.done.is_empty()
    }

    fn reopen(&mut self) {
        self.jobs.clear();
        self.done.clear();
        self.dict = Dict::open_with(self.storage.clone(), self.options).unwrap();
        self.dict.verify().unwrap();
        assert_eq!(
            self.storage.list().unwrap().len(),
            self.dict.tries().count() + usize::from(self.dict.manifest().generation() > 0)
        );
    }
}

proptest! {
    #[test]
    fn behaves_as_an_ordered_map(options in options(), steps in vec(step(), 1..120), asked in vec(key(), 4)) {
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
fn without_jobs_there_are_never_more_tries_than_asked_for() {
    for (merge_after, merging) in
        [(1, Merging::All), (3, Merging::All), (1, Merging::Geometric), (4, Merging::Geometric)]
    {
        let options = DictOptions { window: 10, merge_after, merging, ..SMALL };
        let mut dict = Dict::open_with(Memory::new(), options).unwrap();
        for i in 0..2000u32 {
            dict.put(i.to_le_bytes(), i).unwrap();
            assert!(dict.tries().count() <= merge_after && dict.buffered() <= 20);
        }
        assert_eq!(dict.count().unwrap(), 2000);
    }
}

#[test]
fn the_filter_of_merged_tries_has_the_size_for_the_keys_that_are_left() {
    for (made, merge_after) in MADE.into_iter().flat_map(|made| [1, 2, 3].map(|merge_after| (made, merge_after))) {
        let options = DictOptions { window: 1000, merge_after, merging: Merging::All, ..made };
        let mut dict = Dict::open_with(Memory::new(), options).unwrap();
        // The windows are of new keys, of new keys with a few repeats, and of repeats only.
        for (round, first) in (0..).zip([0, 1000, 1980, 2980, 0, 1000, 0]) {
            (first..first + 1000).for_each(|i| dict.put(u32::to_le_bytes(i), i + round).unwrap());
            dict.sync().unwrap();
            for trie in dict.tries() {
                assert_eq!(trie.filter().capacity(), trie.keys());
                assert_eq!(trie.filter().hash(), made.filter_hash.unwrap_or_default());
            }
        }
        assert_eq!(dict.count().unwrap(), 3980);
        assert!((0..3980).all(|i| dict.get(u32::to_le_bytes(i)).unwrap().is_some()));
    }
}

#[test]
fn keys_up_to_the_limit_are_taken_and_no_longer_ones() {
    for made in MADE {
        let storage = Memory::new();
        let mut dict = Dict::open_with(storage.clone(), made).unwrap();
        let longest = vec![0xFF; MAX_KEY];
        dict.put(&longest, 1).unwrap();
        let error = dict.put(vec![0; MAX_KEY + 1], 2).unwrap_err().to_string();
        assert!(error.contains("65537") && error.contains("65536"), "{error}");
        dict.sync().unwrap();
        let dict = open(storage);
        assert_eq!((dict.get(&longest).unwrap(), dict.count().unwrap()), (Some(1), 1));
        assert_eq!(dict.get(vec![0xFF; MAX_KEY + 1]).unwrap(), None);
        assert_eq!(dict.longest_prefix(vec![0xFF; MAX_KEY + 1]).unwrap(), Some((MAX_KEY, 1)));
        dict.verify().unwrap();
    }
}

#[test]
fn windows_are_bounded_by_bytes_as_well() {
    let mut dict = Dict::open_with(Memory::new(), DictOptions { window: 1000, window_bytes: 10_000, ..SMALL }).unwrap();
    for i in 0..100u8 {
        dict.put([i; 1000], i.into()).unwrap();
    }
    assert!(dict.buffered() <= 20 && dict.count().unwrap() == 100);
}

#[test]
fn ids_are_given_once_and_end_with_an_error() {
    let storage = Memory::new();
    let mut dict = open(storage.clone());
    assert_eq!(dict.number(b"a").unwrap(), 0);
    assert_eq!(dict.number(b"b").unwrap(), 1);
    dict.delete(b"b").unwrap();
    dict.sync().unwrap();
    dict.compact().unwrap();
    let mut dict = open(storage);
    dict.put(b"x", u32::MAX).unwrap();
    assert_eq!(dict.number(b"c").unwrap(), 2, "the id of a deleted word is not given again");

    let storage = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Dict, Rolling::spec(0));
    manifest.next_id = u32::MAX - 1;
    manifest.save(&storage).unwrap();
    let mut dict = open(storage);
    assert_eq!(dict.number(b"d").unwrap(), u32::MAX - 1);
    assert_eq!(dict.number(b"d").unwrap(), u32::MAX - 1);
    assert!(dict.number(b"e").unwrap_err().to_string().contains("2^32 - 1"));
    assert_eq!(dict.get(b"e").unwrap(), None);
}

#[test]
fn an_empty_dictionary_is_one_once_it_is_synced() {
    for made in MADE {
        let storage = Memory::new();
        let mut dict = Dict::open_with(storage.clone(), made).unwrap();
        dict.verify().unwrap();
        dict.compact().unwrap();
        dict.sync().unwrap();
        assert_eq!(storage.list().unwrap(), [MANIFEST]);
        assert_eq!(open(storage.clone()).hash_spec(), dict.hash_spec());
        assert_eq!(open(storage.clone()).layout(), made.layout.unwrap_or_default());
        assert_eq!((dict.count().unwrap(), dict.get(b"").unwrap()), (0, None));
        assert_eq!(dict.longest_prefix(b"abc").unwrap(), None);
        dict.put(b"", 7).unwrap();
        dict.delete(b"").unwrap();
        dict.sync().unwrap();
        assert_eq!(storage.list().unwrap(), [MANIFEST], "a trie without keys is invalid");
    }
}

#[test]
fn another_hash_and_other_stores_are_refused_by_name() {
    let storage = Memory::new();
    let made = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 7 };
    let mut dict = Dict::open_with(storage.clone(), DictOptions { hash: Some(made), ..SMALL }).unwrap();
    dict.put(b"a", 1).unwrap();
    dict.sync().unwrap();
    let other = DictOptions { hash: Some(HashSpec::default()), ..SMALL };
    let error = format_error(Dict::open_with(storage.clone(), other));
    assert_eq!(error.problem, Problem::OtherHash { found: made, expected: HashSpec::default() });
    let Err(error) = Seen::open_with(storage, SeenOptions::default()) else { panic!("accepted") };
    assert!(error.to_string().contains("this is a dictionary"), "{error}");

    let storage = Memory::new();
    Seen::open_with(storage.clone(), SeenOptions::default()).unwrap().sync().unwrap();
    let error = Dict::open_with(storage, SMALL).unwrap_err();
    assert!(error.to_string().contains("furui seen"), "{error}");
}

#[test]
fn another_layout_or_filter_hash_is_refused_by_both_names() {
    let [_, louds, polynomials] = MADE;
    for (made, other, names) in [
        (SMALL, louds, ["compact", "louds"]),
        (louds, DictOptions { layout: Some(Layout::Compact), ..SMALL }, ["louds", "compact"]),
        (louds, polynomials, ["one-state", "polynomials-4"]),
    ] {
        let storage = Memory::new();
        Dict::open_with(storage.clone(), made).unwrap().sync().unwrap();
        match Dict::open_with(storage.clone(), other) {
            Err(Error::Store(StoreError { problem: StoreProblem::OtherMade { found, expected, .. }, .. })) => {
                assert_eq!([found, expected], names);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(open(storage).layout(), made.layout.unwrap_or_default());
    }
    // A manifest and its tries are of one layout, and their filters of one hash.
    for (made, layout, filter_hash) in [
        (louds, Layout::Compact, FilterHash::OneState),
        (SMALL, Layout::Louds, FilterHash::OneState),
        (polynomials, Layout::Louds, FilterHash::Polynomials2),
    ] {
        let (storage, _) = three_tries(made);
        let mut manifest = open(storage.clone()).manifest().clone();
        (manifest.layout, manifest.filter_hash) = (layout, filter_hash);
        manifest.save(&storage).unwrap();
        assert!(matches!(format_error(Dict::open_with(storage, SMALL)).problem, Problem::Invalid(_)));
    }
    let none = Dict::open_with(Memory::new(), DictOptions { filter_hash: Some(FilterHash::Polynomials1), ..SMALL });
    assert!(none.unwrap_err().to_string().contains("layout compact has no filters of hash polynomials-1"));
}

/// A dictionary of three tries.
fn three_tries(made: DictOptions) -> (Memory, Model) {
    let storage = Memory::new();
    let options = DictOptions { window: 1000, merge_after: 9, hash: Some(HashSpec::default()), ..made };
    let mut dict = Dict::open_with(storage.clone(), options).unwrap();
    let mut model = Model::new();
    for (from, to) in [(0u32, 90), (80, 110), (105, 112)] {
        for i in from..to {
            let key = format!("key {i}").into_bytes();
            dict.put(&key, i + to).unwrap();
            model.insert(key, i + to);
        }
        dict.delete(format!("key {}", from + 1).as_bytes()).unwrap();
        model.remove(format!("key {}", from + 1).as_bytes());
        dict.sync().unwrap();
    }
    assert_eq!(dict.tries().count(), 3);
    (storage, model)
}

/// Any operation may fail while windows are frozen, tries merged and jobs installed: durable entries stay durable,
/// answers are right, and a dictionary that failed in a change refuses all later changes.
#[test]
fn every_fault_is_an_error_and_harms_nothing() {
    // Which filter it is makes no difference to the storage.
    MADE.into_iter().take(2).for_each(every_fault_is_an_error);
}

fn every_fault_is_an_error(made: DictOptions) {
    let (start, old) = three_tries(made);
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&start, at, fault);
            let mut acknowledged = old.clone();
            let outcome = work(&storage, &mut acknowledged);
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 60, "the fault struck at only {at} operations");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut dict = open(left.clone());
                dict.verify().unwrap();
                for (key, value) in &acknowledged {
                    assert_eq!(dict.get(key).unwrap(), Some(*value), "{fault:?} at {at}: {key:?}");
                }
                assert_eq!(left.list().unwrap().len(), 1 + dict.tries().count(), "{fault:?} at {at}");
                // The next process continues.
                dict.put(b"more", 1).unwrap();
                dict.compact().unwrap();
                assert_eq!(open(left).get(b"more").unwrap(), Some(1));
            }
        }
    }
}

/// Inserts keys, runs jobs and syncs. The entries in `acknowledged` are durable.
fn work(storage: &Failing, acknowledged: &mut Model) -> Result<()> {
    let mut dict = Dict::open_with(storage.clone(), SMALL)?;
    let mut put = Model::new();
    let outcome = (|| {
        for i in 0..17u32 {
            let key = format!("new {i}").into_bytes();
            dict.put(&key, i)?;
            put.insert(key, i);
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
        dict.put(b"late", 1)?;
        dict.compact()
    })();
    if outcome.is_err() {
        for (key, value) in acknowledged.iter() {
            assert_eq!(dict.get(key).unwrap(), Some(*value));
        }
    }
    outcome
}

/// Whatever a reader or a merge reads of a damaged file is right, or an error that names the file. A damaged byte that
/// affects no answer may go unnoticed, but is never copied under a new checksum that fits.
#[test]
fn damage_is_named_with_its_file_and_never_read_as_if_it_were_whole() {
    thread::scope(|scope| {
        MADE.into_iter().for_each(|made| drop(scope.spawn(move || damage_is_named(made))));
    });
}

fn damage_is_named(made: DictOptions) {
    let (good, model) = three_tries(made);
    let keys: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
    let values: Vec<Option<u32>> = model.values().copied().map(Some).collect();
    for trie in [0, 2].map(|number| StoreKind::Dict.file_name(number)) {
        let bytes = good.open(&trie).unwrap();
        for at in (0..bytes.as_ref().len()).step_by(31) {
            let storage = Failing::new(&good, u64::MAX, Fault::Fail).after_crash(false);
            let mut bad = bytes.to_vec();
            bad[at] ^= 0x10;
            storage.publish(&trie, |out| out.write_all(&bad).map_err(|e| Error::io("cannot write", &trie, e))).unwrap();
            let named = |error: Error| {
                let error = format_error(Err::<(), _>(error));
                assert!(error.file.contains(&trie), "at {at}: {error}");
            };
            let open = || Dict::open_with(storage.clone(), SMALL);
            if let Err(error) = open() {
                named(error);
                continue;
            }
            // Each reader may meet the damage first; all others then report it too.
            for (key, value) in &model {
                open().unwrap().get(key).map_or_else(named, |found| assert_eq!(found, Some(*value), "at {at}"));
            }
            let mut found = vec![];
            let all = open().unwrap().get_all(&keys, &mut found);
            all.map_or_else(named, |()| assert_eq!(found, values, "at {at}"));
            let all = open().unwrap().iter().collect::<Result<Model>>();
            all.map_or_else(named, |found| assert_eq!(found, model, "at {at}"));
            let prefixes = open().unwrap().prefixes(b"key 100");
            let expected: Vec<_> =
                ["key 1", "key 10", "key 100"].map(|key| (key.len(), model.get(key.as_bytes()).copied())).into();
            let expected: Vec<_> = expected.into_iter().filter_map(|(len, value)| Some((len, value?))).collect();
            prefixes.map_or_else(named, |found| assert_eq!(found, expected, "at {at}"));
            named(open().unwrap().verify().unwrap_err());
            let mut dict = open().unwrap();
            match dict.compact() {
                Err(error) => named(error),
                Ok(()) => {
                    dict.verify().unwrap();
                    assert_eq!(dict.iter().collect::<Result<Model>>().unwrap(), model, "at {at}");
                }
            }
        }
    }
}

#[test]
fn readers_in_threads_see_one_moment_while_a_writer_goes_on() {
    let mut dict = Dict::open_with(Memory::new(), DictOptions { window: 50, ..SMALL }).unwrap();
    thread::scope(|scope| {
        for round in 0..30u32 {
            for i in 0..40u32 {
                dict.put(format!("{}", i * 7 % 60).as_bytes(), round).unwrap();
            }
            // The snapshot is taken between rounds: the value of every key is the round's number or an earlier one, and
            // all keys of the round are there.
            let snapshot = dict.snapshot();
            scope.spawn(move || {
                for _ in 0..3 {
                    assert!(snapshot.iter().all(|entry| entry.unwrap().1 <= round));
                    for i in 0..40u32 {
                        assert_eq!(snapshot.get(format!("{}", i * 7 % 60).as_bytes()).unwrap(), Some(round));
                    }
                }
            });
            if let Some(job) = dict.job().unwrap() {
                let done = scope.spawn(move || job.run().unwrap());
                dict.put(b"meanwhile", round).unwrap();
                dict.install(done.join().unwrap()).unwrap();
            }
        }
    });
    assert_eq!(dict.count().unwrap(), 41);
}

#[test]
fn snapshots_and_jobs_go_to_other_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<Snapshot>();
    sent::<Job<Directory>>();
    sent::<Done>();
    sent::<Dict<Directory>>();
}
