//! Stores: immutable files that are published atomically, logs, and the exact set and the filter that consist of them.
//!
//! A [`Storage`] holds files: a [`Directory`], a [`Memory`], or a [`Scratch`] that vanishes with the process; an
//! [`Overlay`] shows one storage and keeps changes in another. A store is the set of files that its [`Manifest`] names.

pub mod cascade;
mod dir;
mod filter_hash;
mod fingerprints;
mod kind;
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
mod trie_layout;

pub use crate::format::{Bytes, DiskFile, ReadAt};
pub use crate::window::Window;
pub use dir::Directory;
pub use filter_hash::FilterHash;
pub use fingerprints::Fingerprints;
pub use kind::{JOURNAL, MANIFEST, StoreKind, TIERS};
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
pub use trie_layout::Layout;
