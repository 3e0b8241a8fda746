use std::path::Path;

use crate::shelf::Bounds;

/// The default bound of what a node keeps for others, in bytes. If a tenth of the disk is less, the bound is that.
/// Chosen.
pub const DISK: u64 = 10 << 30;
/// If the file system of a node's directory has fewer free bytes than this, the node stores nothing of others. Chosen.
pub const FREE_FLOOR: u64 = 512 << 20;

/// The options of a node, besides those of its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeOptions {
    /// The maximum size of what the node keeps for others, in bytes. `None` for the default: [`DISK`] or a tenth of the
    /// disk, whichever is less.
    pub disk: Option<u64>,
}

impl NodeOptions {
    /// The bounds of the shelf in a directory or, without a directory, in memory.
    pub(super) fn bounds(self, directory: Option<&Path>) -> Bounds {
        let default = || directory.and_then(disk_size).map_or(DISK, |size| DISK.min(size / 10));
        let free = if directory.is_some() { FREE_FLOOR } else { 0 };
        Bounds { disk: self.disk.unwrap_or_else(default), free }
    }
}

/// The size of the file system of a directory, in bytes, as far as the system tells.
#[cfg(unix)]
fn disk_size(directory: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(directory).ok()?;
    Some(space.f_blocks.saturating_mul(space.f_frsize))
}

#[cfg(not(unix))]
fn disk_size(_: &Path) -> Option<u64> {
    None
}
