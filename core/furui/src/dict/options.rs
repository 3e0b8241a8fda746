use crate::error::{Result, StoreProblem};
use crate::filter::{ConfigError, FINEST_BLOCKED_RATE};
use crate::hash::{HashSpec, KeyForm};
use crate::store::{FilterHash, Layout, Manifest, Purpose};

/// The options of a [`Dict`](super::Dict).
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// // For a small machine: little memory, and filters of 1 %.
/// let options = DictOptions { window_bytes: 4 << 20, filter_rate: 0.01, ..DictOptions::default() };
/// let dict = Dict::open_with(Memory::new(), options)?;
/// assert_eq!(dict.options().window, 500_000);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DictOptions {
    /// The purpose of the dictionary, which is fixed when it is made. Opening a dictionary with another purpose is an
    /// error. With `None` an existing dictionary is opened with its own purpose, and a new one is for
    /// [`Numbers`](Purpose::Numbers), or for [`Bytes`](Purpose::Bytes) if its values are bytes.
    pub purpose: Option<Purpose>,
    /// The form of the keys: the way in which they are made from records. A dictionary keeps the form it was made with,
    /// and opening it with another one is an error. With `None` an existing dictionary is opened whatever its form, and
    /// a new one gets the empty form: a record is its own key.
    pub form: Option<KeyForm>,
    /// The layout of the tries. A dictionary keeps the layout it was made with, and opening it with another one is an
    /// error. With `None` an existing dictionary is opened with its own layout, and a new one is
    /// [`Compact`](Layout::Compact).
    pub layout: Option<Layout>,
    /// The maximum number of keys of a window (write buffer) before it is frozen, which Koyanagi et al. call w. It is
    /// at least 1.
    pub window: usize,
    /// The maximum number of bytes of keys and values in a window (a write buffer). It is frozen at this limit or at
    /// `window`, whichever comes first. A window that waits to be frozen takes as much memory again.
    pub window_bytes: usize,
    /// The maximum number of tries when no job is running, which Koyanagi et al. call f. It is at least 1.
    pub merge_after: usize,
    /// The policy by which the tries to merge are chosen.
    pub merging: Merging,
    /// The false-positive rate of the filters: the probability that a trie is searched for a key that it does not have.
    pub filter_rate: f64,
    /// The hash from which the filters derive the positions of a key. A dictionary keeps the filter hash it was made
    /// with, and opening it with another one is an error. With `None` an existing dictionary is opened with its own
    /// filter hash, and a new one has [`OneState`](FilterHash::OneState). The other filter hashes are for
    /// [`Layout::Louds`].
    pub filter_hash: Option<FilterHash>,
    /// The spec (algorithm and seed) by which keys are hashed. A dictionary keeps the hash it was made with, and
    /// opening it with another one is an error. With `None` an existing dictionary is opened with its own hash, and a
    /// new one gets the rolling hash with a random seed.
    pub hash: Option<HashSpec>,
}

/// The policy by which a [`Dict`](super::Dict) chooses the tries to merge.
///
/// ```
/// use furui::dict::{Dict, DictOptions, Merging};
/// use furui::store::Memory;
///
/// let options = DictOptions { merging: Merging::All, merge_after: 2, window: 1, ..DictOptions::default() };
/// let mut dict = Dict::open_with(Memory::new(), options)?;
/// for key in ["a", "b", "c", "d"] {
///     dict.number(key)?;
/// }
/// dict.sync()?;
/// assert!(dict.tries().count() <= 2);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// The newest tries, when together they have grown to the size of the next older one. So sizes fall geometrically
    /// from the oldest to the newest. Each key is written about log₂(keys / window) times.
    Geometric,
    /// All tries, when there would be more than [`merge_after`](DictOptions::merge_after): the way of Koyanagi et al.
    /// Each key is written about keys / (window × merge_after) times, where the window is the number of keys in a write
    /// buffer.
    All,
}

impl Default for DictOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl DictOptions {
    /// Windows of 500,000 keys or 128 MiB, at most 7 tries, merged geometrically, and filters of 0.1 %. These filters
    /// cost 5 bits a key more than filters of 1 %. With six tries, they shorten a look-up of an absent key by a fifth.
    pub const DEFAULT: Self = Self {
        purpose: None,
        form: None,
        layout: None,
        window: 500_000,
        window_bytes: 128 << 20,
        merge_after: 7,
        merging: Merging::Geometric,
        filter_rate: 0.001,
        filter_hash: None,
        hash: None,
    };

    /// Checks the numbers among the options.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] if a size is 0; [`ConfigError::Rate`] if the filters cannot have the rate.
    pub(super) fn check(&self) -> Result<()> {
        let Self { window, window_bytes, merge_after, filter_rate, .. } = *self;
        let counts =
            [(window, "keys of a window"), (window_bytes, "bytes of a window"), (merge_after, "tries at most")];
        if let Some(&(_, what)) = counts.iter().find(|&&(count, _)| count == 0) {
            return Err(ConfigError::OutOfRange { what, given: 0, least: 1, most: usize::MAX as u64 }.into());
        }
        if !(FINEST_BLOCKED_RATE..1.0).contains(&filter_rate) {
            return Err(ConfigError::Rate { given: filter_rate, finest: FINEST_BLOCKED_RATE }.into());
        }
        Ok(())
    }

    /// Checks that a dictionary with this manifest was made with the layout, the filter hash and the form of keys that
    /// these options name.
    ///
    /// # Errors
    /// [`StoreProblem`] that names the first difference, or if the layout cannot have filters with this hash.
    pub(super) fn check_made(&self, manifest: &Manifest) -> std::result::Result<(), StoreProblem> {
        if !manifest.filter_hash.fits(manifest.layout) {
            let (layout, filter_hash) = (manifest.layout.name(), manifest.filter_hash.name());
            return Err(StoreProblem::NoSuchFilters { layout, filter_hash });
        }
        if let Some(expected) = self.form.filter(|&form| form != manifest.form) {
            return Err(StoreProblem::OtherForm { found: manifest.form.into(), expected: expected.into() });
        }
        let other = |option, found, expected| Err(StoreProblem::OtherMade { option, found, expected });
        match (self.layout, self.filter_hash) {
            (Some(layout), _) if layout != manifest.layout => other("layout", manifest.layout.name(), layout.name()),
            (_, Some(hash)) if hash != manifest.filter_hash => {
                other("filter hash", manifest.filter_hash.name(), hash.name())
            }
            _ => Ok(()),
        }
    }
}
