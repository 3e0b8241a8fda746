//! Makes room for other nodes' data within the bounds of a shelf.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use furui::Result;
use furui_search::ContentId;

use super::answers::disk_bytes;
use super::bounds::{Bounds, Full, disk_space};
use super::fault::Outcome;
use super::origins::{Origin, Usage};
use super::{Brought, Shelf, Stored};

/// When room is made for other nodes' data, one part in this number of the size limit is freed at once, because making
/// room reads all lists, however little is freed.
const PART: u64 = 16;
/// After the shelf has made room, it does not do so again for this multiple of the time that it took. Chosen: making
/// room takes at most a tenth of the time.
const REST: u32 = 9;

impl Shelf {
    /// Sets the limits for the data that the shelf stores for other nodes.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounded.bounds = bounds;
    }

    /// Stores data of another node like [`store`](Self::store), within the [bounds](Self::set_bounds). If there is no
    /// room, the oldest documents of the origin with the most data are removed. If that would be this origin itself,
    /// nothing is stored, and the result is [`Full`].
    ///
    /// All data for the documents in `proven` was compared with their records, so these documents are kept when those
    /// of their origin are [removed](Self::remove_claims).
    ///
    /// # Errors
    /// Those of [`store`](Self::store).
    pub fn store_of(
        &mut self,
        origin: &Origin,
        proven: &HashSet<ContentId>,
        brought: Brought<'_>,
        expires: u64,
    ) -> Result<std::result::Result<Stored, Full>> {
        let (postings, records, _) = brought;
        let of_postings = postings.iter().map(|(word, ids)| word.len() + 4 * ids.len()).sum::<usize>();
        let of_records = records.iter().map(|(_, record)| record.len()).sum::<usize>();
        let number = self.origins.number(origin);
        if let Err(full) = self.make_room(number, (of_postings + of_records) as u64)? {
            return Ok(Err(full));
        }
        // Making room removes origins without documents, possibly this one, so its number is looked up afterwards.
        let number = self.origins.number(origin);
        self.store_as((number, proven), brought, expires).map(Ok)
    }

    /// Returns the amount of data that the shelf keeps for each origin.
    pub fn usages(&self) -> Vec<Usage> {
        self.origins.all().map(|(_, usage)| usage.clone()).collect()
    }

    /// The size, in bytes, of what [`Bounds::disk`] limits: the shelf's files or, for a shelf in memory, the data of
    /// other nodes.
    fn bounded_bytes(&self) -> Result<u64> {
        self.directory.as_deref().map_or_else(|| Ok(self.origins.bytes()), disk_bytes)
    }

    fn make_room(&mut self, newcomer: u32, bytes: u64) -> Result<std::result::Result<(), Full>> {
        let Bounds { disk, free } = self.bounded.bounds;
        if free > 0 && self.directory.as_deref().and_then(disk_space).is_some_and(|(_, left)| left < free) {
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
        // The other keepers of the lists still have the removed documents.
        self.set_whole(false);
        self.bounded.rests_until = Some(Instant::now() + REST * began.elapsed().max(Duration::from_millis(1)));
        let is_enough = self.bounded_bytes()?.saturating_add(bytes) <= disk;
        Ok(if is_enough { Ok(()) } else { Err(Full::Bound) })
    }

    /// Removes the oldest documents of an origin until the removed ones amount to `bytes` bytes.
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
