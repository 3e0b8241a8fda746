//! Splits a record of CSV into its fields (RFC 4180).

use crate::error::Error;

/// A field of a record of CSV as it is written there, with its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    pub bytes: &'a [u8],
    /// True if the field begins with a quote.
    pub quoted: bool,
}

/// Splits a record of CSV into its fields at the delimiters. Fields may be quoted if `quotes` is true. If a quote is
/// not closed, the last item is an error.
pub fn fields(record: &[u8], delimiter: u8, quotes: bool) -> impl Iterator<Item = Result<Field<'_>, String>> {
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let bytes = rest.take()?;
        let quoted = quotes && bytes.first() == Some(&b'"');
        // The delimiter that ends the field comes after the closing quote.
        let from = match if quoted { closing_quote(bytes) } else { Some(0) } {
            Some(from) => from,
            None => return Some(Err("a quote is not closed".into())),
        };
        let end = memchr::memchr(delimiter, &bytes[from..]).map(|end| from + end);
        rest = end.map(|end| &bytes[end + 1..]);
        Some(Ok(Field { bytes: &bytes[..end.unwrap_or(bytes.len())], quoted }))
    })
}

/// The position after the quote that closes the one with which `bytes` begins.
fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr(b'"', &bytes[at..])? + 1;
        if bytes.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

impl Field<'_> {
    /// Appends the field without its quotes. Text after the closing quote belongs to the field, as in other CSV
    /// readers.
    pub fn append(&self, out: &mut Vec<u8>) {
        if !self.quoted {
            return out.extend_from_slice(self.bytes);
        }
        let end = closing_quote(self.bytes).unwrap_or(self.bytes.len());
        let mut quoted = &self.bytes[1..end - 1];
        while let Some(quote) = memchr::memchr(b'"', quoted) {
            out.extend_from_slice(&quoted[..=quote]);
            quoted = &quoted[quote + 2..];
        }
        out.extend_from_slice(quoted);
        out.extend_from_slice(&self.bytes[end..]);
    }
}

/// Splits the values of `--key` into their parts at the commas. A part may be quoted, and then have commas, line breaks
/// and doubled quotes, as a field of CSV has them.
pub fn key_parts(values: &[String]) -> Result<Vec<String>, Error> {
    let mut parts = vec![];
    for value in values {
        for field in fields(value.as_bytes(), b',', true) {
            let mut part = vec![];
            field.map_err(|reason| Error::Message(format!("--key {value}: {reason}")))?.append(&mut part);
            parts.push(String::from_utf8_lossy(&part).into_owned());
        }
    }
    Ok(parts)
}

/// Writes a part of a key in the syntax of `--key`, with quotes if it would be read as something else without them.
pub fn quoted(part: &str) -> String {
    let is_plain = |c: char| c != ',' && c != '"' && !c.is_whitespace() && !c.is_control();
    if !part.is_empty() && part.chars().all(is_plain) {
        part.to_owned()
    } else {
        format!("\"{}\"", part.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_quoted_part_of_a_key_is_one_part(parts in proptest::collection::vec("[a\", \n]{0,5}", 1..4)) {
            let value: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
            prop_assert_eq!(key_parts(&[value.join(",")]).unwrap(), parts);
        }

        #[test]
        fn fields_are_those_of_another_reader(record in "[a\", ]{1,30}") {
            let fields: Result<Vec<_>, _> = fields(record.as_bytes(), b',', true).collect();
            let Ok(fields) = fields else { return Ok(()) };
            let found: Vec<Vec<u8>> = fields.iter().map(|field| {
                let mut out = vec![];
                field.append(&mut out);
                out
            }).collect();
            let (mut bytes, mut ends) = ([0; 100], [0; 100]);
            let mut reader = csv_core::Reader::new();
            let text = format!("{record}\n");
            let (_, _, _, count) = reader.read_record(text.as_bytes(), &mut bytes, &mut ends);
            let mut start = 0;
            let expected: Vec<Vec<u8>> = ends[..count].iter().map(|&end| bytes[std::mem::replace(&mut start, end)..end].to_vec()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
