//! The commands that run while the disk or the power fails, and what must be true of the files afterwards.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use furui::KeyHash;
use furui::dict::{Dict, DictOptions, DictValue};
use furui::filter::AnyFilter;
use furui::seen::KeptTiers;
use furui::store::cascade::{Cascade, CascadeFilter, CascadeOptions, Journal};
use furui::store::{Bytes, Directory, Manifest, StoreKind};

use crate::support::{feed, furui};

/// A command, and the checks of its files.
///
/// The command waits for locks, because a lock of this process is shared with child processes of its other threads
/// until those run a program.
pub struct Case {
    pub name: &'static str,
    /// Prepares the files below a directory before the first run.
    pub prepare: Box<dyn Fn(&Path)>,
    /// Runs the command in the directory.
    pub run: Running,
    /// The command to run after a killed run, if it is another one.
    pub second: Option<Running>,
    /// Checks that the files are right after these runs.
    pub check: Check,
}

type Running = Box<dyn Fn(Command, &Path) -> Output>;
type Check = Box<dyn Fn(&Path, &[Run]) -> Result<(), String>>;

/// One run, so far.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub printed: Vec<u8>,
    /// The number of keys in its journal that were forced to the disk.
    pub recorded: HashSet<u64>,
    /// True if the run has ended without an error.
    pub finished: bool,
}

/// How many keys a case uses.
#[derive(Clone, Copy)]
pub enum Scale {
    Small,
    Large,
}

impl Scale {
    /// The minimum memory of a set holds about 100,000 keys.
    fn keys(self) -> u32 {
        match self {
            Self::Small => 230_000,
            Self::Large => 450_000,
        }
    }

    fn words(self) -> u32 {
        match self {
            Self::Small => 6,
            Self::Large => 25,
        }
    }
}

pub fn new_set(scale: Scale) -> Case {
    seen("seen, a new store", 0, scale.keys())
}

pub fn old_set(scale: Scale) -> Case {
    seen("seen, a store that is there", 210_000, scale.keys())
}

pub fn new_dict(scale: Scale) -> Case {
    number("dict number, a new dictionary", 0, scale.words())
}

pub fn old_dict(scale: Scale) -> Case {
    number("dict number, a dictionary that is there", 5, scale.words())
}

/// Reads the dictionary that a killed run has left, before any other run.
pub fn read_dict(scale: Scale) -> Case {
    let words = keys(0..5 + scale.words());
    let read = move |mut command: Command, root: &Path| {
        command.args(["dict", "get", "--store", &path(root, "store")]);
        feed(command, &words)
    };
    Case { name: "dict get after dict number", second: Some(Box::new(read)), ..old_dict(scale) }
}

pub fn compact_set() -> Case {
    compact("compact of a store", seen_in_parts, |root| seen_has_all(root, "store"))
}

pub fn compact_dict() -> Case {
    compact("compact of a dictionary", numbered_in_parts, |root| numbers_are(root, "store"))
}

pub fn new_dict_build() -> Case {
    entries::<u32>("dict build, a new dictionary", 0..0, "build")
}

pub fn dict_build() -> Case {
    entries::<u32>("dict build, a dictionary that is there", 0..50, "build")
}

pub fn dict_delete() -> Case {
    entries::<u32>("dict delete", 0..100, "delete")
}

pub fn dict_build_of_bytes() -> Case {
    entries::<[u8]>("dict build of bytes, a dictionary that is there", 0..50, "build")
}

pub fn build() -> Case {
    filter("filter build", &["build", "-c", "200000", "-o"], &[])
}

pub fn insert() -> Case {
    filter("filter insert", &["insert"], &[("f", 0..100)])
}

pub fn insert_cascade(scale: Scale) -> Case {
    cascade(scale.keys() / 4)
}

pub fn remove() -> Case {
    filter("filter remove", &["remove"], &[("f", 0..200)])
}

pub fn union() -> Case {
    filter("filter union", &["union", "a", "b", "-o"], &[("a", 0..100), ("b", 100..200)])
}

pub fn snapshot_set() -> Case {
    snapshot("snapshot of a store", seen_in_parts, seen_has_all)
}

pub fn snapshot_dict() -> Case {
    snapshot("snapshot of a dictionary", numbered_in_parts, numbers_are)
}

pub fn all(scale: Scale) -> Vec<Case> {
    let scaled = [new_set, old_set, insert_cascade, new_dict, old_dict, read_dict].map(|case| case(scale));
    scaled
        .into_iter()
        .chain([
            compact_set(),
            compact_dict(),
            new_dict_build(),
            dict_build(),
            dict_delete(),
            dict_build_of_bytes(),
            build(),
            insert(),
            remove(),
            union(),
            snapshot_set(),
            snapshot_dict(),
        ])
        .collect()
}

fn key(number: u32) -> String {
    format!("{number:x}")
}

fn keys(range: Range<u32>) -> Vec<u8> {
    range.flat_map(|number| (key(number) + "\n").into_bytes()).collect()
}

pub fn path(root: &Path, name: &str) -> String {
    root.join(name).to_str().unwrap().to_owned()
}

fn quietly(args: &[&str], input: &[u8]) {
    let mut command = furui();
    command.args(args);
    let output = feed(command, input);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The complete lines that were printed.
pub fn lines(printed: &[u8]) -> impl Iterator<Item = &str> {
    let whole = printed.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    std::str::from_utf8(&printed[..whole]).unwrap().lines()
}

fn seen(name: &'static str, before: u32, count: u32) -> Case {
    // Half of the keys that were there before are inserted again.
    let all = before / 2..before / 2 + count;
    let input = keys(all.clone());
    let universe: Vec<String> = (0..all.end).map(key).collect();
    Case {
        name,
        prepare: Box::new(move |root| {
            if before > 0 {
                quietly(&["seen", "-q", "--memory", "1MiB", "--store", &path(root, "store")], &keys(0..before));
            }
        }),
        run: Box::new(move |mut command, root| {
            command.args(["seen", "--memory", "1MiB", "--wait", "--store", &path(root, "store")]);
            feed(command, &input)
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(mut set) = open_set(root, "store", before == 0)? else {
                return is_finished(runs)
                    .then_some("a run ended without an error, but there is no store")
                    .map_or(Ok(()), |e| Err(e.into()));
            };
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
            command.args(["seen", "--sync", "0", "--wait", "--store", &path(root, "store")]);
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
                let all = lines(&printed).count();
                while fs::read(root.join("store/JOURNAL")).map_or(0, |bytes| journal(&bytes).len()) < all {
                    if has_ended(&mut child) {
                        break 'bursts;
                    }
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

/// The keys of a journal; none if it is not one, or is being written.
pub fn journal(bytes: &[u8]) -> Vec<u64> {
    let mut all = vec![];
    if let Ok(journal) = Journal::open(Bytes::from(Arc::<[u8]>::from(bytes)), "JOURNAL") {
        let _ = journal.for_each(|keys| {
            all.extend(keys);
            Ok(())
        });
    }
    all
}

pub fn is_finished(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.finished)
}

/// The set in a directory, verified; `None` if it is missing and may be.
fn open_set(root: &Path, name: &str, may_be_missing: bool) -> Result<Option<Cascade<Directory>>, String> {
    let Some(directory) = open(root, name, may_be_missing)? else { return Ok(None) };
    let set = Cascade::open(directory.mapped(false), CascadeOptions { memory: 0, hash: None, journal: false });
    let set = set.map_err(|error| error.to_string())?;
    set.verify().map_err(|error| error.to_string())?;
    nothing_else(&root.join(name), set.manifest())?;
    Ok(Some(set))
}

/// The values of a dictionary, which stand for numbers.
trait Values: DictValue {
    const NAME: &str;

    fn open(directory: Directory) -> furui::Result<Dict<Directory, Self>>;

    fn number(value: Self::Read<'_>) -> u32;
}

impl Values for u32 {
    const NAME: &str = "numbers";

    fn open(directory: Directory) -> furui::Result<Dict<Directory>> {
        Dict::open_with(directory, DictOptions::default())
    }

    fn number(value: u32) -> u32 {
        value
    }
}

impl Values for [u8] {
    const NAME: &str = "bytes";

    fn open(directory: Directory) -> furui::Result<Dict<Directory, Self>> {
        Dict::open_bytes_with(directory, DictOptions::default())
    }

    fn number(value: &[u8]) -> u32 {
        str::from_utf8(value).unwrap().parse().unwrap()
    }
}

fn open_dict<V: Values + ?Sized>(
    root: &Path,
    name: &str,
    may_be_missing: bool,
) -> Result<Option<Dict<Directory, V>>, String> {
    let Some(directory) = open(root, name, may_be_missing)? else { return Ok(None) };
    let dict = V::open(directory).map_err(|error| error.to_string())?;
    dict.verify().map_err(|error| error.to_string())?;
    nothing_else(&root.join(name), dict.manifest())?;
    Ok(Some(dict))
}

fn open(root: &Path, name: &str, may_be_missing: bool) -> Result<Option<Directory>, String> {
    let store = root.join(name);
    if !store.exists() && may_be_missing {
        return Ok(None);
    }
    let directory = Directory::open(store).map_err(|error| error.to_string())?;
    match Manifest::load(&directory) {
        Ok(None) if may_be_missing => Ok(None),
        Ok(None) => Err("the store is gone".to_owned()),
        Ok(Some(_)) => Ok(Some(directory)),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks that a store that was opened for writing has no left-over files.
fn nothing_else(store: &Path, manifest: &Manifest) -> Result<(), String> {
    let named: BTreeSet<String> = manifest.runs.iter().map(|run| manifest.store.file_name(run.number)).collect();
    for entry in fs::read_dir(store).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let left = name.ends_with(".furui-tmp") || StoreKind::ALL.iter().any(|kind| kind.number_of(&name).is_some());
        if left && !named.contains(&name) {
            return Err(format!("{name} is left over"));
        }
    }
    Ok(())
}

/// The words arrive one by one, so that each number is made durable by itself.
fn number(name: &'static str, before: u32, count: u32) -> Case {
    Case {
        name,
        prepare: Box::new(move |root| {
            if before > 0 {
                quietly(&["dict", "number", "--store", &path(root, "store")], &keys(0..before));
            }
        }),
        run: Box::new(move |mut command, root| {
            command.args(["dict", "number", "--wait", "--store", &path(root, "store")]);
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (mut input, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
            let mut printed = vec![];
            for number in 0..before + count {
                let had = printed.len();
                // The process may have ended.
                let _ = input.write_all((key(number) + "\n").as_bytes());
                answers.read_until(b'\n', &mut printed).unwrap();
                if printed.len() == had {
                    break;
                }
            }
            drop(input);
            let mut output = child.wait_with_output().unwrap();
            output.stdout = printed;
            output
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let mut given: BTreeMap<String, u32> = (0..before).map(|number| (key(number), number)).collect();
            for run in runs {
                for (number, line) in lines(&run.printed).enumerate() {
                    // `dict get` prints the word as well.
                    let word = line.split_once('\t').map_or_else(|| key(number as u32), |(word, _)| word.to_owned());
                    let id = line.rsplit('\t').next().unwrap().parse().unwrap();
                    if *given.entry(word.clone()).or_insert(id) != id {
                        return Err(format!("{word} was given two numbers"));
                    }
                }
            }
            if given.values().collect::<BTreeSet<_>>().len() != given.len() {
                return Err("a number was given twice".to_owned());
            }
            let Some(mut dict) = open_dict::<u32>(root, "store", before == 0)? else {
                return if given.is_empty() {
                    Ok(())
                } else {
                    Err("numbers were given, but there is no dictionary".to_owned())
                };
            };
            if let Some((word, id)) = given.iter().find(|(word, id)| dict.get(word.as_bytes()).ok() != Some(Some(**id)))
            {
                return Err(format!("{word} was given {id} and has {:?}", dict.get(word.as_bytes())));
            }
            let next = dict.number(b"another").map_err(|error| error.to_string())?;
            if given.values().any(|&id| id >= next) {
                return Err(format!("{next} would be given again"));
            }
            Ok(())
        }),
    }
}

/// Entries with numbers as values: from the 25th on, they get other values or are deleted.
fn entries<V: Values + ?Sized>(name: &'static str, before: Range<u32>, command: &'static str) -> Case {
    const CHANGED: Range<u32> = 25..100;
    let text = |range: Range<u32>, add: u32| -> Vec<u8> {
        range.flat_map(|number| format!("{}\t{}\n", key(number), number + add).into_bytes()).collect()
    };
    let (deletes, may_be_missing, old) = (command == "delete", before.is_empty(), before.clone());
    Case {
        name,
        prepare: Box::new(move |root| {
            if !before.is_empty() {
                let args = ["dict", "build", "--values", V::NAME, "--store", &path(root, "store")];
                quietly(&args, &text(before.clone(), 0));
            }
        }),
        run: Box::new(move |mut process, root| {
            process.args(["dict", command, "--wait", "--store", &path(root, "store")]);
            feed(process, &if deletes { keys(CHANGED) } else { text(CHANGED, 1000) })
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(dict) = open_dict::<V>(root, "store", may_be_missing)? else {
                return if is_finished(runs) { Err("there is no dictionary".to_owned()) } else { Ok(()) };
            };
            for number in 0..CHANGED.end {
                let found = dict.get(key(number).as_bytes()).map_err(|error| error.to_string())?.map(V::number);
                let is_changed = CHANGED.contains(&number);
                let was = found == old.contains(&number).then_some(number);
                let becomes = is_changed && found == (!deletes).then_some(number + 1000);
                if !(becomes || was && !(is_changed && is_finished(runs))) {
                    return Err(format!("{} has {found:?}", key(number)));
                }
            }
            Ok(())
        }),
    }
}

fn compact(name: &'static str, prepare: fn(&Path), has_all: fn(&Path) -> Result<(), String>) -> Case {
    Case {
        name,
        prepare: Box::new(prepare),
        run: Box::new(|mut command, root| {
            command.args(["compact", "--wait", &path(root, "store")]);
            feed(command, b"")
        }),
        second: None,
        check: Box::new(move |root, _| has_all(root)),
    }
}

/// A store of two runs, the first of which is too large to be merged with the second.
fn seen_in_parts(root: &Path) {
    for part in [0..PARTS[0], PARTS[0]..PARTS[1]] {
        let tiers = ["--cache", "lru+stable", "--lru", "1000", "--counters", "1M", "--fpr", "0.000000001"];
        quietly(&[&["seen", "-q", "--store", &path(root, "store")], &tiers[..]].concat(), &keys(part));
    }
}

const PARTS: [u32; 2] = [210_000, 220_000];

fn seen_has_all(root: &Path, name: &str) -> Result<(), String> {
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

/// A dictionary of several tries, each a tenth of the size of the one before.
fn numbered_in_parts(root: &Path) {
    for end in [900, 990, WORDS] {
        quietly(&["dict", "number", "--store", &path(root, "store")], &keys(0..end));
    }
}

const WORDS: u32 = 999;

fn numbers_are(root: &Path, name: &str) -> Result<(), String> {
    let dict = open_dict::<u32>(root, name, false)?.unwrap();
    match (0..WORDS).find(|&number| dict.get(key(number).as_bytes()).ok() != Some(Some(number))) {
        None if dict.next_id() == WORDS => Ok(()),
        wrong => Err(format!("{wrong:?} is wrong, of {}", dict.next_id())),
    }
}

/// The keys 100 to 199 are inserted or, by `remove`, removed.
fn filter(name: &'static str, args: &'static [&'static str], before: &'static [(&'static str, Range<u32>)]) -> Case {
    let command = args[0];
    let is_new = before.iter().all(|(name, _)| *name != "f");
    Case {
        name,
        prepare: Box::new(move |root| {
            let kind = if command == "remove" { "counting" } else { "bloom" };
            for (name, range) in before {
                let to = path(root, name);
                quietly(&["filter", "build", "--kind", kind, "-c", "200000", "-o", &to], &keys(range.clone()));
            }
        }),
        run: Box::new(move |mut process, root| {
            let is_input = |arg: &str| before.iter().any(|(name, _)| *name == arg);
            process.arg("filter");
            process.args(args.iter().map(|arg| if is_input(arg) { path(root, arg) } else { (*arg).to_owned() }));
            process.arg(path(root, "f"));
            feed(process, &keys(100..200))
        }),
        second: None,
        check: Box::new(move |root, runs| {
            if !root.join("f").exists() {
                let lost = !is_new || is_finished(runs);
                return if lost { Err("the filter is gone".to_owned()) } else { Ok(()) };
            }
            let filter = AnyFilter::open(root.join("f")).map_err(|error| error.to_string())?;
            let count = |range: Range<u32>| range.map(key).filter(|key| filter.contains(key)).count();
            let (first, second) = (count(0..100), count(100..200));
            let is_right = match command {
                "build" => second == 100,
                "insert" => first == 100 && (second == 100 || !is_finished(runs)),
                "union" => first == 100 && second == 100,
                // A few keys are found as false positives.
                _ => first == 100 && if is_finished(runs) { second < 50 } else { second == 100 || second < 50 },
            };
            if is_right { Ok(()) } else { Err(format!("the filter has {first} and {second} of 100 keys")) }
        }),
    }
}

/// A cascade filter of some keys, into which more are inserted than its memory holds.
fn cascade(before: u32) -> Case {
    let count = 130_000;
    Case {
        name: "filter insert, a cascade filter",
        prepare: Box::new(move |root| {
            let args = ["filter", "build", "-k", "cascade", "-c", "1M", "--fpr", "1e-6", "--memory", "1MiB", "-o"];
            quietly(&[&args[..], &[&path(root, "store")]].concat(), &keys(0..before));
        }),
        run: Box::new(move |mut command, root| {
            command.args(["filter", "insert", "--memory", "1MiB", "--wait", &path(root, "store")]);
            feed(command, &keys(before..before + count))
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(directory) = open(root, "store", false)? else { return Err("the filter is gone".to_owned()) };
            let options = CascadeOptions { memory: 0, hash: None, journal: false };
            let mut filter = CascadeFilter::open_with(directory.mapped(false), options).map_err(|e| e.to_string())?;
            filter.set().verify().map_err(|error| error.to_string())?;
            nothing_else(&root.join("store"), filter.set().manifest())?;
            let certain = if is_finished(runs) { before + count } else { before };
            let hashes = filter.hash_spec().hasher().hash_all((0..certain).map(key));
            let mut found = vec![];
            filter.contains_hashes(&hashes, &mut found).map_err(|error| error.to_string())?;
            match found.iter().position(|&found| !found) {
                Some(number) => Err(format!("{number}: inserted, and not there")),
                None => Ok(()),
            }
        }),
    }
}

fn snapshot(name: &'static str, prepare: fn(&Path), has_all: fn(&Path, &str) -> Result<(), String>) -> Case {
    Case {
        name,
        prepare: Box::new(prepare),
        run: Box::new(|mut command, root| {
            command.args(["snapshot", &path(root, "store"), &path(root, "copy")]);
            feed(command, b"")
        }),
        second: None,
        check: Box::new(move |root, runs| {
            has_all(root, "store")?;
            if root.join("copy/MANIFEST").exists() {
                return has_all(root, "copy");
            }
            if is_finished(runs) { Err("the copy is gone".to_owned()) } else { Ok(()) }
        }),
    }
}
