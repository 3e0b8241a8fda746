//! Stores: immutable files that are published atomically, logs, and the exact set and the filter that consist of them.
//!
//! A [`Storage`] holds files: a [`Directory`], a [`Memory`], or a [`Scratch`] that vanishes with the process; an
//! [`Overlay`] shows one storage and keeps changes in another. A store is the set of files that its [`Manifest`] names.

pub mod cascade;
mod dir;
mod fingerprints;
mod kind;
mod layout;
mod manifest;
mod memory;
mod note;
mod overlay;
mod published;
mod purpose;
mod scratch;
pub mod shared;
mod snapshot;
mod storage;
mod taken_numbers;

pub use crate::format::{Bytes, DiskFile, ReadAt};
pub use crate::window::Window;
pub use dir::Directory;
pub use fingerprints::Fingerprints;
pub use kind::{JOURNAL, MANIFEST, StoreKind, TIERS};
pub use layout::{FilterHash, Layout};
pub use manifest::{MAX_RUNS, Manifest, RunEntry};
pub use memory::Memory;
pub use note::Note;
pub use overlay::{Overlay, OverlayFile};
pub use published::Published;
pub use purpose::Purpose;
pub use scratch::Scratch;
pub use snapshot::snapshot;
pub use storage::{Log, Storage};
pub use taken_numbers::Taken;
