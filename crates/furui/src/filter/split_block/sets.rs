//! What the ones of split-block filters say about the sets in them.

use std::ops::Deref;

use super::SplitBlockBloom;
use crate::filter::likeness::{Marking, ones, ones_of_either};
use crate::filter::{Estimate, Likeness, Mismatch};

impl<M: Deref<Target = [u8]>> SplitBlockBloom<M> {
    /// How many bits are set. Cost: one pass over them.
    pub fn ones(&self) -> u64 {
        ones(&self.table)
    }

    /// About how many keys it holds, told from the bits that are set.
    ///
    /// Far too high for an [intersection](Self::intersect), which has more bits than its keys have set: ask
    /// [`likeness`](Self::likeness) for that.
    pub fn cardinality(&self) -> Estimate {
        self.marking().cardinality(self.ones())
    }

    /// How alike the sets of two filters are: what differs, and how many keys are in each, in either and in both.
    ///
    /// # Errors
    /// If they differ in their number of blocks or in how keys are hashed.
    pub fn likeness(&self, other: &SplitBlockBloom<impl Deref<Target = [u8]>>) -> Result<Likeness, Mismatch> {
        self.expect_like(other, "compare")?;
        Ok(self.marking().likeness(self.ones(), other.ones(), ones_of_either(&self.table, &other.table)))
    }

    /// A key sets one bit in each of its block's eight words.
    fn marking(&self) -> Marking {
        Marking::of_blocks(8 * self.table.len() as u64, self.blocks(), 8)
    }
}

#[cfg(test)]
mod tests {
    use crate::filter::{FilterMut, SplitBlockBloom};
    use crate::hash::HashSpec;

    #[test]
    fn estimates_are_as_good_as_they_say() {
        const SETS: u64 = 200;
        let (mut off, mut stated) = (0.0, 0.0);
        for set in 0..SETS {
            let mut filters = [0, 1].map(|_| SplitBlockBloom::with_rate(3000, 0.01).unwrap());
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
                assert!((estimate.value - truth).abs() < 4.5 * estimate.error, "{estimate:?}, {truth}");
            }
            assert_eq!(likeness.a, filters[0].cardinality());
            off += (likeness.intersection.value - 1000.0).powi(2);
            stated += likeness.intersection.error.powi(2);
        }
        assert!(
            (off / stated - 1.0).abs() < 0.4,
            "spread {:.1}, stated {:.1}",
            (off / 200.0).sqrt(),
            (stated / 200.0).sqrt()
        );
    }
}
