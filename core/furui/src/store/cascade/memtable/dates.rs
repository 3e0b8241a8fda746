//! A table that knows in which slice of a window each key occurred last.

use super::{MemTable, PREFETCH_KEYS};
use crate::bits::prefetch;
use crate::store::Window;

/// The maximum difference between the present slice and the slice of age 0 (`epoch`). Beyond it, a later slice becomes
/// the one of age 0.
const MAX_AGE: u64 = 1 << 15;

/// The result of looking a key up in a table with a window: the slice of its last occurrence, as far as the table has
/// recorded it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Known {
    /// The table does not have the key, or its last occurrence was before the window began.
    No,
    /// The key's last occurrence was in an earlier slice of the window than the present one.
    Earlier,
    /// The key occurred in the present slice of the window already.
    Present,
}

impl MemTable {
    /// The age of a key whose last occurrence was in this slice. For a slice that is too late to have an age, the
    /// result is greater than the age of every key.
    pub(in super::super) fn age_of(&self, slice: u64) -> u16 {
        u16::try_from(slice.saturating_sub(self.epoch)).unwrap_or(u16::MAX)
    }

    /// Inserts hashes that occur in this slice, in order. Calls `on_known` with the index of each hash and with the
    /// result of its look-up before the insertion. Room must have been reserved, and no earlier call may have had a
    /// later slice.
    pub(in super::super) fn insert_dated(
        &mut self,
        hashes: &[u64],
        slice: u64,
        mut on_known: impl FnMut(usize, Known),
    ) {
        self.begin(slice);
        let (present, oldest) = (self.age_of(slice), self.age_of(Window::oldest(slice)));
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&ahead) = hashes.get(i + PREFETCH_KEYS) {
                self.prefetch_dated(ahead);
            }
            let (at, is_new) = self.insert(hash);
            let age = std::mem::replace(&mut self.ages[at], present);
            on_known(i, known(is_new, age, oldest, present));
        }
    }

    /// Removes from a sorted batch the hashes that the table has in the window that ends with this slice. Those among
    /// them that occurred only in earlier slices are moved to this slice, and `on_repeat` is called with each of them.
    pub(in super::super) fn retain_unknown(
        &mut self,
        batch: &mut Vec<(u64, u32)>,
        slice: u64,
        mut on_repeat: impl FnMut(u64),
    ) {
        self.begin(slice);
        let (present, oldest) = (self.age_of(slice), self.age_of(Window::oldest(slice)));
        let mut kept = 0;
        for i in 0..batch.len() {
            if let Some(&(ahead, _)) = batch.get(i + PREFETCH_KEYS) {
                self.prefetch_dated(ahead);
            }
            let pair = batch[i];
            let at = self.position(pair.0);
            match known(self.slots[at] != pair.0, self.ages[at], oldest, present) {
                Known::No => {
                    batch[kept] = pair;
                    kept += 1;
                }
                Known::Earlier => {
                    self.ages[at] = present;
                    on_repeat(pair.0);
                }
                Known::Present => {}
            }
        }
        batch.truncate(kept);
    }

    /// True if the table has the hash, and its last occurrence was in the window that ends with this slice.
    pub(in super::super) fn knows(&self, hash: u64, slice: u64) -> bool {
        let at = self.position(hash);
        self.slots[at] == hash && self.ages[at] >= self.age_of(Window::oldest(slice))
    }

    /// The number of hashes whose last occurrence was in the window that ends with this slice. Cost: one pass over the
    /// table.
    pub(in super::super) fn remembered(&self, slice: u64) -> usize {
        let oldest = self.age_of(Window::oldest(slice));
        self.slots.iter().zip(&self.ages).filter(|&(&slot, &age)| slot != 0 && age >= oldest).count()
    }

    /// Removes the hashes whose last occurrence was before the window that ends with this slice.
    pub(in super::super) fn forget(&mut self, slice: u64) {
        let (epoch, oldest) = (Window::oldest(slice), self.age_of(Window::oldest(slice)));
        let mut forgotten = 0;
        for (slot, age) in self.slots.iter_mut().zip(&mut self.ages).filter(|(slot, _)| **slot != 0) {
            if *age < oldest {
                *slot = 0;
                forgotten += 1;
            } else {
                *age -= oldest;
            }
        }
        self.epoch = epoch;
        if forgotten > 0 {
            self.len -= forgotten;
            self.spread(0);
            self.crowded = false;
        }
    }

    /// Returns, in order, each slice in which hashes of the table occurred last, and the number of these hashes.
    pub(in super::super) fn slices(&self) -> Vec<(u64, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (_, &age) in self.slots.iter().zip(&self.ages).filter(|(slot, _)| **slot != 0) {
            *counts.entry(self.epoch + u64::from(age)).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }

    /// Makes sure that this slice has an age, by removing old hashes and moving the slice of age 0 if necessary.
    fn begin(&mut self, slice: u64) {
        if self.len == 0 {
            self.epoch = Window::oldest(slice);
        } else if slice.saturating_sub(self.epoch) > MAX_AGE {
            self.forget(slice);
        }
    }

    #[inline]
    fn prefetch_dated(&self, hash: u64) {
        let home = self.home(hash);
        prefetch(&self.slots[home]);
        prefetch(&self.ages[home]);
    }
}

#[inline]
fn known(is_new: bool, age: u16, oldest: u16, present: u16) -> Known {
    if is_new || age < oldest {
        Known::No
    } else if age < present {
        Known::Earlier
    } else {
        Known::Present
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_the_window_has_left_is_removed_and_the_rest_stays_in_order() {
        let mut table = MemTable::dated();
        assert!(table.reserve(5000, usize::MAX).unwrap());
        let mut model = BTreeMap::new();
        // Hashes crowd in two places, so clusters lose keys in the middle.
        let hash = |i: u64| if i.is_multiple_of(3) { u64::MAX - i } else { 1 + i % 3 * (1 << 62) + i };
        let late =
            [MAX_AGE, 3 * MAX_AGE, 1 << 40].into_iter().flat_map(|late| [1, 2, 7, 30].map(|more| late + 91 + more));
        for slice in (0..60).chain([100, 110]).chain(late) {
            let hashes: Vec<u64> = (slice * 40..slice * 40 + 100).chain([slice * 40]).map(|i| hash(i % 3000)).collect();
            let known = |model: &BTreeMap<u64, u64>, hash| match model.get(&hash) {
                Some(&last) if last == slice => Known::Present,
                Some(&last) if last >= Window::oldest(slice) => Known::Earlier,
                _ => Known::No,
            };
            if slice % 2 == 0 {
                table.insert_dated(&hashes, slice, |i, found| {
                    assert!(found == known(&model, hashes[i]), "{slice}: {i}");
                    model.insert(hashes[i], slice);
                });
            } else {
                let mut batch: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
                batch.sort_unstable();
                let unknown: Vec<(u64, u32)> =
                    batch.iter().copied().filter(|&(hash, _)| known(&model, hash) == Known::No).collect();
                let mut repeats = vec![];
                table.retain_unknown(&mut batch, slice, |hash| repeats.push(hash));
                assert!(batch == unknown, "{slice}");
                assert!(repeats.iter().all(|&hash| known(&model, hash) == Known::Earlier));
                model.extend(repeats.into_iter().map(|hash| (hash, slice)));
                assert!(hashes.iter().all(|&hash| known(&model, hash) != Known::Earlier));
            }
            if slice % 5 == 0 {
                table.forget(slice);
                model.retain(|_, &mut last| last >= Window::oldest(slice));
                assert_eq!(table.len(), model.len(), "{slice}");
                assert!(table.slots().iter().filter(|&&slot| slot != 0).eq(model.keys()));
                let mut slices = BTreeMap::new();
                model.values().for_each(|&last| *slices.entry(last).or_insert(0) += 1);
                assert!(table.slices() == slices.into_iter().collect::<Vec<_>>(), "{slice}");
            }
            let remembered = |last: u64| last >= Window::oldest(slice);
            assert_eq!(table.remembered(slice), model.values().filter(|&&last| remembered(last)).count());
            assert!(model.iter().all(|(&hash, &last)| table.knows(hash, slice) == remembered(last)), "{slice}");
            assert!(!table.knows(hash(3001), slice));
        }
    }
}
