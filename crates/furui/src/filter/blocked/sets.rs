//! Blocked filters put together, and what their ones say about the sets in them.

use std::ops::{Deref, DerefMut};

use super::BlockedBloom;
use crate::filter::likeness::{Marking, ones, ones_of_either};
use crate::filter::{Estimate, Likeness, Mismatch};

impl<M: Deref<Target = [u8]>> BlockedBloom<M> {
    /// How many bits are set. Cost: one pass over the bits.
    pub fn ones(&self) -> u64 {
        ones(&self.table)
    }

    /// About how many keys it holds, told from the bits that are set. Cost: one pass over the bits.
    ///
    /// Far too high for an [intersection](Self::intersect), which has more bits than its keys have set: ask
    /// [`likeness`](Self::likeness) for that.
    pub fn cardinality(&self) -> Estimate {
        self.marking().cardinality(self.ones())
    }

    /// How alike the sets of two filters are: what differs, and how many keys are in each, in either and in both. Cost:
    /// one pass over both.
    ///
    /// # Errors
    /// If they differ in size, probes or hash.
    pub fn likeness(&self, other: &BlockedBloom<impl Deref<Target = [u8]>>) -> Result<Likeness, Mismatch> {
        self.fits(other)?;
        Ok(self.marking().likeness(self.ones(), other.ones(), ones_of_either(&self.table, &other.table)))
    }

    fn fits(&self, other: &BlockedBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        let differ = |what: &str, ours: u64, theirs: u64| {
            Err(Mismatch(format!(
                "one filter has {ours} {what} and the other {theirs}: build one of them again with as many as the other"
            )))
        };
        if self.lines() != other.lines() {
            return differ("lines", self.lines(), other.lines());
        }
        if self.probes() != other.probes() {
            return differ("probes a key", self.probes().into(), other.probes().into());
        }
        if self.hash != other.hash {
            return Err(Mismatch(format!(
                "keys are hashed by {} in one filter and by {} in the other: build one of them again like the other",
                self.hash, other.hash
            )));
        }
        Ok(())
    }

    fn marking(&self) -> Marking {
        // The bits of a key lie in a line, or in a pair of lines.
        let blocks = if self.layout.is_pair() { self.lines() / 2 } else { self.lines() };
        Marking::of_blocks(self.bits(), blocks, self.probes())
    }
}

impl<M: DerefMut<Target = [u8]>> BlockedBloom<M> {
    /// Takes in what `other` holds: then this filter is, bit for bit, as if all keys of both had been inserted. Cost: one
    /// pass over both.
    ///
    /// # Errors
    /// If they differ in size, probes or hash; nothing is changed then.
    pub fn union(&mut self, other: &BlockedBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.fits(other)?;
        self.table.iter_mut().zip(&*other.table).for_each(|(ours, theirs)| *ours |= theirs);
        Ok(())
    }

    /// Keeps what `other` holds too: every key of both, and others no oftener than in either of the two. Cost: one pass
    /// over both.
    ///
    /// # Errors
    /// If they differ in size, probes or hash; nothing is changed then.
    pub fn intersect(&mut self, other: &BlockedBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.fits(other)?;
        self.table.iter_mut().zip(&*other.table).for_each(|(ours, theirs)| *ours &= theirs);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterMut;
    use crate::hash::{HashSpec, KeyHash};

    #[test]
    fn estimates_are_as_good_as_they_say() {
        const SETS: u64 = 100;
        for rate in [0.05, 0.01, 0.001] {
            let (mut off, mut stated) = (0.0, 0.0);
            for set in 0..SETS {
                let mut filters = [0, 1].map(|_| BlockedBloom::with_rate(3000, rate).unwrap());
                for i in 0..3000u64 {
                    // The two share 1000 keys of 5000.
                    for (filter, from) in filters.iter_mut().zip([0, 2000]) {
                        filter.insert(HashSpec::default().hash(&(set << 32 | (from + i)).to_le_bytes())).unwrap();
                    }
                }
                let likeness = filters[0].likeness(&filters[1]).unwrap();
                for (estimate, truth) in [
                    (likeness.a, 3000.0),
                    (likeness.b, 3000.0),
                    (likeness.union, 5000.0),
                    (likeness.intersection, 1000.0),
                    (likeness.jaccard, 0.2),
                ] {
                    assert!((estimate.value - truth).abs() < 4.5 * estimate.error, "{rate}: {estimate:?}, {truth}");
                }
                off += (likeness.intersection.value - 1000.0).powi(2);
                stated += likeness.intersection.error.powi(2);
            }
            assert!((off / stated - 1.0).abs() < 0.5, "{rate}: spread² {off:.1}, stated {stated:.1}");
        }
    }

    #[test]
    fn union_is_inserting_both_and_intersection_holds_what_is_in_both() {
        let keys = |list: u64| -> Vec<KeyHash> {
            (0..600).map(|i| HashSpec::default().hash(&(list << 32 | i).to_le_bytes())).collect()
        };
        let (a, b) = (keys(0), keys(1));
        let filled = |lists: &[&[KeyHash]]| {
            let mut filter = BlockedBloom::from_parts(40, 10).unwrap();
            lists.iter().for_each(|keys| _ = filter.insert_all(keys).unwrap());
            filter
        };
        let mut united = filled(&[&a]);
        united.union(&filled(&[&b])).unwrap();
        assert_eq!(united, filled(&[&a, &b]));
        united.intersect(&filled(&[&b])).unwrap();
        assert_eq!(united, filled(&[&b]));

        let message = |error: Result<(), Mismatch>| error.unwrap_err().0;
        assert!(
            message(united.union(&BlockedBloom::from_parts(42, 10).unwrap())).contains("40 lines and the other 42")
        );
        assert!(message(united.intersect(&BlockedBloom::from_parts(40, 9).unwrap())).contains("10 probes"));
        let other = HashSpec { seed: 5, ..HashSpec::default() };
        assert!(message(united.union(&filled(&[]).hashed_by(other))).contains("hashed by"));
    }
}
