//! The shares of a set that is spread over many keys of a server.

use furui::HashSpec;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::batch::Keys;

/// The bytes of the keys of a batch, and the number of the share of each: of `shards` equal ranges of its XXH3 with seed 0.
/// Every client of a set computes the same shares.
#[pyfunction(name = "_shares")]
pub fn shares<'py>(batch: &Bound<'py, PyAny>, shards: u64) -> PyResult<(Bound<'py, PyList>, Vec<u64>)> {
    let keys = Keys::of(batch)?;
    let spec = HashSpec::default();
    let share = |key: &[u8]| ((u128::from(spec.hash(key).get()) * u128::from(shards)) >> 64) as u64;
    let list = PyList::new(batch.py(), keys.iter().map(|key| PyBytes::new(batch.py(), key)).collect::<Vec<_>>())?;
    Ok((list, keys.iter().map(share).collect()))
}
