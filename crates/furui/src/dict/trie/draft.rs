use super::TrieError;
use super::block::{DOWN, LENGTH};
use super::codes::Code;
use super::labels::MAX_RECORD_NIBBLES;
use super::position::NODES;
use super::room::filled;

/// What a block is made of, before it is bytes: its nodes and their labels, which come apart.
pub(super) struct Draft {
    /// How many inner nodes and leaves come before the block.
    inners: u32,
    leaves: u32,
    first: u64,
    inner: u64,
    edges: [u8; NODES],
    nodes: usize,
    one: u64,
    two: u64,
    labels: usize,
    codes: [u8; CODES],
    code_bytes: usize,
    lengths: [u8; NODES],
    /// How many records there are, and how many half bytes they have.
    count: usize,
    nibbles: usize,
    /// Behind the last half byte the rest of its byte is 0.
    records: Vec<u8>,
}

/// What is written of records at a time.
const WORD: usize = size_of::<u128>();
const CODES: usize = NODES * 2 + 2;
const RECORDS: usize = NODES * MAX_RECORD_NIBBLES.div_ceil(2) + WORD;

impl Draft {
    /// Of the first block, before which there is only the root.
    pub(super) fn new() -> Result<Self, TrieError> {
        Ok(Self {
            inners: 1,
            leaves: 0,
            first: 0,
            inner: 0,
            edges: [0; NODES],
            nodes: 0,
            one: 0,
            two: 0,
            labels: 0,
            codes: [0; CODES],
            code_bytes: 0,
            lengths: [0; NODES],
            count: 0,
            nibbles: 0,
            records: filled(0, RECORDS)?,
        })
    }

    /// How many nodes there are.
    #[inline(always)]
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many labels.
    #[inline(always)]
    pub(super) fn labels(&self) -> usize {
        self.labels
    }

    /// How many leaves come before the block.
    pub(super) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// Which nodes are first children.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The next node, one of [`NODES`] at most.
    #[inline(always)]
    pub(super) fn push_node(&mut self, edge: u8, first: bool, inner: bool) {
        self.edges[self.nodes] = edge;
        self.first |= u64::from(first) << self.nodes;
        self.inner |= u64::from(inner) << self.nodes;
        self.nodes += 1;
    }

    /// The next label, one of [`NODES`] at most.
    #[inline(always)]
    pub(super) fn push_code(&mut self, Code { class, code }: Code) {
        self.one |= (class as u64 & 1) << self.labels;
        self.two |= (class as u64 >> 1) << self.labels;
        self.labels += 1;
        // Always both bytes: how many are needed nobody can foresee.
        self.codes[self.code_bytes..][..2].copy_from_slice(&code.to_le_bytes());
        self.code_bytes += class.code_len();
    }

    /// The length of the next record; its half bytes follow.
    #[inline(always)]
    pub(super) fn push_length(&mut self, length: u8) {
        self.lengths[self.count] = length;
        self.count += 1;
    }

    /// Appends `count` nibbles, 16 at most, those of `bits`, which has no more.
    #[inline(always)]
    pub(super) fn push_nibbles(&mut self, bits: u64, count: usize) {
        let rest = &mut self.records[self.nibbles / 2..];
        let half = self.nibbles % 2;
        // By a mask: whether there is half a byte nobody can foresee either.
        let before = rest[0] & 0u8.wrapping_sub(half as u8);
        rest[..WORD].copy_from_slice(&(u128::from(before) | u128::from(bits) << (4 * half)).to_le_bytes());
        self.nibbles += count;
    }

    /// Appends the block to `out`, with 0 for `down`, and begins the next one.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        // What is no node is the first child of nobody: that ends the last group.
        let none = u64::MAX.checked_shl(self.nodes as u32).unwrap_or(0);
        self.edges[self.nodes..].fill(0);
        for word in [self.first | none, self.inner, self.one, self.two] {
            out.extend(word.to_le_bytes());
        }
        out.extend([0; LENGTH - DOWN + 2]);
        out.extend(self.inners.to_le_bytes());
        out.extend(self.leaves.to_le_bytes());
        let (codes, lengths) = (&self.codes[..self.code_bytes], &self.lengths[..self.count]);
        for part in [&self.edges, codes, lengths, &self.records[..self.nibbles.div_ceil(2)]] {
            out.extend_from_slice(part);
        }
        let length = (out.len() - start) as u16;
        out[start + LENGTH..][..2].copy_from_slice(&length.to_le_bytes());
        let inners = self.inner.count_ones();
        self.inners += inners;
        self.leaves += self.nodes as u32 - inners;
        (self.first, self.inner, self.one, self.two) = (0, 0, 0, 0);
        (self.nodes, self.labels, self.code_bytes, self.count, self.nibbles) = (0, 0, 0, 0, 0);
    }
}
