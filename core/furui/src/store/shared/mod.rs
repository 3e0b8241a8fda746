//! The files of a set that is shared by many machines in a bucket of objects: a manifest, which is replaced by a
//! conditional request, and packs, which never change. Who sends and fetches them is the caller's business; this module
//! reads and writes their bytes.

mod manifest;
mod over;
mod pack;

pub use manifest::{PackEntry, SharedManifest};
pub use pack::{PackRun, PackTable, WrittenPack, shard_of};

/// An id of 16 random bytes: of a shared set, of a pack, or of a commit.
pub type Id = [u8; 16];
