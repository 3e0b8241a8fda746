/// How much memory a [`Shelf`](super::Shelf) takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShelfOptions {
    /// Bytes of sorted lists that are kept to be asked again.
    pub cached_bytes: usize,
    /// The most ids that are sorted together: a longer list is read once for each part of this size. Twice as many are in
    /// memory meanwhile, of 20 bytes. It also bounds the answer to a single question.
    pub run_ids: usize,
    /// Bytes of what is recent, more or less, before it is written to the tables; on disk, the journal takes half of that
    /// or less.
    pub recent_bytes: usize,
    /// Bytes of the database's pages that are kept.
    pub page_bytes: usize,
}

impl Default for ShelfOptions {
    /// 64 MiB of sorted lists, runs of a million ids, 8 MiB of recent postings and records, 16 MiB of pages.
    fn default() -> Self {
        Self { cached_bytes: 64 << 20, run_ids: 1 << 20, recent_bytes: 8 << 20, page_bytes: 16 << 20 }
    }
}
