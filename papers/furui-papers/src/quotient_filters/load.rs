//! Measures the time of operations on a quotient filter as its table fills.

use std::hint::black_box;

use furui::KeyHash;
use furui::filter::{Bloom, Filter, FilterMut, QuotientFilter};

use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Plot, Result, Source, Table, Verdict, brief};

const ROUNDS: usize = 5;
const REMAINDER_BITS: u32 = 8;
/// The loads (shares of used slots) that are measured, in twentieths of the slots.
const LOADS: std::ops::RangeInclusive<u64> = 1..=19;

const QUOTIENT: &str = "quotient filter";
const BLOOM: &str = "Bloom filter of as many bits";
const QFILTER: &str = "the crate qfilter";

/// A filter of 64-bit hashes whose operations are measured.
trait Table64 {
    fn insert(&mut self, hash: u64);
    fn contains(&self, hash: u64) -> bool;
    /// Removes a key. Returns true if the filter had it, and `None` if filters of this type cannot remove keys.
    fn remove(&mut self, _hash: u64) -> Option<bool> {
        None
    }
}

impl Table64 for QuotientFilter {
    fn insert(&mut self, hash: u64) {
        FilterMut::insert_hash(self, KeyHash::new(hash)).expect("loads stay below the capacity");
    }

    fn contains(&self, hash: u64) -> bool {
        Filter::contains_hash(self, KeyHash::new(hash))
    }

    fn remove(&mut self, hash: u64) -> Option<bool> {
        Some(self.remove_hash(KeyHash::new(hash)).expect("the filter keeps copies"))
    }
}

impl Table64 for Bloom {
    fn insert(&mut self, hash: u64) {
        FilterMut::insert_hash(self, KeyHash::new(hash)).expect("a Bloom filter is never full");
    }

    fn contains(&self, hash: u64) -> bool {
        Filter::contains_hash(self, KeyHash::new(hash))
    }
}

#[cfg(feature = "rivals")]
impl Table64 for qfilter::Filter {
    fn insert(&mut self, hash: u64) {
        self.insert_fingerprint(false, hash).expect("loads stay below the capacity");
    }

    fn contains(&self, hash: u64) -> bool {
        self.contains_fingerprint(hash)
    }

    fn remove(&mut self, hash: u64) -> Option<bool> {
        Some(self.remove_fingerprint(hash))
    }
}

/// The keys with which the operations of one round are measured.
struct Keys<'a> {
    fresh: &'a [u64],
    hits: &'a [u64],
    misses: &'a [u64],
    /// The keys that are removed, and inserted again while the clock is stopped.
    gone: &'a [u64],
}

/// The times of insertions, hits, misses and removals in each round, in nanoseconds.
#[derive(Default)]
struct Times {
    operations: [Vec<f64>; 4],
    false_positives: usize,
}

/// A filter of any type that is filled and measured.
trait Contestant {
    fn fill(&mut self, keys: &[u64]);
    fn measure(&mut self, keys: &Keys<'_>, times: &mut Times);
}

impl<T: Table64> Contestant for T {
    fn fill(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| self.insert(key));
    }

    fn measure(&mut self, keys: &Keys<'_>, times: &mut Times) {
        let count = |table: &T, keys: &[u64]| keys.iter().filter(|&&key| table.contains(key)).count();
        let [insert, hit, miss, remove] = &mut times.operations;
        insert.push(ns_each(keys.fresh.len(), || self.fill(keys.fresh)));
        hit.push(ns_each(keys.hits.len(), || _ = black_box(count(self, keys.hits))));
        miss.push(ns_each(keys.misses.len(), || times.false_positives += count(self, keys.misses)));
        let mut removed = None;
        let ns = ns_each(keys.gone.len(), || keys.gone.iter().for_each(|&key| removed = self.remove(key)));
        if removed.is_some() {
            remove.push(ns);
            self.fill(keys.gone);
        }
    }
}

/// The names of the columns with the times of the operations.
const OPERATIONS: [&str; 4] = ["insert ns", "hit ns", "miss ns", "delete ns"];

pub(super) fn run(context: &Context) -> Result<Finding> {
    let slots: u64 = context.size(1 << 24, 1 << 12);
    let lookups: usize = context.size(200_000, 200);
    let hash = |i: u64| mix(i ^ context.seed << 48);
    let quotient = QuotientFilter::new(slots, REMAINDER_BITS)?.counting();
    let bits = quotient.bits();
    let most = slots as f64 * *LOADS.end() as f64 / 20.0;
    let probes = (bits as f64 / most * std::f64::consts::LN_2).round() as u32;
    let filters: [(&str, Box<dyn Contestant>); 2] =
        [(QUOTIENT, Box::new(quotient)), (BLOOM, Box::new(Bloom::from_parts(bits, probes)?))];
    let mut filters = Vec::from(filters);
    #[cfg(feature = "rivals")]
    {
        let bits = (slots.ilog2() + REMAINDER_BITS) as u8;
        let rival = qfilter::Filter::with_fingerprint_size(slots * 19 / 20, bits);
        filters.push((QFILTER, Box::new(rival.map_err(|error| format!("{error:?}"))?)));
    }
    let title = format!(
        "{slots} slots, remainders of {REMAINDER_BITS} bits; ns of CPU, one key at a time, medians of {ROUNDS} rounds"
    );
    let [table] = context.tables(Source::QuotientFilters, ["load"], || {
        let columns = ["load", "filter"].into_iter().chain(OPERATIONS).chain(["false positives"]);
        let mut table = Table::new("load", title, columns);
        let bar = context.bar(LOADS.count() as u64, "loads");
        let mut inserted = 0;
        for load in LOADS {
            let target = slots * load / 20;
            let known = target - slots / 100;
            let fresh: Vec<u64> = (known..target).map(hash).collect();
            let before: Vec<u64> = (inserted..known).map(hash).collect();
            filters.iter_mut().for_each(|(_, filter)| filter.fill(&before));
            let mut times: Vec<Times> = filters.iter().map(|_| Times::default()).collect();
            for (round, fresh) in fresh.chunks(fresh.len().div_ceil(ROUNDS)).enumerate() {
                let hits: Vec<u64> = (0..lookups).map(|i| hash(mix((round * lookups + i) as u64) % known)).collect();
                let misses: Vec<u64> = (0..lookups).map(|i| hash(1 << 40 | (round * lookups + i) as u64)).collect();
                let gone = &hits[..fresh.len().min(lookups)];
                let keys = Keys { fresh, hits: &hits, misses: &misses, gone };
                filters.iter_mut().zip(&mut times).for_each(|((_, filter), times)| filter.measure(&keys, times));
            }
            inserted = target;
            for ((name, _), Times { operations, false_positives }) in filters.iter().zip(times) {
                let head = [Cell::from(load as f64 / 20.0), (*name).into()];
                let cell = |mut times: Vec<f64>| {
                    if times.is_empty() { "not possible".into() } else { median(&mut times).into() }
                };
                let rate = false_positives as f64 / (ROUNDS * lookups) as f64;
                table.push(head.into_iter().chain(operations.map(cell)).chain([rate.into()]));
            }
            bar.inc(1);
        }
        Ok([table])
    })?;
    let plots: Vec<_> = OPERATIONS.iter().map(|operation| plot(&table, operation)).collect();
    let verdict = verdict(&table);
    let data = format!(
        "Uniform 64-bit hashes; both filters have {:.1} MiB, the Bloom filter {probes} probes a key.",
        bits as f64 / f64::from(8 << 20)
    );
    let mut notes = vec![];
    if table.only(&[("filter", QFILTER.into())]).next().is_none() {
        notes.push("The crate qfilter needs the feature `rivals`, and is left out.".into());
    }
    Ok(Finding::new(data, verdict, [table], plots).with_notes(notes))
}

fn plot(table: &Table, operation: &str) -> Plot {
    let name = operation.trim_end_matches(" ns");
    let plot = Plot::new(name, format!("{name}, by load"), Axis::linear("load"), Axis::log("ns of CPU"));
    plot.lines(table, ["load", operation], [QUOTIENT, BLOOM, QFILTER], |name| [("filter", name.into())])
}

fn verdict(table: &Table) -> Verdict {
    let of = |filter: &str, operation: &str, load: f64| {
        table.number(operation, &[("filter", filter.into()), ("load", load.into())])
    };
    let wins = |column: &str| {
        let loads = LOADS.map(|load| load as f64 / 20.0);
        loads.filter(|&load| of(QUOTIENT, column, load) < of(BLOOM, column, load)).count()
    };
    let wins = ["insert ns", "hit ns", "miss ns", "false positives"].map(wins);
    let text = |operation: &str| {
        let [low, half, high, most] = [0.05, 0.5, 0.9, 0.95].map(|load| brief(of(QUOTIENT, operation, load)));
        let [half_bloom, most_bloom] = [0.5, 0.95].map(|load| brief(of(BLOOM, operation, load)));
        format!("{low}, {half}, {high} and {most} ns (Bloom: {half_bloom} and {most_bloom} at loads of 50 and 95 %)")
    };
    let faster = |what: &str, operation: &str, wins: usize| {
        Verdict::holds(
            wins == LOADS.count(),
            format!(
                "{what}: the quotient filter is faster than a Bloom filter of as many bits at {wins} of {} loads. At loads of 5, 50, 90 \
                 and 95 % it takes {}.",
                LOADS.count(),
                text(operation)
            ),
        )
    };
    Verdict::all([
        faster("Insertion", "insert ns", wins[0]),
        faster("Hit", "hit ns", wins[1]),
        faster("Miss", "miss ns", wins[2]),
        Verdict::holds(
            true,
            format!(
                "Elements can be deleted: a deletion takes {} ns at 50 % and {} at 95 %. A Bloom filter has none.",
                brief(of(QUOTIENT, "delete ns", 0.5)),
                brief(of(QUOTIENT, "delete ns", 0.95)),
            ),
        ),
    ])
    .and(format!(
        "The quotient filter has fewer false positives at {} of {} loads: at 50 % {} for {}. So at equal memory it is the Bloom filter that \
         should be taken, unless keys are deleted, listed or merged.",
        wins[3],
        LOADS.count(),
        brief(of(QUOTIENT, "false positives", 0.5)),
        brief(of(BLOOM, "false positives", 0.5)),
    ))
}
