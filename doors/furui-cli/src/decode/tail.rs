//! A reader that remembers the last bytes that a decoder has read.

use std::io::{self, Read};

use super::source::Source;

/// The number of bytes that a [`Tail`] remembers.
const KEPT: usize = 16;

/// Passes compressed bytes to a decoder, and remembers the last [`KEPT`] bytes.
pub struct Tail<'a> {
    source: &'a mut Source,
    last: [u8; KEPT],
    is_at_end: bool,
}

impl<'a> Tail<'a> {
    pub fn new(source: &'a mut Source) -> Self {
        Self { source, last: [0; KEPT], is_at_end: false }
    }

    /// The last bytes that were read, at most [`KEPT`].
    pub fn last(&self) -> &[u8] {
        &self.last
    }

    /// True if a read found the end of the input.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }
}

impl Read for Tail<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.is_at_end |= count == 0 && !buffer.is_empty();
        let kept = KEPT.saturating_sub(count);
        self.last.copy_within(KEPT - kept.., 0);
        self.last[kept..].copy_from_slice(&buffer[count - (KEPT - kept)..count]);
        Ok(count)
    }
}
