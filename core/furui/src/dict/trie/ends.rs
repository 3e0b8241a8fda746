use super::bits::Bits;
use super::pieces::Pieces;
use super::values::{self, Width};
use super::{Found, TrieError};

/// A collector of the values of keys. Nodes are added breadth-first, and values are written in the order of key ids:
/// first the keys that end at leaves, then the key that ends at the root, then those that end at inner nodes.
pub(super) struct Ends {
    width: Width,
    leaves: Held,
    inners: Held,
    /// A bit for each inner node, the root first, which is set if a key ends there.
    terminals: Bits,
}

struct Held {
    values: Packed,
    keys: usize,
    /// A bit for each key up to the last deleted one, which is set if the key is deleted.
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

/// The parts of a trie that say where keys end, and that hold their values.
pub(super) struct EndParts {
    pub(super) keys: u64,
    pub(super) terminals: Vec<u8>,
    pub(super) values: Pieces,
    pub(super) deleted: Vec<u8>,
}

impl Ends {
    /// A collector of values of at most `width` bits. `root` is the value of the empty key, which ends at the root, if
    /// the trie has this key.
    pub(super) fn new(width: Width, root: Option<Found>) -> Result<Self, TrieError> {
        let mut ends = Self { width, leaves: Held::new()?, inners: Held::new()?, terminals: Bits::default() };
        ends.push(true, root)?;
        Ok(ends)
    }

    pub(super) fn width(&self) -> Width {
        self.width
    }

    /// Adds the next node. `inner` is true if it has children, and `terminal` is the value of the key that ends there,
    /// if one does.
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

/// A string of bit-packed values that is being written.
struct Packed {
    /// The complete 64-bit words of the string, little-endian.
    pieces: Pieces,
    /// The bits after the complete words, fewer than 64.
    word: u64,
    bits: u32,
}

impl Packed {
    fn new() -> Result<Self, TrieError> {
        Ok(Self { pieces: Pieces::new()?, word: 0, bits: 0 })
    }

    /// Appends the low `count` bits of `bits`; `count` is at most 64.
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
