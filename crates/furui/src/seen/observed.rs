use crate::hash::KeyHash;

/// The outcome of observing a key in an exact cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The key was in the cache.
    Hit,
    /// The key was not in the cache, and is now.
    Miss {
        /// The key that was evicted to make room, if one was.
        evicted: Option<KeyHash>,
    },
}
