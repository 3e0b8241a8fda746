use std::vec::IntoIter;

use super::k_way::{MERGE_WINDOW, SortedSource};
use super::memtable::MemTable;
use super::room::fill_to;
use crate::error::Result;

/// A sorted source for a merge, which reads the keys of tables in RAM. The tables, one after the other, are in the
/// order of hashes, with empty slots between them.
pub(super) struct Drain<'a> {
    slots: &'a [u64],
    /// The age of each hash in `slots`. It is empty if hashes of every age are read.
    ages: &'a [u16],
    /// The age of the hashes that are read; hashes of other ages are skipped.
    age: u16,
    /// The slots of the tables that are read after the current one.
    later: IntoIter<&'a [u64]>,
    /// The keys that were read from the slots last, without empty slots. The keys before index `next` are consumed.
    keys: Vec<u64>,
    next: usize,
}

/// The number of slots that are read at a time. In a table that is more than a quarter full, they usually hold the
/// [`MERGE_WINDOW`] keys that the merge takes at a time.
const SLOTS: usize = 4 * MERGE_WINDOW;

impl<'a> Drain<'a> {
    /// A source of the keys of several tables, in the order of their ranges of hashes.
    pub(super) fn new(tables: impl Iterator<Item = &'a MemTable>) -> Self {
        let tables: Vec<&[u64]> = tables.map(MemTable::slots).collect();
        Self { slots: &[], ages: &[], age: 0, later: tables.into_iter(), keys: vec![], next: 0 }
    }

    /// A source of the keys of a table whose last occurrence was in this slice of the window.
    pub(super) fn of_slice(table: &'a MemTable, slice: u64) -> Self {
        Self { slots: table.slots(), ages: table.ages(), age: table.age_of(slice), ..Self::new(std::iter::empty()) }
    }
}

impl SortedSource for Drain<'_> {
    fn fill(&mut self) -> Result<&[u64]> {
        while self.keys.len() - self.next < MERGE_WINDOW {
            if self.slots.is_empty() {
                match self.later.next() {
                    Some(slots) => self.slots = slots,
                    None => break,
                }
            }
            self.keys.drain(..self.next);
            self.next = 0;
            let (now, later) = self.slots.split_at(SLOTS.min(self.slots.len()));
            self.slots = later;
            let (ages, later) = self.ages.split_at(now.len().min(self.ages.len()));
            self.ages = later;
            // Every slot is copied, and only full ones are kept, so that no branch depends on the load.
            let mut len = self.keys.len();
            fill_to(&mut self.keys, len + now.len(), 0)?;
            if ages.is_empty() {
                for &slot in now {
                    self.keys[len] = slot;
                    len += usize::from(slot != 0);
                }
            }
            for (&slot, &age) in now.iter().zip(ages) {
                self.keys[len] = slot;
                len += usize::from(slot != 0 && age == self.age);
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
    use super::super::memtable::range_of;
    use super::*;

    #[test]
    fn gives_all_keys_in_order_whatever_is_consumed() {
        let hashes: Vec<u64> = (1..12_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        for (step, count) in [(1, 1), (1000, 2), (MERGE_WINDOW, 1), (MERGE_WINDOW, 3), (usize::MAX, 1), (usize::MAX, 7)]
        {
            let mut tables: Vec<MemTable> = (0..count).map(|number| MemTable::of_range(number, count)).collect();
            for &hash in &hashes {
                let table = &mut tables[range_of(hash, count)];
                assert!(table.reserve(1, usize::MAX).unwrap());
                table.insert_all(&[hash], |_| {});
            }
            let (mut drain, mut keys) = (Drain::new(tables.iter()), vec![]);
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
