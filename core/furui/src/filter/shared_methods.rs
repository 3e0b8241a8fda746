//! The inherent methods that all filters share: lookups and insertions of keys as bytes or as checked batches of
//! hashes, and methods that save and open files.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::file::{save, write};
use super::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Filter, FilterMut, Full, Fuse, GrowingBloom, InsertError, Mismatch,
    QuotientFilter, RingedBloom, SplitBlockBloom, StableBloom, StableBloomLight, WindowBloom,
};
use crate::format::{FormatError, Kind, Problem, ReadError, WriteError};
use crate::hash::{HashSpec, Hashes};

/// Defines the methods of a filter that look up keys, as bytes and as batches of hashes.
macro_rules! queries {
    ($filter:ident) => {
        impl<M: Deref<Target = [u8]>> $filter<M> {
            /// True if `key` may be in the set; false if it certainly is not. The key is hashed as
            /// [`hash_spec`](Self::hash_spec) says.
            #[inline]
            pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
                Filter::contains_hash(self, Filter::hash_spec(self).hash(key.as_ref()))
            }

            /// Answers [`contains`](Self::contains) for a batch of keys, whose cache lines are prefetched: `out` is
            /// cleared and gets one answer for each key.
            ///
            /// # Errors
            /// [`Mismatch::Hash`] if the keys were hashed by another spec than [`hash_spec`](Self::hash_spec); `out` is
            /// unchanged then.
            pub fn contains_hashes(&self, keys: &Hashes, out: &mut Vec<bool>) -> Result<(), Mismatch> {
                Filter::contains_all(self, Mismatch::check(self.hash_spec(), keys)?, out);
                Ok(())
            }

            /// The probability that [`contains`](Self::contains) says yes to a key that was never inserted, for the
            /// present contents of the filter.
            pub fn false_positive_rate(&self) -> f64 {
                Filter::false_positive_rate(self)
            }

            /// The spec (algorithm and seed) by which keys are hashed.
            #[inline(always)]
            pub fn hash_spec(&self) -> HashSpec {
                Filter::hash_spec(self)
            }
        }
    };
}

/// Defines the methods by which filters of one kind are saved and opened.
macro_rules! files {
    ($filter:ident, $any:ident) => {
        impl<M: Deref<Target = [u8]>> $filter<M> {
            /// Writes the filter's file, whole or not at all: after a crash or an error `path` is unchanged.
            ///
            /// # Errors
            /// [`WriteError`] if the operating system refuses to write the file.
            pub fn save(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
                save(path.as_ref(), |out| write(self, Kind::$filter, out))
            }
        }

        impl $filter {
            /// Opens the file of a filter of this kind, as [`AnyFilter::open`] does: its table is mapped, and every
            /// byte is checked once. Later insertions change this filter, not the file. The file must not be changed
            /// while the filter is open.
            ///
            /// # Errors
            /// [`ReadError::Format`] if the file is damaged or holds something else; [`ReadError::Io`] if it cannot be
            /// read.
            pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
                let path = path.as_ref();
                Self::try_from(AnyFilter::open(path)?)
                    .map_err(|problem| FormatError { file: path.display().to_string(), offset: 0, problem }.into())
            }
        }

        impl<M> TryFrom<AnyFilter<M>> for $filter<M> {
            /// The error if the filter is of another kind: [`Problem::WrongKind`].
            type Error = Problem;

            fn try_from(filter: AnyFilter<M>) -> Result<Self, Problem> {
                match filter {
                    AnyFilter::$any(filter) => Ok(filter),
                    other => Err(Problem::WrongKind { found: other.kind(), expected: Kind::$filter }),
                }
            }
        }

        impl<M> From<$filter<M>> for AnyFilter<M> {
            fn from(filter: $filter<M>) -> Self {
                Self::$any(filter)
            }
        }
    };
}

/// Defines the methods that insert keys into a filter that is never full.
macro_rules! insertions {
    ($filter:ident) => {
        impl<M: DerefMut<Target = [u8]>> $filter<M> {
            /// Inserts `key`, hashed as [`hash_spec`](Self::hash_spec) says. Returns true if it was certainly new.
            #[inline]
            pub fn insert(&mut self, key: impl AsRef<[u8]>) -> bool {
                let key = Filter::hash_spec(self).hash(key.as_ref());
                always(FilterMut::insert_hash(self, key))
            }

            /// Inserts the keys of a batch, whose cache lines are prefetched, and returns how many were certainly new.
            ///
            /// # Errors
            /// [`Mismatch::Hash`] if the keys were hashed by another spec than [`hash_spec`](Self::hash_spec); nothing
            /// is inserted then.
            pub fn insert_hashes(&mut self, keys: &Hashes) -> Result<u64, Mismatch> {
                let keys = Mismatch::check(self.hash_spec(), keys)?;
                Ok(always(FilterMut::insert_all(self, keys)))
            }
        }

        impl<M: DerefMut<Target = [u8]>, K: AsRef<[u8]>> Extend<K> for $filter<M> {
            /// Inserts the keys one after the other; see `insert_hashes` for batches, which are faster.
            fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
                keys.into_iter().for_each(|key| _ = self.insert(key));
            }
        }
    };
}

/// Defines the methods that insert keys into a filter that may be full, and return an error then.
macro_rules! insertions_with_room {
    () => {
        /// Inserts `key`, hashed as [`hash_spec`](Self::hash_spec) says. Returns true if it was certainly new.
        ///
        /// # Errors
        /// [`Full`] if the filter has no room. It is then unchanged.
        pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Full> {
            let key = Filter::hash_spec(self).hash(key.as_ref());
            FilterMut::insert_hash(self, key)
        }

        /// Inserts the keys of a batch, and returns how many were certainly new.
        ///
        /// # Errors
        /// [`InsertError::Full`] if there is no room for all keys. Some of them may have been inserted then; nothing
        /// else is changed. [`InsertError::Mismatch`] if the keys were hashed by another spec than
        /// [`hash_spec`](Self::hash_spec); nothing is inserted then.
        pub fn insert_hashes(&mut self, keys: &Hashes) -> Result<u64, InsertError> {
            let keys = Mismatch::check(self.hash_spec(), keys)?;
            Ok(FilterMut::insert_all(self, keys)?)
        }
    };
}

/// The value of an insertion into a filter that is never full, so that the insertion cannot fail.
#[inline(always)]
fn always<T>(inserted: Result<T, Full>) -> T {
    match inserted {
        Ok(new) => new,
        Err(full) => unreachable!("a filter without a capacity: {full}"),
    }
}

queries!(Bloom);
queries!(BlockedBloom);
queries!(CountingBloom);
queries!(Fuse);
queries!(GrowingBloom);
queries!(QuotientFilter);
queries!(RingedBloom);
queries!(SplitBlockBloom);
queries!(StableBloom);
queries!(StableBloomLight);
queries!(WindowBloom);
queries!(AnyFilter);

files!(Bloom, Bloom);
files!(BlockedBloom, Blocked);
files!(CountingBloom, Counting);
files!(Fuse, Fuse);
files!(GrowingBloom, Growing);
files!(QuotientFilter, Quotient);
files!(RingedBloom, Ringed);
files!(SplitBlockBloom, SplitBlock);
files!(StableBloom, Stable);
files!(StableBloomLight, StableLight);
files!(WindowBloom, Window);

insertions!(Bloom);
insertions!(BlockedBloom);
insertions!(CountingBloom);
insertions!(RingedBloom);
insertions!(SplitBlockBloom);
insertions!(StableBloom);
insertions!(StableBloomLight);

impl<M: DerefMut<Target = [u8]>> QuotientFilter<M> {
    insertions_with_room!();
}

impl GrowingBloom {
    insertions_with_room!();
}

impl WindowBloom {
    insertions_with_room!();
}

impl AnyFilter {
    insertions_with_room!();
}
