use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The number of bytes that one checksum covers.
pub(crate) const REGION: usize = 4096;

/// The number of bytes of a region's checksum, which is the low half of the region's XXH3-64.
pub(super) const SUM: usize = 4;

/// The checksum of a region of a file, or of at most [`REGION`] bytes of a level of checksums.
#[inline]
pub(super) fn sum_of(bytes: &[u8]) -> [u8; SUM] {
    (xxh3_64(bytes) as u32).to_le_bytes()
}

/// The size in bytes of each level of checksums over `covered` bytes, the lowest level first. The last level has at
/// most [`REGION`] bytes.
pub(super) fn level_lengths(covered: u64) -> Vec<u64> {
    let mut lengths = vec![covered.div_ceil(REGION as u64) * SUM as u64];
    while let Some(&last) = lengths.last().filter(|&&last| last > REGION as u64) {
        lengths.push(last.div_ceil(REGION as u64) * SUM as u64);
    }
    lengths
}

/// Computes the checksums of a file's regions while its bytes are written.
///
/// ```text
///   level 1    c c                        of every 4096 bytes of level 0, and so on, until a level fits into a region
///   level 0    c c c c … c c c c …        of every 4096 bytes of the file
///   file       ──── ──── ──── ────
/// ```
///
/// Memory: 4 bytes for each 4096 bytes of the file.
#[derive(Default)]
pub(super) struct Sums {
    level: Vec<u8>,
    /// The hash of those bytes of the current region that were written so far.
    region: Xxh3Default,
    /// The number of bytes of the current region that were hashed so far.
    filled: usize,
}

impl Sums {
    /// Adds the next bytes of the file to the checksums.
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.filled == 0
                && let Some((whole, rest)) = bytes.split_first_chunk::<REGION>()
            {
                self.level.extend(sum_of(whole));
                bytes = rest;
                continue;
            }
            let (part, rest) = bytes.split_at(bytes.len().min(REGION - self.filled));
            self.region.update(part);
            self.filled += part.len();
            if self.filled == REGION {
                self.end_region();
            }
            bytes = rest;
        }
    }

    fn end_region(&mut self) {
        self.level.extend((self.region.digest() as u32).to_le_bytes());
        self.region.reset();
        self.filled = 0;
    }

    /// Returns all levels of checksums, the lowest first, and the checksum of the last one.
    pub(super) fn finish(mut self) -> (Vec<u8>, u64) {
        if self.filled > 0 {
            self.end_region();
        }
        let (mut levels, mut last) = (Vec::new(), self.level);
        while last.len() > REGION {
            let next = last.chunks(REGION).flat_map(sum_of).collect();
            levels.append(&mut last);
            last = next;
        }
        let root = xxh3_64(&last);
        levels.append(&mut last);
        (levels, root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_the_pieces_in_which_bytes_come() {
        let file: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        for covered in [1, 100, REGION, REGION + 1, 3 * REGION - 1, 1024 * REGION, 1024 * REGION + 1, file.len()] {
            let mut whole = Sums::default();
            whole.update(&file[..covered]);
            let (levels, root) = whole.finish();
            for piece in [977, REGION, 100_000] {
                let mut sums = Sums::default();
                file[..covered].chunks(piece).for_each(|piece| sums.update(piece));
                assert_eq!(sums.finish(), (levels.clone(), root));
            }
            let lengths = level_lengths(covered as u64);
            assert_eq!(lengths.iter().sum::<u64>(), levels.len() as u64);
            assert!(lengths.last().is_some_and(|&last| last <= REGION as u64));
        }
    }
}
