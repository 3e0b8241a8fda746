//! The false-positive rate of a filter far larger than the caches. The rate is so low that a flaw in the positions of
//! keys would show: 500 M keys at 10⁻⁶.

use furui::filter::{Bloom, Filter, FilterMut};
use furui::{KeyHash, Result};

use crate::clock::thread_ns;
use crate::keys::mix;

const KEYS: u64 = 500_000_000;
const RATE: f64 = 1e-6;
/// The number of lookups. About 1000 false positives are expected; three standard deviations of this number are 9.5 %
/// of it.
const ASKED: u64 = 1_000_000_000;
const CHUNK: u64 = 100_000;

/// The hashes with the numbers from `from` to `from + n - 1`, in chunks of [`CHUNK`], of which `n` is a multiple.
fn chunks(from: u64, n: u64) -> impl Iterator<Item = Vec<KeyHash>> {
    (from..from + n).step_by(CHUNK as usize).map(|start| (start..start + CHUNK).map(|i| KeyHash::new(mix(i))).collect())
}

pub(super) fn run() -> Result<()> {
    let mut filter = Bloom::with_rate(KEYS, RATE)?;
    // Equation 1 solved for m, with k = log2(1/rate) even if that is not whole.
    let formula = KEYS as f64 * -RATE.ln() / std::f64::consts::LN_2.powi(2);
    let start = thread_ns();
    for chunk in chunks(0, KEYS) {
        filter.insert_all(&chunk)?;
    }
    let inserted = thread_ns();
    let mut answers = vec![];
    let mut hits = 0;
    for chunk in chunks(1 << 40, ASKED) {
        filter.contains_all(&chunk, &mut answers);
        hits += answers.iter().filter(|&&answer| answer).count();
    }
    let asked = thread_ns();
    let lost = chunks(0, KEYS / 100).any(|chunk| chunk.iter().any(|&key| !filter.contains_hash(key)));
    assert!(!lost, "a key was lost");

    let stated = filter.false_positive_rate();
    let (measured, sigma) = (hits as f64 / ASKED as f64, (stated / ASKED as f64).sqrt());
    println!(
        "{KEYS} keys at {RATE:e}: {} probes, {} bits, {:.4} of the formula",
        filter.probes(),
        filter.bits(),
        filter.bits() as f64 / formula
    );
    println!("memory: {} bytes", filter.bits().div_ceil(64) * 8);
    println!(
        "insert {:.1} ns, miss {:.1} ns",
        (inserted - start) as f64 / KEYS as f64,
        (asked - inserted) as f64 / ASKED as f64
    );
    println!("fill {:.6}; filter's own estimate of the rate {stated:.4e}", filter.fill());
    println!(
        "{hits} of {ASKED} misses were found: rate {measured:.4e}, {:+.1} standard deviations",
        (measured - stated) / sigma
    );
    let keys = filter.cardinality();
    println!("keys, estimated from the fill: {:.0} ± {:.0}", keys.value, keys.error);
    Ok(())
}
