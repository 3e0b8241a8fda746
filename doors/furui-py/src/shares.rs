//! Splits the keys of a batch among the server's keys over which a set is spread.

use furui::{HashAlgorithm, HashSpec};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};

use crate::batch::{Column, Keys, Taken};

/// A part of a batch has at most this many keys, and no key begins after this many bytes of the part. This bounds the
/// data that is sent to a server at once.
const MAX_KEYS: usize = 1 << 14;
const MAX_BYTES: usize = 4 << 20;

/// The keys of a batch, which are sent to a server part by part.
#[pyclass(frozen, name = "_Shares", module = "furui._furui")]
pub struct Shares {
    keys: Keys,
}

/// The keys of a part that belong to one shard: the number of the shard, the indices of the keys in the batch, and the
/// bytes of the keys.
type Share<'py> = (u64, Vec<usize>, Bound<'py, PyList>);

#[pymethods]
impl Shares {
    #[new]
    fn new(batch: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { keys: Keys::of(batch, Taken::Keys)? })
    }

    fn __len__(&self) -> usize {
        self.keys.len()
    }

    /// Returns the part of the batch that begins with the key with the index `start`: the index of the key after its
    /// end, and its shares in ascending order. The hashes by XXH3 with this seed, with their halves
    /// exchanged, are divided into `shards` equal ranges, whose numbers are those of the shares. Every client of a set
    /// computes the same numbers.
    fn part<'py>(&self, py: Python<'py>, start: usize, shards: u64, seed: u64) -> PyResult<(usize, Vec<Share<'py>>)> {
        let spec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed };
        let (mut end, mut bytes, mut places) = (start, 0, vec![]);
        while end < self.keys.len() && end - start < MAX_KEYS && bytes < MAX_BYTES {
            let key = self.keys.get(end);
            let place = (u128::from(spec.hash(key).get().rotate_left(32)) * u128::from(shards)) >> 64;
            places.push((place as u64, end));
            bytes += key.len();
            end += 1;
        }
        places.sort_unstable();
        let share = |of: &[(u64, usize)]| {
            let indices: Vec<usize> = of.iter().map(|&(_, index)| index).collect();
            let keys = PyList::new(py, indices.iter().map(|&index| PyBytes::new(py, self.keys.get(index))))?;
            Ok((of[0].0, indices, keys))
        };
        let shares: PyResult<_> = places.chunk_by(|a, b| a.0 == b.0).map(share).collect();
        Ok((end, shares?))
    }
}

/// Converts the answers of a server, one byte for each key, to an object of the batch's library. The byte 0 is False.
#[pyfunction(name = "_answers")]
pub fn answers<'py>(batch: &Bound<'py, PyAny>, answers: &Bound<'py, PyByteArray>) -> PyResult<Bound<'py, PyAny>> {
    Column::Bools(answers.to_vec().into_iter().map(|answer| answer != 0).collect()).into_kind_of(batch)
}
