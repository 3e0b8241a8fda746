//! The experiments for the encyclopedia's entry on quotient filters, and for the cascade that is built from them.

mod cascade;
mod clusters;
mod literal;
mod load;
mod resize;
mod space;
mod storage_bloom;
mod store;
mod stores;
mod walk;

use crate::report::{Experiment, Source};

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        source: Source::QuotientFilters,
        name: "load",
        title: "Insert, hit, miss and delete by load",
        claim: "A quotient filter is like a Bloom filter, but uses the cache better, and its elements can be \
                deleted. (No figures are given.)",
        run: load::run,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "space",
        title: "Bits a key",
        claim: "A quotient filter uses space better than a Bloom filter. (No figures are given.)",
        run: space::run,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "clusters",
        title: "The lengths of runs and clusters",
        claim: "Remainders of equal quotients form a run; runs that shift each other form a cluster, along which an \
                operation has to walk. (The entry gives no lengths, but theory does.)",
        run: clusters::run,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "walk",
        title: "Fig. 6: the walk to a run",
        claim: "The beginning of a run is found by walking back to the beginning of its cluster and forth again, counting flags.",
        run: walk::walk,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "tombstones",
        title: "Tombstones instead of shifting",
        claim: "Instead of shifting the fingerprints of a cluster when one is deleted, a fourth flag, a tombstone, may be added.",
        run: walk::tombstones,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "resize",
        title: "Changing the size",
        claim: "Fingerprints can be restored from the table, so the table can be moved to one of another size. \
                Because fingerprints come out in ascending order, neither searching for their places nor shifting is \
                needed.",
        run: resize::run,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "cascade",
        title: "The cascade filter against a Bloom filter on storage",
        claim: "With the first level in memory and the others on storage, the filter can be larger than a Bloom \
                filter. (No figures are given.)",
        run: cascade::run,
    },
    Experiment {
        source: Source::QuotientFilters,
        name: "stores",
        title: "The cascade against other exact stores",
        claim: "The entry says nothing about other stores, which are what people use for such a set today.",
        run: stores::run,
    },
];
