use std::ops::Deref;

use super::QuotientFilter;
use super::table::Slot;

/// One slot as the paper draws it; see [`QuotientFilter::slot`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotientSlot {
    /// Some fingerprint held has this slot's number as its quotient.
    pub is_occupied: bool,
    /// The remainder here belongs to the same run as that of the slot before.
    pub is_continuation: bool,
    /// The remainder here is not in its canonical slot.
    pub is_shifted: bool,
    /// The remainder; 0 in an empty slot, which has no flag set.
    pub remainder: u64,
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// What the slot of number `slot` holds, to inspect a table; `None` beyond the last.
    pub fn slot(&self, slot: u64) -> Option<QuotientSlot> {
        if slot >= self.shape.slots {
            return None;
        }
        let (block, index) = ((slot / 64) as usize, (slot % 64) as u32);
        let head = self.table.head(block);
        Some(QuotientSlot {
            is_occupied: head.occupied >> index & 1 == 1,
            is_continuation: head.continuation() >> index & 1 == 1,
            is_shifted: head.shifted >> index & 1 == 1,
            remainder: self.table.remainder(Slot { block, index }),
        })
    }
}
