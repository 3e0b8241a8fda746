//! `Seen`: a verdict for each key of a stream, the set kept exact and of any size.

mod counters;
mod lru;
mod pipeline;
mod tiers;

pub use counters::Counters;
pub use lru::{Lru, LruOutcome};
pub use pipeline::{Seen, SeenOptions};
pub use tiers::Cache;

/// Whether a key came for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was never seen before, and is now recorded.
    New,
    /// It was seen before; or, with [`Cache::LruStable`] alone, it was dropped as if it had been.
    Repeat,
}
