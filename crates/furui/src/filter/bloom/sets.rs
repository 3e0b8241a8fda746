use std::ops::{Deref, DerefMut};

use super::super::likeness::{Estimate, Likeness, Marking, ones, ones_of_either};
use super::{Bloom, Mismatch};

impl<M: Deref<Target = [u8]>> Bloom<M> {
    /// How many bits are set. Cost: one pass over the bits.
    pub fn ones(&self) -> u64 {
        ones(&self.words)
    }

    /// The share of the bits that are set: ½ when a filter of the best size holds the keys it was sized for. Cost: one
    /// pass over the bits.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits as f64
    }

    /// About how many keys it holds, each counted once however often it was inserted; see [`Likeness`] for how. Cost:
    /// one pass over the bits.
    ///
    /// In a filter that is half full the error is 0.55 √m / k; one for 1 %, at its capacity, errs by 8 keys of a thousand
    /// and by 260 of a million. A full filter may hold any number of keys: the estimate is infinite then. An
    /// [intersection](Self::intersect) has more bits than its keys have set, and the estimate is far too high: that of
    /// [`likeness`](Self::likeness) is not.
    pub fn cardinality(&self) -> Estimate {
        self.marking().cardinality(self.ones())
    }

    /// How alike the sets of two filters are: what differs, and how many keys are in each, in either and in both.
    ///
    /// # Errors
    /// If the filters are of different sizes or have different hashes.
    pub fn likeness(&self, other: &Bloom<impl Deref<Target = [u8]>>) -> Result<Likeness, Mismatch> {
        self.expect_like(other, "compare")?;
        Ok(self.marking().likeness(self.ones(), other.ones(), ones_of_either(&self.words, &other.words)))
    }

    fn marking(&self) -> Marking {
        Marking::of_probes(self.bits, self.probes)
    }

    /// Refuses a filter whose bits do not mean the same as ours; `verb` is what cannot be done with the two.
    fn expect_like<N>(&self, other: &Bloom<N>, verb: &str) -> Result<(), Mismatch> {
        let differ = |what: &str, ours: &dyn std::fmt::Display, theirs: &dyn std::fmt::Display| {
            Err(Mismatch(format!(
                "cannot {verb} Bloom filters of {ours} and {theirs} {what}: build both with the same"
            )))
        };
        if self.bits != other.bits {
            return differ("bits", &self.bits, &other.bits);
        }
        if self.probes != other.probes {
            return differ("probes a key", &self.probes, &other.probes);
        }
        if self.hash != other.hash {
            return Err(Mismatch(format!(
                "cannot {verb} Bloom filters of keys hashed by {} and by {}: hash both alike",
                self.hash, other.hash
            )));
        }
        Ok(())
    }
}

impl<M: DerefMut<Target = [u8]>> Bloom<M> {
    /// Takes in what `other` holds: the OR of the bits, and exactly the filter of the two sets' union. Cost: one pass
    /// over both.
    ///
    /// # Errors
    /// If the filters are of different sizes or have different hashes; nothing is changed then.
    pub fn union(&mut self, other: &Bloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.expect_like(other, "unite")?;
        self.words.iter_mut().zip(&*other.words).for_each(|(ours, theirs)| *ours |= theirs);
        Ok(())
    }

    /// Keeps what `other` holds too: the AND of the bits. Cost: one pass over both.
    ///
    /// Every key of both sets is still there. What is in one of them only may be too, as a false positive: oftener than
    /// in a filter built of the common keys, but no oftener than in either of the two.
    ///
    /// # Errors
    /// If the filters are of different sizes or have different hashes; nothing is changed then.
    pub fn intersect(&mut self, other: &Bloom<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.expect_like(other, "intersect")?;
        self.words.iter_mut().zip(&*other.words).for_each(|(ours, theirs)| *ours &= theirs);
        Ok(())
    }
}
