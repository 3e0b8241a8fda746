//! Where in the program a store was opened, to tell the user of a second object for the same store.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// A directory whose lock an object of this process has.
#[derive(Clone)]
pub struct Locked {
    directory: PathBuf,
    /// The line of the program that opened it, as in "crawl.py:7".
    line: String,
}

impl Locked {
    /// A directory that the running line of the program has opened.
    pub fn here(py: Python<'_>, directory: &Path) -> Self {
        let line = running_line(py).unwrap_or_else(|_| "an unknown line".to_owned());
        Self { directory: canonical(directory), line }
    }

    /// True if this is the directory of that path.
    pub fn is(&self, path: &Path) -> bool {
        self.directory == canonical(path)
    }

    pub fn line(&self) -> &str {
        &self.line
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The line that runs, of the first function on the stack that is not one of this package.
fn running_line(py: Python<'_>) -> PyResult<String> {
    let here = py.import("sys")?.getattr("_getframe")?.call0()?;
    let mut frame = here.clone();
    while is_own(&frame)? {
        frame = frame.getattr("f_back")?;
        if frame.is_none() {
            frame = here;
            break;
        }
    }
    let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
    Ok(format!("{file}:{}", frame.getattr("f_lineno")?))
}

fn is_own(frame: &Bound<'_, PyAny>) -> PyResult<bool> {
    let globals = frame.getattr("f_globals")?.cast_into::<PyDict>()?;
    let Some(module) = globals.get_item("__name__")? else { return Ok(false) };
    let module = module.cast_into::<PyString>()?;
    Ok(module.to_str()?.split('.').next() == Some("furui"))
}
