//! `Seen`: the pipeline from a batch of hashes to a verdict for each.

mod lru;

pub use lru::{Lru, LruOutcome};
