//! What the tables of options share, and the options of the commands that have few.

use super::commands::{Command, Mode};
use super::{Row, row};

pub const fn mode(before: &'static [&'static str], line: &'static str) -> Mode {
    Mode { before, line }
}

pub const fn command(name: &'static str, modes: &'static [Mode], rows: &'static [&'static [Row]]) -> Command {
    Command { name, modes, rows }
}

/// How the input is read.
pub const INPUT: &[Row] = &[
    row("--null", "", "a"),
    row("--max-line 3", "", "a"),
    row("--no-decompress", "", "a"),
    row("--decode-memory 1KiB", "zstd", "a"),
    row("--binary", "binary", "a"),
    row("--keep-going", "missing more", "a"),
];

/// How a key is compared.
pub const COMPARED: &[Row] = &[
    row("--trim", "", "a"),
    row("--ignore-case", "", "a"),
    row("--url", "", "a"),
    row("--url-drop u", "--url", "a"),
    row("--url-sort", "--url", "a"),
];

/// Which part of a record is its key, whatever becomes of a record without one.
pub const RECORDS: &[Row] = &[
    row("--field 1", "--delimiter ,", "a"),
    row("--delimiter ,", "--field 2", "a"),
    row("--csv", "", "a"),
    row("--tsv", "", "a"),
    row("--json", "", "a"),
    row("--key 2", "--csv", "a"),
];

/// What else is said of records.
pub const PARTS: &[Row] = &[
    row("--no-header", "--csv --key 1", "a"),
    row("--missing error", "--field 3 --delimiter ,", "a"),
    row("--bad drop", "--json", "a"),
];

pub const AS_IS: &[Row] = &[row("--as-is", "--trim", "a")];

/// Each of these holds its seed.
pub const NO_SEED: &[Row] = &[row("--seed-file seed", "", "r")];

pub const WAIT: &[Row] = &[row("--wait", "", "k")];

pub const OUTPUT: &[Row] = &[row("--output O", "", "a")];

pub const DICT_NUMBERS: &[&str] = &["dict build --store d in more"];
pub const DICT_VALUES: &[&str] = &["dict build --values values --store d table"];
pub const DICT_COUNTS: &[&str] = &["dict build --values counts --store d table"];
pub const DICT_BYTES: &[&str] = &["dict build --values bytes --store d table"];
pub const STORE: &[&str] = &["seen -q --store s --hash-seed 7 in"];
pub const SECRET: &[&str] = &["filter build -c 100 --seed-file seed -o f in"];
pub const TWO_FILTERS: &[&str] = &["filter build -c 100 -o f in", "filter build -c 100 -o g more"];
pub const TWO_SECRETS: &[&str] = &[SECRET[0], "filter build -c 100 --seed-file seed -o g more"];
pub const EXPORTED: &[&str] = &[STORE[0], "export --u64 s -o h"];
pub const PENDING: &[&str] = &[STORE[0], "seen -q --store s --pending p more"];
pub const TWO_STORES: &[&str] = &[STORE[0], "seen -q --store t --like s more"];

const COMBINED: &[&[Row]] = &[&[row("--output u", "", "-"), row("--seed-file seed", "", "rrk")]];

/// The other commands.
pub const OTHERS: &[Command] = &[
    command(
        "union",
        &[mode(TWO_STORES, "union -o u s t"), mode(TWO_FILTERS, "union -o u f g"), mode(TWO_SECRETS, "union -o u f g")],
        COMBINED,
    ),
    command(
        "intersect",
        &[
            mode(TWO_STORES, "intersect -o u s t"),
            mode(TWO_FILTERS, "intersect -o u f g"),
            mode(TWO_SECRETS, "intersect -o u f g"),
        ],
        COMBINED,
    ),
    command("subtract", &[mode(TWO_STORES, "subtract -o u s t")], &[NO_SEED, &[row("--output u", "", "-")]]),
    command("export", &[mode(STORE, "export s")], &[&[row("--u64", "", "a"), row("--output O", "--u64", "a")]]),
    command("import", &[mode(EXPORTED, "import s h")], &[WAIT]),
    command(
        "commit",
        &[mode(PENDING, "commit s p")],
        &[WAIT, &[row("--note new", "", "a"), row("--after old", "", "a")]],
    ),
    command(
        "compact",
        &[
            mode(STORE, "compact s"),
            mode(DICT_NUMBERS, "compact d"),
            mode(DICT_BYTES, "compact d"),
            mode(&["filter build -k cascade -o d in"], "compact d"),
        ],
        &[WAIT],
    ),
    command(
        "info",
        &[
            mode(STORE, "info s"),
            mode(DICT_NUMBERS, "info d"),
            mode(DICT_BYTES, "info d"),
            mode(&["filter build -k cascade -o d in"], "info d"),
            mode(TWO_FILTERS, "info f"),
            mode(SECRET, "info f"),
        ],
        &[&[row("--json", "", "a"), row("--seed-file seed", "", "rrrrra")]],
    ),
    command(
        "snapshot",
        &[mode(STORE, "snapshot s c")],
        // A node has one directory, that of the copy.
        &[&[row("--node http://127.0.0.1:1", "", "r"), row("--token seed", "", "r"), row("--keys s", "", "r")]],
    ),
    command("verify", &[], &[]),
    command("completions", &[], &[]),
    command("man", &[mode(&[], "man")], &[&[row("--dir M", "", "a")]]),
];
