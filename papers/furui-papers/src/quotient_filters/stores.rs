//! The cascade as an exact set compared with other stores, by memory.

use super::rivals::{CASCADE, STORES};
use crate::clock::process_ns;
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Table, Verdict, brief};
use crate::store::{Store, TRANSACTION, WorkDirectory, stored};

/// The number of keys in a step of the mixed load. A step looks up this many keys, half of them present, and then
/// inserts as many new keys.
const MIXED: u64 = 10_000;
/// The CPU time after which a phase ends, because its costs are known by then.
const ENOUGH_NS: u64 = 6_000_000_000;

const MEMORY: &str = "memory MiB";

/// The numbers of bytes that this process has read and written by system calls; `None` if the system does not count
/// them.
fn bytes_moved() -> Option<[u64; 2]> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some([of("rchar:")?, of("wchar:")?])
}

/// The costs of a phase of the load: the number of operations, the CPU time of the process in nanoseconds, and the
/// bytes read and written by system calls, if the system counts them.
struct Phase {
    operations: u64,
    ns: u64,
    moved: Option<[u64; 2]>,
}

impl Phase {
    /// Calls `step` with 0, 1 and so on. Each call returns the number of its operations. Stops after a call without
    /// operations, or when enough time has passed.
    fn run(mut step: impl FnMut(u64) -> Result<u64>) -> Result<Self> {
        let (start, moved) = (process_ns(), bytes_moved());
        let mut operations = 0;
        for i in 0.. {
            let done = step(i)?;
            operations += done;
            if done == 0 || process_ns() - start > ENOUGH_NS {
                break;
            }
        }
        let between = |before: [u64; 2], after: [u64; 2]| [after[0] - before[0], after[1] - before[1]];
        let moved = moved.zip(bytes_moved()).map(|(before, after)| between(before, after));
        Ok(Self { operations, ns: process_ns() - start, moved })
    }

    /// The cells of a row: nanoseconds, bytes read and bytes written for each operation.
    fn cells(&self) -> [Cell; 3] {
        let each = |amount: u64| Cell::from(amount as f64 / self.operations.max(1) as f64);
        let moved = |i: usize| self.moved.map_or("unknown".into(), |moved| each(moved[i]));
        [each(self.ns), moved(0), moved(1)]
    }
}

/// The sizes of the two phases in keys, and the seed of the keys.
struct Load {
    keys: u64,
    mixed: u64,
    seed: u64,
}

impl Load {
    fn key(&self, i: u64) -> u64 {
        mix(i ^ self.seed << 48)
    }

    fn fill(&self, store: &mut dyn Store) -> Result<Phase> {
        Phase::run(|i| {
            let keys: Vec<u64> = (i * TRANSACTION..self.keys.min((i + 1) * TRANSACTION)).map(|i| self.key(i)).collect();
            if keys.is_empty() {
                store.sync()?;
            } else if let Some(new) = store.insert(&keys)? {
                assert_eq!(new, keys.len() as u64, "every key is new");
            }
            Ok(keys.len() as u64)
        })
    }

    /// Runs the second phase of the load: steps of [`MIXED`] look-ups, half of them of keys among the first `known`,
    /// which the store has, and [`MIXED`] insertions of new keys. `None` if the store cannot tell whether it has a key.
    fn mix(&self, store: &mut dyn Store, known: u64) -> Result<Option<Phase>> {
        let mut answers = true;
        let phase = Phase::run(|i| {
            if i * MIXED * 2 >= self.mixed || !answers {
                store.sync()?;
                return Ok(0);
            }
            let query = |j: u64| self.key(if j.is_multiple_of(2) { mix(j) % known } else { 1 << 40 | j });
            let queries: Vec<u64> = (i * MIXED..(i + 1) * MIXED).map(query).collect();
            match store.count(&queries)? {
                Some(found) => assert_eq!(found as u64, MIXED / 2, "finds just the keys that are in the store"),
                None => answers = false,
            }
            let keys: Vec<u64> = (i * MIXED..(i + 1) * MIXED).map(|i| self.key(1 << 32 | i)).collect();
            store.insert(&keys)?;
            Ok(2 * MIXED)
        })?;
        Ok(answers.then_some(phase))
    }
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let load =
        Load { keys: context.size(6_000_000, 5000), mixed: context.size(400_000, MIXED * 2), seed: context.seed };
    let memories: &[u64] = if context.quick { &[1 << 20] } else { &[16 << 20, 64 << 20, 256 << 20, 1 << 30] };
    let (table, unfinished) = measure(&load, memories, context)?;
    let plots = vec![
        plot("stores-insert", "Insert-if-absent, by memory", &table, "insert ns", "ns of CPU a key"),
        plot("stores-mixed", "Half lookups, half insertions, by memory", &table, "mixed ns", "ns of CPU an operation"),
        plot("stores-written", "Bytes written for an insertion", &table, "written a key inserted", "bytes a key"),
    ];
    let mut notes = vec![format!(
        "Keys are inserted {TRANSACTION} at a time, in one batch or transaction; in the mixed load, {MIXED} \
            at a time."
    )];
    if !unfinished.is_empty() {
        let seconds = ENOUGH_NS / 1_000_000_000;
        notes.push(format!(
            "These phases were ended after {seconds} s of CPU time, and their costs are those until then: {}.",
            unfinished.join("; ")
        ));
    }
    for (compiled, feature, stores) in [
        (cfg!(feature = "rivals"), "rivals", "LMDB, redb and fjall"),
        (cfg!(feature = "rocksdb"), "rocksdb", "RocksDB, of the system's library"),
    ] {
        let without = if compiled { "which this build has" } else { "which this build lacks" };
        notes.push(format!("{stores}: part of the feature `{feature}`, {without}."));
    }
    let verdict = verdict(&table, memories);
    Ok(Finding::new(
        "Uniform 64-bit keys without values, all new; half of the keys that are looked up are present.",
        verdict,
        [table],
        plots,
    )
    .with_notes(notes))
}

/// Measures all stores. Returns the table, and a text for each phase that was ended before its end.
fn measure(load: &Load, memories: &[u64], context: &Context) -> Result<(Table, Vec<String>)> {
    let mut table = Table::new(
        "stores",
        format!(
            "{} keys put in if they are absent, then {} operations, half lookups and half new keys",
            load.keys, load.mixed
        ),
        [
            MEMORY,
            "store",
            "insert ns",
            "read a key inserted",
            "written a key inserted",
            "stored a key",
            "mixed ns",
            "read an operation",
            "written an operation",
        ],
    );
    let bar = context.bar((memories.len() * STORES.len()) as u64, "stores");
    let mut unfinished = vec![];
    for &memory in memories {
        for (name, open) in STORES {
            bar.set_message(*name);
            let directory = WorkDirectory::create(&std::env::temp_dir())?;
            let mut store = open(directory.path(), memory)?;
            let filled = load.fill(store.as_mut())?;
            let each = stored(directory.path())? as f64 / filled.operations as f64;
            let mixed = load.mix(store.as_mut(), filled.operations)?;
            let mib = memory as f64 / f64::from(1 << 20);
            if filled.operations < load.keys || mixed.as_ref().is_some_and(|mixed| mixed.operations < load.mixed) {
                let mixed = mixed.as_ref().map_or(0, |mixed| mixed.operations);
                unfinished
                    .push(format!("{name} with {mib} MiB after {} keys and {mixed} operations", filled.operations));
            }
            let mixed = mixed.map_or(["no answers"; 3].map(Cell::from), |mixed| mixed.cells());
            let names = [mib.into(), (*name).into()];
            table.push(names.into_iter().chain(filled.cells()).chain([each.into()]).chain(mixed));
            bar.inc(1);
        }
    }
    Ok((table, unfinished))
}

fn plot(name: &str, title: &str, table: &Table, column: &str, unit: &str) -> Plot {
    let plot = Plot::new(name, title, Axis::log("MiB of memory"), Axis::log(unit));
    plot.lines(table, [MEMORY, column], STORES.iter().map(|(store, _)| *store), |store| [("store", store.into())])
}

fn verdict(table: &Table, memories: &[u64]) -> Verdict {
    let texts = memories.iter().map(|&memory| {
        let mib = memory as f64 / f64::from(1 << 20);
        let of = |store: &str, column: &str| {
            table.points(MEMORY, column, &[("store", store.into()), (MEMORY, mib.into())])[0].1
        };
        let others = STORES.iter().filter(|(name, _)| ![CASCADE, "sort-merge file"].contains(name));
        let times = others.map(|(name, _)| {
            let times = |column: &str| brief(of(name, column) / of(CASCADE, column));
            format!(
                "{name} {} (mixed {}, written {})",
                times("insert ns"),
                times("mixed ns"),
                times("written a key inserted")
            )
        });
        let times = times.collect::<Vec<_>>().join(", ");
        format!(
            "With {} MiB, furui takes {} ns to insert a key and {} ns for an operation of the mixed load, and writes \
                {} bytes a key{}.",
            brief(mib),
            brief(of(CASCADE, "insert ns")),
            brief(of(CASCADE, "mixed ns")),
            brief(of(CASCADE, "written a key inserted")),
            if times.is_empty() { String::new() } else { format!("; as multiples of that: {times}") }
        )
    });
    Verdict::new(Grade::Measured, texts.collect::<Vec<_>>().join(" "))
}
