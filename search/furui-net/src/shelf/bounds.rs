use std::fmt;
use std::path::Path;
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

impl Bounds {
    /// The default of [`disk`](Self::disk) for a node. If a tenth of the disk is less, that is the default. The value
    /// is a choice, not a measurement.
    pub const DISK: u64 = 10 << 30;
    /// The free space of the file system with the node's directory, in bytes, below which the node stores no data of
    /// other nodes. The value is a choice, not a measurement.
    pub const FREE_FLOOR: u64 = 512 << 20;

    /// Returns the bounds of a node whose shelf (its storage) is in a directory or, without a directory, in memory.
    /// Without `disk`, the default is used.
    pub fn of(directory: Option<&Path>, disk: Option<u64>) -> Self {
        let default = || directory.and_then(disk_space).map_or(Self::DISK, |(size, _)| Self::DISK.min(size / 10));
        let free = if directory.is_some() { Self::FREE_FLOOR } else { 0 };
        Self { disk: disk.unwrap_or_else(default), free }
    }
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

/// The size and the free space in bytes of the file system that holds a directory; `None` if the system does not tell.
#[cfg(unix)]
pub(super) fn disk_space(directory: &Path) -> Option<(u64, u64)> {
    let space = rustix::fs::statvfs(directory).ok()?;
    let [size, free] = [space.f_blocks, space.f_bavail].map(|blocks| blocks.saturating_mul(space.f_frsize));
    Some((size, free))
}

#[cfg(not(unix))]
pub(super) fn disk_space(_: &Path) -> Option<(u64, u64)> {
    None
}
