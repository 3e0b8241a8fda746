//! Stable Bloom filters: the cost of an insertion and of a pass over all counters, and the rate at which errors settle.

use std::hint::black_box;

use furui::filter::{FilterMut, StableBloom, StableBloomLight};
use furui::raw::stable_decrements;
use furui::{HashSpec, KeyHash};

use crate::clock::{median, ns_each};

const ROUNDS: usize = 9;

/// Runs all experiments, or only the insertions.
pub(crate) fn run(part: Option<&str>) {
    insertions(1 << 22);
    insertions(1 << 26);
    if part == Some("insert") {
        return;
    }
    whole_pass();
    rates();
}

fn hash(i: u64) -> KeyHash {
    HashSpec::default().hash(&i.to_le_bytes())
}

/// A contestant: its name, the number of items of a round, and the work of a round.
type Contestant<'a> = (&'a str, usize, Box<dyn FnMut() + 'a>);

/// Runs all contestants in every round, one after the other. Prints the median cost of an item for each contestant, in
/// nanoseconds and as a multiple of the first contestant's median.
fn race(title: &str, contestants: &mut [Contestant<'_>]) {
    println!("\n{title}");
    let mut samples = vec![vec![]; contestants.len()];
    for _ in 0..ROUNDS {
        for ((_, items, work), samples) in contestants.iter_mut().zip(&mut samples) {
            samples.push(ns_each(*items, work));
        }
    }
    let medians: Vec<f64> = samples.iter_mut().map(|samples| median(samples)).collect();
    for ((name, ..), (ns, samples)) in contestants.iter().zip(medians.iter().zip(&samples)) {
        let (least, most) = (samples[0], samples[samples.len() - 1]);
        println!("  {name:<44} {ns:10.4} ns  ({least:.4} to {most:.4})  {:8.4} x", ns / medians[0]);
    }
}

/// Measures an insertion, including hash and lookup, into a filter whose error rate has settled.
fn insertions(counters: usize) {
    const ITEMS: usize = 300_000;
    // With 27 decrements for each insertion, the cursor passes over all counters three times.
    let settle = counters as u64 / 9;
    let mut light = StableBloomLight::with_rate(counters, 0.01).expect("valid parameters");
    let mut random = StableBloom::with_rate(counters, 2, 0.01).expect("valid parameters");
    println!(
        "light: k = {}, P = {}; random: k = {}, P = {}",
        light.probes(),
        light.decrements(),
        random.probes(),
        random.decrements()
    );
    for i in 0..settle {
        _ = (black_box(light.insert_hash(hash(i))), black_box(random.insert_hash(hash(i))));
    }
    let light_again = light.clone();
    let (mut next_light, mut next_random) = (settle, settle);
    let mut contestants: Vec<Contestant<'_>> = vec![];
    #[cfg(feature = "rivals")]
    {
        use stable_bloom_filter::Filter as _;
        use stable_bloom_filter::stable::StableBloomFilter;
        let mut rival = StableBloomFilter::new(counters, 2, 0.01);
        println!("stable-bloom-filter: k = {}, P = {}", rival.k(), rival.p());
        for i in 0..settle {
            black_box(rival.test_and_add(&i.to_le_bytes()));
        }
        let mut next = settle;
        contestants.push((
            "stable-bloom-filter 0.3.0 test_and_add",
            ITEMS,
            Box::new(move || {
                for i in next..next + ITEMS as u64 {
                    black_box(rival.test_and_add(&i.to_le_bytes()));
                }
                next += ITEMS as u64;
            }),
        ));
    }
    contestants.push((
        "StableBloom insert",
        ITEMS,
        Box::new(|| {
            for i in next_random..next_random + ITEMS as u64 {
                _ = black_box(random.insert_hash(hash(i)));
            }
            next_random += ITEMS as u64;
        }),
    ));
    contestants.push((
        "StableBloomLight insert",
        ITEMS,
        Box::new(|| {
            for i in next_light..next_light + ITEMS as u64 {
                _ = black_box(light.insert_hash(hash(i)));
            }
            next_light += ITEMS as u64;
        }),
    ));
    let mut batched = light_again;
    let mut next_batched = settle;
    let mut keys: Vec<KeyHash> = vec![];
    let mut new = vec![];
    contestants.push((
        "StableBloomLight insert_all, 4096 a batch",
        ITEMS,
        Box::new(move || {
            let end = next_batched + ITEMS as u64;
            while next_batched < end {
                let batch = (end - next_batched).min(4096);
                keys.clear();
                keys.extend((next_batched..next_batched + batch).map(hash));
                new.clear();
                batched.observe_all(&keys, &mut new);
                black_box(&new);
                next_batched += batch;
            }
        }),
    ));
    race(&format!("insertion at 2^{} counters of 2 bits, 1 %", counters.ilog2()), &mut contestants);
}

/// Measures a decrement of every counter in 256 MiB, against the cheapest pass over 256 MiB.
fn whole_pass() {
    const COUNTERS: usize = 1 << 30;
    let mut memory = vec![1u64; COUNTERS / 32];
    let mut light = full_light(COUNTERS);
    race(
        "one pass over 256 MiB (2^30 counters), per counter",
        &mut [
            (
                "xor in place",
                COUNTERS,
                Box::new(|| {
                    let mask = black_box(0x1234_5678_9ABC_DEF0);
                    memory.iter_mut().for_each(|word| *word ^= mask);
                    black_box(&mut memory);
                }),
            ),
            ("StableBloomLight::decrement", COUNTERS, Box::new(|| light.decrement(black_box(COUNTERS)))),
        ],
    );
}

/// Creates a filter whose memory has been touched. Otherwise the first pass would include page faults.
fn full_light(counters: usize) -> StableBloomLight {
    let mut light = StableBloomLight::from_parts(counters, 1, 1).expect("valid parameters");
    light.decrement(counters);
    light
}

/// Prints measured rates beside the rates by formula, and how long keys are remembered.
fn rates() {
    const COUNTERS: usize = 1 << 24;
    println!("\nat rest, 2^24 counters of 2 bits");
    println!("  filter                  k   P  asked   formula     measured    sigma off  half of the keys live");
    for (probes, rate) in [(4, 0.01), (8, 1e-5)] {
        let literal = stable_decrements(probes, rate, 3, COUNTERS) as usize;
        let own = (1..).find(|&p| light(COUNTERS, probes, p).stable_rate() <= rate).expect("some P is enough");
        let random = StableBloom::from_parts(COUNTERS, 2, probes, literal).expect("valid parameters");
        let stable_rate = random.stable_rate();
        at_rest("random, P by eq. 3", rate, (probes, literal), stable_rate, random);
        for (name, p) in [("light, P by eq. 3", literal), ("light, P of its own", own)] {
            let filter = light(COUNTERS, probes, p);
            let stable_rate = filter.stable_rate();
            at_rest(name, rate, (probes, p), stable_rate, filter);
        }
    }
}

fn light(counters: usize, probes: u32, decrements: usize) -> StableBloomLight {
    StableBloomLight::from_parts(counters, probes, decrements).expect("valid parameters")
}

fn at_rest(name: &str, asked: f64, (probes, p): (u32, usize), formula: f64, mut filter: impl FilterMut) {
    const COUNTERS: u64 = 1 << 24;
    let trials = ((1000.0 / formula) as u64).max(10_000_000);
    let inserted = 12 * COUNTERS / p as u64;
    for i in 0..inserted {
        black_box(filter.insert_hash(hash(i)).is_ok());
    }
    let hits = (0..trials).filter(|&i| filter.contains_hash(hash(1 << 40 | i))).count() as f64;
    let (measured, sigma) = (hits / trials as f64, (formula / trials as f64).sqrt());
    let remembered = |age: u64| {
        let first = inserted - age - 1000;
        (first..first + 1000).filter(|&i| filter.contains_hash(hash(i))).count()
    };
    let half = (0..inserted - 1000).step_by(1000).find(|&age| remembered(age) < 500).unwrap_or(inserted);
    println!(
        "  {name:<20} {probes:>4} {p:>3}  {asked:<6} {formula:.4e}  {measured:.4e}  {:>8.2}  {half:>9} insertions, {:.2} m/P",
        (measured - formula) / sigma,
        half as f64 * p as f64 / COUNTERS as f64
    );
}
