//! Whole records of an input, which usually are lines.

use std::collections::TryReserveError;

use crate::input::split::{BOM, Split};

/// The number of bytes that one read requests. A block of this size stays in the second-level cache from the read to
/// the write.
pub const BLOCK: usize = 512 << 10;
/// The maximum number of lines in a block. It bounds the memory that a block takes in addition to its text, however
/// short the lines are.
pub const MAX_LINES: usize = 128 << 10;
/// The maximum value of `--max-line`. Positions in a block are 32-bit numbers.
pub const MOST_MAX_LINE: u64 = (1 << 32) - 2;

/// Whole records of one input, each with its separator. They are called lines here, though a record of a CSV file may
/// have several.
#[derive(Default)]
pub struct Block {
    /// The lines, followed by bytes that do not belong to the block.
    pub(crate) buffer: Vec<u8>,
    /// The number of bytes at the beginning of the buffer that are lines.
    pub(crate) length: usize,
    /// The byte offsets of the lines' separators in the buffer, ascending. The last one ends the block.
    pub(crate) ends: Vec<u32>,
    /// The name of the input (a path or `standard input`) from which the lines come.
    pub(crate) input: String,
    /// The number of lines of the input in earlier blocks. A line break within quotes ends a line here, too.
    pub(crate) before: u64,
    pub(crate) split: Split,
    /// True if the input has CRs that no LF follows, each of which counts as a line break of CSV.
    pub(crate) lone_cr: bool,
    /// True if the block is the first line of an input, which is its header.
    pub is_header: bool,
    /// True if the block is the first one of an input.
    pub is_first: bool,
}

impl Block {
    /// The bytes of all lines with their separators.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The lines with their separators, to be overwritten.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.length]
    }

    /// The name of the input and the number of the line with this index in the block, for messages.
    pub fn place(&self, index: usize) -> String {
        let earlier = match self.split {
            Split::Lines(_) => index as u64,
            Split::Csv(_) if index == 0 => 0,
            Split::Csv(_) => self.line_breaks(&self.buffer[..self.next_line(index - 1)]),
        };
        format!("{}: line {}", self.input, self.before + earlier + 1)
    }

    /// The byte order mark with which the block begins; empty if there is none.
    pub fn mark(&self) -> &'static [u8] {
        if self.is_first && self.bytes().starts_with(BOM) { BOM } else { b"" }
    }

    /// The name of the input from which the lines come: a path, or `standard input`.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// The byte offset in the block at which the line with this index begins.
    pub fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.next_line(index - 1) }
    }

    /// The line with this index, without its separator.
    pub fn line(&self, index: usize) -> &[u8] {
        &self.buffer[self.start(index)..self.next_line(index) - 1]
    }

    /// Keeps only the first `lines` lines.
    pub fn truncate(&mut self, lines: usize) {
        self.ends.truncate(lines);
        self.length = self.ends.last().map_or(0, |&end| end as usize + 1);
    }

    /// The number of lines in the block.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if the block is so large that there is probably more input.
    pub fn is_plenty(&self) -> bool {
        self.length >= BLOCK / 16
    }

    /// The mean length of the lines in bytes, with their separators.
    pub fn mean_line(&self) -> usize {
        self.length / self.len().max(1) + 1
    }

    /// The byte offset in the block at which the line after the one with this index begins.
    pub fn next_line(&self, index: usize) -> usize {
        self.ends[index] as usize + 1
    }

    /// The lines, without their separators.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let line = &self.buffer[start..end as usize];
            start = end as usize + 1;
            line
        })
    }

    /// The number of lines that the block takes in the input file. A line break within quotes ends such a line, too.
    pub(crate) fn input_lines(&self) -> u64 {
        match self.split {
            Split::Lines(_) => self.len() as u64,
            Split::Csv(_) => self.line_breaks(self.bytes()),
        }
    }

    fn line_breaks(&self, bytes: &[u8]) -> u64 {
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        let is_lone = |&at: &usize| bytes.get(at + 1) != Some(&b'\n');
        let lone = if self.lone_cr { memchr::memchr_iter(b'\r', bytes).filter(is_lone).count() } else { 0 };
        (newlines + lone) as u64
    }

    /// Makes this block a copy of `lines` lines of another block, from the one with the index `first` on. An error
    /// means that there is no memory.
    pub(crate) fn copy(&mut self, other: &Self, first: usize, lines: usize) -> Result<(), TryReserveError> {
        let start = other.start(first);
        let ends = &other.ends[first..first + lines];
        self.length = ends[lines - 1] as usize + 1 - start;
        self.ends.clear();
        self.ends.try_reserve(lines)?;
        if self.buffer.len() < self.length {
            self.buffer.try_reserve(self.length - self.buffer.len())?;
            self.buffer.resize(self.length, 0);
        }
        self.buffer[..self.length].copy_from_slice(&other.buffer[start..start + self.length]);
        self.ends.extend(ends.iter().map(|&end| end - start as u32));
        Ok(())
    }
}
