use std::io::{self, Write};
use std::ops::Deref;

use super::super::file::{BITS, META, Source, Stored, Writer};
use super::super::probes::MAX_PROBES;
use super::{Bloom, MAX_BITS};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, Kind, ReadError};

impl<M: Deref<Target = [u8]>> Stored<M> for Bloom<M> {
    const KIND: Kind = Kind::Bloom;

    fn write(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.bits.to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        put(&mut meta, 16, self.probes.to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.words)
    }

    fn read<S: Source<Bytes = M>>(source: &S) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let (bits, capacity, probes) = (u64_at(&meta, 0), u64_at(&meta, 8), u32_at(&meta, 16));
        if !(1..=MAX_BITS).contains(&bits) || !(1..=MAX_PROBES).contains(&probes) || meta[20..].iter().any(|&b| b != 0)
        {
            return Err(source.invalid(META, "no Bloom filter has these numbers of bits and probes"));
        }
        let words = source.table(BITS, bits.div_ceil(64) * 8)?;
        if bits % 64 != 0 && words.last_chunk().is_none_or(|&last| u64::from_le_bytes(last) >> (bits % 64) != 0) {
            return Err(source.invalid(BITS, "a bit beyond the last is set"));
        }
        Ok(Self { words, bits, probes, capacity, hash: source.envelope().hash() })
    }
}
