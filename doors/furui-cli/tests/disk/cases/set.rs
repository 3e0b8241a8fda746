//! Commands on sets.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use furui::KeyHash;
use furui::seen::{KeptTiers, Pending};
use furui::store::cascade::{Cascade, CascadeOptions, Journal};
use furui::store::{Bytes, Directory};

use super::{Case, is_finished, key, keys, lines, nothing_else, open, path, quietly};
use crate::support::feed;

pub(super) fn seen(name: &'static str, before: u32, count: u32, options: &'static [&'static str]) -> Case {
    // Half of the keys that were there before are inserted again.
    let all = before / 2..before / 2 + count;
    let input = keys(all.clone());
    let universe: Vec<String> = (0..all.end).map(key).collect();
    Case {
        name,
        prepare: Box::new(move |root| {
            if before > 0 {
                let args = ["seen", "-q", "--memory", "1MiB", "--store", &path(root, "store")];
                quietly(&[&args, options].concat(), &keys(0..before));
            }
        }),
        run: Box::new(move |mut command, root| {
            // One case has a set that is split among threads, on any machine.
            let threads = if before > 0 { "3" } else { "1" };
            command.args(["seen", "--memory", "1MiB", "--wait", "--threads", threads, "--store", &path(root, "store")]);
            command.args(options);
            feed(command, &input)
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(mut set) = open_set(root, "store", before == 0)? else {
                return is_finished(runs)
                    .then_some("a run ended without an error, but there is no store")
                    .map_or(Ok(()), |e| Err(e.into()));
            };
            KeptTiers::of(&set).map_err(|error| error.to_string())?;
            let mut printed = vec![false; universe.len()];
            for line in runs.iter().flat_map(|run| lines(&run.printed)) {
                printed[usize::from_str_radix(line, 16).unwrap()] = true;
            }
            let spec = set.hash_spec();
            let hashes: Vec<_> = universe.iter().map(|key| spec.hash(key.as_bytes())).collect();
            let mut found = vec![];
            set.contains_all(&hashes, &mut found).map_err(|error| error.to_string())?;
            let known = found.iter().filter(|&&found| found).count() as u64;
            if known != set.len() {
                return Err(format!("{} keys, of which {known} are known", set.len()));
            }
            for (number, found) in found.into_iter().enumerate() {
                let was_there = number < before as usize;
                let is_recorded = || runs.iter().any(|run| run.recorded.contains(&hashes[number].get()));
                if !found && (was_there || is_finished(runs) || is_recorded()) {
                    return Err(format!("{}: recorded, and not there", universe[number]));
                }
                if found && !was_there && !printed[number] {
                    return Err(format!("{}: there, and never printed", universe[number]));
                }
            }
            Ok(())
        }),
    }
}

/// Tiers that forget nothing of a few hundred keys.
pub(super) const TIERS: &[&str] = &["--cache", "lru+stable", "--lru", "256", "--counters", "40K", "--fpr", "1e-9"];

/// Combines the store of the keys 0 to 99 with that of the keys 50 to 149.
pub(super) fn combine(verb: &'static str, has: fn(u32) -> bool) -> Case {
    Case {
        name: verb,
        prepare: Box::new(|root| {
            quietly(&["seen", "-q", "--store", &path(root, "store")], &keys(0..100));
            let like = ["seen", "-q", "--store", &path(root, "other"), "--like", &path(root, "store")];
            quietly(&like, &keys(50..150));
        }),
        run: Box::new(move |mut command, root| {
            command.args([verb, &path(root, "store"), &path(root, "other"), "-o", &path(root, "copy")]);
            feed(command, b"")
        }),
        second: None,
        check: Box::new(move |root, runs| {
            has_just(root, "store", 0..100, |_| true)?;
            has_just(root, "other", 50..150, |_| true)?;
            match root.join("copy/MANIFEST").exists() {
                true => has_just(root, "copy", 0..150, has),
                false if is_finished(runs) => Err("the result is gone".to_owned()),
                false => Ok(()),
            }
        }),
    }
}

/// Imports the hashes of 100 keys, of which the store has a half.
pub(super) fn import() -> Case {
    Case {
        name: "import",
        prepare: Box::new(|root| {
            quietly(&["seen", "-q", "--store", &path(root, "store")], &keys(0..100));
            let like = ["seen", "-q", "--store", &path(root, "other"), "--like", &path(root, "store")];
            quietly(&like, &keys(50..150));
            quietly(&["export", &path(root, "other"), "--u64", "-o", &path(root, "hashes")], b"");
        }),
        run: Box::new(|mut command, root| {
            command.args(["import", "--wait", &path(root, "store"), &path(root, "hashes")]);
            feed(command, b"")
        }),
        second: None,
        check: Box::new(|root, runs| {
            let whole = has_just(root, "store", 0..150, |_| true);
            if is_finished(runs) || whole.is_ok() { whole } else { has_just(root, "store", 0..100, |_| true) }
        }),
    }
}

/// Commits 100 pending keys, of which the store has a half, with a note.
pub(super) fn commit() -> Case {
    let note = |root: &Path| {
        let manifest = Directory::open_read_only(root.join("store")).and_then(|store| store.manifest());
        manifest.map(|manifest| manifest.note.map(|note| note.text().to_owned())).map_err(|error| error.to_string())
    };
    Case {
        name: "commit",
        prepare: Box::new(|root| {
            let store = path(root, "store");
            quietly(&["seen", "-q", "--store", &store], &keys(0..50));
            quietly(&["seen", "-q", "--store", &store, "--pending", &path(root, "pending")], &keys(0..150));
            quietly(&["seen", "-q", "--store", &store], &keys(50..100));
        }),
        run: Box::new(|mut command, root| {
            command.args(["commit", "--wait", "--note", "new", &path(root, "store"), &path(root, "pending")]);
            feed(command, b"")
        }),
        second: None,
        check: Box::new(move |root, runs| match note(root)?.as_deref() {
            Some("new") => has_just(root, "store", 0..150, |_| true),
            None if !is_finished(runs) => has_just(root, "store", 0..100, |_| true),
            found => Err(format!("the note is {found:?}")),
        }),
    }
}

/// Prints new lines whose keys wait for a commit. An older file of keys is there.
pub(super) fn pending() -> Case {
    Case {
        name: "seen --pending",
        prepare: Box::new(|root| {
            let store = path(root, "store");
            quietly(&["seen", "-q", "--store", &store], &keys(0..50));
            quietly(&["seen", "-q", "--store", &store, "--pending", &path(root, "pending")], &keys(1000..1100));
        }),
        run: Box::new(|mut command, root| {
            command.args(["seen", "--memory", "1MiB", "--store", &path(root, "store")]);
            command.args(["--pending", &path(root, "pending")]);
            feed(command, &keys(0..150))
        }),
        second: None,
        check: Box::new(|root, runs| {
            has_just(root, "store", 0..50, |_| true)?;
            let file = root.join("pending");
            match Pending::open(&file) {
                // The older file, before the run began.
                Ok(pending) if pending.keys().len() == 100 && runs.iter().all(|run| run.printed.is_empty()) => Ok(()),
                Ok(pending) if pending.keys().len() == 100 => {
                    let printed: BTreeSet<_> = runs.iter().flat_map(|run| lines(&run.printed)).collect();
                    match (50..150).all(|number| printed.contains(key(number).as_str())) {
                        true => Ok(()),
                        false => Err("keys are pending whose lines were not printed".to_owned()),
                    }
                }
                Ok(pending) => Err(format!("{} keys are pending", pending.keys().len())),
                Err(_) if !file.exists() && !is_finished(runs) => Ok(()),
                Err(error) => Err(error.to_string()),
            }
        }),
    }
}

/// A store of a run and of a journal of three records.
pub(super) fn with_a_journal(root: &Path) {
    quietly(&["seen", "-q", "--store", &path(root, "store")], &keys(0..100));
    let options = CascadeOptions { journal: true, ..CascadeOptions::default() };
    let mut set = Cascade::open(Directory::open(root.join("store")).unwrap(), options).unwrap();
    let spec = set.hash_spec();
    for record in [100..110, 110..115, 115..150] {
        let hashes: Vec<_> = record.map(|number| spec.hash(key(number).as_bytes())).collect();
        set.insert_all(&hashes, &mut vec![]).unwrap();
        set.sync().unwrap();
    }
}

pub(super) fn has_all_of_the_journal(root: &Path, name: &str) -> Result<(), String> {
    has_just(root, name, 0..150, |_| true)
}

/// Checks that a store has those of the keys in a range for which `has` is true, and no others.
fn has_just(root: &Path, name: &str, range: Range<u32>, has: fn(u32) -> bool) -> Result<(), String> {
    let mut set = open_set(root, name, false)?.unwrap();
    let (spec, expected) = (set.hash_spec(), range.clone().map(has));
    let hashes: Vec<_> = range.clone().map(|number| spec.hash(key(number).as_bytes())).collect();
    let mut found = vec![];
    set.contains_all(&hashes, &mut found).map_err(|error| error.to_string())?;
    let known = found.iter().filter(|&&found| found).count();
    match expected.eq(found.iter().copied()) && known as u64 == set.len() {
        true => Ok(()),
        false => Err(format!("{name}: {known} of {range:?}, {} in all", set.len())),
    }
}

/// Removes keys from a set with three slices: some keys of the first and the last slice, and all keys of the second.
pub(super) fn remove() -> Case {
    const ALL: Range<u32> = 0..250;
    let is_gone = |number: &u32| (5..8).contains(number) || (100..200).contains(number) || *number == 240;
    Case {
        name: "seen --remove",
        prepare: Box::new(|root| {
            quietly(&["seen", "-q", "--window", "1600", "--store", &path(root, "store")], &keys(ALL));
        }),
        run: Box::new(move |mut command, root| {
            command.args(["seen", "--remove", "-", "--wait", "--store", &path(root, "store")]);
            let gone: Vec<u8> = ALL.filter(is_gone).flat_map(|number| keys(number..number + 1)).collect();
            feed(command, &gone)
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let mut set = open_set(root, "store", false)?.unwrap();
            let spec = set.hash_spec();
            let mut found = vec![];
            let hashes: Vec<_> = ALL.map(|number| spec.hash(key(number).as_bytes())).collect();
            set.contains_all(&hashes, &mut found).map_err(|error| error.to_string())?;
            let left: Vec<u32> = ALL.zip(found).filter_map(|(number, found)| found.then_some(number)).collect();
            let is_removed = left.iter().copied().eq(ALL.filter(|number| !is_gone(number)));
            if left.len() as u64 != set.len() || !(is_removed || left.len() == ALL.len()) {
                return Err(format!("{} keys, of which {} are known", set.len(), left.len()));
            }
            if is_finished(runs) && !is_removed { Err("the keys are back".to_owned()) } else { Ok(()) }
        }),
    }
}

/// The lines arrive in bursts. Each burst is recorded in the journal before the next one arrives.
pub fn bursts(name: &'static str, to_file: bool) -> Case {
    const BURST: u32 = 20;
    const BURSTS: u32 = 4;
    Case {
        name,
        prepare: Box::new(move |root| {
            if to_file {
                fs::write(root.join("printed"), b"").unwrap();
            }
        }),
        run: Box::new(move |mut command, root| {
            let threads = if to_file { "3" } else { "1" };
            command.args(["seen", "--sync", "0", "--wait", "--threads", threads, "--store", &path(root, "store")]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let file = to_file.then(|| fs::File::options().read(true).append(true).open(root.join("printed")).unwrap());
            if let Some(file) = &file {
                command.stdout(file.try_clone().unwrap());
            }
            let mut child = command.spawn().unwrap();
            let mut answers: Box<dyn Read> = match file {
                Some(_) => {
                    let mut file = fs::File::open(root.join("printed")).unwrap();
                    // These are the lines that a killed run has printed.
                    file.seek(std::io::SeekFrom::Start(file.metadata().unwrap().len())).unwrap();
                    Box::new(file)
                }
                None => Box::new(child.stdout.take().unwrap()),
            };
            let (mut input, mut printed, mut buffer) = (child.stdin.take().unwrap(), vec![], [0; 4096]);
            let has_ended = move |child: &mut Child| {
                std::thread::sleep(Duration::from_millis(1));
                child.try_wait().unwrap().is_some()
            };
            'bursts: for burst in 0..BURSTS {
                // The last line is new to each run.
                let last = format!("{}-{burst}\n", child.id()).into_bytes();
                // The process may have ended.
                let _ = input.write_all(&[keys(burst * BURST..(burst + 1) * BURST), last.clone()].concat());
                while !printed.ends_with(&last) {
                    let count = answers.read(&mut buffer).unwrap();
                    printed.extend(&buffer[..count]);
                    if count == 0 && has_ended(&mut child) {
                        break 'bursts;
                    }
                }
                let (all, mut tries) = (lines(&printed).count(), 0);
                while fs::read(root.join("store/JOURNAL")).map_or(0, |bytes| journal(&bytes).len()) < all {
                    if has_ended(&mut child) {
                        break 'bursts;
                    }
                    tries += 1;
                    assert!(tries < 20_000, "{all} lines were printed, and are not recorded");
                }
            }
            drop(input);
            let mut output = child.wait_with_output().unwrap();
            output.stdout = if to_file { vec![] } else { printed };
            output
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(mut set) = open_set(root, "store", true)? else {
                let is_lost = is_finished(runs) || runs.iter().any(|run| !run.recorded.is_empty());
                return if is_lost { Err("keys were recorded, but there is no store".to_owned()) } else { Ok(()) };
            };
            let file =
                if to_file { fs::read(root.join("printed")).map_err(|error| error.to_string())? } else { vec![] };
            let printed = runs.iter().map(|run| &run.printed).chain([&file]);
            let printed: BTreeSet<&[u8]> = printed.flat_map(|text| text.split(|&byte| byte == b'\n')).collect();
            let spec = set.hash_spec();
            let mut found = vec![];
            let hashes: Vec<_> = printed.iter().map(|line| spec.hash(line)).collect();
            set.contains_all(&hashes, &mut found).map_err(|error| error.to_string())?;
            let known = found.iter().filter(|&&found| found).count() as u64;
            if known != set.len() {
                return Err(format!("{} keys, of which {known} were printed", set.len()));
            }
            let mut must: Vec<_> = runs.iter().flat_map(|run| &run.recorded).map(|&key| KeyHash::new(key)).collect();
            if is_finished(runs) {
                must.extend((0..BURST * BURSTS).map(|number| spec.hash(key(number).as_bytes())));
            }
            found.clear();
            set.contains_all(&must, &mut found).map_err(|error| error.to_string())?;
            let lost = found.iter().filter(|&&found| !found).count();
            if lost == 0 { Ok(()) } else { Err(format!("{lost} of {} keys were recorded and are lost", must.len())) }
        }),
    }
}

/// The keys of a journal. There are none if the bytes are not a journal, or are a journal that is being written.
pub fn journal(bytes: &[u8]) -> Vec<u64> {
    let mut all = vec![];
    if let Ok(journal) = Journal::open(Bytes::from(Arc::<[u8]>::from(bytes)), "JOURNAL") {
        let _ = journal.for_each(|_, keys| {
            all.extend(keys);
            Ok(())
        });
    }
    all
}

/// Opens and verifies the set in a directory. Returns `None` if the set is missing, and `may_be_missing`.
fn open_set(root: &Path, name: &str, may_be_missing: bool) -> Result<Option<Cascade<Directory>>, String> {
    let Some(directory) = open(root, name, may_be_missing)? else { return Ok(None) };
    let set =
        Cascade::open(directory.mapped(false), CascadeOptions { memory: 0, hash: None, form: None, journal: false });
    let set = set.map_err(|error| error.to_string())?;
    set.verify().map_err(|error| error.to_string())?;
    nothing_else(&root.join(name), set.manifest())?;
    Ok(Some(set))
}

/// A store of two runs, the first of which is too large to be merged with the second.
pub(super) fn seen_in_parts(root: &Path) {
    for part in [0..PARTS[0], PARTS[0]..PARTS[1]] {
        let tiers = ["--cache", "lru+stable", "--lru", "1000", "--counters", "1M", "--fpr", "0.000000001"];
        quietly(&[&["seen", "-q", "--store", &path(root, "store")], &tiers[..]].concat(), &keys(part));
    }
}

const PARTS: [u32; 2] = [210_000, 220_000];

pub(super) fn seen_has_all(root: &Path, name: &str) -> Result<(), String> {
    let mut set = open_set(root, name, false)?.unwrap();
    let tiers = KeptTiers::of(&set).map_err(|error| error.to_string())?;
    if !tiers.is_some_and(|tiers| tiers.is_current && tiers.keys == 1000) {
        return Err(format!("{name}: the next run does not begin with {tiers:?}"));
    }
    let spec = set.hash_spec();
    let hashes: Vec<_> = (0..PARTS[1]).map(|number| spec.hash(key(number).as_bytes())).collect();
    let mut found = vec![];
    set.contains_all(&hashes, &mut found).map_err(|error| error.to_string())?;
    let known = found.iter().filter(|&&found| found).count();
    if known == hashes.len() && known as u64 == set.len() {
        return Ok(());
    }
    Err(format!("{name}: {known} of {} keys, {} in all", hashes.len(), set.len()))
}
