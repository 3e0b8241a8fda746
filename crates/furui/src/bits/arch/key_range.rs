#![expect(
    unsafe_code,
    reason = "keys are split by vector instructions, into memory that nothing was written to before"
)]

use std::mem::MaybeUninit;

use super::Lines;
use crate::hash::KeyHash;

/// Keys, and a range that the hashes of all of them are known to be in: so one look tells that all have their lines in
/// a part of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyRange<'a> {
    keys: &'a [KeyHash],
    ends: [u64; 2],
}

impl<'a> KeyRange<'a> {
    /// Keys of which nothing is known.
    pub(crate) fn whole(keys: &'a [KeyHash]) -> Self {
        Self { keys, ends: [0, u64::MAX] }
    }

    pub(crate) fn keys(self) -> &'a [KeyHash] {
        self.keys
    }

    /// The least and the greatest hash that a key can have.
    pub(crate) fn ends(self) -> [u64; 2] {
        self.ends
    }

    /// Adds each key to one of two piles, in order.
    ///
    /// # Panics
    /// If a pile has no room for all keys, or the range of the keys is not within those of the piles, which must meet.
    pub(crate) fn split(self, lines: Lines, low: &mut Pile<'_>, high: &mut Pile<'_>) {
        let bound = high.ends[0];
        assert!(low.ends[1].checked_add(1) == Some(bound), "the ranges of two piles meet");
        assert!(low.ends[0] <= self.ends[0] && self.ends[1] <= high.ends[1], "each key belongs to a pile");
        let len = self.keys.len();
        let (below, above) = (&mut low.room[low.count..][..len], &mut high.room[high.count..][..len]);
        let count = lines.split(self.keys, bound, below, above);
        low.count += count;
        high.count += len - count;
    }
}

/// Room for keys.
pub(crate) type Room = [MaybeUninit<KeyHash>];

/// Keys with hashes in a range, which come in batches.
pub(crate) struct Pile<'a> {
    /// The first `count` are written.
    room: &'a mut Room,
    count: usize,
    ends: [u64; 2],
}

impl<'a> Pile<'a> {
    /// An empty pile of keys with hashes from the first of `ends` to the second.
    pub(crate) fn new(room: &'a mut Room, ends: [u64; 2]) -> Self {
        Self { room, count: 0, ends }
    }

    /// Adds keys.
    ///
    /// # Panics
    /// If there is no room for them, or their range is not within that of the pile.
    pub(crate) fn add(&mut self, keys: KeyRange<'_>) {
        assert!(self.ends[0] <= keys.ends[0] && keys.ends[1] <= self.ends[1], "keys of the range");
        let room = &mut self.room[self.count..][..keys.keys.len()];
        room.iter_mut().zip(keys.keys).for_each(|(room, &key)| _ = room.write(key));
        self.count += keys.keys.len();
    }

    pub(crate) fn keys(&self) -> KeyRange<'_> {
        let written = &self.room[..self.count];
        // SAFETY: `count` keys were written, and `MaybeUninit` has the layout of what it holds.
        let keys = unsafe { &*(std::ptr::from_ref(written) as *const [KeyHash]) };
        KeyRange { keys, ends: self.ends }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// For how many more keys there is room.
    pub(crate) fn space(&self) -> usize {
        self.room.len() - self.count
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }
}

/// Writes the keys with hashes less than `bound` to the start of `below` and the others to that of `above`, and says how
/// many are less. All three are of one length.
pub(super) fn split(keys: &[KeyHash], bound: u64, below: &mut Room, above: &mut Room) -> usize {
    let mut count = 0;
    for (index, &key) in keys.iter().enumerate() {
        // Written to both, and one of them counts: which one is a coin that no processor foresees.
        below[count].write(key);
        above[index - count].write(key);
        count += usize::from(key.get() < bound);
    }
    count
}

/// [`split`], eight keys at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
pub(super) fn split_avx512(keys: &[KeyHash], bound: u64, below: &mut Room, above: &mut Room) -> usize {
    use std::arch::x86_64::*;

    assert!(below.len() == keys.len() && above.len() == keys.len(), "a room for all keys on each side");
    let bounds = _mm512_set1_epi64(bound.cast_signed());
    let (eights, rest) = keys.as_chunks::<8>();
    let mut count = 0;
    for (index, eight) in eights.iter().enumerate() {
        // SAFETY: eight keys are 64 readable bytes. Of the 8 `index` keys before them, `count` are below, no more than all
        // and no fewer than none, so on each side there is room for eight from here on. Nothing needs alignment.
        unsafe {
            let hashes = _mm512_loadu_si512(std::ptr::from_ref(eight).cast());
            let less = _mm512_cmplt_epu64_mask(hashes, bounds);
            let others = 8 * index - count;
            // In registers: compressing to memory takes several times as long.
            _mm512_storeu_si512(below.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi64(less, hashes));
            _mm512_storeu_si512(above.as_mut_ptr().add(others).cast(), _mm512_maskz_compress_epi64(!less, hashes));
            count += less.count_ones() as usize;
        }
    }
    let others = 8 * eights.len() - count;
    count + split(rest, bound, &mut below[count..], &mut above[others..])
}

/// For each set of four keys, the halves of the keys in it, before those of the others.
#[cfg(target_arch = "x86_64")]
static CHOSEN_FIRST: [[u32; 8]; 16] = {
    let mut orders = [[0; 8]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut key, mut chosen, mut other) = (0, 0, (set as u32).count_ones() as usize);
        while key < 4 {
            let place = if set >> key & 1 == 1 { &mut chosen } else { &mut other };
            orders[set][2 * *place] = 2 * key;
            orders[set][2 * *place + 1] = 2 * key + 1;
            *place += 1;
            key += 1;
        }
        set += 1;
    }
    orders
};

/// [`split`], four keys at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) fn split_avx2(keys: &[KeyHash], bound: u64, below: &mut Room, above: &mut Room) -> usize {
    use std::arch::x86_64::*;

    /// How many keys are in a set, in 4 bits for each set.
    const COUNTS: u64 = 0x4332_3221_3221_2110;

    assert!(below.len() == keys.len() && above.len() == keys.len(), "a room for all keys on each side");
    // Words are compared as if they were signed: so the upper half of all is made the lower.
    let turned = _mm256_set1_epi64x(i64::MIN);
    let bounds = _mm256_xor_si256(_mm256_set1_epi64x(bound.cast_signed()), turned);
    let (fours, rest) = keys.as_chunks::<4>();
    let mut count = 0;
    for (index, four) in fours.iter().enumerate() {
        // SAFETY: four keys are 32 readable bytes, and so is an order. Of the 4 `index` keys before them, `count` are below,
        // no more than all and no fewer than none, so on each side there is room for four from here on. Nothing needs
        // alignment.
        unsafe {
            let hashes = _mm256_loadu_si256(std::ptr::from_ref(four).cast());
            let less = _mm256_cmpgt_epi64(bounds, _mm256_xor_si256(hashes, turned));
            let less = _mm256_movemask_pd(_mm256_castsi256_pd(less)) as usize & 15;
            let ordered = |set: usize| {
                let order = _mm256_loadu_si256(CHOSEN_FIRST[set].as_ptr().cast());
                _mm256_permutevar8x32_epi32(hashes, order)
            };
            let others = 4 * index - count;
            _mm256_storeu_si256(below.as_mut_ptr().add(count).cast(), ordered(less));
            _mm256_storeu_si256(above.as_mut_ptr().add(others).cast(), ordered(15 - less));
            count += (COUNTS >> (4 * less) & 15) as usize;
        }
    }
    let others = 4 * fours.len() - count;
    count + split(rest, bound, &mut below[count..], &mut above[others..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_way_to_split_is_the_stable_partition(
            hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0..4u64, u64::MAX - 3..], 0..200),
            bound in prop_oneof![1..=u64::MAX, 1..4u64, u64::MAX - 3..],
            batch in 1..200usize,
        ) {
            let keys: Vec<KeyHash> = hashes.into_iter().map(KeyHash::new).collect();
            let (less, others): (Vec<KeyHash>, Vec<KeyHash>) = keys.iter().partition(|key| key.get() < bound);
            for lines in Lines::each() {
                let mut rooms = [vec![MaybeUninit::uninit(); keys.len()], vec![MaybeUninit::uninit(); keys.len() + 3]];
                let [below, above] = &mut rooms;
                let (mut low, mut high) = (Pile::new(below, [0, bound - 1]), Pile::new(above, [bound, u64::MAX]));
                for _ in 0..2 {
                    keys.chunks(batch).for_each(|keys| KeyRange::whole(keys).split(lines, &mut low, &mut high));
                    prop_assert_eq!([low.keys().keys(), high.keys().keys()], [&less[..], &others[..]]);
                    prop_assert_eq!([low.keys().ends(), high.keys().ends()], [[0, bound - 1], [bound, u64::MAX]]);
                    prop_assert_eq!([low.len(), high.space()], [less.len(), less.len() + 3]);
                    let mut copy_room = vec![MaybeUninit::uninit(); 2 * less.len()];
                    let mut copy = Pile::new(&mut copy_room, [0, u64::MAX]);
                    (0..2).for_each(|_| copy.add(low.keys()));
                    prop_assert_eq!(copy.keys().keys(), &[&less[..], &less[..]].concat()[..]);
                    low.clear();
                    high.clear();
                }
            }
        }
    }
}
