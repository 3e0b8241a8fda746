use super::cursor::Cursor;
use super::path::Path;
use crate::dict::trie::body::Body;
use crate::dict::trie::pieces::Pieces;
use crate::dict::trie::text::Text;
use crate::dict::trie::{Found, TrieError};

/// The inner nodes of the merged trie whose children are still to be merged, with their cursors.
///
/// ```text
///   path 12 bytes │ cursor 8 bytes │ cursor, within a label: │ 7 bytes: length, what the key holds │ rest of the label │ ...
/// ```
pub(super) struct Queue {
    pieces: Pieces,
    /// The encoded record of the node that is being added.
    record: Vec<u8>,
    cursors: u32,
}

/// A reader of the records of some nodes that were removed from the queue together.
pub(super) struct Waiting<'p> {
    bytes: &'p [u8],
}

const NO_KEY: u8 = 0;
const VALUE: u8 = 1;
const DELETED: u8 = 2;

impl Queue {
    pub(super) fn new() -> Result<Self, TrieError> {
        Ok(Self { pieces: Pieces::new()?, record: vec![0; Path::BYTES], cursors: 0 })
    }

    /// Appends a cursor (a place in one of the merged tries) to the record of the node that is being added.
    #[inline(always)]
    pub(super) fn push(&mut self, cursor: Cursor) {
        self.record.extend_from_slice(&cursor.to_bytes());
        self.cursors += 1;
    }

    /// Appends a cursor within a label to the record of the node that is being added. `rest` is the text of the label
    /// after the cursor, shorter than 64 KiB, and `found` the value of the key that ends with the label, if one does.
    #[inline(always)]
    pub(super) fn push_within(&mut self, cursor: Cursor, rest: Text<'_>, found: Option<Found>) {
        self.push(cursor);
        let kind = match found {
            None => NO_KEY,
            Some(Found::Value(_)) => VALUE,
            Some(Found::Deleted) => DELETED,
        };
        let value = found.and_then(Found::value).unwrap_or(0);
        let [a, b] = (rest.len() as u16).to_le_bytes();
        let [c, d, e, f] = value.to_le_bytes();
        self.record.extend_from_slice(&[a, b, kind, c, d, e, f]);
        rest.append_to(&mut self.record);
    }

    /// The number of cursors (places in the merged tries) of the node that is being added.
    #[inline(always)]
    pub(super) fn cursors(&self) -> u32 {
        self.cursors
    }

    /// Completes the record of the node that is being added, which has this path, and appends it to the queue.
    #[inline(always)]
    pub(super) fn close(&mut self, path: Path) -> Result<(), TrieError> {
        self.record[..Path::BYTES].copy_from_slice(&path.to_bytes(self.cursors));
        self.pieces.push(&self.record)?;
        self.record.truncate(Path::BYTES);
        self.cursors = 0;
        Ok(())
    }

    /// Removes the oldest piece of the queue, with the records of some nodes, and returns it; `None` if the queue is
    /// empty.
    pub(super) fn pop(&mut self) -> Result<Option<Body>, TrieError> {
        self.pieces.pop()
    }

    /// Gives the memory of a piece back to the queue, which uses it for later nodes.
    pub(super) fn reuse(&mut self, piece: Body) {
        self.pieces.reuse(piece);
    }
}

impl<'p> Waiting<'p> {
    pub(super) fn new(piece: &'p Body) -> Self {
        Self { bytes: piece.bytes() }
    }

    /// Reads the path of the next node, and the number of cursors that follow; `None` after the last node.
    #[inline(always)]
    pub(super) fn node(&mut self) -> Option<(Path, u32)> {
        let (path, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Path::from_bytes(*path))
    }

    /// Reads the next cursor of the current node; `None` if the record is incomplete.
    #[inline(always)]
    pub(super) fn cursor(&mut self) -> Option<Cursor> {
        let (cursor, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Cursor::from_bytes(*cursor))
    }

    /// Reads the text of the label after the cursor that was read last, and the value of the key that ends with the
    /// label, if one does.
    #[inline(always)]
    pub(super) fn rest(&mut self) -> Option<(Text<'p>, Option<Found>)> {
        let (&[a, b, kind, c, d, e, f], text) = self.bytes.split_first_chunk()?;
        let found = match kind {
            NO_KEY => None,
            VALUE => Some(Found::Value(u32::from_le_bytes([c, d, e, f]))),
            _ => Some(Found::Deleted),
        };
        let len = usize::from(u16::from_le_bytes([a, b]));
        self.bytes = text.get(len..)?;
        Some((Text::beginning(text, len)?, found))
    }
}
