//! Operations on two filters of one kind, and operations that only some kinds have.

use std::ops::{Deref, DerefMut};

use super::AnyFilter;
use crate::filter::{ConfigError, Estimate, Mismatch, Similarity};
use crate::hash::{Hashes, KeyHash};

impl<M: Deref<Target = [u8]>> AnyFilter<M> {
    /// The approximate number of different keys; `None` for kinds of filter that cannot estimate it. For an
    /// intersection the estimate is far too high, except if the filters are quotient filters. The
    /// [`similarity`](Self::similarity) of the two filters that were intersected gives a better estimate.
    pub fn cardinality(&self) -> Option<Estimate> {
        match self {
            Self::Bloom(filter) => Some(filter.cardinality()),
            Self::Blocked(filter) => Some(filter.cardinality()),
            Self::Counting(filter) => Some(filter.cardinality()),
            Self::Ringed(filter) => Some(filter.cardinality()),
            Self::Quotient(filter) => Some(filter.cardinality()),
            Self::SplitBlock(filter) => Some(filter.cardinality()),
            Self::Fuse(filter) => Some(filter.cardinality()),
            _ => None,
        }
    }

    /// Estimates the similarity of the sets of two filters.
    ///
    /// # Errors
    /// If the filters are of different kinds, sizes or hashes, or of a kind without this operation.
    pub fn similarity<N: Deref<Target = [u8]>>(&self, other: &AnyFilter<N>) -> Result<Similarity, Mismatch> {
        match (self, other) {
            (Self::Bloom(a), AnyFilter::Bloom(b)) => a.similarity(b),
            (Self::Blocked(a), AnyFilter::Blocked(b)) => a.similarity(b),
            (Self::Ringed(a), AnyFilter::Ringed(b)) => a.similarity(b),
            (Self::Quotient(a), AnyFilter::Quotient(b)) => a.similarity(b),
            (Self::SplitBlock(a), AnyFilter::SplitBlock(b)) => a.similarity(b),
            _ => Err(self.unlike(other)),
        }
    }

    /// Checks that keys can be [removed](AnyFilter::remove) from a filter of this kind.
    ///
    /// # Errors
    /// If keys cannot be removed from filters of this kind. The message names the kinds from which keys can be removed.
    pub fn check_removable(&self) -> Result<(), ConfigError> {
        match self {
            Self::Counting(_) => Ok(()),
            Self::Quotient(filter) if filter.is_counting() => Ok(()),
            Self::Quotient(_) => Err(ConfigError::OneCopy),
            _ => Err(ConfigError::NotRemovable(self.kind())),
        }
    }

    /// Returns the error that two filters cannot be combined or compared: they are of different kinds, or of a kind
    /// without this operation.
    fn unlike<N: Deref<Target = [u8]>>(&self, other: &AnyFilter<N>) -> Mismatch {
        let (ours, theirs) = (self.kind(), other.kind());
        if ours == theirs { Mismatch::Unsupported(ours) } else { Mismatch::Kind { ours, theirs } }
    }
}

impl<M: DerefMut<Target = [u8]>> AnyFilter<M> {
    /// Keeps only the keys that `other` holds too.
    ///
    /// # Errors
    /// If the filters are of different kinds, sizes or hashes, or of a kind without this operation; nothing is changed
    /// then.
    pub fn intersect_with<N: Deref<Target = [u8]>>(&mut self, other: &AnyFilter<N>) -> Result<(), Mismatch> {
        match (&mut *self, other) {
            (Self::Bloom(a), AnyFilter::Bloom(b)) => a.intersect_with(b),
            (Self::Blocked(a), AnyFilter::Blocked(b)) => a.intersect_with(b),
            (Self::Ringed(a), AnyFilter::Ringed(b)) => a.intersect_with(b),
            (Self::Quotient(a), AnyFilter::Quotient(b)) => a.intersect_with(b),
            (Self::SplitBlock(a), AnyFilter::SplitBlock(b)) => a.intersect_with(b),
            _ => Err(self.unlike(other)),
        }
    }

    /// Removes `key` once. Returns false if it is certainly not in the filter. Remove only keys that were inserted.
    ///
    /// # Errors
    /// If keys cannot be removed from a filter of this kind.
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool, ConfigError> {
        self.remove_hash(self.hash_spec().hash(key.as_ref()))
    }

    /// Removes each key of a batch once, and returns how many keys were removed. The other keys of the batch are
    /// certainly not in the filter. Remove only keys that were inserted.
    ///
    /// # Errors
    /// If keys cannot be removed from a filter of this kind; [`ConfigError::Mismatch`] if the keys were hashed by
    /// another spec than [`hash_spec`](Self::hash_spec). Nothing is changed then.
    pub fn remove_hashes(&mut self, keys: &Hashes) -> Result<u64, ConfigError> {
        let keys = Mismatch::check(self.hash_spec(), keys).map_err(ConfigError::Mismatch)?;
        keys.iter().try_fold(0, |removed, &key| Ok(removed + u64::from(self.remove_hash(key)?)))
    }

    fn remove_hash(&mut self, key: KeyHash) -> Result<bool, ConfigError> {
        match self {
            Self::Counting(filter) => Ok(filter.remove_hash(key)),
            Self::Quotient(filter) => filter.remove_hash(key),
            _ => self.check_removable().map(|()| false),
        }
    }
}

impl AnyFilter {
    /// Adds the keys of `other` to this filter.
    ///
    /// # Errors
    /// If the filters are of different kinds, sizes or hashes, or of a kind without this operation; nothing is changed
    /// then.
    pub fn union_with<N: Deref<Target = [u8]>>(&mut self, other: &AnyFilter<N>) -> Result<(), Mismatch> {
        match (&mut *self, other) {
            (Self::Bloom(a), AnyFilter::Bloom(b)) => a.union_with(b),
            (Self::Blocked(a), AnyFilter::Blocked(b)) => a.union_with(b),
            (Self::Counting(a), AnyFilter::Counting(b)) => a.union_with(b),
            (Self::Ringed(a), AnyFilter::Ringed(b)) => a.union_with(b),
            (Self::Quotient(a), AnyFilter::Quotient(b)) => a.union_with(b),
            (Self::SplitBlock(a), AnyFilter::SplitBlock(b)) => a.union_with(b),
            (Self::Growing(a), AnyFilter::Growing(b)) => a.union_with(b),
            _ => Err(self.unlike(other)),
        }
    }
}
