//! The sources of the experiments: the papers.

/// The source of an experiment: one of the papers, or a question of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    RingedBloomFilters,
    BloomFiltersExplained,
    DuplicateUrls,
    LoudsTries,
    QuotientFilters,
    Ours,
}

impl Source {
    /// All sources, in the order of the index.
    pub(crate) const ALL: [Self; 6] = [
        Self::RingedBloomFilters,
        Self::BloomFiltersExplained,
        Self::DuplicateUrls,
        Self::LoudsTries,
        Self::QuotientFilters,
        Self::Ours,
    ];

    /// The name of the source's page, and of the directory of its figures.
    pub(crate) fn page(self) -> &'static str {
        match self {
            Self::RingedBloomFilters => "ringed-bloom-filters",
            Self::BloomFiltersExplained => "bloom-filters-explained",
            Self::DuplicateUrls => "duplicate-urls",
            Self::LoudsTries => "louds-tries",
            Self::QuotientFilters => "quotient-filters",
            Self::Ours => "ours",
        }
    }

    /// The prefix of the names of the source's experiments.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::RingedBloomFilters => "ringed",
            Self::BloomFiltersExplained => "explained",
            Self::DuplicateUrls => "urls",
            Self::LoudsTries => "louds",
            Self::QuotientFilters => "quotient",
            Self::Ours => "ours",
        }
    }

    /// The title of the source's page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::RingedBloomFilters => {
                "Using ringed Bloom filters to reduce the communication traffic on a distributed hash table"
            }
            Self::BloomFiltersExplained => "Bloom filters explained",
            Self::DuplicateUrls => "Efficient duplicated URL detection for web crawlers",
            Self::LoudsTries => "Method to build Bloom filters for online building of LOUDS trie",
            Self::QuotientFilters => "The quotient filter",
            Self::Ours => "Our own comparisons",
        }
    }

    /// The authors of the source, and what it is about.
    pub(crate) fn reference(self) -> &'static str {
        match self {
            Self::RingedBloomFilters => {
                "Y. Sei, K. Matsuzaki and S. Honiden, 2007 (in Japanese): a node that holds the list of one word \
                 sends a filter of the list, instead of its ids, to the node that holds the list of another word."
            }
            Self::BloomFiltersExplained => {
                "Ariel Networks, 2006 (in Japanese): a column that explains Bloom filters and what they are good for."
            }
            Self::DuplicateUrls => {
                "N. Kubota, T. Ueda and H. Yamana (in Japanese): an LRU cache and a stable Bloom filter whose \
                 consecutive counters are decremented (SBFL) tell a crawler which URLs it has seen."
            }
            Self::LoudsTries => {
                "T. Koyanagi, I. Yoshida, Y. Unno and Y. Shinjo, 2011 (in Japanese): the Bloom filters beside LOUDS tries are \
                 built while the tries are built and merged."
            }
            Self::QuotientFilters => {
                "An entry of an encyclopedia (in Japanese), based on Bender et al., Don't thrash: how to cache your \
                    hash on flash."
            }
            Self::Ours => {
                "Questions that no paper asks: our structures compared with each other, and with those of \
                others."
            }
        }
    }
}
