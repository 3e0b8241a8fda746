//! Runs: the levels of a cascade, files of quotient pages.

use super::fences::Fences;
use super::page::{PAGE_BYTES, Page, RemainderBits};
use super::page_set::PageSet;
use super::room::fill_to;
use super::run_writer::{FENCES, META, META_BYTES, PAGES};
use crate::bits::prefetch;
use crate::error::{Error, Result};
use crate::format::{Align, Envelope, Kind, Problem, ReadAt, Seal, field};
use crate::hash::{HashSpec, KeyForm};
use crate::store::Fingerprints;

/// The number of look-ups in a mapped file that are interleaved: each step prefetches for all of them what the next
/// step reads. A processor can have about this many cache misses outstanding.
const LOOKUPS: usize = 16;

/// The maximum number of adjacent pages that a sorted batch reads at once from a file that is not mapped.
const COALESCED: usize = 32;

/// A sorted, immutable set of [fingerprints](Fingerprints) in a file. It says exactly whether a fingerprint is in the
/// set, and reads at most one page for the answer. It takes and returns keys as the places of their fingerprints; the
/// place of a whole hash is the hash itself.
///
/// ```text
///   fences, resident     │ 0x0000…  │ 0x0142…  │ 0x0291…  │ …          8 bytes a page: 0.08 bits a key
///                             │          │          │
///   pages, on storage    │ 4 KiB    │ 4 KiB    │ 4 KiB    │ …          see [`Page`]
/// ```
///
/// Space: about log₂ (m / n) + 2 bits a key in all for n of m fingerprints. For 10⁸ whole hashes that is 5 bytes a key,
/// 1.02 times the minimum of any exact set of 64-bit hashes. Memory: 8 bytes and one bit a page (0.01 bytes a key). A
/// look-up guesses the page, corrects the guess by a few steps along the fences, and reads one page.
///
/// The checksum of a page is compared whenever the page is read. A page of a mapped file is checked when it is first
/// touched, and trusted after that.
///
/// Source: the cascade filter of M. A. Bender et al., PVLDB 5(11), 2012, whose levels are quotient filters; the fences
/// replace the computation of a slot's address, because a quotient does not determine the place of a full page.
///
/// ```
/// use std::sync::Arc;
/// use furui::HashSpec;
/// use furui::raw::{RunWriter, SortedSource};
/// use furui::store::cascade::Run;
///
/// let mut file = Vec::new();
/// let mut writer = RunWriter::new(&mut file, "example", HashSpec::default(), 2)?;
/// writer.push(&[5, 6])?;
/// writer.finish()?;
///
/// let run = Run::open(Arc::<[u8]>::from(file), "example", HashSpec::default())?;
/// assert_eq!(run.reader().fill()?, [5, 6]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Run<F> {
    file: F,
    envelope: Envelope,
    fingerprints: Fingerprints,
    bits: RemainderBits,
    keys: u64,
    /// The [place](Fingerprints::place) of the greatest fingerprint in the run.
    greatest: u64,
    /// The [places](Fingerprints::place) of the first fingerprints of all pages, which tell on which page a key would
    /// be.
    fences: Fences,
    pages_start: u64,
    unary_bytes: f32,
    checked: PageSet,
}

impl<F: ReadAt> Run<F> {
    /// Opens the run in `file`, which is called `name` in errors. Reads and checks everything but the pages.
    ///
    /// # Errors
    /// [`Error::Format`] if the file is not a run, damaged, or made with another `hash`; [`Error::Io`].
    pub fn open(file: F, name: &str, hash: HashSpec) -> Result<Self> {
        let envelope = Envelope::open(&file, name)?;
        envelope.expect_kind(Kind::Run)?;
        envelope.expect_hash(hash)?;
        Self::read(file, envelope)
    }

    /// Opens a run as [`open`](Self::open) does, whatever the hash of its keys.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), except that any hash is right.
    pub(crate) fn open_any(file: F, name: &str) -> Result<Self> {
        let envelope = Envelope::open(&file, name)?;
        envelope.expect_kind(Kind::Run)?;
        Self::read(file, envelope)
    }

    fn read(file: F, envelope: Envelope) -> Result<Self> {
        envelope.expect_sections(&[PAGES, FENCES, META], &[])?;
        let meta_start = envelope.section(META)?.offset;
        let invalid = |what| Error::from(envelope.error(meta_start, Problem::Invalid(what)));
        let meta: [u8; META_BYTES] = envelope
            .read_section(&file, META, META_BYTES)?
            .try_into()
            .map_err(|_| invalid("the description of a run has a wrong length"))?;
        let keys = field::u64_at(&meta, 0);
        let fingerprints = Fingerprints::new(field::u64_at(&meta, 24))
            .ok_or_else(|| invalid("the number of fingerprints is invalid"))?;
        let greatest = field::u64_at(&meta, 8);
        if greatest > fingerprints.last() {
            return Err(invalid("the greatest key is no fingerprint"));
        }
        let bits = RemainderBits::new(field::u32_at(&meta, 16))
            .ok_or_else(|| invalid("the number of bits of a remainder is invalid"))?;
        if field::u32_at(&meta, 20) != 0 {
            return Err(invalid("a reserved byte is not zero"));
        }

        let pages_section = envelope.section(PAGES)?;
        let (pages_start, pages_bytes) = (pages_section.offset, pages_section.length);
        if pages_section.align != Align::Page || !pages_bytes.is_multiple_of(PAGE_BYTES as u64) {
            return Err(envelope.error(pages_start, Problem::Invalid("the pages of a run are not whole pages")).into());
        }
        // An invalid file can claim no more pages than it has bytes for, so this bounds the fences as well.
        let pages = usize::try_from(pages_bytes / PAGE_BYTES as u64).map_err(|_| invalid("too many pages"))?;
        let fences_start = envelope.section(FENCES)?.offset;
        let fences = envelope.read_section(&file, FENCES, pages * 8)?;
        let fences = fences.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let fences = (fences.len() == pages && fences.clone().all(|fence| fence <= greatest))
            .then(|| fences.map(|fence| fingerprints.place(fence)).collect())
            .and_then(Fences::new)
            .ok_or_else(|| envelope.error(fences_start, Problem::Invalid("the fences do not fit the pages")))?;
        if keys < pages as u64 || keys > pages as u64 * bits.most_keys() as u64 {
            return Err(invalid("the number of keys does not fit the pages"));
        }
        Ok(Self {
            file,
            fingerprints,
            bits,
            keys,
            greatest: fingerprints.place(greatest),
            fences,
            pages_start,
            unary_bytes: PAGE_BYTES as f32 - (keys as f32 / pages as f32) * bits.get() as f32 / 8.0,
            checked: PageSet::new(pages),
            envelope,
        })
    }

    /// The bytes of RAM that the run's fences (copies of the first hash of each page) and the marks of its pages take,
    /// a little over 8 for each page.
    pub fn resident_bytes(&self) -> u64 {
        self.pages() as u64 * 8 + self.pages().div_ceil(4) as u64
    }

    /// The spec by which the keys were hashed.
    pub(crate) fn hash(&self) -> HashSpec {
        self.envelope.hash()
    }

    /// The form in which the keys were made, if the file says so; otherwise the empty form.
    ///
    /// # Errors
    /// Those of reading the section of the form; [`Error::Format`] if it is damaged.
    pub(crate) fn form(&self) -> Result<KeyForm> {
        Ok(self.envelope.key_form(&self.file)?)
    }

    /// The number of keys in the run, which its file states.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// True if the run has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The length and the checksum that identify the file.
    pub fn seal(&self) -> Seal {
        self.envelope.seal()
    }

    /// The number of pages of the run, of 4 KiB each. A look-up reads one of them at most.
    pub fn pages(&self) -> usize {
        self.fences.len()
    }

    /// The range of the fingerprints that keys of the run can have.
    pub fn fingerprints(&self) -> Fingerprints {
        self.fingerprints
    }

    /// The number of low bits of a fingerprint, its remainder, that a page stores as they are. The quotient above them
    /// takes two to three bits.
    pub fn remainder_bits(&self) -> RemainderBits {
        self.bits
    }

    /// True if the run has the fingerprint with the [place](Fingerprints::place) `hash`; the place of a whole hash is
    /// the hash itself. Cost: one page, 0.1 to 0.2 µs if it is mapped and cached.
    ///
    /// # Errors
    /// [`Error::Format`] if the page is damaged; [`Error::Io`].
    pub fn contains(&self, hash: u64) -> Result<bool> {
        if !self.spans(hash) {
            return Ok(false);
        }
        let index = self.fences.page_of(hash);
        if let Some(pages) = self.mapped_pages() {
            self.prefetch(hash, index, &pages[index]);
            return Ok(self.mapped_page(index, &pages[index])?.contains(self.fingerprints.at(hash)));
        }
        let mut pages = [[0; PAGE_BYTES]];
        self.read_pages(index, &mut pages)?;
        Ok(self.checked_page(index, &pages[0])?.contains(self.fingerprints.at(hash)))
    }

    /// Looks up a sorted batch of places in one forward pass, and sets `found[i]` if `hashes[i]` is in the run. Skips a
    /// hash whose `found[i]` is set already, because another run has it.
    ///
    /// No page is read twice, and adjacent pages are read together. Pages of a mapped file are prefetched instead.
    ///
    /// # Errors
    /// [`Error::Format`] if a page is damaged; [`Error::Io`].
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn contains_sorted(&self, hashes: &[u64], found: &mut [bool]) -> Result<()> {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        debug_assert!(hashes.is_sorted());
        match self.mapped_pages() {
            Some(pages) => self.contains_sorted_mapped(pages, hashes, found),
            None => self.contains_sorted_read(hashes, found),
        }
    }

    fn contains_sorted_mapped(&self, pages: &[[u8; PAGE_BYTES]], hashes: &[u64], found: &mut [bool]) -> Result<()> {
        let mut drift = 0;
        let mut indices = [None; LOOKUPS];
        let mut places = [None; LOOKUPS];
        for (start, found) in (0..).step_by(LOOKUPS).zip(found.chunks_mut(LOOKUPS)) {
            let (hashes, later) = hashes[start..].split_at(found.len());
            for (i, &hash) in hashes.iter().enumerate() {
                if let Some(&ahead) = later.get(i) {
                    self.fences.prefetch(ahead, drift);
                }
                indices[i] = (!found[i] && self.spans(hash)).then(|| {
                    let index = self.fences.page_of_next(hash, &mut drift);
                    self.prefetch_unary(&pages[index]);
                    index
                });
            }
            for (i, &hash) in hashes.iter().enumerate() {
                places[i] = match indices[i] {
                    Some(index) => {
                        let page = self.mapped_page(index, &pages[index])?;
                        page.seek(self.fingerprints.at(hash)).map(|place| (page, place))
                    }
                    None => None,
                };
            }
            for (i, &hash) in hashes.iter().enumerate() {
                if let Some((page, place)) = places[i] {
                    found[i] = page.contains_at(place, self.fingerprints.at(hash));
                }
            }
        }
        Ok(())
    }

    fn contains_sorted_read(&self, hashes: &[u64], found: &mut [bool]) -> Result<()> {
        let mut buffer = vec![];
        fill_to(&mut buffer, COALESCED, [0; PAGE_BYTES])?;
        let mut start = 0;
        while start < hashes.len() {
            if found[start] || !self.spans(hashes[start]) {
                start += 1;
                continue;
            }
            let first = self.fences.page_of(hashes[start]);
            let (mut last, mut end) = (first, start + 1);
            while end < hashes.len() {
                if !found[end] && self.spans(hashes[end]) {
                    let index = self.fences.page_of(hashes[end]);
                    if index > last + 1 || index - first == COALESCED {
                        break;
                    }
                    last = index;
                }
                end += 1;
            }
            let pages = &mut buffer[..=last - first];
            self.read_pages(first, pages)?;
            for (index, page) in (first..).zip(&*pages) {
                self.checked_page(index, page)?;
            }
            for i in start..end {
                if !found[i] && self.spans(hashes[i]) {
                    let index = self.fences.page_of(hashes[i]);
                    let fingerprint = self.fingerprints.at(hashes[i]);
                    found[i] = self.trusted_page(index, &pages[index - first])?.contains(fingerprint);
                }
            }
            start = end;
        }
        Ok(())
    }

    /// Reads every byte, and checks the checksums, and the order and the number of the keys.
    ///
    /// # Errors
    /// [`Error::Format`] with the place of the damage, if the run is damaged; [`Error::Io`] if it cannot be read.
    pub fn verify(&self) -> Result<()> {
        self.reader().check_all()?;
        Ok(self.envelope.verify(&self.file)?)
    }

    pub(super) fn greatest(&self) -> u64 {
        self.greatest
    }

    /// Reads the pages of the run from the one with the index `first` on into `pages`.
    ///
    /// # Errors
    /// [`Error::Io`]. Nothing is checked yet.
    pub(super) fn read_pages(&self, first: usize, pages: &mut [[u8; PAGE_BYTES]]) -> Result<()> {
        self.file
            .read_at(self.page_start(first), pages.as_flattened_mut())
            .map_err(|source| Error::io("cannot read", self.envelope.name(), source))
    }

    /// Returns the page with the index `index` after two checks: its checksum is right, and its first key is its fence,
    /// the copy of this key in RAM. The second check finds a page that is in the place of another.
    ///
    /// # Errors
    /// [`Error::Format`] if one of the checks fails. It names the file, and the offset of the page.
    pub(super) fn checked_page<'a>(&self, index: usize, bytes: &'a [u8; PAGE_BYTES]) -> Result<Page<'a>> {
        let first = self.first_of(index);
        let checked = Page::new(bytes, first, self.bits).and_then(|page| {
            page.check()?;
            match page.first() == first {
                true => Ok(page),
                false => Err(Problem::Invalid("the first key of a page is not its fence")),
            }
        });
        checked.map_err(|problem| self.page_error(index, problem))
    }

    pub(super) fn page_error(&self, index: usize, problem: Problem) -> Error {
        self.envelope.error(self.page_start(index), problem).into()
    }

    /// The place of the first key of the page after page `index`; `None` for the last page.
    pub(super) fn next_fence(&self, index: usize) -> Option<u64> {
        self.fences.get(index + 1)
    }

    /// Returns the page with the index `index` of a mapped file. The page is checked when it is first used.
    #[inline]
    fn mapped_page<'a>(&self, index: usize, bytes: &'a [u8; PAGE_BYTES]) -> Result<Page<'a>> {
        if self.checked.contains(index) {
            return self.trusted_page(index, bytes);
        }
        let page = self.checked_page(index, bytes)?;
        self.checked.insert(index);
        Ok(page)
    }

    /// Returns the page with the index `index`, whose bytes were checked before.
    #[inline]
    fn trusted_page<'a>(&self, index: usize, bytes: &'a [u8; PAGE_BYTES]) -> Result<Page<'a>> {
        Page::new(bytes, self.first_of(index), self.bits).map_err(|problem| self.page_error(index, problem))
    }

    /// The first fingerprint of a page, taken from its fence (a copy of the first hash of each page is in RAM).
    #[inline]
    fn first_of(&self, index: usize) -> u64 {
        self.fingerprints.at(self.fences.get(index).unwrap_or(0))
    }

    fn page_start(&self, index: usize) -> u64 {
        self.pages_start + index as u64 * PAGE_BYTES as u64
    }

    #[inline]
    fn spans(&self, hash: u64) -> bool {
        hash <= self.greatest && self.fences.get(0).is_some_and(|least| least <= hash)
    }

    #[inline]
    fn mapped_pages(&self) -> Option<&[[u8; PAGE_BYTES]]> {
        let mapped = self.file.mapped()?;
        let start = usize::try_from(self.pages_start).ok()?;
        Some(mapped.get(start..start.checked_add(self.pages() * PAGE_BYTES)?)?.as_chunks().0)
    }

    /// Prefetches the cache lines that a look-up of `hash` will read: the header, the unary part up to the guessed
    /// place of its quotient, and the remainder there. With one line on either side of the remainder, these lines
    /// suffice in nine cases of ten: among 800 uniform keys the guess is off by 14 keys (one sigma), which is a line of
    /// remainders.
    #[inline]
    fn prefetch(&self, hash: u64, index: usize, page: &[u8; PAGE_BYTES]) {
        let fence = self.fences.get(index).unwrap_or(0);
        let span = self.fences.get(index + 1).unwrap_or(self.greatest).saturating_sub(fence);
        let behind = hash.saturating_sub(fence) as f32 / span as f32;
        let unary = (behind * self.unary_bytes) as usize;
        for line in 0..=(unary / 64).min(8) {
            prefetch(&page[line * 64]);
        }
        let remainder = (self.unary_bytes + behind * (PAGE_BYTES as f32 - self.unary_bytes)) as usize;
        for at in [remainder.saturating_sub(64), remainder, remainder + 64] {
            prefetch(&page[at.min(PAGE_BYTES - 1)]);
        }
    }

    /// Prefetches the header and the whole unary part of an average page. In a large batch, other look-ups read other
    /// places of the unary part, so guessing the place costs more than it saves.
    #[inline]
    fn prefetch_unary(&self, page: &[u8; PAGE_BYTES]) {
        for line in 0..=(self.unary_bytes as usize / 64).min(8) {
            prefetch(&page[line * 64]);
        }
    }
}
