use std::io::{self, Write};
use std::ops::Deref;

use super::cells::{ALL, CellLine, Ranges, SLICES, each_line};
use super::part::{MAX_LINES, MAX_RANGES, Part};
use super::{MAX_TABLES, WindowBloom};
use crate::filter::file::{FilterSource, FilterWriter, META, Stored};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError, Tag};
use crate::hash::KeyHash;
use crate::window::Window;

/// The length in bytes of the head of the section `META`, in the file of a filter with a window.
const HEAD: usize = 48;
/// The length in bytes of an entry of the section `META`. After the head there is one for each of the [`MAX_TABLES`]
/// possible tables.
const ENTRY: usize = 24 + 8 * SLICES;

/// The tag of the section with the table of the index `i`: `BITA` to `BITZ`.
fn tag(i: usize) -> Tag {
    Tag::new([b'B', b'I', b'T', b'A' + i as u8])
}

impl<M: Deref<Target = [u8]>> Stored<M> for WindowBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; HEAD + MAX_TABLES * ENTRY];
        put(&mut meta, 0, self.rate.to_bits().to_le_bytes());
        put(&mut meta, 8, self.capacity.to_le_bytes());
        put(&mut meta, 16, self.span.ticks().to_le_bytes());
        put(&mut meta, 24, self.now.to_le_bytes());
        put(&mut meta, 32, self.span.code().to_le_bytes());
        put(&mut meta, 36, (self.slice as u32).to_le_bytes());
        put(&mut meta, 40, (self.parts.len() as u32).to_le_bytes());
        for (entry, part) in meta[HEAD..].chunks_mut(ENTRY).zip(&self.parts) {
            put(entry, 0, (part.lines().len() as u64).to_le_bytes());
            put(entry, 8, part.room.to_le_bytes());
            put(entry, 16, (part.ranges.count as u32).to_le_bytes());
            put(entry, 20, part.stale.to_le_bytes());
            for (i, keys) in part.keys.iter().enumerate() {
                put(entry, 24 + 8 * i, keys.to_le_bytes());
            }
        }
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        for (i, part) in self.parts.iter().enumerate() {
            out.section(tag(i), Align::Line)?;
            out.write_all(&part.table)?;
        }
        Ok(())
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        self.parts.iter().for_each(|part| each_line(part.lines(), part.ranges, key, |line| see(line)));
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        let meta: [u8; HEAD + MAX_TABLES * ENTRY] = source.meta()?;
        let (head, entries) = meta.split_at(HEAD);
        let (rate, capacity, now) = (f64::from_bits(u64_at(head, 0)), u64_at(head, 8), u64_at(head, 24));
        let span = Window::from_code(u32_at(head, 32), u64_at(head, 16));
        let (slice, count) = (u32_at(head, 36) as usize, u32_at(head, 40) as usize);
        let is_sound = rate > 0.0 && rate < 1.0 && slice < SLICES && (1..=MAX_TABLES).contains(&count);
        let Some(span) = span.filter(|_| is_sound && u32_at(head, 44) == 0) else {
            return Err(source.invalid(META, "a filter cannot have this window, rate, slice or number of tables"));
        };
        let (entries, unused) = entries.split_at(count * ENTRY);
        let tags: Vec<Tag> = std::iter::once(META).chain((0..count).map(tag)).collect();
        source.expect_sections(&tags)?;
        let mut parts = Vec::with_capacity(count);
        for (i, entry) in entries.chunks(ENTRY).enumerate() {
            let (lines, room) = (u64_at(entry, 0), u64_at(entry, 8));
            let (ranges, stale) = (u32_at(entry, 16), u32_at(entry, 20));
            let keys: [u64; SLICES] = std::array::from_fn(|i| u64_at(entry, 24 + 8 * i));
            // The room determines how large the next table will be, so it must not exceed the number of bits in the
            // file.
            let is_sound = (1..=MAX_LINES).contains(&lines)
                && (1..=MAX_RANGES).contains(&ranges)
                && lines.is_multiple_of(ranges.into())
                && (1..=lines * 8 * size_of::<CellLine>() as u64).contains(&room)
                && keys.iter().all(|&keys| keys <= room)
                && stale & !ALL == 0;
            if !is_sound {
                return Err(source.invalid(META, "a table of a filter cannot have this size, or these numbers of keys"));
            }
            let table = source.table(tag(i), lines * size_of::<CellLine>() as u64)?;
            let ranges = Ranges { count: ranges as usize, lines: (lines / u64::from(ranges)) as usize };
            parts.push(Part { table, ranges, room, keys, stale });
        }
        if unused.iter().any(|&byte| byte != 0) {
            return Err(source.invalid(META, "it describes a table that does not exist"));
        }
        let end = span.end_of(span.slice_of(now));
        Ok(Self { span, now, end, slice, capacity, rate, parts, hash: source.envelope.hash() })
    }
}
