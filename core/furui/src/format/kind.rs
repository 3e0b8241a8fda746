use std::fmt;

/// The kind of a furui file.
///
/// ```
/// use furui::filter::{AnyFilter, Bloom};
/// use furui::format::{Envelope, Kind};
///
/// let mut file = vec![];
/// AnyFilter::from(Bloom::with_rate(100, 0.01)?).write_to(&mut file)?;
/// let kind = Envelope::open(&file[..], "words.filter")?.kind();
/// assert!(kind == Kind::Bloom && kind.is_filter());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The manifest of a store, which names its files.
    Manifest = 1,
    /// A run of a store: one sorted set of hashes.
    Run = 2,
    /// The journal of a store: hashes that are in no run yet, in order of arrival.
    Journal = 3,
    /// The caches (tiers) in front of the set of a store, as the last process left them.
    Tiers = 8,
    /// The manifest of a set that many machines share in a bucket.
    SharedManifest = 4,
    /// A pack of a shared set: the runs of its shards in one object.
    Pack = 5,
    /// A [`Bloom`](crate::filter::Bloom) filter.
    Bloom = 16,
    /// A [`BlockedBloom`](crate::filter::BlockedBloom) filter: the bits of a key are in one cache line.
    BlockedBloom = 17,
    /// A [`CountingBloom`](crate::filter::CountingBloom) filter, from which keys can be removed.
    CountingBloom = 18,
    /// A [`StableBloom`](crate::filter::StableBloom) filter, which forgets old keys.
    StableBloom = 19,
    /// A [`StableBloomLight`](crate::filter::StableBloomLight) filter, which forgets old keys in turn.
    StableBloomLight = 20,
    /// A [`RingedBloom`](crate::filter::RingedBloom) filter.
    RingedBloom = 21,
    /// A [`QuotientFilter`](crate::filter::QuotientFilter): sorted fingerprints.
    QuotientFilter = 22,
    /// A split-block Bloom filter, as in Parquet files.
    SplitBlockBloom = 23,
    /// A [`GrowingBloom`](crate::filter::GrowingBloom): a chain of Bloom filters.
    GrowingBloom = 24,
    /// A [`WindowBloom`](crate::filter::WindowBloom) filter: the keys of a window.
    WindowBloom = 25,
    /// A [`Fuse`](crate::filter::Fuse) filter, which is built once from all keys.
    Fuse = 26,
    /// A path-compressed trie of keys and numbers without a filter.
    Trie = 64,
    /// A part of a dictionary: a trie and its filter, and its values if they are byte strings.
    FilteredTrie = 65,
    /// A trie with one byte for each node, as in Koyanagi et al. (2011), without a filter.
    LoudsTrie = 66,
    /// The values of a part of a dictionary, if they are byte strings.
    Values = 67,
    /// A Bloom filter whose positions are polynomials of the keys.
    PolynomialBloom = 68,
}

impl Kind {
    /// Every kind that this version knows.
    const ALL: [Self; 22] = [
        Self::Manifest,
        Self::Run,
        Self::Journal,
        Self::SharedManifest,
        Self::Pack,
        Self::Tiers,
        Self::Bloom,
        Self::BlockedBloom,
        Self::CountingBloom,
        Self::StableBloom,
        Self::StableBloomLight,
        Self::RingedBloom,
        Self::QuotientFilter,
        Self::SplitBlockBloom,
        Self::GrowingBloom,
        Self::WindowBloom,
        Self::Fuse,
        Self::Trie,
        Self::FilteredTrie,
        Self::LoudsTrie,
        Self::Values,
        Self::PolynomialBloom,
    ];

    /// The number that stands for this kind of file in the header of a file.
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The kind of file that a number in a header stands for; `None` if this version does not know it.
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// True if [`AnyFilter`](crate::filter::AnyFilter) opens files of this kind: those with codes from 16 to 63. The
    /// filter of [`PolynomialBloom`](Self::PolynomialBloom) exists only as a part of a dictionary.
    pub const fn is_filter(self) -> bool {
        matches!(self.code(), 16..64)
    }

    /// True if files of this kind end with checksums of their regions: these are the files that are mapped and read at
    /// random. The pages of a run have checksums of their own, a manifest is read whole, and the parts of a filtered
    /// trie are files with checksums of regions themselves.
    pub(super) const fn has_sums(self) -> bool {
        self.is_filter() || matches!(self, Self::Trie | Self::LoudsTrie | Self::Values | Self::PolynomialBloom)
    }

    /// The name of the kind in options and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Run => "run",
            Self::Journal => "journal",
            Self::SharedManifest => "shared-manifest",
            Self::Pack => "pack",
            Self::Tiers => "tiers",
            Self::Bloom => "bloom",
            Self::BlockedBloom => "blocked",
            Self::CountingBloom => "counting",
            Self::StableBloom => "stable",
            Self::StableBloomLight => "stable-light",
            Self::RingedBloom => "ringed",
            Self::QuotientFilter => "quotient",
            Self::SplitBlockBloom => "parquet",
            Self::GrowingBloom => "growing",
            Self::WindowBloom => "window",
            Self::Fuse => "fuse",
            Self::Trie => "trie",
            Self::FilteredTrie => "filtered-trie",
            Self::LoudsTrie => "louds-trie",
            Self::Values => "values",
            Self::PolynomialBloom => "polynomials",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "the manifest of a store",
            Self::Run => "a run of a store",
            Self::Journal => "the journal of a store",
            Self::SharedManifest => "the manifest of a shared set",
            Self::Pack => "a pack of a shared set",
            Self::Tiers => "the tiers of a store",
            Self::Bloom => "a Bloom filter",
            Self::BlockedBloom => "a blocked Bloom filter",
            Self::CountingBloom => "a counting Bloom filter",
            Self::StableBloom => "a stable Bloom filter",
            Self::StableBloomLight => "a stable Bloom filter light",
            Self::RingedBloom => "a ringed Bloom filter",
            Self::QuotientFilter => "a quotient filter",
            Self::SplitBlockBloom => "a split-block Bloom filter, as in Parquet files",
            Self::GrowingBloom => "a growing chain of Bloom filters",
            Self::WindowBloom => "a filter with a window",
            Self::Fuse => "a fuse filter",
            Self::Trie => "a compact trie",
            Self::FilteredTrie => "a trie of a dictionary, with its filter",
            Self::LoudsTrie => "a LOUDS trie",
            Self::Values => "the values of a part of a dictionary",
            Self::PolynomialBloom => "a Bloom filter of polynomials",
        })
    }
}
