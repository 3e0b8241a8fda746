//! Reads and exports arrays through the Arrow C data interface:
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
#![allow(unsafe_code, reason = "the C interface passes pointers")]

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, downcast_integer_array, make_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::key::{IntKey, NULL};

/// An iterator over the arrays of an object, in order.
type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

/// The arrays of an object that speaks the Arrow C interface; `None` if it does not.
pub fn stream(batch: &Bound<'_, PyAny>) -> PyResult<Option<Arrays>> {
    if batch.hasattr("__arrow_c_array__")? {
        let capsules = batch.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
        let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
        let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
        let array = array.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names hold these structures, which live as long as the capsules. The array is moved
        // out of its capsule, as the interface demands.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
        return Ok(Some(Box::new(std::iter::once(data.map(make_array)))));
    }
    if batch.hasattr("__arrow_c_stream__")? {
        let capsule = batch.call_method0("__arrow_c_stream__")?;
        let stream = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name holds this structure, which is moved out of it, as the interface demands.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast().as_ptr()) };
        return Ok(Some(Box::new(ArrayStreamReader::try_new(stream).map_err(|error| unreadable(&error))?)));
    }
    Ok(None)
}

/// Calls `take` with each value of the arrays, without holding the interpreter's lock.
pub fn each_key(py: Python<'_>, mut arrays: Arrays, mut take: impl FnMut(&[u8]) + Send) -> PyResult<()> {
    loop {
        let taken = py.detach(|| arrays.next().map(|array| each_value(&array?, &mut take)));
        match taken {
            None => return Ok(()),
            Some(Err(ArrowError::NotYetImplemented(text))) => return Err(PyTypeError::new_err(text)),
            Some(Err(error)) => return Err(unreadable(&error)),
            Some(Ok(())) => py.check_signals()?,
        }
    }
}

fn unreadable(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// Calls `take` with each value of an array. A table of one column is treated as its column.
fn each_value(array: &dyn Array, take: &mut dyn FnMut(&[u8])) -> Result<(), ArrowError> {
    downcast_integer_array!(
        array => each(array.iter().map(|number| number.map(IntKey::of)), take),
        DataType::Utf8 => each(array.as_string::<i32>(), take),
        DataType::LargeUtf8 => each(array.as_string::<i64>(), take),
        DataType::Utf8View => each(array.as_string_view(), take),
        DataType::Binary => each(array.as_binary::<i32>(), take),
        DataType::LargeBinary => each(array.as_binary::<i64>(), take),
        DataType::BinaryView => each(array.as_binary_view(), take),
        DataType::FixedSizeBinary(_) => each(array.as_fixed_size_binary(), take),
        DataType::Boolean => each(array.as_boolean().iter().map(|bit| bit.map(IntKey::of)), take),
        DataType::Null => (0..array.len()).for_each(|_| take(NULL)),
        DataType::Dictionary(..) => return each_coded(array.as_any_dictionary(), take),
        DataType::Struct(fields) if fields.len() == 1 && array.null_count() == 0 => {
            return each_value(array.as_struct().column(0), take);
        }
        DataType::Struct(fields) => {
            return Err(refused(format!("a table of {} columns is no batch of keys: pass one column", fields.len())));
        }
        other => {
            return Err(refused(format!(
                "Arrow values of type {other} are no keys: cast them to strings, bytes or integers first"
            )));
        }
    );
    Ok(())
}

/// The error that is raised in Python as a `TypeError`.
fn refused(text: String) -> ArrowError {
    ArrowError::NotYetImplemented(text)
}

fn each<V: AsRef<[u8]>>(values: impl IntoIterator<Item = Option<V>>, take: &mut dyn FnMut(&[u8])) {
    for value in values {
        match value {
            Some(value) => take(value.as_ref()),
            None => take(NULL),
        }
    }
}

/// Calls `take` with each value of a dictionary-encoded array.
fn each_coded(array: &dyn AnyDictionaryArray, take: &mut dyn FnMut(&[u8])) -> Result<(), ArrowError> {
    let (mut bytes, mut ends) = (vec![], vec![0]);
    each_value(array.values(), &mut |key: &[u8]| {
        bytes.extend_from_slice(key);
        ends.push(bytes.len());
    })?;
    // An array without values has only nulls.
    let codes = if array.values().is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
    for (i, code) in codes.into_iter().enumerate() {
        match array.keys().is_null(i) {
            true => take(NULL),
            false => take(&bytes[ends[code]..ends[code + 1]]),
        }
    }
    Ok(())
}

/// Exports an array as two capsules: one of its schema, and one of its data.
pub fn capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let data = array.to_data();
    let schema = FFI_ArrowSchema::try_from(data.data_type()).map_err(|error| unreadable(&error))?;
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")?;
    PyTuple::new(py, [schema, array])
}
