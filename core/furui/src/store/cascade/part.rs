/// The keys of a batch that belong to one [`Share`](super::Share), and the verdicts on them.
///
/// ```
/// let part = furui::store::cascade::Part::default();
/// assert!(part.is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Part {
    pub(super) hashes: Vec<u64>,
    /// For each of `hashes`, the index of its key in the whole batch.
    pub(super) indices: Vec<u32>,
    /// The indices in `hashes` of the new keys.
    pub(super) new: Vec<u32>,
    /// True if the share has inserted the keys of this part.
    pub(super) is_observed: bool,
    /// True if the table of the share was crowded (had a very long probe sequence) after the insertion.
    pub(super) is_crowded: bool,
}

impl Part {
    /// The number of keys of the batch that belong to this share.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// True if no keys of the batch belong to this share.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}
