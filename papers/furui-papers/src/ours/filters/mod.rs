//! The filters in memory compared with the crates fastbloom, sbbf-rs-safe and bloomfilter where they are built in
//! (feature `rivals`), and with the floor: one access to a random line of a table of equal size.
//!
//! All contestants get the same uniform 64-bit hashes. They take turns, round by round, each on the same share of the
//! keys.

mod against_exact;
mod blocked;
mod bloom;
mod floor;
mod fuse;
mod growing;
mod huge;
mod kinds;
mod ringed;
#[cfg(feature = "rivals")]
mod rivals;
#[cfg(not(feature = "rivals"))]
mod rivals {
    /// Returns no rows, because the program was built without the rivals.
    pub(super) fn rows(_: &[&'static str], _: usize, _: f64) -> [super::Row; 0] {
        []
    }
}
mod split_block;
mod threads;

use std::hint::black_box;

pub(crate) use against_exact::blocked;

use furui::filter::{Concurrent, FilterMut, Shareable};
use furui::{Hashes, KeyHash, Result};

use crate::clock::{median, ns_each};
use crate::keys::mix;
use crate::report::{Cell, Table};

/// The number of keys in a batch of lookups: enough for lookups to overlap, and few enough for the batch to stay in L1.
const BATCH: usize = 1024;

/// The number of turns in which each contestant fills its filter. There are as many turns for hits, and for misses.
const ROUNDS: usize = 7;

/// The maximum number of keys looked up in a turn: several for each line of the largest tables, so that it does not
/// matter what other contestants have left in the caches.
const TURN: usize = 10_000_000;

/// The number of keys looked up before a contestant's turn, which brings a small table back into the cache.
const WARM_UP: usize = 100_000;

/// A filter that is measured, of this project or a rival.
trait Contestant {
    fn insert(&mut self, keys: &[KeyHash]);
    /// The number of `keys` that the filter reports as present.
    fn count(&self, keys: &[KeyHash]) -> usize;
    /// The size of the filter, in bits.
    fn bits(&self) -> u64;
}

/// One of this project's filters, which is used in batches or key by key.
struct Ours<F> {
    filter: F,
    bits: fn(&F) -> u64,
    in_batches: bool,
}

impl<F> Ours<F> {
    fn in_batches(filter: F, bits: fn(&F) -> u64) -> Self {
        Self { filter, bits, in_batches: true }
    }
}

impl<F: FilterMut> Contestant for Ours<F> {
    fn insert(&mut self, keys: &[KeyHash]) {
        if self.in_batches {
            self.filter.insert_all(keys).expect("it is sized for the keys");
            return;
        }
        let new = |&&key: &&KeyHash| self.filter.insert_hash(key).expect("it is sized for the keys");
        black_box(keys.iter().filter(new).count());
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        if !self.in_batches {
            return keys.iter().filter(|&&key| self.filter.contains_hash(key)).count();
        }
        let mut answers = Vec::with_capacity(BATCH);
        let mut count = 0;
        for batch in keys.chunks(BATCH) {
            self.filter.contains_all(batch, &mut answers);
            // Counting is not the filter's work and should take little time. Sums of bytes are computed by vector
            // instructions.
            count += answers
                .chunks(255)
                .map(|few| usize::from(few.iter().map(|&yes| u8::from(yes)).sum::<u8>()))
                .sum::<usize>();
        }
        count
    }

    fn bits(&self) -> u64 {
        (self.bits)(&self.filter)
    }
}

/// The rows of a filter that is used in batches, and of one that is used key by key.
fn both<F: FilterMut + Clone + 'static>(names: [&'static str; 2], filter: F, bits: fn(&F) -> u64) -> Vec<Row> {
    let row = |(name, in_batches)| -> Row { (name, Box::new(Ours { filter: filter.clone(), bits, in_batches })) };
    names.into_iter().zip([true, false]).map(row).collect()
}

/// Inserts hashes into a filter that several threads fill, in one batch. Copying a hash into its batch takes a fraction
/// of a nanosecond.
fn insert_shared<F: Shareable>(filter: &Concurrent<F>, keys: &[KeyHash]) {
    let mut batch = Hashes::new(&filter.hash_spec().hasher());
    keys.iter().for_each(|&key| batch.push_hash(key));
    filter.insert_hashes(&batch).expect("a batch of its own spec");
}

/// The name of a row of the table and the contestant to be measured for it.
type Row = (&'static str, Box<dyn Contestant>);

#[derive(Default)]
struct Samples {
    /// The times of insertions, of hits and of misses, in nanoseconds a key.
    times: [Vec<f64>; 3],
    false_positives: usize,
    asked: usize,
}

/// Measures the contestants that `rows` makes, for the table `name`. They are filled and queried `fills` times. Times
/// are in ns, and also given as ratios to the times of the row named `base` in the same turn. All figures are medians
/// over the turns.
fn measure(
    name: &str,
    title: &str,
    (n, fills): (usize, usize),
    base: &str,
    rows: impl Fn() -> Result<Vec<Row>>,
) -> Result<Table> {
    let keys: Vec<KeyHash> = (0..n as u64).map(|i| KeyHash::new(mix(i))).collect();
    let asked = n.min(TURN);
    let misses: Vec<KeyHash> = (0..asked as u64).map(|i| KeyHash::new(mix(1 << 40 | i))).collect();
    let mut results: Vec<Samples> = vec![];
    let mut names = vec![];
    for _ in 0..fills {
        let mut rows = rows()?;
        results.resize_with(rows.len(), Samples::default);
        for share in keys.chunks(n.div_ceil(ROUNDS)) {
            for ((_, row), samples) in rows.iter_mut().zip(&mut results) {
                black_box(row.count(&share[..share.len().min(WARM_UP)]));
                samples.times[0].push(ns_each(share.len(), || row.insert(share)));
            }
        }
        names = rows.iter().map(|(name, row)| (*name, row.bits())).collect();
        for hit in keys.chunks_exact(asked).cycle().take(ROUNDS) {
            let miss = &misses;
            for ((name, row), samples) in rows.iter().zip(&mut results) {
                let mut found = row.count(&hit[..hit.len().min(WARM_UP)]);
                samples.times[1].push(ns_each(hit.len(), || found = row.count(black_box(hit))));
                assert!(found == hit.len() || name.starts_with("floor"), "{name} lost {} keys", hit.len() - found);
                samples.times[2].push(ns_each(miss.len(), || found = row.count(black_box(miss))));
                samples.false_positives += found;
                samples.asked += miss.len();
            }
        }
    }

    // The load of the machine changes from turn to turn, so ratios are within one turn.
    let to = |own: &[f64], base: &[f64]| {
        Cell::from(median(&mut own.iter().zip(base).map(|(own, base)| own / base).collect::<Vec<_>>()))
    };
    let base_times = names.iter().position(|&(name, _)| name == base).map(|i| results[i].times.clone());
    let ratio = format!("insert, to {base}");
    let columns =
        ["filter", "bits a key", "rate %", "insert, ns", "hit, ns", "miss, ns", &ratio, "hit, to it", "miss, to it"];
    let mut table = Table::new(name, format!("{title}, {n} keys"), columns);
    for ((name, bits), mut samples) in names.into_iter().zip(results) {
        let rate = 100.0 * samples.false_positives as f64 / samples.asked as f64;
        let head = [Cell::from(name), (bits as f64 / n as f64).into(), rate.into()];
        let ratio = |i: usize| base_times.as_ref().map_or("".into(), |base| to(&samples.times[i], &base[i]));
        let ratios = [0, 1, 2].map(ratio);
        let times = samples.times.each_mut().map(|times| Cell::from(median(times)));
        table.push(head.into_iter().chain(times).chain(ratios));
    }
    Ok(table)
}

/// The number of times that filters of `n` keys are filled, because filling a small filter once is too fast to be
/// measured.
fn fills(n: usize) -> usize {
    (4_000_000 / n).max(1)
}

/// Measures the contestants that `rows` makes and prints their table.
fn report(title: &str, n: usize, base: &str, rows: impl Fn() -> Result<Vec<Row>>) -> Result<()> {
    let table = measure("", title, (n, fills(n)), base, rows)?;
    println!("\n## {}\n\n{}", table.title, table.markdown());
    Ok(())
}

/// A function that measures one kind of filter with as many keys as its argument says, and prints tables.
type Run = fn(usize) -> Result<()>;

/// The names of the kinds of filters, each with the function that measures them.
const KINDS: [(&str, Run); 8] = [
    ("blocked", blocked::run),
    ("bloom", bloom::run),
    ("ringed", ringed::run),
    ("growing", growing::run),
    ("split-block", split_block::run),
    ("kinds", kinds::run),
    ("threads", threads::run),
    ("fuse", fuse::run),
];

/// Measures one kind of filter, or all, with `n` keys, or with 1 M and 50 M if none are given; with `huge`, measures
/// the rate of a large filter.
pub(crate) fn run(n: Option<&str>, kind: Option<&str>) -> std::result::Result<(), Box<dyn std::error::Error>> {
    if n == Some("huge") {
        return Ok(huge::run()?);
    }
    let sizes = match n {
        Some(n) => vec![n.parse()?],
        None => vec![1_000_000, 50_000_000],
    };
    for n in sizes {
        for (_, run) in KINDS.iter().filter(|(name, _)| kind.is_none_or(|kind| kind == *name)) {
            run(n)?;
        }
    }
    Ok(())
}
