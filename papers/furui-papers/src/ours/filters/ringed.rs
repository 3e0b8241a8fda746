//! The ringed filter compared with a Bloom filter of the same numbers of bits and probes, for short and long windows.

use std::hint::black_box;

use furui::filter::{Bloom, Filter, FilterMut, Gamma, RingedBloom, RingedKey, RingedParams};
use furui::{KeyHash, Result};

use crate::clock::{median, ns_each};
use crate::keys::mix;

const PROBES: u32 = 7;
const ROUNDS: usize = 9;

/// The number of lookups in a round of the measurement.
const ASKED: usize = 1_000_000;

/// The numbers of different keys that are looked up. Either each lookup has its own key, so that keys are streamed from
/// memory; or there are so few keys that they stay in a cache, as if the same keys were looked up in many filters.
const KEYS: [usize; 2] = [ASKED, 10_000];

/// The lengths of windows, in groups, that are measured: three short ones, and that of Sei et al.
const DELTAS: [u32; 4] = [1, 100, 1000, 100_000];

fn keys(list: u64, n: usize) -> Vec<KeyHash> {
    (0..n as u64).map(|i| KeyHash::new(mix(list << 40 | i))).collect()
}

/// The keys to look up, as hashes and precomputed.
struct Questions {
    hashes: Vec<KeyHash>,
    precomputed: Vec<RingedKey>,
}

impl Questions {
    fn new(hashes: Vec<KeyHash>) -> Self {
        Self { precomputed: hashes.iter().map(|&hash| RingedKey::new(hash)).collect(), hashes }
    }
}

type Ask<'a> = Box<dyn Fn(&Questions) -> usize + 'a>;

/// The time of each way to look up keys in nanoseconds a key, and as a ratio to a Bloom filter that is used in the same
/// way. All figures are medians.
fn times(rows: &[(String, Ask<'_>)], questions: &Questions) -> Vec<[f64; 2]> {
    let asked = questions.hashes.len();
    let again = ASKED / asked;
    let mut samples = vec![vec![]; rows.len()];
    for _ in 0..ROUNDS {
        for ((_, ask), samples) in rows.iter().zip(&mut samples) {
            black_box(ask(questions));
            samples.push(ns_each(asked * again, || (0..again).for_each(|_| _ = black_box(ask(questions)))));
        }
    }
    let time = |((name, _), own): (&(String, Ask<'_>), &Vec<f64>)| {
        // Each ratio compares times of one turn, because the load of the machine changes between turns.
        let base = &samples[usize::from(name.contains("batch"))];
        let mut ratios: Vec<f64> = own.iter().zip(base).map(|(own, base)| own / base).collect();
        [median(&mut own.clone()), median(&mut ratios)]
    };
    rows.iter().zip(&samples).map(time).collect()
}

fn count(answers: &[bool]) -> usize {
    answers.iter().filter(|&&answer| answer).count()
}

/// The number of `keys` that a filter contains, looked up in batches.
fn in_batches(filter: &impl Filter, keys: &[KeyHash]) -> usize {
    let mut out = vec![];
    let of_batch = |keys| {
        filter.contains_all(keys, &mut out);
        count(&out)
    };
    keys.chunks(1024).map(of_batch).sum()
}

/// Measures lookups in filters of `n` keys, one key at a time and in batches.
pub(super) fn run(n: usize) -> Result<()> {
    let set = keys(0, n);
    let of_delta = |delta| Ok(RingedBloom::with_size(RingedParams::new(PROBES, Gamma::Exact, delta)?, n as u64)?);
    let mut ringed = DELTAS.into_iter().map(of_delta).collect::<Result<Vec<_>>>()?;
    let mut bloom = Bloom::from_parts(ringed[0].bits(), PROBES)?;
    let mut inserts = vec![("Bloom".to_owned(), ns_each(n, || _ = black_box(bloom.insert_all(&set))))];
    for (filter, delta) in ringed.iter_mut().zip(DELTAS) {
        inserts.push((format!("delta {delta}"), ns_each(n, || _ = black_box(filter.insert_all(&set)))));
    }
    let mut rows: Vec<(String, Ask<'_>)> = vec![
        ("Bloom".to_owned(), Box::new(|q| q.hashes.iter().filter(|&&key| bloom.contains_hash(key)).count())),
        ("Bloom, batch".to_owned(), Box::new(|q| in_batches(&bloom, &q.hashes))),
    ];
    for (filter, delta) in ringed.iter().zip(DELTAS) {
        rows.push((
            format!("delta {delta}, precomputed"),
            Box::new(move |q| q.precomputed.iter().filter(|key| filter.contains_key(key)).count()),
        ));
        rows.push((
            format!("delta {delta}, precomputed, batch"),
            Box::new(move |q| {
                let mut out = vec![];
                filter.contains_all_keys(&q.precomputed, &mut out);
                count(&out)
            }),
        ));
        rows.push((
            format!("delta {delta}, from the hash"),
            Box::new(move |q| q.hashes.iter().filter(|&&key| filter.contains_hash(key)).count()),
        ));
        rows.push((format!("delta {delta}, from the hash, batch"), Box::new(move |q| in_batches(filter, &q.hashes))));
    }
    for asked in KEYS.map(|keys| keys.min(n)) {
        let kib = ringed[0].bits() as f64 / 8192.0;
        println!("\n## Lookups of {asked} keys, {n} in, {kib:.1} KiB\n");
        println!("| filter | hit ns | to Bloom | miss ns | to Bloom |\n|---|--:|--:|--:|--:|");
        let [hits, misses] =
            [set[..asked].to_vec(), keys(1, asked)].map(|hashes| times(&rows, &Questions::new(hashes)));
        for (((name, _), [hit, hit_ratio]), [miss, miss_ratio]) in rows.iter().zip(hits).zip(misses) {
            println!("| {name} | {hit:.2} | {hit_ratio:.2} | {miss:.2} | {miss_ratio:.2} |");
        }
    }
    println!("\n| filter | insert ns, batch | to Bloom |\n|---|--:|--:|");
    for (name, time) in &inserts {
        println!("| {name} | {time:.2} | {:.2} |", time / inserts[0].1);
    }
    Ok(())
}
