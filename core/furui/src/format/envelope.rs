use std::io;
use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::field::{array_at, u32_at, u64_at};
use super::header::{Header, SeedPlace};
use super::layout::*;
use super::sums::{Sums, level_lengths};
use super::writer::seal_checksum;
use super::{Align, Bytes, FormatError, Kind, Problem, ReadAt, ReadError, Regions, Seal, Section, Tag};
use crate::hash::{HashSpec, KeyForm};

/// If a file has no footer at its end, an earlier footer is searched for in this many bytes before the end, so that the
/// error can say that bytes were appended.
const GROWTH: usize = 1 << 20;

/// The number of bytes that [`Envelope::verify`] reads at a time.
const VERIFY_CHUNK: usize = 256 << 10;

/// The envelope of a file: its kind, the hash of its keys, and where its sections lie.
///
/// Opening reads and checks the header, the table and the footer, a few hundred bytes. A section is checked when it is
/// read whole ([`read_section`](Self::read_section)), and all of them by [`verify`](Self::verify), which reads
/// everything. An envelope does not hold the file: each call takes the file, so that the caller decides how long the
/// file lives.
///
/// ```
/// use std::io::Write;
/// use furui::HashSpec;
/// use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
///
/// let mut file = Vec::new();
/// let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?;
/// writer.section(Tag::new(*b"FORM"), Align::Line)?;
/// writer.write_all(b"some bytes")?;
/// writer.finish()?;
///
/// let envelope = Envelope::open(&file[..], "example")?;
/// assert_eq!(envelope.read_section(&file[..], Tag::new(*b"FORM"), 100)?, b"some bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    name: String,
    kind: Kind,
    hash: HashSpec,
    seed: SeedPlace,
    sections: Vec<Section>,
    /// The place of the checksums of the file's regions; `None` if files of its kind have none.
    sums: Option<RegionSums>,
    seal: Seal,
}

/// The place of the checksums of a file's regions, and the checksum of the last level of these checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RegionSums {
    section: Section,
    root: u64,
}

impl Envelope {
    /// Reads and checks the envelope of `file`, which errors call `name`.
    ///
    /// # Errors
    /// [`ReadError::Format`] if these are not the header, table and footer of a whole file of this version.
    pub fn open(file: &(impl ReadAt + ?Sized), name: &str) -> Result<Self, ReadError> {
        Reader { file, name }.open()
    }

    /// The file's name in errors, as it was given to [`open`](Self::open).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind of the file, which says what its sections mean.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The spec by which the keys in the file were hashed. If the [seed is elsewhere](Self::seed_is_elsewhere), the
    /// spec has the seed's fingerprint in its place, and must not be used to hash.
    pub fn hash(&self) -> HashSpec {
        self.hash
    }

    /// True if the file does not hold the seed of its hash, but only its
    /// [fingerprint](HashSpec::seed_fingerprint).
    pub fn seed_is_elsewhere(&self) -> bool {
        self.seed == SeedPlace::Elsewhere
    }

    /// Returns this envelope with the seed, which its file does not hold. For a file that holds its seed, this method
    /// only compares the two seeds.
    ///
    /// # Errors
    /// [`Problem::OtherSeed`] if the file was made with another seed.
    pub fn with_seed(mut self, seed: u64) -> Result<Self, FormatError> {
        let hash = HashSpec { seed, ..self.hash };
        let fits = match self.seed {
            SeedPlace::File => hash == self.hash,
            SeedPlace::Elsewhere => hash.seed_fingerprint() == self.hash.seed,
        };
        if !fits {
            return Err(self.error(HEADER_SEED as u64, Problem::OtherSeed));
        }
        (self.hash, self.seed) = (hash, SeedPlace::File);
        Ok(self)
    }

    /// Returns this envelope with the fingerprint of the seed in place of the seed, as in a file that does not hold its
    /// seed.
    pub(crate) fn without_seed(mut self) -> Self {
        if self.seed == SeedPlace::File {
            (self.hash.seed, self.seed) = (self.hash.seed_fingerprint(), SeedPlace::Elsewhere);
        }
        self
    }

    /// Returns an error if the seed of the file's hash is not known.
    pub(crate) fn expect_seed(&self) -> Result<(), FormatError> {
        match self.seed {
            SeedPlace::File => Ok(()),
            SeedPlace::Elsewhere => Err(self.error(HEADER_SEED as u64, Problem::NoSeed)),
        }
    }

    /// The length and the checksum that identify the file.
    pub fn seal(&self) -> Seal {
        self.seal
    }

    /// All sections in the order of the file, without the checksums of its regions.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The section with this tag.
    ///
    /// # Errors
    /// [`Problem::NoSection`] if there is none.
    pub fn section(&self, tag: Tag) -> Result<&Section, FormatError> {
        self.sections
            .iter()
            .find(|section| section.tag == tag)
            .ok_or_else(|| self.error(self.seal.length - FOOTER_LEN as u64, Problem::NoSection(tag)))
    }

    /// The regions of the file, whose bytes are `file`, for checking them one by one; none of them is checked yet.
    /// `None` if files of this kind have no checksums of regions.
    pub(crate) fn regions(&self, file: &Bytes) -> Option<Regions> {
        let RegionSums { section, root } = self.sums?;
        // The length of the file is that of these bytes, and the section lies inside.
        Some(Regions::new(&self.name, file.clone(), section.offset as usize, root))
    }

    /// Creates the error that this file has `problem` at `offset`, for a caller that reads a section itself.
    pub fn error(&self, offset: u64, problem: Problem) -> FormatError {
        FormatError { file: self.name.clone(), offset, problem }
    }

    /// Returns an error if the file is not of this kind.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] if it is of another kind.
    pub(crate) fn expect_kind(&self, expected: Kind) -> Result<(), FormatError> {
        if self.kind == expected {
            return Ok(());
        }
        Err(self.error(HEADER_KIND as u64, Problem::WrongKind { found: self.kind, expected }))
    }

    /// Returns an error if the file's keys were hashed by another spec.
    ///
    /// # Errors
    /// [`Problem::OtherHash`] if they were hashed by another spec.
    pub(crate) fn expect_hash(&self, expected: HashSpec) -> Result<(), FormatError> {
        if self.hash == expected {
            return Ok(());
        }
        Err(self.error(HEADER_ALGORITHM as u64, Problem::OtherHash { found: self.hash, expected }))
    }

    /// Reads a whole section and checks its checksum. `limit` is the maximum length of this section in a valid file; it
    /// bounds the memory that an invalid file takes.
    ///
    /// # Errors
    /// [`ReadError::Format`] if there is no such section, or it is longer than `limit`, or damaged.
    pub fn read_section(&self, file: &(impl ReadAt + ?Sized), tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError> {
        let section = self.section(tag)?;
        let length = usize::try_from(section.length).ok().filter(|&length| length <= limit).ok_or_else(|| {
            self.error(section.offset, Problem::TooLong { length: section.length, limit: limit as u64 })
        })?;
        let mut bytes = vec![0; length];
        Reader { file, name: &self.name }.read(section.offset, &mut bytes)?;
        if xxh3_64(&bytes) != section.checksum {
            return Err(self.error(section.offset, Problem::Checksum).into());
        }
        Ok(bytes)
    }

    /// The form of the file's keys: the way in which they were made from records. It is the content of the last
    /// section, `FORM`, or the empty form if there is no such section.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the section is not a valid [`KeyForm`], is damaged, or is not the last.
    pub fn key_form(&self, file: &(impl ReadAt + ?Sized)) -> Result<KeyForm, ReadError> {
        if self.section(FORM).is_err() {
            return Ok(KeyForm::default());
        }
        let text = self.read_section(file, FORM, KeyForm::MAX_BYTES)?;
        let form = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
        // An empty form has no section.
        form.filter(|form: &KeyForm| !form.is_empty()).ok_or_else(|| {
            let offset = self.section(FORM).map_or(0, |section| section.offset);
            self.error(offset, Problem::Invalid("the section FORM does not say how keys are made")).into()
        })
    }

    /// The sections that the file's kind prescribes: all except the section `FORM`, which says how keys are made from
    /// records.
    pub(crate) fn own_sections(&self) -> &[Section] {
        match self.sections() {
            [own @ .., last] if last.tag == FORM => own,
            all => all,
        }
    }

    /// Checks that the file has the sections `required` and, after them, some of `optional`, in this order.
    ///
    /// # Errors
    /// [`Problem::UnknownSection`] if a section is none of these: a newer furui wrote the file, because the envelope is
    /// whole. [`Problem::Invalid`] if a section is missing or at another place.
    pub(crate) fn expect_sections(&self, required: &[Tag], optional: &[Tag]) -> Result<(), FormatError> {
        let own = self.own_sections().iter().map(|section| section.tag);
        if let Some(tag) = own.clone().find(|tag| !required.contains(tag) && !optional.contains(tag)) {
            let offset = self.section(tag).map_or(0, |section| section.offset);
            return Err(self.error(offset, Problem::UnknownSection(tag)));
        }
        let there = |tag: &Tag| own.clone().any(|own| own == *tag);
        if own.clone().eq(required.iter().chain(optional.iter().filter(|tag| there(tag))).copied()) {
            return Ok(());
        }
        Err(self.error(0, Problem::Invalid("its sections are not those of its kind")))
    }

    /// Reads and checks every byte of the file in order: the sections by their checksums, the padding, which must be
    /// zero, the envelope again, and the checksums of regions, if the file has them. This takes 256 KiB of memory, and
    /// for the checksums of regions 1/512 of the file's length.
    ///
    /// # Errors
    /// [`ReadError::Format`] with the offset of the damaged byte if it is in padding, and otherwise with the offset of
    /// the damaged section.
    pub fn verify(&self, file: &(impl ReadAt + ?Sized)) -> Result<(), ReadError> {
        let reader = Reader { file, name: &self.name };
        if reader.open()? != *self {
            return Err(self.error(0, Problem::Invalid("the file changed since it was opened")).into());
        }
        let mut sums = self.sums.map(|_| Sums::default());
        let mut header = [0; HEADER_LEN];
        reader.read(0, &mut header)?;
        sums.iter_mut().for_each(|sums| sums.update(&header));
        let mut end = HEADER_LEN as u64;
        for section in &self.sections {
            reader.check_padding(end..section.offset, &mut sums)?;
            end = section.offset + section.length;
            let mut hasher = Xxh3Default::new();
            reader.for_each_chunk(section.offset..end, |_, chunk| {
                hasher.update(chunk);
                sums.iter_mut().for_each(|sums| sums.update(chunk));
                Ok(())
            })?;
            if hasher.digest() != section.checksum {
                return Err(self.error(section.offset, Problem::Checksum).into());
            }
        }
        if let Some(RegionSums { section, root }) = self.sums {
            reader.check_padding(end..section.offset, &mut sums)?;
            end = section.offset + section.length;
            let mut found = vec![0; section.length as usize];
            reader.read(section.offset, &mut found)?;
            if xxh3_64(&found) != section.checksum || sums.take().map(Sums::finish) != Some((found, root)) {
                return Err(self.error(section.offset, Problem::Checksum).into());
            }
        }
        reader.check_padding(end..self.table_offset(), &mut sums)
    }

    fn table_offset(&self) -> u64 {
        let sections = self.sections.len() + usize::from(self.sums.is_some());
        self.seal.length - (sections * ENTRY_LEN + FOOTER_LEN) as u64
    }
}

/// A file that is being read, and its name in errors.
struct Reader<'a, F: ?Sized> {
    file: &'a F,
    name: &'a str,
}

impl<F: ReadAt + ?Sized> Reader<'_, F> {
    fn open(&self) -> Result<Envelope, ReadError> {
        let length = self.file.len();
        let (header, Header { kind, hash, seed }) = self.header(length)?;
        let (mut sections, root, checksum) = self.sections(length, &header)?;
        let mut sums = None;
        if kind.has_sums() {
            let section = sections.pop().filter(|section| {
                let expected = level_lengths(section.offset).into_iter().sum::<u64>();
                section.tag == SUMS && section.align == Align::Line && section.length == expected
            });
            let section = section.ok_or_else(|| {
                self.error(
                    length - FOOTER_LEN as u64,
                    Problem::Invalid("the checksums of the file's regions are missing"),
                )
            })?;
            sums = Some(RegionSums { section, root });
        } else if root != 0 {
            let at = length - (FOOTER_LEN - FOOTER_SUMS) as u64;
            return Err(self.error(at, Problem::Invalid("a reserved byte is not zero")));
        }
        Ok(Envelope { name: self.name.to_owned(), kind, hash, seed, sections, sums, seal: Seal { length, checksum } })
    }

    fn header(&self, length: u64) -> Result<([u8; HEADER_LEN], Header), ReadError> {
        let mut bytes = [0; HEADER_LEN];
        let found = HEADER_LEN.min(usize::try_from(length).unwrap_or(HEADER_LEN));
        self.read(0, &mut bytes[..found])?;
        let header = Header::decode(&bytes[..found], length, (HEADER_LEN + FOOTER_LEN) as u64, self.name)?;
        Ok((bytes, header))
    }

    /// Reads the table of sections and the footer. Returns the sections, the checksum of the last level of region
    /// checksums, and the footer's checksum.
    fn sections(&self, length: u64, header: &[u8]) -> Result<(Vec<Section>, u64, u64), ReadError> {
        let footer_offset = length - FOOTER_LEN as u64;
        let mut footer = [0; FOOTER_LEN];
        self.read(footer_offset, &mut footer)?;
        if footer[FOOTER_END_MAGIC..] != END_MAGIC {
            let problem = self.grown(length)?.unwrap_or(Problem::NoEnd);
            return Err(self.error(footer_offset + FOOTER_END_MAGIC as u64, problem));
        }
        let expected = u64_at(&footer, FOOTER_FILE_LEN);
        if expected > length {
            return Err(self.error(length, Problem::Truncated { expected, found: length }));
        }
        let count = u32_at(&footer, FOOTER_COUNT) as usize;
        if count > MAX_SECTIONS {
            return Err(self.error(footer_offset + FOOTER_COUNT as u64, Problem::Invalid("too many sections")));
        }
        let table_offset = u64_at(&footer, FOOTER_TABLE);
        let table_len = count * ENTRY_LEN;
        if expected != length || table_offset.checked_add(table_len as u64) != Some(footer_offset) {
            return Err(self.error(footer_offset, Problem::Invalid("the footer does not fit the file's length")));
        }
        let mut table = [0; MAX_SECTIONS * ENTRY_LEN];
        let table = &mut table[..table_len];
        self.read(table_offset, table)?;
        let checksum = u64_at(&footer, FOOTER_CHECKSUM);
        if seal_checksum(header, table, &footer) != checksum {
            return Err(self.error(table_offset, Problem::Checksum));
        }
        self.check_reserved(&footer, FOOTER_RESERVED, footer_offset)?;

        let mut sections: Vec<Section> = Vec::with_capacity(count);
        let mut end = HEADER_LEN as u64;
        for (entry, at) in table.chunks_exact(ENTRY_LEN).zip((table_offset..).step_by(ENTRY_LEN)) {
            let section = section_of(entry, end)
                .filter(|section| sections.iter().all(|before| before.tag != section.tag))
                .ok_or_else(|| self.error(at, Problem::Invalid("an entry of the section table is invalid")))?;
            end = section
                .offset
                .checked_add(section.length)
                .filter(|&end| end <= table_offset)
                .ok_or_else(|| self.error(at, Problem::Invalid("a section reaches beyond the section table")))?;
            sections.push(section);
        }
        if Align::Line.round_up(end) != Some(table_offset) {
            return Err(self.error(table_offset, Problem::Invalid("the section table does not follow the sections")));
        }
        Ok((sections, u64_at(&footer, FOOTER_SUMS), checksum))
    }

    /// Searches for a footer a little before the end. If there is one, returns the problem that bytes were appended to
    /// the file.
    fn grown(&self, length: u64) -> Result<Option<Problem>, ReadError> {
        let start = length - length.min(GROWTH as u64);
        let mut end = vec![0; (length - start) as usize];
        self.read(start, &mut end)?;
        let fits = |at: &usize| {
            let footer = &end[*at..][..FOOTER_LEN];
            footer[FOOTER_END_MAGIC..] == END_MAGIC
                && u64_at(footer, FOOTER_FILE_LEN) == start + (at + FOOTER_LEN) as u64
        };
        let found = (0..end.len() - FOOTER_LEN).rev().find(fits);
        Ok(found.map(|at| Problem::Appended { bytes: (end.len() - at - FOOTER_LEN) as u64 }))
    }

    fn check_reserved<const N: usize>(
        &self,
        bytes: &[u8],
        reserved: [Range<usize>; N],
        offset: u64,
    ) -> Result<(), ReadError> {
        match reserved.into_iter().flatten().find(|&at| bytes[at] != 0) {
            Some(at) => Err(self.error(offset + at as u64, Problem::Invalid("a reserved byte is not zero"))),
            None => Ok(()),
        }
    }

    fn check_padding(&self, padding: Range<u64>, sums: &mut Option<Sums>) -> Result<(), ReadError> {
        self.for_each_chunk(padding, |offset, chunk| {
            sums.iter_mut().for_each(|sums| sums.update(chunk));
            match chunk.iter().position(|&byte| byte != 0) {
                Some(at) => Err(self.error(offset + at as u64, Problem::Invalid("a byte of padding is not zero"))),
                None => Ok(()),
            }
        })
    }

    fn for_each_chunk(
        &self,
        range: Range<u64>,
        mut f: impl FnMut(u64, &[u8]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut buf = vec![0; (range.end - range.start).min(VERIFY_CHUNK as u64) as usize];
        let mut offset = range.start;
        while offset < range.end {
            let chunk = (range.end - offset).min(VERIFY_CHUNK as u64) as usize;
            self.read(offset, &mut buf[..chunk])?;
            f(offset, &buf[..chunk])?;
            offset += chunk as u64;
        }
        Ok(())
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        self.file.read_at(offset, buf).map_err(|source| match source.kind() {
            // The range was checked against the length before, so the file has become shorter since.
            io::ErrorKind::UnexpectedEof => {
                let expected = offset.saturating_add(buf.len() as u64);
                self.error(offset, Problem::Truncated { expected, found: self.file.len() })
            }
            _ => ReadError::Io { file: self.name.to_owned(), source },
        })
    }

    fn error(&self, offset: u64, problem: Problem) -> ReadError {
        FormatError { file: self.name.to_owned(), offset, problem }.into()
    }
}

/// The section that an entry of the table describes; `None` if it does not lie where a section after byte `end` must
/// lie.
fn section_of(entry: &[u8], end: u64) -> Option<Section> {
    let align = Align::from_bytes(u32_at(entry, ENTRY_ALIGN))?;
    let section = Section {
        tag: Tag::from_bytes(array_at(entry, ENTRY_TAG))?,
        align,
        offset: u64_at(entry, ENTRY_OFFSET),
        length: u64_at(entry, ENTRY_LENGTH),
        checksum: u64_at(entry, ENTRY_CHECKSUM),
    };
    (align.round_up(end) == Some(section.offset)).then_some(section)
}
