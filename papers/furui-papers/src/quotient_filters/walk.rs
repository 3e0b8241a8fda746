//! Compares, for the quotient filter, the walk of the encyclopedia's Fig. 6 with rank and select, and tombstones with
//! shifting.

use std::hint::black_box;

use furui::KeyHash;
use furui::filter::{Filter, FilterMut, QuotientFilter};

use super::literal::Literal;
use crate::clock::{median, medians, ns_each};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};

const ROUNDS: usize = 5;
const REMAINDER_BITS: u32 = 8;
/// The loads (shares of used slots) that are measured, in percent of the slots.
const LOADS: [u64; 6] = [50, 60, 70, 80, 90, 95];
/// The share of the held keys that are deleted and replaced by new ones, in percent.
const REPLACED: u64 = 50;

const WALK: &str = "walk of Fig. 6";
const SELECT: &str = "rank and select";
const SHIFTING: &str = "shifting";
const TOMBSTONES: &str = "tombstones";

pub(super) fn walk(context: &Context) -> Result<Finding> {
    let slots: u64 = context.size(1 << 22, 1 << 12);
    let lookups: u64 = context.size(200_000, 200);
    let hash = |i: u64| mix(i ^ context.seed << 48);
    let mut literal = Literal::new(slots as usize);
    let mut select = QuotientFilter::new(slots, REMAINDER_BITS)?.counting();
    let mut table = Table::new(
        "walk",
        format!("{slots} slots, remainders of {REMAINDER_BITS} bits; ns of CPU a look-up, medians of {ROUNDS} rounds"),
        ["load %", "search", "hit ns", "miss ns"],
    );
    let mut inserted = 0;
    for load in LOADS {
        let target = slots * load / 100;
        for key in (inserted..target).map(hash) {
            literal.insert(key);
            select.insert_hash(KeyHash::new(key))?;
        }
        inserted = target;
        let hits: Vec<u64> = (0..lookups).map(|i| hash(mix(i) % inserted)).collect();
        let misses: Vec<u64> = (0..lookups).map(|i| hash(1 << 40 | i)).collect();
        let answers = [&hits, &misses].map(|keys| {
            medians(ROUNDS, || {
                let mut found = [0; 2];
                let walk = ns_each(keys.len(), || {
                    found[0] = black_box(keys.iter().filter(|&&key| literal.contains(key)).count());
                });
                let select = ns_each(keys.len(), || {
                    let contains = |key| Filter::contains_hash(&select, KeyHash::new(key));
                    found[1] = black_box(keys.iter().filter(|&&key| contains(key)).count());
                });
                assert_eq!(found[0], found[1], "both tables hold the same fingerprints");
                [walk, select]
            })
        });
        for (i, search) in [WALK, SELECT].into_iter().enumerate() {
            table.push(vec![Cell::from(load as f64), search.into(), answers[0][i].into(), answers[1][i].into()]);
        }
    }
    let of = |search: &str, operation: &str, load: f64| {
        table.number(operation, &[("search", search.into()), ("load %", load.into())])
    };
    let text = |operation: &str| {
        LOADS.map(|load| brief(of(WALK, operation, load as f64) / of(SELECT, operation, load as f64))).join(", ")
    };
    let verdict = Verdict::new(
        Grade::Measured,
        format!(
            "At loads of 50, 60, 70, 80, 90 and 95 % the walk takes {} of the time of rank and select for a hit, and {} for a miss.",
            text("hit ns"),
            text("miss ns")
        ),
    );
    let plot = |operation: &str| {
        let name = operation.trim_end_matches(" ns");
        let plot = Plot::new(
            &format!("walk-{name}"),
            format!("{name}, by load"),
            Axis::linear("load, %"),
            Axis::log("ns of CPU"),
        );
        plot.lines(&table, ["load %", operation], [WALK, SELECT], |search| [("search", search.into())])
    };
    let plots = vec![plot("hit ns"), plot("miss ns")];
    Ok(Finding::new("Uniform 64-bit hashes.", verdict, [table], plots))
}

pub(super) fn tombstones(context: &Context) -> Result<Finding> {
    // The table is small, because the time of a walk grows with it: tombstones join clusters until one is as long as
    // the table.
    let slots: u64 = context.size(1 << 14, 1 << 12);
    let lookups: u64 = context.size(20_000, 200);
    let hash = |i: u64| mix(i ^ context.seed << 48);
    let mut table = Table::new(
        "tombstones",
        format!(
            "{slots} slots, remainders of {REMAINDER_BITS} bits; {REPLACED} % of the keys were deleted, each followed by a new one; ns \
             of CPU"
        ),
        [
            "load %",
            "deletion",
            "delete ns",
            "insert ns",
            "hit ns after",
            "miss ns after",
            "slots used %",
            "insertions refused %",
        ],
    );
    for load in LOADS {
        let held = slots * load / 100;
        for (deletion, remove) in [
            (SHIFTING, Literal::remove_by_shifting as fn(&mut Literal, u64) -> bool),
            (TOMBSTONES, Literal::remove_by_tombstone),
        ] {
            let figures = replace(slots, held, remove, lookups, hash);
            table.push([Cell::from(load as f64), deletion.into()].into_iter().chain(figures.map(Cell::from)));
        }
    }
    let of = |deletion: &str, column: &str, load: u64| {
        table.number(column, &[("deletion", deletion.into()), ("load %", (load as f64).into())])
    };
    let ratio =
        |column: &str| LOADS.map(|load| brief(of(TOMBSTONES, column, load) / of(SHIFTING, column, load))).join(", ");
    let used = LOADS.map(|load| brief(of(TOMBSTONES, "slots used %", load))).join(", ");
    let verdict = Verdict::new(
        Grade::Measured,
        format!(
            "At loads of 50, 60, 70, 80, 90 and 95 %, tombstones take {} of the time of shifting for a deletion, {} for an insertion among \
             them, {} for a hit and {} for a miss afterwards; {used} % of the slots are then in use.",
            ratio("delete ns"),
            ratio("insert ns"),
            ratio("hit ns after"),
            ratio("miss ns after"),
        ),
    );
    Ok(Finding::new("Uniform 64-bit hashes.", verdict, [table], []))
}

/// Deletes keys of a table and inserts others. Returns the figures of a row of the table of results: the nanoseconds of
/// a deletion, an insertion, a hit and a miss, and the percentages of slots in use and of insertions that were refused.
fn replace(
    slots: u64,
    held: u64,
    remove: fn(&mut Literal, u64) -> bool,
    lookups: u64,
    hash: impl Fn(u64) -> u64 + Copy,
) -> [f64; 6] {
    let replaced = held * REPLACED / 100;
    let mut literal = Literal::new(slots as usize);
    (0..held).for_each(|i| assert!(literal.insert(hash(i))));
    // A step replaces a hundredth of the keys: its deletions are timed together, then its insertions.
    let step = (replaced / 100).max(1);
    let (mut deletions, mut insertions, mut refused) = (vec![], vec![], 0);
    for first in (0..replaced).step_by(step as usize) {
        let range = first..(first + step).min(replaced);
        let (gone, new): (Vec<u64>, Vec<u64>) =
            (range.clone().map(hash).collect(), range.map(|i| hash(held + i)).collect());
        deletions.push(ns_each(gone.len(), || gone.iter().for_each(|&key| assert!(remove(&mut literal, key)))));
        insertions.push(ns_each(new.len(), || {
            refused += new.iter().filter(|&&key| !literal.insert(key)).count();
        }));
    }
    let hits: Vec<u64> = (0..lookups).map(|i| hash(replaced + mix(i) % (held - replaced))).collect();
    let misses: Vec<u64> = (0..lookups).map(|i| hash(1 << 40 | i)).collect();
    let count = |keys: &[u64]| keys.iter().filter(|&&key| literal.contains(key)).count();
    let [hit, miss] =
        medians(ROUNDS, || [&hits, &misses].map(|keys| ns_each(keys.len(), || _ = black_box(count(keys)))));
    [
        median(&mut deletions),
        median(&mut insertions),
        hit,
        miss,
        100.0 * literal.load(),
        100.0 * refused as f64 / replaced as f64,
    ]
}
