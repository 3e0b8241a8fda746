use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{AnyDictionaryArray, Array, downcast_integer_array};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::taken::Taken;
use crate::key::{IntKey, NULL};

/// The reason why an array gives no keys.
pub enum Unfit {
    /// It has a value that is no key. The text says which one, for a `TypeError`.
    NoKey(String),
    /// Its data contradict themselves, or its library has failed.
    Unreadable(String),
}

impl From<ArrowError> for Unfit {
    fn from(error: ArrowError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// Checks that an array of this type may be a batch.
pub fn check(kind: &DataType, taken: Taken) -> PyResult<()> {
    match kind {
        kind if kind.is_integer() => taken.check_numbers(&kind.to_string()),
        DataType::Boolean => taken.check_numbers("Boolean"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => taken.check_text(&kind.to_string()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::Null => Ok(()),
        // An array whose values have no bytes does not say how many they are.
        DataType::FixedSizeBinary(1..) => Ok(()),
        // A missing value of pandas is a NaN. Any other float is refused when it is read.
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Ok(()),
        DataType::Dictionary(_, values) => check(values, taken),
        _ => Err(PyTypeError::new_err(no_keys(kind, ""))),
    }
}

/// Checks that a column is not of an extension type whose values are something else than the integers or bytes that
/// they are stored as, such as periods of time in pandas. Those that are stored as text, or as bytes of any length, are
/// these.
pub fn check_extension(column: &Field) -> PyResult<()> {
    match column.extension_type_name() {
        None | Some("arrow.uuid" | "arrow.json" | "arrow.bool8") => Ok(()),
        Some(name) if name != "arrow.opaque" && is_text_or_bytes(column.data_type()) => Ok(()),
        Some(name) => Err(PyTypeError::new_err(no_keys(format_args!("extension<{name}>"), ""))),
    }
}

fn is_text_or_bytes(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text_or_bytes(values),
        kind => kind.is_string() || (kind.is_binary() && !matches!(kind, DataType::FixedSizeBinary(_))),
    }
}

fn no_keys(kind: impl Display, which: &str) -> String {
    format!("Arrow values of type {kind} are no keys{which}: cast them to strings, bytes or integers first")
}

/// Calls `take` with each value of an array, the first of which has the index `first` in the batch.
pub fn each_value(array: &dyn Array, first: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), Unfit> {
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
        DataType::Float16 => {
            let floats = array.as_primitive::<Float16Type>();
            return each_nan(floats.iter().map(|float| float.is_none_or(|float| float.is_nan())), first, array, take);
        }
        DataType::Float32 => {
            let floats = array.as_primitive::<Float32Type>();
            return each_nan(floats.iter().map(|float| float.is_none_or(f32::is_nan)), first, array, take);
        }
        DataType::Float64 => {
            let floats = array.as_primitive::<Float64Type>();
            return each_nan(floats.iter().map(|float| float.is_none_or(f64::is_nan)), first, array, take);
        }
        DataType::Dictionary(..) => return each_coded(array.as_any_dictionary(), first, take),
        kind => return Err(Unfit::NoKey(no_keys(kind, ""))),
    );
    Ok(())
}

fn each<V: AsRef<[u8]>>(values: impl IntoIterator<Item = Option<V>>, take: &mut dyn FnMut(&[u8])) {
    for value in values {
        match value {
            Some(value) => take(value.as_ref()),
            None => take(NULL),
        }
    }
}

/// Calls `take` for each float, which must be missing.
fn each_nan(
    are_missing: impl Iterator<Item = bool>,
    first: usize,
    array: &dyn Array,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), Unfit> {
    for (i, is_missing) in are_missing.enumerate() {
        if !is_missing {
            let which = format!(", unless they are missing (the value at index {} is not)", first + i);
            return Err(Unfit::NoKey(no_keys(array.data_type(), &which)));
        }
        take(NULL);
    }
    Ok(())
}

/// Calls `take` with each value of a dictionary-encoded array.
fn each_coded(array: &dyn AnyDictionaryArray, first: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), Unfit> {
    let (mut bytes, mut ends) = (vec![], vec![0]);
    each_value(array.values(), first, &mut |key: &[u8]| {
        bytes.extend_from_slice(key);
        ends.push(bytes.len());
    })?;
    let codes = array.keys();
    downcast_integer_array!(
        codes => for code in codes {
            let Some(code) = code else {
                take(NULL);
                continue;
            };
            let code = i128::from(code);
            let ends = usize::try_from(code).ok().and_then(|code| ends.get(code..)?.get(..2));
            let Some(ends) = ends else { return Err(Unfit::Unreadable(format!("a dictionary has no value {code}"))) };
            take(&bytes[ends[0]..ends[1]]);
        },
        kind => return Err(Unfit::Unreadable(format!("{kind} numbers no values")))
    );
    Ok(())
}
