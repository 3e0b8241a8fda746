use crate::bits::arch::prefetch_at;

/// Bytes before a block's remainders: the offset and three planes.
pub(super) const HEAD_BYTES: usize = 26;

/// Bytes of a processor's cache line.
const LINE: usize = 64;

/// The flags of 64 slots and where their first run may begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// How many slots from the block's first on belong to runs of earlier blocks; may exceed 64.
    pub(super) offset: u16,
    /// is_occupied.
    pub(super) occupied: u64,
    /// Slots where a run begins: used, and not is_continuation.
    pub(super) starts: u64,
    /// is_shifted.
    pub(super) shifted: u64,
}

impl Head {
    /// Slots that hold a remainder: a used slot is shifted, or its own quotient's run begins there.
    #[inline(always)]
    pub(super) fn used(&self) -> u64 {
        self.occupied | self.shifted
    }

    /// is_continuation.
    #[inline(always)]
    pub(super) fn continuation(&self) -> u64 {
        self.used() & !self.starts
    }
}

/// A block of slots, to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    /// From the block's first byte to the table's last.
    bytes: &'a [u8],
    remainder_bits: u32,
}

impl<'a> Block<'a> {
    /// The block at the beginning of these bytes, which go on to the table's last.
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

    /// The byte of the block, and the bit of that, at which the remainder of slot `index` begins.
    #[inline(always)]
    pub(super) fn place(&self, index: u32) -> (usize, u32) {
        let bit = index * self.remainder_bits;
        (HEAD_BYTES + (bit / 8) as usize, bit % 8)
    }

    /// Asks for the cache line of the head.
    #[inline(always)]
    pub(super) fn prefetch_head(&self) {
        prefetch_at(self.bytes, 0);
    }

    /// Asks for the cache lines of the remainder in slot `index` and of those behind it.
    #[inline(always)]
    pub(super) fn prefetch_remainders(&self, index: u32) {
        let at = self.place(index).0;
        prefetch_at(self.bytes, at);
        prefetch_at(self.bytes, at + LINE);
    }

    /// The remainder in slot `index` and those above it, from bit 0 of the result on: at least
    /// [`MAX_REMAINDER_BITS`](super::shape::MAX_REMAINDER_BITS) bits are remainders, what follows is not.
    #[inline(always)]
    pub(super) fn remainders_from(&self, index: u32) -> u64 {
        let (at, shift) = self.place(index);
        let bytes = self.bytes[at..at + 8].first_chunk().expect("these are eight");
        u64::from_le_bytes(*bytes) >> shift
    }
}
