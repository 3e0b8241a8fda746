use std::io::{self, Write};
use std::ops::Deref;

use super::kernel::{self, Line};
use super::layout::Layout;
use super::{BlockedBloom, check_parts};
use crate::bits::Cpu;
use crate::filter::file::{BITS, FilterSource, FilterWriter, META, Stored};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> Stored<M> for BlockedBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.lines().to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        put(&mut meta, 16, self.probes().to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.table)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        // The neighbouring line is included even if the key has no bits there, because both lines are usually in one
        // region.
        let pair = kernel::line_of(key, self.table().len()) / 2 * 2 * size_of::<Line>();
        see(&self.table[pair..self.table.len().min(pair + 2 * size_of::<Line>())]);
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let (lines, capacity) = (u64_at(&meta, 0), u64_at(&meta, 8));
        let layout = Layout::of(u32_at(&meta, 16));
        let layout = layout.filter(|&layout| check_parts(lines, layout).is_ok() && meta[20..] == [0; 12]);
        let layout = layout.ok_or_else(|| {
            source.invalid(META, "a blocked Bloom filter cannot have these numbers of lines and probes")
        })?;
        let table = source.table(BITS, lines * size_of::<Line>() as u64)?;
        Ok(Self { table, layout, capacity, hash: source.envelope.hash(), cpu: Cpu::detect() })
    }
}
