//! Merging tries: alone, and with the filter; against filling the filter by a scan of the
//! finished trie.
//!
//! The keys are lines of a file, shuffled by a fixed seed and dealt at random to 2, 4 or 8 tries; a key's value is its place
//! in that order.

use std::hint::black_box;

use furui::KeyHash;
use furui::dict::{Skeleton, Trie};
use furui::filter::{Bloom, FilterMut};
use furui::hash::Rolling;

use super::trie::shuffled;
use crate::clock::{median, ns_each};
use crate::keys::mix;

const KEYS: usize = 5_000_000;
const ROUNDS: usize = 3;
const WAYS: [usize; 3] = [2, 4, 8];
const SEED: u64 = 2011;
/// 4 probes at the best size for them.
const RATE: f64 = 0.0625;

type Failure = Box<dyn std::error::Error>;

pub(crate) fn run(file: &str, keys: Option<&str>) -> Result<(), Failure> {
    let wanted: usize = keys.map_or(Ok(KEYS), str::parse)?;
    let parts = {
        let text = std::fs::read(file)?;
        let lines = shuffled(&text);
        let mut keys: Vec<(&[u8], u32)> =
            lines.iter().take(wanted).zip(0..).map(|(&key, value)| (key, value)).collect();
        keys.sort_unstable();
        WAYS.map(|ways| deal(&keys, ways))
    };
    let mut medians = vec![];
    for (ways, tries) in WAYS.into_iter().zip(parts) {
        medians.push(measure(ways, tries?)?);
    }
    println!(
        "| tries | merged | with the filter | filter by a scan instead | carried / scanned \
         | peak beside the sources, bytes a key | trie, bytes a key |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    medians.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn deal(keys: &[(&[u8], u32)], ways: usize) -> Result<Vec<Trie>, Failure> {
    (0..ways as u64)
        .map(|part| {
            let part = keys.iter().filter(|(_, value)| mix(u64::from(*value) ^ SEED << 32) % ways as u64 == part);
            let skeleton = Skeleton::from_sorted(part.map(|&(key, value)| (key, Some(value))))?;
            Ok(Trie::encode(&skeleton)?)
        })
        .collect()
}

fn measure(ways: usize, tries: Vec<Trie>) -> Result<String, Failure> {
    let tries: Vec<&Trie> = tries.iter().collect();
    let keys: usize = tries.iter().map(|trie| trie.keys() as usize).sum();
    let mut columns: [Vec<f64>; 3] = Default::default();
    let mut output = 0;
    let mut peak = 0;
    for _ in 0..ROUNDS {
        let mut failure = Ok(());
        let mut merged = None;
        reset_peak();
        let before = peak_bytes();
        let walk = ns_each(keys, || match Trie::merge(&tries, SEED, true) {
            Ok(ok) => merged = Some(ok),
            Err(error) => failure = Err(error),
        });
        failure?;
        let (trie, hashes) = merged.ok_or("not merged")?;
        let filter = ns_each(keys, || {
            black_box(fill(&hashes));
        });
        peak = peak_bytes() - before;
        drop(hashes);
        output = trie.bytes();
        let scan = ns_each(keys, || {
            black_box(fill(&scanned(&trie)));
        });
        for (column, ns) in columns.iter_mut().zip([walk, walk + filter, walk + scan]) {
            column.push(ns);
        }
        println!("{ways} tries: merge {walk:.0}, filter {filter:.0}, scan and filter {scan:.0}");
    }
    let [walk, all, scanned] = columns.map(|mut column| median(&mut column));
    let each = |bytes: usize| bytes as f64 / keys as f64;
    Ok(format!(
        "| {ways} | {walk:.0} | {all:.0} | {scanned:.0} | {:.2} | {:.1} | {:.1} |",
        all / scanned,
        each(peak),
        each(output)
    ))
}

fn fill(hashes: &[KeyHash]) -> Option<Bloom> {
    let mut filter = Bloom::with_rate(hashes.len() as u64, RATE).ok()?.hashed_by(Rolling::spec(SEED));
    filter.insert_all(hashes).ok()?;
    Some(filter)
}

/// The hashes of the keys of a finished trie, which is read once more.
fn scanned(trie: &Trie) -> Vec<KeyHash> {
    let spec = Rolling::spec(SEED);
    let mut hashes = Vec::with_capacity(trie.keys() as usize);
    let mut entries = trie.iter();
    while let Some((key, _)) = entries.next_entry() {
        hashes.push(spec.hash(key));
    }
    hashes
}

/// Begins a new measurement of the most memory that was resident. Where the system has no such thing, it stays.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that was resident since, in bytes; 0 if the system does not say.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()).unwrap_or(0) * 1024
}
