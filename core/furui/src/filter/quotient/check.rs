use std::ops::Deref;

use super::QuotientFilter;
use super::slot_table::Slot;
use crate::bits::word::low_bits;

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// Checks that the table, which may be arbitrary bytes, is one that a filter with this shape, length and number of
    /// distinct fingerprints can have, so that no operation on it can misbehave. Otherwise returns the problem.
    ///
    /// A set of fingerprints has only one possible table. So the check lays out the runs anew, in the order of their
    /// quotients, as linear probing does when it starts after the slots that wrapped around. Each slot and offset must
    /// equal the result, and nothing may be left over. Cost: one pass, about 7 ns a slot.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let runs = self.check_runs()?;
        let table = &self.table;
        let (mut used, mut starts) = (0, 0);
        for block in 0..table.blocks() {
            let head = table.head(block);
            if (head.used() | head.starts) & !low_bits(table.width(block)) != 0 {
                return Err("a slot beyond the last has a flag set");
            }
            used += u64::from(head.used().count_ones());
            starts += u64::from(head.starts.count_ones());
            let mut empty = !head.used();
            while empty != 0 {
                if table.remainder(Slot { block, index: empty.trailing_zeros() }) != 0 {
                    return Err("an empty slot holds a remainder");
                }
                empty &= empty - 1;
            }
        }
        if used != self.len || starts != runs {
            return Err("a slot has a flag set and belongs to no run");
        }
        if table.padding().iter().any(|&byte| byte != 0) {
            return Err("the table is not padded with zeros");
        }
        Ok(())
    }

    /// Checks that each run is at the only place where it can be, and in order. Returns the number of runs, or the
    /// problem.
    fn check_runs(&self) -> Result<u64, &'static str> {
        let (table, slots) = (&self.table, self.shape.slots);
        // Slot numbers continue past the table's end: slots that wrapped around have numbers below `wrapped` at the
        // start of the walk, and `slots` or more at its end.
        let wrapped = u64::from(table.head(0).offset);
        if wrapped >= slots {
            return Err("more slots wrap around than there are");
        }
        let mut next = wrapped;
        let (mut runs, mut items, mut distinct, mut one_is_home) = (0, 0, 0, false);
        for block in 0..table.blocks() {
            let head = table.head(block);
            if u64::from(head.offset) != next.saturating_sub(block as u64 * 64) {
                return Err("the offset of a block is not the end of the runs of earlier blocks");
            }
            let mut occupied = head.occupied & low_bits(table.width(block));
            while occupied != 0 {
                let quotient = block as u64 * 64 + u64::from(occupied.trailing_zeros());
                occupied &= occupied - 1;
                let position = next.max(quotient);
                let is_home = position == quotient;
                // `position` is below 2 · `slots`: it exceeds `wrapped`, or the quotient, by at most the number of
                // items before it.
                let mut slot = table.slot_at(if position < slots { position } else { position - slots });
                if !table.starts(slot) || table.is_shifted(slot) == is_home {
                    return Err("a run does not begin in its slot");
                }
                one_is_home |= is_home;
                runs += 1;
                next = position;
                let mut before = None;
                loop {
                    let remainder = table.remainder(slot);
                    if before > Some(remainder) || before == Some(remainder) && !self.counting {
                        return Err("the remainders of a run do not ascend");
                    }
                    distinct += u64::from(before != Some(remainder));
                    before = Some(remainder);
                    items += 1;
                    if items > self.len {
                        return Err("the table holds more fingerprints than META states");
                    }
                    next += 1;
                    slot = table.next(slot);
                    if !table.continues(slot) {
                        break;
                    }
                    if !table.is_shifted(slot) {
                        return Err("a slot inside a run is not shifted");
                    }
                }
                if before.is_some_and(|greatest| !self.shape.has(quotient, greatest)) {
                    return Err("a remainder is greater than its quotient allows");
                }
            }
        }
        if next.saturating_sub(slots) != wrapped {
            return Err("the runs that wrap around do not end where the first runs begin");
        }
        if items == slots && !one_is_home {
            return Err("no run begins in its canonical slot");
        }
        if items != self.len || distinct != self.distinct {
            return Err("the table does not hold as many fingerprints as META states");
        }
        Ok(runs)
    }
}
