use crate::hash::{HashSpec, KeyForm};

/// The options of a [`Cascade`](super::Cascade).
///
/// ```
/// use furui::store::Memory;
/// use furui::store::cascade::{Cascade, CascadeOptions};
///
/// let options = CascadeOptions { memory: CascadeOptions::MIN_MEMORY, ..CascadeOptions::default() };
/// let set = Cascade::open(Memory::new(), options)?;
/// assert!(set.is_empty());
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CascadeOptions {
    /// The bytes of RAM for the set, at least [`MIN_MEMORY`](Self::MIN_MEMORY). Runs keep 0.01 bytes a key in RAM. If
    /// that is more than half of `memory`, the set takes more than `memory`.
    pub memory: u64,
    /// The spec (algorithm and seed) by which keys are hashed. A set keeps the hash it was made with, and opening it
    /// with another one is an error. With `None` an existing set is opened with its own hash, and a new one gets XXH3
    /// with a random seed.
    pub hash: Option<HashSpec>,
    /// The form of the keys: the way in which they are made from records. A set keeps the form it was made with, and
    /// opening it with another one is an error. With `None` an existing set is opened whatever its form, and a new one
    /// gets the empty form: a record is its own key.
    pub form: Option<KeyForm>,
    /// If true, [`sync`](super::Cascade::sync) records keys in a journal, 8 bytes each, instead of publishing a run. An
    /// eighth of the set's memory, at most 16 MiB, is for keys that wait for the journal.
    pub journal: bool,
}

impl CascadeOptions {
    /// The minimum memory of a set, in bytes. With less memory, a set would spend nearly all its time rewriting files.
    pub const MIN_MEMORY: u64 = 1 << 20;
}

impl Default for CascadeOptions {
    /// The default options: 256 MiB of memory, the hash and the form of the existing set, and no journal.
    fn default() -> Self {
        Self { memory: 256 << 20, hash: None, form: None, journal: false }
    }
}
