//! An exact set of any size, which says for each key of a stream whether it is new.

mod clock;
mod counters;
mod index;
mod kept;
mod lru;
mod observed;
mod pipeline;
mod replacement;
mod sizes;
mod tiers;

pub use clock::Clock;
pub use counters::Counters;
pub use kept::Start;
pub use lru::Lru;
pub use observed::Observed;
pub use pipeline::{Seen, SeenOptions};
pub use replacement::Replacement;
pub use sizes::TierSizes;
pub use tiers::Cache;

/// The answer for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The key was not seen before, and is now recorded.
    New,
    /// The key was seen before. With [`Cache::LruStable`] it may also be a new key that was dropped.
    Repeat,
}
