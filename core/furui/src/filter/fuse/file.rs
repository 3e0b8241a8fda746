use std::io::{self, Write};
use std::ops::Deref;

use super::super::file::{BITS, FilterSource, FilterWriter, META, Stored};
use super::Fuse;
use super::shape::Shape;
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> Stored<M> for Fuse<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, (self.shape.shards() as u64).to_le_bytes());
        put(&mut meta, 8, self.keys.to_le_bytes());
        put(&mut meta, 16, self.shape.width().to_le_bytes());
        put(&mut meta, 20, self.shape.segment().to_le_bytes());
        put(&mut meta, 24, (self.shape.starts() as u64).to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.table)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        // The places depend on the multiplier: if it is damaged, so are they, but then the error is known already.
        see(&self.table[self.shape.multiplier_of(key)..][..8]);
        for bit in self.shape.find(&self.table, key).bits {
            see(&self.table[bit / 8..][..4]);
        }
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let (shards, starts) = (u64_at(&meta, 0), u64_at(&meta, 24));
        let shape = Shape::new(shards, starts, u32_at(&meta, 20), u32_at(&meta, 16))
            .ok_or_else(|| source.invalid(META, "a fuse filter cannot have these sizes"))?;
        let table = source.table(BITS, shape.bytes() as u64)?;
        Ok(Self { table, shape, keys: u64_at(&meta, 8), hash: source.envelope.hash() })
    }
}
