use super::TrieError;
use super::bits::Bits;
use super::room::reserve;

/// The bit width of the trie's packed values, from 0 to 32: the greatest value needs this many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Width(u32);

impl Width {
    pub(super) const ZERO: Self = Self(0);

    pub(super) fn of(values: impl Iterator<Item = u32>) -> Self {
        Self(32 - values.max().unwrap_or(0).leading_zeros())
    }

    pub(super) fn new(bits: u32) -> Option<Self> {
        (bits <= 32).then_some(Self(bits))
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// The number of bytes that `count` packed values of this width take.
    pub(super) fn bytes(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.0)).div_ceil(8) as u64
    }

    /// Returns the offset of the first byte that has bits of the value with this index, and the number of bytes that
    /// have some.
    #[inline(always)]
    pub(super) fn place(self, index: u64) -> (usize, usize) {
        let bit = index as u128 * u128::from(self.0);
        (usize::try_from(bit / 8).unwrap_or(usize::MAX), (bit as usize % 8 + self.0 as usize).div_ceil(8))
    }

    /// The value with the index `index` in the packed values `packed`; 0 if there is none.
    #[inline(always)]
    pub(super) fn get(self, packed: &[u8], index: u64) -> u32 {
        let bit = index as u128 * u128::from(self.0);
        let Ok(byte) = usize::try_from(bit / 8) else { return 0 };
        let rest = packed.get(byte..).unwrap_or(&[]);
        let word = rest.first_chunk().map_or_else(|| last_word(rest), |bytes| u64::from_le_bytes(*bytes));
        (word >> (bit % 8) & ((1 << self.0) - 1)) as u32
    }
}

#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The number of bits that a line of 64 bytes holds. The line begins with a 32-bit rank: the number of bits that are
/// set in earlier lines.
const LINE_BITS: u64 = 512 - 32;

/// Lays out a bit for each inner node, the root first, in lines of 64 bytes. A bit is set if a key ends in its node.
/// The result is empty if no key ends in an inner node.
///
/// A line has 64 bytes: the number of bits that are set before it (u32), and 480 bits.
pub(super) fn terminals(bits: &Bits) -> Result<Vec<u8>, TrieError> {
    if bits.ones() == 0 {
        return Ok(vec![]);
    }
    let mut lines = vec![];
    reserve(&mut lines, terminals_len(bits.len() as u64) as usize)?;
    let mut before = 0u32;
    for bits in bits.to_bytes()?.chunks(LINE_BITS as usize / 8) {
        lines.extend(before.to_le_bytes());
        before += bits.iter().map(|byte| byte.count_ones()).sum::<u32>();
        lines.extend_from_slice(bits);
        lines.resize(lines.len().next_multiple_of(64), 0);
    }
    Ok(lines)
}

/// Returns the offset and the length in bytes of the line that has the bit of the inner node with rank `inner`.
#[inline(always)]
pub(super) fn terminal_line(inner: u64) -> (usize, usize) {
    ((inner / LINE_BITS) as usize * 64, 64)
}

/// True if a key ends in the inner node with this rank.
#[inline(always)]
pub(super) fn is_terminal(lines: &[u8], inner: u64) -> bool {
    let line = lines.as_chunks::<64>().0.get((inner / LINE_BITS) as usize);
    let bit = (inner % LINE_BITS) as usize + 32;
    line.is_some_and(|line| line[bit / 8] >> (bit % 8) & 1 == 1)
}

/// The number of bytes of the lines that have a bit for each of `inners` inner nodes.
pub(super) fn terminals_len(inners: u64) -> u64 {
    inners.div_ceil(LINE_BITS) * 64
}

/// The rank, among the keys that end in inner nodes, of the key that ends in the inner node with rank `inner`; `None`
/// if no key ends there.
#[inline(always)]
pub(super) fn terminal_rank(lines: &[u8], inner: u64) -> Option<u64> {
    if is_terminal(lines, inner) { terminals_before(lines, inner) } else { None }
}

/// The number of keys that end in inner nodes with a rank less than `inner`; `None` after the last line.
#[inline(always)]
pub(super) fn terminals_before(lines: &[u8], inner: u64) -> Option<u64> {
    let line = lines.as_chunks::<64>().0.get((inner / LINE_BITS) as usize)?;
    let bit = (inner % LINE_BITS) as usize + 32;
    let words = line.as_chunks::<8>().0;
    let mut count = u64::from(words[0][..4].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)));
    for (i, word) in words.iter().enumerate().take(bit / 64 + 1) {
        let mut word = u64::from_le_bytes(*word);
        if i == 0 {
            word &= !0 << 32;
        }
        if i == bit / 64 {
            word &= (1 << (bit % 64)) - 1;
        }
        count += u64::from(word.count_ones());
    }
    Some(count)
}
