use std::borrow::Cow;

use furui::dict::MAX_KEY;

use crate::error::Error;
use crate::input::block::Block;
use crate::say::escape::{push_escaped, unescaped};

/// The format of the lines from which entries of a dictionary are read, and to which they are written.
#[derive(Clone, Copy)]
pub struct Lines {
    pub separator: u8,
    pub escape: bool,
}

impl Lines {
    /// Appends a line with a number, a tab and a key, and then the separator. An error, as in [`end`](Self::end), if
    /// the key has a separator in it and is not escaped.
    pub fn push_after(self, out: &mut Vec<u8>, number: u32, key: &[u8]) -> Result<(), Error> {
        out.extend_from_slice(number.to_string().as_bytes());
        out.push(b'\t');
        self.write(out, key);
        self.end(out, self.escape || !key.contains(&self.separator), key)
    }

    /// Appends the separator that ends a line. Returns an error unless `whole` is true, that is, unless the entry can
    /// be read back from the line.
    pub fn end(self, out: &mut Vec<u8>, whole: bool, key: &[u8]) -> Result<(), Error> {
        out.push(self.separator);
        if whole {
            return Ok(());
        }
        Err(Error::Message(format!(
            "the entry of \"{}\" has a tab or the end of a line in it: --escape prints it as \\t or \\n",
            key.escape_ascii()
        )))
    }

    /// Returns the bytes that a key or value in a line stands for. With `--escape`, this decodes its escapes; an
    /// unknown escape is an error, which names the line with the number `index` in `block`.
    pub fn read<'l>(self, text: &'l [u8], block: &Block, index: usize) -> Result<Cow<'l, [u8]>, Error> {
        if !self.escape {
            return Ok(text.into());
        }
        unescaped(text).ok_or_else(|| {
            let place = block.place(index);
            Error::Message(format!("{place}: after a backslash, --escape takes only one of \\ t n r 0"))
        })
    }

    /// Appends a key or a value; with `--escape`, it has escapes.
    pub fn write(self, out: &mut Vec<u8>, bytes: &[u8]) {
        if self.escape { push_escaped(out, bytes) } else { out.extend_from_slice(bytes) }
    }
}

/// Returns an error that names the line if a key is too long.
pub fn check_key(key: &[u8], block: &Block, index: usize) -> Result<(), Error> {
    if key.len() <= MAX_KEY {
        return Ok(());
    }
    let place = block.place(index);
    Err(Error::Message(format!("{place}: a key of {} bytes: a dictionary takes up to {MAX_KEY}", key.len())))
}
