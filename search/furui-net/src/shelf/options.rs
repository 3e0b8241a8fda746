/// The memory limits of a [`Shelf`](super::Shelf).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShelfOptions {
    /// The maximum size of the cache of sorted lists, in bytes.
    pub cached_bytes: usize,
    /// The maximum number of ids of a list that are sorted together, and of ids in one answer. To answer from a longer
    /// list, the whole list is read once for each part of this size; meanwhile twice this number of ids, of 20 bytes
    /// each, is in memory.
    pub run_ids: usize,
    /// The approximate size of recent changes in memory, in bytes, at which they are written to the tables. The journal
    /// on disk is at most half as large.
    pub recent_bytes: usize,
    /// The maximum size of the database's page cache, in bytes.
    pub page_bytes: usize,
}

impl Default for ShelfOptions {
    /// Returns 64 MiB of cached lists, runs of a million ids, 8 MiB of recent changes, and 16 MiB of pages.
    fn default() -> Self {
        Self { cached_bytes: 64 << 20, run_ids: 1 << 20, recent_bytes: 8 << 20, page_bytes: 16 << 20 }
    }
}
