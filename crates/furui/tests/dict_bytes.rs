//! The dictionary of bytes: against an ordered map through what can happen to it, and on storage that fails or is damaged.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use furui::dict::{Dict, DictOptions, Done, Job, MAX_VALUE, Merging, Snapshot};
use furui::error::{StoreError, StoreProblem};
use furui::filter::ConfigError;
use furui::format::{Envelope, EnvelopeWriter, FormatError, Kind, Problem};
use furui::hash::Rolling;
use furui::store::{Manifest, Memory, Storage, StoreKind};
use furui::{Error, HashSpec, Result};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{Failing, Fault};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;
type ByteDict<S> = Dict<S, [u8]>;

const SMALL: DictOptions = DictOptions {
    window_keys: 5,
    window_bytes: 1 << 20,
    most_tries: 3,
    merging: Merging::Geometric,
    filter_rate: 0.05,
    hash: None,
};

fn open<S: Storage>(storage: S) -> ByteDict<S> {
    Dict::open_bytes_with(storage, SMALL).unwrap()
}

fn format_error<T>(outcome: Result<T>) -> FormatError {
    match outcome {
        Err(Error::Format(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
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
    (1usize..8, 1usize..4, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(window_keys, most_tries, all, xxh3, tight)| DictOptions {
            window_keys,
            most_tries,
            window_bytes: if tight { 2000 } else { SMALL.window_bytes },
            merging: if all { Merging::All } else { Merging::Geometric },
            hash: xxh3.then(HashSpec::default),
            ..SMALL
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
    let options = DictOptions { window_keys: 1000, window_bytes: 10_000, ..SMALL };
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
    let options = DictOptions { window_keys: 1000, most_tries: 9, hash: Some(HashSpec::default()), ..SMALL };
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

/// The bytes of the values in a file of a part.
fn values_in(file: &[u8]) -> std::ops::Range<usize> {
    let envelope = Envelope::open(file, "part").unwrap();
    let section = envelope.sections().last().unwrap();
    assert_eq!(section.tag.to_string(), "VALS");
    section.offset as usize..(section.offset + section.length) as usize
}

/// Whatever a reader or a merge reads of damaged values is an error that names the file, or right, and is never written anew
/// under a checksum that fits.
#[test]
fn damage_of_any_byte_of_the_values_is_named_or_does_not_matter() {
    let (good, model) = three_parts();
    let part = StoreKind::ByteDict.file_name(1);
    let file = good.open(&part).unwrap();
    let damaged = |at: usize| {
        let storage = Failing::new(&good, u64::MAX, Fault::Fail).after_crash(false);
        let mut bad = file.to_vec();
        bad[at] ^= 0x10;
        storage.publish(&part, |out| out.write_all(&bad).map_err(|e| Error::io("cannot write", &part, e))).unwrap();
        storage
    };
    for at in values_in(&file) {
        let storage = damaged(at);
        let named = |error: Error| {
            let error = format_error(Err::<(), _>(error));
            assert!(error.file.contains(&part), "at {at}: {error}");
        };
        let open = || Dict::open_bytes_with(storage.clone(), SMALL);
        if let Err(error) = open() {
            named(error);
            continue;
        }
        // Each reader meets the damage first: what one has found, all others are told.
        let dict = open().unwrap();
        for (key, value) in &model {
            dict.get(key).map_or_else(named, |found| assert_eq!(found, Some(value.as_slice()), "at {at}"));
        }
        let dict = open().unwrap();
        let all = dict.iter().map(|entry| entry.map(|(key, value)| (key, value.to_vec()))).collect::<Result<Model>>();
        all.map_or_else(named, |found| assert!(found == model, "at {at}"));
        named(open().unwrap().verify().unwrap_err());
        let mut dict = open().unwrap();
        match dict.compact() {
            Err(error) => named(error),
            Ok(()) => {
                dict.verify().unwrap();
                assert!(contents(&dict) == model, "at {at}");
            }
        }
    }
}

/// A file of values with these sections, whose checksums fit.
fn values_file(meta: &[u8], data: &[u8], index: &[u8]) -> Vec<u8> {
    let mut file = vec![];
    let mut out = EnvelopeWriter::new(&mut file, Kind::Values, HashSpec::default()).unwrap();
    for (tag, align, bytes) in [
        (*b"META", furui::format::Align::Line, meta),
        (*b"DATA", furui::format::Align::Line, data),
        (*b"INDX", furui::format::Align::Line, index),
    ] {
        out.section(furui::format::Tag::new(tag), align).unwrap();
        std::io::Write::write_all(&mut out, bytes).unwrap();
    }
    out.finish().unwrap();
    file
}

/// Bytes whose checksums fit and that no writer has written: no reader panics, and nothing is taken for whole.
#[test]
fn values_that_nobody_has_written_are_refused() {
    let storage = Memory::new();
    let mut dict = open(storage.clone());
    for (key, value) in [("a", "one"), ("b", "two"), ("c", "three")] {
        dict.put(key, value).unwrap();
    }
    dict.sync().unwrap();
    let part = StoreKind::ByteDict.file_name(0);
    let file = storage.open(&part).unwrap();
    let envelope = Envelope::open(&*file, "part").unwrap();
    let section = |tag: &str| {
        let section = envelope.sections().iter().find(|section| section.tag.to_string() == tag).unwrap();
        &file[section.offset as usize..][..section.length as usize]
    };
    let meta = |count: u64, first: u32, end: u32| {
        [&count.to_le_bytes()[..], &first.to_le_bytes(), &end.to_le_bytes()].concat()
    };
    let entry = |id: u32, at: u64| [&id.to_le_bytes()[..], &at.to_le_bytes()].concat();
    let data = b"\0\x03one\x01\x03two\x01\x05three".to_vec();
    let good = (meta(3, 0, 3), data.clone(), entry(0, 0));
    assert_eq!(section("VALS"), values_file(&good.0, &good.1, &good.2));
    let bad: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> = vec![
        (meta(0, 0, 0), vec![], vec![]),
        (meta(3, 0, 2), data.clone(), entry(0, 0)),
        (meta(3, 3, 0), data.clone(), entry(0, 0)),
        (meta(2, 0, 3), data.clone(), entry(0, 0)),
        (meta(3, 0, 4), data.clone(), entry(0, 0)),
        (meta(3, 1, 4), data.clone(), entry(1, 0)),
        (vec![0; 15], data.clone(), entry(0, 0)),
        (meta(3, 0, 3), data.clone(), vec![]),
        (meta(3, 0, 3), data.clone(), entry(0, 0)[..11].to_vec()),
        (meta(3, 0, 3), data.clone(), entry(0, u64::MAX)),
        (meta(3, 0, 3), data.clone(), entry(0, 5)),
        (meta(3, 0, 3), data.clone(), entry(7, 0)),
        (meta(3, 0, 3), data.clone(), [entry(0, 0), entry(1, 5)].concat()),
        (meta(3, 0, 3), data[..15].to_vec(), entry(0, 0)),
        (meta(3, 0, 3), [&data[..], b"\x01\0"].concat(), entry(0, 0)),
        (meta(3, 0, 3), b"\0\x03one\0\x03two\x01\x05three".to_vec(), entry(0, 0)),
        (meta(3, 0, 3), b"\0\x03one\x01\xFF\xFF\xFF\xFF\x0F".to_vec(), entry(0, 0)),
        (meta(3, 0, 3), b"\0\x03one\xFF\xFF\xFF\xFF\x0F\x03two".to_vec(), entry(0, 0)),
        (meta(3, 0, 3), vec![0xFF; 20], entry(0, 0)),
    ];
    for (i, (meta, data, index)) in bad.into_iter().enumerate() {
        let storage = Memory::new();
        let mut manifest = Manifest::new(StoreKind::ByteDict, envelope.hash());
        let number = manifest.take_number().unwrap();
        let seal = storage
            .publish(&part, |out| {
                let mut out = EnvelopeWriter::new(out, Kind::FilteredTrie, envelope.hash()).unwrap();
                for (tag, bytes) in [
                    (*b"TRIE", section("TRIE").to_vec()),
                    (*b"FILT", section("FILT").to_vec()),
                    (*b"VALS", values_file(&meta, &data, &index)),
                ] {
                    out.section(furui::format::Tag::new(tag), furui::format::Align::Page).unwrap();
                    std::io::Write::write_all(&mut out, &bytes).unwrap();
                }
                Ok(out.finish().unwrap())
            })
            .unwrap();
        manifest.runs.push(furui::store::RunEntry { number, keys: 3, seal });
        manifest.next_id = 3;
        manifest.save(&storage).unwrap();
        let Ok(mut dict) = Dict::open_bytes_with(storage, SMALL) else { continue };
        assert!(dict.verify().is_err(), "file {i}");
        for key in ["a", "b", "c"] {
            let _ = dict.get(key);
        }
        assert!(dict.iter().count() <= 3);
        // A merge takes only what is there.
        dict.put("d", "four").unwrap();
        if dict.compact().is_ok() {
            dict.verify().unwrap();
        }
    }
    let numbers = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Dict, envelope.hash());
    let number = manifest.take_number().unwrap();
    let entry = furui::store::RunEntry { number, keys: 3, seal: envelope.seal() };
    let name = StoreKind::Dict.file_name(number);
    numbers.publish(&name, |out| out.write_all(&file).map_err(|e| Error::io("cannot write", &name, e))).unwrap();
    manifest.runs.push(entry);
    manifest.save(&numbers).unwrap();
    let error = format_error(Dict::open_with(numbers, SMALL));
    assert_eq!(error.problem, Problem::Invalid("it is of the other kind of dictionary"));
}

#[test]
fn merged_values_are_in_many_blocks_and_all_found() {
    let storage = Memory::new();
    let options = DictOptions { window_keys: 700, most_tries: 2, ..SMALL };
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

/// The files of version 1 of the format, byte for byte.
const GOLDEN: [(&str, &[u8]); 2] = [
    ("MANIFEST", include_bytes!("golden/v1/bytedict/MANIFEST")),
    ("0000000000000000.pairs", include_bytes!("golden/v1/bytedict/0000000000000000.pairs")),
];

fn golden() -> Memory {
    let storage = Memory::new();
    let options = DictOptions { hash: Some(Rolling::spec(0)), window_keys: 100, ..SMALL };
    let mut dict = Dict::open_bytes_with(storage.clone(), options).unwrap();
    for (key, value) in [("romane", "first"), ("romanus", ""), ("romane", "Roman"), ("rom", "city")] {
        dict.put(key, value).unwrap();
    }
    dict.sync().unwrap();
    storage
}

#[test]
fn today_reads_and_writes_the_bytes_of_version_1() {
    let storage = Memory::new();
    for (name, bytes) in GOLDEN {
        storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
        assert!(*golden().open(name).unwrap() == *bytes, "{name}");
    }
    let dict = open(storage);
    dict.verify().unwrap();
    let expected: [(&[u8], &[u8]); 3] = [(b"rom", b"city"), (b"romane", b"Roman"), (b"romanus", b"")];
    assert_eq!(contents(&dict), expected.map(|(key, value)| (key.to_vec(), value.to_vec())).into());
}

#[test]
fn the_dump_in_the_format_description_is_of_the_golden_file() {
    let page = include_str!("../../../docs/format.md");
    let golden = &GOLDEN[1].1[values_in(GOLDEN[1].1)];
    let mut lines = 0;
    let section = page.lines().skip_while(|line| *line != "### Values");
    for line in section.take_while(|line| !line.starts_with("## ")) {
        let Some((offset, rest)) = line.strip_prefix("    ").and_then(|line| line.split_once("  ")) else { continue };
        let Ok(offset) = usize::from_str_radix(offset, 16) else { continue };
        let bytes = rest.split_once("  ").map_or(rest, |(bytes, _remark)| bytes);
        let bytes: Vec<u8> = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(golden[offset..][..bytes.len()], bytes, "{line}");
        lines += 1;
    }
    assert_eq!(lines, 12);
}

#[test]
#[ignore = "writes the golden files anew, which is a change of the format"]
fn write_the_golden_files() {
    let storage = golden();
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/bytedict");
    for name in storage.list().unwrap() {
        std::fs::write(directory.join(&name), &*storage.open(&name).unwrap()).unwrap();
    }
}
