use std::path::Path;

use furui::filter::{AnyFilter, CheckedFilter, Estimate, Filter, Mismatch, Similarity};
use furui::format::{FormatError, Kind, WriteError};
use furui::{Error, HashSpec, Hashes, KeyHash};
use pyo3::prelude::*;

use crate::clock::now;

/// A filter in memory, or in a mapped file.
pub enum State {
    Owned(Box<AnyFilter>),
    Mapped(Box<CheckedFilter>),
}

/// Evaluates an expression for the whole filter, in memory or in a file. Every byte of a file is checked first.
macro_rules! whole {
    ($state:expr, $filter:ident => $value:expr) => {
        match $state {
            State::Owned($filter) => Ok($value),
            State::Mapped(checked) => checked.whole().map(|$filter| $value),
        }
    };
}

impl State {
    /// The filter in memory, for changes; one with a window of time is told the time. An error if the filter is mapped
    /// from a file.
    pub fn owned(&mut self, py: Python<'_>) -> PyResult<&mut AnyFilter> {
        match self {
            Self::Owned(filter) => {
                if let AnyFilter::Window(filter) = &mut **filter {
                    filter.tell_time(now());
                }
                Ok(filter)
            }
            Self::Mapped(_) => Err(super::read_only(py)),
        }
    }

    /// Copies the filter into memory that the copy owns. A mapped file is checked as a whole first; an error if it is
    /// damaged.
    pub fn to_owned(&self) -> Result<AnyFilter, Error> {
        match self {
            Self::Owned(filter) => Ok((**filter).clone()),
            Self::Mapped(checked) => {
                let mut bytes = vec![];
                let written = checked.whole()?.write_to(&mut bytes);
                written.map_err(|source| Error::io("cannot copy", "the filter", source))?;
                Ok(AnyFilter::copy_of_bytes(&bytes, "the filter")?)
            }
        }
    }

    pub fn hash_spec(&self) -> HashSpec {
        match self {
            Self::Owned(filter) => filter.hash_spec(),
            Self::Mapped(filter) => filter.hash_spec(),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Owned(filter) => filter.kind(),
            Self::Mapped(filter) => filter.kind(),
        }
    }

    pub fn capacity(&self) -> u64 {
        match self {
            Self::Owned(filter) => filter.capacity(),
            Self::Mapped(filter) => filter.capacity(),
        }
    }

    #[inline]
    pub fn contains(&self, key: KeyHash) -> Result<bool, FormatError> {
        match self {
            Self::Owned(filter) => Ok(match &**filter {
                AnyFilter::Window(filter) => filter.contains_hash_at(key, now()),
                filter => filter.contains_hash(key),
            }),
            Self::Mapped(filter) => filter.contains_hash(key),
        }
    }

    pub fn contains_all(&self, keys: &Hashes) -> Result<Vec<bool>, FormatError> {
        let mut found = vec![];
        match self {
            Self::Owned(filter) => match &**filter {
                AnyFilter::Window(filter) => {
                    let now = now();
                    found.extend(keys.as_slice().iter().map(|&key| filter.contains_hash_at(key, now)));
                }
                filter => filter.contains_all(keys.as_slice(), &mut found),
            },
            Self::Mapped(filter) => filter.contains_hashes(keys, &mut found)?,
        }
        Ok(found)
    }

    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let saved: Result<(), WriteError> = whole!(self, filter => filter.save(path))?;
        Ok(saved?)
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![];
        let written = whole!(self, filter => filter.write_to(&mut bytes))?;
        written.map_err(|source| Error::io("cannot write", "bytes", source))?;
        Ok(bytes)
    }

    /// Adds the keys of this filter to the filter `union`. An error if the two cannot be combined, because they differ
    /// in kind, parameters or hash, or if the file of this filter is damaged.
    pub fn add_to(&self, union: &mut AnyFilter) -> Result<(), Error> {
        Ok(whole!(self, filter => union.union_with(filter))??)
    }

    /// Reduces the filter `common` to its intersection with this one. An error if the two cannot be combined, because
    /// they differ in kind, parameters or hash, or if the file of this filter is damaged.
    pub fn keep_common(&self, common: &mut AnyFilter) -> Result<(), Error> {
        Ok(whole!(self, filter => common.intersect_with(filter))??)
    }

    pub fn similarity(&self, other: &AnyFilter) -> Result<Similarity, Error> {
        let similarity: Result<Similarity, Mismatch> = whole!(self, filter => filter.similarity(other))?;
        Ok(similarity?)
    }

    pub fn cardinality(&self) -> Result<Option<f64>, FormatError> {
        let estimate: Option<Estimate> = whole!(self, filter => filter.cardinality())?;
        Ok(estimate.map(|estimate| estimate.value))
    }

    pub fn rate(&self) -> Result<f64, FormatError> {
        whole!(self, filter => filter.false_positive_rate())
    }
}
