use std::path::Path;

use crate::shelf::Bounds;

/// The default of [`NodeOptions::disk`], in bytes. If a tenth of the disk is less, that is the default. The value is a
/// choice, not a measurement.
pub const DISK: u64 = 10 << 30;
/// The free space of the file system with the node's directory, in bytes, below which the node stores no data of other
/// nodes. The value is a choice, not a measurement.
pub const FREE_FLOOR: u64 = 512 << 20;

/// The options of a node apart from those of its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeOptions {
    /// The maximum size of the data that the node stores for others, in bytes. `None` stands for the default: [`DISK`]
    /// or a tenth of the disk, whichever is less.
    pub disk: Option<u64>,
}

impl NodeOptions {
    /// Converts the options to the bounds on the size of the shelf (the node's storage), which is in a directory or,
    /// without a directory, in memory.
    pub(super) fn bounds(self, directory: Option<&Path>) -> Bounds {
        let default = || directory.and_then(disk_size).map_or(DISK, |size| DISK.min(size / 10));
        let free = if directory.is_some() { FREE_FLOOR } else { 0 };
        Bounds { disk: self.disk.unwrap_or_else(default), free }
    }
}

/// The size in bytes of the file system that holds a directory; `None` if the system does not tell.
#[cfg(unix)]
fn disk_size(directory: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(directory).ok()?;
    Some(space.f_blocks.saturating_mul(space.f_frsize))
}

#[cfg(not(unix))]
fn disk_size(_: &Path) -> Option<u64> {
    None
}
