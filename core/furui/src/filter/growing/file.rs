use std::io::{self, Write};
use std::ops::Deref;

use super::super::file::{FilterSource, FilterWriter, META, Stored};
use super::{Bloom, GrowingBloom, MAX_PARTS, Part};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError, Tag};
use crate::hash::KeyHash;

/// The length in bytes of the head of the section `META`, in the file of a growing filter.
const HEAD: usize = 32;
/// The length in bytes of an entry of the section `META`. After the head there is one for each of the [`MAX_PARTS`]
/// possible parts.
const ENTRY: usize = 32;

/// The tag of the section with the bits of the part with the index `i`: `BITA` to `BITZ`.
fn tag(i: usize) -> Tag {
    Tag::new([b'B', b'I', b'T', b'A' + i as u8])
}

impl<M: Deref<Target = [u8]>> Stored<M> for GrowingBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; HEAD + MAX_PARTS * ENTRY];
        put(&mut meta, 0, self.rate.to_bits().to_le_bytes());
        put(&mut meta, 8, (self.parts.len() as u32).to_le_bytes());
        put(&mut meta, 12, self.expansion.to_le_bytes());
        put(&mut meta, 16, self.tightening.to_bits().to_le_bytes());
        for (entry, part) in meta[HEAD..].chunks_mut(ENTRY).zip(&self.parts) {
            put(entry, 0, part.filter.bits().to_le_bytes());
            put(entry, 8, part.filter.capacity().to_le_bytes());
            put(entry, 16, part.keys.to_le_bytes());
            put(entry, 24, part.filter.probes().to_le_bytes());
        }
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        for (i, part) in self.parts.iter().enumerate() {
            out.section(tag(i), Align::Line)?;
            out.write_all(part.filter.table())?;
        }
        Ok(())
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.parts.iter().for_each(|part| part.filter.reads(key, see));
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        let meta: [u8; HEAD + MAX_PARTS * ENTRY] = source.meta()?;
        let (head, entries) = meta.split_at(HEAD);
        let (rate, count) = (f64::from_bits(u64_at(head, 0)), u32_at(head, 8) as usize);
        let zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
        let (expansion, tightening) = (u32_at(head, 12), f64::from_bits(u64_at(head, 16)));
        let is_rate = rate > 0.0 && rate < 1.0;
        if !is_rate || !(1..=MAX_PARTS).contains(&count) || !(0.0..1.0).contains(&tightening) || !zero(&head[24..]) {
            return Err(source.invalid(META, "a growing filter cannot have this rate, tightening or number of parts"));
        }
        let (entries, unused) = entries.split_at(count * ENTRY);
        let tags: Vec<Tag> = std::iter::once(META).chain((0..count).map(tag)).collect();
        source.expect_sections(&tags)?;
        let mut parts = Vec::with_capacity(count);
        for (i, entry) in entries.chunks(ENTRY).enumerate() {
            let (bits, capacity, keys) = (u64_at(entry, 0), u64_at(entry, 8), u64_at(entry, 16));
            // The capacity determines how large the next part will be, so it must not exceed the number of bits in the
            // file.
            if !(1..=bits).contains(&capacity) || keys > capacity || !zero(&entry[28..]) {
                return Err(source.invalid(META, "a part of a growing filter cannot have these numbers of keys"));
            }
            let filter = Bloom::read_table(source, tag(i), bits, u32_at(entry, 24), capacity)?;
            parts.push(Part { filter, keys });
        }
        if !zero(unused) {
            return Err(source.invalid(META, "it describes a part that does not exist"));
        }
        Ok(Self { parts, rate, expansion, tightening, hash: source.envelope.hash() })
    }
}
