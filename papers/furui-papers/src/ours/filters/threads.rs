//! Insertion through `&self` into a concurrent filter: the cost for one thread, and the throughput of two.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

use furui::filter::{BlockedBloom, Bloom, Concurrent, FilterMut, Shareable};
use furui::{Error, KeyHash, Result};

use super::{ROUNDS, insert_shared};
use crate::clock::{median, ns_each};
use crate::keys::mix;

/// The number of keys that a thread inserts into a shared filter at a time.
const BATCH: usize = 16 * 1024;

/// The insertion of a batch into a filter that several threads fill.
type Insert<'a> = &'a (dyn Fn(&[KeyHash]) + Sync);

pub(super) fn run(n: usize) -> Result<()> {
    let keys: Vec<KeyHash> = (0..n as u64).map(|i| KeyHash::new(mix(i))).collect();
    println!("\n## Concurrent insertion at 10 bits a key, {n} keys\n");
    println!("| insertion | one thread, ns | to plain | each of two, ns | gain by CPU time | gain by the wall |");
    println!("|---|--:|--:|--:|--:|--:|");
    let lines = (n as u64 * 10).div_ceil(512);
    fill("BlockedBloom", &keys, || Ok(BlockedBloom::from_parts(lines, 8)?))?;
    fill("Bloom", &keys, || Ok(Bloom::from_parts(512 * lines, 7)?))?;
    #[cfg(feature = "rivals")]
    rival(&keys);
    Ok(())
}

/// The number of times that a share of the keys is inserted. A small share is inserted several times, because starting
/// a thread takes a while.
fn passes(share: &[KeyHash]) -> usize {
    (2_000_000 / share.len()).max(1)
}

/// Inserts keys into filters of one kind: plainly, by threads with a filter each, and by threads that share one.
fn fill<F: FilterMut + Shareable + Send + Sync>(
    kind: &str,
    keys: &[KeyHash],
    make: impl Fn() -> Result<F>,
) -> Result<()> {
    let own = || make().map(Mutex::new);
    let (own_one, own_two) = ([own()?], [own()?, own()?]);
    let mut first = make()?;
    let shared = || Ok::<_, Error>(Concurrent::new(make()?)?);
    let [batched_one, batched_two, single_one, single_two] = [shared()?, shared()?, shared()?, shared()?];
    let (mut plain, [mut apart, mut batched, mut single]) = (vec![], <[Samples; 3]>::default());
    for share in keys.chunks(keys.len().div_ceil(ROUNDS)) {
        let passes = passes(share);
        plain.push(ns_each(share.len() * passes, || {
            for batch in (0..passes).flat_map(|_| share.chunks(BATCH)) {
                _ = black_box(first.insert_all(batch));
            }
        }));
        let insert = |filters: &[Mutex<F>], keys: &[KeyHash]| {
            let mut filter = filters.iter().find_map(|filter| filter.try_lock().ok()).expect("one for each thread");
            _ = black_box(filter.insert_all(keys));
        };
        apart.add(share, &|keys| insert(&own_one, keys), &|keys| insert(&own_two, keys));
        batched.add(share, &|keys| insert_shared(&batched_one, keys), &|keys| insert_shared(&batched_two, keys));
        let one_by_one = |filter: &Concurrent<F>, keys: &[KeyHash]| {
            keys.iter().for_each(|&key| _ = black_box(filter.insert(key.get().to_le_bytes())));
        };
        single.add(share, &|keys| one_by_one(&single_one, keys), &|keys| one_by_one(&single_two, keys));
    }
    let plain = median(&mut plain);
    println!("| {kind}, plain batches | {plain:.2} | 1.00 | | | |");
    apart.print(&format!("{kind}, each thread its own"), plain);
    batched.print(&format!("Concurrent<{kind}>, batches"), plain);
    single.print(&format!("Concurrent<{kind}>, single, with its hash"), plain);
    Ok(())
}

#[cfg(feature = "rivals")]
fn rival(keys: &[KeyHash]) {
    let mut fast = fastbloom::BloomFilter::with_false_pos(0.01).expected_items(keys.len());
    let atomic = || fastbloom::AtomicBloomFilter::with_false_pos(0.01).expected_items(keys.len());
    let (one, two, mut plain, mut shared) = (atomic(), atomic(), vec![], Samples::default());
    for share in keys.chunks(keys.len().div_ceil(ROUNDS)) {
        let passes = passes(share);
        plain.push(ns_each(share.len() * passes, || {
            (0..passes).flat_map(|_| share).for_each(|key| _ = fast.insert_hash(key.get()));
        }));
        let insert = |filter: &fastbloom::AtomicBloomFilter, keys: &[KeyHash]| {
            keys.iter().for_each(|key| _ = filter.insert_hash(key.get()));
        };
        shared.add(share, &|keys| insert(&one, keys), &|keys| insert(&two, keys));
    }
    let plain = median(&mut plain);
    println!("| fastbloom, plain | {plain:.2} | 1.00 | | | |");
    shared.print("fastbloom, atomic", plain);
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
        let passes = passes(share);
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
