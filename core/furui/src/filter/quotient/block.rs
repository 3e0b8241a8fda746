use crate::bits::arch::prefetch_at;

/// The size of the head of a block of slots, in bytes. The head precedes the remainders, and has the offset and three
/// bit planes.
pub(super) const HEAD_BYTES: usize = 26;

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// The head of a block of 64 slots: the flags of the slots, and the slot at or after which its first run begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// The number of slots, from the block's first on, that belong to runs of earlier blocks. This may exceed 64.
    pub(super) offset: u16,
    /// A 1 bit for each slot whose own quotient has a run, wherever the run lies.
    pub(super) occupied: u64,
    /// A 1 bit for each slot in which a run begins, that is, each used slot whose remainder does not continue the run
    /// of the slot before.
    pub(super) starts: u64,
    /// A 1 bit for each slot whose fingerprint lies after the slot of its quotient.
    pub(super) shifted: u64,
}

impl Head {
    /// A 1 bit for each used slot, that is, each slot that is shifted or in which the run of its own quotient begins.
    #[inline(always)]
    pub(super) fn used(&self) -> u64 {
        self.occupied | self.shifted
    }

    /// A 1 bit for each slot that holds a later fingerprint of a run, not its first.
    #[inline(always)]
    pub(super) fn continuation(&self) -> u64 {
        self.used() & !self.starts
    }
}

/// A read-only view of a block of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    /// The bytes from the start of the block to the end of the table.
    bytes: &'a [u8],
    remainder_bits: u32,
}

impl<'a> Block<'a> {
    /// The block that begins at the first of `bytes`, which extend to the end of the table.
    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8], remainder_bits: u32) -> Self {
        Self { bytes, remainder_bits }
    }

    #[inline(always)]
    pub(super) fn head(&self) -> Head {
        let head: &[u8; HEAD_BYTES] = self.bytes.first_chunk().expect("blocks have heads");
        let word = |at: usize| u64::from_le_bytes(*head[at..].first_chunk().expect("heads have three words"));
        Head { offset: u16::from_le_bytes([head[0], head[1]]), occupied: word(2), starts: word(10), shifted: word(18) }
    }

    /// Returns the place of the remainder of the slot `index`: the index of a byte in the block, and of a bit in that
    /// byte.
    #[inline(always)]
    pub(super) fn place(&self, index: u32) -> (usize, u32) {
        let bit = index * self.remainder_bits;
        (HEAD_BYTES + (bit / 8) as usize, bit % 8)
    }

    /// Prefetches the cache line of the block's head.
    #[inline(always)]
    pub(super) fn prefetch_head(&self) {
        prefetch_at(self.bytes, 0);
    }

    /// Prefetches the cache line of the remainder in slot `index`, and the next line.
    #[inline(always)]
    pub(super) fn prefetch_remainders(&self, index: u32) {
        let at = self.place(index).0;
        prefetch_at(self.bytes, at);
        prefetch_at(self.bytes, at + LINE);
    }

    /// The remainder in slot `index`, at bit 0 of the result, followed by the remainders of the next slots. At least
    /// the low [`MAX_REMAINDER_BITS`](super::shape::MAX_REMAINDER_BITS) bits of the result are valid.
    #[inline(always)]
    pub(super) fn remainders_from(&self, index: u32) -> u64 {
        let (at, shift) = self.place(index);
        let bytes = self.bytes[at..at + 8].first_chunk().expect("these are eight");
        u64::from_le_bytes(*bytes) >> shift
    }
}
