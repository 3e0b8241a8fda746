use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::objects::each_of;
use crate::key::IntKey;

/// The number of elements of a numpy array that are copied at a time.
const PART: usize = 1 << 16;

/// Calls `take` with each element of a numpy array of one dimension. Arrays of bytes (`S`) and integers are read as
/// they lie in memory; those of text (`U`) and of objects are read one object at a time. As numpy does, this takes the
/// zero bytes off the end of an element of an array of bytes.
pub fn each_key(array: &Bound<'_, PyAny>, take: &mut impl FnMut(&[u8])) -> PyResult<()> {
    let py = array.py();
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let &[length] = &shape[..] else {
        return Err(PyTypeError::new_err(format!("an array of keys has one dimension, not {}", shape.len())));
    };
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let width: usize = array.getattr("dtype")?.getattr("itemsize")?.extract()?;
    for start in (0..length).step_by(PART) {
        let part = array.get_item(pyo3::types::PySlice::new(py, start as isize, (start + PART) as isize, 1))?;
        let bytes_as = |kind: &str| -> PyResult<Bound<'_, PyBytes>> {
            Ok(part.call_method1("astype", (kind,))?.call_method0("tobytes")?.cast_into::<PyBytes>()?)
        };
        match kind.as_str() {
            "S" if width > 0 => {
                let bytes = part.call_method0("tobytes")?.cast_into::<PyBytes>()?;
                for key in bytes.as_bytes().chunks_exact(width) {
                    let end = key.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    take(&key[..end]);
                }
            }
            "u" | "b" => {
                for word in bytes_as("<u8")?.as_bytes().as_chunks().0 {
                    take(IntKey::of(u64::from_le_bytes(*word)).as_ref());
                }
            }
            "i" => {
                for word in bytes_as("<i8")?.as_bytes().as_chunks().0 {
                    take(IntKey::of(i64::from_le_bytes(*word)).as_ref());
                }
            }
            "S" | "U" | "O" | "T" => {
                let list = part.call_method0("tolist")?.cast_into::<PyList>()?;
                each_of(py, list.iter().map(|key| missing(py, key)), &mut *take)?;
            }
            _ => {
                let name = array.getattr("dtype")?.str()?;
                return Err(PyTypeError::new_err(format!(
                    "keys of type {name} are not compared exactly, or not in one way: convert them to integers or text first"
                )));
            }
        }
        py.check_signals()?;
    }
    Ok(())
}

/// Returns `None` for a missing value of pandas, which is a float NaN or `pandas.NA`, and otherwise the value.
fn missing<'py>(py: Python<'py>, key: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_nan = key.extract::<f64>().is_ok_and(f64::is_nan);
    if is_nan || key.get_type().name()? == "NAType" {
        return Ok(py.None().into_bound(py));
    }
    Ok(key)
}
