//! Makes room for what other nodes bring, within the bounds of a shelf.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use furui::Result;
use furui_search::{ContentId, Lock, WordPostings};

use super::answers::disk_bytes;
use super::bounds::{Bounds, Full};
use super::fault::Outcome;
use super::origins::{Origin, Usage};
use super::{Shelf, Stored};

/// The part of the bound that is made free at a time, because making room costs as much for a little as for much: all
/// lists are read.
const PART: u64 = 16;
/// After the shelf has made room, it makes none again for this many times the time that it took. Chosen: making room
/// takes at most a tenth of the time.
const REST: u32 = 9;

/// What another node brings: postings, records, and locks of records.
pub type Brought<'b> = (&'b [WordPostings], &'b [(ContentId, Vec<u8>)], &'b [(ContentId, Lock)]);

impl Shelf {
    /// Sets the bounds of what the shelf keeps for others.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounded.bounds = bounds;
    }

    /// Stores as [`store_locked`](Self::store_locked) does what another node brings, within the
    /// [bounds](Self::set_bounds). If there is no room, the oldest documents of the origin that has the most make room,
    /// unless that would be this one.
    ///
    /// # Errors
    /// Those of [`store`](Self::store).
    pub fn store_of(
        &mut self,
        origin: &Origin,
        postings: &[WordPostings],
        records: &[(ContentId, Vec<u8>)],
        locks: &[(ContentId, Lock)],
        expires: u64,
    ) -> Result<std::result::Result<Stored, Full>> {
        self.store_proven(origin, &HashSet::new(), (postings, records, locks), expires)
    }

    /// Stores as [`store_of`](Self::store_of) does. Everything that is brought for the documents of `proven` was
    /// compared with their records: these documents stay when those of their origin are [removed](Self::remove_claims).
    ///
    /// # Errors
    /// Those of [`store`](Self::store).
    pub fn store_proven(
        &mut self,
        origin: &Origin,
        proven: &HashSet<ContentId>,
        (postings, records, locks): Brought<'_>,
        expires: u64,
    ) -> Result<std::result::Result<Stored, Full>> {
        let of_postings = postings.iter().map(|(word, ids)| word.len() + 4 * ids.len()).sum::<usize>();
        let of_records = records.iter().map(|(_, record)| record.len()).sum::<usize>();
        let number = self.origins.number(origin);
        if let Err(full) = self.make_room(number, (of_postings + of_records) as u64)? {
            return Ok(Err(full));
        }
        // Making room forgets origins that have nothing, as this one may have.
        let number = self.origins.number(origin);
        self.store_as((number, proven), postings, records, locks, expires).map(Ok)
    }

    /// What the shelf keeps for each origin.
    pub fn usages(&self) -> Vec<Usage> {
        self.origins.all().map(|(_, usage)| usage.clone()).collect()
    }

    /// The size that the bound bounds.
    fn bounded_bytes(&self) -> Result<u64> {
        self.directory.as_deref().map_or_else(|| Ok(self.origins.bytes()), disk_bytes)
    }

    fn make_room(&mut self, newcomer: u32, bytes: u64) -> Result<std::result::Result<(), Full>> {
        let Bounds { disk, free } = self.bounded.bounds;
        if free > 0 && self.directory.as_deref().and_then(free_bytes).is_some_and(|left| left < free) {
            return Ok(Err(Full::Space));
        }
        if disk == u64::MAX || self.bounded_bytes()?.saturating_add(bytes) <= disk {
            return Ok(Ok(()));
        }
        let Some(largest) = self.origins.to_give_way(newcomer, bytes) else { return Ok(Err(Full::Share)) };
        if self.bounded.rests_until.is_some_and(|until| Instant::now() < until) {
            return Ok(Err(Full::Bound));
        }
        let began = Instant::now();
        self.changing(|shelf| shelf.remove_oldest(largest, (disk / PART).max(bytes)))?;
        // Other keepers of the lists have what was removed.
        self.set_whole(false);
        self.bounded.rests_until = Some(Instant::now() + REST * began.elapsed().max(Duration::from_millis(1)));
        let is_enough = self.bounded_bytes()?.saturating_add(bytes) <= disk;
        Ok(if is_enough { Ok(()) } else { Err(Full::Bound) })
    }

    /// Removes the oldest documents of an origin, until they make `bytes` bytes.
    fn remove_oldest(&mut self, origin: u32, bytes: u64) -> Outcome<()> {
        let mut left = bytes;
        self.remove(|_, document| {
            let is_one = document.origin == origin && left > 0;
            if is_one {
                left = left.saturating_sub(u64::from(document.bytes).max(1));
            }
            is_one
        })?;
        Ok(())
    }
}

/// The free bytes of the file system of a directory, as far as the system tells.
#[cfg(unix)]
fn free_bytes(directory: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(directory).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
