//! The storage level of the cascade: the space of a run, and the time to encode, decode, merge and search its pages.

use std::hint::black_box;
use std::io;
use std::sync::Arc;

use furui::raw::{MERGE_WINDOW, Merge, PAGE_BYTES, Page, RemainderBits, RunWriter, SortedSource};
use furui::store::cascade::Run;
use furui::store::{Fingerprints, ReadAt, Scratch, Storage};
use furui::{HashSpec, Result};

use crate::clock::{median, ns_each};
use crate::keys::mix;

const ROUNDS: usize = 7;

/// The number of keys in a merge. Merges run in memory: 4 M keys are 21 MB of pages.
const MERGED: usize = 4_000_000;

/// The numbers of keys of the runs for lookups. These runs are files in the page cache.
const RUNS: [usize; 3] = [5_000_000, 20_000_000, 100_000_000];

pub(crate) fn run(what: Option<&str>) -> Result<()> {
    let all = what.is_none();
    if all || what == Some("page") {
        println!("## pages, ns a key");
        page(5_000_000);
    }
    if all || what == Some("merge") {
        println!("## merges of {MERGED} keys, ns a key");
        merges()?;
    }
    if all || what == Some("lookup") {
        println!("## runs");
        for count in RUNS {
            lookups(count)?;
        }
    }
    Ok(())
}

/// Returns sorted, distinct, uniform keys: the first `count` numbers of a splitmix64 sequence, which has no repeats.
fn sorted_keys(count: usize) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..count as u64).map(mix).collect();
    keys.sort_unstable();
    keys
}

fn page(count: usize) {
    let keys = sorted_keys(count);
    let bits = RemainderBits::for_keys(count as u64, Fingerprints::EXACT);
    let mut pages = vec![];
    let mut rest = &keys[..];
    while !rest.is_empty() {
        let mut page = [0; PAGE_BYTES];
        let taken = Page::encode(rest, bits, &mut page);
        pages.push((page, rest[..taken].to_vec()));
        rest = &rest[taken..];
    }
    // A hundred pages stay in the L2 cache, so that the search is measured and not the memory.
    let near = &pages[..100];
    let queries: Vec<(usize, u64)> = (0..1_000_000)
        .map(|i| {
            let index = mix(i) as usize % near.len();
            let keys = &near[index].1;
            let key = keys[mix(i + count as u64) as usize % keys.len()];
            (index, if i % 2 == 0 { key } else { key ^ 1 << 20 })
        })
        .collect();
    let mut times: [Vec<f64>; 4] = Default::default();
    let mut page = [0; PAGE_BYTES];
    let mut decoded = vec![];
    for _ in 0..ROUNDS {
        times[0].push(ns_each(count, || {
            for (_, keys) in &pages {
                Page::encode(keys, bits, &mut page);
                black_box(&page);
            }
        }));
        times[1].push(ns_each(count, || {
            for (page, keys) in &pages {
                decoded.clear();
                Page::new(page, keys[0], bits).expect("just encoded").decode(&mut decoded).expect("just encoded");
                black_box(&decoded);
            }
        }));
        times[2].push(ns_each(count, || {
            for (page, keys) in &pages {
                Page::new(page, keys[0], bits).expect("just encoded").check().expect("just encoded");
            }
        }));
        times[3].push(ns_each(queries.len(), || {
            for (index, key) in &queries {
                black_box(Page::new(&near[*index].0, near[*index].1[0], bits).expect("just encoded").contains(*key));
            }
        }));
    }
    for (what, times) in ["encode with checksum", "decode", "checksum", "lookup, in cache"].iter().zip(&mut times) {
        println!("{what:24}{:8.2}", median(times));
    }
}

fn merges() -> Result<()> {
    let keys = sorted_keys(MERGED);
    let ways = [1, 2, 4, 8];
    let inputs: Vec<Inputs> = ways.iter().map(|&ways| Inputs::new(&keys, ways)).collect::<Result<_>>()?;
    let mut whole = vec![vec![]; ways.len()];
    let mut decode = vec![vec![]; ways.len()];
    let mut bare = vec![vec![]; ways.len()];
    let mut rival = vec![vec![]; ways.len()];
    for _ in 0..ROUNDS {
        for (i, inputs) in inputs.iter().enumerate() {
            whole[i].push(inputs.merge_runs()?);
            decode[i].push(inputs.decode_runs()?);
            bare[i].push(inputs.merge_slices()?);
        }
        for (i, &ways) in ways.iter().enumerate().skip(1) {
            rival[i].extend(rival_merge(ways));
        }
    }
    println!("{:6}{:>16}{:>16}{:>16}{:>16}", "ways", "whole", "read and decode", "merge of slices", "qfilter");
    for (i, ways) in ways.iter().enumerate() {
        let (whole, decode, bare) = (median(&mut whole[i]), median(&mut decode[i]), median(&mut bare[i]));
        print!("{ways:<6}{whole:16.2}{decode:16.2}{bare:16.2}");
        if !rival[i].is_empty() {
            print!("{:16.2}", median(&mut rival[i]));
        }
        println!();
    }
    Ok(())
}

/// Keys that are distributed among several sources, as slices and as runs in memory.
struct Inputs {
    slices: Vec<Vec<u64>>,
    runs: Vec<Run<Arc<[u8]>>>,
}

impl Inputs {
    fn new(keys: &[u64], ways: usize) -> Result<Self> {
        let mut slices = vec![vec![]; ways];
        for &key in keys {
            slices[mix(key) as usize % ways].push(key);
        }
        let runs = slices.iter().map(|keys| {
            let mut file = vec![];
            let mut writer = RunWriter::new(&mut file, "memory", HashSpec::default(), keys.len() as u64)?;
            writer.push(keys)?;
            writer.finish()?;
            Run::open(file.into(), "memory", HashSpec::default())
        });
        Ok(Self { runs: runs.collect::<Result<_>>()?, slices })
    }

    /// Merges the runs into a run: reads, checks, decodes, merges, encodes and computes checksums. The output is discarded.
    fn merge_runs(&self) -> Result<f64> {
        let mut result = Ok(());
        let ns = ns_each(MERGED, || {
            result = (|| {
                let mut writer = RunWriter::new(io::sink(), "sink", HashSpec::default(), MERGED as u64)?;
                let mut merge = Merge::new(self.runs.iter().map(Run::reader).collect());
                loop {
                    let keys = merge.next_keys()?;
                    if keys.is_empty() {
                        break;
                    }
                    writer.push(keys)?;
                }
                assert_eq!(writer.finish()?.keys, MERGED as u64);
                Ok(())
            })();
        });
        result.map(|()| ns)
    }

    fn decode_runs(&self) -> Result<f64> {
        let mut result = Ok(());
        let ns = ns_each(MERGED, || {
            result = self.runs.iter().try_for_each(|run| {
                let mut reader = run.reader();
                loop {
                    let count = reader.fill()?.len().min(MERGE_WINDOW);
                    if count == 0 {
                        return Ok(());
                    }
                    reader.consume(count);
                }
            });
        });
        result.map(|()| ns)
    }

    fn merge_slices(&self) -> Result<f64> {
        let mut result = Ok(());
        let ns = ns_each(MERGED, || {
            result = (|| {
                let mut merge = Merge::new(self.slices.iter().map(|keys| &keys[..]).collect());
                while !black_box(merge.next_keys()?).is_empty() {}
                Ok(())
            })();
        });
        result.map(|()| ns)
    }
}

/// Merges filters of the rival in pairs until one is left. This is the rival's equivalent of a merge of runs. The
/// filters hold whole hashes, and are nine tenths full.
#[cfg(feature = "rivals")]
fn rival_merge(ways: usize) -> Option<f64> {
    const ALL: usize = (1 << 21) * 9 / 10;
    let each = ALL / ways;
    let filter = |part: usize| {
        let mut filter = qfilter::Filter::with_fingerprint_size(each as u64, 64).expect("64 bits are allowed");
        for i in 0..each {
            filter.insert_fingerprint(false, mix((i * ways + part) as u64)).expect("room for nine tenths");
        }
        filter
    };
    let mut filters: Vec<_> = (0..ways).map(filter).collect();
    Some(ns_each(ALL, || {
        while filters.len() > 1 {
            let right = filters.split_off(filters.len() / 2);
            for (left, right) in filters.iter_mut().zip(&right) {
                left.merge(true, right).expect("the filter grows");
            }
        }
    }))
}

#[cfg(not(feature = "rivals"))]
fn rival_merge(_ways: usize) -> Option<f64> {
    None
}

/// A file that reports that it is not mapped.
struct Read<F>(F);

impl<F: ReadAt> ReadAt for Read<F> {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, buf)
    }
}

fn lookups(count: usize) -> Result<()> {
    let keys = sorted_keys(count);
    let storage = Scratch::new(std::env::temp_dir());
    let written = storage.publish("run", |out| {
        let mut writer = RunWriter::new(out, "run", HashSpec::default(), count as u64)?;
        writer.push(&keys)?;
        writer.finish()
    })?;
    let bits = written.seal.length as f64 * 8.0 / count as f64;
    let floor = 64.0 - (count as f64).log2() + std::f64::consts::LOG2_E;
    println!(
        "{count} keys: {bits:.3} bits a key in all ({:.3} bytes), floor {floor:.3}: {:.4}",
        bits / 8.0,
        bits / floor
    );

    let mapped = Run::open(storage.open("run")?, "run", HashSpec::default())?;
    let read = Run::open(Read(storage.open("run")?), "run", HashSpec::default())?;
    // Every page is touched and checked once before the clock starts.
    mapped.verify()?;
    let mut found = vec![false; count];
    mapped.contains_sorted(&keys, &mut found)?;
    read.contains_sorted(&keys, &mut found)?;
    drop(found);

    const LOOKUPS: usize = 1 << 18;
    let queries: Vec<u64> = (0..LOOKUPS as u64)
        .map(|i| if i % 2 == 0 { keys[mix(i + (1 << 40)) as usize % count] } else { mix(i + (1 << 41)) })
        .collect();
    for (name, batch) in [("single", 1), ("batch 4096", 4096), ("batch 65536", 65536)] {
        let mut sorted = queries.clone();
        sorted.chunks_mut(batch).for_each(<[u64]>::sort_unstable);
        let (mut map, mut pread) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            map.push(look_up(&mapped, &sorted, batch)?);
            pread.push(look_up(&read, &sorted, batch)?);
        }
        println!("  {name:14}mapped {:7.1} ns   read {:7.1} ns", median(&mut map), median(&mut pread));
    }
    Ok(())
}

fn look_up<F: ReadAt>(run: &Run<F>, queries: &[u64], batch: usize) -> Result<f64> {
    let mut found = vec![false; queries.len()];
    let mut result = Ok(());
    let ns = ns_each(queries.len(), || {
        result = queries.chunks(batch).zip(found.chunks_mut(batch)).try_for_each(|(hashes, found)| {
            if let ([hash], [found]) = (hashes, &mut *found) {
                *found = run.contains(*hash)?;
                return Ok(());
            }
            run.contains_sorted(hashes, found)
        });
    });
    assert_eq!(found.iter().filter(|found| **found).count(), queries.len() / 2, "the present half is found");
    result.map(|()| ns)
}
