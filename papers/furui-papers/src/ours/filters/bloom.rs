//! The Bloom filter, which takes the least space, and the cost of filling it from several threads.

use std::hint::black_box;

use furui::filter::{Bloom, Concurrent, FilterMut};
use furui::{Hashes, KeyHash, Result};

use super::{Batched, Contestant, Row, Single, report};
use crate::clock::{median, ns_each};
use crate::keys::mix;

const ROUNDS: usize = 9;

pub(super) fn run(n: usize) -> Result<()> {
    for (title, rival, rate) in [("1 %", "fastbloom, 1 %", 0.01), ("0.1 %", "fastbloom, 0.1 %", 0.001)] {
        report(title, n, rival, || {
            let filter = Bloom::with_rate(n as u64, rate)?;
            let bits = filter.bits();
            #[cfg_attr(not(feature = "rivals"), expect(unused_mut, reason = "rivals follow"))]
            let mut rows: Vec<Row> = vec![
                ("Bloom, batches", Box::new(Batched { bits, filter: filter.clone() })),
                ("Bloom, single", Box::new(Single { bits, filter: filter.clone() })),
                (
                    "Bloom, shared, batches",
                    Box::new(Shared { bits, filter: Concurrent::new(filter.clone())?, single: false }),
                ),
                (
                    "Bloom, shared, single, with its hash",
                    Box::new(Shared { bits, filter: Concurrent::new(filter)?, single: true }),
                ),
            ];
            #[cfg(feature = "rivals")]
            {
                rows.push((rival, Box::new(fastbloom::BloomFilter::with_false_pos(rate).expected_items(n))));
                let atomic = fastbloom::AtomicBloomFilter::with_false_pos(rate).expected_items(n);
                rows.push(("fastbloom, atomic", Box::new(atomic)));
                let bloomfilter = bloomfilter::Bloom::new_for_fp_rate(n, rate).expect("valid sizes");
                rows.push(("bloomfilter", Box::new(bloomfilter)));
            }
            Ok(rows)
        })?;
    }
    threads(n)
}

/// One of this project's filters, filled through `&self`, as several threads would fill it.
struct Shared {
    filter: Concurrent<Bloom>,
    bits: u64,
    single: bool,
}

impl Contestant for Shared {
    fn insert(&mut self, keys: &[KeyHash]) {
        if self.single {
            keys.iter().for_each(|&key| _ = black_box(self.filter.insert(bytes(key))));
        } else {
            insert(&self.filter, keys);
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        if self.single {
            return keys.iter().filter(|&&key| self.filter.contains(bytes(key))).count();
        }
        let (mut batch, mut answers) = (Hashes::new(&self.filter.hash_spec().hasher()), vec![]);
        keys.iter().for_each(|&key| batch.push_hash(key));
        self.filter.contains_hashes(&batch, &mut answers).expect("a batch of its own spec");
        answers.into_iter().filter(|&found| found).count()
    }

    fn bits(&self) -> u64 {
        self.bits
    }
}

/// The bytes of a key, for a filter that hashes its keys itself.
fn bytes(key: KeyHash) -> [u8; 8] {
    key.get().to_le_bytes()
}

/// The number of hashes that are copied into a batch at a time.
const BATCH: usize = 10_000;

/// Inserts hashes in batches. Copying a hash into its batch takes a fraction of a nanosecond.
fn insert(filter: &Concurrent<Bloom>, keys: &[KeyHash]) {
    let mut batch = Hashes::new(&filter.hash_spec().hasher());
    for keys in keys.chunks(BATCH) {
        batch.clear();
        keys.iter().for_each(|&key| batch.push_hash(key));
        filter.insert_hashes(&batch).expect("a batch of its own spec");
    }
}

/// Fills a filter by plain insertion, and a shared filter by 1 and by 2 threads. The cost of a key is the CPU time of
/// the thread that inserts it. If each of two threads has a core, the wall-clock time of a key is half of that.
fn threads(n: usize) -> Result<()> {
    let keys: Vec<KeyHash> = (0..n as u64).map(|i| KeyHash::new(mix(i))).collect();
    // Touch all pages before the clock starts.
    let warm = || -> Result<Bloom> {
        let mut filter = Bloom::with_rate(n as u64, 0.01)?;
        filter.insert_all(&keys[..n / 2])?;
        filter.intersect_with(&Bloom::with_rate(n as u64, 0.01)?).expect("both have the same parts");
        Ok(filter)
    };
    let (mut plain, mut one, mut two) = (vec![], vec![], vec![]);
    for _ in 0..if n > 10_000_000 { 3 } else { ROUNDS } {
        let mut filter = warm()?;
        plain.push(ns_each(n, || {
            for &key in &keys {
                _ = black_box(filter.insert_hash(key));
            }
        }));
        one.push(share(&Concurrent::new(warm()?)?, &keys, 1));
        two.push(share(&Concurrent::new(warm()?)?, &keys, 2));
    }
    let (plain, one, two) = (median(&mut plain), median(&mut one), median(&mut two));
    println!("\n## Threads, 1 %, {n} keys\n");
    println!("insert {plain:.2} ns; shared, 1 thread {one:.2} ({:.2}); 2 threads {two:.2} each", one / plain);
    println!("two threads do {:.2} times the work of one", 2.0 * one / two);
    Ok(())
}

/// The CPU time in nanoseconds for each key when `threads` threads fill a filter together.
fn share(filter: &Concurrent<Bloom>, keys: &[KeyHash], threads: usize) -> f64 {
    let fill = |part: &[KeyHash]| ns_each(part.len(), || insert(filter, part));
    std::thread::scope(|scope| {
        let fill = &fill;
        let threads: Vec<_> =
            keys.chunks(keys.len().div_ceil(threads)).map(|part| scope.spawn(move || fill(part))).collect();
        let count = threads.len() as f64;
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum::<f64>() / count
    })
}
