//! The cascade compared with a Bloom filter on storage, where neither fits into memory.

use std::path::Path;
use std::sync::Arc;

use furui::KeyHash;
use furui::store::Directory;

use super::storage_bloom::{Layout, Shape, StorageBloom};
use crate::clock::thread_ns;
use crate::keys::mix;
use crate::papers::{Axis, Context, Finding, Mark, Plot, Result, Series, Verdict, brief};
use crate::store::counted::{Counted, Reads};
use crate::store::{WorkDirectory, ours, stored};
use crate::table::{Cell, Table};

const RATE: f64 = 0.01;
/// The number of keys in a batch, for stores that look keys up in batches.
const BATCH: usize = 1 << 17;

const CASCADE: &str = "cascade";
const BLOOM: &str = "Bloom, 1 %";
const ONE_PAGE: &str = "Bloom, 1 %, one page a key";

/// The work that is measured with every amount of memory.
struct Workload {
    keys: u64,
    /// The number of keys whose insertion into the Bloom filters on storage is measured. They are the last keys.
    sample: u64,
    lookups: u64,
    seed: u64,
}

impl Workload {
    fn key(&self, i: u64) -> u64 {
        mix(i ^ self.seed << 48)
    }

    /// The key of the i-th lookup. Every other one is present.
    fn query(&self, i: u64) -> u64 {
        self.key(if i.is_multiple_of(2) { mix(i) % self.keys } else { 1 << 40 | i })
    }
}

/// The costs of one key: nanoseconds of CPU time, and bytes read and written.
struct Cost {
    insert: [f64; 3],
    lookup: [f64; 2],
    stored: f64,
}

impl Workload {
    fn cascade(&self, memory: u64) -> Result<Cost> {
        let directory = WorkDirectory::create(&std::env::temp_dir())?;
        let reads = Arc::new(Reads::default());
        let storage = Counted {
            storage: Directory::open(directory.path().join("set"))?.mapped(false),
            reads: Arc::clone(&reads),
        };
        let mut set = ours::open(storage, memory)?;
        let start = thread_ns();
        ours::insert(&mut set, self.keys, |i| self.key(i))?;
        let each = |amount: u64| amount as f64 / self.keys as f64;
        let insert = [each(thread_ns() - start), each(reads.take().1), each(set.written())];
        let start = thread_ns();
        let (mut found, mut count) = (vec![], 0);
        for first in (0..self.lookups).step_by(BATCH) {
            let end = self.lookups.min(first + BATCH as u64);
            let keys: Vec<KeyHash> = (first..end).map(|i| KeyHash::new(self.query(i))).collect();
            set.contains_all(&keys, &mut found)?;
            count += found.iter().filter(|&&found| found).count() as u64;
        }
        assert_eq!(count, self.lookups.div_ceil(2), "those that are there and no others");
        let each = |amount: u64| amount as f64 / self.lookups as f64;
        let lookup = [each(thread_ns() - start), each(reads.take().1)];
        Ok(Cost { insert, lookup, stored: stored(&directory.path().join("set"))? as f64 / self.keys as f64 })
    }

    fn bloom(&self, directory: &Path, shape: Shape, filled: &[u8], memory: u64) -> Result<(Cost, f64)> {
        let path = directory.join("bloom");
        let mut bloom = StorageBloom::create(&path, shape, filled, memory)?;
        bloom.warm()?;
        let mut before = (bloom.bytes_read, bloom.bytes_written);
        let start = thread_ns();
        (self.keys - self.sample..self.keys).try_for_each(|i| bloom.insert(self.key(i)))?;
        let each = |amount: u64| amount as f64 / self.sample as f64;
        let insert =
            [each(thread_ns() - start), each(bloom.bytes_read - before.0), each(bloom.bytes_written - before.1)];
        before.0 = bloom.bytes_read;
        let start = thread_ns();
        let mut found = [0, 0];
        for i in 0..self.lookups {
            found[(i % 2) as usize] += u64::from(bloom.contains(self.query(i))?);
        }
        let each = |amount: u64| amount as f64 / self.lookups as f64;
        let lookup = [each(thread_ns() - start), each(bloom.bytes_read - before.0)];
        assert_eq!(found[0], self.lookups.div_ceil(2), "no false negatives");
        let stored = stored(directory)? as f64 / self.keys as f64;
        std::fs::remove_file(path)?;
        Ok((Cost { insert, lookup, stored }, found[1] as f64 / (self.lookups / 2) as f64))
    }
}

fn row(memory: u64, name: &str, cost: &Cost, rate: Cell) -> Vec<Cell> {
    let costs = cost.insert.into_iter().chain(cost.lookup).chain([cost.stored]).map(Cell::from);
    let names = [Cell::from(memory as f64 / f64::from(1 << 20)), name.into()];
    names.into_iter().chain(costs).chain([rate]).collect()
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let load = Workload {
        keys: context.size(60_000_000, 400_000),
        sample: context.size(300_000, 1000),
        lookups: context.size(300_000, 1000),
        seed: context.seed,
    };
    let memories: &[u64] = if context.quick { &[64 << 10] } else { &[16 << 20, 64 << 20, 256 << 20] };
    let mut table = Table::new(
        "cascade",
        format!("{} keys; CPU time, and bytes through read and write calls", load.keys),
        [
            "memory MiB",
            "filter",
            "insert ns",
            "read a key inserted",
            "written a key inserted",
            "lookup ns",
            "read a lookup",
            "stored a key",
            "false positives",
        ],
    );
    let bar = context.bar(3 * memories.len() as u64, "filters on storage");
    for &memory in memories {
        let cost = load.cascade(memory)?;
        table.push(row(memory, CASCADE, &cost, "none seen".into()));
        bar.inc(1);
    }
    for (name, layout) in [(BLOOM, Layout::Spread), (ONE_PAGE, Layout::OnePage)] {
        let directory = WorkDirectory::create(&std::env::temp_dir())?;
        let shape = Shape::new(load.keys, RATE, layout);
        let filled = shape.filled((0..load.keys - load.sample).map(|i| load.key(i)));
        for &memory in memories {
            let (cost, rate) = load.bloom(directory.path(), shape, &filled, memory)?;
            table.push(row(memory, name, &cost, rate.into()));
            bar.inc(1);
        }
    }
    let plots = vec![
        plot("cascade-insert", "An insertion, by memory", &table, "insert ns", "ns of CPU"),
        plot("cascade-written", "Bytes written for an insertion, by memory", &table, "written a key inserted", "bytes"),
        plot("cascade-lookup", "A lookup, by memory", &table, "lookup ns", "ns of CPU"),
    ];
    let verdict = verdict(&table, memories[0]);
    let data = format!(
        "{} uniform keys, all new; {} random lookups, half of them of present keys. The cascade reports for each key \
         whether it is new, and stores 64-bit hashes; a Bloom filter is measured during its last {} insertions.",
        load.keys, load.lookups, load.sample
    );
    let notes = vec![
        "Files are in the operating system's page cache, so CPU time includes the calls and the copying, but no \
         waiting for a device. Bytes are those that a device would see without other caches: for the Bloom filters, \
         pages of 4 KiB, since a random write costs a page."
            .into(),
        "The Bloom filters read and write through a cache of pages of the given size (clock replacement), which is \
         full at the beginning; if it holds all pages, nothing is read or written until the end."
            .into(),
        "The cascade looks keys up in batches of 131072, as the command line does. No file is mapped.".into(),
        "A Bloom filter of 1 % takes a fifth of the cascade's storage, and 1 % of its answers about absent keys are \
         wrong. At the cascade's rate (keys / 2^64) it would need 54 bits a key or more, and more probes than the 7 \
         it has here."
            .into(),
    ];
    Ok(Finding { data, tables: vec![table], plots, verdict, notes })
}

fn plot(name: &str, title: &str, table: &Table, column: &str, unit: &str) -> Plot {
    let plot = Plot::new(name, title, Axis::log("MiB of memory"), Axis::log(unit));
    [CASCADE, BLOOM, ONE_PAGE].iter().fold(plot, |plot, name| {
        plot.with(Series::new(*name, Mark::Line, table.points("memory MiB", column, &[("filter", (*name).into())])))
    })
}

fn verdict(table: &Table, memory: u64) -> Verdict {
    let memory = memory as f64 / f64::from(1 << 20);
    let of =
        |filter: &str, column: &str| table.number(column, &[("filter", filter.into()), ("memory MiB", memory.into())]);
    let times = |column: &str| [BLOOM, ONE_PAGE].map(|bloom| of(bloom, column) / of(CASCADE, column));
    let (insert, written, lookup) = (times("insert ns"), times("written a key inserted"), times("lookup ns"));
    let text = format!(
        "With {} MiB, an insertion into a Bloom filter on storage takes {} times the cascade's CPU time ({} with all \
         bits of a key in one page) and writes {} ({}) times as many bytes; a lookup takes {} ({}) times as long. If \
         the Bloom filter fits into memory, it is the faster one.",
        brief(memory),
        brief(insert[0]),
        brief(insert[1]),
        brief(written[0]),
        brief(written[1]),
        brief(lookup[0]),
        brief(lookup[1]),
    );
    Verdict::holds(insert.into_iter().chain(written).all(|times| times > 1.0), text)
}
