//! The time per key of insertions into, and lookups in, a set a few times larger than its memory, compared with rival
//! stores in the same rounds.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use furui::KeyHash;
use furui::raw::PAGE_BYTES;
use furui::store::cascade::Cascade;
use furui::store::{Directory, Storage};

use crate::clock::{median, timed};
use crate::keys::mix;
use crate::report::Result;
use crate::store::counted::{Counted, Reads};
use crate::store::sort_merge::SortMerge;
use crate::store::{Store, TRANSACTION, ours, stored};

const KEYS: u64 = 5_000_000;
const MEMORY: u64 = 16 << 20;
/// The number of lookups in each store. Every second key that is looked up is present.
const LOOKUPS: usize = 1 << 20;
const ROUNDS: usize = 3;
const BATCHES: [usize; 2] = [4096, 65536];

/// The name of the store to whose times those of the others are compared.
const RIVAL: &str = "LMDB";

pub(super) fn run(directory: &Path) -> Result<()> {
    let queries: Vec<u64> =
        (0..LOOKUPS as u64).map(|i| mix(if i % 2 == 0 { mix(i) % KEYS } else { KEYS + i })).collect();
    let mut insertions = Table::default();
    let mut lookups = Table::default();
    for round in 0..ROUNDS {
        let directory = directory.join(round.to_string());
        fs::create_dir(&directory)?;
        let mut sorted = SortMerge::create(&directory, MEMORY)?;
        insertions.add("sort-merge file, which answers at the merge", fill(&mut sorted, false)?);
        assert_eq!(sorted.len, KEYS);
        let set = directory.join("furui");
        insert(&set, &mut insertions)?;
        find(&set, &queries, &mut lookups)?;
        if round == 0 {
            pages_read(&set, &queries)?;
        }
        ours::open(Directory::open(&set)?, MEMORY)?.compact()?;
        find(&set, &queries, &mut lookups)?;
        if round == 0 {
            pages_read(&set, &queries)?;
        }
        #[cfg(feature = "rivals")]
        against::run(&directory, &queries, &mut insertions, &mut lookups)?;
        fs::remove_dir_all(&directory)?;
    }
    insertions.print(&format!("insert-if-absent of {KEYS} uniform keys, all new, with {} MiB", MEMORY >> 20));
    lookups.print(&format!("{LOOKUPS} random lookups, half present"));
    Ok(())
}

fn insert(directory: &Path, insertions: &mut Table) -> Result<()> {
    let mut set = ours::open(Directory::open(directory)?.mapped(false), MEMORY)?;
    let (ns, most_runs) = timed(KEYS as usize, || ours::insert(&mut set, KEYS, mix));
    let most_runs = most_runs?;
    insertions.add("furui, the command line's batches", ns);
    assert_eq!(set.len(), KEYS);
    println!(
        "furui: {most_runs} runs at most, {} in the end; {:.2} bytes a key written, {:.2} stored",
        set.runs().len(),
        set.written() as f64 / KEYS as f64,
        stored(directory)? as f64 / KEYS as f64
    );
    Ok(())
}

fn find(directory: &Path, queries: &[u64], lookups: &mut Table) -> Result<()> {
    for (how, mapped) in [("mapped", true), ("read", false)] {
        let mut set = ours::open(Directory::open(directory)?.mapped(mapped), MEMORY)?;
        let name = format!("furui, {} run(s), {how}", set.runs().len());
        // Rivals still have everything in memory from their insertions. This set has just been opened, so a first
        // pass maps or reads each page and checks it.
        find_sorted(&mut set, queries, LOOKUPS)?;
        for batch in BATCHES {
            let (ns, found) = timed(LOOKUPS, || find_sorted(&mut set, queries, batch));
            assert_eq!(found?, LOOKUPS / 2);
            lookups.add(&format!("{name}, batches of {batch}"), ns);
        }
        let (ns, found) = timed(LOOKUPS, || find_each(&set, queries));
        assert_eq!(found?, LOOKUPS / 2);
        lookups.add(&format!("{name}, single"), ns);
    }
    Ok(())
}

/// The number of `queries` that the set contains, looked up in batches, which the set sorts.
fn find_sorted<S: Storage>(set: &mut Cascade<S>, queries: &[u64], batch: usize) -> Result<usize> {
    let (mut keys, mut found, mut count) = (vec![], vec![], 0);
    for queries in queries.chunks(batch) {
        keys.clear();
        keys.extend(queries.iter().copied().map(KeyHash::new));
        set.contains_all(&keys, &mut found)?;
        count += found.iter().filter(|&&found| found).count();
    }
    Ok(count)
}

/// The number of `queries` that the set contains, looked up one by one.
fn find_each<S: Storage>(set: &Cascade<S>, queries: &[u64]) -> Result<usize> {
    let mut count = 0;
    for &key in queries {
        count += usize::from(set.contains(KeyHash::new(key))?);
    }
    Ok(count)
}

/// Prints the number of pages and of read calls of a lookup, divided by the number of runs.
fn pages_read(directory: &Path, queries: &[u64]) -> Result<()> {
    let reads = Arc::new(Reads::default());
    let storage = Counted { storage: Directory::open(directory)?.mapped(false), reads: Arc::clone(&reads) };
    let mut set = ours::open(storage, MEMORY)?;
    let runs = set.runs().len() as u64;
    println!("pages read a lookup and run, {runs} run(s):");
    let per_lookup = |count: u64| count as f64 / (LOOKUPS as u64 * runs) as f64;
    reads.take();
    for batch in BATCHES {
        find_sorted(&mut set, queries, batch)?;
        let (calls, bytes) = reads.take();
        println!(
            "batches of {batch:5}: {:.3}, in {:.3} reads",
            per_lookup(bytes / PAGE_BYTES as u64),
            per_lookup(calls)
        );
    }
    let (mut most, mut sum) = (0, 0);
    for &key in queries {
        set.contains(KeyHash::new(key))?;
        let pages = reads.take().1.div_ceil(PAGE_BYTES as u64);
        most = most.max(pages);
        sum += pages;
    }
    println!("single:           {:.3}; at most {most} a lookup, in all runs", per_lookup(sum));
    Ok(())
}

/// Inserts all keys into a store, or each batch in the order of its keys. Returns the nanoseconds a key.
fn fill(store: &mut dyn Store, sorted: bool) -> Result<f64> {
    let (ns, filled) = timed(KEYS as usize, || {
        let mut keys = vec![];
        for start in (0..KEYS).step_by(TRANSACTION as usize) {
            keys.clear();
            keys.extend((start..KEYS.min(start + TRANSACTION)).map(mix));
            if sorted {
                keys.sort_unstable();
            }
            let new = store.insert(&keys)?;
            assert!(new.is_none_or(|new| new == keys.len() as u64), "every key is new");
        }
        store.sync()
    });
    filled.map(|()| ns)
}

#[cfg(feature = "rivals")]
mod against {
    use super::*;
    use crate::store::rivals::{Lmdb, Redb};

    pub(super) fn run(directory: &Path, queries: &[u64], insertions: &mut Table, lookups: &mut Table) -> Result<()> {
        let mut lmdb = Lmdb::create(&fresh(directory, "lmdb")?)?;
        insertions.add(RIVAL, fill(&mut lmdb, false)?);
        lookups.add(RIVAL, find(&mut lmdb, queries)?);
        drop(lmdb);

        let mut tuned = Lmdb::create_tuned(&fresh(directory, "tuned")?)?;
        insertions.add("LMDB tuned", fill(&mut tuned, false)?);
        lookups.add("LMDB tuned", find(&mut tuned, queries)?);
        for batch in BATCHES {
            let (ns, found) = timed(LOOKUPS, || -> Result<usize> {
                queries.chunks(batch).try_fold(0, |count, keys| {
                    let mut sorted = keys.to_vec();
                    sorted.sort_unstable();
                    Ok(count + tuned.count(&sorted)?.unwrap_or(0))
                })
            });
            assert_eq!(found?, LOOKUPS / 2);
            lookups.add(&format!("LMDB tuned, batches of {batch} sorted for it"), ns);
        }
        drop(tuned);
        let mut tuned = Lmdb::create_tuned(&fresh(directory, "tuned-sorted")?)?;
        insertions.add("LMDB tuned, transactions sorted for it", fill(&mut tuned, true)?);
        drop(tuned);

        let mut redb = Redb::create(&fresh(directory, "redb")?, MEMORY as usize)?;
        insertions.add("redb", fill(&mut redb, false)?);
        lookups.add("redb", find(&mut redb, queries)?);
        Ok(())
    }

    fn fresh(directory: &Path, name: &str) -> Result<std::path::PathBuf> {
        let path = directory.join(name);
        fs::create_dir(&path)?;
        Ok(path)
    }

    fn find(store: &mut dyn Store, queries: &[u64]) -> Result<f64> {
        let (ns, found) = timed(LOOKUPS, || store.count(queries));
        assert_eq!(found?, Some(LOOKUPS / 2));
        Ok(ns)
    }
}

/// The times of each contestant in each round, in nanoseconds a key.
#[derive(Default)]
struct Table(Vec<(String, Vec<f64>)>);

impl Table {
    fn add(&mut self, name: &str, ns: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, samples)) => samples.push(ns),
            None => self.0.push((name.to_owned(), vec![ns])),
        }
    }

    /// Prints the medians, and their ratios to the rival's if it took part.
    fn print(mut self, title: &str) {
        println!("\n## {title}\n\n| what | ns of CPU, median | least to most | of {RIVAL} |\n|---|---|---|---|");
        self.0.iter_mut().for_each(|(_, samples)| samples.sort_by(f64::total_cmp));
        let rival = self.0.iter_mut().find(|(name, _)| name == RIVAL).map(|(_, samples)| median(samples));
        for (name, samples) in &mut self.0 {
            let ns = median(samples);
            let ratio = rival.map_or("-".into(), |rival| format!("{:.3}", ns / rival));
            println!("| {name} | {ns:.1} | {:.1} to {:.1} | {ratio} |", samples[0], samples[samples.len() - 1]);
        }
    }
}
