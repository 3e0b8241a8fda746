//! The options of all commands but `furui seen` and `furui has`, and their fates.

use super::commands::{Command, Mode};
use super::{Row, row};

const fn mode(before: &'static [&'static str], line: &'static str) -> Mode {
    Mode { before, line }
}

const fn command(name: &'static str, modes: &'static [Mode], rows: &'static [&'static [Row]]) -> Command {
    Command { name, modes, rows }
}

/// How the input is read.
const INPUT: &[Row] = &[
    row("--null", "", "a"),
    row("--max-line 3", "", "a"),
    row("--no-decompress", "", "a"),
    row("--decode-memory 1KiB", "zstd", "a"),
    row("--binary", "binary", "a"),
    row("--keep-going", "missing more", "a"),
];

/// How a key is compared.
const COMPARED: &[Row] = &[
    row("--trim", "", "a"),
    row("--ignore-case", "", "a"),
    row("--url", "", "a"),
    row("--url-drop u", "--url", "a"),
    row("--url-sort", "--url", "a"),
];

/// Which part of a record is its key.
const PARTS: &[Row] = &[
    row("--field 1", "--delimiter ,", "a"),
    row("--delimiter ,", "--field 2", "a"),
    row("--csv", "", "a"),
    row("--tsv", "", "a"),
    row("--json", "", "a"),
    row("--key 2", "--csv", "a"),
    row("--no-header", "--csv --key 1", "a"),
    row("--missing error", "--field 3 --delimiter ,", "a"),
    row("--bad drop", "--json", "a"),
];

const AS_IS: &[Row] = &[row("--as-is", "--trim", "a")];

/// What is new remembers how its keys are made.
const AS_IS_OF_NEW: &[Row] = &[row("--as-is", "", "k")];

/// Each of these holds its seed.
const NO_SEED: &[Row] = &[row("--seed-file seed", "", "r")];

const WAIT: &[Row] = &[row("--wait", "", "k")];

const OUTPUT: &[Row] = &[row("--output O", "", "a")];

/// How the tries of a dictionary are made.
const MAKING: &[Row] = &[
    row("--layout louds", "", "a"),
    row("--window 1", "", "a"),
    row("--merge-after 1", "--window 1", "a"),
    row("--merging all", "--window 1", "a"),
    row("--filter-rate 0.9", "", "k"),
    row("--filter-hash polynomials-2", "--layout louds", "a"),
];

const FILTER_BUILD: &[Row] = &[
    row("--output f", "", "-"),
    row("--kind bloom", "", "-"),
    row("--fpr 0.1", "--capacity 9000", "a"),
    row("--capacity 9000", "", "a"),
    row("--bits 4096", "--probes 3", "aaaarrrrrr"),
    row("--bits 4096", "--probes 3 --decrements 2", "----aa----"),
    row("--probes 3", "--bits 4096", "aaaa------"),
    row("--probes 3", "--bits 4096 --decrements 2", "----aa----"),
    row("--decrements 2", "--bits 4096 --probes 3", "rrrraa----"),
    row("--no-remove", "", "rrrrrrrarr"),
    row("--memory 16MiB", "", "rrrrrrrrkr"),
    row("--hash siphash", "", "aaaaaaaaar"),
    row("--hash-seed 7", "", "aaaaaaaaar"),
    row("--seed-file seed", "", "aaaaaaaarr"),
    row("--delta 7", "", "rrrrrrarrr"),
    row("--gamma whole", "", "rrrrrrarrr"),
    row("--as-is", "", "r"),
];

const DICT_NUMBERS: &[&str] = &["dict build --store d in more"];
const DICT_VALUES: &[&str] = &["dict build --values values --store d table"];
const DICT_COUNTS: &[&str] = &["dict build --values counts --store d table"];
const DICT_BYTES: &[&str] = &["dict build --values bytes --store d table"];
const STORE: &[&str] = &["seen -q --store s --hash-seed 7 in"];
const SECRET: &[&str] = &["filter build -c 100 --seed-file seed -o f in"];
const TWO_FILTERS: &[&str] = &["filter build -c 100 -o f in", "filter build -c 100 -o g more"];
const TWO_SECRETS: &[&str] = &[SECRET[0], "filter build -c 100 --seed-file seed -o g more"];
const EXPORTED: &[&str] = &[STORE[0], "export --u64 s -o h"];
const TWO_STORES: &[&str] = &[STORE[0], "seen -q --store t --like s more"];

/// A new command needs an entry here, and a new option a row in one of its command's entries.
pub const COMMANDS: &[Command] = &[
    // The kinds of filters do not know how lines are read, but four ways of building and of inserting do.
    command(
        "filter build",
        &[
            mode(&[], "filter build -o f -"),
            mode(&[], "filter build -o f in"),
            mode(&[], "filter build -k blocked -o f in"),
            mode(&[], "filter build -k counting -o f in"),
            mode(&[], "filter build -k stable -o f in"),
            mode(&[], "filter build -k stable-light -o f in"),
            mode(&[], "filter build -k ringed -o f in"),
            mode(&[], "filter build -k quotient -o f in"),
            mode(&[], "filter build -k cascade -o d in"),
            mode(&[], "filter build -k parquet -o f in"),
        ],
        &[FILTER_BUILD],
    ),
    command(
        "filter build",
        &[
            mode(&[], "filter build -o f -"),
            mode(&[], "filter build -o f in"),
            mode(&[], "filter build -k quotient -o f in"),
            mode(&[], "filter build -k cascade -o d in"),
        ],
        &[INPUT, COMPARED, PARTS],
    ),
    command(
        "filter insert",
        &[
            mode(&["filter build -o f -"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k blocked -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k counting -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k stable -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k stable-light -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k ringed -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k quotient -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k quotient --no-remove -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k cascade -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k parquet -o f zstd"], "filter insert f in --as-is"),
        ],
        &[AS_IS, NO_SEED, &[row("--memory 16MiB", "", "rrrrrrrrrkr"), row("--wait", "", "rrrrrrrrrkr")]],
    ),
    command(
        "filter insert",
        &[
            mode(&["filter build -c 100 -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k quotient -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k quotient --no-remove -o f zstd"], "filter insert f in --as-is"),
            mode(&["filter build -c 100 -k cascade -o f zstd"], "filter insert f in --as-is"),
        ],
        &[INPUT, COMPARED, PARTS],
    ),
    command("filter insert", &[mode(SECRET, "filter insert f more")], &[&[row("--seed-file seed", "", "a")]]),
    command(
        "filter remove",
        &[
            mode(&["filter build -k counting -o f in more"], "filter remove f in --as-is"),
            mode(&["filter build -k quotient -o f in more"], "filter remove f in --as-is"),
        ],
        &[INPUT, COMPARED, PARTS, AS_IS, NO_SEED],
    ),
    command(
        "filter remove",
        &[mode(&["filter build -k counting --seed-file seed -o f in"], "filter remove f in")],
        &[&[row("--seed-file seed", "", "a")]],
    ),
    command(
        "filter compare",
        &[mode(TWO_FILTERS, "filter compare f g"), mode(TWO_SECRETS, "filter compare f g")],
        &[&[row("--json", "", "a"), row("--seed-file seed", "", "rk")]],
    ),
    command(
        "filter resize",
        &[
            mode(&["filter build -k quotient -o f in"], "filter resize f"),
            mode(&["filter build -k quotient --seed-file seed -o f in"], "filter resize f"),
        ],
        &[&[
            row("--capacity 1000", "--seed-file seed", "-a"),
            row("--capacity 1000", "", "a-"),
            row("--slots 1024", "", "a-"),
            row("--seed-file seed", "--slots 1024", "ra"),
        ]],
    ),
    command(
        "filter list",
        &[
            mode(&["filter build -k quotient -o f in"], "filter list f"),
            mode(&["filter build -k quotient --seed-file seed -o f in"], "filter list f"),
        ],
        &[&[row("--output O", "", "a-"), row("--seed-file seed", "", "ra")]],
    ),
    command(
        "dict build",
        &[mode(&[], "dict build --store d in")],
        &[
            INPUT,
            COMPARED,
            PARTS,
            AS_IS_OF_NEW,
            WAIT,
            MAKING,
            &[row("--store d", "", "-"), row("--values values", "", "a"), row("--escape", "", "a")],
        ],
    ),
    command(
        "dict build",
        &[
            mode(&[], "dict build --values values --store d table"),
            mode(&[], "dict build --values counts --store d table"),
            mode(&[], "dict build --values bytes --store d table"),
        ],
        &[
            INPUT,
            COMPARED,
            AS_IS_OF_NEW,
            WAIT,
            MAKING,
            &[
                row("--escape", "", "a"),
                row("--field 1", "", "r"),
                row("--csv", "", "r"),
                row("--tsv", "", "r"),
                row("--json", "", "r"),
            ],
        ],
    ),
    command(
        "dict build",
        &[mode(DICT_NUMBERS, "dict build --store d in")],
        &[
            AS_IS,
            WAIT,
            &[
                row("--values bytes", "", "r"),
                row("--layout louds", "", "r"),
                row("--filter-hash polynomials-2", "", "r"),
            ],
        ],
    ),
    command(
        "dict number",
        &[mode(&[], "dict number --store d in"), mode(DICT_NUMBERS, "dict number --store d in --as-is")],
        &[
            INPUT,
            COMPARED,
            PARTS,
            WAIT,
            OUTPUT,
            &[
                row("--as-is", "--trim", "ka"),
                row("--store d", "", "-"),
                row("--with-key", "", "a"),
                row("--escape", "", "a"),
                row("--layout louds", "", "ar"),
                row("--window 1", "", "ak"),
                row("--merge-after 1", "--window 1", "ak"),
                row("--merging all", "--window 1", "ak"),
                row("--filter-rate 0.9", "", "kk"),
                row("--filter-hash polynomials-2", "", "-r"),
                row("--filter-hash polynomials-2", "--layout louds", "a-"),
            ],
        ],
    ),
    command(
        "dict count",
        &[
            mode(&[], "dict count in"),
            mode(&[], "dict count --store d in"),
            mode(DICT_COUNTS, "dict count --store d in --as-is"),
        ],
        &[
            INPUT,
            COMPARED,
            PARTS,
            OUTPUT,
            &[
                row("--as-is", "--trim", "rka"),
                row("--wait", "", "rkk"),
                row("--store d", "", "a--"),
                row("--escape", "--null", "a"),
                row("--top 1", "", "aaa"),
                row("--quiet", "", "raa"),
                row("--layout louds", "", "kar"),
                row("--window 1", "", "kaa"),
                row("--merge-after 1", "--window 1", "kaa"),
                row("--merging all", "--window 1", "kaa"),
                row("--filter-rate 0.9", "", "kkk"),
                row("--filter-hash polynomials-2", "", "--r"),
                row("--filter-hash polynomials-2", "--layout louds", "ka-"),
            ],
        ],
    ),
    command(
        "dict get",
        &[mode(DICT_NUMBERS, "dict get --store d in --as-is"), mode(DICT_BYTES, "dict get --store d in --as-is")],
        &[INPUT, COMPARED, PARTS],
    ),
    command(
        "dict get",
        &[
            mode(DICT_NUMBERS, "dict get --store d in --as-is"),
            mode(DICT_VALUES, "dict get --store d in --as-is"),
            mode(DICT_COUNTS, "dict get --store d in --as-is"),
            mode(DICT_BYTES, "dict get --store d in --as-is"),
        ],
        &[
            AS_IS,
            OUTPUT,
            &[
                row("--store d", "", "-"),
                row("--values bytes", "", "rrrk"),
                row("--escape", "", "a"),
                row("--invert", "", "a"),
            ],
        ],
    ),
    command(
        "dict delete",
        &[mode(DICT_NUMBERS, "dict delete --store d in --as-is"), mode(DICT_BYTES, "dict delete --store d in --as-is")],
        &[INPUT, COMPARED, PARTS],
    ),
    command(
        "dict delete",
        &[
            mode(DICT_NUMBERS, "dict delete --store d in --as-is"),
            mode(DICT_VALUES, "dict delete --store d in --as-is"),
            mode(DICT_COUNTS, "dict delete --store d in --as-is"),
            mode(DICT_BYTES, "dict delete --store d in --as-is"),
        ],
        &[AS_IS, WAIT, &[row("--store d", "", "-"), row("--values bytes", "", "rrrk"), row("--escape", "", "a")]],
    ),
    command(
        "dict key",
        &[
            mode(DICT_NUMBERS, "dict key --store d 10"),
            mode(DICT_VALUES, "dict key --store d 7"),
            mode(DICT_COUNTS, "dict key --store d 7"),
        ],
        &[OUTPUT, &[row("--store d", "", "-"), row("--escape", "", "a"), row("--null", "", "a")]],
    ),
    command(
        "dict prefix",
        &[
            mode(DICT_NUMBERS, "dict prefix --store d k"),
            mode(DICT_VALUES, "dict prefix --store d k"),
            mode(DICT_COUNTS, "dict prefix --store d k"),
            mode(DICT_BYTES, "dict prefix --store d k"),
        ],
        WALK,
    ),
    command(
        "dict range",
        &[
            mode(DICT_NUMBERS, "dict range --store d"),
            mode(DICT_VALUES, "dict range --store d"),
            mode(DICT_COUNTS, "dict range --store d"),
            mode(DICT_BYTES, "dict range --store d"),
        ],
        WALK,
    ),
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
    command("snapshot", &[], &[]),
    command("verify", &[], &[]),
    command("completions", &[], &[]),
    command("man", &[mode(&[], "man")], &[&[row("--dir M", "", "a")]]),
];

const COMBINED: &[&[Row]] = &[&[row("--output u", "", "-"), row("--seed-file seed", "", "rrk")]];

const WALK: &[&[Row]] = &[
    OUTPUT,
    &[row("--store d", "", "-"), row("--values bytes", "", "rrrk"), row("--escape", "", "a"), row("--null", "", "a")],
];
