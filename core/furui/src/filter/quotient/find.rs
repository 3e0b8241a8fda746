use std::ops::Deref;

use crate::bits::Cpu;
use crate::bits::word::{Lanes, low_bits};
use crate::filter::Filter;
use crate::hash::{HashSpec, KeyHash};

use super::QuotientFilter;
use super::block::Head;
use super::slot_table::{Slot, SlotTable};

/// The number of look-ups by which the prefetch of [`QuotientFilter::contains_all`] is ahead.
const PREFETCH_DISTANCE: usize = 16;

/// The minimum table size, in bits, at which lookups prefetch (1 MiB). Smaller tables lie in a core's caches, where
/// prefetching costs more than it saves.
const PREFETCH_BITS: u64 = 8 << 20;

impl<M: Deref<Target = [u8]>> SlotTable<M> {
    /// The first slot of the `rank`-th run, counted from 0, among the runs of the quotients of `block`.
    ///
    /// Runs lie in the order of their quotients, and the first of this block's runs begins at or after slot `offset`.
    /// So one select operation on the bits that mark the starts of runs, from that slot on, replaces the walk of the
    /// original quotient filter to the start of the cluster and back.
    #[inline(always)]
    pub(super) fn run_start(&self, words: Cpu, block: usize, head: &Head, rank: u32) -> Slot {
        match near_run_start(words, head, rank) {
            64.. => self.distant_run_start(words, block, rank),
            index => Slot { block, index },
        }
    }

    /// Works like [`run_start`](Self::run_start) for a run that begins in a later block. It is not inlined, so that
    /// the common path takes few registers and instructions: then more lookups are in flight at a time.
    #[inline(never)]
    fn distant_run_start(&self, words: Cpu, block: usize, rank: u32) -> Slot {
        words.run(
            #[inline(always)]
            move |words| {
                let (mut block, mut rank) = (block, rank);
                let mut head = self.head(block);
                let mut skip = u32::from(head.offset);
                loop {
                    let starts = if skip < 64 { head.starts & (u64::MAX << skip) } else { 0 };
                    let here = starts.count_ones();
                    if rank < here {
                        return Slot { block, index: words.select(starts, rank) };
                    }
                    rank -= here;
                    skip = skip.saturating_sub(self.width(block));
                    block = self.next_block(block);
                    head = self.head(block);
                }
            },
        )
    }

    /// True if `remainder` is in the run of `quotient`. This method branches on whether the quotient has a run, and
    /// otherwise only on rare cases: a long run, or a run that is not wholly in the block of its quotient.
    ///
    /// In a table larger than the caches, speed depends on how many lookups are in flight at a time. The fewer
    /// instructions a lookup takes, the more there are. All rare cases therefore call one function, which starts over.
    #[inline(always)]
    pub(super) fn contains(&self, words: Cpu, lanes: &Lanes, quotient: u64, remainder: u64) -> bool {
        let block = self.block((quotient / 64) as usize);
        let index = (quotient % 64) as u32;
        // The run begins in its canonical slot or soon after: a prefetch now loads its lines together with the head's.
        block.prefetch_remainders(index);
        let head = block.head();
        if head.occupied >> index & 1 == 0 {
            return false;
        }
        let rank = words.count_ones(head.occupied & low_bits(index));
        let first = near_run_start(words, &head, rank);
        if first >= 64 {
            return self.walk_finds(words, quotient, remainder);
        }
        // The slots before the next run start belong to this run, or are empty, and empty slots hold 0. A remainder of
        // 0 can only be the first of its run, so it is compared with the first slot only.
        let ends = head.starts >> first >> 1 | 1 << (63 - first);
        let run = if remainder == 0 { 1 } else { ends.trailing_zeros() + 1 };
        let remainders = block.remainders_from(first);
        let (found, compared) = if lanes.count() > 1 {
            (lanes.any_equal(remainders, remainder, run.min(lanes.count())), lanes.count())
        } else {
            let second = block.remainders_from(first + u32::from(run > 1));
            (lanes.either_equal(remainders, second, remainder), 2)
        };
        if found {
            return true;
        }
        if run <= compared && first + run < 64 {
            return false;
        }
        self.walk_finds(words, quotient, remainder)
    }

    /// Works like [`contains`](Self::contains) for any quotient that has a run. It compares one remainder after the
    /// other.
    #[inline(never)]
    fn walk_finds(&self, words: Cpu, quotient: u64, remainder: u64) -> bool {
        words.run(
            #[inline(always)]
            move |words| {
                let table = self.lend();
                let (block, index) = ((quotient / 64) as usize, (quotient % 64) as u32);
                let head = table.head(block);
                let rank = (head.occupied & low_bits(index)).count_ones();
                let mut slot = table.run_start(words, block, &head, rank);
                loop {
                    let found = table.remainder(slot);
                    if found >= remainder {
                        return found == remainder;
                    }
                    slot = table.next(slot);
                    if !table.continues(slot) {
                        return false;
                    }
                }
            },
        )
    }

    /// The number of copies of `remainder` in the run of `quotient`.
    pub(super) fn count(&self, words: Cpu, quotient: u64, remainder: u64) -> u64 {
        let (block, index) = ((quotient / 64) as usize, (quotient % 64) as u32);
        let head = self.head(block);
        if head.occupied >> index & 1 == 0 {
            return 0;
        }
        let rank = (head.occupied & low_bits(index)).count_ones();
        let mut slot = self.run_start(words, block, &head, rank);
        let mut count = 0;
        loop {
            let found = self.remainder(slot);
            if found > remainder {
                return count;
            }
            count += u64::from(found == remainder);
            slot = self.next(slot);
            if !self.continues(slot) {
                return count;
            }
        }
    }

    /// True if a run begins in `slot`.
    #[inline(always)]
    pub(super) fn starts(&self, slot: Slot) -> bool {
        self.head(slot.block).starts >> slot.index & 1 == 1
    }

    /// True if the remainder in `slot` is shifted, that is, not in its canonical slot (the flag is_shifted of Bender et
    /// al.).
    #[inline(always)]
    pub(super) fn is_shifted(&self, slot: Slot) -> bool {
        self.head(slot.block).shifted >> slot.index & 1 == 1
    }

    /// True if the remainder in `slot` continues the run of the slot before (the flag is_continuation of Bender et
    /// al.).
    #[inline(always)]
    pub(super) fn continues(&self, slot: Slot) -> bool {
        self.head(slot.block).continuation() >> slot.index & 1 == 1
    }
}

/// The index in its block of a run's first slot (see [`SlotTable::run_start`]); 64 if that slot is in a later block.
#[inline(always)]
fn near_run_start(words: Cpu, head: &Head, rank: u32) -> u32 {
    let offset = u32::from(head.offset);
    if offset < 64 { words.select(head.starts & (u64::MAX << offset), rank) } else { 64 }
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// The number of copies of `key` in the filter: at most 1 unless the filter is [`counting`](Self::counting). Keys
    /// that share its fingerprint are counted too, because the filter cannot tell them apart.
    pub fn count(&self, key: impl AsRef<[u8]>) -> u64 {
        self.count_hash(self.hash.hash(key.as_ref()))
    }

    /// Works like [`count`](Self::count) for a key that the caller hashed by [`hash_spec`](Self::hash_spec). Nothing
    /// checks this: a hash that was made in another way counts as the hash of another key.
    pub fn count_hash(&self, key: KeyHash) -> u64 {
        let (quotient, remainder) = self.shape.locate(key);
        self.table.count(self.words, quotient, remainder)
    }

    /// Works like [`contains`](Filter::contains_hash) on processors without the instructions that make inlining
    /// worthwhile.
    #[inline(never)]
    fn call_contains(&self, key: KeyHash) -> bool {
        let (quotient, remainder) = self.shape.locate(key);
        self.table.contains(self.words, &self.lanes, quotient, remainder)
    }
}

impl<M: Deref<Target = [u8]>> Filter for QuotientFilter<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline]
    fn contains_hash(&self, key: KeyHash) -> bool {
        let Some(words) = self.words.inlined() else { return self.call_contains(key) };
        let (quotient, remainder) = self.shape.locate(key);
        self.table.contains(words, &self.lanes, quotient, remainder)
    }

    /// Looks up the keys in order, and prefetches for later keys if the table is larger than a core's caches.
    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        let distance = if self.table.bits() < PREFETCH_BITS { keys.len() } else { PREFETCH_DISTANCE };
        self.words.run(
            #[inline(always)]
            |words| {
                let table = self.table.lend();
                out.extend(keys.iter().enumerate().map(
                    #[inline(always)]
                    |(i, &key)| {
                        if let Some(&ahead) = keys.get(i + distance) {
                            let (quotient, _) = self.shape.locate(ahead);
                            let block = table.block((quotient / 64) as usize);
                            block.prefetch_head();
                            block.prefetch_remainders((quotient % 64) as u32);
                        }
                        let (quotient, remainder) = self.shape.locate(key);
                        table.contains(words, &self.lanes, quotient, remainder)
                    },
                ));
            },
        );
    }

    /// The false-positive rate m / D, where m of the D possible fingerprints are held. This is exact for a uniform
    /// hash, because a new key has each of the D fingerprints with equal probability (to within D / 2⁶⁴, the unevenness
    /// of a scaled 64-bit hash).
    fn false_positive_rate(&self) -> f64 {
        self.distinct as f64 / self.shape.domain()
    }
}
