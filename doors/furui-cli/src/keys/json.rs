//! Finds values in JSON texts, and makes keys of them.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The first byte of a key, or of a part of one, that is made from anything but a string in UTF-8. No UTF-8 string
/// contains this byte.
const OTHER: u8 = 0xFF;

/// A JSON Pointer (RFC 6901), which names a value in a JSON text.
#[derive(Default)]
pub struct Pointer {
    /// The path to the value: at each level, the name of a member or the index of an element.
    tokens: Vec<String>,
}

impl Pointer {
    /// Parses a pointer. The error says what a pointer looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let Some(tokens) = text.strip_prefix('/') else {
            return Err(format!(
                "--key {text}: with --json a key is a JSON Pointer, which begins with /, as in /{text}"
            ));
        };
        Ok(Self { tokens: tokens.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect() })
    }

    /// The value that the pointer names in a line of JSON; `None` if the line has no such value. The error says why the
    /// line is not JSON. If a name occurs twice in an object, the last one is used.
    pub fn find<'l>(&self, line: &'l [u8]) -> Result<Option<&'l RawValue>, String> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let bad = |error: &dyn fmt::Display| {
            // The library counts lines in the text that it is given, which is one line.
            format!("not a JSON value: {error}").replace(" at line 1 column", ", at byte")
        };
        let text = std::str::from_utf8(line).map_err(|error| bad(&error))?;
        let mut value: Option<&RawValue> = None;
        for token in &self.tokens {
            let within = value.map_or(text, RawValue::get);
            let mut deserializer = serde_json::Deserializer::from_str(within);
            let member = Member { name: token, doubt: &Cell::new(false) };
            let found = match within.trim_ascii_start().as_bytes().first() {
                Some(b'{') => deserializer.deserialize_map(&member),
                Some(b'[') => deserializer.deserialize_seq(&member),
                // Nothing else has members, but it may not be JSON.
                _ => <&RawValue>::deserialize(&mut deserializer).map(|_| None),
            };
            let found = found.and_then(|found| {
                deserializer.end()?;
                if member.doubt.get() {
                    serde_json::from_str::<IgnoredAny>(within)?;
                }
                Ok(found)
            });
            match found.map_err(|error| bad(&error))? {
                Some(found) => value = Some(found),
                None => return Ok(None),
            }
        }
        match value {
            Some(value) => Ok(Some(value)),
            None => serde_json::from_str(text).map(Some).map_err(|error| bad(&error)),
        }
    }
}

/// Finds the member of an object with this name, or the element of an array with this index.
struct Member<'t> {
    name: &'t str,
    /// Set to true if the name of a member has a control character, which JSON allows only as an escape.
    doubt: &'t Cell<bool>,
}

impl<'de> Visitor<'de> for &Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_wanted) = map.next_key_seed(Name(self))? {
            if is_wanted {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        // A valid index has no sign and no leading zero.
        let index = self.name.parse::<usize>().ok().filter(|index| index.to_string() == self.name);
        let mut found = None;
        for at in 0.. {
            if Some(at) == index {
                found = seq.next_element()?;
                if found.is_none() {
                    break;
                }
            } else if seq.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

/// Deserializes a name in an object, and returns true if it is the wanted member's. The name is read as bytes, because
/// it may have a lone surrogate, which UTF-8 cannot encode; the wanted name has none.
struct Name<'m>(&'m Member<'m>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<bool, E> {
        // The deserializer accepts control characters in bytes.
        if name.iter().any(u8::is_ascii_control) {
            self.0.doubt.set(true);
        }
        Ok(name == self.0.name.as_bytes())
    }
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Appends the key of a value: the text of a string, which `append` appends; the value of a number; or the bytes of any
/// other value. Without `is_text`, the byte [`OTHER`] precedes the key of a value that is not a string. With `is_text`,
/// numbers are written as usual, and a string that reads like another value keeps its quotes.
pub fn append_key(value: &RawValue, is_text: bool, append: impl FnOnce(&[u8], &mut Vec<u8>), out: &mut Vec<u8>) {
    let raw = value.get();
    let mark = (!is_text).then_some(OTHER);
    match raw.as_bytes().first() {
        Some(b'"') => match serde_json::from_str::<Text<'_>>(raw) {
            Ok(text) if is_text && serde_json::from_str::<&RawValue>(&text.0).is_ok() => {
                out.extend_from_slice(serde_json::Value::from(text.0).to_string().as_bytes());
            }
            Ok(text) => append(text.0.as_bytes(), out),
            // The string has a lone surrogate, which UTF-8 cannot encode.
            Err(_) => {
                out.extend(mark);
                out.extend_from_slice(raw.as_bytes());
            }
        },
        Some(b'-' | b'0'..=b'9') => {
            out.extend(mark);
            append_number(raw, is_text, out);
        }
        _ => {
            out.extend(mark);
            out.extend_from_slice(raw.as_bytes());
        }
    }
}

/// The maximum number of zeros that are written after the digits of a number in a text.
const MAX_ZEROS: usize = 20;

/// Appends a form of a number that all its spellings share: its digits without leading and trailing zeros, and the
/// power of ten of the last digit. If `is_text` is true, a number with a small power of ten is written as digits and a
/// point.
fn append_number(text: &str, is_text: bool, out: &mut Vec<u8>) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let negative = mantissa.starts_with('-');
    let (whole, fraction) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return out.push(b'0');
    }
    // An exponent that does not fit into 128 bits is replaced by an extreme one: no other program reads such numbers.
    let exponent: i128 =
        exponent.parse().unwrap_or(if exponent.starts_with('-') { i128::MIN / 2 } else { i128::MAX / 2 });
    let last = exponent - fraction.len() as i128 + (digits.len() - significant.len()) as i128;
    if negative {
        out.push(b'-');
    }
    match usize::try_from(last) {
        Ok(zeros) if is_text && zeros <= MAX_ZEROS => {
            out.extend_from_slice(significant.as_bytes());
            out.resize(out.len() + zeros, b'0');
        }
        _ if is_text && (-(MAX_ZEROS as i128)..0).contains(&last) => {
            let digits = format!("{significant:0>width$}", width = (1 - last) as usize);
            let (whole, fraction) = digits.split_at(digits.len() - (-last) as usize);
            out.extend_from_slice(format!("{whole}.{fraction}").as_bytes());
        }
        _ => out.extend_from_slice(format!("{significant}e{last}").as_bytes()),
    }
}
