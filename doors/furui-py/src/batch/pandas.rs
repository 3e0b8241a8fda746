use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PySlice;

use super::arrow::Arrays;
use super::numpy;
use super::taken::Taken;

/// Calls `take` with each value of a Series, an Index, an array of pandas, or the only column of a DataFrame. Columns
/// of Python objects are read as a list of them is. Others are read through the Arrow interface, or as numpy arrays if
/// that is not to be had, because pyarrow is missing or does not know the type.
pub fn each_key(batch: &Bound<'_, PyAny>, taken: Taken, mut take: impl FnMut(&[u8]) + Send) -> PyResult<()> {
    let py = batch.py();
    let column = column(batch)?;
    let dtype = column.getattr("dtype")?;
    if dtype.str()?.to_str()? != "object"
        && let Ok(Some(capsules)) = Arrays::ask(&column)
    {
        return Arrays::read(&capsules, taken)?.each_key(py, take);
    }
    // As numpy's numbers, those of a column with missing values would be floats.
    let is_numpys = dtype.get_type().module()?.to_str()?.starts_with("numpy");
    let values = if is_numpys { column } else { column.call_method1("astype", ("object",))? };
    numpy::each_key(&py.import("numpy")?.call_method1("asarray", (values,))?, taken, &mut take)
}

/// The only column of a DataFrame; any other object is its own.
fn column<'py>(batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !batch.hasattr("columns")? {
        return Ok(batch.clone());
    }
    let count = batch.getattr("columns")?.len()?;
    if count != 1 {
        return Err(PyTypeError::new_err(format!("a table of {count} columns is no batch of keys: pass one column")));
    }
    // A filtered DataFrame would give its index to Arrow as a second column.
    batch.getattr("iloc")?.get_item((PySlice::full(batch.py()), 0))
}
