use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::sums::{REGION, SUM, level_lengths, sum_of};
use super::{Bytes, FormatError, Problem};

/// As soon as at most one in this many regions of a file is unchecked, all remaining regions are checked together.
const LAST_SHARE: usize = 8;

/// The checksums of a file's regions, each of which is compared when its region is first read. So a reader pays once
/// for checking the regions that it reads, and later only for testing one bit for each region.
///
/// ```text
///   root       in the footer, which was checked when the file was opened
///   level 1    c c                     4096 bytes of a level are checked before a checksum in them is trusted
///   level 0    c c c c … c c c c …
///   file       ──── ──── ──── ────     4096 bytes each, checked by the process when it first reads them
/// ```
///
/// Cost: opening reads nothing. The first touch of a region reads 4 KiB; the first touch among 1024 regions also reads
/// 4 KiB of their checksums in level 0, and so on for each level above. A later touch is a load and a comparison. When
/// only an eighth of the regions is unchecked, all of them are checked together, so that readers need not touch regions
/// any more. Memory: a bit for each 4096 bytes. Any number of threads may share a value of this type.
///
/// A reader touches what it reads, and continues even if the bytes are damaged, because decoders here accept any bytes.
/// Then it asks [`result`](Self::result) whether everything was whole. Once damage is found, every reader of the file
/// gets an error, because the other parts of a damaged file are not trusted either.
#[derive(Debug)]
pub(crate) struct Regions {
    name: String,
    file: Bytes,
    /// The offset in the file of each level of checksums, the lowest first, and the offset of the end of the last one.
    starts: Vec<usize>,
    /// For each level of checksums, the index in `checked` of the first bit for the blocks that the level covers. The
    /// last item is the index of the bit of the last level itself.
    bits: Vec<usize>,
    /// The checksum of the last level of checksums.
    root: u64,
    checked: Vec<AtomicU64>,
    /// The number of regions of the file that are not checked yet.
    left: AtomicUsize,
    /// The offset of the first region that was found damaged.
    damage: OnceLock<u64>,
}

impl Regions {
    /// The regions of a file that is called `name` in errors. Its envelope has checked that the levels of checksums
    /// begin at byte `start` and lie within the file; `root` is the checksum of the last one.
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

    /// True if every region was checked and is whole.
    #[inline(always)]
    pub(crate) fn all_checked(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Checks the regions of the `len` bytes from `start` on, as far as the file has them. Returns true if they are
    /// whole. Bytes after the last region are checksums, and are not checked.
    #[inline(always)]
    pub(crate) fn touch(&self, start: usize, len: usize) -> bool {
        let first = start / REGION;
        let last = start.saturating_add(len.saturating_sub(1)) / REGION;
        first == last && self.is_checked(first) || self.touch_all(first, last)
    }

    #[cold]
    fn touch_all(&self, first: usize, last: usize) -> bool {
        if self.all_checked() {
            return true;
        }
        let all = self.bits[1];
        let whole = (first..all.min(last.saturating_add(1))).all(|region| self.check(0, region));
        // In a file that is read at random, soon only a few regions are unchecked. Because of these few, every reader
        // would have to test bits for ever.
        let few = self.left.load(Ordering::Relaxed) <= all / LAST_SHARE;
        whole && (!few || (0..all).all(|region| self.check(0, region)))
    }

    /// Checks every region that was not checked yet, in order.
    ///
    /// # Errors
    /// Those of [`result`](Self::result).
    pub(crate) fn check_all(&self) -> Result<(), FormatError> {
        if !self.all_checked() {
            self.touch_all(0, usize::MAX);
        }
        self.result()
    }

    /// Returns an error if any region that was touched so far is damaged.
    ///
    /// # Errors
    /// [`Problem::Checksum`] with the offset of the first damaged region.
    #[inline(always)]
    pub(crate) fn result(&self) -> Result<(), FormatError> {
        match self.damage.get() {
            None => Ok(()),
            Some(&offset) => Err(self.error(offset, Problem::Checksum)),
        }
    }

    /// Creates an error with the file's name, this offset and this problem.
    pub(crate) fn error(&self, offset: u64, problem: Problem) -> FormatError {
        FormatError { file: self.name.clone(), offset, problem }
    }

    /// True if the block of this bit was checked. Relaxed loads suffice, because a bit only stands for bytes that never
    /// change.
    #[inline(always)]
    fn is_checked(&self, bit: usize) -> bool {
        // There may be no bit for bytes after the last region. Then `touch_all` finds that they are in no region.
        self.checked.get(bit / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (bit % 64) & 1 == 1)
    }

    /// Checks block number `index` among the blocks of 4096 bytes below `level`. Level 0 covers the file, each further
    /// level covers the one below it, and the root covers the last level.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::sums::Sums;
    use super::*;

    /// A file with its checksums, and the checksum of their last level.
    fn summed(content: &[u8]) -> (Vec<u8>, u64) {
        let mut sums = Sums::default();
        sums.update(content);
        let (levels, root) = sums.finish();
        ([content, &levels].concat(), root)
    }

    fn regions(file: Vec<u8>, start: usize, root: u64) -> Regions {
        Regions::new("file", Bytes::from(Arc::<[u8]>::from(file)), start, root)
    }

    #[test]
    fn what_is_whole_is_said_to_be_whole_at_the_first_touch() {
        for length in [1, REGION, REGION + 1, 20 * REGION] {
            let (file, root) = summed(&vec![7; length]);
            let regions = regions(file, length, root);
            for start in (0..length).step_by(REGION) {
                assert!(regions.touch(start, 1), "byte {start} of {length}");
            }
            assert_eq!(regions.check_all(), Ok(()));
        }
    }

    /// The checksum of a region fits its damage, and lies in the second region of the checksums.
    #[test]
    fn a_checksum_counts_only_after_the_level_above_has_confirmed_it() {
        let (length, region) = (1536 * REGION, 1200);
        let (mut file, root) = summed(&vec![7; length]);
        file[region * REGION] ^= 1;
        let forged = sum_of(&file[region * REGION..][..REGION]);
        file[length + region * SUM..][..SUM].copy_from_slice(&forged);
        let regions = regions(file, length, root);
        assert!(regions.touch(0, 1) && !regions.touch(region * REGION, 1));
        assert!(regions.result().is_err() && regions.check_all().is_err());
    }
}
