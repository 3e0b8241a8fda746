use super::compare::Compare;
use super::{Lack, part};
use crate::blocks::Block;
use crate::cli::LineOptions;
use crate::error::Error;

/// The columns of a CSV or TSV file that are the key.
pub(super) struct Columns {
    wanted: Vec<Column>,
    /// The indices of the wanted columns. Empty if all columns are the key.
    indices: Vec<usize>,
    delimiter: u8,
    /// True if fields may be quoted.
    quotes: bool,
    /// The first header, without its line break.
    header: Option<Vec<u8>>,
    /// The name of the input that it came from.
    input: String,
}

/// A column, as the user named it.
enum Column {
    Name(String),
    /// Its index, from 0 on.
    Index(usize),
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field<'a> {
    bytes: &'a [u8],
    /// True if it begins with a quote.
    quoted: bool,
}

impl Columns {
    pub(super) fn new(options: &LineOptions) -> Result<Self, Error> {
        let column = |text: &String| match text.parse::<usize>() {
            Ok(0) => Err(Error::Message("--key 0: columns are counted from 1".into())),
            Ok(number) => Ok(Column::Index(number - 1)),
            Err(_) if options.no_header => Err(Error::Message(format!(
                "--key {text}: without a header columns have numbers, from 1 on, and no names"
            ))),
            Err(_) => Ok(Column::Name(text.clone())),
        };
        let wanted: Vec<Column> = options.key.iter().map(column).collect::<Result<_, _>>()?;
        // The indices of names are known with the header.
        let index = |column: &Column| if let Column::Index(index) = column { *index } else { 0 };
        Ok(Self {
            indices: wanted.iter().map(index).collect(),
            wanted,
            delimiter: if options.csv { options.delimiter.unwrap_or(b',') } else { b'\t' },
            quotes: options.csv,
            header: None,
            input: String::new(),
        })
    }

    /// Reads the header of an input. Returns true for the first one. A header that differs from it is an error.
    pub(super) fn read_header(&mut self, block: &Block<'_>) -> Result<bool, Error> {
        let line = block.line(0);
        let line = line.strip_prefix(block.mark()).unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(first) = &self.header {
            if first != line {
                return Err(Error::Message(format!(
                    "{}: has other columns than {}: {} and {}; with --no-header a first line is a record like the others",
                    block.input(),
                    self.input,
                    shown(line),
                    shown(first)
                )));
            }
            return Ok(false);
        }
        let mut names = vec![];
        for field in self.fields(line) {
            let mut name = vec![];
            field
                .map_err(|_| Error::Message(format!("{}: a quote of the header is not closed", block.input())))?
                .append(&mut name);
            names.push(name);
        }
        for (column, index) in self.wanted.iter().zip(&mut self.indices) {
            let (found, what) = match column {
                Column::Name(name) => (names.iter().position(|known| known == name.as_bytes()), name.clone()),
                Column::Index(index) => (Some(*index).filter(|&index| index < names.len()), (index + 1).to_string()),
            };
            *index = found.ok_or_else(|| {
                let reason = format!("{}: there is no column {what}; the columns are {}", block.input(), shown(line));
                Error::Message(reason)
            })?;
        }
        (self.header, self.input) = (Some(line.to_vec()), block.input().to_owned());
        Ok(true)
    }

    /// Appends the key of a record.
    pub(super) fn key(&self, record: &[u8], compare: &Compare, out: &mut Vec<u8>) -> Result<(), Lack> {
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        if record.is_empty() {
            return Err(Lack::Missing);
        }
        let fields: Vec<Field<'_>> = self.fields(record).collect::<Result<_, _>>()?;
        let mut value = vec![];
        let mut append = |nth, count, field: Field<'_>, out: &mut Vec<u8>| {
            value.clear();
            let bytes = if field.quoted {
                field.append(&mut value);
                &value
            } else {
                field.bytes
            };
            part(nth, count, out, |out| compare.append(bytes, out));
        };
        if self.indices.is_empty() {
            fields.iter().enumerate().for_each(|(nth, &field)| append(nth, fields.len(), field, out));
            return Ok(());
        }
        for (nth, &index) in self.indices.iter().enumerate() {
            append(nth, self.indices.len(), *fields.get(index).ok_or(Lack::Missing)?, out);
        }
        Ok(())
    }

    /// The fields of a record. The last one is an error if a quote is not closed.
    fn fields<'r>(&self, record: &'r [u8]) -> impl Iterator<Item = Result<Field<'r>, Lack>> {
        let (delimiter, quotes) = (self.delimiter, self.quotes);
        let mut rest = Some(record);
        std::iter::from_fn(move || {
            let bytes = rest.take()?;
            let quoted = quotes && bytes.first() == Some(&b'"');
            // The delimiter that ends the field comes after the closing quote.
            let from = match if quoted { closing_quote(bytes) } else { Some(0) } {
                Some(from) => from,
                None => return Some(Err(Lack::Bad("a quote is not closed".into()))),
            };
            let end = memchr::memchr(delimiter, &bytes[from..]).map(|end| from + end);
            rest = end.map(|end| &bytes[end + 1..]);
            Some(Ok(Field { bytes: &bytes[..end.unwrap_or(bytes.len())], quoted }))
        })
    }
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
    /// Appends the field without its quotes. Text after the closing quote belongs to the field, as other readers have it.
    fn append(&self, out: &mut Vec<u8>) {
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

/// The beginning of a header, for messages.
fn shown(line: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(&line[..line.len().min(MOST)]);
    if line.len() > MOST { format!("{text}...") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_are_those_of_another_reader(record in "[a\", ]{1,30}") {
            let columns = Columns { wanted: vec![], indices: vec![], delimiter: b',', quotes: true, header: None, input: String::new() };
            let fields: Result<Vec<_>, _> = columns.fields(record.as_bytes()).collect();
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
