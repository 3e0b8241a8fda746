//! Text with lone surrogates, as bytes and back.
//!
//! Such text is no UTF-8. A surrogate from U+DC80 to U+DCFF stands for a byte of a file name that is not UTF-8, as
//! `os.fsdecode` makes it, and is that byte. Any other one, such as half a pair that JSON was cut off in, is the three
//! bytes that UTF-8 would have for it.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The bytes of a text that holds lone surrogates.
pub fn encode(text: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    let codes = text.call_method1("encode", ("utf-32-le", "surrogatepass"))?.cast_into::<PyBytes>()?;
    let mut bytes = vec![];
    for code in codes.as_bytes().as_chunks().0 {
        // Python has no code points beyond those that `push` knows.
        let _is_known = push(u32::from_le_bytes(*code), &mut bytes);
    }
    Ok(bytes)
}

/// Appends the bytes of a code point, which may be a surrogate. Returns false if there is no such code point.
#[inline]
#[must_use]
pub fn push(code: u32, bytes: &mut Vec<u8>) -> bool {
    match code {
        0..0x80 | 0xdc80..=0xdcff => bytes.push(code as u8),
        0xd800..=0xdfff => bytes.extend([0xed, 0x80 | (code >> 6) as u8 & 0x3f, 0x80 | code as u8 & 0x3f]),
        _ => match char::from_u32(code) {
            Some(char) => bytes.extend(char.encode_utf8(&mut [0; 4]).bytes()),
            None => return false,
        },
    }
    true
}

/// The text whose bytes these are, which may be any bytes: [`encode`] gives them back.
pub fn decode<'py>(py: Python<'py>, mut bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut codes: Vec<u8> = vec![];
    let mut add = |code: u32| codes.extend(code.to_le_bytes());
    while let Some(chunk) = bytes.utf8_chunks().next() {
        chunk.valid().chars().for_each(|char| add(char.into()));
        bytes = &bytes[chunk.valid().len()..];
        match bytes {
            [0xed, middle @ 0xa0..=0xbf, last @ 0x80..=0xbf, rest @ ..]
                if !matches!((middle, last), (0xb2 | 0xb3, _)) =>
            {
                add(0xd000 | (u32::from(*middle) & 0x3f) << 6 | u32::from(*last) & 0x3f);
                bytes = rest;
            }
            [byte, rest @ ..] => {
                add(0xdc00 | u32::from(*byte));
                bytes = rest;
            }
            [] => {}
        }
    }
    PyBytes::new(py, &codes).call_method1("decode", ("utf-32-le", "surrogatepass"))
}
