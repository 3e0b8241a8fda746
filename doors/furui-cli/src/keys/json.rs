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

/// JSON Pointers (RFC 6901), each of which names a value in a JSON text. All values are found in one pass.
pub struct Pointers {
    count: usize,
    wanted: Wanted,
}

/// The values that are wanted of a value: itself, and some within it.
#[derive(Default)]
struct Wanted {
    /// The numbers of the pointers that name this very value.
    itself: Vec<usize>,
    /// The names of the members, or the indices of the elements, that other pointers name.
    names: Vec<String>,
    /// What is wanted of each of these.
    within: Vec<Wanted>,
}

impl Pointers {
    /// Parses pointers. The error says what a pointer looks like.
    pub fn parse(texts: &[&str]) -> Result<Self, String> {
        let mut wanted = Wanted::default();
        for (number, text) in texts.iter().enumerate() {
            let Some(tokens) = text.strip_prefix('/') else {
                if text.is_empty() {
                    wanted.itself.push(number);
                    continue;
                }
                return Err(format!(
                    "--key {text}: with --json a key is a JSON Pointer, which begins with /, as in /{text}"
                ));
            };
            let mut at = &mut wanted;
            for token in tokens.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")) {
                let place = at.names.iter().position(|name| *name == token).unwrap_or_else(|| {
                    at.names.push(token);
                    at.within.push(Wanted::default());
                    at.names.len() - 1
                });
                at = &mut at.within[place];
            }
            at.itself.push(number);
        }
        Ok(Self { count: texts.len(), wanted })
    }

    /// The number of pointers.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The values that the pointers name in a line of JSON; `None` for what the line does not have. The error says why
    /// the line is not JSON. If a name occurs twice in an object, the last one is used.
    pub fn find<'l>(&self, line: &'l [u8]) -> Result<Values<'l>, String> {
        let mut values = Values::new(self.count);
        if !self.wanted.itself.is_empty() {
            let value = value(line)?;
            self.wanted.itself.iter().for_each(|number| values.as_mut()[*number] = value);
        }
        if let Some(text) = text(line)? {
            self.wanted.find(text, values.as_mut()).map_err(bad)?;
        }
        Ok(values)
    }
}

/// The values of some pointers, or of the members of an object.
pub struct Values<'l> {
    few: [Option<&'l RawValue>; 4],
    many: Vec<Option<&'l RawValue>>,
    count: usize,
}

impl<'l> Values<'l> {
    fn new(count: usize) -> Self {
        // Few pointers need no allocation for each line.
        Self { few: [None; 4], many: if count > 4 { vec![None; count] } else { vec![] }, count }
    }

    fn as_mut(&mut self) -> &mut [Option<&'l RawValue>] {
        if self.count > self.few.len() { &mut self.many } else { &mut self.few[..self.count] }
    }
}

impl<'l> AsRef<[Option<&'l RawValue>]> for Values<'l> {
    fn as_ref(&self) -> &[Option<&'l RawValue>] {
        if self.count > self.few.len() { &self.many } else { &self.few[..self.count] }
    }
}

/// The whole value of a line of JSON; `None` if the line is blank. The error says why the line is not JSON.
pub fn value(line: &[u8]) -> Result<Option<&RawValue>, String> {
    text(line)?.map(serde_json::from_str).transpose().map_err(bad)
}

/// The text of a line; `None` if it is blank.
fn text(line: &[u8]) -> Result<Option<&str>, String> {
    if line.trim_ascii().is_empty() { Ok(None) } else { std::str::from_utf8(line).map(Some).map_err(bad) }
}

fn bad(error: impl fmt::Display) -> String {
    // The library counts lines in the text that it is given, which is one line.
    format!("not a JSON value: {error}").replace(" at line 1 column", ", at byte")
}

impl Wanted {
    /// Finds what is within the value of this text.
    fn find<'l>(&self, text: &'l str, values: &mut [Option<&'l RawValue>]) -> serde_json::Result<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let (mut found, doubt) = (Values::new(self.names.len()), Cell::new(false));
        let members = Members { names: &self.names, found: found.as_mut(), doubt: &doubt };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => deserializer.deserialize_map(members)?,
            Some(b'[') => deserializer.deserialize_seq(members)?,
            // Nothing else has members, but it may not be JSON.
            _ => drop(IgnoredAny::deserialize(&mut deserializer)?),
        }
        deserializer.end()?;
        if doubt.get() {
            serde_json::from_str::<IgnoredAny>(text)?;
        }
        for (value, wanted) in found.as_ref().iter().zip(&self.within) {
            let Some(value) = value else { continue };
            wanted.itself.iter().for_each(|number| values[*number] = Some(value));
            wanted.find(value.get(), values)?;
        }
        Ok(())
    }
}

/// Finds the members of an object with these names, or the elements of an array with these indices.
struct Members<'t, 'de> {
    names: &'t [String],
    found: &'t mut [Option<&'de RawValue>],
    /// Set to true if the name of a member has a control character, which JSON allows only as an escape.
    doubt: &'t Cell<bool>,
}

impl<'de> Visitor<'de> for Members<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(wanted) = map.next_key_seed(Name { names: self.names, doubt: self.doubt })? {
            match wanted {
                Some(place) => self.found[place] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // A valid index has no sign and no leading zero.
        let index = |name: &String| name.parse::<usize>().ok().filter(|index| index.to_string() == *name);
        let indices: Vec<Option<usize>> = self.names.iter().map(index).collect();
        for at in 0.. {
            match indices.iter().position(|index| *index == Some(at)) {
                Some(place) => self.found[place] = seq.next_element()?,
                None if seq.next_element::<IgnoredAny>()?.is_none() => break,
                None => continue,
            }
            if indices.iter().zip(&*self.found).any(|(index, found)| *index == Some(at) && found.is_none()) {
                break;
            }
        }
        Ok(())
    }
}

/// Deserializes a name in an object, and returns its place among the wanted ones. The name is read as bytes, because it
/// may have a lone surrogate, which UTF-8 cannot encode; the wanted names have none.
struct Name<'t> {
    names: &'t [String],
    doubt: &'t Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Self::Value, E> {
        // The deserializer accepts control characters in bytes.
        if name.iter().any(u8::is_ascii_control) {
            self.doubt.set(true);
        }
        Ok(self.names.iter().position(|wanted| wanted.as_bytes() == name))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// Values whose members and elements have few names, so that pointers often lead to one.
    fn value() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(Value::Null), any::<u8>().prop_map(Value::from), "[a-c\n\"]{0,2}".prop_map(Value::from)];
        leaf.prop_recursive(4, 32, 6, |inner| {
            let name = prop::sample::select(&["a", "b", "0", "1", "~", "/", ""][..]).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(name, inner, 0..6).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn all_pointers_find_in_one_pass_what_each_names(
            value in value(),
            pointers in prop::collection::vec("(/(a|b|0|1|~0|~1|00|)){0,3}", 0..7),
        ) {
            let text = value.to_string();
            let texts: Vec<&str> = pointers.iter().map(String::as_str).collect();
            let found = Pointers::parse(&texts).unwrap().find(text.as_bytes()).unwrap();
            let found: Vec<Option<Value>> =
                found.as_ref().iter().map(|it| it.map(|it| serde_json::from_str(it.get()).unwrap())).collect();
            let expected: Vec<Option<Value>> = texts.iter().map(|text| value.pointer(text).cloned()).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_no_json_is_an_error_whatever_is_asked_for() {
        let pointers = ["", "/a", "/a/b", "/c/0"];
        for line in ["{", "{\"a\":}", "1 2", "\"\u{1}\"", "{\"a\u{1}\":1}", "[1,]", "nul"] {
            for pointer in pointers {
                assert!(Pointers::parse(&[pointer]).unwrap().find(line.as_bytes()).is_err(), "{line} {pointer}");
            }
            assert!(Pointers::parse(&pointers).unwrap().find(line.as_bytes()).is_err(), "{line}");
        }
        for blank in ["", " \t"] {
            assert!(
                Pointers::parse(&pointers)
                    .unwrap()
                    .find(blank.as_bytes())
                    .unwrap()
                    .as_ref()
                    .iter()
                    .all(Option::is_none)
            );
        }
        let text = json!({ "a": { "b": [7] } }).to_string();
        let found = Pointers::parse(&["/a", "/a/b/0", "/a/b/0"]).unwrap();
        let found: Vec<String> =
            found.find(text.as_bytes()).unwrap().as_ref().iter().map(|it| it.unwrap().get().to_owned()).collect();
        assert_eq!(found, [r#"{"b":[7]}"#, "7", "7"]);
    }
}
