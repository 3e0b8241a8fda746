use furui::seen::Seen;
use furui::store::Storage;
use regex::bytes::Regex;

use super::flight::Flight;
use crate::keys::Counts;

/// Decides which lines are new.
pub struct Decider<S: Storage> {
    pub seen: Seen<S>,
    /// With the cache lru+stable: lines that match are never dropped.
    protect: Option<Regex>,
    /// The total length of the blocks so far, in bytes.
    pub bytes: u64,
    /// How many lines so far had no key.
    pub counts: Counts,
}

/// The minimum number of keys of a worker's recent cache. A recent cache of this size stays in the second-level cache
/// of the processor.
const LEAST_RECENT: usize = 1 << 15;

impl<S: Storage> Decider<S> {
    pub fn new(seen: Seen<S>, protect: Option<Regex>) -> Self {
        Self { seen, protect, bytes: 0, counts: Counts::default() }
    }

    /// The number of keys for which the recent cache of each worker has room, if there are this many workers. `None`
    /// if the set has a cache that must see all keys in order.
    pub fn recent_keys(&self, workers: usize) -> Option<usize> {
        self.seen.recent_keys().map(|most| (most / workers).max(LEAST_RECENT).min(most))
    }

    /// Decides about the lines of a flight (a block of lines). Flights must come in the order of the input. If the set
    /// fails, the flight gets the error.
    pub fn decide(&mut self, flight: &mut Flight) {
        if flight.is_void {
            return;
        }
        self.bytes += flight.block.bytes().len() as u64;
        self.counts.add(flight.keys.take_counts());
        if flight.header.is_some() {
            return;
        }
        let (block, verdicts) = (&flight.block, &mut flight.verdicts);
        let observed = match &self.protect {
            None => self.seen.observe_missed(&flight.hashes, &flight.misses, verdicts),
            Some(regex) => {
                let line = flight.keys.with_key();
                self.seen.observe_protected(&flight.hashes, |i| regex.is_match(block.line(line(i))), verdicts)
            }
        };
        flight.has_old_repeats = self.seen.unsynced_repeats() > 0;
        flight.counters = *self.seen.counters();
        if let Err(error) = observed {
            verdicts.clear();
            flight.fail(error.into());
        }
    }
}
