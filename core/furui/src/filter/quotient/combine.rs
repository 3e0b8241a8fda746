use std::ops::{Deref, DerefMut};

use super::QuotientFilter;
use super::build::Builder;
use super::iter::FingerprintIter;
use super::merge::Stream;
use super::shape::{MAX_SLOTS, Shape, slots_for};
use crate::filter::error::Meaning;
use crate::filter::similarity::Marking;
use crate::filter::{ConfigError, Estimate, Mismatch, Similarity};

impl QuotientFilter {
    /// The union of `filters` as a new filter with a capacity of at least `capacity`, made in one pass over all of
    /// them. The filters may differ in their numbers of slots, but must have the same range of fingerprints and the
    /// same hash specification. If any of them is counting, so is the union, and copies add up; otherwise the union is
    /// a set.
    ///
    /// # Errors
    /// If there is no filter, if filters differ in the range of fingerprints or the hash specification, or if the union
    /// exceeds `capacity`.
    pub fn merge(filters: &[&QuotientFilter<impl Deref<Target = [u8]>>], capacity: u64) -> Result<Self, ConfigError> {
        let Some(first) = filters.first() else {
            return Err(ConfigError::NothingToMerge);
        };
        for other in filters {
            first.check_match(other).map_err(ConfigError::Mismatch)?;
        }
        Self::merged_into(first.shape.resized(capacity)?, filters)
    }

    /// The union of `filters` as a table of this shape. There must be at least one filter, and all of them must match.
    fn merged_into(shape: Shape, filters: &[&QuotientFilter<impl Deref<Target = [u8]>>]) -> Result<Self, ConfigError> {
        let mut merged = Self::with_shape(shape)?.hashed_by(filters[0].hash);
        merged.counting = filters.iter().any(|filter| filter.counting);
        merged
            .build(filters.iter().map(|filter| Stream::Table(filter.decoder())).collect())
            .map_err(ConfigError::Full)?;
        Ok(merged)
    }
}

impl<M: Deref<Target = [u8]>> QuotientFilter<M> {
    /// Copies the fingerprints in order into a larger or smaller filter for `capacity` keys, without needing the keys.
    /// The fingerprints and the false-positive rate at n keys do not change, only the split into quotient and
    /// remainder.
    ///
    /// # Errors
    /// If `capacity` is below [`len`](Self::len), or so large that the false-positive rate at `capacity` keys would
    /// exceed `rate`. A lower rate needs longer fingerprints, which can only be made from the keys.
    pub fn resized(&self, capacity: u64, rate: f64) -> Result<QuotientFilter, ConfigError> {
        self.shape.check_rate_at(capacity, rate)?;
        if capacity < self.len {
            return Err(ConfigError::OutOfRange {
                what: "keys to make room for",
                given: capacity,
                least: self.len,
                most: MAX_SLOTS,
            });
        }
        QuotientFilter::merge(&[self], capacity)
    }

    /// Copies the fingerprints in order into a table of `slots` slots, without needing the keys. Twice as many slots
    /// make each remainder one bit shorter. The false-positive rate does not change until more keys are inserted; at
    /// [`capacity`](Self::capacity) it is proportional to the number of slots.
    ///
    /// # Errors
    /// If the fingerprints held do not fit into so few slots, or if there are more slots than possible fingerprints.
    pub fn with_slots(&self, slots: u64) -> Result<QuotientFilter, ConfigError> {
        let least = slots_for(self.len)?;
        if slots < least {
            let what = "slots for the fingerprints that are held";
            return Err(ConfigError::OutOfRange { what, given: slots, least, most: MAX_SLOTS });
        }
        QuotientFilter::merged_into(Shape::new(slots, self.shape.last)?, &[self])
    }

    /// Estimates how many different keys the filter holds: slightly more than its fingerprints, because some keys share
    /// a fingerprint.
    pub fn cardinality(&self) -> Estimate {
        Marking::of_fingerprints(self.shape.last).cardinality(self.distinct)
    }

    /// Estimates how similar the sets of two filters are. The filters may differ in their numbers of slots. The
    /// [differing bits](Similarity::differing_bits) are the fingerprints that only one of the filters holds. Cost: one
    /// pass over both.
    ///
    /// # Errors
    /// If the filters differ in the range of fingerprints or the hash specification.
    pub fn similarity(&self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<Similarity, Mismatch> {
        let union = self.distinct + other.distinct - self.common(other)?;
        Ok(Marking::of_fingerprints(self.shape.last).similarity(self.distinct, other.distinct, union))
    }

    /// The number of different fingerprints that both filters hold, exactly. Cost: one pass over both.
    ///
    /// # Errors
    /// If the filters differ in the range of fingerprints or the hash specification.
    pub fn common(&self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<u64, Mismatch> {
        self.check_match(other)?;
        let mut before = None;
        let new = |&fingerprint: &u64| before.replace(fingerprint) != Some(fingerprint);
        Ok(in_both(self.fingerprints(), other.fingerprints()).filter(new).count() as u64)
    }

    /// Returns an error if `other` differs in the range of fingerprints or the hash specification.
    fn check_match(&self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        let meaning = |last, hash| Meaning { sizes: [("fingerprints", u64::saturating_add(last, 1))], hash };
        meaning(self.shape.last, self.hash).check(meaning(other.shape.last, other.hash))
    }
}

impl<M: DerefMut<Target = [u8]>> QuotientFilter<M> {
    /// Adds all fingerprints of `other` to this filter, in one pass over both; copies add up if this filter is
    /// counting. The filters may differ in their numbers of slots. Memory for a second table is needed meanwhile.
    /// [`merge`](QuotientFilter::merge) takes any number of filters and makes a table that is large enough.
    ///
    /// # Errors
    /// If the filters differ in the range of fingerprints or the hash specification, or if this filter has no room for
    /// the union. This filter is then unchanged.
    pub fn union_with(&mut self, other: &QuotientFilter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
        self.check_match(other)?;
        let mut union = self.emptied().map_err(|_| Mismatch::NoMemory)?;
        union
            .build(vec![Stream::Table(self.decoder()), Stream::Table(other.decoder())])
            .map_err(|_| Mismatch::NoRoom { keys: self.len + other.len, slots: self.shape.slots })?;
        self.take_over(&union);
        Ok(())
    }

    /// Keeps only the fingerprints that `other` holds as well, in one pass over both. Of each fingerprint, the smaller
    /// of the two numbers of copies is kept. The filters may differ in their numbers of slots. Memory for a second
    /// table is needed meanwhile.
    ///
    /// A key that was inserted into both filters is still found. A key that was inserted into neither is reported as
    /// present if its fingerprint is among those kept.
    ///
    /// # Errors
    /// If the filters differ in the range of fingerprints or the hash specification; this filter is then unchanged.
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

/// The fingerprints that both ascending sequences contain. Each is yielded as often as it occurs in the sequence that
/// has fewer copies of it.
fn in_both<'a>(one: FingerprintIter<'a>, other: FingerprintIter<'a>) -> impl Iterator<Item = u64> + 'a {
    let mut other = other.peekable();
    one.filter(move |fingerprint| {
        while other.next_if(|candidate| candidate < fingerprint).is_some() {}
        other.next_if_eq(fingerprint).is_some()
    })
}
