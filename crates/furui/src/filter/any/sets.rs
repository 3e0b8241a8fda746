//! What can be done with two filters of one kind, or with some kinds only.

use std::ops::{Deref, DerefMut};

use super::AnyFilter;
use crate::filter::{ConfigError, Estimate, Likeness, Mismatch};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> AnyFilter<M> {
    /// About how many keys it holds, if that can be told from the filter. Far too high for an intersection of any kind but
    /// quotient filters: ask [`likeness`](Self::likeness) for that.
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
    pub fn likeness<N: Deref<Target = [u8]>>(&self, other: &AnyFilter<N>) -> Result<Likeness, Mismatch> {
        match (self, other) {
            (Self::Bloom(a), AnyFilter::Bloom(b)) => a.likeness(b),
            (Self::Blocked(a), AnyFilter::Blocked(b)) => a.likeness(b),
            (Self::Ringed(a), AnyFilter::Ringed(b)) => a.likeness(b),
            (Self::Quotient(a), AnyFilter::Quotient(b)) => a.likeness(b),
            (Self::SplitBlock(a), AnyFilter::SplitBlock(b)) => a.likeness(b),
            _ => Err(self.unlike(other, "compared")),
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

    /// The error that two filters cannot be combined so.
    fn unlike<N: Deref<Target = [u8]>>(&self, other: &AnyFilter<N>, done: &str) -> Mismatch {
        let (a, b) = (self.kind(), other.kind());
        Mismatch(if a == b {
            format!("{a} and another cannot be {done}: other kinds can, such as Bloom, blocked and quotient filters")
        } else {
            format!("{a} and {b} cannot be {done}: build both of one kind")
        })
    }
}

impl<M: DerefMut<Target = [u8]>> AnyFilter<M> {
    /// Keeps what `other` holds too.
    ///
    /// # Errors
    /// If they are of different kinds, sizes or hashes, or of a kind that cannot; nothing is changed then.
    pub fn intersect<N: Deref<Target = [u8]>>(&mut self, other: &AnyFilter<N>) -> Result<(), Mismatch> {
        match (&mut *self, other) {
            (Self::Bloom(a), AnyFilter::Bloom(b)) => a.intersect(b),
            (Self::Blocked(a), AnyFilter::Blocked(b)) => a.intersect(b),
            (Self::Ringed(a), AnyFilter::Ringed(b)) => a.intersect(b),
            (Self::Quotient(a), AnyFilter::Quotient(b)) => a.intersect(b),
            (Self::SplitBlock(a), AnyFilter::SplitBlock(b)) => a.intersect(b),
            _ => Err(self.unlike(other, "intersected")),
        }
    }

    /// Takes `key` out, once. False if it is visibly not there. Only remove what was inserted.
    ///
    /// # Errors
    /// If nothing can be removed from a filter of this kind.
    pub fn remove(&mut self, key: KeyHash) -> Result<bool, ConfigError> {
        match self {
            Self::Counting(filter) => Ok(filter.remove(key)),
            Self::Quotient(filter) => Ok(filter.remove(key)),
            _ => self.check_removable().map(|()| false),
        }
    }
}

impl AnyFilter {
    /// Takes in what `other` holds.
    ///
    /// # Errors
    /// If they are of different kinds, sizes or hashes, or of a kind that cannot; nothing is changed then.
    pub fn union<N: Deref<Target = [u8]>>(&mut self, other: &AnyFilter<N>) -> Result<(), Mismatch> {
        match (&mut *self, other) {
            (Self::Bloom(a), AnyFilter::Bloom(b)) => a.union(b),
            (Self::Blocked(a), AnyFilter::Blocked(b)) => a.union(b),
            (Self::Counting(a), AnyFilter::Counting(b)) => a.union(b),
            (Self::Ringed(a), AnyFilter::Ringed(b)) => a.union(b),
            (Self::Quotient(a), AnyFilter::Quotient(b)) => a.union(b),
            (Self::SplitBlock(a), AnyFilter::SplitBlock(b)) => a.union(b),
            (Self::Growing(a), AnyFilter::Growing(b)) => a.union(b),
            _ => Err(self.unlike(other, "united")),
        }
    }
}
