use std::sync::OnceLock;

use super::Lack;
use super::column::Column;
use super::compare::Compare;
use super::fields::{Field, fields, key_parts};
use super::part::part;
use crate::cli::LineOptions;
use crate::error::Error;
use crate::input::block::Block;

/// The columns of a CSV or TSV file that are the key.
pub(super) struct Columns {
    wanted: Vec<Column>,
    /// The indices, in a record, of the columns that are the key, if no header determines them.
    indices: Vec<usize>,
    delimiter: u8,
    /// True if fields may be quoted.
    quotes: bool,
    /// The header of the first input. Later inputs must have a header with the same columns.
    header: OnceLock<Header>,
}

/// The header of an input, and the indices of the columns that are the key in it.
struct Header {
    /// The header's record without its line break.
    line: Vec<u8>,
    /// The name of the input that the header came from.
    input: String,
    /// The indices, in a record, of the columns that are the key. Empty if all columns are the key.
    indices: Vec<usize>,
}

impl Columns {
    pub(super) fn new(options: &LineOptions) -> Result<Self, Error> {
        let parts = key_parts(&options.key)?;
        let wanted: Vec<Column> =
            parts.iter().map(|text| Column::parse(text, !options.no_header)).collect::<Result<_, _>>()?;
        // The indices of named columns become known when the header is read.
        let index = |column: &Column| if let Column::Index(index) = column { *index } else { 0 };
        Ok(Self {
            indices: wanted.iter().map(index).collect(),
            wanted,
            delimiter: if options.csv { options.delimiter.unwrap_or(b',') } else { b'\t' },
            quotes: options.csv,
            header: OnceLock::new(),
        })
    }

    /// Reads the header of an input. Returns true for the first header. A header that differs from the first one is an
    /// error.
    pub(super) fn read_header(&self, block: &Block) -> Result<bool, Error> {
        let line = block.line(0);
        let line = line.strip_prefix(block.mark()).unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.quotes && line.contains(&b'\r') {
            let reason =
                "lines of TSV end in LF or CRLF, and here is a CR alone: `tr '\\r' '\\n'` makes lines of such a file";
            return Err(Error::Message(format!("{}: line 1: {reason}", block.input())));
        }
        if let Some(first) = self.header.get() {
            if first.line != line && self.names(&first.line) != self.names(line) {
                return Err(Error::Message(format!(
                    "{}: has other columns than {}: {} and {}; with --no-header a first line is a record like the others",
                    block.input(),
                    first.input,
                    shown(line),
                    shown(&first.line)
                )));
            }
            return Ok(false);
        }
        let open = || Error::Message(format!("{}: a quote of the header is not closed", block.input()));
        let names = self.names(line).ok_or_else(open)?;
        let unclear = |reason| Error::Message(format!("{}: {reason}; the columns are {}", block.input(), shown(line)));
        let indices =
            self.wanted.iter().map(|column| column.find(&names).map_err(unclear)).collect::<Result<_, _>>()?;
        let header = Header { line: line.to_vec(), input: block.input().to_owned(), indices };
        Ok(self.header.set(header).is_ok())
    }

    /// The names of the columns in a header, without their quotes. `None` if a quote is not closed.
    fn names(&self, header: &[u8]) -> Option<Vec<Vec<u8>>> {
        let name = |field: Result<Field<'_>, String>| {
            let mut name = vec![];
            field.ok()?.append(&mut name);
            Some(name)
        };
        fields(header, self.delimiter, self.quotes).map(name).collect()
    }

    /// Appends the key of a record: the forms of its wanted columns that are the same for all equal keys.
    pub(super) fn key(&self, record: &[u8], compare: &Compare, out: &mut Vec<u8>) -> Result<(), Lack> {
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        if record.is_empty() {
            return Err(Lack::Missing);
        }
        let fields: Vec<Field<'_>> =
            fields(record, self.delimiter, self.quotes).collect::<Result<_, _>>().map_err(Lack::Bad)?;
        let mut value = vec![];
        let mut append = |nth, count, field: Field<'_>, out: &mut Vec<u8>| {
            value.clear();
            let bytes = if field.quoted {
                field.append(&mut value);
                &value
            } else {
                field.bytes
            };
            part(nth, count, compare.is_text, out, |out| compare.append(bytes, out));
        };
        let indices = self.header.get().map_or(&self.indices, |header| &header.indices);
        if indices.is_empty() {
            fields.iter().enumerate().for_each(|(nth, &field)| append(nth, fields.len(), field, out));
            return Ok(());
        }
        for (nth, &index) in indices.iter().enumerate() {
            append(nth, indices.len(), *fields.get(index).ok_or(Lack::Missing)?, out);
        }
        Ok(())
    }
}

/// The beginning of a header, for messages.
fn shown(line: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(&line[..line.len().min(MOST)]);
    if line.len() > MOST { format!("{text}...") } else { text.into_owned() }
}
