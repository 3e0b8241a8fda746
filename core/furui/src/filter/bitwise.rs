//! Set operations on filters: union, intersection, cardinality and similarity. Filters that are tables of bits share
//! the implementation.

use std::ops::{BitAndAssign, BitOrAssign, Deref, DerefMut};

use super::error::Meaning;
use super::similarity::{Marking, ones, ones_of_either};
use super::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Estimate, GrowingBloom, Mismatch, QuotientFilter, RingedBloom,
    Similarity, SplitBlockBloom,
};

/// A filter that is a table of bits, which insertions only set. So a bitwise OR is a union, and an AND an intersection.
trait Bits<const N: usize> {
    fn table(&self) -> &[u8];

    fn meaning(&self) -> Meaning<N>;

    /// The model of the way in which keys set the filter's bits, by which sizes of sets are estimated.
    fn marking(&self) -> Marking;
}

impl<M: Deref<Target = [u8]>> Bits<2> for Bloom<M> {
    fn table(&self) -> &[u8] {
        &self.words
    }

    fn meaning(&self) -> Meaning<2> {
        Meaning { sizes: [("bits", self.bits()), ("probes a key", self.probes().into())], hash: self.hash_spec() }
    }

    fn marking(&self) -> Marking {
        Marking::of_probes(self.bits(), self.probes())
    }
}

impl<M: Deref<Target = [u8]>> Bits<2> for BlockedBloom<M> {
    fn table(&self) -> &[u8] {
        &self.table
    }

    fn meaning(&self) -> Meaning<2> {
        Meaning { sizes: [("lines", self.lines()), ("probes a key", self.probes().into())], hash: self.hash_spec() }
    }

    fn marking(&self) -> Marking {
        // The bits of a key lie in a line, or in a pair of lines.
        let blocks = if self.layout.is_pair() { self.lines() / 2 } else { self.lines() };
        Marking::of_blocks(self.bits(), blocks, self.probes())
    }
}

impl<M: Deref<Target = [u8]>> Bits<1> for SplitBlockBloom<M> {
    fn table(&self) -> &[u8] {
        &self.table
    }

    fn meaning(&self) -> Meaning<1> {
        Meaning { sizes: [("blocks", self.blocks())], hash: self.hash_spec() }
    }

    fn marking(&self) -> Marking {
        // A key sets one bit in each of the eight words of its block.
        Marking::of_blocks(8 * self.table.len() as u64, self.blocks(), 8)
    }
}

impl<M: Deref<Target = [u8]>> Bits<4> for RingedBloom<M> {
    fn table(&self) -> &[u8] {
        &self.words
    }

    fn meaning(&self) -> Meaning<4> {
        let [probes, gamma, delta] = self.params().sizes();
        Meaning { sizes: [("groups", self.capacity()), probes, gamma, delta], hash: self.hash_spec() }
    }

    fn marking(&self) -> Marking {
        let window = u64::from(self.params().window());
        // If delta is 1, windows do not overlap, and the bits between them are unused.
        let bits = if self.params().delta() == 1 { self.capacity() * window } else { self.bits() };
        Marking::of_windows(bits, window, self.probes())
    }
}

/// Defines the set operations of a filter that is a table of bits.
macro_rules! operations_of_bits {
    ($filter:ident, $table:ident) => {
        impl<M: Deref<Target = [u8]>> $filter<M> {
            /// The number of bits that are set. Cost: one pass over the bits.
            pub fn ones(&self) -> u64 {
                ones(Bits::table(self))
            }

            /// The approximate number of different keys in the filter, estimated from the bits that are set. Cost: one
            /// pass over the bits.
            ///
            /// The estimate for a full filter is infinite. The estimate for an [intersection](Self::intersect_with) is
            /// far too high, because bits are set in it that belong to none of its keys: the
            /// [`similarity`](Self::similarity) of the two filters gives a better estimate.
            pub fn cardinality(&self) -> Estimate {
                self.marking().cardinality(self.ones())
            }

            /// Estimates the similarity of the sets of two filters: the number of bits that differ, and the numbers of
            /// keys in each set, in the union and in the intersection. Cost: one pass over both.
            ///
            /// # Errors
            /// [`Mismatch`] if the filters differ in size, parameters or hash.
            pub fn similarity(&self, other: &$filter<impl Deref<Target = [u8]>>) -> Result<Similarity, Mismatch> {
                self.meaning().check(other.meaning())?;
                let either = ones_of_either(Bits::table(self), Bits::table(other));
                Ok(self.marking().similarity(self.ones(), other.ones(), either))
            }
        }

        impl<M: DerefMut<Target = [u8]>> $filter<M> {
            /// Adds the keys of `other`. This filter is then, bit for bit, as if all keys of the two filters had been
            /// inserted into it. Its rate grows with its number of keys, so size the filters for the union. Cost: one
            /// pass over both tables.
            ///
            /// # Errors
            /// [`Mismatch`] if the filters differ in size, parameters or hash; nothing is changed then.
            pub fn union_with(&mut self, other: &$filter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
                self.meaning().check(other.meaning())?;
                self.$table.iter_mut().zip(Bits::table(other)).for_each(|(ours, theirs)| *ours |= theirs);
                Ok(())
            }

            /// Keeps only the keys that `other` holds too. Every key that is in both filters is still found. The
            /// false-positive rate is at most that of either filter, but higher than that of a filter that is built
            /// from the common keys. Cost: one pass over both.
            ///
            /// # Errors
            /// [`Mismatch`] if the filters differ in size, parameters or hash; nothing is changed then.
            pub fn intersect_with(&mut self, other: &$filter<impl Deref<Target = [u8]>>) -> Result<(), Mismatch> {
                self.meaning().check(other.meaning())?;
                self.$table.iter_mut().zip(Bits::table(other)).for_each(|(ours, theirs)| *ours &= theirs);
                Ok(())
            }
        }
    };
}

/// Defines, for an operation that changes a filter, the operation that makes a new filter, and the assignment operator.
macro_rules! by_value {
    ($filter:ident, $operation:ident, $with:ident, $operator:ident, $assign:ident) => {
        impl $filter {
            #[doc = concat!("A copy of this filter, changed as by [`", stringify!($with), "`](Self::", stringify!($with), ").")]
            ///
            /// # Errors
            #[doc = concat!("Those of [`", stringify!($with), "`](Self::", stringify!($with), ").")]
            pub fn $operation(&self, other: &$filter<impl Deref<Target = [u8]>>) -> Result<Self, Mismatch> {
                let mut result = self.clone();
                result.$with(other)?;
                Ok(result)
            }
        }

        impl<N: Deref<Target = [u8]>> $operator<&$filter<N>> for $filter {
            /// # Panics
            #[doc = concat!("If the filters are incompatible: see [`", stringify!($with), "`](Self::", stringify!($with), ").")]
            fn $assign(&mut self, other: &$filter<N>) {
                if let Err(mismatch) = self.$with(other) {
                    panic!("{mismatch}");
                }
            }
        }
    };
}

operations_of_bits!(Bloom, words);
operations_of_bits!(BlockedBloom, table);
operations_of_bits!(RingedBloom, words);
operations_of_bits!(SplitBlockBloom, table);

by_value!(Bloom, union, union_with, BitOrAssign, bitor_assign);
by_value!(BlockedBloom, union, union_with, BitOrAssign, bitor_assign);
by_value!(CountingBloom, union, union_with, BitOrAssign, bitor_assign);
by_value!(GrowingBloom, union, union_with, BitOrAssign, bitor_assign);
by_value!(QuotientFilter, union, union_with, BitOrAssign, bitor_assign);
by_value!(RingedBloom, union, union_with, BitOrAssign, bitor_assign);
by_value!(SplitBlockBloom, union, union_with, BitOrAssign, bitor_assign);
by_value!(AnyFilter, union, union_with, BitOrAssign, bitor_assign);

by_value!(Bloom, intersection, intersect_with, BitAndAssign, bitand_assign);
by_value!(BlockedBloom, intersection, intersect_with, BitAndAssign, bitand_assign);
by_value!(QuotientFilter, intersection, intersect_with, BitAndAssign, bitand_assign);
by_value!(RingedBloom, intersection, intersect_with, BitAndAssign, bitand_assign);
by_value!(SplitBlockBloom, intersection, intersect_with, BitAndAssign, bitand_assign);
by_value!(AnyFilter, intersection, intersect_with, BitAndAssign, bitand_assign);

#[cfg(test)]
mod tests {
    use super::super::{Filter, FilterMut, Gamma, RingedParams};
    use super::*;
    use crate::hash::{HashSpec, KeyHash};

    fn keys(list: u64, from: u64, n: u64) -> Vec<KeyHash> {
        (from..from + n).map(|i| HashSpec::default().hash(&(list << 32 | i).to_le_bytes())).collect()
    }

    /// Checks a hundred pairs of sets that have 1000 keys in common and 5000 keys together. The estimates are within
    /// five of their stated errors of the true values, and on average the stated errors are as large as the true
    /// errors.
    fn assert_honest(name: &str, new: impl Fn() -> AnyFilter) {
        const SETS: u64 = 100;
        let (mut off, mut stated) = ([0.0; 2], [0.0; 2]);
        for set in 0..SETS {
            let [a, b] = [0, 2000].map(|from| {
                let mut filter = new();
                filter.insert_all(&keys(set, from, 3000)).unwrap();
                filter
            });
            assert_eq!(a.similarity(&b).unwrap().a, a.cardinality().unwrap());
            let similarity = a.similarity(&b).unwrap();
            for (estimate, truth) in [
                (similarity.a, 3000.0),
                (similarity.b, 3000.0),
                (similarity.union, 5000.0),
                (similarity.intersection, 1000.0),
                (similarity.jaccard, 0.2),
            ] {
                assert!((estimate.value - truth).abs() < 5.0 * estimate.error, "{name}: {estimate:?}, {truth}");
            }
            for (i, (estimate, truth)) in
                [(similarity.union, 5000.0), (similarity.intersection, 1000.0)].into_iter().enumerate()
            {
                off[i] += (estimate.value - truth).powi(2);
                stated[i] += estimate.error.powi(2);
            }
        }
        for (off, stated) in off.into_iter().zip(stated) {
            assert!((off / stated - 1.0).abs() < 0.5, "{name}: spread² {off:.1}, stated {stated:.1}");
        }
    }

    #[test]
    fn estimates_are_as_good_as_they_say() {
        for rate in [0.05, 0.01, 0.001] {
            assert_honest("Bloom", || Bloom::with_rate(3000, rate).unwrap().into());
            assert_honest("BlockedBloom", || BlockedBloom::with_rate(3000, rate).unwrap().into());
            assert_honest("SplitBlockBloom", || SplitBlockBloom::with_rate(3000, rate).unwrap().into());
        }
        for (probes, delta) in [(7, 10), (7, 1000), (1, 1), (4, 1), (7, 1)] {
            let params = RingedParams::new(probes, Gamma::Exact, delta).unwrap();
            assert_honest(&params.to_string(), || RingedBloom::with_size(params, 3000).unwrap().into());
        }
    }

    #[test]
    fn union_is_inserting_both_and_intersection_holds_what_is_in_both() {
        let params = RingedParams::with_rate(0.01, Gamma::Exact, 100).unwrap();
        let empty: [AnyFilter; 5] = [
            Bloom::from_parts(20_000, 7).unwrap().into(),
            BlockedBloom::from_parts(40, 10).unwrap().into(),
            SplitBlockBloom::from_parts(80).unwrap().into(),
            RingedBloom::with_size(params, 2000).unwrap().into(),
            QuotientFilter::with_rate(2000, 0.01).unwrap().into(),
        ];
        let bytes = |filter: &AnyFilter| {
            let mut bytes = vec![];
            filter.write_to(&mut bytes).unwrap();
            bytes
        };
        for empty in empty {
            let (a, b) = (keys(0, 0, 600), keys(0, 500, 600));
            let filled = |lists: &[&[KeyHash]]| {
                let mut filter = empty.clone();
                lists.iter().for_each(|keys| _ = filter.insert_all(keys).unwrap());
                filter
            };
            let (of_a, of_b, of_both) = (filled(&[&a]), filled(&[&b]), filled(&[&a, &b]));
            let mut united = of_a.union(&of_b).unwrap();
            assert_eq!(bytes(&united), bytes(&of_both));
            united &= &of_b;
            assert_eq!(bytes(&united), bytes(&of_b));
            united |= &of_a;
            assert_eq!(bytes(&united), bytes(&of_both));
            let common = of_a.intersection(&of_b).unwrap();
            assert!(a[500..].iter().all(|&key| common.contains_hash(key)));
        }
    }

    #[test]
    fn filters_that_differ_are_refused_with_what_differs() {
        let bloom = |bits, probes| Bloom::from_parts(bits, probes).unwrap();
        assert_eq!(bloom(40, 7).union(&bloom(42, 7)), Err(Mismatch::Size { what: "bits", ours: 40, theirs: 42 }));
        assert_eq!(
            bloom(40, 7).intersection(&bloom(40, 8)),
            Err(Mismatch::Size { what: "probes a key", ours: 7, theirs: 8 })
        );
        let seeded = HashSpec { seed: 5, ..HashSpec::default() };
        let refused = bloom(40, 7).similarity(&bloom(40, 7).hashed_by(seeded)).unwrap_err();
        assert_eq!(refused, Mismatch::Hash { ours: HashSpec::default(), theirs: seeded });
        assert!(refused.to_string().contains(&seeded.to_string()), "{refused}");
        let ringed = |delta| RingedBloom::with_size(RingedParams::new(7, Gamma::Exact, delta).unwrap(), 9).unwrap();
        assert!(matches!(ringed(8).union(&ringed(9)), Err(Mismatch::Size { ours: 8, theirs: 9, .. })));
    }
}
