use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

use super::taken::Taken;

/// The number of keys of a batch, a millisecond's, after which other threads get the interpreter, and after which the
/// call checks whether the user has pressed ^C.
const PAUSE: usize = 1 << 14;

/// Calls `take` with the bytes of each key of an iterator over Python objects, the first of which has the index `first`
/// in the batch.
pub fn each_of<'py>(
    py: Python<'py>,
    keys: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    first: usize,
    taken: Taken,
    mut take: impl FnMut(&[u8]),
) -> PyResult<()> {
    for (i, key) in keys.enumerate() {
        let key = key?;
        taken.with(&key, &mut take).map_err(|error| at(py, &error, first + i))?;
        if i % PAUSE == PAUSE - 1 {
            pause(py)?;
        }
    }
    Ok(())
}

/// Lets other threads use the interpreter, and raises `KeyboardInterrupt` if the user has pressed ^C.
pub fn pause(py: Python<'_>) -> PyResult<()> {
    py.detach(|| ());
    py.check_signals()
}

/// Adds the index of a value to the error for it.
fn at(py: Python<'_>, error: &PyErr, index: usize) -> PyErr {
    let text = format!("{} (the value at index {index} of the batch)", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(text)
    } else if error.is_instance_of::<PyOverflowError>(py) {
        PyOverflowError::new_err(text)
    } else {
        error.clone_ref(py)
    }
}
