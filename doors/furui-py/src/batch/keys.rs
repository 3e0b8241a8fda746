use pyo3::prelude::*;

use super::source::each_key;
use super::taken::Taken;

/// A copy of the bytes of all keys of a batch.
#[derive(Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// Copies the keys of a batch: a Python object that is or holds many keys, of the types that `taken` allows.
    ///
    /// # Errors
    /// The errors of [`each_key`].
    pub fn of(batch: &Bound<'_, PyAny>, taken: Taken) -> PyResult<Self> {
        let mut keys = Self::default();
        each_key(batch, taken, |key| {
            keys.bytes.extend_from_slice(key);
            keys.ends.push(keys.bytes.len());
        })?;
        Ok(keys)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of the key with this index, which must be less than [`len`](Self::len).
    pub fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}
