use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// The maximum number of ranges of numbers in a [`Taken`].
const MAX_RANGES: usize = 1024;

/// The size of an encoded range of numbers, in bytes.
const RANGE_LEN: usize = 8;

/// The set of all numbers that a dictionary which gives numbers to its keys has ever held, also those of keys that were
/// deleted or put again. [`next`](Self::next) gives numbers that are not in it.
///
/// They are kept as at most 1024 ranges. If there are more, the narrowest gaps between ranges are closed: the numbers
/// in them count as taken from then on.
///
/// ```
/// use furui::store::Taken;
///
/// let mut taken = Taken::default();
/// taken.insert(0..=4);
/// taken.insert(7..=7);
/// assert_eq!(taken.next(), Some(8));
/// taken.insert(u32::MAX..=u32::MAX);
/// assert_eq!(taken.next(), Some(5));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The first and the last number of each range, ascending. Between two ranges there is at least one number.
    ranges: Vec<(u32, u32)>,
}

impl Taken {
    /// Returns the number to give to the next new key: the greatest number in the set plus one. If that would be 2³² -
    /// 1 or more, returns the smallest number that is not in the set. 2³² - 1 itself is never given; `None` if no other
    /// number is left.
    pub fn next(&self) -> Option<u32> {
        let after = |&(_, last): &(u32, u32)| last.checked_add(1).filter(|&next| next < u32::MAX);
        match (self.ranges.first(), self.ranges.last()) {
            (Some(first), Some(last)) => after(last).or_else(|| if first.0 > 0 { Some(0) } else { after(first) }),
            _ => Some(0),
        }
    }

    /// True if the number is in the set.
    pub fn contains(&self, number: u32) -> bool {
        let place = self.ranges.partition_point(|&(_, last)| last < number);
        self.ranges.get(place).is_some_and(|&(first, _)| first <= number)
    }

    /// Adds a range of numbers to the set. Cost: one step if the range overlaps or adjoins the last one in order;
    /// otherwise about log₂(ranges) steps, and at times one for each range.
    pub fn insert(&mut self, numbers: RangeInclusive<u32>) {
        let (mut first, mut last) = numbers.into_inner();
        if let Some(newest) = self.ranges.last_mut()
            && newest.0 <= first
            && first <= newest.1.saturating_add(1)
        {
            newest.1 = newest.1.max(last);
            return;
        }
        // Existing ranges that overlap or adjoin the new one are merged with it.
        let start = self.ranges.partition_point(|&(_, end)| end.checked_add(1).is_some_and(|after| after < first));
        let beyond = last.saturating_add(1);
        let end = start + self.ranges[start..].partition_point(|&(begin, _)| begin <= beyond);
        if let (Some(lowest), Some(highest)) = (self.ranges[start..end].first(), self.ranges[start..end].last()) {
            (first, last) = (first.min(lowest.0), last.max(highest.1));
        }
        self.ranges.splice(start..end, [(first, last)]);
        if self.ranges.len() > MAX_RANGES {
            self.close_narrow_gaps();
        }
    }

    /// Adds all numbers of another set to this one.
    pub fn extend(&mut self, other: &Self) {
        for &(first, last) in &other.ranges {
            self.insert(first..=last);
        }
    }

    /// Adds the numbers in the narrowest gaps between ranges to the set, so that half of the maximum number of gaps are
    /// left, and this is seldom done. Of gaps of equal width, the first ones are kept.
    fn close_narrow_gaps(&mut self) {
        let mut kept: Vec<usize> = (1..self.ranges.len()).collect();
        kept.sort_unstable_by_key(|&i| (Reverse(self.ranges[i].0 - self.ranges[i - 1].1), i));
        kept.truncate(MAX_RANGES / 2);
        kept.sort_unstable();
        let ends = kept.iter().copied().chain([self.ranges.len()]);
        let starts = [0].into_iter().chain(kept.iter().copied());
        self.ranges = starts.zip(ends).map(|(start, end)| (self.ranges[start].0, self.ranges[end - 1].1)).collect();
    }

    /// The maximum number of bytes that [`to_bytes`](Self::to_bytes) returns.
    pub(super) const MAX_BYTES: usize = MAX_RANGES * RANGE_LEN;

    /// Encodes the set as a section of a manifest.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.ranges.iter().flat_map(|(first, last)| [first.to_le_bytes(), last.to_le_bytes()].concat()).collect()
    }

    /// Decodes the set from a section of a manifest. `None` if [`to_bytes`](Self::to_bytes) cannot have written these
    /// bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (ranges, rest) = bytes.as_chunks::<RANGE_LEN>();
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        let ranges: Vec<(u32, u32)> = ranges.iter().map(|range| (number(&range[..4]), number(&range[4..]))).collect();
        let apart = ranges.windows(2).all(|pair| pair[0].1.checked_add(1).is_some_and(|after| after < pair[1].0));
        let valid = rest.is_empty() && ranges.len() <= MAX_RANGES && ranges.iter().all(|(first, last)| first <= last);
        (valid && apart).then_some(Self { ranges })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Strategy for numbers near the beginning and near the end, so that ranges touch.
    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..40, (u32::MAX - 20)..=u32::MAX]
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_set(numbers in prop::collection::vec((number(), 0u32..4), 0..60)) {
            let (mut taken, mut parts, mut model) = (Taken::default(), Taken::default(), BTreeSet::new());
            for (first, more) in numbers {
                let last = first.saturating_add(more);
                taken.insert(first..=last);
                let mut part = Taken::default();
                part.insert(first..=last);
                parts.extend(&part);
                model.extend(first..=last);
                let above = model.last().and_then(|last| last.checked_add(1)).filter(|&next| next < u32::MAX);
                let next = above.or_else(|| (0..u32::MAX).find(|number| !model.contains(number)));
                prop_assert_eq!(taken.next(), next);
                prop_assert_eq!(Taken::from_bytes(&taken.to_bytes()), Some(taken.clone()));
            }
            prop_assert_eq!(&parts, &taken);
            for number in (0..50).chain(u32::MAX - 25..=u32::MAX) {
                prop_assert_eq!(taken.contains(number), model.contains(&number));
            }
        }
    }

    #[test]
    fn of_many_gaps_the_widest_stay_and_no_number_is_free_again() {
        let mut taken = Taken::default();
        let numbers: Vec<u32> = (1..5000u32).map(|i| i * i * 7).collect();
        numbers.iter().rev().for_each(|&number| taken.insert(number..=number));
        assert!(taken.ranges.len() <= MAX_RANGES && taken.ranges.len() > MAX_RANGES / 2 - 1);
        assert!(numbers.iter().all(|&number| taken.contains(number)));
        let (last, before) = (numbers[4998], numbers[4997]);
        assert!(!(before + 1..last).any(|number| taken.contains(number)), "the widest gap");
        taken.insert(u32::MAX..=u32::MAX);
        let mut given = vec![];
        for _ in 0..100_000 {
            let number = taken.next().expect("there are gaps");
            assert!(!taken.contains(number) && !numbers.contains(&number));
            taken.insert(number..=number);
            given.push(number);
        }
        assert!(given.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn as_many_ranges_as_there_may_be_keep_all_gaps_and_one_more_closes_the_narrow_ones() {
        let mut taken = Taken::default();
        // The gaps become narrower, so the first ones are the widest.
        let numbers: Vec<u32> = (0..=MAX_RANGES as u32).map(|i| 5000 * i - i * (i + 1) / 2).collect();
        let (last, others) = numbers.split_last().expect("some numbers");
        others.iter().for_each(|&number| taken.insert(number..=number));
        assert_eq!(taken.ranges.len(), MAX_RANGES);
        assert_eq!(Taken::from_bytes(&taken.to_bytes()), Some(taken.clone()));
        taken.insert(*last..=*last);
        assert_eq!(taken.ranges.len(), MAX_RANGES / 2 + 1);
        for (i, gap) in numbers.windows(2).enumerate() {
            assert_eq!(taken.contains(gap[0] + 1), i >= MAX_RANGES / 2, "gap {i}");
        }
    }

    #[test]
    fn other_bytes_are_none() {
        let bytes = |ranges: &[(u32, u32)]| Taken { ranges: ranges.to_vec() }.to_bytes();
        assert!(Taken::from_bytes(&bytes(&[(0, 3), (5, u32::MAX)])).is_some());
        for bad in [&[(3, 2)][..], &[(0, 3), (4, 5)], &[(5, 6), (0, 1)], &[(0, u32::MAX), (0, 1)]] {
            assert!(Taken::from_bytes(&bytes(bad)).is_none(), "{bad:?}");
        }
        assert!(Taken::from_bytes(&bytes(&[(0, 3)])[..7]).is_none());
        let many: Vec<_> = (0..=MAX_RANGES as u32).map(|i| (i * 2, i * 2)).collect();
        assert!(Taken::from_bytes(&bytes(&many)).is_none());
    }
}
