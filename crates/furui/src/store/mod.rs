//! Storage: immutable files, published whole, logs, and the exact set that is built from them.
//!
//! [`Storage`] is where files live: in a [`Directory`], in [`Memory`], or as [`Scratch`] that vanishes with the
//! process; an [`Overlay`] shows one storage and keeps changes in another. A store is the files that its [`Manifest`]
//! names.

pub mod cascade;
mod dir;
mod kind;
mod manifest;
mod memory;
mod overlay;
mod published;
mod scratch;
mod snapshot;
mod storage;

pub use crate::format::{Bytes, DiskFile, ReadAt};
pub use dir::Directory;
pub use kind::{JOURNAL, MANIFEST, StoreKind};
pub use manifest::{MAX_RUNS, Manifest, RunEntry};
pub use memory::Memory;
pub use overlay::{Overlay, OverlayFile};
pub use published::Published;
pub use scratch::Scratch;
pub use snapshot::snapshot;
pub use storage::{Log, Storage};
