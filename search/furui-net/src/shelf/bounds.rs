use std::fmt;
use std::time::Instant;

/// The bounds of what a shelf keeps for others. What this node itself publishes is not bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum size of the shelf's files, in bytes. In memory, it is the maximum size of what origins brought.
    pub disk: u64,
    /// If the file system has fewer free bytes than this, nothing of others is stored.
    pub free: u64,
}

impl Default for Bounds {
    /// No bounds.
    fn default() -> Self {
        Self { disk: u64::MAX, free: 0 }
    }
}

/// Why something of another node is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// Its origin has its fair share.
    Share,
    /// The bound is reached, and the shelf has made room too lately to make more.
    Bound,
    /// The file system has too little free space.
    Space,
}

impl Full {
    /// The rest of a sentence that begins with "refused because".
    pub fn why(self) -> &'static str {
        match self {
            Self::Share => "it has its fair share of this node's disk (see --disk)",
            Self::Bound => "what this node keeps for others has reached its bound (see --disk)",
            Self::Space => "the disk has too little free space",
        }
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why())
    }
}

/// The bounds in force, and when room may be made again.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    pub(super) bounds: Bounds,
    pub(super) rests_until: Option<Instant>,
}
