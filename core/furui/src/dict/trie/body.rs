use super::TrieError;
use crate::bits::Buffer;

/// A growing buffer for the bytes of a trie, written front to back where they finally lie.
///
/// A large body takes memory only for the part that was written.
pub(super) struct Body {
    bytes: Buffer,
    len: usize,
}

/// A buffer of fewer bytes than this is copied to an allocation of exactly its size when it is finished, which saves
/// memory.
const SMALL_BODY: usize = 4 << 20;

impl Body {
    /// An empty buffer with room for about this many bytes.
    pub(super) fn with_room(room: usize) -> Result<Self, TrieError> {
        Ok(Self { bytes: zeroed(room)?, len: 0 })
    }

    /// An empty buffer with room for about this many bytes, whose pages are returned to the system when it is dropped.
    pub(super) fn with_pages(room: usize) -> Result<Self, TrieError> {
        Ok(Self { bytes: Buffer::pages(room).map_err(|_| TrieError::NoMemory(room))?, len: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline(always)]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }

    #[inline(always)]
    pub(super) fn extend(&mut self, bytes: &[u8]) -> Result<(), TrieError> {
        let end = self.len + bytes.len();
        if end > self.bytes.len() {
            self.grow(end)?;
        }
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Removes all bytes, and keeps the memory of the buffer.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends zeros until the length is a multiple of `align`.
    pub(super) fn pad(&mut self, align: usize) -> Result<(), TrieError> {
        let end = self.len.next_multiple_of(align);
        if end > self.bytes.len() {
            self.grow(end)?;
        }
        self.len = end;
        Ok(())
    }

    #[cold]
    fn grow(&mut self, least: usize) -> Result<(), TrieError> {
        let mut larger = zeroed(least.max(self.len * 2))?;
        larger[..self.len].copy_from_slice(self.bytes());
        self.bytes = larger;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Buffer, TrieError> {
        if self.len < SMALL_BODY {
            let mut exact = zeroed(self.len)?;
            exact.copy_from_slice(self.bytes());
            return Ok(exact);
        }
        self.bytes.truncate(self.len);
        Ok(self.bytes)
    }
}

fn zeroed(len: usize) -> Result<Buffer, TrieError> {
    Buffer::zeroed(len).map_err(|_| TrieError::NoMemory(len))
}
