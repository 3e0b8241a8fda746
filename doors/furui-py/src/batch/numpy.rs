use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice};

use super::objects::{each_of, pause};
use super::taken::Taken;
use crate::key::{IntKey, NULL};
use crate::surrogates;

/// The number of elements of a numpy array that are copied at a time.
const PART: usize = 1 << 16;

/// Calls `take` with each element of a numpy array of one dimension. Arrays of bytes (`S`), text (`U`) and integers are
/// read as they lie in memory; those of objects and of text of variable length are read one object at a time. As numpy
/// does, this takes the zeros off the end of an element of an array of bytes or text. A masked element is a null.
pub fn each_key(array: &Bound<'_, PyAny>, taken: Taken, take: &mut impl FnMut(&[u8])) -> PyResult<()> {
    let py = array.py();
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let &[length] = &shape[..] else {
        return Err(PyTypeError::new_err(format!("an array of keys has one dimension, not {}", shape.len())));
    };
    let (array, mask) = unmasked(array)?;
    let elements = Elements::of(&array, taken)?;
    for start in (0..length).step_by(PART) {
        let range = PySlice::new(py, start as isize, (start + PART) as isize, 1);
        let mask = match &mask {
            Some(mask) => bytes_of(&mask.get_item(&range)?)?.as_bytes().to_vec(),
            None => vec![],
        };
        elements.each_key(&array.get_item(&range)?, start, &mask, take)?;
        pause(py)?;
    }
    Ok(())
}

/// The data of an array, and whether each element is masked, if it is an array with a mask.
fn unmasked<'py>(array: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
    let modules = array.py().import("sys")?.getattr("modules")?;
    // There is no such array as long as nobody has imported the module.
    if let Ok(masked) = modules.get_item("numpy.ma")
        && array.is_instance(&masked.getattr("MaskedArray")?)?
    {
        let (data, mask) =
            (masked.call_method1("getdata", (array, false))?, masked.call_method1("getmaskarray", (array,))?);
        return Ok((data, Some(mask)));
    }
    Ok((array.clone(), None))
}

fn bytes_of<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(array.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}

/// The type of the elements of an array, as far as its keys need it.
struct Elements {
    kind: Kind,
    /// The size of an element in bytes.
    width: usize,
    /// True if the most significant byte of a number comes first.
    is_big: bool,
    taken: Taken,
    name: String,
}

enum Kind {
    Bytes,
    Text,
    Unsigned,
    Signed,
    Float,
    Objects,
}

impl Elements {
    fn of(array: &Bound<'_, PyAny>, taken: Taken) -> PyResult<Self> {
        let dtype = array.getattr("dtype")?;
        let name = dtype.str()?.to_string();
        let width: usize = dtype.getattr("itemsize")?.extract()?;
        let kind: String = dtype.getattr("kind")?.extract()?;
        let order: String = dtype.getattr("byteorder")?.extract()?;
        let is_big = order == ">" || (order == "=" && cfg!(target_endian = "big"));
        let kind = match kind.as_str() {
            "S" if width > 0 => Kind::Bytes,
            "U" if width > 0 => Kind::Text,
            "S" | "U" | "O" | "T" => Kind::Objects,
            "u" | "b" => Kind::Unsigned,
            "i" => Kind::Signed,
            "f" => Kind::Float,
            _ => return Err(Self { kind: Kind::Objects, width, is_big, taken, name }.no_keys("")),
        };
        match kind {
            Kind::Text => taken.check_text(&name)?,
            Kind::Unsigned | Kind::Signed => taken.check_numbers(&name)?,
            Kind::Bytes | Kind::Float | Kind::Objects => {}
        }
        Ok(Self { kind, width, is_big, taken, name })
    }

    /// Calls `take` with each element of a part of the array, which begins at the index `start`. `mask` has a byte for
    /// each element, 1 if it is masked, or is empty.
    fn each_key(
        &self,
        part: &Bound<'_, PyAny>,
        start: usize,
        mask: &[u8],
        take: &mut impl FnMut(&[u8]),
    ) -> PyResult<()> {
        let is_masked = |i: usize| mask.get(i).is_some_and(|&bit| bit != 0);
        let mut give = |i: usize, key: &[u8]| if is_masked(i) { take(NULL) } else { take(key) };
        let words = |kind: &str| bytes_of(&part.call_method1("astype", (kind,))?);
        match self.kind {
            Kind::Bytes => {
                for (i, key) in bytes_of(part)?.as_bytes().chunks_exact(self.width).enumerate() {
                    let end = key.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    give(i, &key[..end]);
                }
            }
            Kind::Text => {
                let (bytes, mut text) = (bytes_of(part)?, vec![]);
                for (i, codes) in bytes.as_bytes().chunks_exact(self.width).enumerate() {
                    if !is_masked(i) && !read_text(codes.as_chunks().0, self.is_big, &mut text) {
                        return Err(self.no_keys(&format!(": the one at index {} is no text", start + i)));
                    }
                    give(i, &text);
                }
            }
            Kind::Unsigned => {
                for (i, word) in words("<u8")?.as_bytes().as_chunks().0.iter().enumerate() {
                    give(i, IntKey::of(u64::from_le_bytes(*word)).as_ref());
                }
            }
            Kind::Signed => {
                for (i, word) in words("<i8")?.as_bytes().as_chunks().0.iter().enumerate() {
                    give(i, IntKey::of(i64::from_le_bytes(*word)).as_ref());
                }
            }
            Kind::Float => {
                let is_nan = bytes_of(&part.py().import("numpy")?.call_method1("isnan", (part,))?)?;
                for (i, &is_nan) in is_nan.as_bytes().iter().enumerate() {
                    if is_nan == 0 && !is_masked(i) {
                        return Err(
                            self.no_keys(&format!(", unless they are missing (the one at index {} is not)", start + i))
                        );
                    }
                    give(i, NULL);
                }
            }
            Kind::Objects => {
                let list = part.call_method0("tolist")?.cast_into::<PyList>()?;
                let none = part.py().None().into_bound(part.py());
                let keys = list.iter().enumerate().map(|(i, key)| if is_masked(i) { none.clone() } else { key });
                each_of(part.py(), keys.map(Ok), start, self.taken, take)?;
            }
        }
        Ok(())
    }

    fn no_keys(&self, which: &str) -> PyErr {
        PyTypeError::new_err(format!(
            "values of type {} are not compared exactly, or not in one way, so they are no keys{which}: convert them \
             to integers or text first",
            self.name
        ))
    }
}

/// Reads the text of an element, which has zeros at its end. Returns false if it is no text.
fn read_text(codes: &[[u8; 4]], is_big: bool, text: &mut Vec<u8>) -> bool {
    text.clear();
    let end = codes.iter().rposition(|&code| code != [0; 4]).map_or(0, |last| last + 1);
    let codes = &codes[..end];
    let any = codes.iter().fold(0, |any, &code| any | u32::from_le_bytes(code));
    if !is_big && any < 0x80 {
        text.extend(codes.iter().map(|&code| u32::from_le_bytes(code) as u8));
        return true;
    }
    codes.iter().all(|&code| {
        let code = u32::from_le_bytes(code);
        surrogates::push(if is_big { code.swap_bytes() } else { code }, text)
    })
}
