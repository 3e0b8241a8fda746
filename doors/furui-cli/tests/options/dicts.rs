//! The options of `furui dict`, and their fates.

use super::commands::{Command, Mode};
use super::rows::*;
use super::{Row, row};

/// How the tries of a dictionary are made.
const MAKING: &[Row] = &[
    row("--layout louds", "", "a"),
    row("--window 1", "", "a"),
    row("--merge-after 1", "--window 1", "a"),
    row("--merging all", "--window 1", "a"),
    row("--filter-rate 0.9", "", "k"),
    row("--filter-hash polynomials-2", "--layout louds", "a"),
];

/// What is new remembers how its keys are made.
const AS_IS_OF_NEW: &[Row] = &[row("--as-is", "", "k")];

const WALK: &[&[Row]] = &[
    OUTPUT,
    &[row("--store d", "", "-"), row("--values bytes", "", "rrrk"), row("--escape", "", "a"), row("--null", "", "a")],
];

/// The mode of a line for each purpose of a dictionary.
const fn of_all(line: &'static str) -> [Mode; 4] {
    [mode(DICT_NUMBERS, line), mode(DICT_VALUES, line), mode(DICT_COUNTS, line), mode(DICT_BYTES, line)]
}

/// The commands of dictionaries.
pub const DICTS: &[Command] = &[
    command(
        "dict build",
        &[mode(&[], "dict build --store d in")],
        &[
            INPUT,
            COMPARED,
            RECORDS,
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
            RECORDS,
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
            RECORDS,
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
        &[INPUT, COMPARED, RECORDS, PARTS],
    ),
    command(
        "dict get",
        &of_all("dict get --store d in --as-is"),
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
        &[INPUT, COMPARED, RECORDS, PARTS],
    ),
    command(
        "dict delete",
        &of_all("dict delete --store d in --as-is"),
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
    command("dict prefix", &of_all("dict prefix --store d k"), WALK),
    command("dict range", &of_all("dict range --store d"), WALK),
];
