//! What the ones of blocked filters say about the sets in them.

use std::ops::Deref;

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

    fn marking(&self) -> Marking {
        // The bits of a key lie in a line, or in a pair of lines.
        let blocks = if self.probes > 8 { self.lines() / 2 } else { self.lines() };
        Marking::of_blocks(self.bits(), blocks, self.probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterMut;
    use crate::hash::HashSpec;

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
}
