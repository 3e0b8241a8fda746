//! The bytes of a key: the only module in which a Python value becomes bytes.
//!
//! | value | its bytes |
//! |---|---|
//! | `str` | UTF-8; lone surrogates as [`surrogates`] writes them |
//! | `bytes`, `bytearray`, `memoryview` | themselves, so that `"a"` and `b"a"` are one key |
//! | `int` from 0 to 2⁶⁴ - 1 | 8 bytes, little-endian |
//! | `int` from -2⁶³ to -1 | 8 bytes, little-endian, in two's complement, and the byte 0xff |
//! | `uuid.UUID` | its 16 bytes |
//! | `bool`, also numpy's | those of 0 and 1 |
//! | `None`, null in Arrow, and what [`is_missing`] finds | [`NULL`] |

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyMemoryView, PyString, PyType};

use crate::missing::is_missing;
use crate::surrogates;

/// The key of a missing value. No other value has these bytes, unless someone chooses them on purpose.
pub const NULL: &[u8] = b"\xff\x00furui: the key of a null\x00\xff";

/// The key of an integer: 8 bytes, little-endian, and one more for a negative number.
#[derive(Clone, Copy)]
pub struct IntKey {
    bytes: [u8; 9],
    length: usize,
}

impl IntKey {
    /// Converts a number from -2⁶³ to 2⁶⁴ - 1 to its key.
    #[inline]
    pub fn of(number: impl Into<i128>) -> Self {
        let number = number.into();
        let mut bytes = [0xff; 9];
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        Self { bytes, length: if number < 0 { 9 } else { 8 } }
    }
}

impl AsRef<[u8]> for IntKey {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Calls `take` with the bytes of a key.
///
/// # Errors
/// `TypeError` for a value that cannot be a key, such as a float; `OverflowError` for an integer outside of -2⁶³ to 2⁶⁴
/// - 1.
#[inline]
pub fn with_key<R>(key: &Bound<'_, PyAny>, take: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(text) = key.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(take(text.as_bytes())),
            Err(_) => Ok(take(&surrogates::encode(text)?)),
        };
    }
    if let Ok(bytes) = key.cast::<PyBytes>() {
        return Ok(take(bytes.as_bytes()));
    }
    if let Ok(number) = key.cast::<PyInt>() {
        return Ok(take(int(number)?.as_ref()));
    }
    other(key, take)
}

fn int(number: &Bound<'_, PyInt>) -> PyResult<IntKey> {
    if let Ok(number) = number.extract::<u64>() {
        return Ok(IntKey::of(number));
    }
    let number = number.extract::<i64>().map_err(|_| {
        PyOverflowError::new_err("an integer key must be from -2**63 to 2**64 - 1: pass others as bytes or str")
    })?;
    Ok(IntKey::of(number))
}

fn other<R>(key: &Bound<'_, PyAny>, take: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    let py = key.py();
    if key.is_none() || is_missing(key)? {
        return Ok(take(NULL));
    }
    if key.is_instance_of::<PyByteArray>() || key.is_instance_of::<PyMemoryView>() {
        let bytes = py.get_type::<PyBytes>().call1((key,))?.cast_into::<PyBytes>()?;
        return Ok(take(bytes.as_bytes()));
    }
    if is_uuid(key)? {
        return Ok(take(key.getattr("bytes")?.cast::<PyBytes>()?.as_bytes()));
    }
    if let Ok(truth) = key.extract::<bool>() {
        return Ok(take(IntKey::of(truth).as_ref()));
    }
    // Integers of numpy, and of other libraries, convert themselves to a Python integer without a loss.
    if let Ok(number) = key.call_method0("__index__") {
        return Ok(take(int(number.cast::<PyInt>()?)?.as_ref()));
    }
    let name = key.get_type().fully_qualified_name()?;
    Err(PyTypeError::new_err(format!(
        "a key must be str, bytes, int, uuid.UUID or None, not {name}: make it one of these, for example by str()"
    )))
}

/// True for a `uuid.UUID`.
pub fn is_uuid(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    value.is_instance(CLASS.import(value.py(), "uuid", "UUID")?)
}
