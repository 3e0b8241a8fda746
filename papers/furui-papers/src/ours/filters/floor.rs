//! The lower bound for every filter: one access to a random line of a table for each key, without using its contents.

use furui::KeyHash;
use memmap2::{Advice, MmapMut};

use super::{BATCH, Contestant};
use crate::keys::scale;

/// A table of cache lines on huge pages, as in this project's filters.
pub(super) struct Floor {
    pages: MmapMut,
    /// True if the cache lines of a batch are prefetched. If false, they are loaded, and the processor overlaps the
    /// loads as far as it can.
    prefetches: bool,
}

impl Floor {
    pub(super) fn new(bits: u64, prefetches: bool) -> Self {
        let pages = MmapMut::map_anon(bits.div_ceil(512) as usize * 64).expect("memory for the floor");
        // Systems without huge pages provide ordinary ones.
        let _ = pages.advise(Advice::HugePage);
        Self { pages, prefetches }
    }
}

fn line(key: KeyHash, lines: usize) -> usize {
    scale(key.get(), lines as u64) as usize
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "prefetches are")]
fn prefetch(line: &[u8; 64]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch(_: &[u8; 64]) {}

impl Contestant for Floor {
    fn insert(&mut self, keys: &[KeyHash]) {
        let lines = self.pages.as_chunks_mut::<64>().0;
        for batch in keys.chunks(BATCH.min(64)) {
            if self.prefetches {
                batch.iter().for_each(|&key| prefetch(&lines[line(key, lines.len())]));
            }
            for &key in batch {
                lines[line(key, lines.len())][8] |= 1;
            }
        }
    }

    fn count(&self, keys: &[KeyHash]) -> usize {
        let lines = self.pages.as_chunks::<64>().0;
        let mut sum = 0;
        for batch in keys.chunks(BATCH.min(64)) {
            if self.prefetches {
                batch.iter().for_each(|&key| prefetch(&lines[line(key, lines.len())]));
            }
            sum += batch.iter().map(|&key| usize::from(lines[line(key, lines.len())][8])).sum::<usize>();
        }
        sum
    }

    fn bits(&self) -> u64 {
        8 * self.pages.len() as u64
    }
}
