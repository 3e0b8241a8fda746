//! What `FURUI.FILTER.RESERVE` makes a filter from.

use furui::HashSpec;
use furui::filter::{BlockedBloom, Bloom, CountingBloom, GrowingBloom, QuotientFilter, StableBloomLight};
use furui::store::Window;

use super::kind::Kind;
use super::table::Table;
use super::window::WindowFilter;
use crate::limits::Account;
use crate::refusal::Refusal;

/// What a filter is made from.
pub struct Plan {
    pub kind: Kind,
    pub rate: f64,
    pub capacity: u64,
    pub window: Option<Window>,
    pub hash: HashSpec,
}

/// The number of keys of the small filter by which the size of a large one is told.
const SAMPLE: u64 = 1 << 16;

impl Plan {
    /// The empty table.
    ///
    /// # Errors
    /// If there is no such filter, or it would exceed a limit of the module.
    pub fn table(&self) -> Result<Table, Refusal> {
        if self.capacity == 0 {
            return Err(Refusal::because("CAPACITY is at least 1"));
        }
        // This is false for NaN.
        if !(self.rate > 0.0 && self.rate < 1.0) {
            return Err(Refusal::because(format!("ERROR {} is not between 0 and 1", self.rate)));
        }
        Account::default().admit(0, self.bytes()?)?;
        self.make(self.capacity)
    }

    fn make(&self, capacity: u64) -> Result<Table, Refusal> {
        let (rate, hash) = (self.rate, self.hash);
        Ok(Table::Whole(Box::new(match self.kind {
            Kind::Bloom => Bloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            Kind::Scalable => GrowingBloom::for_keys(capacity, rate)?.hashed_by(hash).into(),
            Kind::Blocked => BlockedBloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            // Keys are removed from filters of this kind, so there is a copy for each time that a key is inserted.
            Kind::Quotient => QuotientFilter::with_rate(capacity, rate)?.counting().hashed_by(hash).into(),
            Kind::Counting => CountingBloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            Kind::StableLight => StableBloomLight::for_last(capacity, rate)?.hashed_by(hash).into(),
            Kind::Window => {
                let last = std::num::NonZeroU64::new(self.capacity).map(Window::Keys);
                let window = self.window.or(last).ok_or_else(|| Refusal::because("CAPACITY is at least 1"))?;
                return Ok(Table::Window(WindowFilter::new(window, capacity, rate, hash)?));
            }
        })))
    }

    /// The memory that the filter will take, in bytes, told from a smaller one: sizes are proportional to capacities.
    fn bytes(&self) -> Result<usize, Refusal> {
        let sample = self.capacity.min(SAMPLE);
        let bytes = self.make(sample)?.bytes() as f64 * (self.capacity as f64 / sample as f64);
        let slices = if self.kind == Kind::Window { (Window::SLICES + 1) as f64 } else { 1.0 };
        // A filter for more keys has longer fingerprints or more probes, by a few bits.
        Ok((bytes * slices * 1.1) as usize)
    }
}
