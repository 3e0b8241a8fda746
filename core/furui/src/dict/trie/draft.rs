use super::TrieError;
use super::block::{DOWN, LENGTH};
use super::codes::Code;
use super::labels::MAX_RECORD_NIBBLES;
use super::position::NODES;
use super::room::filled;

/// A block of nodes that is being built. Its nodes and their labels arrive separately.
pub(super) struct Draft {
    /// The number of inner nodes of the trie before this block.
    inners: u32,
    /// The number of leaves of the trie before this block.
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
    /// The number of records, which are the labels without codes, in this block.
    count: usize,
    /// The length of all records (labels without codes) of this block, in half bytes.
    nibbles: usize,
    /// The records (labels without codes) of this block, packed. The bits after the last half byte are 0.
    records: Vec<u8>,
}

/// The number of bytes that are written to the records of a block at a time.
const WORD: usize = size_of::<u128>();
const CODES: usize = NODES * 2 + 2;
const RECORDS: usize = NODES * MAX_RECORD_NIBBLES.div_ceil(2) + WORD;

impl Draft {
    /// An empty draft of the first block of a trie. Only the root comes before this block.
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

    /// The number of nodes in this block so far.
    #[inline(always)]
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of labels in this block so far.
    #[inline(always)]
    pub(super) fn labels(&self) -> usize {
        self.labels
    }

    /// The number of leaves of the trie before this block.
    pub(super) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// A mask of the nodes of this block that are first children of their parents.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Adds the next node. `edge` is the first byte of its label; `first` is true if it is the first child of its
    /// parent, and `inner` if it has children. A block has at most [`NODES`] nodes.
    #[inline(always)]
    pub(super) fn push_node(&mut self, edge: u8, first: bool, inner: bool) {
        self.edges[self.nodes] = edge;
        self.first |= u64::from(first) << self.nodes;
        self.inner |= u64::from(inner) << self.nodes;
        self.nodes += 1;
    }

    /// Adds the code of the next node's label. A block has at most [`NODES`] labels.
    #[inline(always)]
    pub(super) fn push_code(&mut self, Code { class, code }: Code) {
        self.one |= (class as u64 & 1) << self.labels;
        self.two |= (class as u64 >> 1) << self.labels;
        self.labels += 1;
        // Both bytes are always written, because the processor could not predict how many are needed.
        self.codes[self.code_bytes..][..2].copy_from_slice(&code.to_le_bytes());
        self.code_bytes += class.code_len();
    }

    /// Adds the length of the next record (a label without a code), in half bytes. The caller then adds the half bytes
    /// themselves.
    #[inline(always)]
    pub(super) fn push_length(&mut self, length: u8) {
        self.lengths[self.count] = length;
        self.count += 1;
    }

    /// Appends the lowest `count` half bytes of `bits`, at most 16, to the records. The other bits must be 0.
    #[inline(always)]
    pub(super) fn push_nibbles(&mut self, bits: u64, count: usize) {
        let rest = &mut self.records[self.nibbles / 2..];
        let half = self.nibbles % 2;
        // A mask replaces a branch, because the processor could not predict whether there is half a byte.
        let before = rest[0] & 0u8.wrapping_sub(half as u8);
        rest[..WORD].copy_from_slice(&(u128::from(before) | u128::from(bits) << (4 * half)).to_le_bytes());
        self.nibbles += count;
    }

    /// Appends the finished block to `out`, with 0 as the position of its children, and begins the next block.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        // The slots after the last node are marked as first children, so that the last group of siblings ends before
        // them.
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
