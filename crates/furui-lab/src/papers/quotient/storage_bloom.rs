//! A Bloom filter in a file, with some of its pages in memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::keys::mix;
use crate::papers::Result;

pub(super) const PAGE: usize = 4096;
const PAGE_BITS: u64 = 8 * PAGE as u64;

/// The positions of a key's bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Anywhere in the file: an ordinary Bloom filter.
    Spread,
    /// All in one page of the file, at the price of a slightly higher rate.
    OnePage,
}

/// The size of a filter, and its layout.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) pages: u64,
    pub(super) probes: u32,
    pub(super) layout: Layout,
}

impl Shape {
    /// The shape for so many keys at a rate, with the best number of probes.
    pub(super) fn new(keys: u64, rate: f64, layout: Layout) -> Self {
        let bits = keys as f64 * -rate.ln() / std::f64::consts::LN_2.powi(2);
        Self { pages: (bits / PAGE_BITS as f64).ceil() as u64, probes: (-rate.log2()).round() as u32, layout }
    }

    /// The pages of a key's bits, and the positions of the bits in them.
    #[inline]
    fn bits(self, key: u64) -> impl Iterator<Item = (usize, usize)> {
        let scale = move |hash: u64, to: u64| ((u128::from(hash) * u128::from(to)) >> 64) as u64;
        let step = mix(key) | 1;
        (0..u64::from(self.probes)).map(move |i| {
            let hash = key.wrapping_add(step.wrapping_mul(i));
            let (page, bit) = match self.layout {
                Layout::Spread => {
                    let bit = scale(hash, self.pages * PAGE_BITS);
                    (bit / PAGE_BITS, bit % PAGE_BITS)
                }
                Layout::OnePage => (scale(key, self.pages), hash.wrapping_mul(step) >> (64 - PAGE_BITS.ilog2())),
            };
            (page as usize, bit as usize)
        })
    }

    /// The bytes of a filter with these keys. It is filled in memory.
    pub(super) fn filled(self, keys: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut bytes = vec![0; self.pages as usize * PAGE];
        for key in keys {
            self.bits(key).for_each(|(page, bit)| bytes[page * PAGE + bit / 8] |= 1 << (bit % 8));
        }
        bytes
    }
}

/// A filter in a file, with a cache of pages. The clock algorithm replaces pages, and they are written when they are
/// replaced.
pub(super) struct StorageBloom {
    shape: Shape,
    file: File,
    /// The frame that holds each page, or `NONE`.
    frame_of: Vec<u32>,
    frames: Vec<Frame>,
    memory: Vec<u8>,
    hand: usize,
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
    /// Creates a new file with the bytes of a filter, and a cache of so many bytes for its pages.
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
            bytes_read: 0,
            bytes_written: 0,
        })
    }

    pub(super) fn insert(&mut self, key: u64) -> Result<()> {
        for (page, bit) in self.shape.bits(key) {
            let frame = self.frame(page)?;
            let byte = &mut self.memory[frame * PAGE + bit / 8];
            self.frames[frame].dirty |= *byte & 1 << (bit % 8) == 0;
            *byte |= 1 << (bit % 8);
        }
        Ok(())
    }

    pub(super) fn contains(&mut self, key: u64) -> Result<bool> {
        for (page, bit) in self.shape.bits(key) {
            let frame = self.frame(page)?;
            if self.memory[frame * PAGE + bit / 8] & 1 << (bit % 8) == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads pages until the cache is full, as it is after some time of use.
    pub(super) fn warm(&mut self) -> Result<()> {
        for page in 0..self.memory.len() / PAGE {
            self.frame(page)?;
        }
        Ok(())
    }

    /// The frame that holds this page; reads the page first if necessary.
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

    /// The cache has one page for many pages of the file, so that all accesses go through the file.
    #[test]
    fn what_is_put_in_is_found_whatever_the_memory() {
        for layout in [Layout::Spread, Layout::OnePage] {
            let directory = WorkDirectory::create(&std::env::temp_dir()).unwrap();
            let shape = Shape::new(60_000, 0.01, layout);
            let bytes = shape.filled((0..30_000).map(mix));
            let mut bloom = StorageBloom::create(&directory.path().join("bloom"), shape, &bytes, PAGE as u64).unwrap();
            (30_000..33_000).for_each(|i| bloom.insert(mix(i)).unwrap());
            assert!((29_000..33_000).all(|i| bloom.contains(mix(i)).unwrap()));
            let wrong = (0..4000).filter(|i| bloom.contains(mix(1 << 40 | i)).unwrap()).count();
            assert!(wrong < 40 && bloom.bytes_written > 0, "{wrong}");
        }
    }
}
