use furui::seen::Seen;
use furui::store::Storage;
use furui::store::cascade::Share;
use regex::bytes::Regex;

use super::flight::Flight;
use super::shares::Shares;
use crate::error::Error;
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

    /// Splits the set into shares for this many workers. Returns no shares if the set must see all keys in order, or if
    /// it is too small.
    pub fn split(&mut self, workers: usize) -> Vec<Share<S::File>> {
        match Shares::<S::File>::count(workers, self.seen.options().memory) {
            // If there is no memory for the shares, the set stays whole.
            count if count > 0 && self.seen.can_split() => self.seen.split(count).unwrap_or_default(),
            _ => vec![],
        }
    }

    /// True if the set first makes earlier keys durable when it gets the keys of a flight (a block of lines).
    pub fn will_sync(&self, flight: &Flight) -> bool {
        match flight.batch.shares() {
            0 => self.seen.will_sync(flight.hashes.len()),
            _ => self.seen.will_sync_for(&flight.batch),
        }
    }

    /// Lets the shares of a set that is split take the keys of a flight (a block of lines). Flights must come in the
    /// order of the input. Returns false if there is no room for the keys before [`make_room`](Self::make_room).
    pub fn admit(&mut self, flight: &mut Flight) -> bool {
        if !flight.is_void && flight.header.is_none() {
            match self.seen.admit(&flight.hashes, &flight.batch) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => flight.give_up(error.into()),
            }
        }
        true
    }

    /// Makes room for the keys of a flight (a block of lines) in all shares of the set. Earlier flights must have been
    /// decided. If the set fails, the flight gets the error.
    pub fn make_room(&mut self, flight: &mut Flight, shares: Vec<Share<S::File>>) -> Vec<Share<S::File>> {
        let seen = &mut self.seen;
        let shares = seen
            .join(shares)
            .and_then(|()| seen.make_room_for(&flight.batch))
            .and_then(|()| seen.split(flight.batch.shares()));
        shares.unwrap_or_else(|error| {
            flight.give_up(error.into());
            vec![]
        })
    }

    /// Takes back all shares of the set at the end.
    pub fn join(&mut self, shares: Vec<Share<S::File>>) -> Result<(), Error> {
        if shares.is_empty() { Ok(()) } else { Ok(self.seen.join(shares)?) }
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
            None if flight.batch.shares() > 0 => self.seen.finish(&flight.hashes, &flight.batch, verdicts),
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
