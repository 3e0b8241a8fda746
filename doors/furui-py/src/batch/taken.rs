use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyMemoryView, PyString};

use crate::key::{is_uuid, with_key};
use crate::missing::is_missing;

/// What values are taken for, which says what types they may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The keys of a set or a filter, of all types.
    Keys,
    /// 64-bit hashes: no text, and no UUID, whose first half is often a time.
    Hashes,
    /// The keys of a dictionary, which come back as text or bytes: no numbers.
    Names,
    /// The values of a dictionary of bytes, which come back as bytes.
    Data,
}

impl Taken {
    /// Calls `take` with the bytes of a value.
    ///
    /// # Errors
    /// `TypeError` for a value of a type that is not allowed here; those of [`with_key`].
    #[inline]
    pub fn with<R>(self, value: &Bound<'_, PyAny>, take: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
        let is_allowed = match self {
            Self::Keys => true,
            Self::Hashes => value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyInt>() || is_hash(value)?,
            Self::Names => is_data(value) || value.is_none() || is_missing(value)?,
            Self::Data => is_data(value),
        };
        if is_allowed {
            with_key(value, take)
        } else {
            Err(self.refuse(&value.get_type().fully_qualified_name()?.to_string()))
        }
    }

    /// Checks that an array of text may be a batch.
    pub fn check_text(self, kind: &str) -> PyResult<()> {
        if self == Self::Hashes { Err(self.refuse(kind)) } else { Ok(()) }
    }

    /// Checks that an array of integers may be a batch.
    pub fn check_numbers(self, kind: &str) -> PyResult<()> {
        if self == Self::Names { Err(self.refuse(kind)) } else { Ok(()) }
    }

    fn refuse(self, kind: &str) -> PyErr {
        PyTypeError::new_err(match self {
            Self::Hashes => format!(
                "with hashed=True a key must be a 64-bit int, or at least 8 bytes, not {kind}: pass bytes, such as \
                 hashlib.sha1(data).digest(), or leave out hashed=True"
            ),
            Self::Data => {
                format!("a value of this dictionary must be str or bytes, not {kind}: values come back as bytes")
            }
            Self::Keys | Self::Names => format!(
                "a key of a dictionary must be str, bytes or None, not {kind}: keys come back as str or bytes, so make \
                 it one of these, for example by str()"
            ),
        })
    }
}

fn is_hash(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!value.is_instance_of::<PyString>() && !is_uuid(value)?)
}

fn is_data(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyMemoryView>()
}
