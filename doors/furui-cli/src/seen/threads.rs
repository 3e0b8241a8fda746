use std::thread;

use super::queue::{LARGE_BATCHES, Limits};
use crate::cli::{CacheKind, SeenOptions};
use crate::input::block::BLOCK;
use crate::input::large_blocks::LargeBlocks;
use crate::schemes::is_url;

/// The number of threads, and the memory that they need, which is subtracted from that of the set.
pub struct Plan {
    threads: usize,
    /// The value of `--threads` or its default, or 1 if one thread must process all lines in order.
    asked: usize,
    batches: usize,
    /// The number of bytes that one read requests until blocks are large.
    block: usize,
    large: LargeBlocks,
    bytes: u64,
}

/// The maximum number of threads, unless the user asks for more.
const MOST_THREADS: usize = 16;

/// The number of threads if the set is in a server: one waits for answers while the other reads and writes lines.
const REMOTE: usize = 2;

/// The memory of a batch of short lines is this many times the size of its text.
const BATCH: u64 = 5;

/// A block of lines has at most 1 / `BLOCK_SHARE` of the run's memory, but at least [`LEAST_BLOCK`] bytes.
const BLOCK_SHARE: u64 = 16;
const LEAST_BLOCK: u64 = 128 << 10;

/// The memory that the lists of all shares of a split set take, in bytes.
const SHARES: u64 = 2 << 20;

/// The memory of a worker in bytes: its recent cache, its stack, and what the allocator keeps for its thread.
const WORKER: u64 = 5 << 18;

/// Batches of lines take at most 1 / `SHARE` of the run's memory, but there are always at least [`LEAST`] batches if
/// there are several threads.
const SHARE: u64 = 3;

/// The minimum number of batches of lines with several threads: one is read, one is compared with the set, and one is
/// written.
const LEAST: usize = 3;

/// With several threads, 1 / `EXTRA_SHARE` of the run's memory is allocated in addition to the memory of the set.
const EXTRA_SHARE: u64 = 8;

/// At most 1 / `THREADS_SHARE` of the run's memory is used for threads instead of the set. If that is not enough, there
/// are fewer threads.
const THREADS_SHARE: u64 = 4;

impl Plan {
    /// Plans the number of threads and their memory for a run with this much memory, in bytes.
    pub fn new(options: &SeenOptions, memory: u64) -> Self {
        let default = || thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        // The stable filter's answers depend a little on where blocks end. With several threads, the ends of blocks
        // would depend on the progress of the other threads.
        // With a limit, no line after the last that is wanted may get into the set. Filters take one block at a time.
        let is_serial = options.tiers.paper
            || options.cache == Some(CacheKind::LruStable)
            || options.limit.is_some()
            || options.filter.is_some();
        let is_remote = options.store.as_deref().is_some_and(is_url);
        let asked = match is_serial {
            true => 1,
            false if is_remote => REMOTE,
            false => options.threads.unwrap_or_else(default),
        };
        let mut affordable = (2..=asked).rev().map(|threads| Self::of(threads, asked, memory));
        affordable.find(|plan| plan.bytes <= memory / THREADS_SHARE).unwrap_or_else(|| {
            let large = LargeBlocks::of(memory, 1);
            Self {
                threads: 1,
                asked,
                batches: 1,
                block: Self::block_for(memory),
                large,
                bytes: large.bytes().saturating_sub(LargeBlocks::SPARE),
            }
        })
    }

    /// Plans the memory of a run with this number of threads, which is at least 2.
    fn of(threads: usize, asked: usize, memory: u64) -> Self {
        let block = Self::block_for(memory);
        let batch = BATCH * block as u64;
        let affordable = usize::try_from(memory / SHARE / batch).unwrap_or(usize::MAX);
        // There is a batch for each worker, one that waits for each worker, one at the input and one at the output.
        let batches = affordable.clamp(LEAST, 2 * threads + 2);
        let large = LargeBlocks::of(memory, batches.min(LARGE_BATCHES));
        // Until the set has runs on storage, blocks are not large.
        let blocks = large.bytes().max(batches as u64 * batch + SHARES);
        let bytes = (blocks + threads as u64 * WORKER).saturating_sub(LargeBlocks::SPARE + memory / EXTRA_SHARE);
        Self { threads, asked, batches, block, large, bytes }
    }

    fn block_for(memory: u64) -> usize {
        (memory / BLOCK_SHARE).clamp(LEAST_BLOCK, BLOCK as u64) as usize
    }

    /// The number of threads that work, and the number that was asked for. `None` if the memory suffices for all that
    /// were asked for.
    pub fn fewer(&self) -> Option<(usize, usize)> {
        (self.threads < self.asked).then_some((self.threads, self.asked))
    }

    /// The number of threads that take work from the queue of batches.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The number of bytes that one read requests until blocks are large.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The memory that the threads need in addition to the set, in bytes. It is subtracted from that of the set.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the limits of the workers that follow from this plan and the options.
    pub fn limits(&self, options: &SeenOptions, records: bool) -> Limits {
        // A program that waits for the mark of each line sends the next line only after it has read the mark.
        let large = options.outputs.mark.is_none().then_some(self.large);
        Limits { workers: self.threads, batches: self.batches, large, records }
    }
}
