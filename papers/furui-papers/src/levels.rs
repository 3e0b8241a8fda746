//! Three candidates for the level of the cascade in RAM: the flat table, a quotient filter of whole hashes, and a hash set.

use std::collections::HashSet;
use std::error::Error;
use std::hash::{BuildHasherDefault, Hasher};

use furui::KeyHash;
use furui::filter::{FilterMut, QuotientFilter};
use furui::store::Memory;
use furui::store::cascade::{Cascade, CascadeOptions};

use crate::clock::{median, thread_ns};
use crate::keys::mix;

const KEYS: usize = 8_000_000;
const BATCH: usize = 8192;
const ROUNDS: usize = 5;
/// The load of the quotient filter when all keys are inserted.
const LOAD: f64 = 0.90;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Inserts new keys in batches, and then the same keys again, into each level in turn.
pub(crate) fn run() -> Result<()> {
    let keys: Vec<KeyHash> = (0..KEYS as u64).map(|i| KeyHash::new(mix(i))).collect();
    let mut rounds: Vec<Vec<Sample>> = LEVELS.iter().map(|_| vec![]).collect();
    for _ in 0..ROUNDS {
        for ((_, level), samples) in LEVELS.iter().zip(&mut rounds) {
            samples.push(level(&keys)?);
        }
    }
    println!("{KEYS} uniform keys, insert-if-absent in batches of {BATCH}; CPU time, median of {ROUNDS} (range)");
    println!("{:40}{:>26}{:>26}{:>16}", "", "ns a new key", "ns a repeat", "bytes a key");
    for ((name, _), samples) in LEVELS.iter().zip(&rounds) {
        let new = show(samples.iter().map(|sample| sample.new_ns));
        let repeat = show(samples.iter().map(|sample| sample.repeat_ns));
        println!("{name:40}{new:>26}{repeat:>26}{:>16.2}", samples[0].bytes as f64 / KEYS as f64);
    }
    Ok(())
}

fn show(samples: impl Iterator<Item = f64>) -> String {
    let mut samples: Vec<f64> = samples.collect();
    let middle = median(&mut samples);
    format!("{middle:.1} ({:.1} to {:.1})", samples[0], samples[samples.len() - 1])
}

/// The CPU time and the memory of one level.
struct Sample {
    new_ns: f64,
    repeat_ns: f64,
    bytes: u64,
}

type Level = fn(&[KeyHash]) -> Result<Sample>;

const LEVELS: [(&str, Level); 5] = [
    ("Cascade, 1 GiB, grows", |keys| cascade(keys, BATCH)),
    ("Cascade, 1 GiB, a key a call", |keys| cascade(keys, 1)),
    ("QuotientFilter, presized, insert", quotient),
    ("QuotientFilter, presized, insert_all", quotient_all),
    ("HashSet<u64>, hash as it is, grows", hash_set),
];

/// Inserts `call` keys in each call. If `call` is 1, nothing is prefetched; since the other structures measured here do
/// not prefetch either, only the layouts differ then.
fn cascade(keys: &[KeyHash], call: usize) -> Result<Sample> {
    let mut cascade = Cascade::open(Memory::default(), CascadeOptions { memory: 1 << 30, ..Default::default() })?;
    let mut new = Vec::with_capacity(BATCH);
    let (new_ns, repeat_ns) = twice(keys, |batch| {
        new.clear();
        batch.chunks(call).try_for_each(|keys| cascade.insert_all(keys, &mut new))?;
        Ok(new.len() as u64)
    })?;
    assert!(cascade.runs().is_empty(), "it is to stay in RAM");
    Ok(Sample { new_ns, repeat_ns, bytes: cascade.resident_bytes() })
}

/// Inserts keys one by one. Each insertion returns whether the key was new, which the cascade has to know.
fn quotient(keys: &[KeyHash]) -> Result<Sample> {
    let mut filter = presized()?;
    let (new_ns, repeat_ns) =
        twice(keys, |batch| batch.iter().try_fold(0, |new, &key| Ok(new + u64::from(filter.insert_hash(key)?))))?;
    Ok(Sample { new_ns, repeat_ns, bytes: filter.bits() / 8 })
}

/// Inserts sorted batches. An insertion returns how many keys were new, but not which.
fn quotient_all(keys: &[KeyHash]) -> Result<Sample> {
    let mut filter = presized()?;
    let (new_ns, repeat_ns) = twice(keys, |batch| Ok(filter.insert_all(batch)?))?;
    Ok(Sample { new_ns, repeat_ns, bytes: filter.bits() / 8 })
}

fn presized() -> Result<QuotientFilter> {
    Ok(QuotientFilter::with_fingerprint_bits((KEYS as f64 / LOAD).ceil() as u64, 64)?)
}

fn hash_set(keys: &[KeyHash]) -> Result<Sample> {
    let mut set: HashSet<u64, BuildHasherDefault<Identity>> = HashSet::default();
    let (new_ns, repeat_ns) = twice(keys, |batch| Ok(batch.iter().map(|key| u64::from(set.insert(key.get()))).sum()))?;
    // The number of buckets is a power of two, and at most 7/8 of them are in use. Each has a key and a control byte.
    let buckets = (set.capacity() as u64 * 8).div_ceil(7).next_power_of_two();
    Ok(Sample { new_ns, repeat_ns, bytes: buckets * 9 })
}

/// Measures the first and the second insertion of all keys, in nanoseconds for each key. `insert` inserts a batch, and
/// returns how many keys were new.
fn twice(keys: &[KeyHash], mut insert: impl FnMut(&[KeyHash]) -> Result<u64>) -> Result<(f64, f64)> {
    let mut time = |expected: u64| -> Result<f64> {
        let start = thread_ns();
        let new = keys.chunks(BATCH).try_fold(0, |new, batch| Ok::<_, Box<dyn Error>>(new + insert(batch)?))?;
        let ns = (thread_ns() - start) as f64 / keys.len() as f64;
        assert_eq!(new, expected, "every key is new once");
        Ok(ns)
    };
    Ok((time(keys.len() as u64)?, time(0)?))
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole hashes are hashed");
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
