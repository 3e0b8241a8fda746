use super::bits::Bits;
use super::pieces::Pieces;
use super::values::{self, Width};
use super::{Found, TrieError};

/// Where keys end and what they hold, taken as nodes come breadth-first, given back in the order of ids: of leaves, of the
/// root, of inner nodes.
pub(super) struct Ends {
    width: Width,
    leaves: Held,
    inners: Held,
    /// Which inner nodes are ends of keys, the root first.
    terminals: Bits,
}

struct Held {
    values: Packed,
    keys: usize,
    /// Which keys are deleted, up to the last that is.
    deleted: Bits,
}

impl Held {
    fn new() -> Result<Self, TrieError> {
        Ok(Self { values: Packed::new()?, keys: 0, deleted: Bits::default() })
    }

    #[inline(always)]
    fn push(&mut self, found: Found, width: Width) -> Result<(), TrieError> {
        self.values.push(u64::from(found.value().unwrap_or(0)), width.bits())?;
        if found == Found::Deleted {
            self.deleted.pad(self.keys)?;
            self.deleted.push(true)?;
        }
        self.keys += 1;
        Ok(())
    }
}

/// The parts of a trie that say what its keys hold.
pub(super) struct EndParts {
    pub(super) keys: u64,
    pub(super) terminals: Vec<u8>,
    pub(super) values: Pieces,
    pub(super) deleted: Vec<u8>,
}

impl Ends {
    /// Values have at most `width` bits.
    pub(super) fn new(width: Width, root: Option<Found>) -> Result<Self, TrieError> {
        let mut ends = Self { width, leaves: Held::new()?, inners: Held::new()?, terminals: Bits::default() };
        ends.push(true, root)?;
        Ok(ends)
    }

    pub(super) fn width(&self) -> Width {
        self.width
    }

    /// The next node.
    #[inline(always)]
    pub(super) fn push(&mut self, inner: bool, terminal: Option<Found>) -> Result<(), TrieError> {
        let held = if inner { &mut self.inners } else { &mut self.leaves };
        if let Some(found) = terminal {
            held.push(found, self.width)?;
        }
        if inner {
            self.terminals.push(terminal.is_some())?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<EndParts, TrieError> {
        let Self { mut leaves, inners, terminals, .. } = self;
        leaves.values.append(inners.values)?;
        let keys = leaves.keys + inners.keys;
        if leaves.deleted.len() + inners.deleted.len() > 0 {
            leaves.deleted.pad(leaves.keys)?;
            for i in 0..inners.deleted.len() {
                leaves.deleted.push(inners.deleted.get(i))?;
            }
            leaves.deleted.pad(keys)?;
        }
        Ok(EndParts {
            keys: keys as u64,
            terminals: values::terminals(&terminals)?,
            values: leaves.values.finish()?,
            deleted: leaves.deleted.to_bytes()?,
        })
    }
}

/// Values, one after the other, as bits.
struct Packed {
    /// In whole words.
    pieces: Pieces,
    /// The bits behind those, fewer than 64.
    word: u64,
    bits: u32,
}

impl Packed {
    fn new() -> Result<Self, TrieError> {
        Ok(Self { pieces: Pieces::new()?, word: 0, bits: 0 })
    }

    /// Adds the `count` bits of `bits`, 64 at most.
    #[inline(always)]
    fn push(&mut self, bits: u64, count: u32) -> Result<(), TrieError> {
        self.word |= bits << self.bits;
        self.bits += count;
        if self.bits >= u64::BITS {
            self.pieces.push(&self.word.to_le_bytes())?;
            self.bits -= u64::BITS;
            self.word = bits.checked_shr(count - self.bits).unwrap_or(0);
        }
        Ok(())
    }

    fn append(&mut self, mut other: Self) -> Result<(), TrieError> {
        while let Some(piece) = other.pieces.pop()? {
            for word in piece.bytes().as_chunks().0 {
                self.push(u64::from_le_bytes(*word), u64::BITS)?;
            }
        }
        self.push(other.word, other.bits)
    }

    fn finish(mut self) -> Result<Pieces, TrieError> {
        self.pieces.push(&self.word.to_le_bytes()[..self.bits.div_ceil(8) as usize])?;
        Ok(self.pieces)
    }
}
