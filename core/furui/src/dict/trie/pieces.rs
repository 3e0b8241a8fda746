use std::collections::VecDeque;

use super::TrieError;
use super::body::Body;
use super::room::no_memory;

/// A queue of bytes in fixed-size pieces. Whole pieces are removed from the front, so memory is kept only for bytes
/// that were not removed.
pub(super) struct Pieces {
    full: VecDeque<Body>,
    last: Body,
    spare: Option<Body>,
}

/// The size of a piece of the queue, in bytes: whole pieces are freed, or used again for later bytes.
const PIECE_BYTES: usize = 1 << 18;

impl Pieces {
    pub(super) fn new() -> Result<Self, TrieError> {
        Ok(Self { full: VecDeque::new(), last: Body::with_room(0)?, spare: None })
    }

    /// Appends bytes to the queue, all to one piece.
    #[inline(always)]
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), TrieError> {
        if self.last.len() + bytes.len() > PIECE_BYTES && self.last.len() > 0 {
            self.begin()?;
        }
        self.last.extend(bytes)
    }

    #[cold]
    fn begin(&mut self) -> Result<(), TrieError> {
        let next = self.spare.take().map_or_else(|| Body::with_pages(PIECE_BYTES), Ok)?;
        self.full.try_reserve(1).map_err(|_| no_memory::<Body>(self.full.len() + 1))?;
        self.full.push_back(std::mem::replace(&mut self.last, next));
        Ok(())
    }

    /// Removes and returns the first piece of the queue; `None` if the queue is empty.
    pub(super) fn pop(&mut self) -> Result<Option<Body>, TrieError> {
        if self.full.is_empty() && self.last.len() > 0 {
            let next = self.spare.take().map_or_else(|| Body::with_room(0), Ok)?;
            return Ok(Some(std::mem::replace(&mut self.last, next)));
        }
        Ok(self.full.pop_front())
    }

    /// Keeps the memory of a piece that was read, so that the queue uses it for the next piece.
    pub(super) fn reuse(&mut self, mut piece: Body) {
        piece.clear();
        self.spare = Some(piece);
    }
}
