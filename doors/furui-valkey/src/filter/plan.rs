//! The parameters from which `SIEVE.RESERVE` creates a filter.

use furui::HashSpec;
use furui::filter::{BlockedBloom, Bloom, CountingBloom, GrowingBloom, QuotientFilter, StableBloomLight, WindowBloom};
use furui::store::Window;

use super::kind::Kind;
use super::table::Table;
use crate::limits;
use crate::refusal::Refusal;

/// The parameters of a new filter, as the arguments of `SIEVE.RESERVE` give them.
pub struct Plan {
    pub kind: Kind,
    pub rate: f64,
    pub capacity: u64,
    pub window: Option<Window>,
    pub hash: HashSpec,
}

/// The capacity of the small filter from which the size of a large one is computed.
const SAMPLE: u64 = 1 << 16;

impl Plan {
    /// Creates the empty table of the filter.
    ///
    /// # Errors
    /// If a filter with these parameters is impossible, or would exceed a limit of the module.
    pub fn table(&self) -> Result<Table, Refusal> {
        if self.capacity == 0 {
            return Err(Refusal::because("CAPACITY must be at least 1"));
        }
        // This condition is false for NaN, too.
        if !(self.rate > 0.0 && self.rate < 1.0) {
            return Err(Refusal::because(format!("ERROR must be more than 0 and less than 1, not {}", self.rate)));
        }
        limits::admit(self.bytes()?)?;
        self.make(self.capacity)
    }

    fn make(&self, capacity: u64) -> Result<Table, Refusal> {
        let (rate, hash) = (self.rate, self.hash);
        Ok(Table::Whole(Box::new(match self.kind {
            Kind::Bloom => Bloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            Kind::Scalable => GrowingBloom::for_keys(capacity, rate)?.hashed_by(hash).into(),
            Kind::Blocked => BlockedBloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            // A filter of this kind keeps a copy for each insertion of a key, so that keys can be removed.
            Kind::Quotient => QuotientFilter::with_rate(capacity, rate)?.counting().hashed_by(hash).into(),
            Kind::Counting => CountingBloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            Kind::StableLight => StableBloomLight::for_last(capacity, rate)?.hashed_by(hash).into(),
            Kind::Window => match self.window {
                Some(window) => WindowBloom::with_rate(window, capacity, rate)?.hashed_by(hash).into(),
                None => WindowBloom::for_last(capacity, rate)?.hashed_by(hash).into(),
            },
        })))
    }

    /// The memory of the filter in bytes. It is extrapolated from a smaller filter, because sizes are proportional to
    /// capacities; but the rate of a filter with a window depends on whether it has room for the whole window.
    fn bytes(&self) -> Result<usize, Refusal> {
        if let (Kind::Window, Some(window)) = (self.kind, self.window) {
            let bytes = WindowBloom::bytes_with_rate(window, self.capacity, self.rate);
            return Ok(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        let sample = self.capacity.min(SAMPLE);
        let bytes = self.make(sample)?.bytes() as f64 * (self.capacity as f64 / sample as f64);
        // A filter for more keys has longer fingerprints or more probes, by a few bits.
        Ok((bytes * 1.1) as usize)
    }
}
