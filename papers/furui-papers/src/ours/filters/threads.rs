//! Insertion through `&self` into a concurrent filter: the cost for one thread, and the throughput of two.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

use furui::filter::{BlockedBloom, Concurrent, FilterMut};
use furui::{Hashes, KeyHash, Result};

use super::ROUNDS;
use crate::clock::{median, ns_each};
use crate::keys::mix;

/// The number of keys that a thread inserts at a time.
const BATCH: usize = 16 * 1024;

/// The insertion of a batch into a filter that several threads fill.
type Insert<'a> = &'a (dyn Fn(&[KeyHash]) + Sync);

pub(super) fn run(n: usize) -> Result<()> {
    let keys: Vec<KeyHash> = (0..n as u64).map(|i| KeyHash::new(mix(i))).collect();
    println!("\n## Concurrent insertion at 10 bits a key, {n} keys\n");
    println!("| insertion | one thread, ns | to plain | each of two, ns | gain by CPU time | gain by the wall |");
    println!("|---|--:|--:|--:|--:|--:|");
    let lines = (n as u64 * 10).div_ceil(512);
    let mut plain = vec![];
    let mut apart = Samples::default();
    let mut batched = Samples::default();
    let mut single = Samples::default();
    #[cfg(feature = "rivals")]
    let (mut rival_plain, mut rival) = (vec![], Samples::default());
    {
        let own = || BlockedBloom::from_parts(lines, 8).map(Mutex::new);
        let (own_one, own_two) = ([own()?], [own()?, own()?]);
        let mut first = BlockedBloom::from_parts(lines, 8)?;
        let shared = || Concurrent::new(BlockedBloom::from_parts(lines, 8)?);
        let (batched_one, batched_two, single_one, single_two) = (shared()?, shared()?, shared()?, shared()?);
        #[cfg(feature = "rivals")]
        let (mut fast, fast_one, fast_two) = (
            fastbloom::BloomFilter::with_false_pos(0.01).expected_items(n),
            fastbloom::AtomicBloomFilter::with_false_pos(0.01).expected_items(n),
            fastbloom::AtomicBloomFilter::with_false_pos(0.01).expected_items(n),
        );
        for share in keys.chunks(n.div_ceil(ROUNDS)) {
            let passes = (2_000_000 / share.len()).max(1);
            plain.push(ns_each(share.len() * passes, || {
                for batch in (0..passes).flat_map(|_| share.chunks(BATCH)) {
                    _ = black_box(first.insert_all(batch));
                }
            }));
            let insert = |filters: &[Mutex<BlockedBloom>], keys: &[KeyHash]| {
                let mut filter = filters.iter().find_map(|filter| filter.try_lock().ok()).expect("one for each thread");
                _ = black_box(filter.insert_all(keys));
            };
            apart.add(share, &|keys| insert(&own_one, keys), &|keys| insert(&own_two, keys));
            let batch = |filter: &Concurrent<BlockedBloom>, keys: &[KeyHash]| {
                // Copying a hash into the batch takes a fraction of a nanosecond.
                let mut batch = Hashes::new(&filter.hash_spec().hasher());
                keys.iter().for_each(|&key| batch.push_hash(key));
                filter.insert_hashes(&batch).expect("a batch of its own spec");
            };
            batched.add(share, &|keys| batch(&batched_one, keys), &|keys| batch(&batched_two, keys));
            let one_by_one = |filter: &Concurrent<BlockedBloom>, keys: &[KeyHash]| {
                keys.iter().for_each(|&key| _ = black_box(filter.insert(key.get().to_le_bytes())));
            };
            single.add(share, &|keys| one_by_one(&single_one, keys), &|keys| one_by_one(&single_two, keys));
            #[cfg(feature = "rivals")]
            {
                rival_plain.push(ns_each(share.len() * passes, || {
                    let keys = (0..passes).flat_map(|_| share);
                    keys.for_each(|key| _ = fast.insert_hash(key.get()));
                }));
                let insert = |filter: &fastbloom::AtomicBloomFilter, keys: &[KeyHash]| {
                    keys.iter().for_each(|key| _ = filter.insert_hash(key.get()));
                };
                rival.add(share, &|keys| insert(&fast_one, keys), &|keys| insert(&fast_two, keys));
            }
        }
    }
    let plain = median(&mut plain);
    println!("| BlockedBloom, plain batches | {plain:.2} | 1.00 | | | |");
    apart.print("BlockedBloom, each thread its own", plain);
    batched.print("Concurrent<BlockedBloom>, batches", plain);
    single.print("Concurrent<BlockedBloom>, single, with its hash", plain);
    #[cfg(feature = "rivals")]
    {
        let plain = median(&mut rival_plain);
        println!("| fastbloom, plain | {plain:.2} | 1.00 | | | |");
        rival.print("fastbloom, atomic", plain);
    }
    Ok(())
}

#[derive(Default)]
struct Samples {
    /// The CPU time of one thread that inserts alone, in ns a key.
    one: Vec<f64>,
    /// The CPU time of each of two concurrent threads, in ns a key.
    each_of_two: Vec<f64>,
    /// The wall-clock time of one thread divided by that of two.
    gain: Vec<f64>,
}

impl Samples {
    /// Inserts a share of the keys into one filter with one thread, and into another filter with two threads.
    fn add(&mut self, share: &[KeyHash], one: Insert<'_>, two: Insert<'_>) {
        // Starting a thread takes a while, so a small share is inserted several times.
        let passes = (2_000_000 / share.len()).max(1);
        let insert = |share: &[KeyHash], insert: Insert<'_>| {
            ns_each(share.len() * passes, || (0..passes).for_each(|_| share.chunks(BATCH).for_each(insert)))
        };
        let start = Instant::now();
        self.one.push(insert(share, one));
        let wall_of_one = start.elapsed();
        let (left, right) = share.split_at(share.len() / 2);
        let start = Instant::now();
        let each = std::thread::scope(|scope| {
            let left = scope.spawn(|| insert(left, two));
            let right = insert(right, two);
            [left.join().expect("a thread that inserts does not panic"), right]
        });
        self.gain.push(wall_of_one.as_secs_f64() / start.elapsed().as_secs_f64());
        self.each_of_two.extend(each);
    }

    fn print(&mut self, name: &str, plain: f64) {
        let [one, each, gain] = [&mut self.one, &mut self.each_of_two, &mut self.gain].map(|samples| median(samples));
        let ratio = one / plain;
        println!("| {name} | {one:.2} | {ratio:.2} | {each:.2} | {:.2} | {gain:.2} |", 2.0 * one / each);
    }
}
