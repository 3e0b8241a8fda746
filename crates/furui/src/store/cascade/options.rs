use crate::hash::HashSpec;

/// How a [`Cascade`](super::Cascade) works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CascadeOptions {
    /// Bytes of RAM for the set. At least [`MIN_MEMORY`](Self::MIN_MEMORY) are taken; and what runs keep in RAM, 0.01
    /// bytes a key, comes on top where it is more than half of it.
    pub memory: u64,
    /// How keys are hashed. What exists keeps what it was made with, and refuses another; `None` takes what there is,
    /// or XXH3 with a random seed.
    pub hash: Option<HashSpec>,
    /// Whether [`sync`](super::Cascade::sync) records keys in a journal, 8 bytes each, instead of publishing a run. An eighth
    /// of the memory, up to 16 MiB, is for keys that wait for it.
    pub journal: bool,
}

impl CascadeOptions {
    /// A set with less memory than this would only shuffle files.
    pub const MIN_MEMORY: u64 = 1 << 20;
}

impl Default for CascadeOptions {
    /// 256 MiB, whatever hash there is, and no journal.
    fn default() -> Self {
        Self { memory: 256 << 20, hash: None, journal: false }
    }
}
