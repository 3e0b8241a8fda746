use crate::bits::{NoMemory, Words, prefetch, scale};

/// The cascade's level in RAM: a flat table of whole hashes in hash order.
///
/// It is a quotient filter that loses nothing: the home slot of a hash h is ⌊h · slots / 2⁶⁴⌋, its quotient, and the
/// slot holds all of h instead of the remainder. Hashes are in ascending order with empty slots (zero) between them, at
/// their home or pushed to the right of it:
///
/// ```text
///   slots   0  1  2  3  4  5  6  7
///           ·  a  b  c  ·  ·  d  e      a < b < c < d < e, no gap between a hash and its home
/// ```
///
/// A probe reads forward to the first empty slot or hash that is not smaller. An insertion pushes the rest of the
/// cluster one slot to the right. Growing is one forward pass in place, and reading the table from front to back gives
/// a sorted run.
///
/// Cost: 8 bytes for each slot. At least [`GROW_LOAD`] % of the slots are full before the table grows. A probe touches
/// one or two cache lines, and growing takes about 2 ns a slot. Differences from the quotient filter of Bender et al.
/// (2012): there are no flag bits, because a whole hash contains its quotient; and the table does not wrap around: the
/// last cluster continues in spare slots after the table.
///
/// The order is that of the hashes, so an adversary who can choose hashes can make one long cluster. A store draws a
/// random seed against that; and a table with a cluster longer than [`MAX_CLUSTER`] counts as full, against an
/// adversary who knows the seed.
///
/// Several tables can share the 64-bit numbers, each with one of as many equal ranges. Slots still hold whole hashes,
/// so the tables one after the other are a sorted run, too. Each table grows as one of that many parts of a large
/// table.
pub(crate) struct MemTable {
    /// The home slots, `homes` of them, and after them spare slots. A slot holds a hash, or 0 if it is empty. The last
    /// slot is always empty.
    slots: Words,
    homes: usize,
    /// The number of tables, each of which has one of as many equal ranges of the 64-bit hashes.
    tables: usize,
    /// The least hash of the range of hashes that the table has.
    first: u64,
    /// The number of home slots of all tables together, if each had as many as this one.
    all_homes: usize,
    len: usize,
    crowded: bool,
    /// For each slot the age of its hash: the number of slices of a window between `epoch` and the slice in which the
    /// key occurred last. Empty in a table without a window.
    ages: Vec<u16>,
    /// The slice of the window whose keys have age 0.
    epoch: u64,
}

/// The load in percent at which the table grows, up to [`LARGE_SLOTS`]. At a higher load, longer clusters cost more
/// than the saved space is worth: from 85 to 90 % an insertion costs a sixth more.
const GROW_LOAD: usize = 85;
/// The load in percent at which a table of [`LARGE_SLOTS`] or more grows, where space matters more. It is also the
/// highest load of a table that may not grow. Of several tables, it is the load of all together.
const FULL_LOAD: usize = 90;
/// The least number of home slots of a large table (64 MiB).
const LARGE_SLOTS: usize = 8 << 20;
/// The number of home slots of a new table (128 KiB), or of several new tables of a set together.
const FIRST_SLOTS: usize = 16 << 10;
/// A table grows by an eighth of its slots plus a quarter of them, where the quarter is at most this many slots (16
/// MiB) in all tables together. So tables of any size take less than 10 bytes a key plus 16 MiB, and small tables grow
/// by three eighths.
const EXTRA_SLOTS: usize = 2 << 20;
/// The number of spare slots after the last home. Uniform hashes at the loads above never fill them; if they are full,
/// more are added.
const SPARE_SLOTS: usize = 1024;
/// The maximum number of slots between the home of an inserted hash and the end of its cluster; beyond it, a table is
/// crowded. The probability that one of a billion uniform hashes at the loads above exceeds it is 10⁻²⁸.
const MAX_CLUSTER: usize = 16 << 10;
/// The number of keys by which the prefetch is ahead of the insertions of a batch: the latency of memory divided by the
/// time of an insertion.
const PREFETCH_KEYS: usize = 24;

/// The index of the range that `hash` is in, if the 64-bit hashes are divided into `ranges` equal ranges.
#[inline]
pub(super) fn range_of(hash: u64, ranges: usize) -> usize {
    scale(hash, ranges)
}

/// The number of home slots, and the number of spare slots, of a [small](MemTable::small) table.
const SMALL_SLOTS: usize = 16;

impl MemTable {
    /// A small empty table, of 256 bytes, for a program with many sets.
    pub(crate) fn small() -> Self {
        Self::with_slots(Words::heap(2 * SMALL_SLOTS), SMALL_SLOTS, 0, 1)
    }

    /// An empty table for all hashes.
    pub(crate) fn new() -> Self {
        Self::of_range(0, 1)
    }

    /// An empty table for one of `tables` equal ranges of the 64-bit hashes: the hashes for which [`range_of`] returns
    /// `number`.
    pub(crate) fn of_range(number: usize, tables: usize) -> Self {
        let homes = (FIRST_SLOTS / tables).max(SMALL_SLOTS);
        Self::with_slots(Words::pages(homes + SPARE_SLOTS), homes, number, tables)
    }

    fn with_slots(slots: Words, homes: usize, number: usize, tables: usize) -> Self {
        let first = ((number as u128) << 64).div_ceil(tables as u128) as u64;
        let all_homes = homes * tables;
        let (len, crowded, ages, epoch) = (0, false, vec![], 0);
        Self { slots, homes, tables, first, all_homes, len, crowded, ages, epoch }
    }

    /// An empty table for all hashes of a set with a window. It records the slice in which each key occurred last.
    pub(super) fn dated() -> Self {
        let new = Self::new();
        Self { ages: vec![0; new.slots.len()], ..new }
    }

    /// An empty table for the range `number`, which takes little memory. Like this table, it has a window or not, and
    /// is one of as many tables.
    pub(super) fn renewed(&self, number: usize) -> Self {
        if self.is_dated() { Self::dated() } else { Self::of_range(number, self.tables) }
    }

    /// True if the table records the slice of a window in which each key occurred last.
    pub(super) fn is_dated(&self) -> bool {
        !self.ages.is_empty()
    }

    /// The least hash of the table's range.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number of hashes in the table, all of them different.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The memory that the table takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * self.slot_bytes()
    }

    fn slot_bytes(&self) -> usize {
        size_of::<u64>() + if self.is_dated() { size_of::<u16>() } else { 0 }
    }

    /// True if a cluster is so long that the table has no room, see [`MAX_CLUSTER`].
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Makes room for `additional` more hashes, and grows to at most `max_bytes`. False if that is not enough; the
    /// table may have grown nevertheless. A crowded table has no room, see [`MAX_CLUSTER`].
    ///
    /// # Errors
    /// If the system has no memory left. The table is then unchanged.
    pub(crate) fn reserve(&mut self, additional: usize, max_bytes: usize) -> Result<bool, NoMemory> {
        Ok(!self.crowded && self.grow_for(additional, max_bytes)?)
    }

    /// Makes room as [`reserve`](Self::reserve) does, even in a crowded table.
    pub(crate) fn grow_for(&mut self, additional: usize, max_bytes: usize) -> Result<bool, NoMemory> {
        let limit = (max_bytes / self.slot_bytes()).saturating_sub(SPARE_SLOTS);
        while self.is_full(additional) {
            let homes = (self.homes + self.more_homes()).min(limit);
            if homes <= self.homes {
                return Ok(self.len + additional <= self.capacity(FULL_LOAD));
            }
            self.grow(homes)?;
        }
        Ok(true)
    }

    /// The number of bytes by which the table grows before `additional` more hashes are inserted: at least 1 if it has
    /// no room for them.
    pub(crate) fn growth(&self, additional: usize) -> usize {
        if self.is_full(additional) { self.more_homes().max(additional) * size_of::<u64>() } else { 0 }
    }

    fn is_full(&self, additional: usize) -> bool {
        self.len + additional > self.capacity(if self.all_homes < LARGE_SLOTS { GROW_LOAD } else { FULL_LOAD })
    }

    /// The number of home slots that the table adds when it grows.
    fn more_homes(&self) -> usize {
        self.homes / 8 + (self.homes / 4).min(EXTRA_SLOTS / self.tables)
    }

    /// True if [`reserve`](Self::reserve) can make room for `additional` more hashes within `max_bytes`.
    pub(crate) fn has_room(&self, additional: usize, max_bytes: usize) -> bool {
        !self.crowded && self.len + additional <= self.most(max_bytes)
    }

    /// The maximum number of hashes if the table grows to at most `max_bytes`.
    pub(crate) fn most(&self, max_bytes: usize) -> usize {
        let limit = (max_bytes / self.slot_bytes()).saturating_sub(SPARE_SLOTS);
        (self.homes.max(limit) as u128 * FULL_LOAD as u128 / 100) as usize
    }

    /// The maximum number of hashes in the table at a load of `load` percent.
    fn capacity(&self, load: usize) -> usize {
        self.homes * load / 100
    }

    /// Inserts the hashes in order, and calls `on_new` with the index of each new hash. Room must have been reserved,
    /// because this method never grows the table. No hash may be zero.
    #[inline]
    pub(crate) fn insert_all(&mut self, hashes: &[u64], mut on_new: impl FnMut(usize)) {
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&ahead) = hashes.get(i + PREFETCH_KEYS) {
                prefetch(&self.slots[self.home(ahead)]);
            }
            if self.insert(hash).1 {
                on_new(i);
            }
        }
    }

    /// Removes from a batch the hashes that the table has, and keeps the order of the others. This is fastest if the
    /// batch is sorted.
    #[inline]
    pub(crate) fn retain_absent(&self, batch: &mut Vec<(u64, u32)>) {
        let mut kept = 0;
        for i in 0..batch.len() {
            if let Some(&(ahead, _)) = batch.get(i + PREFETCH_KEYS) {
                prefetch(&self.slots[self.home(ahead)]);
            }
            let pair = batch[i];
            batch[kept] = pair;
            kept += usize::from(self.slots[self.position(pair.0)] != pair.0);
        }
        batch.truncate(kept);
    }

    /// Appends to `out` one answer for each hash: true if it is in the table. The hashes may be in any order.
    pub(crate) fn contains_all(&self, hashes: &[u64], out: &mut Vec<bool>) {
        out.extend(hashes.iter().enumerate().map(|(i, &hash)| {
            if let Some(&ahead) = hashes.get(i + PREFETCH_KEYS) {
                prefetch(&self.slots[self.home(ahead)]);
            }
            self.contains(hash)
        }));
    }

    /// True if a hash is in the table.
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.slots[self.position(hash)] == hash
    }

    /// For each of the [`slots`](Self::slots), the age of its hash; see [`age_of`](Self::age_of). Empty in a table
    /// without a window.
    pub(super) fn ages(&self) -> &[u16] {
        &self.ages
    }

    /// The slots in order: a sorted run of hashes with gaps, where a slot is zero.
    pub(crate) fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// Removes every hash from the table, which keeps its allocated memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(0);
        self.len = 0;
        self.crowded = false;
    }

    /// The home slot of a hash in the table's range. It is less than `homes`, because the distance of the hash from the
    /// first of the range is less than 2⁶⁴ divided by the number of tables.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        scale(hash - self.first, self.all_homes)
    }

    /// The first slot from the home of `hash` on that is empty or holds no smaller hash.
    #[inline]
    fn position(&self, hash: u64) -> usize {
        let (slots, mut i) = (&self.slots[..], self.home(hash));
        // An empty slot wraps to the largest value, so that one comparison ends the search at empty slots and at hashes
        // that are not smaller. The last slot is always empty.
        while slots[i].wrapping_sub(1) < hash - 1 {
            i += 1;
        }
        i
    }

    /// Inserts a hash. Returns its slot, and true if it is new.
    #[inline]
    fn insert(&mut self, hash: u64) -> (usize, bool) {
        let at = self.position(hash);
        let slots = &mut self.slots[..];
        if slots[at] == hash {
            return (at, false);
        }
        let (mut i, mut pushed) = (at, hash);
        while pushed != 0 {
            std::mem::swap(&mut slots[i], &mut pushed);
            i += 1;
        }
        if self.is_dated() {
            self.ages.copy_within(at..i - 1, at + 1);
        }
        self.len += 1;
        self.crowded |= i - self.home(hash) > MAX_CLUSTER;
        if i == self.slots.len() {
            let len = i + (self.homes / 16).clamp(SMALL_SLOTS, SPARE_SLOTS);
            self.slots.grow(len).expect("memory for a few more slots");
            if self.is_dated() {
                self.ages.resize(len, 0);
            }
        }
        (at, true)
    }

    /// Removes a hash from a table without a window. False if the table does not have it. The rest of its cluster moves
    /// one slot to the left, up to the first hash that is at its home.
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        debug_assert!(!self.is_dated());
        let mut i = self.position(hash);
        if self.slots[i] != hash {
            return false;
        }
        // The last slot is always empty, so there is a next one.
        while self.slots[i + 1] != 0 && self.home(self.slots[i + 1]) <= i {
            self.slots[i] = self.slots[i + 1];
            i += 1;
        }
        self.slots[i] = 0;
        self.len -= 1;
        true
    }

    /// Spreads the hashes over `homes` home slots, in place: the old slots are moved to the back, then one forward pass
    /// puts each hash where it belongs.
    ///
    /// The pass never writes ahead of where it reads: a home moves right by at most `homes - self.homes`, which is how
    /// far the old slots were moved.
    fn grow(&mut self, homes: usize) -> Result<(), NoMemory> {
        let old_len = self.slots.len();
        let shift = homes - self.homes;
        if self.is_dated() {
            self.ages.try_reserve_exact(shift).map_err(|_| NoMemory)?;
        }
        self.slots.grow(old_len + shift)?;
        (self.homes, self.all_homes) = (homes, homes * self.tables);
        self.slots.copy_within(..old_len, shift);
        self.slots[..shift.min(old_len)].fill(0);
        if self.is_dated() {
            self.ages.resize(old_len + shift, 0);
            self.ages.copy_within(..old_len, shift);
        }
        self.spread(shift);
        Ok(())
    }

    /// Moves the hashes of all slots from `read` on to their final slots. They are in order, and none lies before its
    /// home slot.
    fn spread(&mut self, read: usize) {
        let (first, all_homes, slots, ages) = (self.first, self.all_homes, &mut self.slots[..], &mut self.ages[..]);
        let mut next = 0;
        for read in read..slots.len() {
            let hash = std::mem::take(&mut slots[read]);
            next = next.max(scale(hash.max(first) - first, all_homes));
            slots[next] = hash;
            if !ages.is_empty() {
                ages[next] = ages[read];
            }
            next += usize::from(hash != 0);
        }
    }
}

mod dates;

pub(super) use dates::Known;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn check(table: &MemTable, model: &BTreeSet<u64>) {
        assert_eq!(table.len(), model.len());
        assert!(table.slots.iter().filter(|&&slot| slot != 0).eq(model), "ascending, complete, nothing twice");
        assert_eq!(table.slots.last(), Some(&0));
        for (i, &hash) in table.slots.iter().enumerate().filter(|&(_, &hash)| hash != 0) {
            assert!(table.slots[table.home(hash)..i].iter().all(|&slot| slot != 0), "no gap before its home");
        }
    }

    fn hash_strategy() -> impl Strategy<Value = u64> {
        // Uniform hashes, one dense cluster, and both ends of the range.
        prop_oneof![4 => 1..=u64::MAX, 2 => 1u64..500, 2 => (0u64..500).prop_map(|x| u64::MAX - x)]
    }

    proptest! {
        #[test]
        fn behaves_as_a_sorted_set(batches in prop::collection::vec(prop::collection::vec(hash_strategy(), 0..400), 0..20)) {
            let mut table = MemTable::with_slots(Words::heap(12), 8, 0, 1);
            let mut model = BTreeSet::new();
            for batch in batches {
                let mut absent: Vec<(u64, u32)> = batch.iter().copied().zip(0..).collect();
                let expected: Vec<(u64, u32)> = absent.iter().copied().filter(|(hash, _)| !model.contains(hash)).collect();
                table.retain_absent(&mut absent);
                prop_assert_eq!(absent, expected);
                while table.capacity(GROW_LOAD) < table.len() + batch.len() {
                    let homes = table.homes + 1 + table.homes / 3;
                    table.grow(homes).unwrap();
                }
                let mut new = vec![];
                table.insert_all(&batch, |i| new.push(i));
                let expected: Vec<usize> = (0..batch.len()).filter(|&i| model.insert(batch[i])).collect();
                prop_assert_eq!(new, expected);
                check(&table, &model);
            }
            table.clear();
            check(&table, &BTreeSet::new());
        }

        #[test]
        fn removals_leave_a_sorted_set(steps in prop::collection::vec((any::<bool>(), hash_strategy()), 0..1500)) {
            let (mut table, mut model) = (MemTable::small(), BTreeSet::new());
            for (inserts, hash) in steps {
                if inserts {
                    prop_assert!(table.reserve(1, usize::MAX).unwrap());
                    let mut new = false;
                    table.insert_all(&[hash], |_| new = true);
                    prop_assert_eq!(new, model.insert(hash));
                } else {
                    let hash = model.range(hash..).next().copied().unwrap_or(hash);
                    prop_assert_eq!(table.remove(hash), model.remove(&hash));
                    prop_assert!(!table.remove(hash));
                }
            }
            check(&table, &model);
        }
    }

    #[test]
    fn a_cluster_past_the_last_home_gets_more_slots() {
        let mut table = MemTable::with_slots(Words::pages(2049), 2048, 0, 1);
        let hashes: Vec<u64> = (0..1500).map(|i| u64::MAX - i).collect();
        table.insert_all(&hashes, |_| {});
        check(&table, &hashes.iter().copied().collect());
        table.grow(3000).unwrap();
        check(&table, &hashes.iter().copied().collect());
    }

    #[test]
    fn a_long_cluster_counts_as_full_until_the_table_is_emptied() {
        let mut table = MemTable::new();
        assert!(table.reserve(100_000, usize::MAX).unwrap());
        let hashes: Vec<u64> = (1..=2 + MAX_CLUSTER as u64).collect();
        let (most, one_more) = hashes.split_at(MAX_CLUSTER);
        table.insert_all(most, |_| {});
        assert!(table.has_room(1, usize::MAX) && table.reserve(1, usize::MAX).unwrap());
        assert!(!table.is_crowded());
        table.insert_all(one_more, |_| {});
        assert!(table.is_crowded());
        assert!(!table.has_room(1, usize::MAX) && !table.reserve(1, usize::MAX).unwrap());
        check(&table, &hashes.iter().copied().collect());
        table.clear();
        assert!(table.has_room(1, usize::MAX) && table.reserve(1, usize::MAX).unwrap());
    }

    #[test]
    fn reserve_keeps_to_its_budget() {
        let mut table = MemTable::new();
        let budget = 1 << 20;
        assert!(table.reserve(100_000, budget).unwrap());
        assert!(table.bytes() <= budget);
        assert_eq!(table.reserve(1_000_000, budget), Ok(false));
        assert!(table.bytes() <= budget);
    }

    #[test]
    fn a_table_has_as_much_room_as_its_budget_says_and_grows_for_the_key_after_that() {
        for mut table in [MemTable::new(), MemTable::dated(), MemTable::of_range(3, 16), MemTable::small()] {
            let budget = (table.bytes() * 3).max(SPARE_SLOTS * table.slot_bytes() + table.bytes());
            let most = table.most(budget);
            assert!(table.has_room(most, budget) && !table.has_room(most + 1, budget));
            assert_eq!([table.reserve(most, budget), table.reserve(most + 1, budget)], [Ok(true), Ok(false)]);
            assert!(table.bytes() <= budget);
            assert!(most * 100 >= (budget / table.slot_bytes() - SPARE_SLOTS) * GROW_LOAD);
        }
        for mut table in [MemTable::new(), MemTable::of_range(5, 7), MemTable::small()] {
            for _ in 0..5 {
                let (room, bytes) = (table.capacity(GROW_LOAD), table.bytes());
                assert_eq!(table.growth(room), 0);
                assert_eq!((table.reserve(room, usize::MAX), table.bytes()), (Ok(true), bytes));
                let growth = table.growth(room + 1);
                assert!(growth > bytes / 10 && growth < bytes);
                assert_eq!(table.reserve(room + 1, usize::MAX), Ok(true));
                assert!(growth >= table.bytes() - bytes && table.capacity(GROW_LOAD) > room);
            }
        }
    }

    #[test]
    fn tables_are_as_large_as_their_number_asks_and_each_begins_at_its_range() {
        assert_eq!(MemTable::small().bytes(), 256);
        let whole = MemTable::new();
        assert_eq!(whole.bytes(), (FIRST_SLOTS + SPARE_SLOTS) * 8);
        assert_eq!(MemTable::dated().bytes(), whole.bytes() / 8 * 10);
        for tables in [1, 2, 7, 64] {
            for number in [0, 1, tables / 2, tables - 1].into_iter().filter(|&number| number < tables) {
                let table = MemTable::of_range(number, tables);
                let (first, last) = (table.first(), MemTable::of_range(number + 1, tables).first().wrapping_sub(1));
                assert_eq!((range_of(first, tables), range_of(last, tables)), (number, number));
                assert_eq!((table.home(first), table.home(last)), (0, table.homes - 1));
                assert_eq!(table.homes, FIRST_SLOTS / tables);
            }
        }
        // Of several tables, all together count: a part of a small table is full at another load than one of a large
        // one, and the parts of a large table grow by less.
        for (tables, load, more) in
            [(1, GROW_LOAD, 6144), (LARGE_SLOTS / 32, GROW_LOAD, 6), (LARGE_SLOTS / 16, FULL_LOAD, 6)]
        {
            let table = MemTable::of_range(0, tables);
            let room = table.homes * load / 100;
            assert!(!table.is_full(room) && table.is_full(room + 1), "{tables} tables");
            assert_eq!(table.more_homes(), more, "{tables} tables");
        }
        assert_eq!(MemTable::of_range(0, EXTRA_SLOTS).more_homes(), 3);
    }
}
