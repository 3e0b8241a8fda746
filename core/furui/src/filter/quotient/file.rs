use std::io::{self, Write};
use std::ops::Deref;

use super::QuotientFilter;
use super::shape::Shape;
use super::slot_table::SlotTable;
use crate::filter::file::{BITS, FilterSource, FilterWriter, META, Stored};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> Stored<M> for QuotientFilter<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; 40];
        put(&mut meta, 0, self.shape.slots.to_le_bytes());
        put(&mut meta, 8, self.shape.last.to_le_bytes());
        put(&mut meta, 16, self.len.to_le_bytes());
        put(&mut meta, 24, self.distinct.to_le_bytes());
        put(&mut meta, 32, u32::from(self.counting).to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(self.table.as_bytes())
    }

    fn reads(&self, _: KeyHash, see: &mut dyn FnMut(&[u8])) {
        // A lookup may read a cluster of any length. Opening the file reads the whole table anyway.
        see(self.table.as_bytes());
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 40] = source.meta()?;
        let (slots, last, len, distinct) = (u64_at(&meta, 0), u64_at(&meta, 8), u64_at(&meta, 16), u64_at(&meta, 24));
        let shape = Shape::new(slots, last).ok().filter(|shape| len <= shape.capacity);
        let (Some(shape), counting @ 0..=1, 0) = (shape, u32_at(&meta, 32), u32_at(&meta, 36)) else {
            return Err(source.invalid(META, "a quotient filter cannot have these numbers of slots and fingerprints"));
        };
        let table = SlotTable::over(source.table(BITS, SlotTable::bytes(&shape))?, &shape);
        let hash = source.envelope.hash();
        let filter = Self { len, distinct, counting: counting == 1, hash, ..Self::over(table, shape) };
        filter.check().map_err(|what| source.invalid(BITS, what))?;
        Ok(filter)
    }
}
