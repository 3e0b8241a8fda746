//! A dictionary whose values are numbers or byte strings, behind one interface.

use std::path::Path;
use std::sync::Arc;

use furui::dict::{Dict, DictOptions, Purpose, Snapshot};
use furui::error::StoreProblem;
use furui::store::Directory;
use furui::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::shared::Store;

/// A dictionary on storage, whose values are numbers or byte strings.
pub enum AnyMap {
    Numbers(Box<Dict<Directory>>),
    Bytes(Box<Dict<Directory, [u8]>>),
}

/// The entries that a dictionary had at one moment.
pub enum AnySnapshot {
    Numbers(Arc<Snapshot>),
    Bytes(Arc<Snapshot<[u8]>>),
}

/// The value of a key, as a copy that does not borrow from the dictionary.
pub enum Value {
    Number(u32),
    Bytes(Vec<u8>),
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

/// Evaluates an expression for a map of either kind.
macro_rules! either {
    ($kind:ident, $map:expr, $inner:ident => $value:expr) => {
        match $map {
            $kind::Numbers($inner) => $value,
            $kind::Bytes($inner) => $value,
        }
    };
}
pub(super) use either;

impl Store for AnyMap {
    fn sync(&mut self) -> Result<()> {
        either!(AnyMap, self, map => map.sync())
    }

    fn close(&mut self) -> Result<()> {
        match self.sync() {
            // Nothing can have been put into a dictionary that is read-only.
            Err(Error::Store(error)) if error.problem == StoreProblem::ReadOnly => Ok(()),
            synced => synced,
        }
    }
}

impl AnyMap {
    /// Opens the dictionary in a directory. It has this purpose; without one, the purpose of the existing dictionary,
    /// or [`Purpose::Numbers`] for a new dictionary.
    pub fn open(path: &Path, purpose: Option<Purpose>, is_read_only: bool) -> Result<Self> {
        let storage = if is_read_only { Directory::open_read_only(path)? } else { Directory::open(path)? };
        let options = DictOptions { purpose, ..DictOptions::default() };
        let found = || storage.manifest().ok().and_then(|manifest| manifest.store.purpose());
        Ok(match purpose.or_else(found) {
            Some(Purpose::Bytes) => Self::Bytes(Dict::open_bytes_with(storage, options)?.into()),
            _ => Self::Numbers(Dict::open_with(storage, options)?.into()),
        })
    }

    pub fn get(&self, key: &[u8]) -> Result<Option<Value>> {
        either!(AnyMap, self, map => Ok(map.get(key)?.map(Value::from)))
    }

    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        either!(AnyMap, self, map => map.contains(key))
    }

    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        either!(AnyMap, self, map => map.delete(key))
    }

    pub fn count(&self) -> Result<u64> {
        either!(AnyMap, self, map => map.count())
    }

    pub fn compact(&mut self) -> Result<()> {
        either!(AnyMap, self, map => map.compact())
    }

    /// Finds the longest key with which a text begins. Returns the length of the key in bytes, and its value.
    pub fn longest_prefix(&self, text: &[u8]) -> Result<Option<(usize, Value)>> {
        either!(AnyMap, self, map => Ok(map.longest_prefix(text)?.map(|(length, value)| (length, value.into()))))
    }

    /// A snapshot of the entries, which later changes of the dictionary do not affect.
    pub fn snapshot(&self) -> AnySnapshot {
        match self {
            Self::Numbers(map) => AnySnapshot::Numbers(map.snapshot()),
            Self::Bytes(map) => AnySnapshot::Bytes(map.snapshot()),
        }
    }

    /// The dictionary, if its values are numbers; an error if they are bytes.
    pub fn numbers(&mut self) -> Result<&mut Dict<Directory>> {
        match self {
            Self::Numbers(map) => Ok(map),
            Self::Bytes(map) => {
                let (found, expected) = (map.purpose().what(), Purpose::Numbers.what());
                Err(Error::store("number()", StoreProblem::OtherKind { found, expected }))
            }
        }
    }
}

impl<'py> IntoPyObject<'py> for Value {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Number(number) => Ok(number.into_pyobject(py)?.into_any()),
            Self::Bytes(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
        }
    }
}
