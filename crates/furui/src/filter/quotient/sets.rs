use std::ops::{Deref, DerefMut};

use super::QuotientFilter;
use super::build::Builder;
use super::iter::Fingerprints;
use super::merge::Stream;
use crate::filter::error::Meaning;
use crate::filter::similarity::Marking;
use crate::filter::{ConfigError, Estimate, Mismatch, Similarity};

impl QuotientFilter {
    /// The union of filters, in one pass over all: a new filter for `capacity` keys or more. The filters may differ in
    /// slots, but must have the same fingerprints of keys hashed the same way. Sets stay sets; if any filter is
    /// counting, so is the union, and copies add up.
    ///
    /// # Errors
    /// No filter; filters of different fingerprints or hashes; a `capacity` below what the union holds.
    pub fn merge(filters: &[&QuotientFilter<impl Deref<Target = [u8]>>], capacity: u64) -> Result<Self, ConfigError> {
        let Some(first) = filters.first() else {
            return Err(ConfigError("there is no filter to merge: name at least one".into()));
        };
        for other in filters {
            first.check_match(other).map_err(|mismatch| ConfigError(mismatch.to_string()))?;
        }
        let mut merged = Self::with_shape(first.shape.resized(capacity)?)?.hashed_by(first.hash);
        merged.counting = filters.iter().any(|filter| filter.counting);
        merged
            .build(filters.iter().map(|filter| Stream::Table(filter.decoder())).collect())
            .map_err(|full| ConfigError(format!("the filters together do not fit: {full}")))?;
        Ok(merged)
    }
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// The same fingerprints in a table for `capacity` keys, larger or smaller, moved in order, without the keys. The
    /// fingerprints stay as they are, so at n keys the false-positive rate is what it was: remainders take the bits
    /// that the quotients give.
    ///
    /// # Errors
    /// A `capacity` below [`len`](Self::len), or so great that its keys would exceed the false-positive rate `rate`:
    /// that only longer fingerprints could hold, which only the keys can give.
    pub fn resized(&self, capacity: u64, rate: f64) -> Result<QuotientFilter, ConfigError> {
        self.shape.check_rate_at(capacity, rate)?;
        if capacity < self.len {
            return Err(ConfigError(format!("a filter of {} keys cannot be made for {capacity}", self.len)));
        }
        QuotientFilter::merge(&[self], capacity)
    }

    /// How many different keys it holds: a few more than fingerprints, as some keys share one.
    pub fn cardinality(&self) -> Estimate {
        Marking::of_fingerprints(self.shape.last).cardinality(self.distinct)
    }

    /// How alike the sets of two filters are, of any number of slots. The bits that differ are the fingerprints that one
    /// of the two holds. Cost: one pass over both.
    ///
    /// # Errors
    /// If the two differ in fingerprints or in how keys are hashed.
    pub fn similarity(&self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<Similarity, Mismatch> {
        let union = self.distinct + other.distinct - self.common(other)?;
        Ok(Marking::of_fingerprints(self.shape.last).similarity(self.distinct, other.distinct, union))
    }

    /// How many different fingerprints both filters hold, exactly. Cost: one pass over both.
    ///
    /// # Errors
    /// If the two differ in fingerprints or in how keys are hashed.
    pub fn common(&self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<u64, Mismatch> {
        self.check_match(other)?;
        let mut before = None;
        let new = |&fingerprint: &u64| before.replace(fingerprint) != Some(fingerprint);
        Ok(in_both(self.fingerprints(), other.fingerprints()).filter(new).count() as u64)
    }

    /// Refuses a filter of other fingerprints.
    fn check_match(&self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        let meaning = |last, hash| Meaning { sizes: [("fingerprints", u64::saturating_add(last, 1))], hash };
        meaning(self.shape.last, self.hash).check(meaning(other.shape.last, other.hash))
    }
}

impl<M: DerefMut<Target = [u8]>> QuotientFilter<M> {
    /// Takes in all that `other` holds, in one pass over both; copies add up if this filter is counting. The two may
    /// differ in slots. Needs memory for a second table meanwhile. [`merge`](QuotientFilter::merge) takes any number of
    /// filters, and makes the room.
    ///
    /// # Errors
    /// If the two differ in fingerprints or in how keys are hashed, or if this filter has no room for both; it is
    /// unchanged then.
    pub fn union_with(&mut self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.check_match(other)?;
        let mut union = self.emptied().map_err(|_| Mismatch::NoMemory)?;
        union
            .build(vec![Stream::Table(self.decoder()), Stream::Table(other.decoder())])
            .map_err(|_| Mismatch::NoRoom { keys: self.len + other.len, slots: self.shape.slots })?;
        self.take_over(&union);
        Ok(())
    }

    /// Keeps only what `other` holds as well, in one pass over both; of copies, as many as both hold. The two may differ
    /// in slots. Needs memory for a second table meanwhile.
    ///
    /// A key that is in both stays. One that is in neither is taken for present if its fingerprint is among those left.
    ///
    /// # Errors
    /// If the two differ in fingerprints or in how keys are hashed; this filter is unchanged then.
    pub fn intersect_with(&mut self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.check_match(other)?;
        let mut both = self.emptied().map_err(|_| Mismatch::NoMemory)?;
        Builder::new(&mut both)
            .extend(in_both(self.fingerprints(), other.fingerprints()))
            .expect("a part of what is in a table fits into one of the same shape");
        self.take_over(&both);
        Ok(())
    }
}

/// What both ascending sequences have.
fn in_both<'a>(one: Fingerprints<'a>, other: Fingerprints<'a>) -> impl Iterator<Item = u64> + 'a {
    let mut other = other.peekable();
    one.filter(move |fingerprint| {
        while other.next_if(|candidate| candidate < fingerprint).is_some() {}
        other.next_if_eq(fingerprint).is_some()
    })
}
