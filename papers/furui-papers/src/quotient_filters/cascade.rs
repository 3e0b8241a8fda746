//! The cascade filter compared with a Bloom filter on storage, where neither fits into memory.

use std::path::Path;
use std::sync::Arc;

use furui::store::cascade::{CascadeFilter, CascadeOptions};
use furui::store::{Directory, Storage};
use furui::{Hashes, KeyHash};

use super::storage_bloom::{Layout, Shape, StorageBloom};
use crate::clock::thread_ns;
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};
use crate::store::counted::{Counted, Reads};
use crate::store::{WorkDirectory, ours, stored};

/// The false-positive rate of all filters that are compared, except the exact set, which has no false positives.
const RATE: f64 = 0.01;
/// The number of keys that are inserted or looked up in a batch.
const BATCH: u64 = 1 << 17;
/// The memory, in bytes, that a key takes while it waits for a batch: its own bytes and those of its index.
const WAITING_BYTES: u64 = 16;

const EXACT: &str = "exact set";
const CASCADE: &str = "cascade filter";
const COMPACTED: &str = "cascade filter, compacted";
const BLOOM: &str = "Bloom";
const ONE_PAGE: &str = "Bloom, one page a key";
const WAITING: &str = "Bloom, one page a key, keys wait in memory";
const FILTERS: [&str; 6] = [EXACT, CASCADE, COMPACTED, BLOOM, ONE_PAGE, WAITING];

const INSERT: &str = "insert ns";
const INSERT_READ: &str = "read a key inserted";
const WRITTEN: &str = "written a key inserted";
const LOOKUP: &str = "lookup ns";
const LOOKUP_READ: &str = "read a lookup";
const STORED: &str = "stored a key";
/// The names of the measured costs of a filter. CPU times are in nanoseconds, the other costs in bytes.
const COSTS: [&str; 6] = [INSERT, INSERT_READ, WRITTEN, LOOKUP, LOOKUP_READ, STORED];

/// The insertions and look-ups that are measured with each amount of memory.
struct Workload {
    keys: u64,
    /// The number of keys whose insertion into the Bloom filters on storage is measured: the last ones of all keys.
    sample: u64,
    lookups: u64,
    seed: u64,
}

impl Workload {
    fn key(&self, i: u64) -> u64 {
        mix(i ^ self.seed << 48)
    }

    /// The key of the i-th lookup. Every second key is present.
    fn query(&self, i: u64) -> u64 {
        self.key(if i.is_multiple_of(2) { mix(i) % self.keys } else { 1 << 40 | i })
    }

    /// Looks all queries up in batches. Returns the nanoseconds of CPU for a lookup, and the false-positive rate.
    fn look_up(&self, mut batch: impl FnMut(Vec<u64>) -> Result<Vec<bool>>) -> Result<(f64, f64)> {
        let mut found = [0, 0];
        let start = thread_ns();
        for first in (0..self.lookups).step_by(BATCH as usize) {
            let queries = (first..self.lookups.min(first + BATCH)).map(|i| self.query(i)).collect();
            batch(queries)?.iter().enumerate().for_each(|(i, &yes)| found[i % 2] += u64::from(yes));
        }
        let ns = self.a_lookup(thread_ns() - start);
        assert_eq!(found[0], self.lookups.div_ceil(2), "no false negatives");
        Ok((ns, found[1] as f64 / (self.lookups / 2) as f64))
    }

    fn a_lookup(&self, amount: u64) -> f64 {
        amount as f64 / self.lookups as f64
    }
}

/// The costs of one key, in the order of [`COSTS`], and the false-positive rate.
struct Cost {
    insert: [f64; 3],
    lookup: [f64; 2],
    stored: f64,
    rate: f64,
}

impl Workload {
    fn storage(directory: &Path, reads: &Arc<Reads>) -> Result<impl Storage> {
        let storage = Directory::open(directory)?.mapped(false);
        Ok(Counted { storage, reads: Arc::clone(reads) })
    }

    fn exact(&self, memory: u64) -> Result<Cost> {
        let directory = WorkDirectory::create(&std::env::temp_dir())?;
        let (path, reads) = (directory.path().join("set"), Arc::new(Reads::default()));
        let mut set = ours::open(Self::storage(&path, &reads)?, memory)?;
        let start = thread_ns();
        ours::insert(&mut set, self.keys, |i| self.key(i))?;
        let each = |amount: u64| amount as f64 / self.keys as f64;
        let insert = [each(thread_ns() - start), each(reads.take().1), each(set.written())];
        let (ns, rate) = self.look_up(|keys| {
            let (keys, mut found): (Vec<_>, _) = (keys.into_iter().map(KeyHash::new).collect(), vec![]);
            set.contains_all(&keys, &mut found)?;
            Ok(found)
        })?;
        let lookup = [ns, self.a_lookup(reads.take().1)];
        Ok(Cost { insert, lookup, stored: each(stored(&path)?), rate })
    }

    /// Measures the cascade filter. Returns its costs after the insertions, and its costs after one more merge of all
    /// levels.
    fn cascade(&self, memory: u64) -> Result<[Cost; 2]> {
        let directory = WorkDirectory::create(&std::env::temp_dir())?;
        let (path, reads) = (directory.path().join("filter"), Arc::new(Reads::default()));
        let options = CascadeOptions { memory, ..CascadeOptions::default() };
        let mut filter = CascadeFilter::create_with(Self::storage(&path, &reads)?, self.keys, RATE, options)?;
        let mut hashes = Hashes::new(&filter.hash_spec().hasher());
        let mut insert = [0.0; 3];
        let mut costs = vec![];
        for compact in [false, true] {
            let start = thread_ns();
            if compact {
                filter.compact()?;
            } else {
                for first in (0..self.keys).step_by(BATCH as usize) {
                    hashes.clear();
                    (first..self.keys.min(first + BATCH)).for_each(|i| hashes.push_hash(KeyHash::new(self.key(i))));
                    filter.insert_hashes(&hashes)?;
                }
                filter.publish()?;
            }
            let each = |amount: u64| amount as f64 / self.keys as f64;
            insert[0] += each(thread_ns() - start);
            insert[1] += each(reads.take().1);
            insert[2] = each(filter.set().written());
            let (ns, rate) = self.look_up(|keys| {
                let mut found = vec![];
                hashes.clear();
                keys.into_iter().for_each(|key| hashes.push_hash(KeyHash::new(key)));
                filter.contains_hashes(&hashes, &mut found)?;
                Ok(found)
            })?;
            let lookup = [ns, self.a_lookup(reads.take().1)];
            costs.push(Cost { insert, lookup, stored: each(stored(&path)?), rate });
        }
        Ok(costs.try_into().ok().expect("two costs"))
    }

    /// The costs of a Bloom filter that takes keys in batches of `batch` keys and has a cache of `cache` bytes.
    fn bloom(&self, directory: &Path, shape: Shape, filled: &[u8], batch: u64, cache: u64) -> Result<Cost> {
        let path = directory.join("bloom");
        let mut bloom = StorageBloom::create(&path, shape, filled, cache)?;
        bloom.warm()?;
        let before = (bloom.bytes_read, bloom.bytes_written);
        let start = thread_ns();
        for first in (self.keys - self.sample..self.keys).step_by(batch as usize) {
            bloom.insert((first..self.keys.min(first + batch)).map(|i| self.key(i)))?;
        }
        let each = |amount: u64| amount as f64 / self.sample as f64;
        let insert =
            [each(thread_ns() - start), each(bloom.bytes_read - before.0), each(bloom.bytes_written - before.1)];
        let before = bloom.bytes_read;
        let (ns, rate) = self.look_up(|keys| bloom.contains(&keys))?;
        let lookup = [ns, self.a_lookup(bloom.bytes_read - before)];
        let stored = stored(directory)? as f64 / self.keys as f64;
        std::fs::remove_file(path)?;
        Ok(Cost { insert, lookup, stored, rate })
    }
}

fn push(table: &mut Table, memory: u64, name: &str, cost: &Cost) {
    let costs = cost.insert.into_iter().chain(cost.lookup).chain([cost.stored, cost.rate]).map(Cell::from);
    table.push([Cell::from(memory as f64 / f64::from(1 << 20)), name.into()].into_iter().chain(costs));
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let load = Workload {
        keys: context.size(60_000_000, 400_000),
        sample: context.size(1 << 23, 10_000),
        lookups: context.size(1 << 20, 1000),
        seed: context.seed,
    };
    let memories: &[u64] = if context.quick { &[64 << 10] } else { &[16 << 20, 64 << 20, 256 << 20] };
    let [table] = context.tables(Source::QuotientFilters, ["cascade"], || {
        let mut table = Table::new(
            "cascade",
            format!("{} keys in batches; CPU time, and bytes through read and write calls", load.keys),
            ["memory MiB", "filter"].into_iter().chain(COSTS).chain(["false positives"]),
        );
        let bar = context.bar(4 * memories.len() as u64, "filters on storage");
        for &memory in memories {
            push(&mut table, memory, EXACT, &load.exact(memory)?);
            bar.inc(1);
            let [cascade, compacted] = load.cascade(memory)?;
            push(&mut table, memory, CASCADE, &cascade);
            push(&mut table, memory, COMPACTED, &compacted);
            bar.inc(1);
        }
        for (name, layout) in [(BLOOM, Layout::Spread), (ONE_PAGE, Layout::OnePage)] {
            let directory = WorkDirectory::create(&std::env::temp_dir())?;
            let shape = Shape::new(load.keys, RATE, layout);
            let filled = shape.filled((0..load.keys - load.sample).map(|i| load.key(i)));
            for &memory in memories {
                push(&mut table, memory, name, &load.bloom(directory.path(), shape, &filled, BATCH, memory)?);
                // Keys wait in memory for a large batch only if the filter does not fit into memory, because otherwise
                // larger batches save no reads.
                if layout == Layout::OnePage && memory < filled.len() as u64 {
                    let cost = load.bloom(directory.path(), shape, &filled, memory / WAITING_BYTES, 0)?;
                    push(&mut table, memory, WAITING, &cost);
                }
                bar.inc(1);
            }
        }
        Ok([table])
    })?;
    let plots = vec![
        plot("cascade-insert", "An insertion, by memory", &table, INSERT, "ns of CPU"),
        plot("cascade-written", "Bytes written for an insertion, by memory", &table, WRITTEN, "bytes"),
        plot("cascade-lookup", "A lookup, by memory", &table, LOOKUP, "ns of CPU"),
    ];
    let verdict = verdict(&table, memories);
    let data = format!(
        "{} uniform keys, all new; {} random lookups, half of them of present keys. All filters are made for {RATE} of false \
         positives; the exact set stores 64-bit hashes, and reports for each key whether it is new. A Bloom filter is \
         measured during its last {} insertions.",
        load.keys, load.lookups, load.sample
    );
    let notes = vec![
        format!(
            "All filters take keys in batches of {BATCH} for insertions and lookups. A Bloom filter sorts the batch by \
             page, so that it reads and writes a page once a batch at most, and keeps pages in a cache of the given \
             memory (clock replacement), which is full at the beginning; if it holds all pages, nothing is sorted, and \
             nothing is read or written until the end. The memory for the batch comes on top, for all filters."
        ),
        format!(
            "\"Keys wait in memory\": the memory is not for pages but for keys, {WAITING_BYTES} bytes each, which are \
             inserted when it is full. Lookups of keys that still wait are not part of the measurement. This way is \
             left out where all pages fit into memory."
        ),
    ];
    Ok(Finding::new(data, verdict, [table], plots).with_notes(notes))
}

fn plot(name: &str, title: &str, table: &Table, column: &str, unit: &str) -> Plot {
    let plot = Plot::new(name, title, Axis::log("MiB of memory"), Axis::log(unit));
    plot.lines(table, ["memory MiB", column], FILTERS, |name| [("filter", name.into())])
}

/// Compares the cascade filter with every Bloom filter at every size of memory, and says where the cascade loses.
fn verdict(table: &Table, memories: &[u64]) -> Verdict {
    let mut sentences = vec![];
    let mut wins = [true; COSTS.len()];
    for (i, memory) in memories.iter().map(|&memory| memory as f64 / f64::from(1 << 20)).enumerate() {
        for bloom in [BLOOM, ONE_PAGE, WAITING] {
            let of = |filter: &str, column| {
                table.points("memory MiB", column, &[("filter", filter.into()), ("memory MiB", memory.into())])
            };
            if of(bloom, INSERT).is_empty() {
                continue;
            }
            let times = COSTS.map(|column| of(bloom, column)[0].1 / of(CASCADE, column)[0].1);
            // The verdict is about the least memory, where the largest part of a Bloom filter is only on storage.
            if i == 0 {
                wins.iter_mut().zip(times).for_each(|(wins, times)| *wins &= times > 1.0);
            }
            let list = |wins: bool| {
                let costs = COSTS.iter().zip(times).filter(|&(_, times)| (times > 1.0) == wins);
                let costs: Vec<_> = costs.map(|(cost, times)| format!("{cost} {}", brief(times))).collect();
                if costs.is_empty() { "nothing".to_owned() } else { costs.join(", ") }
            };
            sentences.push(format!("{} MiB, {bloom}: more in {}; less in {}.", brief(memory), list(true), list(false)));
        }
    }
    let insertions = wins[..3].iter().all(|&wins| wins);
    let grade = match (insertions, wins.iter().all(|&wins| wins)) {
        (true, true) => Grade::Reproduced,
        (true, false) => Grade::WithinBand,
        (false, _) => Grade::NotReproduced,
    };
    let lead = match grade {
        Grade::NotReproduced => "With the least memory the cascade filter does not win all costs of an insertion",
        Grade::WithinBand => {
            "With the least memory the cascade filter wins all costs of an insertion, but not all of a lookup"
        }
        _ => "With the least memory the cascade filter wins every cost",
    };
    Verdict::new(
        grade,
        format!(
            "{lead} against every Bloom filter. What a Bloom filter costs, as multiples of the cascade filter (before it is \
             compacted). {}",
            sentences.join(" ")
        ),
    )
}
