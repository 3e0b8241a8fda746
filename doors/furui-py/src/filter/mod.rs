//! The classes of filters.

mod kinds;
mod state;

pub use kinds::{
    BlockedBloom, Bloom, CountingBloom, Fuse, QuotientFilter, RingedBloom, ScalableBloom, SplitBlockBloom,
    StableBloomLight, WindowBloom,
};

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use furui::filter::{AnyFilter, CheckedFilter, FilterMut as _};
use furui::{Hashes, KeyHasher};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyBytes, PyType};

use self::state::State;
use crate::batch::{Column, hash_batch};
use crate::errors::{OrRaise, config};
use crate::key::with_key;
use crate::options::hash_text;

/// A filter of any kind: a set of keys in little memory, which says "no" for certain, and "yes" with a small error.
///
/// Filter.open(path) opens a file of any kind. New filters are made by the classes of the kinds, such as
/// Bloom.with_rate(1_000_000, 0.01). Filters with the default hash, "xxh3:0", can be combined wherever they were made;
/// if strangers choose the keys, give hash="xxh3:random". Files are those of `furui filter`.
///
/// Keys are str, bytes, int from -2**63 to 2**64 - 1, uuid.UUID or None; "a" and b"a" are one key. Batches are those of
/// Seen.add_many().
#[pyclass(frozen, subclass, weakref, module = "furui")]
pub struct Filter {
    state: RwLock<State>,
    hasher: KeyHasher,
}

#[pymethods]
impl Filter {
    /// Open the file of a filter, which is mapped and read only: no byte of its table is read before a key is looked
    /// up, and each part is checked when it is first read. The file must not be changed meanwhile; replacing it is
    /// allowed.
    ///
    /// Raises DamageError if a byte that was read is damaged, ConfigError if it is a filter of another class.
    #[classmethod]
    fn open<'py>(class: &Bound<'py, PyType>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let filter = py.detach(|| CheckedFilter::open(&path)).or_raise(py)?;
        kinds::wrap(class, State::Mapped(filter.into()))
    }

    /// Read the file of a filter into memory, and check all of it. The filter can then be changed; the file is not.
    #[classmethod]
    fn load<'py>(class: &Bound<'py, PyType>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let filter = py.detach(|| AnyFilter::open(&path)).or_raise(py)?;
        kinds::wrap(class, State::Owned(filter.into()))
    }

    /// Make a filter from the bytes of its file.
    #[classmethod]
    fn from_bytes<'py>(class: &Bound<'py, PyType>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let filter = AnyFilter::copy_of_bytes(data, "bytes").or_raise(class.py())?;
        kinds::wrap(class, State::Owned(filter.into()))
    }

    /// Write the filter to a file, whole or not at all: an existing file is replaced at the end.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let state = self.read(py);
        py.detach(|| state.save(&path)).or_raise(py)
    }

    /// Return the bytes of the filter's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.read(py);
        let bytes = py.detach(|| state.to_bytes()).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Return a copy in memory, which can be changed.
    fn copy<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let filter = this.get().read(this.py()).to_owned().or_raise(this.py())?;
        kinds::wrap(&this.get_type(), State::Owned(filter.into()))
    }

    fn __copy__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(this)
    }

    fn __deepcopy__<'py>(this: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(this)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = this.get_type().getattr("from_bytes")?;
        Ok((make, (this.get().to_bytes(this.py())?,)))
    }

    /// Insert a key. Return True if it is certainly new, and False if it may have been inserted before.
    ///
    /// Raises FullError if a filter of fixed size is full, ConfigError if it is a Fuse, which takes no keys later.
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut state = self.write(py);
        let filter = state.owned(py)?;
        with_key(key, |key| filter.insert_hash(self.hasher.hash(key)))?.or_raise(py)
    }

    /// Insert the keys of a batch. Return how many are certainly new.
    ///
    /// Raises TypeError if the batch holds a value that is no key: then none is inserted. Raises FullError if a filter
    /// of fixed size gets full: then some are inserted.
    fn update(&self, batch: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = batch.py();
        let keys = hash_batch(batch, &self.hasher, false)?;
        let mut state = self.write(py);
        let filter = state.owned(py)?;
        py.detach(|| filter.insert_all(keys.as_slice())).or_raise(py)
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let state = self.read(py);
        with_key(key, |key| state.contains(self.hasher.hash(key)))?.or_raise(py)
    }

    /// Look up the keys of a batch. Return for each, in order, True if it may be in the set, and False if it certainly
    /// is not. The answer is an object of the batch's library, as for Seen.add_many().
    fn has_many<'py>(&self, batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = batch.py();
        let keys = hash_batch(batch, &self.hasher, false)?;
        let state = self.read(py);
        let found = py.detach(|| state.contains_all(&keys)).or_raise(py)?;
        drop(state);
        Column::Bools(found).into_kind_of(batch)
    }

    /// Return a filter of the keys that are in at least one of two filters, which must be of one kind, size and hash.
    fn __or__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let mut union = this.get().read(py).to_owned().or_raise(py)?;
        other.get().read(py).add_to(&mut union).or_raise(py)?;
        kinds::wrap(&this.get_type(), State::Owned(union.into()))
    }

    /// Return a filter of the keys that are in both filters, and of a few others.
    fn __and__<'py>(this: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let mut common = this.get().read(py).to_owned().or_raise(py)?;
        other.get().read(py).keep_common(&mut common).or_raise(py)?;
        kinds::wrap(&this.get_type(), State::Owned(common.into()))
    }

    fn __ior__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other.get().read(py).to_owned().or_raise(py)?;
        self.write(py).owned(py)?.union_with(&other).or_raise(py)
    }

    fn __iand__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other.get().read(py).to_owned().or_raise(py)?;
        self.write(py).owned(py)?.intersect_with(&other).or_raise(py)
    }

    /// Estimate the similarity of the two sets of keys: the share of the keys of either set that are in both. It is 0
    /// for sets without a common key, and 1 for equal sets.
    fn similarity(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<f64> {
        let other = other.get().read(py).to_owned().or_raise(py)?;
        let similarity = self.read(py).similarity(&other).or_raise(py)?;
        Ok(similarity.jaccard.value.clamp(0.0, 1.0))
    }

    /// Estimate how many keys the filter holds. None if its kind cannot tell.
    fn count(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.read(py).cardinality().or_raise(py)
    }

    /// The false-positive rate with the keys that the filter holds: the probability of a wrong "yes".
    #[getter]
    fn rate(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py).rate().or_raise(py)
    }

    /// The number of keys for which the filter was made. Kinds without a limit have the largest number.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.read(py).capacity()
    }

    /// The kind, as `furui filter build --kind` names it.
    #[getter]
    fn kind(&self, py: Python<'_>) -> &'static str {
        self.read(py).kind().name()
    }

    /// The hash function of the keys and its seed, as in "xxh3:0x0".
    #[getter]
    fn hash(&self) -> String {
        hash_text(self.hasher.spec())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = self.read(py);
        format!("<furui filter of kind {}, for {} keys, {}>", state.kind().name(), state.capacity(), state.hash_spec())
    }
}

impl Filter {
    fn remove_key(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut state = self.write(py);
        let filter = state.owned(py)?;
        let mut keys = Hashes::new(&self.hasher);
        with_key(key, |key| keys.push(key))?;
        Ok(filter.remove_hashes(&keys).or_raise(py)? > 0)
    }

    fn read(&self, py: Python<'_>) -> std::sync::RwLockReadGuard<'_, State> {
        self.state.read_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, py: Python<'_>) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<State> for Filter {
    fn from(state: State) -> Self {
        Self { hasher: state.hash_spec().hasher(), state: RwLock::new(state) }
    }
}

/// The error for a change of a filter that is mapped from a file.
fn read_only(py: Python<'_>) -> PyErr {
    config(py, "a filter from open() is read only: use load(path), or copy() it")
}
