use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::sums::{REGION, SUM, level_lengths, sum_of};
use super::{Bytes, FormatError, Problem};

/// When at most this share of a file's regions is not checked yet, they are all checked at once.
const LAST_SHARE: usize = 8;

/// The checksums of a file's regions, each compared when the region is first read: "are these bytes what was written?",
/// answered for as little of a file as somebody reads, at the cost of one bit a region from then on.
///
/// ```text
///   root       in the footer, which was checked when the file was opened
///   level 1    c c                     4096 bytes of a level are checked before one of their checksums is believed
///   level 0    c c c c … c c c c …
///   file       ──── ──── ──── ────     4096 bytes each, checked by the process when it first reads them
/// ```
///
/// Cost: opening reads nothing; the first touch of a region reads 4 KiB, and as much of each level above it once in 1024
/// regions; a later touch is a load and a comparison. When an eighth of the regions is left, they are read together, so that
/// readers need not tell any more what they read. Memory: a bit for each 4096 bytes. Any number of threads may
/// share it.
///
/// A reader touches what it reads and goes on whatever the bytes are, as decoders here are total; then it asks
/// [`result`](Self::result) whether all of it was whole. From the first damage on that is an error for every reader of
/// the file: a file of which one part is damaged is not believed in its other parts either.
#[derive(Debug)]
pub(crate) struct Regions {
    name: String,
    file: Bytes,
    /// Where each level of checksums begins in the file, the lowest first, and where the last one ends.
    starts: Vec<usize>,
    /// The number of the first bit of what each level covers, and of the last level itself.
    bits: Vec<usize>,
    root: u64,
    checked: Vec<AtomicU64>,
    /// How many regions of the file were not checked yet.
    left: AtomicUsize,
    /// Where the region begins that was first found not to be what was written.
    damage: OnceLock<u64>,
}

impl Regions {
    /// The regions of a file that errors call `name`. Its envelope has found that the levels of checksums, of which
    /// the last one has the checksum `root`, begin at byte `start` and lie within the file.
    pub(super) fn new(name: &str, file: Bytes, start: usize, root: u64) -> Self {
        let (mut starts, mut bits, mut covered) = (vec![start], vec![0], start);
        for length in level_lengths(start as u64) {
            starts.push(starts[starts.len() - 1] + length as usize);
            bits.push(bits[bits.len() - 1] + covered.div_ceil(REGION));
            covered = length as usize;
        }
        let checked = (0..(bits[bits.len() - 1] + 1).div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let left = AtomicUsize::new(start.div_ceil(REGION));
        Self { name: name.to_owned(), file, starts, bits, root, checked, left, damage: OnceLock::new() }
    }

    /// Whether every region was found to be whole.
    #[inline(always)]
    pub(crate) fn all_checked(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Checks the regions of the `len` bytes of the file from `start` on, as far as there are so many, and says whether
    /// they are whole. Bytes behind the last region are checksums, and are not checked.
    #[inline(always)]
    pub(crate) fn touch(&self, start: usize, len: usize) -> bool {
        let first = start / REGION;
        let last = start.saturating_add(len.saturating_sub(1)) / REGION;
        first == last && self.is_checked(first) || self.touch_all(first, last)
    }

    #[cold]
    fn touch_all(&self, first: usize, last: usize) -> bool {
        let all = self.bits[1];
        let whole = (first..all.min(last.saturating_add(1))).all(|region| self.check(0, region));
        // What is read all over is soon checked but for a few regions, and would be asked about them for ever.
        let few = self.left.load(Ordering::Relaxed) <= all / LAST_SHARE;
        whole && (!few || (0..all).all(|region| self.check(0, region)))
    }

    /// Checks every region that was not checked yet, in order.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub(crate) fn check_all(&self) -> Result<(), FormatError> {
        if !self.all_checked() {
            self.touch_all(0, usize::MAX);
        }
        self.result()
    }

    /// Whether all that was touched so far was whole.
    ///
    /// # Errors
    /// [`Problem::Checksum`] at the region that was not.
    #[inline(always)]
    pub(crate) fn result(&self) -> Result<(), FormatError> {
        match self.damage.get() {
            None => Ok(()),
            Some(&offset) => Err(FormatError { file: self.name.clone(), offset, problem: Problem::Checksum }),
        }
    }

    /// The order between threads does not matter: nothing is read on the strength of a bit but bytes that never change.
    #[inline(always)]
    fn is_checked(&self, bit: usize) -> bool {
        // What lies behind the file's regions has no bit of its own, and is found not to be one when it is touched.
        self.checked.get(bit / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (bit % 64) & 1 == 1)
    }

    /// Checks the 4096 bytes of this number among those that `level` covers. Level 0 covers the file, each level the one
    /// below it, and the root the last level.
    fn check(&self, level: usize, index: usize) -> bool {
        let bit = self.bits[level] + index;
        if self.is_checked(bit) {
            return true;
        }
        let below = if level == 0 { 0..self.starts[0] } else { self.starts[level - 1]..self.starts[level] };
        let start = below.start + index * REGION;
        let bytes = &self.file[start..below.end.min(start + REGION)];
        let whole = if level + 1 == self.starts.len() {
            xxh3_64(bytes) == self.root
        } else {
            let sum = self.starts[level] + index * SUM;
            self.check(level + 1, index * SUM / REGION) && self.file[sum..][..SUM] == sum_of(bytes)
        };
        if !whole {
            self.damage.get_or_init(|| start as u64);
            return false;
        }
        let before = self.checked[bit / 64].fetch_or(1 << (bit % 64), Ordering::Relaxed);
        if level == 0 && before >> (bit % 64) & 1 == 0 {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        true
    }
}
