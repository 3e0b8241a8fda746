//! A blocked Bloom filter compared with an ordinary one of equal size, called exact here: how much higher the rate of
//! the blocked filter is, and how much time it saves.

use furui::filter::{BlockedBloom, Bloom, FilterMut, sizing};
use furui::{KeyHash, Result};

use super::{Batched, Contestant, Single, fills, measure};
use crate::keys::mix;
use crate::table::Table;

/// The size of a cache line in bits, which is the block size of a blocked filter.
const LINE: u64 = 512;

/// Measures the false-positive rates of blocked and exact filters at several numbers of bits a key, and computes them
/// by formula. Each filter has the k that is best for it.
pub(crate) fn blocked_rates(keys: u64, asked: u64) -> Result<Table> {
    let columns = [
        "bits a key",
        "exact, k",
        "exact, rate by formula",
        "exact, measured",
        "blocked, k",
        "blocked, rate by formula",
        "blocked, measured",
        "blocked / exact, formula",
    ];
    let title = format!("False-positive rates of {keys} keys in the same bits, {asked} asked");
    let mut table = Table::new("blocked-rates", title, columns);
    let set: Vec<KeyHash> = (0..keys).map(|i| KeyHash::new(mix(i))).collect();
    let others: Vec<KeyHash> = (0..asked).map(|i| KeyHash::new(mix(1 << 40 | i))).collect();
    for bits_each in [4, 6, 8, 10, 12, 14, 16, 20] {
        let lines = (keys * bits_each).div_ceil(LINE);
        let measured = |filter: &mut dyn FilterMut| -> Result<f64> {
            filter.insert_all(&set)?;
            Ok(others.iter().filter(|&&key| filter.contains_hash(key)).count() as f64 / asked as f64)
        };
        let of_bloom = |k: u32| sizing::rate(k, keys, LINE * lines);
        let k = least(1..=24, of_bloom);
        let mut bloom = Bloom::from_parts(LINE * lines, k)?;
        let of_blocked = |k: u32| BlockedBloom::from_parts(lines, k).map_or(1.0, |filter| filter.expected_rate(keys));
        let k_blocked = least(1..=16, of_blocked);
        let mut blocked = BlockedBloom::from_parts(lines, k_blocked)?;
        table.push([
            bits_each.into(),
            u64::from(k).into(),
            of_bloom(k).into(),
            measured(&mut bloom)?.into(),
            u64::from(k_blocked).into(),
            of_blocked(k_blocked).into(),
            measured(&mut blocked)?.into(),
            (of_blocked(k_blocked) / of_bloom(k)).into(),
        ]);
    }
    Ok(table)
}

/// Measures the times of blocked and exact filters at one false-positive rate. A quick run fills each filter once.
pub(crate) fn blocked_times(name: &str, keys: usize, rate: f64, quick: bool) -> Result<Table> {
    let title = format!("Both kinds at {} %", 100.0 * rate);
    let fills = if quick { 1 } else { fills(keys) };
    measure(name, &title, (keys, fills), "exact, batches", || {
        let exact = Bloom::with_rate(keys as u64, rate)?;
        let blocked = BlockedBloom::with_rate(keys as u64, rate)?;
        let (of_exact, of_blocked) = (exact.bits(), blocked.bits());
        Ok(vec![
            ("exact, batches", Box::new(Batched { bits: of_exact, filter: exact.clone() }) as Box<dyn Contestant>),
            ("exact, single", Box::new(Single { bits: of_exact, filter: exact })),
            ("blocked, batches", Box::new(Batched { bits: of_blocked, filter: blocked.clone() })),
            ("blocked, single", Box::new(Single { bits: of_blocked, filter: blocked })),
        ])
    })
}

fn least(all: impl Iterator<Item = u32>, rate: impl Fn(u32) -> f64) -> u32 {
    all.min_by(|&a, &b| rate(a).total_cmp(&rate(b))).expect("some numbers of probes")
}
