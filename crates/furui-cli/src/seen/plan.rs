use std::thread;

use super::queue::{LARGE_FLIGHTS, Limits};
use crate::block::BLOCK;
use crate::cli::{CacheKind, SeenOptions};
use crate::large_blocks::LargeBlocks;
use crate::remote::is_url;

/// The number of threads, and the memory that they need, which is subtracted from that of the set.
pub struct Plan {
    threads: usize,
    flights: usize,
    large: LargeBlocks,
    /// The memory, in bytes, of all flights (blocks on their way to the output) but one.
    further: u64,
}

/// The maximum number of threads unless the user says otherwise.
const MOST_THREADS: usize = 16;

/// The memory of a flight (a block on its way to the output) in bytes: its text, and as much for its lists.
const FLIGHT: u64 = 2 * BLOCK as u64;

/// Flights (blocks on their way to the output) take at most 1 / `SHARE` of the memory. But with several threads there
/// are always at least [`LEAST`] flights.
const SHARE: u64 = 8;

/// The minimum number of flights with several threads: one is read, one is compared with the set, and one is written.
const LEAST: usize = 3;

impl Plan {
    /// The plan of a run with this much memory.
    pub fn new(options: &SeenOptions, memory: u64) -> Self {
        let default = || thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        // The stable filter's answers depend a little on where blocks end. With several threads, the ends of blocks
        // would depend on the progress of the other threads.
        // With a limit, no line after the last that is wanted may get into the set. Filters and servers take one block
        // at a time.
        let is_serial = options.tiers.paper
            || options.cache == Some(CacheKind::LruStable)
            || options.limit.is_some()
            || options.filter.is_some()
            || options.store.as_deref().is_some_and(is_url);
        let threads = if is_serial { 1 } else { options.threads.unwrap_or_else(default) };
        let affordable = usize::try_from(memory / SHARE / FLIGHT).unwrap_or(usize::MAX);
        // One flight for each worker, one that waits for each worker, one at the input and one at the output.
        let flights = if threads == 1 { 1 } else { affordable.clamp(LEAST, 2 * threads + 2) };
        let further = ((flights as u64 - 1) * FLIGHT).min(memory / SHARE);
        Self { threads, flights, large: LargeBlocks::of(memory, flights.min(LARGE_FLIGHTS)), further }
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The memory that is subtracted from that of the set, in bytes.
    pub fn bytes(&self) -> u64 {
        self.large.bytes() + self.further
    }

    /// The limits of the workers.
    pub fn limits(&self, options: &SeenOptions, records: bool) -> Limits {
        // A program that waits for the mark of each line sends the next line only after it has read the mark.
        let large = options.outputs.mark.is_none().then_some(self.large);
        Limits { workers: self.threads, flights: self.flights, large, records }
    }
}
