use std::io::{self, Write};
use std::ops::Deref;

use super::probing::Shape;
use super::spread::Spread;
use super::{BlockedBloom, check_parts};
use crate::bits::arch::{Line, Lines};
use crate::filter::file::{BITS, META, Source, Stored, Writer};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, Kind, ReadError};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> Stored<M> for BlockedBloom<M> {
    const KIND: Kind = Kind::BlockedBloom;

    fn write(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.lines().to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        put(&mut meta, 16, self.probes().to_le_bytes());
        put(&mut meta, 20, (u32::from(self.straddles()) + 2 * u32::from(self.patterned())).to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.table)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        // The neighbour too, whether the key has bits there or not: it seldom lies in another region.
        let pair = Shape::whole(self.table().len(), self.spread).line(key) / 2 * 2 * size_of::<Line>();
        see(&self.table[pair..self.table.len().min(pair + 2 * size_of::<Line>())]);
    }

    fn read<S: Source<Bytes = M>>(source: &S) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let (lines, capacity) = (u64_at(&meta, 0), u64_at(&meta, 8));
        let spread = match (u32_at(&meta, 16), u32_at(&meta, 20)) {
            (probes, 0) => Spread::of(probes),
            (8, 1) => Some(Spread::STRADDLING),
            (9, 2) => Some(Spread::PATTERNED),
            _ => None,
        };
        let spread = spread.filter(|&spread| check_parts(lines, spread).is_ok() && meta[24..] == [0; 8]);
        let spread = spread.ok_or_else(|| {
            source.invalid(
                META,
                "no blocked Bloom filter has these numbers of lines and probes, or keys that straddle or have patterns so",
            )
        })?;
        let table = source.table(BITS, lines * size_of::<Line>() as u64)?;
        Ok(Self { table, spread, capacity, hash: source.envelope().hash(), vectors: Lines::detect() })
    }
}
