use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use super::arrow;
use super::family::Family;
use super::numpy;
use super::objects::each_of;

/// Calls `take` with each key of a batch, in order.
///
/// # Errors
/// `TypeError` if the object is not a batch, or holds a value that cannot be a key; the exception that an iterator
/// raises; `KeyboardInterrupt`.
pub fn each_key(batch: &Bound<'_, PyAny>, mut take: impl FnMut(&[u8]) + Send) -> PyResult<()> {
    if let Ok(list) = batch.cast::<PyList>() {
        return each_of(batch.py(), list.iter().map(Ok), take);
    }
    if let Ok(tuple) = batch.cast::<PyTuple>() {
        return each_of(batch.py(), tuple.iter().map(Ok), take);
    }
    if batch.is_instance_of::<PyString>() || batch.is_instance_of::<PyBytes>() || batch.is_instance_of::<PyDict>() {
        let name = batch.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a batch must be a list, an array or an iterable of keys, not {name}: put one key into a list"
        )));
    }
    if Family::of(batch)? == Family::Numpy {
        return numpy::each_key(batch, &mut take);
    }
    if let Some(stream) = arrow::stream(batch)? {
        return arrow::each_key(batch.py(), stream, take);
    }
    // An old version of pandas has no Arrow interface for a Series.
    if let Ok(to_numpy) = batch.getattr("to_numpy") {
        return numpy::each_key(&to_numpy.call0()?, &mut take);
    }
    let keys = batch.try_iter().map_err(|_| {
        let name = batch.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
        PyTypeError::new_err(format!("a batch must be a list, an array or an iterable of keys, not {name}"))
    })?;
    each_of(batch.py(), keys, take)
}
