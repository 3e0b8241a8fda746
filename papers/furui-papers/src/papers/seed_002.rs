//! The experiments of the paper on duplicated URLs.

use super::{Experiment, Source, crawl};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        source: Source::Seed002,
        name: "fig5",
        title: "Fig. 5: hit ratio of an LRU",
        claim: "A larger LRU, from 2^18 to 2^24 entries, answers more links, without false positives; in other \
                crawls (Broder and others) it answers about 80 %.",
        run: crawl::fig5,
    },
    Experiment {
        source: Source::Seed002,
        name: "fig6",
        title: "Figs. 6 and 7: false positives and false negatives of SBF and SBFL",
        claim: "With k = 4 and 1 %, SBFL has fewer false positives and fewer false negatives than SBF at every size from 2^24 to \
                2^30 counters; 1.5 million false positives at 2^30.",
        run: crawl::fig6,
    },
    Experiment {
        source: Source::Seed002,
        name: "table1",
        title: "Table 1: time to decrement",
        claim: "2 billion decrements of 2^30 counters take 320.7 s at random positions (SBF), 9.435 s at consecutive \
                ones (SBFL, 34 times as fast) and 0.9672 s with 32 counters at once (332 times as fast).",
        run: crawl::table1,
    },
    Experiment {
        source: Source::Seed002,
        name: "fig8",
        title: "Fig. 8: hit ratio of LRU and SBFL",
        claim: "With an LRU of 2^20 entries before it, SBFL answers more links if it has more counters; at 2^30 \
                there are about 10,000 false positives with k = 8 (0.001 %) and 1.5 million with k = 4 (1 %), of 538 \
                million hosts.",
        run: crawl::fig8,
    },
    Experiment {
        source: Source::Seed002,
        name: "fig9",
        title: "Figs. 9 and 10: memory at equal hit ratio",
        claim: "At equal hits, LRU and SBFL with k = 4 and 1 % take up to 63 % less memory than an LRU alone; with k \
                = 8 and 0.001 %, they take less at low hit ratios, and more at high ones.",
        run: crawl::fig9,
    },
    Experiment {
        source: Source::Seed002,
        name: "time",
        title: "Left open: the running time in a crawl",
        claim: "The paper does not measure the running time in a crawl. It expects that an LRU slows down as it \
                grows, by O(log N), and that SBFL does not.",
        run: crawl::time,
    },
    Experiment {
        source: Source::Seed002,
        name: "important",
        title: "Left open: false positives on important pages",
        claim: "The paper does not say how to keep important pages from being lost as false positives.",
        run: crawl::important,
    },
];
