//! The growing chain of filters: its time compared with that of a filter sized for the keys, and its size and
//! false-positive rate while it grows.

use furui::filter::{Bloom, Filter, FilterMut, GrowingBloom};
use furui::{KeyHash, Result};

use super::{Ours, Row, both, report, rivals};
use crate::keys::mix;

pub(super) fn run(n: usize) -> Result<()> {
    way(n, 0.01)?;
    way(n, 1e-6)?;
    let base = if cfg!(feature = "rivals") { "growable-bloom-filter" } else { "Bloom, sized, batches" };
    report("growing, 1 %", n, base, || {
        let sized = Ours::in_batches(Bloom::with_rate(n as u64, 0.01)?, Bloom::bits);
        let mut rows: Vec<Row> = vec![("Bloom, sized, batches", Box::new(sized))];
        let names = ["GrowingBloom, batches", "GrowingBloom, single"];
        rows.extend(both(names, GrowingBloom::with_rate(0.01)?, GrowingBloom::bits));
        rows.extend(rivals::rows(&["growable-bloom-filter"], n, 0.01));
        Ok(rows)
    })
}

/// Fills a growing filter with `n` keys. Each time just before it grows, prints its size and its false-positive rate.
fn way(n: usize, rate: f64) -> Result<()> {
    let asked: Vec<KeyHash> = (0..4_000_000).map(|i| KeyHash::new(mix(1 << 40 | i))).collect();
    let mut answers = Vec::new();
    println!("\n## growing, {rate}: on the way to {n} keys\n");
    println!("| keys | parts | bits a key | to a sized Bloom | rate stated | measured | off by sigma |");
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    let mut filter = GrowingBloom::with_rate(rate)?;
    let mut next = 0;
    while next < n as u64 {
        // Insert up to the end of the part, or of the keys.
        let room = filter.capacity().saturating_sub(filter.len()).clamp(1, n as u64 - next);
        let keys: Vec<KeyHash> = (next..next + room).map(|i| KeyHash::new(mix(i))).collect();
        filter.insert_all(&keys)?;
        next += room;
        if filter.len() < filter.capacity() && next < n as u64 {
            continue;
        }
        filter.contains_all(&asked, &mut answers);
        let hits = answers.iter().filter(|&&answer| answer).count() as f64;
        let stated = filter.false_positive_rate();
        let expected = stated * asked.len() as f64;
        let (bits, sized) = (filter.bits() as f64, Bloom::with_rate(next, rate)?.bits() as f64);
        println!(
            "| {next} | {} | {:.2} | {:.2} | {stated:.3e} | {:.3e} | {:+.1} |",
            filter.parts(),
            bits / next as f64,
            bits / sized,
            hits / asked.len() as f64,
            (hits - expected) / expected.sqrt().max(1.0),
        );
    }
    Ok(())
}
