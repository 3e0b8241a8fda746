//! Batches of keys: lists, iterators, numpy arrays, and all objects that speak the Arrow C interface.

mod answers;
mod arrow;
mod arrow_values;
mod family;
mod keys;
mod numpy;
mod objects;
mod pandas;
mod polars;
mod source;
mod taken;

pub use answers::{Answers, Column};
pub use keys::Keys;
pub use source::each_key;
pub use taken::Taken;

use furui::{Hashes, KeyHasher};
use pyo3::prelude::*;

use crate::hashed::{hash_of, too_short};

/// The hashes of the keys of a batch, in order. If `are_hashes` is true, the keys themselves are 64-bit hashes.
///
/// # Errors
/// The errors of [`each_key`]. No key has been recorded then.
pub fn hash_batch(batch: &Bound<'_, PyAny>, hasher: &KeyHasher, are_hashes: bool) -> PyResult<Hashes> {
    let mut hashes = Hashes::new(hasher);
    if are_hashes {
        let mut short = None;
        each_key(batch, Taken::Hashes, |key| match hash_of(key) {
            Some(hash) => hashes.push_hash(hash),
            None => short = Some(key.len()),
        })?;
        return short.map_or(Ok(hashes), |length| Err(too_short(batch.py(), length)));
    }
    each_key(batch, Taken::Keys, |key| hashes.push(key))?;
    Ok(hashes)
}
