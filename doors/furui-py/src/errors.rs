//! Errors of the library as Python exceptions. The classes are in `python/furui/errors.py`.

use std::path::Path;

use furui::Error;
use furui::error::StoreProblem;
use furui::filter::Full;
use furui::format::FormatError;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::locked;

/// Converts an error of the library to its Python exception.
pub fn raise(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match error {
        Error::Io { action, source, file } => match source.raw_os_error() {
            // An OSError prints the name of its file itself.
            Some(code) => new(py, "Error", (code, format!("{action}: {source}"), file)),
            None => new(py, "Error", (text,)),
        },
        Error::Format(error) => damage(py, &error),
        Error::Store(error) if error.problem == StoreProblem::Locked => {
            let here = locked::line_that_locked(Path::new(&error.path));
            let own =
                |line| format!("{}: in use by this process: close the other object, opened at {line}", error.path);
            new(py, "LockedError", (here.map_or(text, own),))
        }
        Error::Store(error) if matches!(error.problem, StoreProblem::OtherNote { .. }) => {
            new(py, "ConflictError", (text,))
        }
        Error::Store(error) => match error.problem {
            StoreProblem::OtherKind { .. }
            | StoreProblem::OtherMade { .. }
            | StoreProblem::OtherForm { .. }
            | StoreProblem::OtherWindow { .. }
            | StoreProblem::NoteTooLong { .. }
            | StoreProblem::HasWindow { .. } => config(py, text),
            _ => new(py, "Error", (text,)),
        },
        Error::Full(Full::Fixed) => config(py, text),
        Error::Full(_) => new(py, "FullError", (text,)),
        Error::Mismatch(_) | Error::Config(_) => config(py, text),
        Error::NoMemory { .. } => PyMemoryError::new_err(text),
        _ => new(py, "Error", (text,)),
    }
}

/// Creates a `ConfigError`: an argument is invalid, or does not fit the set.
pub fn config(py: Python<'_>, text: impl Into<String>) -> PyErr {
    new(py, "ConfigError", (text.into(),))
}

/// Creates a plain `furui.Error`.
pub fn plain(py: Python<'_>, text: impl Into<String>) -> PyErr {
    new(py, "Error", (text.into(),))
}

fn damage(py: Python<'_>, error: &FormatError) -> PyErr {
    use furui::format::Problem;
    let text = error.to_string();
    match error.problem {
        // These files are not damaged: they are of another kind, or of a newer version of furui.
        Problem::NotFurui
        | Problem::NewerVersion { .. }
        | Problem::WrongKind { .. }
        | Problem::NotAFilter(_)
        | Problem::UnknownKind(_)
        | Problem::UnknownStore(_)
        | Problem::UnknownSection(_)
        | Problem::UnknownHash(_)
        | Problem::OtherHash { .. }
        | Problem::NoSeed
        | Problem::OtherSeed => config(py, text),
        _ => {
            // An error within a section of a file names the section and its offset. The path and the offset in the
            // exception are those of the whole file.
            let (path, place) = error.file.split_once(", in section ").unwrap_or((&error.file, ""));
            let start = place.rsplit(' ').next().and_then(|digits| digits.parse().ok()).unwrap_or(0u64);
            new(py, "DamageError", (text, path.to_owned(), start + error.offset))
        }
    }
}

/// Creates an exception of the class `furui.errors.{class}`.
fn new<A>(py: Python<'_>, class: &'static str, arguments: A) -> PyErr
where
    A: for<'py> PyCallArgs<'py>,
{
    let made = || Ok(PyErr::from_value(errors(py)?.getattr(class)?.call1(arguments)?));
    made().unwrap_or_else(|error| error)
}

fn errors(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("furui.errors")?.into_any().unbind()))?.bind(py))
}

/// A trait that converts an error of the library to a Python exception, so that `?` raises it.
pub trait OrRaise<T> {
    /// Returns the value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, error))
    }
}

/// An exception for an error of the operating system that is not about a file.
pub fn os(error: &std::io::Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}
