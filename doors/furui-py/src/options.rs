//! Arguments that several classes take: sizes, hashes, windows.

use std::path::PathBuf;

use furui::filter::CheckedFilter;
use furui::store::{Directory, Window};
use furui::text::InvalidText;
use furui::{HashSpec, KeyForm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::errors::{OrRaise, config};

/// The hash function of a set, and the form in which its keys were made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    pub hash: Option<HashSpec>,
    pub form: Option<KeyForm>,
}

impl Made {
    /// Reads the arguments `hash` and `like`, of which at most one may be given.
    pub fn read(py: Python<'_>, hash: Option<&str>, like: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match (hash, like) {
            (Some(_), Some(_)) => Err(config(py, "hash and like exclude each other: give one of them")),
            (Some(text), None) => Ok(Self {
                hash: Some(text.parse::<HashSpec>().map_err(|error| config(py, error.to_string()))?),
                form: None,
            }),
            (None, Some(set)) => Self::like(set),
            (None, None) => Ok(Self::default()),
        }
    }

    /// Reads the hash and the key form of another set: an object that has a `hash`, and perhaps a `form`, or the path
    /// of a filter or a store.
    fn like(set: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = set.py();
        if let Ok(hash) = set.getattr("hash") {
            let hash = parse(&hash, str::parse)?;
            let form = set.getattr_opt("form")?.map(|form| parse_form(&form.extract::<String>()?)).transpose()?;
            return Ok(Self { hash: Some(hash), form });
        }
        let path: PathBuf = set.extract()?;
        if path.is_dir() {
            let manifest = Directory::open_read_only(&path).and_then(|storage| storage.manifest()).or_raise(py)?;
            return Ok(Self { hash: Some(manifest.hash), form: Some(manifest.form) });
        }
        Ok(Self { hash: Some(CheckedFilter::open(&path).or_raise(py)?.hash_spec()), form: None })
    }
}

/// Parses a key form, which says how keys are made from records, in the words of the program that makes them.
pub fn parse_form(text: &str) -> PyResult<KeyForm> {
    text.parse::<KeyForm>().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A hash function and its seed, in the syntax of the argument `hash`.
pub fn hash_text(hash: HashSpec) -> String {
    format!("{}:{:#x}", hash.algorithm.name(), hash.seed)
}

/// Parses an argument in furui's own syntax of values. An `int` is accepted, too.
///
/// # Errors
/// `ConfigError` if `read` refuses the text.
pub fn parse<T>(value: &Bound<'_, PyAny>, read: impl FnOnce(&str) -> Result<T, InvalidText>) -> PyResult<T> {
    let text: String = if value.is_instance_of::<PyInt>() { value.str()?.extract()? } else { value.extract()? };
    read(&text).map_err(|error| config(value.py(), error.to_string()))
}

/// Converts a window to the form in which servers record it: a number of keys, or a text such as "3600000ms".
#[pyfunction(name = "_window")]
pub fn window<'py>(window: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match parse(window, str::parse)? {
        Window::Keys(keys) => Ok(keys.into_pyobject(window.py())?.into_any()),
        Window::Milliseconds(time) => Ok(format!("{time}ms").into_pyobject(window.py())?.into_any()),
    }
}
