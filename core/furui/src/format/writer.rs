use std::fmt;
use std::io::{self, Write};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::field::put;
use super::header::{Header, SeedPlace};
use super::layout::*;
use super::sums::Sums;
use super::{Align, Kind, Seal, Section, Tag};
use crate::hash::{HashSpec, KeyForm};

/// Writes a file's envelope front to back: header, sections as they come, table, footer.
///
/// Bytes are written into the section that was begun last. No section is buffered: the table that says where the
/// sections lie comes at the end. Memory: constant, and for kinds of file with checksums of regions 4 bytes for each
/// 4096 of the file.
///
/// ```
/// use std::io::Write;
/// use furui::HashSpec;
/// use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
///
/// let mut file = Vec::new();
/// let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?;
/// writer.section(Tag::new(*b"KEYS"), Align::Line)?;
/// writer.write_all(b"some bytes")?;
/// let seal = writer.finish()?;
/// assert_eq!(Envelope::open(file.as_slice(), "example")?.seal(), seal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EnvelopeWriter<W> {
    out: W,
    header: [u8; HEADER_LEN],
    written: u64,
    sections: Vec<Section>,
    hasher: Xxh3Default,
    /// The checksums of regions, computed while the file is written; `None` for kinds of file that have none.
    sums: Option<Sums>,
}

impl<W> fmt::Debug for EnvelopeWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvelopeWriter")
            .field("written", &self.written)
            .field("sections", &self.sections)
            .finish_non_exhaustive()
    }
}

impl<W: Write> EnvelopeWriter<W> {
    /// Begins a file: writes the header to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, kind: Kind, hash: HashSpec) -> io::Result<Self> {
        Self::begin(out, Header::new(kind, hash))
    }

    /// Begins a file that does not hold the seed of its hash; its readers must know the seed. The file has the seed's
    /// [fingerprint](HashSpec::seed_fingerprint), which tells whether a reader's seed is the right one. The `kind` must
    /// be a kind of filter.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn without_seed(out: W, kind: Kind, hash: HashSpec) -> io::Result<Self> {
        Self::begin(out, Header::without_seed(kind, hash))
    }

    /// Begins a file that does not hold the seed of its hash, for a caller who does not know the seed either: `hash`
    /// has the seed's fingerprint in its place.
    pub(crate) fn with_fingerprint(out: W, kind: Kind, hash: HashSpec) -> io::Result<Self> {
        Self::begin(out, Header { kind, hash, seed: SeedPlace::Elsewhere })
    }

    fn begin(out: W, header: Header) -> io::Result<Self> {
        let kind = header.kind;
        let header = header.encode();
        let sums = kind.has_sums().then(Sums::default);
        let hasher = Xxh3Default::new();
        let mut writer = Self { out, header, written: 0, sections: Vec::new(), hasher, sums };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Ends the current section, and begins a new one, to which all later bytes belong.
    ///
    /// # Errors
    /// Those of `out`; [`InvalidInput`](io::ErrorKind::InvalidInput) if the file has a section of this tag already, or
    /// has [`MAX_SECTIONS`] sections.
    pub fn section(&mut self, tag: Tag, align: Align) -> io::Result<()> {
        if self.sections.len() == MAX_SECTIONS || self.sections.iter().any(|section| section.tag == tag) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("the file already has a section {tag}, or {MAX_SECTIONS} sections"),
            ));
        }
        self.end_section();
        self.pad(align)?;
        self.sections.push(Section { tag, align, offset: self.written, length: 0, checksum: 0 });
        Ok(())
    }

    /// Writes the form of the keys (the way in which they were made from records) as the section that
    /// [`Envelope::key_form`](super::Envelope::key_form) reads. This section must be the last one. For the empty form,
    /// no section is written.
    ///
    /// # Errors
    /// Those of [`section`](Self::section).
    pub fn key_form(&mut self, form: &KeyForm) -> io::Result<()> {
        if form.is_empty() {
            return Ok(());
        }
        self.section(FORM, Align::Line)?;
        self.write_all(form.as_str().as_bytes())
    }

    /// Ends the last section, writes table and footer, and flushes `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<Seal> {
        self.end_section();
        self.pad(Align::Line)?;
        let mut root = 0;
        if let Some(sums) = self.sums.take() {
            let levels;
            (levels, root) = sums.finish();
            let (offset, length) = (self.written, levels.len() as u64);
            let checksum = xxh3_64(&levels);
            self.sections.push(Section { tag: SUMS, align: Align::Line, offset, length, checksum });
            self.put(&levels)?;
            self.pad(Align::Line)?;
        }
        let table_offset = self.written;
        let mut end = vec![0; self.sections.len() * ENTRY_LEN + FOOTER_LEN];
        let length = table_offset + end.len() as u64;
        let (table, footer) = end.split_at_mut(self.sections.len() * ENTRY_LEN);
        for (entry, section) in table.chunks_exact_mut(ENTRY_LEN).zip(&self.sections) {
            put(entry, ENTRY_TAG, section.tag.bytes());
            put(entry, ENTRY_ALIGN, section.align.bytes().to_le_bytes());
            put(entry, ENTRY_OFFSET, section.offset.to_le_bytes());
            put(entry, ENTRY_LENGTH, section.length.to_le_bytes());
            put(entry, ENTRY_CHECKSUM, section.checksum.to_le_bytes());
        }
        put(footer, FOOTER_TABLE, table_offset.to_le_bytes());
        put(footer, FOOTER_COUNT, (self.sections.len() as u32).to_le_bytes());
        put(footer, FOOTER_FILE_LEN, length.to_le_bytes());
        put(footer, FOOTER_SUMS, root.to_le_bytes());
        put(footer, FOOTER_END_MAGIC, END_MAGIC);
        let checksum = seal_checksum(&self.header, table, footer);
        put(footer, FOOTER_CHECKSUM, checksum.to_le_bytes());
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok(Seal { length, checksum })
    }

    fn end_section(&mut self) {
        if let Some(section) = self.sections.last_mut() {
            section.length = self.written - section.offset;
            section.checksum = self.hasher.digest();
            self.hasher.reset();
        }
    }

    fn pad(&mut self, align: Align) -> io::Result<()> {
        const ZEROS: [u8; Align::Page.bytes() as usize] = [0; Align::Page.bytes() as usize];
        let padding = (self.written.wrapping_neg() % u64::from(align.bytes())) as usize;
        self.put(&ZEROS[..padding])
    }

    /// Writes bytes that belong to no section, such as the header, the table or padding.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.count(bytes);
        Ok(())
    }

    fn count(&mut self, written: &[u8]) {
        if let Some(sums) = &mut self.sums {
            sums.update(written);
        }
        self.written += written.len() as u64;
    }
}

impl<W: Write> Write for EnvelopeWriter<W> {
    /// Writes bytes into the section that was begun last.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.sections.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no section was begun"));
        }
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.count(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Computes the checksum in the footer, which covers the header, the table, and the footer up to the checksum.
pub(super) fn seal_checksum(header: &[u8], table: &[u8], footer: &[u8]) -> u64 {
    let mut hasher = Xxh3Default::new();
    hasher.update(header);
    hasher.update(table);
    hasher.update(&footer[..FOOTER_CHECKSUM]);
    hasher.digest()
}
