//! Tests runs over sets and their commits: against plain sets, with storage that fails, with other writers, and in
//! directories.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::{Failing, Fault};
use furui::error::{StoreError, StoreProblem};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Problem, Tag};
use furui::seen::{Pending, Run, Seen, SeenOptions, Verdict};
use furui::store::cascade::{Cascade, CascadeOptions, Combination, ExpectedNote};
use furui::store::{Directory, MANIFEST, Manifest, Memory, Note, Storage};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash};
use proptest::collection::vec;
use proptest::prelude::*;

const HASH: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 1 };

const OPTIONS: CascadeOptions = CascadeOptions { memory: 1 << 20, hash: Some(HASH), form: None, journal: false };

fn options(journal: bool) -> SeenOptions {
    SeenOptions { memory: 1 << 20, hash: Some(HASH), journal, ..SeenOptions::default() }
}

fn names(numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(u32::to_string).collect()
}

fn problem<T: std::fmt::Debug>(outcome: furui::Result<T>) -> StoreProblem {
    match outcome.unwrap_err() {
        Error::Store(StoreError { problem, .. }) => problem,
        other => panic!("{other}"),
    }
}

/// A directory of its own for a test, which does not exist yet.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("furui-commits-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

/// A step of a history of a set, of its writer, and of two runs over it.
#[derive(Clone, Debug)]
enum Step {
    /// The writer inserts keys, and makes them durable in the journal or, if true, in a run.
    Write(Vec<u32>, bool),
    /// A run is dropped, and opened again.
    Open(usize),
    /// A run takes keys.
    Ask(usize, Vec<u32>),
    /// A run is committed, with a note or without.
    Commit(usize, Option<u32>),
    /// The keys of a run are saved in a file, which is committed; the run goes on as it was.
    Pending(usize),
    /// All runs of the set are merged.
    Compact,
}

fn keys() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![vec(0u32..300, 0..40), vec(0u32..100_000, 0..2000)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (keys(), any::<bool>()).prop_map(|(keys, publish)| Step::Write(keys, publish)),
        2 => (0usize..2).prop_map(Step::Open),
        6 => (0usize..2, keys()).prop_map(|(run, keys)| Step::Ask(run, keys)),
        3 => (0usize..2, proptest::option::of(0u32..3)).prop_map(|(run, note)| Step::Commit(run, note)),
        1 => (0usize..2).prop_map(Step::Pending),
        1 => Just(Step::Compact),
    ]
}

/// A run, with the keys that it must know and those among them that are its own.
struct Modelled {
    run: Seen<Memory>,
    base: BTreeSet<u32>,
    own: BTreeSet<u32>,
}

fn open(storage: &Memory, set: &BTreeSet<u32>) -> Modelled {
    let run = Seen::open_over(storage, Memory::new(), options(false)).unwrap();
    Modelled { run, base: set.clone(), own: BTreeSet::new() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn runs_answer_and_commit_as_plain_sets_do(steps in vec(step(), 1..40)) {
        let storage = Memory::new();
        Seen::open_with(storage.clone(), options(false)).unwrap().sync().unwrap();
        let (mut set, mut note) = (BTreeSet::new(), None);
        let mut runs = [open(&storage, &set), open(&storage, &set)];
        let file = directory("pending");
        for step in steps {
            match step {
                Step::Write(numbers, publish) => {
                    let mut seen = Seen::open_with(storage.clone(), options(true)).unwrap();
                    let before = set.len();
                    set.extend(&numbers);
                    prop_assert_eq!(seen.extend(names(&numbers)).unwrap(), (set.len() - before) as u64);
                    if publish { seen.publish().unwrap() } else { seen.sync().unwrap() }
                }
                Step::Open(which) => runs[which] = open(&storage, &set),
                Step::Ask(which, numbers) => {
                    let Modelled { run, base, own } = &mut runs[which];
                    let hashes = run.hash_spec().hasher().hash_all(names(&numbers));
                    let mut verdicts = vec![];
                    run.observe_all(&hashes, &mut verdicts).unwrap();
                    for (number, verdict) in numbers.into_iter().zip(verdicts) {
                        let is_new = !base.contains(&number) && own.insert(number);
                        prop_assert_eq!(verdict == Verdict::New, is_new, "{}", number);
                        prop_assert!(run.contains(number.to_string()).unwrap());
                    }
                    prop_assert_eq!(run.set().len(), own.len() as u64);
                }
                Step::Commit(which, text) => {
                    let mut seen = Seen::open_with(storage.clone(), options(false)).unwrap();
                    let text = text.map(|text| text.to_string());
                    let keys = runs[which].run.set().new_keys().unwrap();
                    let known = seen.commit(keys, text.clone().and_then(Note::new), ExpectedNote::Any).unwrap();
                    prop_assert_eq!(known, runs[which].own.intersection(&set).count() as u64);
                    set.append(&mut runs[which].own.clone());
                    note = text.or(note);
                    runs[which] = open(&storage, &set);
                }
                Step::Pending(which) => {
                    let count = Pending::save(runs[which].run.set().new_keys().unwrap(), &file).unwrap();
                    prop_assert_eq!(count, runs[which].own.len() as u64);
                    let pending = Pending::open(&file).unwrap();
                    let mut seen = Seen::open_with(storage.clone(), options(false)).unwrap();
                    seen.commit(pending.keys(), None, ExpectedNote::Any).unwrap();
                    set.extend(&runs[which].own);
                    // The same keys once more change nothing.
                    let known = seen.commit(pending.keys(), None, ExpectedNote::Any).unwrap();
                    prop_assert_eq!(known, count);
                }
                Step::Compact => Cascade::open(storage.clone(), OPTIONS).unwrap().compact().unwrap(),
            }
            let seen = Seen::open_with(storage.clone(), options(false)).unwrap();
            prop_assert_eq!(seen.set().len(), set.len() as u64);
            prop_assert_eq!(seen.note(), note.as_deref());
        }
        let mut seen = Seen::open_with(storage, options(false)).unwrap();
        seen.publish().unwrap();
        seen.set().verify().unwrap();
        for number in &set {
            prop_assert!(seen.contains(number.to_string()).unwrap());
        }
        let _ = fs::remove_file(file);
    }
}

/// A store with runs, a journal and a note, and a run over it with the keys from 900 to `last`.
fn with_everything(last: u32) -> (Memory, Seen<Memory>) {
    let storage = Memory::new();
    let mut seen = Seen::open_with(storage.clone(), options(true)).unwrap();
    let first: Vec<u32> = (0..1000).collect();
    seen.extend(names(&first)).unwrap();
    seen.publish().unwrap();
    seen.commit(
        Cascade::open(Memory::new(), OPTIONS).unwrap().new_keys().unwrap(),
        Note::new("old"),
        ExpectedNote::Any,
    )
    .unwrap();
    seen.extend(names(&[1000, 1001])).unwrap();
    seen.sync().unwrap();
    drop(seen);
    let mut run = Seen::open_over(&storage, Memory::new(), options(false)).unwrap();
    let keys: Vec<u32> = (900..last).collect();
    assert_eq!(run.extend(names(&keys)).unwrap(), u64::from(last) - 1002);
    (storage, run)
}

#[test]
fn a_fault_leaves_all_keys_with_the_note_or_none_without() {
    let (base, run) = with_everything(5000);
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&base, at, fault);
            let commit = |storage: &Failing| {
                let mut set = Cascade::open(storage.clone(), OPTIONS)?;
                set.commit(run.set().new_keys().unwrap(), Note::new("new"), ExpectedNote::Text("old"))
            };
            let outcome = commit(&storage);
            if !storage.struck() {
                assert_eq!(outcome.unwrap(), 0);
                assert!(at > 5, "the fault struck at {at} operations only");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let set = Cascade::open(left.clone(), OPTIONS).unwrap();
                let note = set.manifest().note.as_ref().unwrap().text().to_owned();
                let expected = if note == "new" { 5000 } else { 1002 };
                assert_eq!(set.len(), expected, "{fault:?} at {at}, note {note}");
                assert!(outcome.is_err() || note == "new", "{fault:?} at {at}");
                drop(set);
                // The same commit again, whether it had come to pass or not.
                let mut set = Cascade::open(left, OPTIONS).unwrap();
                set.commit(run.set().new_keys().unwrap(), Note::new("new"), ExpectedNote::Any).unwrap();
                set.verify().unwrap();
                assert_eq!(set.len(), 5000);
            }
        }
    }
}

#[test]
fn commits_that_do_not_fit_change_nothing() {
    let (storage, run) = with_everything(200_000);
    assert!(!run.set().manifest().runs.is_empty(), "the run did not outgrow its memory");
    let manifest = Manifest::load(&storage).unwrap();
    let mut set = Cascade::open(storage.clone(), OPTIONS).unwrap();
    let keys = || run.set().new_keys().unwrap();
    for expected in [ExpectedNote::None, ExpectedNote::Text("other")] {
        let found = Some("old".to_owned());
        assert_eq!(problem(set.commit(keys(), Note::new("new"), expected)), StoreProblem::OtherNote { found });
    }
    let other = CascadeOptions { hash: Some(HashSpec { seed: 2, ..HASH }), ..OPTIONS };
    let other = Cascade::open(Memory::new(), other).unwrap();
    assert!(matches!(set.commit(other.new_keys().unwrap(), None, ExpectedNote::Any), Err(Error::Format(_))));
    let form = CascadeOptions { form: Some("column:1".parse().unwrap()), ..OPTIONS };
    let form = Cascade::open(Memory::new(), form).unwrap();
    let outcome = set.commit(form.new_keys().unwrap(), None, ExpectedNote::Any);
    assert!(matches!(problem(outcome), StoreProblem::OtherForm { .. }));
    assert_eq!(Manifest::load(&storage).unwrap(), manifest);
    // The set is still usable.
    set.commit(keys(), Note::new("new"), ExpectedNote::Text("old")).unwrap();
}

#[test]
fn a_run_over_no_set_or_over_one_that_forgets_is_refused() {
    let outcome = Seen::open_over(&Memory::new(), Memory::new(), options(false));
    assert_eq!(problem(outcome), StoreProblem::NoStore);
    let storage = Memory::new();
    let window = "1000".parse().unwrap();
    let mut seen = Seen::open_window(storage.clone(), options(false), window).unwrap();
    seen.sync().unwrap();
    let outcome = Seen::open_over(&storage, Memory::new(), options(false));
    assert_eq!(problem(outcome), StoreProblem::HasWindow { window });
    let outcome = seen.commit(
        Cascade::open(Memory::new(), OPTIONS).unwrap().new_keys().unwrap(),
        Note::new("a"),
        ExpectedNote::Any,
    );
    assert_eq!(problem(outcome), StoreProblem::HasWindow { window });
}

#[test]
fn a_run_in_a_directory_is_forgotten_unless_it_is_committed() {
    let path = directory("run");
    let mut run = Run::open(&path).unwrap();
    assert_eq!(run.extend(["a", "b", "a"]).unwrap(), 2);
    // A second run beside it, and a writer.
    let mut second = Run::open(&path).unwrap();
    assert!(second.insert("b").unwrap());
    drop(run);
    let mut run = Run::open(&path).unwrap();
    assert_eq!((run.len(), run.note()), (0, None));
    assert_eq!(run.extend(["a", "b", "a"]).unwrap(), 2);
    {
        let _writer = Directory::open(&path).unwrap();
        assert_eq!(problem(run.commit(None, ExpectedNote::Any)), StoreProblem::Locked);
    }
    assert_eq!(run.commit(Some("day 1"), ExpectedNote::None).unwrap(), 0);
    // The run goes on over the set with its keys.
    assert_eq!((run.len(), run.note()), (0, Some("day 1")));
    assert_eq!(run.extend(["a", "c"]).unwrap(), 1);
    assert_eq!(run.commit(Some("day 2"), ExpectedNote::Text("day 1")).unwrap(), 0);
    let found = Some("day 2".to_owned());
    assert_eq!(problem(second.commit(Some("x"), ExpectedNote::None)), StoreProblem::OtherNote { found });
    assert_eq!(second.commit(None, ExpectedNote::Any).unwrap(), 1);
    assert_eq!(second.note(), Some("day 2"));
    let long = "x".repeat(Note::MAX_BYTES + 1);
    assert_eq!(
        problem(second.commit(Some(&long), ExpectedNote::Any)),
        StoreProblem::NoteTooLong { bytes: 4097, most: 4096 }
    );
    let seen = Seen::open(&path).unwrap();
    assert_eq!((seen.set().len(), seen.note()), (3, Some("day 2")));
    // No file of a run is left.
    let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{names:?}");
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn runs_that_begin_at_once_where_no_set_is_share_one_set() {
    let path = directory("at-once");
    std::thread::scope(|scope| {
        let run = |name: u32| {
            let path = &path;
            scope.spawn(move || {
                let mut run = Run::open(path).unwrap();
                assert_eq!(run.extend([name.to_string(), "all".to_owned()]).unwrap(), 2);
                run
            })
        };
        let mut runs: Vec<Run> =
            (0..8).map(run).collect::<Vec<_>>().into_iter().map(|run| run.join().unwrap()).collect();
        for (index, run) in runs.iter_mut().enumerate() {
            assert_eq!(run.commit(None, ExpectedNote::Any).unwrap(), u64::from(index > 0));
        }
    });
    assert_eq!(Seen::open(&path).unwrap().set().len(), 9);
    fs::remove_dir_all(path).unwrap();
}

/// A store of two runs that share keys, as one that was joined without being read.
fn joined() -> Memory {
    let storage = Memory::new();
    let mut manifest = Manifest::new(furui::store::StoreKind::Seen, HASH);
    for range in [0..1000u64, 500..1500] {
        let part = Memory::new();
        let mut set = Cascade::open(part.clone(), OPTIONS).unwrap();
        let keys: Vec<KeyHash> = range.map(|number| KeyHash::new(number << 50 | 1)).collect();
        set.insert_all(&keys, &mut vec![]).unwrap();
        set.publish().unwrap();
        let mut entry = set.manifest().runs[0];
        let file = part.open(&manifest.store.file_name(entry.number)).unwrap();
        entry.number = manifest.take_number().unwrap();
        let name = manifest.store.file_name(entry.number);
        storage
            .publish(&name, |out| out.write_all(&file).map_err(|error| Error::io("cannot write", name.as_str(), error)))
            .unwrap();
        manifest.runs.push(entry);
    }
    manifest.shares_keys = true;
    manifest.save(&storage).unwrap();
    storage
}

#[test]
fn runs_may_share_keys_until_they_are_merged() {
    let storage = joined();
    let mut set = Cascade::open(storage.clone(), OPTIONS).unwrap();
    set.verify().unwrap();
    assert_eq!(set.len(), 2000);
    let all: Vec<KeyHash> = (0..1600u64).map(|number| KeyHash::new(number << 50 | 1)).collect();
    let mut there = vec![];
    set.contains_all(&all, &mut there).unwrap();
    assert_eq!(there.iter().filter(|&&there| there).count(), 1500);
    // Combinations read all keys in order, and so count each once.
    let out = Memory::new();
    assert_eq!(set.combine(Combination::Union, &[], &out).unwrap(), 1500);
    let mut gone = Cascade::open(Memory::new(), OPTIONS).unwrap();
    gone.insert_all(&all[600..700], &mut vec![]).unwrap();
    assert_eq!(set.remove_all(&gone).unwrap(), 100);
    assert!(!set.contains(all[650]).unwrap() && set.contains(all[700]).unwrap());
    set.compact().unwrap();
    assert_eq!((set.len(), set.manifest().shares_keys), (1400, false));
    drop(set);
    Cascade::open(storage, OPTIONS).unwrap().verify().unwrap();
    // Without the flag, the same runs are damage.
    let storage = joined();
    let mut manifest = Manifest::load(&storage).unwrap().unwrap();
    manifest.shares_keys = false;
    manifest.save(&storage).unwrap();
    assert!(matches!(Cascade::open(storage, OPTIONS).unwrap().verify(), Err(Error::Format(_))));
}

#[test]
fn a_file_with_a_section_that_is_unknown_is_of_a_newer_furui() {
    let storage = Memory::new();
    let mut seen = Seen::open_with(storage.clone(), options(false)).unwrap();
    seen.extend(["a", "b"]).unwrap();
    seen.publish().unwrap();
    let run = seen.set().manifest().store.file_name(seen.set().manifest().runs[0].number);
    for (name, kind) in [(MANIFEST, Kind::Manifest), (run.as_str(), Kind::Run)] {
        let file = storage.open(name).unwrap();
        let envelope = Envelope::open(&file, name).unwrap();
        let mut bytes = vec![];
        let mut out = EnvelopeWriter::new(&mut bytes, kind, HASH).unwrap();
        for section in envelope.sections() {
            out.section(section.tag, section.align).unwrap();
            std::io::Write::write_all(&mut out, &file[section.offset as usize..][..section.length as usize]).unwrap();
        }
        out.section(Tag::new(*b"NEWS"), Align::Line).unwrap();
        out.finish().unwrap();
        let error = match kind {
            Kind::Manifest => Manifest::decode(&bytes[..], name).map(drop).unwrap_err().into(),
            _ => furui::store::cascade::Run::open(std::sync::Arc::<[u8]>::from(&bytes[..]), name, HASH)
                .map(drop)
                .unwrap_err(),
        };
        let Error::Format(error) = error else { panic!("{error}") };
        assert_eq!(error.problem, Problem::UnknownSection(Tag::new(*b"NEWS")), "{error}");
        assert!(error.to_string().ends_with("a newer one wrote it: upgrade furui"), "{error}");
    }
}

#[test]
fn every_flipped_byte_of_a_note_and_of_pending_keys_is_an_error() {
    let (storage, run) = with_everything(2000);
    let manifest = storage.open(MANIFEST).unwrap();
    let path = directory("flipped");
    let mut few =
        Cascade::open(Memory::new(), CascadeOptions { form: Some("column:1".parse().unwrap()), ..OPTIONS }).unwrap();
    few.insert_all(&[1u64 << 60, 1 << 61].map(KeyHash::new), &mut vec![]).unwrap();
    Pending::save(few.new_keys().unwrap(), &path).unwrap();
    assert_eq!(Pending::open(&path).unwrap().keys().len(), 2);
    let pending = fs::read(&path).unwrap();
    for at in 0..manifest.len().max(pending.len()) {
        if at < manifest.len() {
            let mut bad = manifest.to_vec();
            bad[at] ^= 0x10;
            Manifest::decode(&bad[..], "bad").expect_err("a flipped byte");
            Manifest::decode(&manifest[..at], "cut").expect_err("a truncated file");
        }
        if at < pending.len() {
            let mut bad = pending.clone();
            bad[at] ^= 0x10;
            fs::write(&path, &bad).unwrap();
            let target = Memory::new();
            let mut set =
                Cascade::open(target, CascadeOptions { form: Some("column:1".parse().unwrap()), ..OPTIONS }).unwrap();
            let committed =
                Pending::open(&path).and_then(|pending| set.commit(pending.keys(), None, ExpectedNote::Any));
            // Padding is only read by `verify`.
            if committed.is_ok() {
                assert!(set.contains(KeyHash::new(1 << 60)).unwrap() && set.contains(KeyHash::new(1 << 61)).unwrap());
            }
        }
    }
    drop(run);
    fs::remove_file(path).unwrap();
}
