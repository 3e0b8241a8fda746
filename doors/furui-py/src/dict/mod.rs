//! The class `Dict`.

mod entries;
mod map;

pub use entries::Entries;

use std::path::PathBuf;

use furui::Error;
use furui::dict::Purpose;
use furui::error::StoreProblem;
use furui::format::Printable;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use self::entries::{What, key_object};
use self::map::{AnyMap, Value};
use crate::batch::{Column, Keys};
use crate::errors::{OrRaise, config, raise};
use crate::guard::Guarded;
use crate::key::with_key;
use crate::shared::Store as _;

/// The number of entries of a dictionary between two checks whether the user has pressed ^C.
const PAUSE: usize = 1024;

/// A dictionary on storage, in the order of its keys: from strings to 32-bit numbers, or to values of any bytes.
///
/// path: the directory of the dictionary, which is created if it is missing. One process writes to it at a time.
/// values: "numbers", which number() gives or which are put; "values", any numbers; "counts", as `furui dict count`
/// keeps them; or "bytes". A dictionary keeps what it was made for. None: as the existing dictionary has them, or
/// numbers. text: keys come back as str; a byte that is not UTF-8 as a surrogate, as os.fsdecode does it. False: as
/// bytes. read_only: only look keys up, without the lock of the dictionary.
///
/// Entries are durable after sync() or close(). Keys are str, bytes, int, uuid.UUID or None, as those of a Seen; all
/// of them come back as str or bytes.
#[pyclass(frozen, weakref, mapping, module = "furui")]
pub struct Dict {
    map: Guarded<AnyMap>,
    path: PathBuf,
    is_text: bool,
    is_read_only: bool,
}

#[pymethods]
impl Dict {
    #[new]
    #[pyo3(signature = (path, *, values=None, text=true, read_only=false))]
    fn new(py: Python<'_>, path: PathBuf, values: Option<&str>, text: bool, read_only: bool) -> PyResult<Self> {
        let named = |values| Purpose::ALL.into_iter().find(|purpose| purpose.name() == values);
        let unknown = || config(py, "values must be \"numbers\", \"values\", \"counts\", \"bytes\" or None");
        let purpose = values.map(|values| named(values).ok_or_else(unknown)).transpose()?;
        let map = py.detach(|| AnyMap::open(&path, purpose, read_only)).or_raise(py)?;
        Ok(Self { map: Guarded::new(map, None)?, path, is_text: text, is_read_only: read_only })
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Value> {
        self.find(py, key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    /// Return the value of a key, or the default if it has none.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.find(key.py(), key)? {
            Some(value) => Ok(Some(value.into_pyobject(key.py())?)),
            None => Ok(default),
        }
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.map.with(py, |map| with_key(key, |key| map.contains(key))?.or_raise(py))
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check_writable(py)?;
        self.map.with(py, |map| match map {
            AnyMap::Numbers(map) => {
                let value: u32 = value.extract().map_err(|_| {
                    config(py, "a value of this dictionary is a number from 0 to 2**32 - 1: open it with values=\"bytes\" for others")
                })?;
                with_key(key, |key| map.put(key, value))?.or_raise(py)
            }
            AnyMap::Bytes(map) => with_key(value, |value| with_key(key, |key| map.put(key, value)))??.or_raise(py),
        })
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check_writable(py)?;
        if !self.__contains__(py, key)? {
            return Err(PyKeyError::new_err(key.clone().unbind()));
        }
        self.map.with(py, |map| with_key(key, |key| map.delete(key))?.or_raise(py))
    }

    /// Put all entries of a mapping, or of an iterable of pairs.
    fn update(this: &Bound<'_, Self>, entries: &Bound<'_, PyAny>) -> PyResult<()> {
        let pairs = if entries.hasattr("items")? { entries.call_method0("items")? } else { entries.clone() };
        for (i, pair) in pairs.try_iter()?.enumerate() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            this.get().__setitem__(this.py(), &key, &value)?;
            if i % PAUSE == PAUSE - 1 {
                this.py().check_signals()?;
            }
        }
        Ok(())
    }

    /// Return the number of a key. A key without a number gets the one after the greatest that was ever given or put:
    /// 0, 1, 2 and so on. No number is given twice. Raises ConfigError if the dictionary does not give numbers.
    fn number(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u32> {
        self.check_writable(py)?;
        self.map.with(py, |map| with_key(key, |key| map.numbers()?.number(key))?.or_raise(py))
    }

    /// Return the numbers of the keys of a batch, in order, as number() gives them. The answer is an object of the
    /// batch's library, as for Seen.add_many().
    fn number_many<'py>(&self, batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.check_writable(batch.py())?;
        let keys = Keys::of(batch)?;
        let given = self.map.detached(batch.py(), |map| {
            let map = map.numbers()?;
            keys.iter().map(|key| map.number(key)).collect::<furui::Result<Vec<u32>>>()
        })?;
        Column::Numbers(given).into_kind_of(batch)
    }

    /// Return the values of the keys of a batch, in order; None for a key without one. In a dictionary of numbers the
    /// answer is an object of the batch's library, except for numpy, which has no None: there it is a list.
    fn get_many<'py>(&self, batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = batch.py();
        let keys = Keys::of(batch)?;
        let keys: Vec<&[u8]> = keys.iter().collect();
        let (found, bytes) = self.map.detached(py, |map| match map {
            AnyMap::Numbers(map) => {
                let mut found = vec![];
                map.get_all(&keys, &mut found)?;
                Ok((Some(found), vec![]))
            }
            AnyMap::Bytes(map) => {
                let mut found = vec![];
                map.get_all(&keys, &mut found)?;
                Ok((None, found.into_iter().map(|value| value.map(<[u8]>::to_vec)).collect()))
            }
        })?;
        match found {
            Some(found) => Column::Found(found).into_kind_of(batch),
            None => {
                let values: Vec<_> =
                    bytes.iter().map(|value| value.as_ref().map(|value| PyBytes::new(py, value))).collect();
                values.into_pyobject(py)
            }
        }
    }

    /// Return the number of keys. Cost: all entries are read if there are several tries.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.map.detached(py, |map| map.count())? as usize)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Entries> {
        self.keys(py, None, None, None)
    }

    /// Iterate over the keys in order: over all keys, over those with a prefix, or over those from start to before
    /// stop. The iterator shows the dictionary as it was when the iterator was made.
    #[pyo3(signature = (*, prefix=None, start=None, stop=None))]
    fn keys(
        &self,
        py: Python<'_>,
        prefix: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Entries> {
        self.entries(py, [prefix, start, stop], What::Keys)
    }

    /// Iterate over the values in the order of their keys, which are chosen as by keys().
    #[pyo3(signature = (*, prefix=None, start=None, stop=None))]
    fn values(
        &self,
        py: Python<'_>,
        prefix: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Entries> {
        self.entries(py, [prefix, start, stop], What::Values)
    }

    /// Iterate over pairs of key and value in the order of keys, which are chosen as by keys().
    #[pyo3(signature = (*, prefix=None, start=None, stop=None))]
    fn items(
        &self,
        py: Python<'_>,
        prefix: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Entries> {
        self.entries(py, [prefix, start, stop], What::Items)
    }

    /// Return the longest key that a text begins with, and its value. None if there is no such key.
    fn longest_prefix<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Value)>> {
        let text = with_key(text, <[u8]>::to_vec)?;
        let found = self.map.with(py, |map| map.longest_prefix(&text).or_raise(py))?;
        found.map(|(length, value)| Ok((key_object(py, &text[..length], self.is_text)?, value))).transpose()
    }

    /// Make all changes durable, so that they survive a crash.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.check_writable(py)?;
        self.map.detached(py, AnyMap::sync)
    }

    /// Merge the dictionary into one trie, which takes the least space and has the fastest look-ups, and make it
    /// durable.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.check_writable(py)?;
        self.map.detached(py, AnyMap::compact)
    }

    /// Make all changes durable, release the lock, and free the memory. A closed dictionary raises ValueError.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.map.close(py)
    }

    /// The directory of the dictionary.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// True after close().
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.map.is_closed(py)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        self.close(py)?;
        Ok(false)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Dict cannot be pickled or copied, because one process writes to it: open it with read_only=True in each \
             worker",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = if self.closed(py) { ", closed" } else { "" };
        format!("<furui.Dict in {}{state}>", Printable(self.path.display()))
    }
}

impl Dict {
    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
        self.map.with(py, |map| with_key(key, |key| map.get(key))?.or_raise(py))
    }

    fn check_writable(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_read_only {
            return Ok(());
        }
        Err(raise(py, Error::store(self.path.display().to_string(), StoreProblem::ReadOnly)))
    }

    fn entries(&self, py: Python<'_>, chosen: [Option<&Bound<'_, PyAny>>; 3], what: What) -> PyResult<Entries> {
        let bytes = |key: Option<&Bound<'_, PyAny>>| key.map(|key| with_key(key, <[u8]>::to_vec)).transpose();
        let [prefix, start, stop] = chosen;
        let (prefix, start, stop) = (bytes(prefix)?, bytes(start)?, bytes(stop)?);
        if prefix.is_some() && (start.is_some() || stop.is_some()) {
            return Err(config(py, "prefix excludes start and stop: give one of them"));
        }
        let entries = self.map.with(py, |map| Ok(map.snapshot()))?;
        Ok(Entries::new(entries, [prefix, start, stop], what, self.is_text))
    }
}
