use super::memtable::MemTable;
use super::merge::{MERGE_WINDOW, SortedSource};
use super::room::fill_to;
use crate::error::Result;

/// The keys of a table as a source for a merge. A table in hash order is a sorted run with gaps.
pub(super) struct Drain<'a> {
    slots: &'a [u64],
    /// The keys of the slots that were read last, without the gaps. Those before index `next` have been consumed.
    keys: Vec<u64>,
    next: usize,
}

/// The number of slots that are read at a time. In a table that is more than a quarter full, they usually hold the
/// [`MERGE_WINDOW`] keys that the merge takes at a time.
const SLOTS: usize = 4 * MERGE_WINDOW;

impl<'a> Drain<'a> {
    pub(super) fn new(table: &'a MemTable) -> Self {
        Self { slots: table.slots(), keys: vec![], next: 0 }
    }
}

impl SortedSource for Drain<'_> {
    fn fill(&mut self) -> Result<&[u64]> {
        while self.keys.len() - self.next < MERGE_WINDOW && !self.slots.is_empty() {
            self.keys.drain(..self.next);
            self.next = 0;
            let (now, later) = self.slots.split_at(SLOTS.min(self.slots.len()));
            self.slots = later;
            // Every slot is copied, and only full ones are kept, so that no branch depends on the load.
            let mut len = self.keys.len();
            fill_to(&mut self.keys, len + now.len(), 0)?;
            for &slot in now {
                self.keys[len] = slot;
                len += usize::from(slot != 0);
            }
            self.keys.truncate(len);
        }
        Ok(&self.keys[self.next..])
    }

    fn consume(&mut self, count: usize) {
        self.next += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_all_keys_in_order_whatever_is_consumed() {
        let mut table = MemTable::new();
        let hashes: Vec<u64> = (1..12_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        table.insert_all(&hashes, |_| {});
        for step in [1, 1000, MERGE_WINDOW, usize::MAX] {
            let (mut drain, mut keys) = (Drain::new(&table), vec![]);
            loop {
                let window = drain.fill().unwrap();
                let count = window.len().min(step);
                keys.extend_from_slice(&window[..count]);
                if count == 0 {
                    break;
                }
                drain.consume(count);
            }
            assert!(keys.is_sorted() && keys.len() == hashes.len());
        }
    }
}
