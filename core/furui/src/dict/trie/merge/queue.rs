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
    /// The record of the node that is being added.
    record: Vec<u8>,
    cursors: u32,
}

/// Some nodes that were removed from the queue.
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

    /// Appends a cursor to the record of the next node.
    #[inline(always)]
    pub(super) fn push(&mut self, cursor: Cursor) {
        self.record.extend_from_slice(&cursor.to_bytes());
        self.cursors += 1;
    }

    /// Adds a cursor within a label to the next node. `rest` is the rest of the label, shorter than 64 KiB, and `found`
    /// the value of the key that ends there, if one does.
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

    /// The number of cursors of the next node.
    #[inline(always)]
    pub(super) fn cursors(&self) -> u32 {
        self.cursors
    }

    /// Finishes the next node.
    #[inline(always)]
    pub(super) fn close(&mut self, path: Path) -> Result<(), TrieError> {
        self.record[..Path::BYTES].copy_from_slice(&path.to_bytes(self.cursors));
        self.pieces.push(&self.record)?;
        self.record.truncate(Path::BYTES);
        self.cursors = 0;
        Ok(())
    }

    /// Removes and returns the next nodes of the queue.
    pub(super) fn pop(&mut self) -> Result<Option<Body>, TrieError> {
        self.pieces.pop()
    }

    /// Keeps the memory of nodes for later ones.
    pub(super) fn reuse(&mut self, piece: Body) {
        self.pieces.reuse(piece);
    }
}

impl<'p> Waiting<'p> {
    pub(super) fn new(piece: &'p Body) -> Self {
        Self { bytes: piece.bytes() }
    }

    /// The path of the next node, and the number of its cursors.
    #[inline(always)]
    pub(super) fn node(&mut self) -> Option<(Path, u32)> {
        let (path, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Path::from_bytes(*path))
    }

    /// The next cursor of the node.
    #[inline(always)]
    pub(super) fn cursor(&mut self) -> Option<Cursor> {
        let (cursor, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(Cursor::from_bytes(*cursor))
    }

    /// The rest of the label of the last cursor, and the value of the key that ends with it.
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
