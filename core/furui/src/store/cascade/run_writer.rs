use std::fmt;
use std::io::Write;

use super::page::{PAGE_BYTES, Page, RemainderBits};
use super::room::{fill_to, reserve};
use crate::error::{Error, Result};
use crate::format::{Align, EnvelopeWriter, Kind, Seal, Tag, field};
use crate::hash::{HashSpec, KeyForm};
use crate::store::Fingerprints;

pub(super) const PAGES: Tag = Tag::new(*b"PAGE");
pub(super) const FENCES: Tag = Tag::new(*b"FENC");
pub(super) const META: Tag = Tag::new(*b"META");
pub(super) const META_BYTES: usize = 32;

/// The number of pages of a run that are written together.
const WRITE_PAGES: usize = 16;

/// The maximum number of keys that the writer of a run processes at a time, so that a slice of keys of any length takes
/// little memory.
const TAKEN: usize = 8192;

/// Writes a run from ascending keys, which come in pieces of any size. [`Run`](super::Run) describes the file.
///
/// Memory: the fences, 8 bytes for each page, and 200 KiB. Cost: 2 to 3 ns a key.
///
/// ```
/// use furui::HashSpec;
/// use furui::raw::RunWriter;
/// use furui::store::cascade::Run;
///
/// let mut file = Vec::new();
/// let mut writer = RunWriter::new(&mut file, "example", HashSpec::default(), 3)?;
/// writer.push(&[5, 6])?;
/// writer.push(&[1 << 60])?;
/// assert_eq!(writer.finish()?.keys, 3);
///
/// let run = Run::open(std::sync::Arc::<[u8]>::from(file), "example", HashSpec::default())?;
/// assert!(run.contains(6)? && !run.contains(7)?);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct RunWriter<W> {
    out: EnvelopeWriter<W>,
    name: String,
    fingerprints: Fingerprints,
    bits: RemainderBits,
    form: KeyForm,
    keys: u64,
    /// The last key that was appended, as the [place](Fingerprints::place) of its fingerprint; `None` at first.
    greatest: Option<u64>,
    fences: Vec<u64>,
    /// The fingerprints that were appended but not encoded yet, because there may be too few of them to fill a page.
    pending: Vec<u64>,
    /// A buffer of pages. The first `filled` of these pages are to be written.
    pages: Vec<[u8; PAGE_BYTES]>,
    filled: usize,
}

impl<W> fmt::Debug for RunWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunWriter").field("name", &self.name).field("keys", &self.keys).finish_non_exhaustive()
    }
}

/// The size and the identity of a run that was written.
///
/// ```
/// use furui::HashSpec;
/// use furui::store::RunEntry;
/// use furui::raw::RunWriter;
///
/// let mut file = Vec::new();
/// let mut writer = RunWriter::new(&mut file, "example", HashSpec::default(), 2)?;
/// writer.push(&[5, 6])?;
/// let written = writer.finish()?;
/// // What a manifest says of the run.
/// let entry = RunEntry { number: 0, keys: written.keys, seal: written.seal, slice: 0 };
/// assert_eq!((entry.keys, entry.seal.length), (2, file.len() as u64));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenRun {
    /// The number of keys in the run.
    pub keys: u64,
    /// The length and the checksum that identify the run's file.
    pub seal: Seal,
}

impl<W: Write> RunWriter<W> {
    /// Begins a run of whole hashes in `out`, which is called `name` in errors. `expected_keys` decides the width of
    /// remainders. A run of fewer keys is still correct, but takes one more bit a key for each halving of their number.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(out: W, name: &str, hash: HashSpec, expected_keys: u64) -> Result<Self> {
        Self::of(out, name, hash, Fingerprints::EXACT, expected_keys)
    }

    /// Works like [`new`](Self::new), for a run of these fingerprints instead of whole hashes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn of(out: W, name: &str, hash: HashSpec, fingerprints: Fingerprints, expected_keys: u64) -> Result<Self> {
        let begun = EnvelopeWriter::new(out, Kind::Run, hash).and_then(|mut out| {
            out.section(PAGES, Align::Page)?;
            Ok(out)
        });
        let mut pages = vec![];
        fill_to(&mut pages, WRITE_PAGES, [0; PAGE_BYTES])?;
        Ok(Self {
            out: begun.map_err(|source| Error::io("cannot write", name, source))?,
            name: name.to_owned(),
            fingerprints,
            bits: RemainderBits::for_keys(expected_keys, fingerprints),
            form: KeyForm::default(),
            keys: 0,
            greatest: None,
            fences: vec![],
            pending: vec![],
            pages,
            filled: 0,
        })
    }

    /// Records in the file the form in which the keys were made from records, for a run that belongs to no store.
    pub(crate) fn with_form(self, form: KeyForm) -> Self {
        Self { form, ..self }
    }

    /// Appends keys, which are given as the [places](Fingerprints) of their fingerprints. The place of a whole hash is
    /// the hash itself.
    ///
    /// # Errors
    /// [`Error::Io`].
    ///
    /// # Panics
    /// If the keys do not ascend strictly, or are not all greater than the earlier ones.
    pub fn push(&mut self, keys: &[u64]) -> Result<()> {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(()) };
        let ascending = keys.iter().zip(&keys[1..]).fold(true, |ascending, (a, b)| ascending & (a < b));
        assert!(ascending && self.greatest.is_none_or(|greatest| greatest < *first), "keys of a run ascend strictly");
        self.greatest = Some(*last);
        self.keys += keys.len() as u64;
        for taken in keys.chunks(TAKEN) {
            reserve(&mut self.pending, taken.len())?;
            match self.fingerprints.is_exact() {
                true => self.pending.extend_from_slice(taken),
                false => self.pending.extend(taken.iter().map(|&place| self.fingerprints.at(place))),
            }
            self.encode_pages(self.bits.most_keys())?;
        }
        Ok(())
    }

    /// Writes the last pages, and the sections that describe the pages.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<WrittenRun> {
        self.encode_pages(1)?;
        self.write_pages()?;
        let mut meta = [0; META_BYTES];
        field::put(&mut meta, 0, self.keys.to_le_bytes());
        field::put(&mut meta, 8, self.greatest.map_or(0, |place| self.fingerprints.at(place)).to_le_bytes());
        field::put(&mut meta, 16, self.bits.get().to_le_bytes());
        field::put(&mut meta, 24, self.fingerprints.last().to_le_bytes());
        let mut out = self.out;
        let mut end = || {
            out.section(FENCES, Align::Line)?;
            for fences in self.fences.chunks(TAKEN) {
                let bytes: Vec<u8> = fences.iter().flat_map(|fence| fence.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
            out.section(META, Align::Line)?;
            out.write_all(&meta)?;
            out.key_form(&self.form)
        };
        let seal = end().and_then(|()| out.finish()).map_err(|source| Error::io("cannot write", self.name, source))?;
        Ok(WrittenRun { keys: self.keys, seal })
    }

    /// Encodes pages while there are at least `least` pending keys. `least` is the maximum number of keys of a page, or
    /// 1 at the end of the run.
    fn encode_pages(&mut self, least: usize) -> Result<()> {
        let mut done = 0;
        while self.pending.len() - done >= least {
            reserve(&mut self.fences, 1)?;
            self.fences.push(self.pending[done]);
            done += Page::encode(&self.pending[done..], self.bits, &mut self.pages[self.filled]);
            self.filled += 1;
            if self.filled == WRITE_PAGES {
                self.write_pages()?;
            }
        }
        self.pending.drain(..done);
        Ok(())
    }

    fn write_pages(&mut self) -> Result<()> {
        let pages = self.pages[..self.filled].as_flattened();
        self.filled = 0;
        self.out.write_all(pages).map_err(|source| Error::io("cannot write", &*self.name, source))
    }
}
