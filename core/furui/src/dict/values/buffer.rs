use std::collections::TryReserveError;
use std::fmt;
use std::ops::Range;

/// The values of the keys in a window (a write buffer) of a dictionary whose values are byte strings, in order of their
/// ids, which are consecutive. If a key is put again, its old value is kept until the window is frozen.
#[derive(Clone, Default)]
pub(in crate::dict) struct ValueBuffer {
    /// The id of the first value in the buffer.
    first: u32,
    /// The offset in `bytes` at which each value ends.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl ValueBuffer {
    /// The memory in bytes that a value takes besides its own bytes, for the offset of its end.
    pub(in crate::dict) const VALUE_BYTES: usize = size_of::<usize>();

    /// The memory that all values take, in bytes.
    pub(in crate::dict) fn bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * Self::VALUE_BYTES
    }

    /// The range of the ids of the values in the buffer.
    pub(in crate::dict) fn ids(&self) -> Range<u32> {
        self.first..self.first + self.ends.len() as u32
    }

    /// Makes room for a value of this length, so that [`push`](Self::push) does not run out of memory.
    pub(in crate::dict) fn reserve(&mut self, length: usize) -> Result<(), TryReserveError> {
        self.ends.try_reserve(1)?;
        self.bytes.try_reserve(length)
    }

    /// Adds a value. Its id must be greater by 1 than that of the last value.
    pub(in crate::dict) fn push(&mut self, id: u32, value: &[u8]) {
        if self.ends.is_empty() {
            self.first = id;
        }
        debug_assert_eq!(id, self.ids().end, "ids are consecutive");
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }

    /// Adds the values of `newer`, which is the buffer of the next window.
    pub(in crate::dict) fn append(&mut self, newer: &Self) {
        for id in newer.ids() {
            self.push(id, newer.get(id).unwrap_or_default());
        }
    }

    /// The bytes of the value with this id; `None` if the buffer does not have it.
    pub(in crate::dict) fn get(&self, id: u32) -> Option<&[u8]> {
        let index = id.checked_sub(self.first)? as usize;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }
}

impl fmt::Debug for ValueBuffer {
    /// Shows the ids and the number of bytes, but not the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueBuffer").field("ids", &self.ids()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}
