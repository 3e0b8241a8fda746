//! The options of `furui filter`, and their fates.

use super::commands::{Command, Mode};
use super::rows::*;
use super::{Row, row};

const FILTER_BUILD: &[Row] = &[
    row("--output f", "", "-"),
    row("--kind bloom", "", "-"),
    row("--store s", "", "rrrrrrrrrrrr-"),
    row("--fpr 0.1", "--capacity 9000", "aaaaaaaaaaa--"),
    row("--fpr 0.1", "", "-----------aa"),
    row("--capacity 9000", "", "aaaaaaaaaaarr"),
    row("--bits 4096", "--probes 3", "aaaarrrrrrrrr"),
    row("--bits 4096", "--probes 3 --decrements 2", "----aa-------"),
    row("--probes 3", "--bits 4096", "aaaa---------"),
    row("--probes 3", "--bits 4096 --decrements 2", "----aa-------"),
    row("--decrements 2", "--bits 4096 --probes 3", "rrrraa-------"),
    row("--no-remove", "", "rrrrrrrarrrrr"),
    row("--doublings 3", "", "rrrrrrrarrrrr"),
    row("--memory 16MiB", "", "rrrrrrrrkrrrr"),
    row("--hash siphash", "", "aaaaaaaaaraar"),
    row("--hash-seed 7", "", "aaaaaaaaaraar"),
    row("--seed-file seed", "", "aaaaaaaarraar"),
    row("--delta 7", "", "rrrrrrarrrrrr"),
    row("--gamma whole", "", "rrrrrrarrrrrr"),
    row("--window 1h", "", "rrrrrrrrrrarr"),
    row("--as-is", "", "r"),
];

/// The mode of an insertion into the filter that a command has made.
const fn into(made: &'static [&'static str]) -> Mode {
    mode(made, "filter insert f in --as-is")
}

/// The commands of filters.
pub const FILTERS: &[Command] = &[
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
            mode(&[], "filter build -k window -o f in"),
            mode(&[], "filter build -k fuse -o f in"),
            mode(&["seen --store s --hash-seed 0 in"], "filter build -k fuse --store s -o f"),
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
        &[INPUT, COMPARED, RECORDS, PARTS],
    ),
    command(
        "filter insert",
        &[
            into(&["filter build -o f -"]),
            into(&["filter build -c 100 -o f zstd"]),
            into(&["filter build -c 100 -k blocked -o f zstd"]),
            into(&["filter build -c 100 -k counting -o f zstd"]),
            into(&["filter build -c 100 -k stable -o f zstd"]),
            into(&["filter build -c 100 -k stable-light -o f zstd"]),
            into(&["filter build -c 100 -k ringed -o f zstd"]),
            into(&["filter build -c 100 -k quotient -o f zstd"]),
            into(&["filter build -c 100 -k quotient --no-remove -o f zstd"]),
            into(&["filter build -c 100 -k cascade -o f zstd"]),
            into(&["filter build -c 100 -k parquet -o f zstd"]),
            into(&["filter build -c 100 -k window -o f zstd"]),
        ],
        &[AS_IS, NO_SEED, &[row("--memory 16MiB", "", "rrrrrrrrrkrr"), row("--wait", "", "rrrrrrrrrkrr")]],
    ),
    command(
        "filter insert",
        &[
            into(&["filter build -c 100 -o f zstd"]),
            into(&["filter build -c 100 -k quotient -o f zstd"]),
            into(&["filter build -c 100 -k quotient --no-remove -o f zstd"]),
            into(&["filter build -c 100 -k cascade -o f zstd"]),
        ],
        &[INPUT, COMPARED, RECORDS, PARTS],
    ),
    command("filter insert", &[mode(SECRET, "filter insert f more")], &[&[row("--seed-file seed", "", "a")]]),
    command(
        "filter remove",
        &[
            mode(&["filter build -k counting -o f in more"], "filter remove f in --as-is"),
            mode(&["filter build -k quotient -o f in more"], "filter remove f in --as-is"),
        ],
        &[INPUT, COMPARED, RECORDS, PARTS, AS_IS, NO_SEED],
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
];
