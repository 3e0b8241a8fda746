use std::borrow::Cow;

use super::lines::{Lines, check_key};
use crate::cli::{InputOptions, LineOptions};
use crate::error::Error;
use crate::input::block::Block;
use crate::keys::{Fate, Keys};
use crate::output::Output;

/// Finds the keys of lines, in the form in which a dictionary stores them.
pub struct Records {
    keys: Keys,
    pub lines: Lines,
    /// True if a line is a record, such as CSV or JSON, of which only a part is the key.
    pub are_records: bool,
}

/// What was found in a line: a key, in the form in which a dictionary stores it, or that the line has none.
pub enum Key<'l> {
    Is(Cow<'l, [u8]>),
    /// The line has no key. The [`Fate`] says whether the line is kept or dropped.
    Lacking(Fate),
}

impl<'l> Key<'l> {
    /// The bytes of the key, or `None` if the line has no key.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Is(key) => Some(key),
            Self::Lacking(_) => None,
        }
    }

    /// The key, or `None` if the line has no key.
    pub fn found(self) -> Option<Cow<'l, [u8]>> {
        match self {
            Self::Is(key) => Some(key),
            Self::Lacking(_) => None,
        }
    }
}

impl Records {
    /// Creates a finder of the keys that the options describe. With `escape`, escapes are decoded in a line that is its
    /// own key.
    pub fn new(input: &InputOptions, options: &LineOptions, escape: bool) -> Result<Self, Error> {
        Ok(Self {
            keys: Keys::with_text(options)?,
            lines: Lines { separator: input.separator(), escape },
            are_records: !options.field.is_empty() || options.csv || options.tsv || options.json,
        })
    }

    /// Makes this print no header if `output` continues a file that is not empty, as [`Keys::printed_to`] does.
    pub fn printed_to(self, output: &Output) -> Self {
        Self { keys: self.keys.printed_to(output), ..self }
    }

    /// Reads the block if it is the header of an input, as [`Keys::header`] does.
    pub fn header(&self, block: &Block) -> Result<Option<bool>, Error> {
        self.keys.header(block)
    }

    /// Makes the key of a text, which is all or a part of a line. A key that is too long is an error.
    pub fn key<'l>(&mut self, text: &'l [u8], block: &Block, index: usize) -> Result<Key<'l>, Error> {
        let text = if self.are_records { Cow::Borrowed(text) } else { self.lines.read(text, block, index)? };
        let key = if self.keys.is_line() {
            text
        } else {
            let mut key = vec![];
            if let Some(fate) = self.keys.append(&text, block, index, &mut key)? {
                return Ok(Key::Lacking(fate));
            }
            key.into()
        };
        check_key(&key, block, index)?;
        Ok(Key::Is(key))
    }

    /// Prints on standard error how many lines had no key, if there were any. `kept` says what became of lines that
    /// were not dropped.
    pub fn report(&self, kept: &str) {
        self.keys.report(kept);
    }
}
