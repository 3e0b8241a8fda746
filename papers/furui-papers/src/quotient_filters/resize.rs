//! Measures how a quotient filter moves to a table with twice the slots, from the fingerprints alone.

use furui::KeyHash;
use furui::filter::{Filter, FilterMut, QuotientFilter};

use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Plot, Result, Table, Verdict, brief};

const ROUNDS: usize = 5;
const REMAINDER_BITS: u32 = 16;
const LOAD: f64 = 0.9;

const WAYS: [&str; 3] =
    ["in order, without searching", "in order, inserted one by one", "in random order, inserted one by one"];

pub(super) fn run(context: &Context) -> Result<Finding> {
    let sizes = context.size([14, 16, 18, 20, 22], [6, 7, 8, 9, 10]);
    let mut table = Table::new(
        "resize",
        format!(
            "ns of CPU a fingerprint to move a table of a load of {LOAD} into one of twice the slots, medians of \
             {ROUNDS} rounds"
        ),
        ["log2 of slots"].into_iter().chain(WAYS),
    );
    let bar = context.bar(sizes.len() as u64, "tables");
    for log in sizes {
        let slots = 1 << log;
        let mut filter = QuotientFilter::new(slots, REMAINDER_BITS)?;
        let keys: Vec<KeyHash> =
            (0..(slots as f64 * LOAD) as u64).map(|i| KeyHash::new(mix(i ^ context.seed << 48))).collect();
        filter.insert_all(&keys)?;
        let bits = log + REMAINDER_BITS;
        let larger = QuotientFilter::new(2 * slots, REMAINDER_BITS - 1)?;
        // A fingerprint is the high bits of a hash, and can be inserted as a hash again.
        let in_order: Vec<KeyHash> =
            filter.fingerprints().map(|fingerprint| KeyHash::new(fingerprint << (64 - bits))).collect();
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            let mut moved = None;
            times[0].push(ns_each(in_order.len(), || moved = filter.resized(larger.capacity(), 0.5).ok()));
            let moved = moved.ok_or("not resized")?;
            for (keys, times) in [&in_order, &keys].into_iter().zip(&mut times[1..]) {
                let mut one_by_one = larger.clone();
                times.push(ns_each(keys.len(), || {
                    keys.iter().for_each(|&key| _ = one_by_one.insert_hash(key).expect("half of the slots stay empty"));
                }));
                assert!(moved.fingerprints().eq(one_by_one.fingerprints()), "the same set either way");
            }
            let misses = (0..10_000).map(|i| KeyHash::new(mix(1 << 40 | i)));
            assert!(
                misses.into_iter().all(|key| filter.contains_hash(key) == moved.contains_hash(key)),
                "the same answers"
            );
        }
        let times = times.map(|mut times| Cell::from(median(&mut times)));
        table.push(std::iter::once(Cell::from(f64::from(log))).chain(times));
        bar.inc(1);
    }
    let plot = Plot::new(
        "resize",
        "Moving to a table of twice the slots",
        Axis::linear("log2 of slots"),
        Axis::log("ns a fingerprint"),
    );
    let plot = WAYS.iter().fold(plot, |plot, way| plot.line(*way, table.points("log2 of slots", way, &[])));
    let last = [("log2 of slots", Cell::from(f64::from(sizes[4])))];
    let [in_order, one_by_one, random] = WAYS.map(|way| table.number(way, &last));
    let verdict = Verdict::holds(
        in_order < one_by_one.min(random),
        format!(
            "At 2^{} slots a fingerprint takes {} ns: {} of the time of inserting it with a search, in order, and {} \
             of the time of inserting it in random order. Every new table had the fingerprints of the old one, and \
             gave equal answers.",
            sizes[4],
            brief(in_order),
            brief(in_order / one_by_one),
            brief(in_order / random),
        ),
    );
    Ok(Finding::new("Uniform 64-bit hashes.", verdict, [table], [plot]))
}
