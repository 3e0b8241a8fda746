//! A Bloom filter in a file, with some of its pages in memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::keys::{mix, scale};
use crate::report::Result;

pub(super) const PAGE: usize = 4096;
const PAGE_BITS: u64 = 8 * PAGE as u64;

/// The layout of a filter in its file: where the bits of a key are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// The bits of a key may be anywhere in the file, as in an ordinary Bloom filter.
    Spread,
    /// All bits of a key are in one page of the file, at the price of a slightly higher false-positive rate.
    OnePage,
}

/// The size of a Bloom filter in a file, and the layout of the bits of its keys.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) pages: u64,
    pub(super) probes: u32,
    pub(super) layout: Layout,
}

impl Shape {
    /// The shape for this many keys at a rate, with the best number of probes.
    pub(super) fn new(keys: u64, rate: f64, layout: Layout) -> Self {
        let bits = keys as f64 * -rate.ln() / std::f64::consts::LN_2.powi(2);
        Self { pages: (bits / PAGE_BITS as f64).ceil() as u64, probes: (-rate.log2()).round() as u32, layout }
    }

    /// The number of places of the file that have to be visited for a key.
    fn visits(self) -> usize {
        match self.layout {
            Layout::Spread => self.probes as usize,
            Layout::OnePage => 1,
        }
    }

    /// The places of a key, one for each visit: the positions of its bits or, if all bits are in one page, the key
    /// itself. The order of the places is that of their pages.
    #[inline]
    fn places(self, key: u64) -> impl Iterator<Item = u64> {
        let step = mix(key) | 1;
        (0..self.visits() as u64).map(move |i| match self.layout {
            Layout::Spread => scale(key.wrapping_add(step.wrapping_mul(i)), self.pages * PAGE_BITS),
            Layout::OnePage => key,
        })
    }

    /// The bits that are at a place of a key: for each bit, the number of its page and its position in the page.
    #[inline]
    fn bits_at(self, place: u64) -> impl Iterator<Item = (usize, usize)> {
        let step = mix(place) | 1;
        let bits = match self.layout {
            Layout::Spread => 1,
            Layout::OnePage => u64::from(self.probes),
        };
        (0..bits).map(move |i| {
            let (page, bit) = match self.layout {
                Layout::Spread => (place / PAGE_BITS, place % PAGE_BITS),
                Layout::OnePage => {
                    let hash = place.wrapping_add(step.wrapping_mul(i));
                    (scale(place, self.pages), hash.wrapping_mul(step) >> (64 - PAGE_BITS.ilog2()))
                }
            };
            (page as usize, bit as usize)
        })
    }

    /// The bytes of a filter with these keys. It is filled in memory.
    pub(super) fn filled(self, keys: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut bytes = vec![0; self.pages as usize * PAGE];
        for key in keys {
            let bits = self.places(key).flat_map(|at| self.bits_at(at));
            bits.for_each(|(page, bit)| bytes[page * PAGE + bit / 8] |= 1 << (bit % 8));
        }
        bytes
    }
}

/// A Bloom filter in a file, with a cache of pages in memory. Keys come in batches, which are processed in the order of
/// the file's pages. The clock algorithm replaces pages, and they are written when they are replaced.
pub(super) struct StorageBloom {
    shape: Shape,
    file: File,
    /// For each page, the index of the frame of the cache that holds it, or `NONE`.
    frame_of: Vec<u32>,
    frames: Vec<Frame>,
    memory: Vec<u8>,
    hand: usize,
    /// True if the last batch was processed from the end of the file to its beginning.
    backwards: bool,
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
}

struct Frame {
    page: u32,
    used: bool,
    dirty: bool,
}

const NONE: u32 = u32::MAX;

impl StorageBloom {
    /// Creates a new file with the bytes of a filter, and a cache of `memory` bytes for its pages.
    pub(super) fn create(path: &Path, shape: Shape, bytes: &[u8], memory: u64) -> Result<Self> {
        let file = File::options().read(true).write(true).create_new(true).open(path)?;
        file.write_all_at(bytes, 0)?;
        file.sync_all()?;
        let frames = (memory as usize / PAGE).clamp(1, shape.pages as usize);
        Ok(Self {
            shape,
            file,
            frame_of: vec![NONE; shape.pages as usize],
            frames: Vec::with_capacity(frames),
            memory: vec![0; frames * PAGE],
            hand: 0,
            backwards: false,
            bytes_read: 0,
            bytes_written: 0,
        })
    }

    /// Inserts a batch of keys in one pass over the file: each page is read and written once at most.
    pub(super) fn insert(&mut self, keys: impl Iterator<Item = u64>) -> Result<()> {
        for (at, _) in self.in_file_order(keys) {
            self.shape.bits_at(at).try_for_each(|(page, bit)| {
                let frame = self.frame(page)?;
                let byte = &mut self.memory[frame * PAGE + bit / 8];
                self.frames[frame].dirty |= *byte & 1 << (bit % 8) == 0;
                *byte |= 1 << (bit % 8);
                Result::<()>::Ok(())
            })?;
        }
        Ok(())
    }

    /// Looks up a batch of keys in one pass over the file. There is an answer for each key.
    pub(super) fn contains(&mut self, keys: &[u64]) -> Result<Vec<bool>> {
        let mut found = vec![true; keys.len()];
        for (at, i) in self.in_file_order(keys.iter().copied()) {
            let found = &mut found[i as usize];
            for (page, bit) in self.shape.bits_at(at) {
                // If a bit of the key was 0, no further page is read for it.
                if !*found {
                    break;
                }
                let frame = self.frame(page)?;
                *found = self.memory[frame * PAGE + bit / 8] & 1 << (bit % 8) != 0;
            }
        }
        Ok(found)
    }

    /// The places that have to be visited for a batch of keys, as [`Shape::bits_at`] takes them, each with the index of
    /// its key in the batch. They are in the order of the pages, unless all pages are in memory. Every other batch goes
    /// backwards, so that it begins with the pages that the batch before left in memory.
    fn in_file_order(&mut self, keys: impl Iterator<Item = u64>) -> Vec<(u64, u32)> {
        let mut visits = Vec::with_capacity(keys.size_hint().0 * self.shape.visits());
        for (i, key) in (0..).zip(keys) {
            self.shape.places(key).for_each(|at| visits.push((at, i)));
        }
        if self.memory.len() / PAGE < self.frame_of.len() {
            visits.sort_unstable();
            self.backwards = !self.backwards;
            if self.backwards {
                visits.reverse();
            }
        }
        visits
    }

    /// Reads pages until the cache is full, as it is after some time of use.
    pub(super) fn warm(&mut self) -> Result<()> {
        for page in 0..self.memory.len() / PAGE {
            self.frame(page)?;
        }
        Ok(())
    }

    /// The index of the frame of the cache that holds this page; reads the page first if necessary.
    fn frame(&mut self, page: usize) -> Result<usize> {
        if self.frame_of[page] != NONE {
            let frame = self.frame_of[page] as usize;
            self.frames[frame].used = true;
            return Ok(frame);
        }
        let fresh = Frame { page: page as u32, used: true, dirty: false };
        let frame = if self.frames.len() < self.memory.len() / PAGE {
            self.frames.push(fresh);
            self.frames.len() - 1
        } else {
            while std::mem::take(&mut self.frames[self.hand].used) {
                self.hand = (self.hand + 1) % self.frames.len();
            }
            let frame = self.hand;
            let old = std::mem::replace(&mut self.frames[frame], fresh);
            self.hand = (self.hand + 1) % self.frames.len();
            self.frame_of[old.page as usize] = NONE;
            if old.dirty {
                self.file.write_all_at(&self.memory[frame * PAGE..][..PAGE], u64::from(old.page) * PAGE as u64)?;
                self.bytes_written += PAGE as u64;
            }
            frame
        };
        self.frame_of[page] = frame as u32;
        self.file.read_exact_at(&mut self.memory[frame * PAGE..][..PAGE], (page * PAGE) as u64)?;
        self.bytes_read += PAGE as u64;
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::WorkDirectory;

    /// The cache has room for only one page, so every access goes to the file: at most one access to each page for a
    /// batch.
    #[test]
    fn what_is_put_in_is_found_whatever_the_memory() {
        for layout in [Layout::Spread, Layout::OnePage] {
            let directory = WorkDirectory::create(&std::env::temp_dir()).unwrap();
            let shape = Shape::new(60_000, 0.01, layout);
            let bytes = shape.filled((0..30_000).map(mix));
            let mut bloom = StorageBloom::create(&directory.path().join("bloom"), shape, &bytes, PAGE as u64).unwrap();
            bloom.insert((30_000..33_000).map(mix)).unwrap();
            assert!(bloom.bytes_read <= shape.pages * PAGE as u64 && bloom.bytes_written <= bloom.bytes_read);
            let keys: Vec<_> = (29_000..33_000).map(mix).collect();
            assert!(bloom.contains(&keys).unwrap().iter().all(|&found| found));
            let others: Vec<_> = (0..4000).map(|i| mix(1 << 40 | i)).collect();
            let found = bloom.contains(&others).unwrap();
            let wrong = found.iter().filter(|&&found| found).count();
            assert!(wrong < 40 && bloom.bytes_written > 0, "{wrong}");
        }
    }
}
