use furui::{HashSpec, KeyHasher};

use super::Lack;
use super::compare::Compare;
use super::csv::Columns;
use super::fields::key_parts;
use super::json::{self, Pointers};
use super::part::part;
use crate::cli::{LineOptions, Policy};
use crate::error::Error;
use crate::input::block::Block;

/// Makes the key of a line, in the way that the options describe.
pub(super) struct Maker {
    pub(super) hasher: KeyHasher,
    part: Part,
    compare: Compare,
    pub(super) missing: Policy,
    pub(super) bad: Policy,
}

/// The part of a line that is its key.
enum Part {
    Line,
    /// The fields of the line with these indices, from 0 on. The byte is the delimiter between fields.
    Fields(Vec<usize>, u8),
    Columns(Columns),
    /// The values that these name, or the whole line if they name none.
    Json(Pointers),
    /// The whole line, which is an entry in a list of keys of records.
    Listed(Listed),
}

/// The kind of the records whose keys are in a list.
#[derive(PartialEq, Eq)]
enum Listed {
    /// Records of CSV or TSV, where a line of the list may end in CRLF.
    Table,
    /// JSON values, where a line of the list stands for the string with this text or for the value that it is.
    Json,
}

impl Maker {
    /// Creates a maker of the keys that the options describe. Options that contradict each other are an error.
    pub(super) fn new(spec: HashSpec, options: &LineOptions) -> Result<Self, Error> {
        let no = |reason: &str| Err(Error::Message(reason.to_owned()));
        match options.delimiter {
            Some(_) if options.field.is_empty() && !options.csv => {
                return no("--delimiter goes with --field or --csv: other lines have no such fields");
            }
            Some(b'"' | b'\r') if options.csv => {
                return no("--delimiter: a quote or a line break cannot separate fields of CSV");
            }
            _ => {}
        }
        let part = if options.csv || options.tsv {
            Part::Columns(Columns::new(options)?)
        } else if options.json {
            let parts = key_parts(&options.key)?;
            Part::Json(Pointers::parse(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(Error::Message)?)
        } else if options.field.is_empty() {
            Part::Line
        } else {
            let indices = options.field.iter().map(|&number| number as usize - 1).collect();
            Part::Fields(indices, options.delimiter.unwrap_or(b'\t'))
        };
        Self::of(part, spec, options)
    }

    /// Creates a maker of keys from the lines of a list, each of which is the key of some records. The options say how
    /// the keys of the records are made.
    pub(super) fn listed(spec: HashSpec, options: &LineOptions) -> Result<Self, Error> {
        let is_table = options.csv || options.tsv;
        let parts = if options.field.is_empty() { key_parts(&options.key)?.len() } else { options.field.len() };
        let part = match parts {
            0 if is_table => Err("without --key all columns are the key: name the one that SET lists with --key"),
            0 => Ok(Part::Line),
            1 if is_table => Ok(Part::Listed(Listed::Table)),
            1 if options.json => Ok(Part::Listed(Listed::Json)),
            1 => Ok(Part::Line),
            _ => Err("a line of SET is a key of one part: name one column, field or pointer"),
        };
        let part = part.map_err(|reason| Error::Message(format!("--set-lines: {reason}")))?;
        Self::of(part, spec, options)
    }

    fn of(part: Part, spec: HashSpec, options: &LineOptions) -> Result<Self, Error> {
        let (hasher, compare) = (spec.hasher(), Compare::new(options)?);
        Ok(Self { hasher, part, compare, missing: options.missing, bad: options.bad })
    }

    /// Returns this with `is_text` set: keys are texts to be read, as those of a dictionary.
    pub(super) fn with_text(mut self) -> Self {
        self.compare.is_text = true;
        self
    }

    /// Reads the block if it is the header of an input. Returns true if the header is to be printed, which holds only
    /// for the first one; `None` if the block has lines.
    pub(super) fn header(&self, block: &Block) -> Result<Option<bool>, Error> {
        match &self.part {
            Part::Columns(columns) if block.is_header => columns.read_header(block).map(Some),
            _ => Ok(None),
        }
    }

    /// True if every line is its own key.
    pub(super) fn is_line(&self) -> bool {
        matches!(self.part, Part::Line) && self.compare.is_plain()
    }

    /// Appends the key of a line to `out`.
    pub(super) fn key(&self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Lack> {
        let compare = &self.compare;
        match &self.part {
            Part::Line => compare.append(line, out),
            Part::Fields(indices, delimiter) => {
                for (nth, &index) in indices.iter().enumerate() {
                    let field = line.split(|byte| byte == delimiter).nth(index).ok_or(Lack::Missing)?;
                    part(nth, indices.len(), compare.is_text, out, |out| compare.append(field, out));
                }
            }
            Part::Columns(columns) => columns.key(line, compare, out)?,
            Part::Json(pointers) if pointers.count() == 0 => {
                json::value(line).map_err(Lack::Bad)?.ok_or(Lack::Missing)?;
                compare.append(line, out);
            }
            Part::Json(pointers) => {
                let count = pointers.count();
                for (nth, value) in pointers.find(line).map_err(Lack::Bad)?.as_ref().iter().enumerate() {
                    let value = value.ok_or(Lack::Missing)?;
                    part(nth, count, compare.is_text, out, |out| {
                        json::append_key(value, compare.is_text, |text, out| compare.append(text, out), out)
                    });
                }
            }
            Part::Listed(_) => compare.append(line.strip_suffix(b"\r").unwrap_or(line), out),
        }
        Ok(())
    }

    /// If the lines are a list of keys of JSON records and this line is a JSON value, appends the key of the value, and
    /// returns true. Otherwise returns false.
    pub(super) fn value(&self, line: &[u8], out: &mut Vec<u8>) -> bool {
        if !matches!(self.part, Part::Listed(Listed::Json)) {
            return false;
        }
        let Ok(Some(value)) = json::value(line) else { return false };
        json::append_key(value, self.compare.is_text, |text, out| self.compare.append(text, out), out);
        true
    }
}
