use pyo3::prelude::*;

use super::source::each_key;

/// The bytes of the keys of a batch.
#[derive(Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// The keys of a batch.
    ///
    /// # Errors
    /// Those of [`each_key`].
    pub fn of(batch: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut keys = Self::default();
        each_key(batch, |key| {
            keys.bytes.extend_from_slice(key);
            keys.ends.push(keys.bytes.len());
        })?;
        Ok(keys)
    }

    /// The keys, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}
