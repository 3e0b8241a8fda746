//! The quotient filter exactly as in the paper: an array of slots with three flags each, and pseudo-code that walks it
//! slot by slot. The number of slots is a power of two. The filter is slow and simple, and the fast filter is compared
//! with it.

use furui::filter::QuotientSlot as Slot;

pub(crate) struct Oracle {
    pub(crate) slots: Vec<Slot>,
    remainder_bits: u32,
}

impl Oracle {
    pub(crate) fn new(quotient_bits: u32, remainder_bits: u32) -> Self {
        Self { slots: vec![Slot::default(); 1 << quotient_bits], remainder_bits }
    }

    fn incr(&self, i: usize) -> usize {
        if i == self.slots.len() - 1 { 0 } else { i + 1 }
    }

    fn decr(&self, i: usize) -> usize {
        if i == 0 { self.slots.len() - 1 } else { i - 1 }
    }

    fn split(&self, fingerprint: u64) -> (usize, u64) {
        ((fingerprint >> self.remainder_bits) as usize, fingerprint & ((1 << self.remainder_bits) - 1))
    }

    fn is_empty(&self, i: usize) -> bool {
        let Slot { is_occupied, is_continuation, is_shifted, .. } = self.slots[i];
        !is_occupied && !is_continuation && !is_shifted
    }

    /// Fig. 6: where the run of quotient `q` begins.
    pub(crate) fn run_start(&self, q: usize) -> usize {
        let mut i = q;
        let mut k = 0;
        while self.slots[i].is_shifted {
            k += i64::from(self.slots[i].is_occupied) + (i64::from(self.slots[i].is_continuation) - 1);
            i = self.decr(i);
        }
        i = q;
        if k > 0 {
            loop {
                i = self.incr(i);
                k += i64::from(self.slots[i].is_continuation) - 1;
                if k <= 0 {
                    break;
                }
            }
        }
        i
    }

    /// The slot of the first copy of the fingerprint.
    fn find(&self, fingerprint: u64) -> Option<usize> {
        let (q, r) = self.split(fingerprint);
        if !self.slots[q].is_occupied {
            return None;
        }
        let mut i = self.run_start(q);
        loop {
            if self.slots[i].remainder == r {
                return Some(i);
            }
            if self.slots[i].remainder > r {
                return None;
            }
            i = self.incr(i);
            if !self.slots[i].is_continuation {
                return None;
            }
        }
    }

    pub(crate) fn contains(&self, fingerprint: u64) -> bool {
        self.find(fingerprint).is_some()
    }

    /// Stores a copy of the fingerprint. At least one slot must be empty.
    pub(crate) fn insert(&mut self, fingerprint: u64) {
        let (q, r) = self.split(fingerprint);
        let mut new = Slot { remainder: r, ..Slot::default() };
        if self.is_empty(q) {
            self.slots[q] = Slot { is_occupied: true, ..new };
            return;
        }
        let had_run = self.slots[q].is_occupied;
        self.slots[q].is_occupied = true;
        let start = self.run_start(q);
        let mut i = start;
        if had_run {
            loop {
                if self.slots[i].remainder >= r {
                    break;
                }
                i = self.incr(i);
                if !self.slots[i].is_continuation {
                    break;
                }
            }
            if i == start {
                self.slots[start].is_continuation = true;
            } else {
                new.is_continuation = true;
            }
        }
        new.is_shifted = i != q;
        // Shift everything up to the next empty slot. The flag is_occupied stays with the slot, not with the value.
        loop {
            let empty = self.is_empty(i);
            let mut old = self.slots[i];
            new.is_occupied = old.is_occupied;
            self.slots[i] = new;
            if empty {
                return;
            }
            old.is_shifted = true;
            new = old;
            i = self.incr(i);
        }
    }

    /// Removes one copy of the fingerprint, and moves the rest of the cluster back.
    pub(crate) fn remove(&mut self, fingerprint: u64) -> bool {
        let Some(hole) = self.find(fingerprint) else { return false };
        let (q, _) = self.split(fingerprint);
        let was_first = !self.slots[hole].is_continuation;
        let behind = self.incr(hole);
        let run_goes_on = behind != hole && self.slots[behind].is_continuation;
        let (mut to, mut quotient) = (hole, q);
        loop {
            let from = self.incr(to);
            if self.is_empty(from) || !self.slots[from].is_shifted {
                self.slots[to] = Slot { is_occupied: self.slots[to].is_occupied, ..Slot::default() };
                break;
            }
            if !self.slots[from].is_continuation {
                loop {
                    quotient = self.incr(quotient);
                    if self.slots[quotient].is_occupied {
                        break;
                    }
                }
            }
            let is_continuation = self.slots[from].is_continuation && !(to == hole && was_first);
            self.slots[to] = Slot {
                is_occupied: self.slots[to].is_occupied,
                is_continuation,
                is_shifted: to != quotient,
                remainder: self.slots[from].remainder,
            };
            to = from;
        }
        if was_first && !run_goes_on {
            self.slots[q].is_occupied = false;
        }
        true
    }
}
