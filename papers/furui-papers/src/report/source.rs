//! The sources of the experiments: the papers, and the questions of this project.

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

    /// The texts of the source's experiments: the title of the page, what the source is about, and a section for each
    /// experiment.
    pub(super) fn experiments(self) -> &'static str {
        match self {
            Self::RingedBloomFilters => include_str!("../ringed_bloom_filters/experiments.md"),
            Self::BloomFiltersExplained => include_str!("../bloom_filters_explained/experiments.md"),
            Self::DuplicateUrls => include_str!("../duplicate_urls/experiments.md"),
            Self::LoudsTries => include_str!("../louds_tries/experiments.md"),
            Self::QuotientFilters => include_str!("../quotient_filters/experiments.md"),
            Self::Ours => include_str!("../ours/experiments.md"),
        }
    }

    /// The title of the source's page.
    pub(crate) fn title(self) -> &'static str {
        self.experiments().lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The authors of the source, and what it is about.
    pub(crate) fn reference(self) -> String {
        self.experiments().split("\n\n").nth(1).unwrap_or_default().replace('\n', " ")
    }
}
