use std::ops::Range;

use crate::dict::trie::Found;

/// What is left of the labels within which cursors stand: a queue of texts, and of what the keys hold that end with them.
#[derive(Default)]
pub(super) struct Tails {
    /// Head and text of each; those before `start` were taken.
    bytes: Vec<u8>,
    start: usize,
}

/// Length of the text, kind of what is held, value.
const HEAD: usize = 2 + 1 + 4;

const NO_KEY: u8 = 0;
const VALUE: u8 = 1;
const DELETED: u8 = 2;

/// What was taken is cleared away when it is as much as what is left, and at least so much.
const TIDY: usize = 1 << 12;

impl Tails {
    /// Adds a text shorter than 64 KiB.
    #[inline]
    pub(super) fn push(&mut self, text: &[u8], found: Option<Found>) {
        let kind = match found {
            None => NO_KEY,
            Some(Found::Value(_)) => VALUE,
            Some(Found::Deleted) => DELETED,
        };
        let value = found.and_then(Found::value).unwrap_or(0);
        let [a, b] = (text.len() as u16).to_le_bytes();
        let [c, d, e, f] = value.to_le_bytes();
        self.bytes.extend_from_slice(&[a, b, kind, c, d, e, f]);
        self.bytes.extend_from_slice(text);
    }

    /// The next one. Its text is where it is until [`tidy`](Self::tidy).
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Range<usize>, Option<Found>)> {
        let &[a, b, kind, c, d, e, f] = self.bytes.get(self.start..)?.first_chunk::<HEAD>()?;
        let found = match kind {
            NO_KEY => None,
            VALUE => Some(Found::Value(u32::from_le_bytes([c, d, e, f]))),
            _ => Some(Found::Deleted),
        };
        let text = self.start + HEAD;
        self.start = text + usize::from(u16::from_le_bytes([a, b]));
        Some((text..self.start, found))
    }

    #[inline(always)]
    pub(super) fn text(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Makes room: ranges of texts are no longer good.
    #[inline(always)]
    pub(super) fn tidy(&mut self) {
        if self.start >= TIDY && self.start * 2 >= self.bytes.len() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}
