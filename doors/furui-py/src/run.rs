use std::path::PathBuf;

use furui::seen::{Cache, Run as SetRun, SeenOptions};
use furui::store::cascade::ExpectedNote;
use furui::text;
use pyo3::prelude::*;
use pyo3::types::PyEllipsis;

use crate::errors::OrRaise;
use crate::files::Files;
use crate::options::{Made, parse, parse_form};
use crate::seen::Seen;

/// A run over the set in a directory: it answers as the set would, and records nothing before commit().
///
/// A set must never know a key whose row is not committed: late is harmless, early loses rows. So a job asks a run,
/// writes its rows, commits them, and then commits the run:
///
///     with furui.Run("urls.seen") as run:
///         new = run.add_many(urls)
///         ...                              # write the rows of the new keys, and commit them
///         run.commit(note="2026-11-27")
///
/// Without commit(), and after an exception or a kill, the set is as before, and the next attempt gets the same
/// answers. A run sees the set as it was when the run was opened, and the keys that were added to the run. It holds no
/// lock: runs and one writer may be open at once. len() counts the keys that commit() would add.
///
/// path: the directory of the set; an empty set is made if there is none.
/// memory, hash, like, form: as in Seen. Keys beyond the memory are in temporary files.
///
/// The methods are those of Seen; discard() and discard_many() raise Error. A set with a window has no runs.
#[pyclass(frozen, extends = Seen, module = "furui")]
pub struct Run;

#[pymethods]
impl Run {
    #[new]
    #[pyo3(signature = (path, *, memory=None, hash=None, like=None, form=None),
           text_signature = "(path, *, memory='64MiB', hash=None, like=None, form=None)")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        memory: Option<&Bound<'_, PyAny>>,
        hash: Option<&str>,
        like: Option<&Bound<'_, PyAny>>,
        form: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let made = Made::read(py, hash, like)?;
        let form = match form {
            Some(text) => parse_form(text)?,
            None => made.form.unwrap_or_default(),
        };
        let memory = memory.map_or(Ok(64 << 20), |memory| parse(memory, text::size))?;
        let options =
            SeenOptions { memory, hash: made.hash, form: Some(form), cache: Cache::Recent, ..SeenOptions::default() };
        let run = py.detach(|| SetRun::open_with(&path, Files::temporary(), options)).or_raise(py)?;
        Ok(PyClassInitializer::from(Seen::of_run(run, path, form)?).add_subclass(Self))
    }

    /// Add the keys of the run to the set, in one change. Return how many of them others have recorded meanwhile.
    ///
    /// note: a text of at most 4 KiB that the set keeps with the keys, in place of its note: how far it has followed
    /// its
    ///     source. None: the set keeps the note that it has.
    /// after: the note that the set must have, or None for none; otherwise ConflictError is raised, because another
    /// commit
    ///     came first. Without this argument, any note will do.
    ///
    /// Raises LockedError while another process or object writes to the set. After an error the run is unchanged, and
    /// commit() may be called again: if the first call had come to pass after all, the second one changes nothing.
    /// Afterwards the run is empty, over the set with its keys.
    #[pyo3(signature = (note=None, *, after=After::Any), text_signature = "($self, note=None, *, after=...)")]
    fn commit(slf: &Bound<'_, Self>, note: Option<&str>, after: After) -> PyResult<u64> {
        let expected = match &after {
            After::Any => ExpectedNote::Any,
            After::Note(None) => ExpectedNote::None,
            After::Note(Some(text)) => ExpectedNote::Text(text),
        };
        let seen = slf.as_super().get();
        seen.opened().detached(slf.py(), |opened| opened.run().map_or(Ok(0), |run| run.commit(note, expected)))
    }
}

/// The argument `after` of a commit, of which None is one value.
enum After {
    /// The argument was not given.
    Any,
    Note(Option<String>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for After {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is(PyEllipsis::get(value.py())) { Ok(Self::Any) } else { value.extract().map(Self::Note) }
    }
}
