//! The times of merging compact tries: alone, while filling the filter that a dictionary gives its tries, and while
//! filling a Bloom filter of 4 probes. That Bloom filter is also filled by a scan of the finished trie, for comparison.
//! Also the times of merging LOUDS tries of these keys over virtual nodes: alone, and followed by encoding the keys of
//! the merged trie as a compact trie.
//!
//! The keys are lines of a file, shuffled by a fixed seed and dealt at random to 2, 4 or 8 tries. The value of a key is
//! its position in the shuffled order.

use std::hint::black_box;

use furui::KeyHash;
use furui::filter::{BlockedBloom, Bloom, FilterMut};
use furui::raw::{LoudsTrie, Merged, Node, Skeleton, SortedKeys, Trie, Value, freeze};
use furui::raw::{Rolling, RollingState};

use super::shuffled;
use crate::clock::{median, timed};
use crate::keys::mix;
use crate::ours::peak_bytes;
use crate::report::Result;

const KEYS: usize = 5_000_000;
const ROUNDS: usize = 3;
const WAYS: [usize; 3] = [2, 4, 8];
const SEED: u64 = 2011;
/// The false-positive rate of a Bloom filter that has the size for which 4 probes are best: 2⁻⁴.
const RATE: f64 = 0.0625;
/// The default false-positive rate of a dictionary's filters.
const OWN_RATE: f64 = 0.001;

pub(crate) fn run(file: &str, keys: Option<&str>) -> Result<()> {
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
        "| tries | merged | over virtual nodes | and encoded | with a dictionary's filter | with 4 probes | by a scan instead \
         | carried / scanned \
         | peak beside the sources, bytes a key | trie and filter, bytes a key | peak / trie and filter |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    medians.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn deal(keys: &[(&[u8], u32)], ways: usize) -> Result<Vec<Trie>> {
    (0..ways as u64)
        .map(|part| {
            let part = keys.iter().filter(|(_, value)| mix(u64::from(*value) ^ SEED << 32) % ways as u64 == part);
            let skeleton = Skeleton::from_sorted(part.map(|&(key, value)| (key, Some(value))))?;
            Ok(Trie::encode(&skeleton)?)
        })
        .collect()
}

fn measure(ways: usize, tries: Vec<Trie>) -> Result<String> {
    let tries: Vec<&Trie> = tries.iter().collect();
    let keys: usize = tries.iter().map(|trie| trie.keys() as usize).sum();
    let rolling = Rolling::new(SEED);
    let louds = tries.iter().map(|trie| as_louds(trie)).collect::<Result<Vec<_>, _>>()?;
    let mut columns: [Vec<f64>; 6] = Default::default();
    let mut output = 0;
    let mut peak = 0;
    for _ in 0..ROUNDS {
        let (alone, trie) = timed(keys, || Trie::merge(&tries, &rolling, true, |_| {}));
        let trie = trie?;
        let (virtual_nodes, by_nodes) = timed(keys, || over_virtual_nodes(&louds, &rolling));
        let by_nodes = by_nodes?;
        let (encoded, again) = timed(keys, || as_compact(&by_nodes));
        assert!(again?.iter().eq(trie.iter()), "the same keys and values");
        drop(by_nodes);
        let (scan, filled) = timed(keys, || scanned(&trie));
        black_box(filled?);
        drop(trie);
        let mut own = Fill::new(BlockedBloom::with_rate(keys as u64, OWN_RATE)?.hashed_by(Rolling::spec(SEED)));
        let (with_own, merged) = timed(keys, || {
            let merged = Trie::merge(&tries, &rolling, true, |hash| own.push(hash));
            own.insert();
            merged
        });
        drop((merged?, own));
        reset_peak();
        let before = peak_bytes();
        let mut filter = Fill::new(four_probes(keys)?);
        let (carried, merged) = timed(keys, || {
            let merged = Trie::merge(&tries, &rolling, true, |hash| filter.push(hash));
            filter.insert();
            merged
        });
        peak = peak_bytes() - before;
        let trie = merged?;
        output = trie.bytes() + filter.filter.bits() as usize / 8;
        for (column, ns) in
            columns.iter_mut().zip([alone, virtual_nodes, virtual_nodes + encoded, with_own, carried, alone + scan])
        {
            column.push(ns);
        }
        println!(
            "{ways} tries: merge {alone:.0}, over virtual nodes {virtual_nodes:.0}, encoded again {encoded:.0}, with filters {with_own:.0} and {carried:.0}, scan and filter {scan:.0}"
        );
    }
    let [alone, virtual_nodes, encoded, with_own, carried, scanned] = columns.map(|mut column| median(&mut column));
    let each = |bytes: usize| bytes as f64 / keys as f64;
    Ok(format!(
        "| {ways} | {alone:.0} | {virtual_nodes:.0} | {encoded:.0} | {with_own:.0} | {carried:.0} | {scanned:.0} | {:.2} | {:.1} | {:.1} | {:.2} |",
        carried / scanned,
        each(peak),
        each(output),
        peak as f64 / output as f64
    ))
}

/// Makes a LOUDS trie with the keys of a compact trie.
fn as_louds(trie: &Trie) -> Result<LoudsTrie> {
    let keys: Vec<(Vec<u8>, Value)> = trie.iter().map(|(key, found)| (key, found.value())).collect();
    Ok(freeze(SortedKeys::new(&keys)?.root(), (), |(), _| (), false, |()| {})?)
}

/// Merges LOUDS tries in one walk that carries the hashes, as a dictionary of LOUDS tries does.
fn over_virtual_nodes(tries: &[LoudsTrie], rolling: &Rolling) -> Result<LoudsTrie> {
    let root = Merged::new(tries.iter().map(LoudsTrie::root)).ok_or("no tries")?;
    let push = |&state: &RollingState, byte| rolling.push(state, byte);
    Ok(freeze(root, rolling.start(), push, true, |state| _ = black_box(state.finish()))?)
}

/// Makes a compact trie with the keys of a LOUDS trie.
fn as_compact(trie: &LoudsTrie) -> Result<Trie> {
    let (mut bytes, mut ends, mut path) = (vec![], vec![], vec![]);
    let mut to_do = vec![(trie.root(), 0)];
    while let Some((node, depth)) = to_do.pop() {
        path.truncate(depth);
        if depth > 0 {
            path[depth - 1] = node.alphabet();
        }
        if let Some(value) = node.value() {
            bytes.extend_from_slice(&path);
            ends.push((bytes.len(), value));
        }
        to_do.extend(node.sibling().map(|sibling| (sibling, depth)));
        to_do.extend(node.first_child().map(|child| (child, depth + 1)));
        path.push(0);
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    Ok(Trie::encode(&Skeleton::from_sorted(keys)?)?)
}

/// A filter that is being filled, and the hashes that wait to be inserted into it in one batch.
struct Fill<F> {
    filter: F,
    waiting: Vec<KeyHash>,
}

impl<F: FilterMut> Fill<F> {
    fn new(filter: F) -> Self {
        Self { filter, waiting: vec![] }
    }

    #[inline]
    fn push(&mut self, hash: KeyHash) {
        self.waiting.push(hash);
        if self.waiting.len() == 256 {
            self.insert();
        }
    }

    fn insert(&mut self) {
        self.filter.insert_all(&self.waiting).expect("a Bloom filter is never full");
        self.waiting.clear();
    }
}

fn four_probes(keys: usize) -> Result<Bloom> {
    Ok(Bloom::with_rate(keys as u64, RATE)?.hashed_by(Rolling::spec(SEED)))
}

/// Fills a filter with the keys of a finished trie, which are read back from the trie.
fn scanned(trie: &Trie) -> Result<Bloom> {
    let hasher = Rolling::spec(SEED).hasher();
    let mut filter = Fill::new(four_probes(trie.keys() as usize)?);
    let mut entries = trie.iter();
    while let Some((key, _)) = entries.next_entry() {
        filter.push(hasher.hash(key));
    }
    filter.insert();
    Ok(filter.filter)
}

/// Restarts the measurement of peak resident memory. Does nothing where the system does not support it.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
