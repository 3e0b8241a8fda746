//! Every kind of filter at the same rate: the table of docs/choosing.md.

use furui::Result;
use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Gamma, GrowingBloom, QuotientFilter, RingedBloom, RingedParams,
    SplitBlockBloom, StableBloomLight,
};

use super::{Ours, Row, report};

const RATE: f64 = 0.01;

pub(super) fn run(n: usize) -> Result<()> {
    report("every kind, 1 %, batches", n, "Bloom", || {
        let row = |(name, filter)| -> Row {
            (name, Box::new(Ours::in_batches(filter, |filter: &AnyFilter| 8 * filter.bytes())))
        };
        Ok(kinds(n as u64)?.into_iter().map(row).collect())
    })
}

/// Empty filters for `n` keys.
fn kinds(n: u64) -> Result<[(&'static str, AnyFilter); 8]> {
    // The filter has the size with which it remembers the last n keys: a key is forgotten after two rounds of the
    // cursor.
    let decrements = StableBloomLight::with_rate(1 << 12, RATE)?.decrements();
    let stable_light = StableBloomLight::with_rate(n as usize * decrements / 2 + decrements, RATE)?;
    Ok([
        ("Bloom", Bloom::with_rate(n, RATE)?.into()),
        ("BlockedBloom", BlockedBloom::with_rate(n, RATE)?.into()),
        ("SplitBlockBloom", SplitBlockBloom::with_rate(n, RATE)?.into()),
        ("RingedBloom", RingedBloom::with_size(RingedParams::with_rate(RATE, Gamma::Exact, 1000)?, n)?.into()),
        ("GrowingBloom", GrowingBloom::with_rate(RATE)?.into()),
        ("QuotientFilter", QuotientFilter::with_rate(n, RATE)?.into()),
        ("CountingBloom", CountingBloom::with_rate(n, RATE)?.into()),
        ("StableBloomLight", stable_light.into()),
    ])
}
