//! The size of large blocks, which make look-ups in sets on storage cheaper.

use crate::input::block::MAX_LINES;

/// The maximum size of large blocks. With a set on storage, the keys of a block share one pass over storage: four times
/// as many keys halve the cost of a look-up in a large run.
#[derive(Clone, Copy)]
pub struct LargeBlocks {
    lines: usize,
    /// The memory, in bytes, that one line in each of the blocks takes.
    line: usize,
}

impl LargeBlocks {
    /// The maximum number of lines of a block, for a set with much memory.
    const MOST_LINES: usize = 512 << 10;
    /// The maximum number of lines of a block for a set with little memory, if there are several blocks at a time. A
    /// single block may then have as many lines as any block.
    const LEAST_LINES: usize = 32 << 10;
    /// A block of `n` lines, where `n` is more than [`LEAST_LINES`](Self::LEAST_LINES), needs a set with at least `n` ×
    /// (number of blocks + 1) times this many bytes of memory. So blocks take at most a third of the set's memory.
    const MEMORY_A_LINE: u64 = 128;
    /// The memory, in bytes, that a line takes in the first block: 70 in the lists of hashes and verdicts, and its
    /// share of the text.
    const LINE: usize = 70 + Self::TEXT;
    /// The memory, in bytes, that a line takes in each block after the first: its hash, end and verdict, its place in
    /// the part of a share of the set, and its share of the text.
    const FURTHER: usize = 34 + Self::TEXT;
    /// The text of a large block has at most this many bytes for each line that the block may have.
    const TEXT: usize = 32;
    /// The buffer of an ordinary block is kept for later blocks up to this many bytes, if a long line has made it grow.
    pub const MOST_KEPT: usize = 8 << 20;
    /// The memory that one ordinary block of short lines takes, in bytes. It is not subtracted from the memory of the
    /// set.
    pub const SPARE: u64 = (MAX_LINES * Self::LINE) as u64;

    /// The large blocks for a set with this much memory, if there are at most `blocks` of them at a time. `blocks` is
    /// at least 1.
    pub fn of(memory: u64, blocks: usize) -> Self {
        let lines = memory / (Self::MEMORY_A_LINE * (blocks as u64 + 1));
        let least = if blocks == 1 { MAX_LINES } else { Self::LEAST_LINES };
        Self {
            lines: lines.clamp(least as u64, Self::MOST_LINES as u64) as usize,
            line: Self::LINE + (blocks - 1) * Self::FURTHER,
        }
    }

    /// The memory that all large blocks together take, in bytes. What exceeds [`SPARE`](Self::SPARE) is subtracted from
    /// the memory of the set.
    pub fn bytes(self) -> u64 {
        (self.lines * self.line) as u64
    }

    /// The maximum number of lines of a large block.
    pub fn lines(self) -> usize {
        self.lines
    }

    /// The maximum size of the text of a large block, in bytes.
    pub fn text(self) -> usize {
        self.lines * Self::TEXT
    }
}
