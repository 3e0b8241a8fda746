//! Reads and exports arrays through the Arrow C data interface:
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
#![allow(unsafe_code, reason = "the C interface passes pointers")]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, NullArray, make_array};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::arrow_values::{Unfit, check, check_extension, each_value};
use super::taken::Taken;

/// The arrays of an object that speaks the Arrow C interface.
pub struct Arrays {
    source: Source,
    column: ColumnType,
}

enum Source {
    One(Option<FFI_ArrowArray>),
    Stream(FFI_ArrowArrayStream),
}

/// The types of the arrays, which are checked once for all arrays of a stream.
struct ColumnType {
    /// The type of the arrays as the object states it.
    whole: DataType,
    /// The type of the keys, which differs from `whole` for a table of one column.
    keys: DataType,
}

/// What an object gives for itself: two capsules for an array, or one for a stream.
pub enum Capsules<'py> {
    Array(Bound<'py, PyTuple>),
    Stream(Bound<'py, PyAny>),
}

impl Arrays {
    /// Asks an object for its arrays. `None` if it does not speak the interface; the errors are those of its library.
    pub fn ask<'py>(batch: &Bound<'py, PyAny>) -> PyResult<Option<Capsules<'py>>> {
        if batch.hasattr("__arrow_c_array__")? {
            let capsules = batch.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            return Ok(Some(Capsules::Array(capsules)));
        }
        if batch.hasattr("__arrow_c_stream__")? {
            return Ok(Some(Capsules::Stream(batch.call_method0("__arrow_c_stream__")?)));
        }
        Ok(None)
    }

    /// Takes the arrays out of their capsules, after a look at their type: no data of a type that is refused is read.
    ///
    /// # Errors
    /// `TypeError` if values of this type are no keys, or not allowed here.
    pub fn read(capsules: &Capsules<'_>, taken: Taken) -> PyResult<Self> {
        match capsules {
            Capsules::Array(capsules) => {
                let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
                let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?;
                let array = array.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array"))?;
                // SAFETY: capsules of these names hold these structures, which live as long as the capsules. The array
                // is moved out of its capsule, as the interface demands.
                let (schema, array) = unsafe {
                    let array = FFI_ArrowArray::from_raw(array.cast().as_ptr());
                    (schema.cast::<FFI_ArrowSchema>().as_ref(), array)
                };
                Ok(Self { column: ColumnType::of(schema, taken)?, source: Source::One(Some(array)) })
            }
            Capsules::Stream(capsule) => {
                let stream = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
                let mut schema = FFI_ArrowSchema::empty();
                // SAFETY: a capsule of this name holds this structure, which is moved out of it, as the interface
                // demands. Its callbacks are called with it.
                let (stream, code) = unsafe {
                    let mut stream = FFI_ArrowArrayStream::from_raw(stream.cast().as_ptr());
                    let code = stream.get_schema().map_or(-1, |get| get(&raw mut stream, &raw mut schema));
                    (stream, code)
                };
                if code != 0 {
                    return Err(unreadable(&format!("its schema cannot be had (error {code})")));
                }
                Ok(Self { column: ColumnType::of(&schema, taken)?, source: Source::Stream(stream) })
            }
        }
    }

    /// Calls `take` with each value of the arrays, while other threads may use the interpreter.
    ///
    /// # Errors
    /// `TypeError` for a value that is no key; `ValueError` if the arrays cannot be read.
    pub fn each_key(mut self, py: Python<'_>, mut take: impl FnMut(&[u8]) + Send) -> PyResult<()> {
        let mut rows = 0;
        loop {
            let taken = py.detach(|| {
                let Some(array) = self.next()? else { return Ok(false) };
                each_value(&array, rows, &mut take)?;
                rows += array.len();
                Ok(true)
            });
            match taken {
                Ok(true) => py.check_signals()?,
                Ok(false) => return Ok(()),
                Err(Unfit::NoKey(text)) => return Err(PyTypeError::new_err(text)),
                Err(Unfit::Unreadable(text)) => return Err(unreadable(&text)),
            }
        }
    }

    /// Imports the next array of keys; `None` at the end.
    fn next(&mut self) -> Result<Option<ArrayRef>, Unfit> {
        let array = match &mut self.source {
            Source::One(array) => array.take(),
            Source::Stream(stream) => next_of(stream)?,
        };
        array.map(|array| self.column.import(array).map_err(Unfit::from)).transpose()
    }
}

fn next_of(stream: &mut FFI_ArrowArrayStream) -> Result<Option<FFI_ArrowArray>, Unfit> {
    let mut array = FFI_ArrowArray::empty();
    // SAFETY: the callback is called with its stream, which nobody has released.
    let code = unsafe { stream.get_next().map_or(-1, |get| get(&raw mut *stream, &raw mut array)) };
    if code != 0 {
        let error = stream.get_last_error();
        // SAFETY: the last call on the stream has failed, so its text is valid until the next call.
        let text = error.map(|get| unsafe { get(&raw mut *stream) }).filter(|text| !text.is_null());
        // SAFETY: the text is not null, and ends in a NUL.
        let text = text.map(|text| unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned());
        return Err(Unfit::Unreadable(text.unwrap_or_else(|| format!("error {code}"))));
    }
    Ok((!array.is_released()).then_some(array))
}

impl ColumnType {
    fn of(schema: &FFI_ArrowSchema, taken: Taken) -> PyResult<Self> {
        let field = Field::try_from(schema).map_err(|error| {
            PyTypeError::new_err(format!("Arrow values of format {:?} are no keys: {error}", schema.format()))
        })?;
        let column = match field.data_type() {
            // A table is a struct that cannot be null. A column of structs, which can, is no column of its field.
            DataType::Struct(fields) if !field.is_nullable() => match &fields[..] {
                [column] => column,
                _ => {
                    let text = format!("a table of {} columns is no batch of keys: pass one column", fields.len());
                    return Err(PyTypeError::new_err(text));
                }
            },
            _ => &field,
        };
        check_extension(column)?;
        check(column.data_type(), taken)?;
        Ok(Self { whole: field.data_type().clone(), keys: column.data_type().clone() })
    }

    /// The keys of an array of this type.
    fn import(&self, array: FFI_ArrowArray) -> Result<ArrayRef, ArrowError> {
        // Polars gives an array of nulls a buffer, against the rules of the interface. Its length is all that counts.
        if self.keys == DataType::Null {
            return Ok(Arc::new(NullArray::new(array.len())));
        }
        // SAFETY: the array is one of this type, says the schema beside it.
        let array = make_array(unsafe { from_ffi_and_data_type(array, self.whole.clone()) }?);
        Ok(if self.whole == self.keys { array } else { array.as_struct().column(0).clone() })
    }
}

fn unreadable(text: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be read: {text}"))
}

/// Exports an array as two capsules: one of its schema, and one of its data.
pub fn capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let data = array.to_data();
    let schema = FFI_ArrowSchema::try_from(data.data_type()).map_err(|error| unreadable(&error.to_string()))?;
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")?;
    PyTuple::new(py, [schema, array])
}
