use super::Found;
use super::skeleton::Skeleton;

/// How many bits a value has, from 0 to 32: as many as the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width(u32);

impl Width {
    pub(super) fn of(values: &[u32]) -> Self {
        Self(32 - values.iter().copied().max().unwrap_or(0).leading_zeros())
    }

    pub(super) fn new(bits: u32) -> Option<Self> {
        (bits <= 32).then_some(Self(bits))
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// How many bytes `count` values take.
    pub(super) fn bytes(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.0)).div_ceil(8) as u64
    }

    pub(super) fn pack(self, values: &[u32]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.bytes(values.len() as u64) as usize + 8);
        let (mut word, mut bits) = (0u64, 0);
        for &value in values {
            word |= u64::from(value) << bits;
            bits += self.0;
            if bits >= 32 {
                packed.extend((word as u32).to_le_bytes());
                word >>= 32;
                bits -= 32;
            }
        }
        packed.extend(word.to_le_bytes());
        packed.truncate(self.bytes(values.len() as u64) as usize);
        packed
    }

    /// The value of this index; 0 if there is none.
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

/// The values in the order of ids: of leaves, of the root, of inner nodes.
pub(super) fn in_order(skeleton: &Skeleton) -> Vec<u32> {
    order(skeleton, |i| skeleton.values[i], |root| root.value().unwrap_or(0))
}

/// A bit for every id that is deleted, none if none is.
pub(super) fn deleted(skeleton: &Skeleton) -> Vec<u8> {
    if skeleton.deleted.ones() == 0 && skeleton.root != Some(Found::Deleted) {
        return vec![];
    }
    let deleted = order(skeleton, |i| skeleton.deleted.get(i), |root| root == Found::Deleted);
    deleted.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect()
}

fn order<T>(skeleton: &Skeleton, of: impl Fn(usize) -> T, of_root: impl Fn(Found) -> T) -> Vec<T> {
    let (mut leaves, mut inners) = (Vec::with_capacity(skeleton.keys()), vec![]);
    inners.extend(skeleton.root.map(of_root));
    let terminals = (0..skeleton.nodes()).filter(|&node| skeleton.terminals.get(node));
    for (terminal, node) in terminals.enumerate() {
        if skeleton.inner.get(node) { &mut inners } else { &mut leaves }.push(of(terminal));
    }
    leaves.append(&mut inners);
    leaves
}

/// Bits of inner nodes that a line of 64 bytes holds, behind the number of those set before it.
const LINE_BITS: u64 = 512 - 32;

/// A bit for every inner node, the root first, that is set if a key ends there; none if no key does.
///
/// In lines of 64 bytes: how many bits are set before the line (u32), and 480 bits.
pub(super) fn terminals(skeleton: &Skeleton) -> Vec<u8> {
    let inner = (0..skeleton.nodes()).filter(|&node| skeleton.inner.get(node));
    let bits: Vec<bool> =
        std::iter::once(skeleton.root.is_some()).chain(inner.map(|node| skeleton.terminals.get(node))).collect();
    if !bits.contains(&true) {
        return vec![];
    }
    let mut lines = vec![];
    let mut before = 0u32;
    for bits in bits.chunks(LINE_BITS as usize) {
        lines.extend(before.to_le_bytes());
        before += bits.iter().filter(|&&bit| bit).count() as u32;
        let start = lines.len();
        lines.resize(start + 60, 0);
        for (i, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            lines[start + i / 8] |= 1 << (i % 8);
        }
    }
    lines
}

/// How many bytes the terminals of `inners` inner nodes take, if any key ends in one.
pub(super) fn terminals_len(inners: u64) -> u64 {
    inners.div_ceil(LINE_BITS) * 64
}

/// The rank among keys that end in inner nodes of the one that ends in the inner node of rank `inner`, if one does.
#[inline(always)]
pub(super) fn terminal_rank(lines: &[u8], inner: u64) -> Option<u64> {
    let line = lines.as_chunks::<64>().0.get((inner / LINE_BITS) as usize)?;
    let bit = (inner % LINE_BITS) as usize + 32;
    if line[bit / 8] >> (bit % 8) & 1 == 0 {
        return None;
    }
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

/// The inner node in which the key of this rank among keys of inner nodes ends.
pub(super) fn terminal_select(lines: &[u8], rank: u64) -> Option<u64> {
    let lines = lines.as_chunks::<64>().0;
    let before = |line: &[u8; 64]| u64::from(u32::from_le_bytes([line[0], line[1], line[2], line[3]]));
    let index = lines.partition_point(|line| before(line) <= rank).checked_sub(1)?;
    let line = lines.get(index)?;
    let ones = (32..512).filter(|&bit| line[bit / 8] >> (bit % 8) & 1 == 1);
    let bit = ones.into_iter().nth(usize::try_from(rank.checked_sub(before(line))?).ok()?)?;
    Some(index as u64 * LINE_BITS + bit as u64 - 32)
}
