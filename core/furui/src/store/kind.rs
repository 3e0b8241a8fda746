use std::fmt;

use super::Purpose;

/// The name of the file with the manifest of a store.
pub const MANIFEST: &str = "MANIFEST";

/// The name of the journal of a set or of a cascade filter. The journal holds the keys that were recorded since the
/// last run was published.
pub const JOURNAL: &str = "JOURNAL";

/// The name of the file with the cache tiers in front of a set, as the last process to publish the set left them.
pub const TIERS: &str = "TIERS";

/// The kind of a store, which its manifest records.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::{Manifest, Memory, Purpose, StoreKind};
///
/// let memory = Memory::new();
/// let mut dict = Dict::open_with(memory.clone(), DictOptions::default())?;
/// dict.number("a")?;
/// dict.sync()?;
/// let manifest = Manifest::load(&memory)?.expect("a store");
/// assert_eq!(manifest.store, StoreKind::Dict(Purpose::Numbers));
/// assert_eq!(manifest.store.file_name(manifest.runs[0].number), "0000000000000000.trie");
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreKind {
    /// An exact set of keys, as `furui seen` keeps it.
    Seen,
    /// A dictionary with this purpose, as `furui dict` keeps it.
    Dict(Purpose),
    /// A cascade filter, which is an approximate set.
    Filter,
}

impl StoreKind {
    /// All kinds of stores. Dictionaries have one kind for each [`Purpose`].
    pub const ALL: [Self; 6] = [
        Self::Seen,
        Self::Filter,
        Self::Dict(Purpose::Numbers),
        Self::Dict(Purpose::Values),
        Self::Dict(Purpose::Counts),
        Self::Dict(Purpose::Bytes),
    ];

    /// The purpose of a dictionary; `None` if the store is not a dictionary.
    pub fn purpose(self) -> Option<Purpose> {
        match self {
            Self::Dict(purpose) => Some(purpose),
            Self::Seen | Self::Filter => None,
        }
    }

    pub(super) const fn bytes(self) -> [u8; 8] {
        match self {
            Self::Seen => *b"seen\0\0\0\0",
            Self::Filter => *b"filter\0\0",
            Self::Dict(Purpose::Numbers) => *b"numbers\0",
            Self::Dict(Purpose::Values) => *b"values\0\0",
            Self::Dict(Purpose::Counts) => *b"counts\0\0",
            Self::Dict(Purpose::Bytes) => *b"bytes\0\0\0",
        }
    }

    pub(super) fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.bytes() == bytes)
    }

    /// The phrase by which error messages describe a store of this kind.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Seen => "the set of a `furui seen --store`",
            Self::Filter => "a cascade filter of `furui filter`",
            Self::Dict(purpose) => purpose.what(),
        }
    }

    /// The extension of the names of the run files of such a store.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Seen | Self::Filter => ".run",
            Self::Dict(Purpose::Bytes) => ".pairs",
            Self::Dict(_) => ".trie",
        }
    }

    /// The name of the file of run number `number`: 16 hexadecimal digits, and `.run`, or in a dictionary `.trie` or
    /// `.pairs`.
    pub fn file_name(self, number: u64) -> String {
        format!("{number:016x}{}", self.suffix())
    }

    /// The number in the name of a run's file; `None` if the name is not exactly as [`file_name`](Self::file_name)
    /// writes it.
    pub fn number_of(self, name: &str) -> Option<u64> {
        let number = u64::from_str_radix(name.strip_suffix(self.suffix())?, 16).ok()?;
        (self.file_name(number) == name).then_some(number)
    }

    /// True if a store of any kind may have a file of this name besides its manifest.
    pub(super) fn is_any_part(name: &str) -> bool {
        matches!(name, JOURNAL | TIERS) || Self::ALL.iter().any(|kind| kind.number_of(name).is_some())
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}
