use std::io::{self, Write};
use std::ops::Deref;

use super::super::file::{BITS, FilterSource, FilterWriter, META, Stored};
use super::super::probes::{MAX_PROBES, positions, salted_positions};
use super::{Bloom, MAX_BITS};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError, Tag};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> Stored<M> for Bloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.bits.to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        put(&mut meta, 16, self.probes.to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.words)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        let read = |position: usize| see(&self.words[position / 8..][..1]);
        if self.salted() {
            salted_positions(key, self.probes, self.bits as usize).for_each(read);
        } else {
            positions(key, self.probes, self.bits as usize).for_each(read);
        }
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        if meta[20..].iter().any(|&byte| byte != 0) {
            return Err(source.invalid(META, "a reserved byte is not zero"));
        }
        Self::read_table(source, BITS, u64_at(&meta, 0), u32_at(&meta, 16), u64_at(&meta, 8))
    }
}

impl<M: Deref<Target = [u8]>> Bloom<M> {
    /// The table of bits, as it is stored in the filter's file.
    pub(crate) fn table(&self) -> &[u8] {
        &self.words
    }

    /// Reads the filter whose bits are the section `tag`, with the sizes that `META` has.
    ///
    /// # Errors
    /// [`ReadError::Format`] if no filter has these sizes, if the section does not fit them, or if a bit after the last
    /// is set; [`ReadError::Io`].
    pub(in crate::filter) fn read_table(
        source: &FilterSource<'_, M>,
        tag: Tag,
        bits: u64,
        probes: u32,
        capacity: u64,
    ) -> Result<Self, ReadError> {
        if !(1..=MAX_BITS).contains(&bits) || !(1..=MAX_PROBES).contains(&probes) {
            return Err(source.invalid(META, "a Bloom filter cannot have these numbers of bits and probes"));
        }
        let words = source.table(tag, bits.div_ceil(64) * 8)?;
        if usize::try_from(bits).is_err() {
            return Err(source.too_large());
        }
        if !bits.is_multiple_of(64)
            && words.last_chunk().is_none_or(|&last| u64::from_le_bytes(last) >> (bits % 64) != 0)
        {
            return Err(source.invalid(tag, "a bit beyond the last is set"));
        }
        Ok(Self { words, bits, probes, capacity, hash: source.envelope.hash() })
    }
}
