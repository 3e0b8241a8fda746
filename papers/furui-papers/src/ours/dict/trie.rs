//! One frozen trie: its size, the time to build it, and random hits and misses, one at a time and in batches, compared
//! with the crates fst and rsmarisa where they are built in (feature `rivals`).
//!
//! The keys are lines of a file, or made-up paths for the name `made-up`, shuffled by a fixed seed. The value of a key
//! is its position in that order, so values are as good as random. The next 500 000 lines are the misses. Keys are
//! sorted before the clock starts, because fst requires sorted keys, and freezing a buffer sorts them anyway.

use std::hint::black_box;

use furui::raw::{Found, Skeleton, Trie};

use super::{copied, shuffled};
use crate::clock::{median, ns_each, thread_ns};
use crate::keys::{mix, scale};
use crate::louds_tries::made_up_paths;
use crate::report::Result;

const KEYS: usize = 5_000_000;
const MISSES: usize = 500_000;
const LOOKUPS: usize = 300_000;
const ROUNDS: usize = 7;

pub(crate) fn run(file: &str, keys: Option<&str>) -> Result<()> {
    let wanted: usize = keys.map_or(Ok(KEYS), str::parse)?;
    let text = match file {
        "made-up" => made_up_paths(1, wanted + 2 * MISSES),
        file => std::fs::read(file)?,
    };
    let lines = shuffled(&text);
    let count = wanted.min(lines.len().saturating_sub(MISSES));
    let (keys, misses) = (&lines[..count], &lines[count..(count + MISSES).min(lines.len())]);
    let mut sorted: Vec<(&[u8], u32)> = keys.iter().zip(0..).map(|(&key, value)| (key, value)).collect();
    sorted.sort_unstable();
    let bytes: usize = keys.iter().map(|key| key.len()).sum();
    println!("{count} keys of {:.2} bytes", bytes as f64 / count as f64);

    let (trie, build) = build(&sorted)?;
    let bytes = print_size(&trie, count);

    #[cfg(feature = "rivals")]
    let rival = {
        let mut builds = vec![];
        let mut map = None;
        for _ in 0..if count > 1_000_000 { 1 } else { 3 } {
            let start = thread_ns();
            let mut builder = fst::MapBuilder::memory();
            for &(key, value) in &sorted {
                builder.insert(key, u64::from(value))?;
            }
            map = Some(builder.into_map());
            builds.push((thread_ns() - start) as f64 / count as f64);
        }
        let map = map.ok_or("no build")?;
        let fst_build = median(&mut builds);
        println!("fst build: {fst_build:.0} ns a key; ours has {:.2} times its keys/s", fst_build / build);
        map
    };
    #[cfg(feature = "rivals")]
    let mut marisa = marisa::Marisa::build(&sorted, build)?;
    #[cfg(not(feature = "rivals"))]
    let _ = build;
    drop(sorted);

    for (i, &key) in keys.iter().enumerate() {
        assert_eq!(trie.get(key), Some(Found::Value(i as u32)), "{}", String::from_utf8_lossy(key));
    }
    for &key in misses {
        assert_eq!(trie.get(key), None, "{}", String::from_utf8_lossy(key));
    }
    let mut answers = vec![];
    let ours: [Contestant<'_>; 2] = [
        ("one at a time", bytes, Box::new(|queries| queries.iter().for_each(|query| _ = black_box(trie.get(query))))),
        ("batched", bytes, Box::new(|queries| trie.get_all(queries, &mut answers))),
    ];
    let mut contestants = Vec::from(ours);
    #[cfg(feature = "rivals")]
    {
        let bytes = rival.as_fst().as_bytes().len() as f64 / count as f64;
        let of_fst = |queries: &[&[u8]]| queries.iter().for_each(|query| _ = black_box(rival.get(query)));
        contestants.push(("fst", bytes, Box::new(of_fst)));
        let bytes = marisa.bytes() as f64 / count as f64;
        let of_marisa = |queries: &[&[u8]]| queries.iter().for_each(|query| _ = black_box(marisa.get(query)));
        contestants.push(("marisa", bytes, Box::new(of_marisa)));
    }
    let mut samples = vec![<[Vec<f64>; 2]>::default(); contestants.len()];
    for round in 0..ROUNDS {
        let pick = |list: &[&'_ [u8]], i: usize| -> usize {
            scale(mix((round * LOOKUPS + i) as u64), list.len() as u64) as usize
        };
        let hits: Vec<_> = (0..LOOKUPS).map(|i| keys[pick(keys, i)]).collect();
        let missed: Vec<_> = (0..LOOKUPS / 2).map(|i| misses[pick(misses, i)]).collect();
        let [mut of_hits, mut of_missed] = [vec![], vec![]];
        let queries = [copied(&hits, &mut of_hits), copied(&missed, &mut of_missed)];
        for (at, queries) in queries.iter().enumerate() {
            for ((.., ask), samples) in contestants.iter_mut().zip(&mut samples) {
                samples[at].push(ns_each(queries.len(), || ask(queries)));
            }
        }
    }
    let medians: Vec<[f64; 2]> = samples.into_iter().map(|of| of.map(|mut samples| median(&mut samples))).collect();
    let fst = contestants.iter().position(|(name, ..)| *name == "fst").map_or([f64::NAN; 2], |at| medians[at]);
    println!("\n| | hit ns | x fst | miss ns | x fst | bytes a key |");
    println!("|---|--:|--:|--:|--:|--:|");
    for ((name, bytes, _), [hit, miss]) in contestants.iter().zip(&medians) {
        println!("| {name} | {hit:.0} | {:.2} | {miss:.0} | {:.2} | {bytes:.3} |", hit / fst[0], miss / fst[1]);
    }
    Ok(())
}

/// The name of a row of the table, the bytes a key with values of 32 bits, and the function that looks up keys, whose
/// time is measured.
type Contestant<'a> = (&'static str, f64, Box<dyn FnMut(&[&[u8]]) + 'a>);

/// Builds this project's trie three times. Returns the trie, and the median time in nanoseconds a key.
fn build(sorted: &[(&[u8], u32)]) -> Result<(Trie, f64)> {
    let mut builds = vec![];
    let mut trie = None;
    for _ in 0..3 {
        drop(trie.take());
        let start = thread_ns();
        let skeleton = Skeleton::from_sorted(sorted.iter().map(|&(key, value)| (key, Some(value))))?;
        let middle = thread_ns();
        trie = Some(Trie::encode(&skeleton)?);
        let end = thread_ns();
        builds.push((end - start) as f64 / sorted.len() as f64);
        println!(
            "build: {:.0} ns a key ({:.0} for the skeleton), {:.2} M keys/s",
            (end - start) as f64 / sorted.len() as f64,
            (middle - start) as f64 / sorted.len() as f64,
            sorted.len() as f64 * 1e3 / (end - start) as f64
        );
    }
    Ok((trie.ok_or("no build")?, median(&mut builds)))
}

#[cfg(feature = "rivals")]
mod marisa {
    use rsmarisa::{Agent, Keyset, Trie};

    use crate::clock::thread_ns;

    /// A marisa-trie, which numbers its keys, with an array of values that makes it a map.
    pub(super) struct Marisa {
        trie: Trie,
        agent: Agent,
        values: Vec<u32>,
    }

    impl Marisa {
        /// Builds the map from sorted keys. `ours` is the time of this project's trie, in nanoseconds a key.
        pub(super) fn build(sorted: &[(&[u8], u32)], ours: f64) -> std::io::Result<Self> {
            let start = thread_ns();
            let mut keys = Keyset::new();
            for (key, _) in sorted {
                keys.push_back_bytes(key, 1.0)?;
            }
            let mut trie = Trie::new();
            trie.build(&mut keys, 0);
            let mut values = vec![0; sorted.len()];
            for (i, &(_, value)) in sorted.iter().enumerate() {
                values[keys.get(i).id()] = value;
            }
            let build = (thread_ns() - start) as f64 / sorted.len() as f64;
            drop(keys);
            let index = trie.io_size() as f64 / sorted.len() as f64;
            let bits = usize::BITS - (sorted.len() - 1).leading_zeros();
            println!(
                "marisa: {index:.2} bytes a key the index, {:.2} with packed values, {:.2} with plain u32",
                index + f64::from(bits) / 8.0,
                index + 4.0
            );
            println!("marisa build: {build:.0} ns a key; ours has {:.2} times its keys/s", build / ours);
            let mut agent = Agent::new();
            agent.init_state()?;
            let mut marisa = Self { trie, agent, values };
            for &(key, value) in sorted.iter().step_by(97) {
                assert_eq!(marisa.get(key), Some(value), "{}", String::from_utf8_lossy(key));
            }
            Ok(marisa)
        }

        /// The size of the map.
        pub(super) fn bytes(&self) -> usize {
            self.trie.io_size() + 4 * self.values.len()
        }

        pub(super) fn get(&mut self, key: &[u8]) -> Option<u32> {
            self.agent.set_query_bytes(key);
            self.trie.lookup(&mut self.agent).then(|| self.values[self.agent.key().id()])
        }
    }
}

/// Prints the size of the trie's parts. Returns the bytes a key with values of 32 bits.
fn print_size(trie: &Trie, count: usize) -> f64 {
    let each = |bytes: u64| bytes as f64 / count as f64;
    for (name, bytes) in trie.sizes() {
        println!("  {name:12} {:8.4}", each(bytes));
    }
    let total = trie.bytes() as u64;
    let index = total - trie.sizes().iter().filter(|(name, _)| *name == "values").map(|&(_, bytes)| bytes).sum::<u64>();
    println!(
        "bytes a key: {:.3} with packed values, {:.3} with plain u32, {:.3} the index alone; {:.3} nodes a key",
        each(total),
        each(index) + 4.0,
        each(index),
        each(trie.nodes())
    );
    each(index) + 4.0
}
