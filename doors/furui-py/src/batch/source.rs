use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PyString, PyTuple};

use super::arrow::Arrays;
use super::family::Family;
use super::objects::each_of;
use super::taken::Taken;
use super::{numpy, pandas, polars};

/// Calls `take` with each key of a batch, in order.
///
/// # Errors
/// `TypeError` if the object is not a batch, or holds a value that cannot be a key; the exception that an iterator
/// raises; `KeyboardInterrupt`.
pub fn each_key(batch: &Bound<'_, PyAny>, taken: Taken, mut take: impl FnMut(&[u8]) + Send) -> PyResult<()> {
    let py = batch.py();
    if let Ok(list) = batch.cast::<PyList>() {
        return each_of(py, list.iter().map(Ok), 0, taken, take);
    }
    if let Ok(tuple) = batch.cast::<PyTuple>() {
        return each_of(py, tuple.iter().map(Ok), 0, taken, take);
    }
    if is_one_key(batch) {
        return Err(refused(batch, ": put one key into a list"));
    }
    match Family::of(batch)? {
        Family::Numpy => return numpy::each_key(batch, taken, &mut take),
        Family::Pandas => return pandas::each_key(batch, taken, take),
        Family::Polars => polars::check(batch)?,
        Family::Pyarrow | Family::Arrow | Family::Python => {}
    }
    let capsules = match Arrays::ask(batch) {
        // The library needs another one for its Arrow data, which is not installed.
        Err(error) if error.is_instance_of::<PyImportError>(py) && batch.hasattr("to_numpy")? => None,
        capsules => capsules?,
    };
    if let Some(capsules) = capsules {
        return Arrays::read(&capsules, taken)?.each_key(py, take);
    }
    if let Ok(to_numpy) = batch.getattr("to_numpy") {
        return numpy::each_key(&to_numpy.call0()?, taken, &mut take);
    }
    if batch.hasattr("readline")? {
        let advice = ", whose lines end in a newline: pass (line.rstrip(\"\\n\") for line in file)";
        return Err(refused(batch, advice));
    }
    let keys = batch.try_iter().map_err(|_| refused(batch, ""))?;
    each_of(py, keys, 0, taken, take)
}

/// True for a value that Python iterates over, although it is one key, or is not for its keys.
fn is_one_key(batch: &Bound<'_, PyAny>) -> bool {
    batch.is_instance_of::<PyString>()
        || batch.is_instance_of::<PyBytes>()
        || batch.is_instance_of::<PyByteArray>()
        || batch.is_instance_of::<PyMemoryView>()
        || batch.is_instance_of::<PyDict>()
}

fn refused(batch: &Bound<'_, PyAny>, advice: &str) -> PyErr {
    let name = batch.get_type().fully_qualified_name().map_or_else(|_| "this".into(), |name| name.to_string());
    PyTypeError::new_err(format!("a batch must be a list, an array or an iterable of keys, not {name}{advice}"))
}
