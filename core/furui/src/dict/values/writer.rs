use std::io::{self, BufWriter, Write};
use std::ops::Range;

use super::head::ValueHead;
use super::{BLOCK, DATA, ENTRY_LEN, INDEX, META, META_END, META_FIRST, META_LEN};
use crate::format::field::put;
use crate::format::{Align, EnvelopeWriter, Kind, Seal, buffered};
use crate::hash::HashSpec;

/// The size of the buffer of a file of values that is being written, in bytes. A larger value is written directly.
const GATHERED: usize = 64 << 10;

/// A writer of a file of values, which are pushed in the order of their ids.
///
/// Memory: 64 KiB, and 12 bytes for each block of values. Every block but the last has at least 1 KiB.
pub(in crate::dict) struct ValueWriter<W: Write> {
    out: BufWriter<EnvelopeWriter<W>>,
    /// The index of the file: the first id and the offset of each block of values.
    index: Vec<u8>,
    head: Vec<u8>,
    /// The number of bytes of data that were written so far.
    written: u64,
    /// The offset in the data at which the last block of values begins.
    block: u64,
    /// The id of the value that was written last.
    last: u32,
}

impl<W: Write> ValueWriter<W> {
    /// Begins a file of `count` values in `out`. The range `ids` begins with the first id, and ends after the last one.
    pub(in crate::dict) fn new(out: W, count: u64, ids: Range<u32>) -> io::Result<Self> {
        let mut out = EnvelopeWriter::new(out, Kind::Values, HashSpec::default())?;
        let mut meta = [0; META_LEN];
        put(&mut meta, 0, count.to_le_bytes());
        put(&mut meta, META_FIRST, ids.start.to_le_bytes());
        put(&mut meta, META_END, ids.end.to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(DATA, Align::Line)?;
        let out = buffered(GATHERED, out)?;
        Ok(Self { out, index: vec![], head: vec![], written: 0, block: 0, last: ids.start })
    }

    /// Writes the value with this id, which must be greater than the id of the value before it.
    pub(in crate::dict) fn push(&mut self, id: u32, value: &[u8]) -> io::Result<()> {
        if self.index.is_empty() || self.written - self.block >= BLOCK {
            self.index.try_reserve(ENTRY_LEN).map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.index.extend(id.to_le_bytes());
            self.index.extend(self.written.to_le_bytes());
            self.block = self.written;
        }
        self.head.clear();
        ValueHead { step: id - self.last, length: value.len() as u32 }.write(&mut self.head);
        self.last = id;
        self.out.write_all(&self.head)?;
        self.out.write_all(value)?;
        self.written += (self.head.len() + value.len()) as u64;
        Ok(())
    }

    /// Completes the file by writing the index, after all values were pushed.
    pub(in crate::dict) fn finish(self) -> io::Result<Seal> {
        let mut out = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        out.section(INDEX, Align::Line)?;
        out.write_all(&self.index)?;
        out.finish()
    }
}
