//! The sources of the experiments: the papers.

/// The source of an experiment: one of the papers, or a question of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Ringed Bloom filters.
    Seed000,
    /// The column "Bloom filters explained".
    Seed001,
    /// Duplicated URLs.
    Seed002,
    /// Tries online.
    Seed003,
    /// Quotient filters.
    Seed004,
    Ours,
}

impl Source {
    /// All sources, in the order of the index.
    pub(crate) const ALL: [Self; 6] =
        [Self::Seed000, Self::Seed001, Self::Seed002, Self::Seed003, Self::Seed004, Self::Ours];

    /// The name of the source's page, and of the directory of its figures.
    pub(crate) fn page(self) -> &'static str {
        match self {
            Self::Seed000 => "seed-000",
            Self::Seed001 => "seed-001",
            Self::Seed002 => "seed-002",
            Self::Seed003 => "seed-003",
            Self::Seed004 => "seed-004",
            Self::Ours => "ours",
        }
    }

    /// The prefix of the names of the source's experiments.
    pub(crate) fn prefix(self) -> &'static str {
        self.page().trim_start_matches("seed-")
    }

    /// The title of the source's page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Seed000 => {
                "Using ringed Bloom filters to reduce the communication traffic on a distributed hash table"
            }
            Self::Seed001 => "Bloom filters explained",
            Self::Seed002 => "Efficient duplicated URL detection for web crawlers",
            Self::Seed003 => "Method to build Bloom filters for online building of LOUDS trie",
            Self::Seed004 => "The quotient filter",
            Self::Ours => "Our own comparisons",
        }
    }

    /// The authors of the source, and what it is about.
    pub(crate) fn reference(self) -> &'static str {
        match self {
            Self::Seed000 => {
                "Y. Sei, K. Matsuzaki and S. Honiden, 2007 (in Japanese): a node that holds the list of one word \
                 sends a filter of the list, instead of its ids, to the node that holds the list of another word."
            }
            Self::Seed001 => {
                "Ariel Networks, 2006 (in Japanese): a column that explains Bloom filters and what they are good for."
            }
            Self::Seed002 => {
                "N. Kubota, T. Ueda and H. Yamana (in Japanese): an LRU cache and a stable Bloom filter whose \
                 consecutive counters are decremented (SBFL) tell a crawler which URLs it has seen."
            }
            Self::Seed003 => {
                "T. Koyanagi, I. Yoshida, Y. Unno and Y. Shinjo, 2011 (in Japanese): the Bloom filters beside LOUDS tries are \
                 built while the tries are built and merged."
            }
            Self::Seed004 => {
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
