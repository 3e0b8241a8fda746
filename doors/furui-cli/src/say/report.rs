//! Formats figures as JSON.

use std::io;
use std::path::Path;

use furui::HashSpec;
use furui::filter::Estimate;
use furui::format::Printable;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

/// Named figures, printed as one line of JSON in the order in which they were added.
#[derive(Default)]
pub struct Report {
    fields: Vec<(&'static str, Box<RawValue>)>,
}

impl Report {
    /// Adds a number, with the digits with which it is displayed, to the report.
    pub fn number(&mut self, name: &'static str, value: impl ToString) -> &mut Self {
        self.add(name, &RawValue::from_string(value.to_string()).ok())
    }

    /// Adds an estimate and its standard deviation. A value that is not finite becomes null.
    pub fn estimate(&mut self, name: &'static str, error_name: &'static str, estimate: Estimate) -> &mut Self {
        for (name, value) in [(name, estimate.value), (error_name, estimate.error)] {
            self.number(name, format!("{value:.6}"));
        }
        self
    }

    /// Adds a text, in quotes, to the report.
    pub fn text(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.add(name, value)
    }

    /// Adds a text in quotes, or null.
    pub fn text_or_null(&mut self, name: &'static str, value: Option<&str>) -> &mut Self {
        self.add(name, &value)
    }

    /// Adds the hash by which keys are made: `hash`, the name of the algorithm, and `seed`, which is a text because not
    /// every reader of JSON keeps all digits of 64 bits.
    pub fn hash(&mut self, spec: HashSpec) -> &mut Self {
        self.text("hash", spec.algorithm.name()).text("seed", &format!("{:#018x}", spec.seed))
    }

    /// Adds a path. Bytes of it that are not UTF-8 become U+FFFD, and then all its bytes, as a list of numbers, are
    /// added under `bytes_name`.
    pub fn path(&mut self, name: &'static str, bytes_name: &'static str, path: &Path) -> &mut Self {
        self.text(name, &path.to_string_lossy());
        match path.to_str() {
            Some(_) => self,
            None => self.add(bytes_name, path.as_os_str().as_encoded_bytes()),
        }
    }

    /// Adds a list, each of whose items is a report.
    pub fn list(&mut self, name: &'static str, items: &[Self]) -> &mut Self {
        self.add(name, items)
    }

    /// Returns `{"name":value,…}` and a newline.
    pub fn json(&self) -> String {
        format!("{}\n", json(self))
    }

    fn add(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> &mut Self {
        self.fields.push((name, json(value)));
        self
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields.iter().map(|(name, value)| (name, value)))
    }
}

/// The JSON of a value, with escapes for the characters that a terminal would not show.
fn json(value: &(impl Serialize + ?Sized)) -> Box<RawValue> {
    let mut json = vec![];
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, Shown));
    let json = written.ok().and_then(|()| String::from_utf8(json).ok());
    json.and_then(|json| RawValue::from_string(json).ok()).unwrap_or_else(|| RawValue::NULL.to_owned())
}

/// A formatter of JSON in its shortest form, in which strings have only characters that a terminal shows.
struct Shown;

impl Formatter for Shown {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        fragment.chars().try_for_each(|c| match Printable(c).is_shown() {
            true => write!(out, "{c}"),
            false => write!(out, "\\u{:04x}", c as u32),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_escaped() {
        let mut inner = Report::default();
        inner.number("x", "0.500000").number("infinite", f64::INFINITY);
        let mut report = Report::default();
        report.number("n", 1).text("path", "a\"b\\c\n\u{7f}\u{9b}\u{202e}é").list("list", &[inner]);
        let path = r#""path":"a\"b\\c\n\u007f\u009b\u202eé""#;
        assert_eq!(report.json(), format!("{{\"n\":1,{path},\"list\":[{{\"x\":0.500000,\"infinite\":null}}]}}\n"));
    }
}
