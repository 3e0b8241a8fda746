//! Two ringed filters together, and what their ones say about the sets in them.

use std::ops::{Deref, DerefMut};

use super::RingedBloom;
use crate::filter::likeness::{Marking, ones, ones_of_either};
use crate::filter::{Estimate, Likeness, Mismatch};

impl<M: Deref<Target = [u8]>> RingedBloom<M> {
    /// About how many keys it holds, told from the bits that are set. Cost: one pass over the bits.
    ///
    /// Far too high for an [intersection](Self::intersect), which has more bits than its keys have set: ask
    /// [`likeness`](Self::likeness) for that.
    pub fn cardinality(&self) -> Estimate {
        self.marking().cardinality(ones(&self.words))
    }

    /// How alike the sets of two filters are: what differs, and how many keys are in each, in either and in both. Cost:
    /// one pass over both.
    ///
    /// # Errors
    /// If they do not have the same size, parameters and hash.
    pub fn likeness(&self, other: &RingedBloom<impl Deref<Target = [u8]>>) -> Result<Likeness, Mismatch> {
        self.expect_like(other)?;
        let union = ones_of_either(&self.words, &other.words);
        Ok(self.marking().likeness(ones(&self.words), ones(&other.words), union))
    }

    fn marking(&self) -> Marking {
        let window = u64::from(self.params().window());
        // Windows of one group do not overlap, and leave the bits between them unused.
        let bits = if self.params().delta() == 1 { self.capacity() * window } else { self.bits() };
        Marking::of_windows(bits, window, self.probes())
    }

    /// Refuses a filter whose bits do not mean the same as ours.
    fn expect_like<N>(&self, other: &RingedBloom<N>) -> Result<(), Mismatch> {
        if self.ring != other.ring {
            return Err(Mismatch(format!(
                "ringed filters for {} keys, {}, and for {} keys, {}: build both for the same number with the same parameters",
                self.capacity(),
                self.params(),
                other.capacity(),
                other.params()
            )));
        }
        if self.hash != other.hash {
            return Err(Mismatch(format!(
                "ringed filters of keys hashed with {} and {}: build both with the same hash",
                self.hash, other.hash
            )));
        }
        Ok(())
    }
}

impl<M: DerefMut<Target = [u8]>> RingedBloom<M> {
    /// Makes this the filter of the keys of both: what either contains, and some more.
    ///
    /// The rate is that of as many keys in one filter, so both should have been sized for the union.
    ///
    /// # Errors
    /// If they do not have the same size, parameters and hash.
    pub fn union(&mut self, other: &RingedBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.expect_like(other)?;
        self.words.iter_mut().zip(other.words.iter()).for_each(|(ours, theirs)| *ours |= theirs);
        Ok(())
    }

    /// Makes this a filter of the keys that both hold: it contains what both contain, so no key of the intersection
    /// is lost, but it may contain more than the filter built of the intersection.
    ///
    /// # Errors
    /// If they do not have the same size, parameters and hash.
    pub fn intersect(&mut self, other: &RingedBloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.expect_like(other)?;
        self.words.iter_mut().zip(other.words.iter()).for_each(|(ours, theirs)| *ours &= theirs);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::filter::{FilterMut, Gamma, RingedBloom, RingedParams};
    use crate::hash::HashSpec;

    #[test]
    fn estimates_are_as_good_as_they_say() {
        const SETS: u64 = 100;
        for (probes, delta) in [(7, 10), (7, 1000), (1, 1), (4, 1), (7, 1)] {
            let params = RingedParams::new(probes, Gamma::Exact, delta).unwrap();
            let (mut off, mut stated) = (0.0, 0.0);
            for set in 0..SETS {
                let mut filters = [0, 1].map(|_| RingedBloom::with_size(params, 3000).unwrap());
                for i in 0..3000u64 {
                    // The two share 1000 keys of 5000.
                    for (filter, from) in filters.iter_mut().zip([0, 2000]) {
                        filter.insert(HashSpec::default().hash(&(set << 32 | (from + i)).to_le_bytes())).unwrap();
                    }
                }
                let likeness = filters[0].likeness(&filters[1]).unwrap();
                for (estimate, truth) in
                    [(likeness.a, 3000.0), (likeness.intersection, 1000.0), (likeness.jaccard, 0.2)]
                {
                    assert!((estimate.value - truth).abs() < 4.5 * estimate.error, "{params}: {estimate:?}, {truth}");
                }
                off += (likeness.union.value - 5000.0).powi(2);
                stated += likeness.union.error.powi(2);
            }
            assert!((off / stated - 1.0).abs() < 0.5, "{params}: spread² {off:.1}, stated {stated:.1}");
        }
    }
}
