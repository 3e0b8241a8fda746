//! What can be done with two filters of one kind, or with some kinds only.

use std::ops::{Deref, DerefMut};

use super::AnyFilter;
use crate::filter::{ConfigError, Estimate, Mismatch, Similarity};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> AnyFilter<M> {
    /// About how many keys it holds, if that can be told from the filter. Far too high for an intersection of any kind but
    /// quotient filters: ask [`similarity`](Self::similarity) for that.
    pub fn cardinality(&self) -> Option<Estimate> {
        match self {
            Self::Bloom(filter) => Some(filter.cardinality()),
            Self::Blocked(filter) => Some(filter.cardinality()),
            Self::Counting(filter) => Some(filter.cardinality()),
            Self::Ringed(filter) => Some(filter.cardinality()),
            Self::Quotient(filter) => Some(filter.cardinality()),
            Self::SplitBlock(filter) => Some(filter.cardinality()),
            _ => None,
        }
    }

    /// How alike the sets of two filters are.
    ///
    /// # Errors
    /// If they are of different kinds, sizes or hashes, or of a kind that cannot tell.
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

    /// Whether keys can be [removed](AnyFilter::remove).
    ///
    /// # Errors
    /// If not: the message says from which kinds they can.
    pub fn check_removable(&self) -> Result<(), ConfigError> {
        match self {
            Self::Counting(_) | Self::Quotient(_) => Ok(()),
            _ => Err(ConfigError(format!(
                "nothing can be removed from {}: its bits may belong to other keys as well; counting and quotient \
                 filters can remove",
                self.kind()
            ))),
        }
    }

    /// The error that two filters cannot be combined or compared.
    fn unlike<N: Deref<Target = [u8]>>(&self, other: &AnyFilter<N>) -> Mismatch {
        let (ours, theirs) = (self.kind(), other.kind());
        if ours == theirs { Mismatch::Unsupported(ours) } else { Mismatch::Kind { ours, theirs } }
    }
}

impl<M: DerefMut<Target = [u8]>> AnyFilter<M> {
    /// Keeps what `other` holds too.
    ///
    /// # Errors
    /// If they are of different kinds, sizes or hashes, or of a kind that cannot; nothing is changed then.
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

    /// Takes `key` out, once. False if it is visibly not there. Only remove what was inserted.
    ///
    /// # Errors
    /// If nothing can be removed from a filter of this kind.
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool, ConfigError> {
        self.remove_hash(self.hash_spec().hash(key.as_ref()))
    }

    /// [`remove`](Self::remove) of the key with this hash, which must be by [`hash_spec`](Self::hash_spec).
    ///
    /// # Errors
    /// If nothing can be removed from a filter of this kind.
    pub fn remove_hash(&mut self, key: KeyHash) -> Result<bool, ConfigError> {
        match self {
            Self::Counting(filter) => Ok(filter.remove_hash(key)),
            Self::Quotient(filter) => Ok(filter.remove_hash(key)),
            _ => self.check_removable().map(|()| false),
        }
    }
}

impl AnyFilter {
    /// Takes in what `other` holds.
    ///
    /// # Errors
    /// If they are of different kinds, sizes or hashes, or of a kind that cannot; nothing is changed then.
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
