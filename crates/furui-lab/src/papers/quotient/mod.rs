//! The experiments of the entry on quotient filters, and of the cascade that is made of them.

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

use super::{Experiment, Source};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        source: Source::Seed004,
        name: "load",
        title: "Insert, hit, miss and delete by load",
        claim: "A quotient filter is like a Bloom filter, but uses the cache better, and elements can be deleted. (No figures are \
                given.)",
        run: load::run,
    },
    Experiment {
        source: Source::Seed004,
        name: "space",
        title: "Bits a key",
        claim: "A quotient filter uses space better than a Bloom filter. (No figures are given.)",
        run: space::run,
    },
    Experiment {
        source: Source::Seed004,
        name: "clusters",
        title: "The lengths of runs and clusters",
        claim: "Remainders of equal quotients form a run; runs that push each other form a cluster, which an operation has to walk. (It \
                gives no lengths; theory does.)",
        run: clusters::run,
    },
    Experiment {
        source: Source::Seed004,
        name: "walk",
        title: "Fig. 6: the walk to a run",
        claim: "The beginning of a run is found by walking back to the beginning of its cluster and forth again, counting flags.",
        run: walk::walk,
    },
    Experiment {
        source: Source::Seed004,
        name: "tombstones",
        title: "Tombstones instead of shifting",
        claim: "Instead of shifting the fingerprints of a cluster when one is deleted, a fourth flag, a tombstone, may be added.",
        run: walk::tombstones,
    },
    Experiment {
        source: Source::Seed004,
        name: "resize",
        title: "Changing the size",
        claim: "Fingerprints can be restored from the table, so that it can be moved to one of another size; as they come out in ascending \
                order, neither a search for their place nor shifting is needed.",
        run: resize::run,
    },
    Experiment {
        source: Source::Seed004,
        name: "cascade",
        title: "The cascade filter against a Bloom filter on storage",
        claim: "With the first level in memory and the others on storage one can have a larger filter than a Bloom filter. (No figures are \
                given.)",
        run: cascade::run,
    },
    Experiment {
        source: Source::Seed004,
        name: "stores",
        title: "The cascade against other exact stores",
        claim: "Nothing of other stores: whoever needs such a set today takes one of them.",
        run: stores::run,
    },
];
