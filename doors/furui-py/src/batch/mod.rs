//! Batches of keys: lists, iterators, numpy arrays, and all objects that speak the Arrow C interface.

mod answers;
mod arrow;
mod family;
mod keys;
mod numpy;
mod objects;
mod source;

pub use answers::{Answers, Column};
pub use keys::Keys;
pub use source::each_key;

use furui::{Hashes, KeyHash, KeyHasher};
use pyo3::prelude::*;

use crate::errors::config;

/// The hashes of the keys of a batch, in order. If `are_hashes` is true, the keys themselves are 64-bit hashes.
///
/// # Errors
/// The errors of [`each_key`]. No key has been recorded then.
pub fn hash_batch(batch: &Bound<'_, PyAny>, hasher: &KeyHasher, are_hashes: bool) -> PyResult<Hashes> {
    let mut hashes = Hashes::new(hasher);
    if are_hashes {
        let mut short = None;
        each_key(batch, |key| match hash_of(key) {
            Some(hash) => hashes.push_hash(hash),
            None => short = Some(key.len()),
        })?;
        return short.map_or(Ok(hashes), |length| Err(too_short(batch.py(), length)));
    }
    each_key(batch, |key| hashes.push(key))?;
    Ok(hashes)
}

/// Reads the hash from a key that is a hash itself: its first eight bytes, little-endian. `None` if the key is shorter.
#[inline]
pub fn hash_of(key: &[u8]) -> Option<KeyHash> {
    key.first_chunk().map(|bytes| KeyHash::new(u64::from_le_bytes(*bytes)))
}

/// The error for a key that is too short to be a hash.
pub fn too_short(py: Python<'_>, length: usize) -> PyErr {
    config(
        py,
        format!(
            "a key of {length} bytes is no hash: with hashed=True each key is a 64-bit int, or at least 8 bytes that \
             are uniformly distributed"
        ),
    )
}
