//! The commands that run while the disk or the power fails, and what must be true of the files afterwards.
#![allow(dead_code, unused_imports, reason = "each test binary uses its part")]

mod dict;
mod filter;
mod set;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output};

use furui::store::{Directory, Manifest, StoreKind};

use self::dict::{LOUDS, entries, number, numbered_in_parts, numbers_are};
use self::filter::{cascade, filter};
pub use self::set::{bursts, journal};
use self::set::{seen, seen_has_all, seen_in_parts};
use crate::support::{feed, furui};

/// A command, and the checks of its files.
///
/// The command waits for locks, because a child process that another thread starts shares the locks of this process
/// until it runs its program.
pub struct Case {
    pub name: &'static str,
    /// Prepares the files below a directory before the first run.
    pub prepare: Box<dyn Fn(&Path)>,
    /// Runs the command in the directory.
    pub run: Running,
    /// The command to run after `run` was killed; `None` to repeat `run`.
    pub second: Option<Running>,
    /// Checks that the files are right after these runs.
    pub check: Check,
}

type Running = Box<dyn Fn(Command, &Path) -> Output>;
type Check = Box<dyn Fn(&Path, &[Run]) -> Result<(), String>>;

/// The progress of one run when it ended or was killed.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub printed: Vec<u8>,
    /// The keys in the command's journal that were forced to the disk.
    pub recorded: HashSet<u64>,
    /// True if the command has ended without an error.
    pub finished: bool,
}

/// The size of a case.
#[derive(Clone, Copy)]
pub enum Scale {
    Small,
    Large,
}

impl Scale {
    /// The number of keys. The minimum memory of a set holds about 100,000 keys.
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
    seen("seen, a new store", 0, scale.keys(), &[])
}

pub fn old_set(scale: Scale) -> Case {
    seen("seen, a store that is there", 210_000, scale.keys(), &[])
}

pub fn new_dict(scale: Scale) -> Case {
    number("dict number, a new dictionary", 0, scale.words(), &[])
}

pub fn old_dict(scale: Scale) -> Case {
    number("dict number, a dictionary that is there", 5, scale.words(), &[])
}

pub fn old_louds_dict(scale: Scale) -> Case {
    number("dict number, a LOUDS dictionary that is there", 5, scale.words(), LOUDS)
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

pub fn remove_from_set() -> Case {
    set::remove()
}

pub fn compact_dict() -> Case {
    compact("compact of a dictionary", |root| numbered_in_parts(root, &[]), |root| numbers_are(root, "store"))
}

pub fn compact_louds_dict() -> Case {
    compact("compact of a LOUDS dictionary", |root| numbered_in_parts(root, LOUDS), |root| numbers_are(root, "store"))
}

pub fn new_dict_build() -> Case {
    entries::<u32>("dict build, a new dictionary", 0..0, "build", &[])
}

pub fn dict_build() -> Case {
    entries::<u32>("dict build, a dictionary that is there", 0..50, "build", &[])
}

pub fn dict_count() -> Case {
    dict::count()
}

pub fn dict_delete() -> Case {
    entries::<u32>("dict delete", 0..100, "delete", &[])
}

pub fn dict_build_of_bytes() -> Case {
    entries::<[u8]>("dict build of bytes, a dictionary that is there", 0..50, "build", &[])
}

pub fn louds_dict_build_of_bytes() -> Case {
    entries::<[u8]>("dict build of bytes, a LOUDS dictionary that is there", 0..50, "build", LOUDS)
}

pub fn louds_dict_delete_of_bytes() -> Case {
    entries::<[u8]>("dict delete of bytes, LOUDS", 0..100, "delete", LOUDS)
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
    filter("union of filters", &["union", "a", "b", "-o"], &[("a", 0..100), ("b", 100..200)])
}

pub fn snapshot_set() -> Case {
    snapshot("snapshot of a store", seen_in_parts, seen_has_all)
}

pub fn snapshot_journal() -> Case {
    snapshot("snapshot of a store with a journal", set::with_a_journal, set::has_all_of_the_journal)
}

pub fn seen_with_tiers() -> Case {
    seen("seen with tiers", 300, 400, set::TIERS)
}

pub fn union_stores() -> Case {
    set::combine("union", |number| number < 150)
}

pub fn subtract() -> Case {
    set::combine("subtract", |number| number < 50)
}

pub fn intersect() -> Case {
    set::combine("intersect", |number| (50..100).contains(&number))
}

pub fn import() -> Case {
    set::import()
}

pub fn commit() -> Case {
    set::commit()
}

pub fn pending() -> Case {
    set::pending()
}

pub fn snapshot_dict() -> Case {
    snapshot("snapshot of a dictionary", |root| numbered_in_parts(root, &[]), numbers_are)
}

pub fn all(scale: Scale) -> Vec<Case> {
    let scaled =
        [new_set, old_set, insert_cascade, new_dict, old_dict, old_louds_dict, read_dict].map(|case| case(scale));
    scaled
        .into_iter()
        .chain([
            compact_set(),
            compact_dict(),
            compact_louds_dict(),
            new_dict_build(),
            dict_build(),
            remove_from_set(),
            dict_count(),
            dict_delete(),
            dict_build_of_bytes(),
            louds_dict_build_of_bytes(),
            louds_dict_delete_of_bytes(),
            build(),
            insert(),
            remove(),
            union(),
            snapshot_set(),
            snapshot_dict(),
            snapshot_journal(),
            seen_with_tiers(),
            union_stores(),
            subtract(),
            intersect(),
            import(),
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

pub fn is_finished(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.finished)
}

fn open(root: &Path, name: &str, may_be_missing: bool) -> Result<Option<Directory>, String> {
    let store = root.join(name);
    if !store.exists() && may_be_missing {
        return Ok(None);
    }
    let directory = Directory::open(&store).map_err(|error| error.to_string())?;
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
