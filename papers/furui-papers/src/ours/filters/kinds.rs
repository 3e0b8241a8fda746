//! Every kind of filter at the same rate: the table of docs/choosing.md.

use furui::Result;
use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, FilterMut, Gamma, GrowingBloom, QuotientFilter, RingedBloom,
    RingedParams, SplitBlockBloom, StableBloomLight,
};

use super::{Batched, Row, report};

const RATE: f64 = 0.01;

pub(super) fn run(n: usize) -> Result<()> {
    report("every kind, 1 %, batches", n, "Bloom", || {
        let row = |(name, bits, filter)| -> Row { (name, Box::new(Batched { filter, bits })) };
        Ok(kinds(n as u64)?.into_iter().map(row).collect())
    })
}

type Kind = (&'static str, u64, AnyFilter);

/// Empty filters for `n` keys, and their sizes in bits. For a filter that grows, this is the final size.
fn kinds(n: u64) -> Result<Vec<Kind>> {
    let bloom = Bloom::with_rate(n, RATE)?;
    let blocked = BlockedBloom::with_rate(n, RATE)?;
    let split_block = SplitBlockBloom::with_rate(n, RATE)?;
    let ringed = RingedBloom::with_size(RingedParams::with_rate(RATE, Gamma::Exact, 1000)?, n)?;
    let quotient = QuotientFilter::with_rate(n, RATE)?;
    let counting = CountingBloom::with_rate(n, RATE)?;
    // The filter has the size with which it remembers the last n keys: a key stays for two rounds of the cursor.
    let decrements = StableBloomLight::with_rate(1 << 12, RATE)?.decrements();
    let stable_light = StableBloomLight::with_rate(n as usize * decrements / 2 + decrements, RATE)?;
    let mut grown = GrowingBloom::with_rate(RATE)?;
    grown.insert_all(&(0..n).map(|i| furui::KeyHash::new(crate::keys::mix(2 << 40 | i))).collect::<Vec<_>>())?;
    Ok(vec![
        ("Bloom", bloom.bits(), AnyFilter::Bloom(bloom)),
        ("BlockedBloom", blocked.bits(), AnyFilter::Blocked(blocked)),
        ("SplitBlockBloom", 256 * split_block.blocks(), AnyFilter::SplitBlock(split_block)),
        ("RingedBloom", ringed.bits(), AnyFilter::Ringed(ringed)),
        ("GrowingBloom", grown.bits(), AnyFilter::Growing(GrowingBloom::with_rate(RATE)?)),
        ("QuotientFilter", quotient.bits(), AnyFilter::Quotient(quotient)),
        ("CountingBloom", 4 * counting.counters() as u64, AnyFilter::Counting(counting)),
        ("StableBloomLight", 2 * stable_light.counters() as u64, AnyFilter::StableLight(stable_light)),
    ])
}
