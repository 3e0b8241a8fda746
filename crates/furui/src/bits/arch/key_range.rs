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
    least: u64,
    most: u64,
}

/// Room for keys.
pub(crate) type Room = [MaybeUninit<KeyHash>];

impl<'a> KeyRange<'a> {
    /// Keys of which nothing is known.
    pub(crate) fn whole(keys: &'a [KeyHash]) -> Self {
        Self { keys, least: 0, most: u64::MAX }
    }

    pub(crate) fn keys(self) -> &'a [KeyHash] {
        self.keys
    }

    /// The ends of the range.
    #[cfg_attr(not(any(target_arch = "x86_64", test)), expect(dead_code, reason = "only vector code asks"))]
    pub(crate) fn ends(self) -> [u64; 2] {
        [self.least, self.most]
    }

    /// The keys with hashes less than `bound`, and the others, each in their order.
    ///
    /// # Panics
    /// If a room is smaller than the number of keys.
    pub(crate) fn split<'b>(
        self,
        lines: Lines,
        bound: u64,
        below: &'b mut Room,
        above: &'b mut Room,
    ) -> [KeyRange<'b>; 2] {
        let keys = self.keys;
        let (below, above) = (&mut below[..keys.len()], &mut above[..keys.len()]);
        let count = lines.split(keys, bound, below, above);
        let (below, above) = (&below[..count], &above[..keys.len() - count]);
        // SAFETY: `Lines::split` has written so many keys to each, and `MaybeUninit` has the layout of what it holds.
        let [below, above] = [below, above].map(|room| unsafe { &*(std::ptr::from_ref(room) as *const [KeyHash]) });
        [
            KeyRange { keys: below, least: self.least, most: self.most.min(bound.saturating_sub(1)) },
            KeyRange { keys: above, least: self.least.max(bound), most: self.most },
        ]
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_way_to_split_is_the_stable_partition(
            hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0..4u64, u64::MAX - 3..], 0..200),
            bound in prop_oneof![any::<u64>(), 0..4u64, u64::MAX - 3..],
        ) {
            let keys: Vec<KeyHash> = hashes.into_iter().map(KeyHash::new).collect();
            let (less, others): (Vec<KeyHash>, Vec<KeyHash>) = keys.iter().partition(|key| key.get() < bound);
            for lines in Lines::each() {
                let mut rooms = [vec![MaybeUninit::uninit(); keys.len()], vec![MaybeUninit::uninit(); keys.len() + 3]];
                let [below, above] = &mut rooms;
                let sides = KeyRange::whole(&keys).split(lines, bound, below, above);
                prop_assert_eq!(sides.map(KeyRange::keys), [&less[..], &others[..]]);
                for side in sides {
                    let [least, most] = side.ends();
                    prop_assert!(side.keys().iter().all(|key| (least..=most).contains(&key.get())));
                }
            }
        }
    }
}
