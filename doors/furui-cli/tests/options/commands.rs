//! The options of all commands but `furui seen` and `furui has`, which have checks of their own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use furui::dict::{Dict, Purpose};
use furui::store::{Directory, Manifest, StoreKind};

use super::dicts::DICTS;
use super::filters::FILTERS;
use super::rows::OTHERS;
use super::{LINES, Row, Run, check_in, name, options_of};
use crate::support::{TempDir, furui};

/// A command in some of its modes, and its options. Commands may have several of these.
pub struct Command {
    pub name: &'static str,
    pub modes: &'static [Mode],
    /// The fates in the rows are those in these modes.
    pub rows: &'static [&'static [Row]],
}

/// A mode: the commands that make what it needs, and the command itself, whose input is the file `in`, `table` or `-`.
/// An `--as-is` in it is left out where this option is tried.
pub struct Mode {
    pub before: &'static [&'static str],
    pub line: &'static str,
}

/// A new command needs an entry in one of these tables, and a new option a row in one of its command's entries.
const TABLES: [&[Command]; 3] = [FILTERS, DICTS, OTHERS];

/// The commands of the search engine, which other builds do not have.
const NETWORK: [&str; 12] = [
    "node",
    "invite",
    "publish",
    "unpublish",
    "search",
    "mcp",
    "demo",
    "block",
    "unblock",
    "purge",
    "trust",
    "untrust",
];

/// A frame of zstd with `a`, and a window of 1 MiB.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x00\x50\x11\x00\x00a\n";

/// gzip of the lines `a`, `new` and `b`; and of the same with a tab and a 7, for `table`.
const GZIPS: [&[u8]; 2] = [
    b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\x4b\xe4\xca\x4b\x2d\xe7\x4a\xe2\x02\0\xdd\x4b\x5e\xf2\x08\0\0\0",
    b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\x4b\xe4\x34\xe7\xca\x4b\x2d\x07\x92\x49\x40\x0c\0\x94\xd5\xd6\x92\x0e\0\0\0",
];

/// Other inputs than `in`, which take its place if a row names them. `more` makes keys that some options make of `in`.
const INPUTS: [(&str, &[u8]); 4] =
    [("gzip", GZIPS[0]), ("zstd", ZSTD), ("binary", b"\xff\xfea\0\n\0"), ("more", b"new\ny\na\nx\n")];

/// Runs a command in a directory, whose file `input` is standard input.
fn run_in(dir: &Path, line: &[&str], input: &str) -> std::process::Output {
    let input = File::open(dir.join(input)).unwrap();
    furui().current_dir(dir).args(line).stdin(input).output().unwrap()
}

/// A directory with the inputs, and what a mode needs.
fn made_for(mode: &Mode) -> TempDir {
    let dir = TempDir::in_memory();
    // A dictionary takes what is after a tab for a number.
    let lines = LINES.replace('\t', "\\t");
    let table: String = lines.lines().chain(["new", "y", "a", "x"]).map(|line| format!("{line}\t7\n")).collect();
    for (name, bytes) in INPUTS.into_iter().chain([("in", lines.as_bytes()), ("table", table.as_bytes())]) {
        dir.file(name, bytes);
    }
    dir.file("gzip table", GZIPS[1]);
    dir.file("seed", b"7\n");
    for line in mode.before {
        let done = run_in(dir.path(), &line.split(' ').collect::<Vec<_>>(), "zstd");
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    dir
}

/// A run of a mode with these options, in a copy of what [`made_for`] made.
fn tried(mode: &Mode, made: &Path, options: &[&str]) -> Run {
    let dir = TempDir::in_memory();
    for entry in fs::read_dir(made).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), dir.path().join(entry.unwrap().file_name()));
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            for file in fs::read_dir(from).unwrap() {
                fs::copy(file.as_ref().unwrap().path(), to.join(file.unwrap().file_name())).unwrap();
            }
        } else {
            // A file is replaced, and never changed in its place.
            fs::hard_link(from, to).unwrap();
        }
    }
    let has = |name: &str| options.contains(&name);
    let input = INPUTS.iter().map(|input| input.0).find(|name| has(name) && *name != "more").unwrap_or("in");
    let line = mode.line.split(' ').filter(|word| *word != "--as-is" || !has("as it is"));
    let line = line.map(|word| match (word, input) {
        ("table", "gzip") => "gzip table",
        ("in" | "table", "gzip" | "zstd" | "binary") => input,
        _ => word,
    });
    let given = options.iter().copied().filter(|word| ![input, "as it is"].contains(word));
    let done = run_in(dir.path(), &line.chain(given).collect::<Vec<_>>(), input);
    let mut found = BTreeMap::from([("output".to_owned(), done.stdout), ("messages".to_owned(), done.stderr)]);
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let kept = if path.is_dir() { kept(&path).into_bytes() } else { fs::read(&path).unwrap() };
        found.insert(path.file_name().unwrap().to_string_lossy().into_owned(), kept);
    }
    (done.status.code(), found)
}

/// What is in a store or a dictionary, without what its random seed changes.
fn kept(path: &Path) -> String {
    let Ok(Some(manifest)) = Directory::open_read_only(path).and_then(|directory| Manifest::load(&directory)) else {
        return "another directory".into();
    };
    let mut entries = vec![];
    match manifest.store {
        StoreKind::Dict(Purpose::Bytes) => {
            let dict = Dict::open_bytes(path).unwrap();
            let mut all = dict.iter();
            while let Some((key, value)) = all.next_entry().unwrap() {
                entries.push(format!("{} {}", key.escape_ascii(), value.escape_ascii()));
            }
        }
        StoreKind::Dict(_) => {
            let dict = Dict::open(path).unwrap();
            let mut all = dict.iter();
            while let Some((key, value)) = all.next_entry().unwrap() {
                entries.push(format!("{} {value}", key.escape_ascii()));
            }
        }
        _ => {}
    }
    let Manifest { store, hash, runs, layout, filter_hash, fingerprints, capacity, form, note, .. } = manifest;
    let runs: Vec<_> = runs.iter().map(|run| (run.keys, run.seal.length)).collect();
    let (hash, is_given) = (hash.algorithm, hash.seed == 7);
    format!(
        "{store:?} {hash:?} {is_given} {runs:?} {layout:?} {filter_hash:?} {fingerprints:?} {capacity} {form:?} {entries:?} {:?}",
        note.as_ref().map(furui::store::Note::text)
    )
}

#[test]
fn each_option_of_each_other_command_acts_in_each_mode_or_is_refused_with_a_reason() {
    for command in crate::manual::commands().iter().filter(|name| !["seen", "has"].contains(&name.as_str())) {
        let known: Vec<_> = TABLES.into_iter().flatten().filter(|known| known.name == command).collect();
        let rows = known.iter().flat_map(|known| known.rows.iter().copied().flatten());
        let rows = rows.map(|row| name(row.option).to_owned()).collect();
        let is_tried = !known.is_empty() && options_of(command) == rows;
        assert!(
            is_tried || NETWORK.contains(&command.as_str()),
            "each option of {command} has a row in TABLES: {rows:?}"
        );
    }
    let units: Vec<_> =
        TABLES.into_iter().flatten().flat_map(|known| (0..known.modes.len()).map(move |at| (known, at))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = vec![];
        while let Some(&(command, at)) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mode = &command.modes[at];
            let made = made_for(mode);
            let rows = command.rows.iter().copied().flatten();
            let place = (at, command.modes.len());
            wrong.extend(check_in(&[mode.before, &[mode.line]].concat().join("; "), place, rows, |options| {
                tried(mode, made.path(), options)
            }));
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
