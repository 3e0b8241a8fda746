use std::fmt;
use std::time::Instant;

/// The limits on the data that a shelf (a node's storage) keeps for other nodes. Data that this node publishes itself
/// is not limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum size of the files with a node's lists and records, in bytes. If they are in memory, it limits the
    /// size of the data of other nodes.
    pub disk: u64,
    /// The free space of the file system, in bytes, below which no data of other nodes is stored.
    pub free: u64,
}

impl Default for Bounds {
    /// Returns bounds without limits.
    fn default() -> Self {
        Self { disk: u64::MAX, free: 0 }
    }
}

/// The reason that data of another node is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The peer, or its address prefix, has used up its fair share of the space.
    Share,
    /// The size limit is reached, and the shelf has made room so recently that it may not do so again yet.
    Bound,
    /// The file system has too little free space.
    Space,
}

impl Full {
    /// The reason as the rest of a sentence that begins with "refused because".
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

/// The limits of a shelf that are in force, and the time from which room may be made again.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    pub(super) bounds: Bounds,
    pub(super) rests_until: Option<Instant>,
}
