use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList, PyTuple};

use super::arrow::capsules;
use super::family::Family;

/// The answers to a batch, one for each key.
pub enum Column {
    Bools(Vec<bool>),
    Numbers(Vec<u32>),
    /// For each key, the number that the dictionary has for it; `None` for a key without one.
    Found(Vec<Option<u32>>),
}

impl Column {
    /// Converts the answers to an object of the library that the batch comes from.
    pub fn into_kind_of<'py>(self, batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = batch.py();
        match (Family::of(batch)?, &self) {
            (Family::Python, Self::Bools(bools)) => Ok(PyList::new(py, bools)?.into_any()),
            (Family::Python, Self::Numbers(numbers)) => Ok(PyList::new(py, numbers)?.into_any()),
            (Family::Python, Self::Found(numbers)) => Ok(PyList::new(py, numbers)?.into_any()),
            (Family::Numpy | Family::Pandas, Self::Bools(bools)) => {
                let bytes: Vec<u8> = bools.iter().map(|&bit| bit.into()).collect();
                numpy(py, &bytes, "?")
            }
            (Family::Numpy | Family::Pandas, Self::Numbers(numbers)) => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                numpy(py, &bytes, "<u4")
            }
            // numpy has no missing numbers, so the answer is a list.
            (Family::Numpy | Family::Pandas, Self::Found(numbers)) => Ok(PyList::new(py, numbers)?.into_any()),
            (Family::Polars, _) => py.import("polars")?.getattr("Series")?.call1((self.array(py)?,)),
            (Family::Pyarrow, _) => py.import("pyarrow")?.getattr("array")?.call1((self.array(py)?,)),
            (Family::Arrow, _) => Ok(self.array(py)?.into_any()),
        }
    }

    fn array(self, py: Python<'_>) -> PyResult<Bound<'_, Answers>> {
        let array: ArrayRef = match self {
            Self::Bools(bools) => Arc::new(BooleanArray::from(bools)),
            Self::Numbers(numbers) => Arc::new(UInt32Array::from(numbers)),
            Self::Found(numbers) => Arc::new(UInt32Array::from(numbers)),
        };
        Bound::new(py, Answers { array })
    }
}

/// Makes a writable numpy array from the bytes of its elements. `kind` is numpy's name of their type.
fn numpy<'py>(py: Python<'py>, bytes: &[u8], kind: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.getattr("frombuffer")?.call1((PyByteArray::new(py, bytes), kind))
}

/// The answers to a batch that came through the Arrow interface: an Arrow array of booleans, or of 32-bit numbers.
///
/// Any library that speaks the Arrow PyCapsule interface takes it, such as ``pyarrow.array(answers)``.
#[pyclass(frozen, module = "furui", sequence)]
pub struct Answers {
    array: ArrayRef,
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let length = self.array.len();
        let place = if index < 0 { length.checked_add_signed(index) } else { Some(index.unsigned_abs()) };
        match place {
            Some(place) if place < length => self.get(py, place),
            _ => Err(PyIndexError::new_err(format!("there are {length} answers, and none has the index {index}"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_list(py)?.call_method0("__iter__")
    }

    /// Return the answers as a list.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let answers: Vec<_> = (0..self.array.len()).map(|i| self.get(py, i)).collect::<PyResult<_>>()?;
        PyList::new(py, answers)
    }

    /// Return the array through the Arrow PyCapsule interface: a capsule of its schema, and one of its data.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The interface lets a producer ignore a schema that it does not support.
        let _ = requested_schema;
        capsules(py, &self.array)
    }

    fn __repr__(&self) -> String {
        format!("<furui.Answers of {} keys, {}>", self.array.len(), self.array.data_type())
    }
}

impl Answers {
    fn get<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        if self.array.is_null(place) {
            return Ok(py.None().into_bound(py));
        }
        if let Some(bools) = self.array.as_boolean_opt() {
            return Ok(bools.value(place).into_pyobject(py)?.to_owned().into_any());
        }
        Ok(self.array.as_primitive::<UInt32Type>().value(place).into_pyobject(py)?.into_any())
    }
}
