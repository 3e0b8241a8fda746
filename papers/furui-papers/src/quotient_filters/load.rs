//! The time of an operation as the table fills.

use std::hint::black_box;

use furui::KeyHash;
use furui::filter::{Bloom, Filter, FilterMut, QuotientFilter};

use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Plot, Result, Source, Table, Verdict, brief};

const ROUNDS: usize = 5;
const REMAINDER_BITS: u32 = 8;
/// The loads that are measured, in twentieths of the slots.
const LOADS: std::ops::RangeInclusive<u64> = 1..=19;

const QUOTIENT: &str = "quotient filter";
const BLOOM: &str = "Bloom filter of as many bits";
const QFILTER: &str = "the crate qfilter";

/// A filter whose operations are measured.
trait Table64 {
    const NAME: &str;
    fn insert(&mut self, hash: u64);
    fn contains(&self, hash: u64) -> bool;
    /// Returns whether the key could be removed, or `None` if the filter cannot remove keys.
    fn remove(&mut self, hash: u64) -> Option<bool>;
}

impl Table64 for QuotientFilter {
    const NAME: &str = QUOTIENT;

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
    const NAME: &str = BLOOM;

    fn insert(&mut self, hash: u64) {
        FilterMut::insert_hash(self, KeyHash::new(hash)).expect("a Bloom filter is never full");
    }

    fn contains(&self, hash: u64) -> bool {
        Filter::contains_hash(self, KeyHash::new(hash))
    }

    fn remove(&mut self, _: u64) -> Option<bool> {
        None
    }
}

#[cfg(feature = "rivals")]
impl Table64 for qfilter::Filter {
    const NAME: &str = QFILTER;

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

/// The keys of one round.
struct Keys<'a> {
    fresh: &'a [u64],
    hits: &'a [u64],
    misses: &'a [u64],
    /// The keys that are removed, and inserted again while the clock is stopped.
    gone: &'a [u64],
}

/// The time of each operation in each round, in nanoseconds.
#[derive(Default)]
struct Times {
    insert: Vec<f64>,
    hit: Vec<f64>,
    miss: Vec<f64>,
    remove: Vec<f64>,
    false_positives: usize,
}

impl Times {
    fn measure<T: Table64>(&mut self, table: &mut T, keys: &Keys<'_>) {
        let count = |table: &T, keys: &[u64]| keys.iter().filter(|&&key| table.contains(key)).count();
        self.insert.push(ns_each(keys.fresh.len(), || keys.fresh.iter().for_each(|&key| table.insert(key))));
        self.hit.push(ns_each(keys.hits.len(), || _ = black_box(count(table, keys.hits))));
        self.miss.push(ns_each(keys.misses.len(), || self.false_positives += count(table, keys.misses)));
        let mut removed = None;
        let ns = ns_each(keys.gone.len(), || keys.gone.iter().for_each(|&key| removed = table.remove(key)));
        if removed.is_some() {
            self.remove.push(ns);
            keys.gone.iter().for_each(|&key| table.insert(key));
        }
    }

    fn cells(mut self, load: f64, name: &str, misses: usize) -> Vec<Cell> {
        let remove = if self.remove.is_empty() { "not possible".into() } else { median(&mut self.remove).into() };
        let rate = self.false_positives as f64 / misses as f64;
        let [insert, hit, miss] =
            [&mut self.insert, &mut self.hit, &mut self.miss].map(|times| Cell::from(median(times)));
        vec![load.into(), name.into(), insert, hit, miss, remove, rate.into()]
    }
}

/// The columns with the times of the operations.
const OPERATIONS: [&str; 4] = ["insert ns", "hit ns", "miss ns", "delete ns"];

pub(super) fn run(context: &Context) -> Result<Finding> {
    let slots: u64 = context.size(1 << 24, 1 << 12);
    let lookups: usize = context.size(200_000, 200);
    let hash = |i: u64| mix(i ^ context.seed << 48);
    let mut quotient = QuotientFilter::new(slots, REMAINDER_BITS)?.counting();
    let most = slots as f64 * *LOADS.end() as f64 / 20.0;
    let probes = (quotient.bits() as f64 / most * std::f64::consts::LN_2).round() as u32;
    let mut bloom = Bloom::from_parts(quotient.bits(), probes)?;
    #[cfg(feature = "rivals")]
    let mut rival = qfilter::Filter::with_fingerprint_size(slots * 19 / 20, (slots.ilog2() + REMAINDER_BITS) as u8)
        .map_err(|error| format!("{error:?}"))?;
    let [table] = context.tables(Source::QuotientFilters, ["load"], || {
    let mut table = Table::new(
        "load",
        format!(
            "{slots} slots, remainders of {REMAINDER_BITS} bits; ns of CPU, one key at a time, medians of {ROUNDS} rounds"
        ),
        ["load", "filter"].into_iter().chain(OPERATIONS).chain(["false positives"]),
    );
    let bar = context.bar(LOADS.count() as u64, "loads");
    let mut inserted = 0;
    for load in LOADS {
        let target = slots * load / 20;
        let fresh: Vec<u64> = (target - slots / 100..target).map(hash).collect();
        for key in (inserted..target - slots / 100).map(hash) {
            Table64::insert(&mut quotient, key);
            Table64::insert(&mut bloom, key);
            #[cfg(feature = "rivals")]
            Table64::insert(&mut rival, key);
        }
        let (mut ours, mut of_bloom) = (Times::default(), Times::default());
        #[cfg(feature = "rivals")]
        let mut theirs = Times::default();
        for (round, fresh) in fresh.chunks(fresh.len().div_ceil(ROUNDS)).enumerate() {
            let known = target - slots / 100;
            let hits: Vec<u64> = (0..lookups).map(|i| hash(mix((round * lookups + i) as u64) % known)).collect();
            let misses: Vec<u64> = (0..lookups).map(|i| hash(1 << 40 | (round * lookups + i) as u64)).collect();
            let gone = &hits[..fresh.len().min(lookups)];
            let keys = Keys { fresh, hits: &hits, misses: &misses, gone };
            ours.measure(&mut quotient, &keys);
            of_bloom.measure(&mut bloom, &keys);
            #[cfg(feature = "rivals")]
            theirs.measure(&mut rival, &keys);
        }
        inserted = target;
        let load = load as f64 / 20.0;
        table.push(ours.cells(load, QuotientFilter::NAME, ROUNDS * lookups));
        table.push(of_bloom.cells(load, Bloom::NAME, ROUNDS * lookups));
        #[cfg(feature = "rivals")]
        table.push(theirs.cells(load, qfilter::Filter::NAME, ROUNDS * lookups));
        bar.inc(1);
    }
    Ok([table])
    })?;
    let plots: Vec<_> = OPERATIONS.iter().map(|operation| plot(&table, operation)).collect();
    let verdict = verdict(&table);
    let data = format!(
        "Uniform 64-bit hashes; both filters have {:.1} MiB, the Bloom filter {probes} probes a key.",
        quotient.bits() as f64 / f64::from(8 << 20)
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
