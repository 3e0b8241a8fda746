//! Each option of each command in each of its modes: it acts, or it is refused with a reason.

mod commands;
mod dicts;
mod filters;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::{TempDir, furui, run, stdout};

/// The modes of `furui seen`, in the order of the letters of a [`Row`].
const MODES: [&str; 6] = ["memory", "store", "dry run", "filter", "server", "remove"];

/// An option, with a value if it takes one, and the fate of the option in each mode: `a` if what it does is seen, `k`
/// if it is accepted and changes nothing that is seen in so small a run, `r` if it is refused, and `-` if it makes the
/// mode, or goes only with another option that is refused. A single letter is for all modes.
struct Row {
    option: &'static str,
    /// Other options that this one needs.
    with: &'static str,
    fates: &'static str,
}

impl Row {
    /// The fate of the option in the mode with this index, among `modes` modes.
    fn fate(&self, at: usize, modes: usize) -> char {
        assert!([1, modes].contains(&self.fates.len()), "{}: a fate for each of {modes} modes", self.option);
        self.fates.chars().cycle().nth(at).unwrap()
    }
}

const fn row(option: &'static str, with: &'static str, fates: &'static str) -> Row {
    Row { option, with, fates }
}

/// A new option needs a row here.
const ROWS: &[&[Row]] = &[rows::RECORDS, rows::COMPARED, SEEN];

/// Those that are not in the other two.
const SEEN: &[Row] = &[
    row("--null", "", "aaaaaa"),
    row("--max-line 3", "", "aaaaaa"),
    row("--no-decompress", "", "aaaaaa"),
    row("--decode-memory 1GiB", "", "kkkkkk"),
    row("--binary", "", "kkkkkk"),
    row("--keep-going", "", "kkkkkr"),
    row("--store st2", "", "--rrrr"),
    row("--sync 9", "", "rkrrrr"),
    row("--wait", "", "rkrrrk"),
    row("--pending P", "", "rkrrrr"),
    row("--window 1", "", "akkrar"),
    row("--reset-clock", "--window 1h", "rkkrrr"),
    row("--filter f2", "", "-rr-rr"),
    row("--remove in2", "", "r-rrr-"),
    row("--dry-run", "", "ka-aaa"),
    row("--memory 1MiB", "", "kkkrrk"),
    row("--no-mmap", "", "kkkrrk"),
    row("--threads 2", "", "kkkrrr"),
    row("--cache none", "", "aaarrr"),
    row("--fpr 0.1", "--cache lru+stable", "aaarrr"),
    row("--protect x", "--cache lru+stable", "kkkrrr"),
    row("--lru 1", "--cache lru", "aaarrr"),
    row("--replacement clock", "--cache lru", "aaarrr"),
    row("--counters 9999", "--cache lru+stable", "kkkrrr"),
    row("--probes 3", "--cache lru+stable", "aaarrr"),
    row("--decrements 3", "--cache lru+stable", "aaarrr"),
    row("--paper", "", "aaarrr"),
    row("--invert", "", "aaaaar"),
    row("--limit 1", "", "aaaaar"),
    row("--status", "", "aaaaar"),
    row("--mark", "", "aaaaar"),
    row("--repeats R", "", "aaaaar"),
    row("--count", "", "aaaaar"),
    row("--no-header", "--csv", "aaaaaa"),
    row("--missing drop", "--field 3 --delimiter ,", "aaaaaa"),
    row("--bad drop", "--json", "aaaaaa"),
    row("--as-is", "--trim", "raaara"),
    row("--quiet", "", "aaaaak"),
    row("--output O", "", "aaaaar"),
    row("--stats", "", "aaaaaa"),
    row("--hash siphash", "", "kkkrrr"),
    row("--hash-seed 7", "", "kkkrrr"),
    row("--like other", "", "rkkrrr"),
];

/// The message of a run that has accepted its options and tries to reach the server.
const UNREACHED: &str = if cfg!(feature = "net") { "no server listens there" } else { "cannot reach servers" };

/// The kinds of SET of `furui has`.
const SETS: [&str; 4] = ["lines", "store", "filter", "server"];

/// A new option of `furui has` needs a row here.
const HAS_ROWS: &[&[Row]] = &[rows::RECORDS, rows::COMPARED, HAS];

/// Those that are not in the other two.
const HAS: &[Row] = &[
    row("--null", "", "aaaa"),
    row("--max-line 3", "", "aaaa"),
    row("--no-decompress", "", "aaaa"),
    row("--decode-memory 1GiB", "", "kkkk"),
    row("--binary", "", "kkkk"),
    row("--keep-going", "", "kkkk"),
    row("--set-lines", "--delimiter , --field 2", "arar"),
    row("--memory 1MiB", "", "kkkr"),
    row("--no-mmap", "", "kkrr"),
    row("--seed-file none", "", "rrrr"),
    row("--invert", "", "aaaa"),
    row("--count", "", "aaaa"),
    row("--quiet", "", "aaaa"),
    row("--output O", "", "aaaa"),
    row("--no-header", "--csv", "aaaa"),
    row("--missing drop", "--field 3 --delimiter , --invert", "aaaa"),
    row("--bad drop", "--json --invert", "aaaa"),
    row("--as-is", "--trim", "raar"),
];

/// Lines with which every option that makes or compares keys, or says what becomes of lines without one, changes
/// something.
const LINES: &str = "x,y\na,y\nA,y\na ,y\na,y \nb\nhttp://e.x/?a=1&b=2\nhttp://e.x/?b=2&a=1\nHTTP://E.X/?a=1&b=2\n\
                     http://e.x/?a=1&b=2&u=3\na,y\nk\tv\n\"a\",y\n[1]\n{";

/// `printf 'a\na\n' | gzip -n`
const GZIP: &[u8] =
    &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0xe4, 0x4a, 0xe4, 2, 0, 0x54, 0x79, 0x7a, 0x33, 4, 0, 0, 0];

/// The names of the options that a command's help shows. The help is made from the definition of the command line, and
/// no option is hidden from it.
fn options_of(command: &str) -> BTreeSet<String> {
    let help = crate::manual::help(command, "--help");
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines.filter_map(|line| line.split([' ', '[', ',']).find(|word| word.starts_with("--")));
    names.filter(|name| !["--help", "--version"].contains(name)).map(str::to_owned).collect()
}

fn name(option: &str) -> &str {
    option.split(' ').next().unwrap()
}

/// The status of a run, and everything else that is seen of it.
type Run = (Option<i32>, BTreeMap<String, Vec<u8>>);

/// A run of `furui has` with these options and a SET of this kind.
fn looked_up(kind: &str, options: &[&str]) -> Run {
    let has = |name: &str| options.contains(&name);
    let dir = TempDir::in_memory();
    let text = if has("--no-decompress") || has("gzip") { GZIP } else { LINES.as_bytes() };
    let (input, lines) = (dir.file("in", text), dir.file("set", b"a\na,y\nhttp://e.x/?a=1&b=2\n\"a\"\n"));
    let (store, filter, output) = (dir.join("st"), dir.join("f"), dir.join("O"));
    let given = options.iter().filter(|word| !["gzip", "as it is"].contains(word));
    let given: Vec<&str> = given.map(|word| if *word == "O" { &*output } else { word }).collect();
    let keys = if has("as it is") { vec![] } else { keys_of(&given) };
    let set = match kind {
        "lines" => lines,
        "store" => {
            run(&[&["seen", "--quiet", "--store", &store, &lines], &keys[..]].concat(), b"");
            store
        }
        "filter" => {
            run(&[&["filter", "build", "-o", &filter, &lines], &keys[..]].concat(), b"");
            filter
        }
        _ => "redis://127.0.0.1:1/set".to_owned(),
    };
    let done = furui().arg("has").args(given).args([set, input]).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr).replace(&*dir.path().to_string_lossy(), "").into_bytes();
    let mut found = BTreeMap::from([("output".to_owned(), done.stdout), ("messages".to_owned(), told)]);
    found.extend(fs::read(output).ok().map(|bytes| ("O".to_owned(), bytes)));
    (done.status.code(), found)
}

/// A run of `furui seen` with these options in a mode.
fn seen(mode: &str, options: &[&str]) -> Run {
    let has = |name: &str| options.contains(&name);
    let dir = TempDir::in_memory();
    let (input, repeats) = (dir.file("in", LINES.as_bytes()), dir.join("R"));
    dir.file("in2", b"");
    let input = match () {
        () if has("--no-decompress") || has("gzip") => dir.file("in.gz", GZIP),
        () if has("--status") || has("empty") => dir.file("empty", b""),
        () => input,
    };
    let (store, filter, other) = (dir.join("st"), dir.join("f"), dir.join("other"));
    if has("other") {
        stdout(&["seen", "--quiet", "--store", &other], b"");
    }
    let place = |word: &&str| match *word {
        "R" => repeats.clone(),
        "other" => other.clone(),
        "st2" | "f2" | "in2" | "O" | "P" => dir.join(word),
        word => word.to_owned(),
    };
    let given: Vec<String> = options.iter().filter(|word| !["gzip", "empty"].contains(word)).map(place).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    // A set, or a filter, remembers how keys are made.
    let keys: Vec<&str> = if has("--trim") && has("as it is") { vec![] } else { keys_of(&given) };
    let stored = [&["seen", "--quiet", "--store", &store], &keys[..]].concat();
    let mut command = vec!["seen"];
    match mode {
        "memory" => command.push(&input),
        "store" => {
            if has("as it is") {
                run(&stored, b"");
            }
            command.extend(["--store", &store, &input]);
        }
        "dry run" => {
            run(&stored, b"");
            command.extend(["--dry-run", "--store", &store, &input]);
        }
        "filter" => {
            run(&[&["filter", "build", "--capacity", "100", "-o", &filter], &keys[..]].concat(), b"");
            command.extend(["--filter", &filter, &input]);
        }
        "server" => command.extend(["--store", "redis://127.0.0.1:1/set", &input]),
        _ => {
            run(&[&stored[..], &[&input]].concat(), b"");
            command.extend(["--remove", &input, "--store", &store]);
        }
    }
    if !has("--stats") && !has("silent") {
        command.push("--stats");
    }
    command.extend(given.iter().filter(|word| **word != "silent" && **word != "as it is"));
    let done = furui().args(&command).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr).replace(&*dir.path().to_string_lossy(), "").into_bytes();
    let mut found = BTreeMap::from([("output".to_owned(), done.stdout), ("messages".to_owned(), told)]);
    for file in [&repeats, &filter] {
        found.extend(fs::read(file).ok().map(|bytes| (file[dir.join("").len()..].to_owned(), bytes)));
    }
    let names = fs::read_dir(&store).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    found.extend(names.map(|name| (name.into_string().unwrap(), vec![])));
    (done.status.code(), found)
}

/// Returns those of the options that determine how keys are made.
fn keys_of<'a>(options: &[&'a str]) -> Vec<&'a str> {
    const FLAGS: [&str; 10] = [
        "--null",
        "--csv",
        "--tsv",
        "--json",
        "--no-header",
        "--trim",
        "--ignore-case",
        "--url",
        "--url-sort",
        "--no-decompress",
    ];
    let values = [
        "--field",
        "--delimiter",
        "--key",
        "--url-drop",
        "--missing",
        "--bad",
        "--window",
        "--hash",
        "--hash-seed",
        "--like",
    ];
    let mut keys = vec![];
    for (index, &word) in options.iter().enumerate() {
        if FLAGS.contains(&word) && word != "--no-decompress" {
            keys.push(word);
        } else if values.contains(&word) {
            keys.extend(&options[index..index + 2]);
        }
    }
    keys
}

#[test]
fn each_option_of_seen_acts_in_each_mode_or_is_refused_with_a_reason() {
    let rows: BTreeSet<String> = ROWS.iter().copied().flatten().map(|row| name(row.option).to_owned()).collect();
    assert_eq!(options_of("seen"), rows, "each option has a row in ROWS");
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let rows = ROWS.iter().flat_map(|rows| rows.chunks(SEEN.len().div_ceil(4)));
        let parts: Vec<_> = rows.map(|rows| scope.spawn(|| check(rows, &MODES, seen))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_option_of_has_acts_for_each_kind_of_set_or_is_refused_with_a_reason() {
    let rows: BTreeSet<String> = HAS_ROWS.iter().copied().flatten().map(|row| name(row.option).to_owned()).collect();
    assert_eq!(options_of("has"), rows, "each option has a row in HAS_ROWS");
    let wrong: Vec<_> = HAS_ROWS.iter().flat_map(|rows| check(rows, &SETS, looked_up)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Options whose values here make them act by an error.
const ERRORS: [&str; 3] = ["--max-line", "--decode-memory", "--missing"];

/// Runs all rows in all modes, and returns a message for each fate that differs from the row's.
fn check(rows: &[Row], modes: &[&str], run: fn(&str, &[&str]) -> Run) -> Vec<String> {
    let checked = modes
        .iter()
        .enumerate()
        .map(|(at, mode)| check_in(mode, (at, modes.len()), rows, |options| run(mode, options)));
    checked.flatten().collect()
}

/// Runs the rows in the mode with this index, among `modes` modes, and returns a message for each fate that differs.
fn check_in<'r>(
    mode: &str,
    (at, modes): (usize, usize),
    rows: impl IntoIterator<Item = &'r Row>,
    run: impl Fn(&[&str]) -> Run,
) -> Vec<String> {
    let (mut wrong, mut bases) = (vec![], BTreeMap::new());
    for row in rows {
        let (option, fate) = (name(row.option), row.fate(at, modes));
        let mut without: Vec<&str> = row.with.split_whitespace().collect();
        without.extend(match option {
            "--no-decompress" => Some("gzip"),
            "--status" => Some("empty"),
            "--stats" => Some("silent"),
            "--as-is" => Some("as it is"),
            _ => None,
        });
        // A server refuses the other options, too.
        let without = if (fate, mode) == ('r', "server") { vec![] } else { without };
        let with = [&without[..], &row.option.split(' ').collect::<Vec<_>>()].concat();
        if fate == '-' {
            continue;
        }
        let (status, found) = run(&with);
        let told = String::from_utf8_lossy(&found["messages"]);
        let is_refused = |name: &str| status == Some(2) && found["output"].is_empty() && told.contains(name);
        let is_right = match (fate, mode) {
            ('r', _) if told.contains("no server") => false,
            ('r', _) => is_refused(option) || is_refused(&option[2..].replace('-', " ")),
            (_, "server") => told.contains(UNREACHED),
            ('a', _) => {
                let base = bases.entry(without.clone()).or_insert_with(|| run(&without));
                (status, &found) != (base.0, &base.1) && (!is_refused(option) || ERRORS.contains(&option))
            }
            _ => matches!(status, Some(0 | 1)),
        };
        if !is_right {
            wrong.push(format!("{} {} in mode {mode} is not {fate}: {status:?}\n{told}", row.with, row.option));
        }
    }
    wrong
}
