//! Iterators over the entries of a dictionary.

use std::collections::VecDeque;
use std::ops::Bound as End;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyString};

use super::map::{AnySnapshot, Value, either};
use crate::errors::OrRaise;

/// The number of entries of a dictionary that an iterator reads at a time.
const PAGE: usize = 1024;

/// Converts the bytes of a key in a dictionary to a Python object: a `str` if `is_text` is true, or else `bytes`.
pub fn key_object<'py>(py: Python<'py>, key: &[u8], is_text: bool) -> PyResult<Bound<'py, PyAny>> {
    if !is_text {
        return Ok(PyBytes::new(py, key).into_any());
    }
    match std::str::from_utf8(key) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, key).call_method1("decode", ("utf-8", "surrogateescape")),
    }
}

#[derive(Clone, Copy)]
pub enum What {
    Keys,
    Values,
    Items,
}

/// A position in the entries of a dictionary, from which the next page is read.
struct Cursor {
    entries: AnySnapshot,
    /// The bound from which the next page begins. `None` after the last page.
    from: Option<End<Vec<u8>>>,
    prefix: Option<Vec<u8>>,
    stop: Option<Vec<u8>>,
    page: VecDeque<(Vec<u8>, Value)>,
}

/// An iterator over keys, values or pairs of both, of a Dict.
#[pyclass(frozen, module = "furui")]
pub struct Entries {
    cursor: Mutex<Cursor>,
    what: What,
    is_text: bool,
}

impl Entries {
    /// Creates an iterator over the entries from `start` to before `stop`, as long as their keys begin with `prefix`.
    pub fn new(entries: AnySnapshot, [prefix, start, stop]: [Option<Vec<u8>>; 3], what: What, is_text: bool) -> Self {
        let from = Some(End::Included(prefix.clone().or(start).unwrap_or_default()));
        let cursor = Cursor { entries, from, prefix, stop, page: VecDeque::new() };
        Self { cursor: Mutex::new(cursor), what, is_text }
    }
}

#[pymethods]
impl Entries {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut cursor = self.cursor.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if cursor.page.is_empty() {
            let cursor = &mut *cursor;
            py.detach(|| cursor.turn()).or_raise(py)?;
        }
        let Some((key, value)) = cursor.page.pop_front() else { return Ok(None) };
        let key = || key_object(py, &key, self.is_text);
        Ok(Some(match self.what {
            What::Keys => key()?,
            What::Values => value.into_pyobject(py)?,
            What::Items => (key()?, value).into_pyobject(py)?.into_any(),
        }))
    }
}

impl Cursor {
    /// Reads the next page of entries.
    fn turn(&mut self) -> furui::Result<()> {
        let Some(from) = self.from.take() else { return Ok(()) };
        let stop = self.stop.clone().map_or(End::Unbounded, End::Excluded);
        let range = (from, stop);
        either!(AnySnapshot, &self.entries, map => {
            let mut entries = map.range(range);
            while self.page.len() < PAGE
                && let Some((key, value)) = entries.next_entry()?
            {
                self.page.push_back((key.to_vec(), value.into()));
            }
        });
        let is_full = self.page.len() == PAGE;
        let read = self.page.len();
        if let Some(prefix) = &self.prefix {
            self.page.retain(|(key, _)| key.starts_with(prefix));
        }
        if is_full && self.page.len() == read {
            self.from = self.page.back().map(|(key, _)| End::Excluded(key.clone()));
        }
        Ok(())
    }
}
