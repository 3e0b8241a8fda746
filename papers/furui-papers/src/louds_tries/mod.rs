//! The experiments of Koyanagi, Yoshida, Unno and Shinjo on tries that grow, and experiments on the compact trie of
//! this project, which was developed from LOUDS tries.

mod application;
mod building;
mod dynamic;
mod merged_filters;
mod minimal;
mod minimal_trie;
mod online;
mod pairs;
mod path_hash;
mod patricia;
#[cfg(feature = "rivals")]
mod rebuilt;
mod virtual_nodes;
mod words;

use crate::report::{Context, Experiment, Source};

/// Chooses the size of an experiment: the paper's, the default, or the tiny one.
fn scale<T>(context: &Context, paper: T, default: T, quick: T) -> T {
    context.size(if context.full { paper } else { default }, quick)
}

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        source: Source::LoudsTries,
        name: "table2",
        title: "Table 2 and Fig. 3: a trie and its filter, one after the other or at once",
        claim: "Building the Bloom filter while the LOUDS trie is built takes about 30 % less time than building it after, from \
                the keys of the trie: 0.64, 0.65, 0.68 and 0.71 of the time for k = 1, 2, 4 and 8 hash functions. At k = 4 the walk \
                takes 47 % of the time, the trie 20 %, the filter 33 %.",
        run: building::run,
    },
    Experiment {
        source: Source::LoudsTries,
        name: "table3",
        title: "Table 3 and Fig. 4: a dictionary that grows with a stream",
        claim: "Of 240 million keywords, 97.44 % are known already. Building the filters at once with the tries \
                makes the whole dictionary 11 % faster with one trie and 3 to 5 % with 3, 5 or 7.",
        run: application::run,
    },
    Experiment {
        source: Source::LoudsTries,
        name: "filters",
        title: "Section 3.1: filters merged by OR, or built anew",
        claim: "Filters that are merged by OR must all have the size for the maximum number of keys. So with f tries \
                they take at least f times the memory of filters that are built anew for the keys of each trie.",
        run: merged_filters::run,
    },
    Experiment {
        source: Source::LoudsTries,
        name: "virtual-nodes",
        title: "Section 4 and appendix A.1: a walk with and without virtual nodes",
        claim: "With virtual nodes, the walk over two tries that are merged is the walk over one trie, which has 11 \
                statements; without virtual nodes it has 35.",
        run: virtual_nodes::run,
    },
    Experiment {
        source: Source::LoudsTries,
        name: "patricia",
        title: "Beyond the paper: the compact trie against plain LOUDS",
        claim: "A LOUDS trie has a node for every byte that its keys do not share. The paper does not mention path \
                compression, which joins nodes with a single child; the trie of this project compresses paths.",
        run: patricia::run,
    },
    Experiment {
        source: Source::LoudsTries,
        name: "minimal",
        title: "Section 6: tries of minimal prefixes",
        claim: "Virtual nodes are thought to be usable for building minimal-prefix tries, too. The paper leaves it at that \
                sentence.",
        run: minimal::run,
    },
];
