//! The quotient filter as the encyclopedia's entry describes it: three flags beside each remainder, and walks from slot
//! to slot.

const OCCUPIED: u8 = 1;
const CONTINUATION: u8 = 2;
const SHIFTED: u8 = 4;
/// The fourth flag, of a slot whose fingerprint was deleted in place.
const TOMBSTONE: u8 = 8;

/// A quotient filter of 2^q slots and remainders of 8 bits, which keeps a copy for each key.
///
/// Searches skip a tombstone. An insertion overwrites a tombstone in the run of the new fingerprint, if it is at the
/// place of the fingerprint. Tombstones at the end of a cluster become empty slots. The encyclopedia's entry says that
/// `is_occupied` is reset when the last fingerprint of a run is deleted. The first slot of that run is then marked as a
/// continuation, so that the number of runs stays equal to the number of occupied slots, which Fig. 6 counts.
pub(super) struct Literal {
    remainders: Vec<u8>,
    flags: Vec<u8>,
    mask: usize,
    shift: u32,
    /// The number of slots that are not empty.
    used: usize,
}

impl Literal {
    pub(super) fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two());
        let shift = 64 - slots.ilog2();
        Self { remainders: vec![0; slots], flags: vec![0; slots], mask: slots - 1, shift, used: 0 }
    }

    /// The share of the slots that are not empty.
    pub(super) fn load(&self) -> f64 {
        self.used as f64 / self.flags.len() as f64
    }

    fn split(&self, hash: u64) -> (usize, u8) {
        ((hash >> self.shift) as usize, (hash << (64 - self.shift) >> 56) as u8)
    }

    fn next(&self, slot: usize) -> usize {
        (slot + 1) & self.mask
    }

    fn previous(&self, slot: usize) -> usize {
        slot.wrapping_sub(1) & self.mask
    }

    fn has(&self, slot: usize, flag: u8) -> bool {
        self.flags[slot] & flag != 0
    }

    fn number(&self, slot: usize, flag: u8) -> isize {
        isize::from(self.has(slot, flag))
    }

    fn is_empty(&self, slot: usize) -> bool {
        self.flags[slot] & (OCCUPIED | CONTINUATION | SHIFTED | TOMBSTONE) == 0
    }

    /// The first slot of the run of a quotient, found by the walk of the encyclopedia's Fig. 6.
    fn run(&self, quotient: usize) -> usize {
        let (mut slot, mut runs) = (quotient, 0);
        while self.has(slot, SHIFTED) {
            runs += self.number(slot, OCCUPIED) + self.number(slot, CONTINUATION) - 1;
            slot = self.previous(slot);
        }
        slot = quotient;
        while runs > 0 {
            slot = self.next(slot);
            runs += self.number(slot, CONTINUATION) - 1;
        }
        slot
    }

    /// The slot of a fingerprint, given as its quotient and remainder; `None` if the filter does not have it.
    fn find(&self, quotient: usize, remainder: u8) -> Option<usize> {
        if !self.has(quotient, OCCUPIED) {
            return None;
        }
        let mut slot = self.run(quotient);
        loop {
            if !self.has(slot, TOMBSTONE) {
                match self.remainders[slot] {
                    held if held == remainder => return Some(slot),
                    held if held > remainder => return None,
                    _ => {}
                }
            }
            slot = self.next(slot);
            if !self.has(slot, CONTINUATION) {
                return None;
            }
        }
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        let (quotient, remainder) = self.split(hash);
        self.find(quotient, remainder).is_some()
    }

    /// Inserts a copy of the fingerprint of `hash`. Returns false if that would take the last empty slot: walks end at
    /// the first slot of a cluster, and a full table may have no such slot.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        let (quotient, remainder) = self.split(hash);
        let is_full = self.used + 1 == self.flags.len();
        if self.is_empty(quotient) {
            if is_full {
                return false;
            }
            (self.remainders[quotient], self.flags[quotient]) = (remainder, OCCUPIED);
            self.used += 1;
            return true;
        }
        if self.flags[quotient] & (TOMBSTONE | SHIFTED | OCCUPIED) == TOMBSTONE {
            // The slot is the first of a cluster whose first run was deleted.
            (self.remainders[quotient], self.flags[quotient]) = (remainder, OCCUPIED);
            return true;
        }
        if is_full {
            return false;
        }
        let was_there = self.has(quotient, OCCUPIED);
        self.flags[quotient] |= OCCUPIED;
        let start = self.run(quotient);
        let mut slot = start;
        if was_there {
            // A tombstone after the last smaller remainder is overwritten.
            loop {
                if self.has(slot, TOMBSTONE) {
                    let next = self.next_live(slot);
                    if next.is_none_or(|next| self.remainders[next] >= remainder) {
                        self.remainders[slot] = remainder;
                        self.flags[slot] &= !TOMBSTONE;
                        return true;
                    }
                } else if self.remainders[slot] >= remainder {
                    break;
                }
                slot = self.next(slot);
                if !self.has(slot, CONTINUATION) {
                    break;
                }
            }
        }
        let is_first = slot == start;
        if was_there && is_first {
            self.flags[start] |= CONTINUATION;
        }
        let new = if is_first { 0 } else { CONTINUATION };
        self.shift_in(slot, remainder, new | if slot == quotient { 0 } else { SHIFTED });
        true
    }

    /// The next slot of the run to which `slot` belongs that is no tombstone; `None` after the last one.
    fn next_live(&self, mut slot: usize) -> Option<usize> {
        loop {
            slot = self.next(slot);
            if !self.has(slot, CONTINUATION) {
                return None;
            }
            if !self.has(slot, TOMBSTONE) {
                return Some(slot);
            }
        }
    }

    /// Writes a fingerprint into `slot`. Before that, moves the contents of the slots from `slot` up to the next empty
    /// slot, each to the following slot. The flags `is_occupied` are not moved.
    fn shift_in(&mut self, mut slot: usize, mut remainder: u8, mut flags: u8) {
        loop {
            let was_empty = self.is_empty(slot);
            let (old, old_flags) = (self.remainders[slot], self.flags[slot]);
            self.remainders[slot] = remainder;
            self.flags[slot] = old_flags & OCCUPIED | flags;
            if was_empty {
                self.used += 1;
                return;
            }
            remainder = old;
            flags = old_flags & (CONTINUATION | TOMBSTONE) | SHIFTED;
            if old_flags & (TOMBSTONE | SHIFTED | OCCUPIED) == TOMBSTONE {
                flags |= CONTINUATION;
            }
            slot = self.next(slot);
        }
    }

    /// Deletes a copy of the fingerprint of `hash`, and moves the rest of its cluster back. Returns false if there is
    /// no copy.
    pub(super) fn remove_by_shifting(&mut self, hash: u64) -> bool {
        let (mut quotient, remainder) = self.split(hash);
        let Some(found) = self.find(quotient, remainder) else { return false };
        let (is_first, next) = (!self.has(found, CONTINUATION), self.next(found));
        let is_alone = is_first && !self.has(next, CONTINUATION);
        let last_of = quotient;
        let mut slot = found;
        loop {
            let next = self.next(slot);
            if !self.has(next, SHIFTED) || next == found {
                break;
            }
            let mut flags = self.flags[next] & CONTINUATION | SHIFTED;
            if flags & CONTINUATION == 0 {
                quotient = self.next(quotient);
                while !self.has(quotient, OCCUPIED) {
                    quotient = self.next(quotient);
                }
                if quotient == slot {
                    flags = 0;
                }
            }
            self.remainders[slot] = self.remainders[next];
            self.flags[slot] = self.flags[slot] & OCCUPIED | flags;
            slot = next;
        }
        self.flags[slot] = 0;
        self.used -= 1;
        if is_alone {
            self.flags[last_of] &= !OCCUPIED;
        } else if is_first {
            self.flags[found] &= !CONTINUATION;
            if found == last_of {
                self.flags[found] &= !SHIFTED;
            }
        }
        true
    }

    /// Deletes a copy and leaves a tombstone in its slot. Returns false if there is no copy.
    pub(super) fn remove_by_tombstone(&mut self, hash: u64) -> bool {
        let (quotient, remainder) = self.split(hash);
        let Some(mut slot) = self.find(quotient, remainder) else { return false };
        self.flags[slot] |= TOMBSTONE;
        let start = self.run(quotient);
        if self.has(start, TOMBSTONE) && self.next_live(start).is_none() {
            self.flags[quotient] &= !OCCUPIED;
            if self.has(start, SHIFTED) {
                self.flags[start] |= CONTINUATION;
            }
        }
        while self.has(slot, TOMBSTONE) && !self.has(self.next(slot), SHIFTED) {
            self.flags[slot] = 0;
            self.used -= 1;
            slot = self.previous(slot);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::keys::mix;

    #[test]
    fn both_ways_of_deleting_keep_what_was_not_deleted() {
        for remove in [Literal::remove_by_shifting, Literal::remove_by_tombstone] {
            for seed in 0..8 {
                let mut table = Literal::new(64);
                let mut model: BTreeMap<u64, u32> = BTreeMap::new();
                for i in 0..2000 {
                    let random = mix(seed << 32 | i);
                    // One of at most 320 fingerprints. About three quarters of them belong into the first half of the
                    // table, so that clusters become long.
                    let hash = mix(random % 160) >> (random >> 8 & 1) & 0xFFFC_0000_0000_0000;
                    if random >> 60 < 9 && model.values().sum::<u32>() < 60 {
                        if table.insert(hash) {
                            *model.entry(hash).or_default() += 1;
                        }
                    } else {
                        let count = model.entry(hash).or_default();
                        let was_there = *count > 0;
                        assert_eq!(remove(&mut table, hash), was_there, "seed {seed}, step {i}");
                        *count -= u32::from(was_there);
                    }
                    for (&hash, &count) in &model {
                        assert_eq!(table.contains(hash), count > 0, "seed {seed}, step {i}");
                    }
                }
                assert!(table.used as u32 >= model.values().sum());
            }
        }
    }
}
