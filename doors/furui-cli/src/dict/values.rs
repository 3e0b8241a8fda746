//! The operations on entries that differ between values that are numbers and values that are bytes.

use furui::dict::{Dict, DictOptions, DictValue, MAX_VALUE, Purpose};
use furui::store::Directory;

use super::lines::Lines;
use super::records::Records;
use crate::error::Error;
use crate::files::Files;
use crate::input::block::Block;

/// A type of values of a dictionary, with the operations that differ between numbers and bytes.
pub trait Values: DictValue {
    /// Opens the dictionary in `storage`, which must have values of this type, or begins a new one.
    fn open(storage: Directory, options: DictOptions) -> Result<Dict<Files, Self>, furui::Error>;

    /// Puts the entry that a line stands for into the dictionary. A line without a key is skipped.
    fn put(dict: &mut Dict<Files, Self>, line: Line<'_>, records: &mut Records) -> Result<(), Error>;

    /// Appends an entry in the form in which lines have it: the key, a tab and the value. Returns false if the entry
    /// could not be read back from the line.
    fn push(out: &mut Vec<u8>, key: &[u8], value: Self::Read<'_>, lines: Lines) -> bool;

    /// Appends an entry as a line, with a tab between key and value and the separator at the end.
    fn push_line(out: &mut Vec<u8>, key: &[u8], value: Self::Read<'_>, lines: Lines) -> Result<(), Error> {
        let whole = Self::push(out, key, value, lines) && (lines.escape || !key.contains(&lines.separator));
        lines.end(out, whole, key)
    }
}

/// A line of an input, with its file and number for error messages.
pub struct Line<'b> {
    pub text: &'b [u8],
    pub block: &'b Block,
    pub index: usize,
}

impl Line<'_> {
    /// The error for a line that must have a tab between key and value, and has none.
    fn without_value(&self) -> Error {
        let place = self.block.place(self.index);
        Error::Message(format!("{place}: no tab between a key and its value; the lines before it are kept"))
    }
}

impl Values for u32 {
    fn open(storage: Directory, options: DictOptions) -> Result<Dict<Files>, furui::Error> {
        Dict::open_with(Files::Store(storage), options)
    }

    fn put(dict: &mut Dict<Files>, line: Line<'_>, records: &mut Records) -> Result<(), Error> {
        let Line { text, block, index } = line;
        let tab = text.iter().rposition(|&byte| byte == b'\t').filter(|_| !records.are_records);
        if tab.is_none() && dict.purpose() != Purpose::Numbers {
            return Err(line.without_value());
        }
        let key = records.key(&text[..tab.unwrap_or(text.len())], block, index)?;
        match (key.found(), tab) {
            (None, _) => {}
            (Some(key), None) => drop(dict.number(key)?),
            (Some(key), Some(tab)) => dict.put(key, number(&text[tab + 1..], block, index)?)?,
        }
        Ok(())
    }

    fn push(out: &mut Vec<u8>, key: &[u8], value: u32, lines: Lines) -> bool {
        lines.write(out, key);
        out.push(b'\t');
        out.extend_from_slice(value.to_string().as_bytes());
        true
    }
}

impl Values for [u8] {
    fn open(storage: Directory, options: DictOptions) -> Result<Dict<Files, [u8]>, furui::Error> {
        Dict::open_bytes_with(Files::Store(storage), options)
    }

    fn put(dict: &mut Dict<Files, [u8]>, line: Line<'_>, records: &mut Records) -> Result<(), Error> {
        let Line { text, block, index } = line;
        let tab = text.iter().position(|&byte| byte == b'\t').ok_or_else(|| line.without_value())?;
        let Some(key) = records.key(&text[..tab], block, index)?.found() else { return Ok(()) };
        let value = records.lines.read(&text[tab + 1..], block, index)?;
        if value.len() > MAX_VALUE {
            let (place, length) = (block.place(index), value.len());
            return Err(Error::Message(format!(
                "{place}: a value of {length} bytes: a dictionary takes up to {MAX_VALUE}; the lines before it are kept"
            )));
        }
        Ok(dict.put(key, value)?)
    }

    fn push(out: &mut Vec<u8>, key: &[u8], value: &[u8], lines: Lines) -> bool {
        lines.write(out, key);
        out.push(b'\t');
        lines.write(out, value);
        lines.escape || !key.contains(&b'\t') && !value.contains(&lines.separator)
    }
}

fn number(digits: &[u8], block: &Block, index: usize) -> Result<u32, Error> {
    let value = str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    value.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        let shown = digits.escape_ascii();
        Error::Message(format!(
            "{}: \"{shown}\" after the last tab is not a number below 2^32; the lines before it are kept",
            block.place(index)
        ))
    })
}
