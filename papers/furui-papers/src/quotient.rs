//! The quotient filter in memory: the time of an insertion, hit, miss and removal at several loads, and of the
//! sequential passes, each compared with the crate qfilter if it is built in (feature `rivals`).
//!
//! Both filters get equal sequences of uniform 64-bit hashes, one at a time, in random order, without batches or
//! prefetching.

use std::hint::black_box;

use furui::filter::{Filter, FilterMut, QuotientFilter};
use furui::{KeyHash, Result};

use crate::clock::{self, median};
use crate::keys::mix as hash;

/// Measures `work`, which processes `items` items. Returns nanoseconds an item.
fn ns_each<R>(items: usize, work: impl FnOnce() -> R) -> f64 {
    clock::ns_each(items, || {
        black_box(work());
    })
}

const ROUNDS: usize = 9;
const LOADS: [f64; 4] = [0.50, 0.75, 0.90, 0.95];

/// The operations of furui's filter and of the rival's filter that are measured.
trait Table {
    fn insert(&mut self, hash: u64);
    fn contains(&self, hash: u64) -> bool;
    fn remove(&mut self, hash: u64) -> bool;
    fn iterate(&self) -> u64;
    /// Fills this empty table from ascending hashes.
    fn build(&mut self, sorted: &[u64]);
    /// Inserts the hashes of `other`.
    fn merge(&mut self, other: &Self);
}

impl Table for QuotientFilter {
    fn insert(&mut self, hash: u64) {
        FilterMut::insert_hash(self, KeyHash::new(hash)).expect("loads stay below the capacity");
    }

    fn contains(&self, hash: u64) -> bool {
        Filter::contains_hash(self, KeyHash::new(hash))
    }

    fn remove(&mut self, hash: u64) -> bool {
        self.remove_hash(KeyHash::new(hash)).expect("the filter keeps copies")
    }

    fn iterate(&self) -> u64 {
        self.fingerprints().fold(0, u64::wrapping_add)
    }

    fn build(&mut self, sorted: &[u64]) {
        self.insert_sorted(sorted.iter().map(|&hash| KeyHash::new(hash))).expect("loads stay below the capacity");
    }

    fn merge(&mut self, other: &Self) {
        *self = Self::merge(&[self, other], self.capacity()).expect("both have the same fingerprints, and room");
    }
}

#[cfg(feature = "rivals")]
impl Table for qfilter::Filter {
    fn insert(&mut self, hash: u64) {
        self.insert_fingerprint(false, hash).expect("loads stay below the capacity");
    }

    fn contains(&self, hash: u64) -> bool {
        self.contains_fingerprint(hash)
    }

    fn remove(&mut self, hash: u64) -> bool {
        self.remove_fingerprint(hash)
    }

    fn iterate(&self) -> u64 {
        self.fingerprints().fold(0, u64::wrapping_add)
    }

    fn build(&mut self, sorted: &[u64]) {
        // The rival's fingerprints are the low bits of a hash. The hashes are in the order of their high bits, so the
        // high bits are shifted down.
        let shift = 64 - self.fingerprint_size();
        let mut builder = qfilter::Builder::new(self.clone());
        for &hash in sorted {
            builder.insert_fingerprint(false, hash >> shift).expect("loads stay below the capacity");
        }
        *self = builder.into_filter();
    }

    fn merge(&mut self, other: &Self) {
        self.merge(false, other).expect("both have the same fingerprints, and room");
    }
}

/// Runs `ours` and `theirs` in turns, each round on its own part of the items, and returns the medians of the two.
fn duel(mut ours: impl FnMut(usize) -> f64, mut theirs: impl FnMut(usize) -> f64) -> (f64, f64) {
    let (mut a, mut b) = (vec![], vec![]);
    for round in 0..ROUNDS {
        a.push(ours(round));
        b.push(theirs(round));
    }
    (median(&mut a), median(&mut b))
}

fn print(slots: u64, remainder_bits: u32, load: &str, operation: &str, (ours, theirs): (f64, f64)) {
    let log = slots.ilog2();
    println!(
        "| 2^{log} | {remainder_bits:2} | {load} | {operation:12} | {ours:6.1} | {theirs:6.1} | {:.2} |",
        ours / theirs
    );
}

/// Measures one table size: the four loads in turn, and then the sequential passes.
fn measure<T: Table + Clone>(slots: u64, remainder_bits: u32, new: impl Fn() -> T) -> Result<()> {
    let (mut ours, mut theirs) = (QuotientFilter::new(slots, remainder_bits)?.counting(), new());
    let mut inserted = 0;
    for load in LOADS {
        let target = (slots as f64 * load) as u64;
        let last = slots / 100;
        for i in inserted..target - last {
            Table::insert(&mut ours, hash(i));
            theirs.insert(hash(i));
        }
        let fresh: Vec<u64> = (target - last..target).map(hash).collect();
        let share = fresh.len() / ROUNDS;
        let part = |round: usize| &fresh[round * share..(round + 1) * share];
        let insert = duel(
            |round| ns_each(share, || part(round).iter().for_each(|&hash| Table::insert(&mut ours, hash))),
            |round| ns_each(share, || part(round).iter().for_each(|&hash| theirs.insert(hash))),
        );
        for &hash in &fresh[ROUNDS * share..] {
            Table::insert(&mut ours, hash);
            theirs.insert(hash);
        }
        inserted = target;

        let n = 400_000;
        let hits: Vec<u64> = (0..n).map(|i| hash(hash(i) % inserted)).collect();
        let misses: Vec<u64> = (0..n).map(|i| hash(1 << 40 | i)).collect();
        let lookup = |hashes: &[u64]| {
            duel(
                |_| ns_each(hashes.len(), || black_box(count(&ours, hashes))),
                |_| ns_each(hashes.len(), || black_box(count(&theirs, hashes))),
            )
        };
        let (hit, miss) = (lookup(&hits), lookup(&misses));

        let gone = &hits[..(4 * last as usize).min(hits.len())];
        let share = gone.len() / ROUNDS;
        let part = |round: usize| &gone[round * share..(round + 1) * share];
        let remove = duel(
            |round| ns_each(share, || part(round).iter().filter(|&&hash| Table::remove(&mut ours, hash)).count()),
            |round| ns_each(share, || part(round).iter().filter(|&&hash| theirs.remove(hash)).count()),
        );
        for &hash in gone {
            Table::insert(&mut ours, hash);
            theirs.insert(hash);
        }

        let load = format!("{load:.2}");
        for (operation, result) in [("insert", insert), ("hit", hit), ("miss", miss), ("remove", remove)] {
            print(slots, remainder_bits, &load, operation, result);
        }
    }
    passes(slots, remainder_bits, new)
}

/// Measures the sequential passes: build, iterate and merge, with a final load of 0.9.
fn passes<T: Table + Clone>(slots: u64, remainder_bits: u32, new: impl Fn() -> T) -> Result<()> {
    let n = (slots as f64 * 0.9) as u64;
    let mut halves = [(0..n / 2).map(hash).collect::<Vec<_>>(), (n / 2..n).map(hash).collect()];
    halves.iter_mut().for_each(|half| half.sort_unstable());
    let empty = QuotientFilter::new(slots, remainder_bits)?;
    let mut our_halves = [empty.clone(), empty.clone()];
    let mut their_halves = [new(), new()];
    for i in 0..2 {
        our_halves[i].build(&halves[i]);
        their_halves[i].build(&halves[i]);
    }
    let build = duel(
        |_| {
            let mut table = empty.clone();
            ns_each(halves[0].len(), || table.build(&halves[0]))
        },
        |_| {
            let mut table = new();
            ns_each(halves[0].len(), || table.build(&halves[0]))
        },
    );
    let (mut our_union, mut their_union) = (our_halves[0].clone(), their_halves[0].clone());
    let merge = duel(
        |_| {
            our_union = our_halves[0].clone();
            ns_each(n as usize, || Table::merge(&mut our_union, &our_halves[1]))
        },
        |_| {
            their_union = their_halves[0].clone();
            ns_each(n as usize, || their_union.merge(&their_halves[1]))
        },
    );
    let iterate = duel(
        |_| ns_each(n as usize, || black_box(our_union.iterate())),
        |_| ns_each(n as usize, || black_box(their_union.iterate())),
    );
    print(slots, remainder_bits, "0.45", "build sorted", build);
    print(slots, remainder_bits, "0.90", "merge 2", merge);
    print(slots, remainder_bits, "0.90", "iterate", iterate);
    Ok(())
}

fn count(table: &impl Table, hashes: &[u64]) -> usize {
    hashes.iter().filter(|&&hash| table.contains(hash)).count()
}

/// Prints the table; `log_slots` limits it to one size.
pub(crate) fn run(log_slots: Option<&str>) -> Result<()> {
    println!("| slots | r | load | operation | ours ns | qfilter ns | ratio |\n|---|---|---|---|---|---|---|");
    for log in [20, 24] {
        if log_slots.is_some_and(|wanted| wanted != log.to_string()) {
            continue;
        }
        for remainder_bits in [7, 40] {
            let slots = 1 << log;
            #[cfg(feature = "rivals")]
            let rival = || {
                qfilter::Filter::with_fingerprint_size(slots * 19 / 20, (log + remainder_bits) as u8)
                    .expect("valid sizes")
            };
            #[cfg(not(feature = "rivals"))]
            let rival = || QuotientFilter::new(slots, remainder_bits).expect("sizes that it can have").counting();
            measure(slots, remainder_bits, rival)?;
        }
    }
    let filter = QuotientFilter::with_rate(1_000_000, 0.01)?;
    println!("1 M keys at 1 %: {:.2} bits a key", filter.bits() as f64 / 1e6);
    Ok(())
}
