//! An exact set of any size, which says for each key of a stream whether it is new.

mod counters;
mod lru;
mod pipeline;
mod tiers;

pub use counters::SeenCounters;
pub use lru::{Lru, LruOutcome};
pub use pipeline::{Seen, SeenOptions};
pub use tiers::Cache;

/// The answer for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The key was not seen before, and is now recorded.
    New,
    /// The key was seen before. With [`Cache::LruStable`] it may also be a new key that was dropped.
    Repeat,
}
