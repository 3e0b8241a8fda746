use crate::error::Result;
use crate::filter::{BlockedBloom, FilterMut, Full};
use crate::hash::{HashSpec, KeyHash};

/// A filter that is being filled. It inserts hashes in groups, so that their cache misses overlap.
pub(super) struct Fill {
    filter: BlockedBloom,
    waiting: Vec<KeyHash>,
    failed: Option<Full>,
}

/// The number of hashes of a group.
const WAITING: usize = 256;

impl Fill {
    pub(super) fn new(keys: u64, hash: HashSpec, rate: f64) -> Result<Self> {
        let filter = BlockedBloom::with_rate(keys, rate)?.hashed_by(hash);
        Ok(Self { filter, waiting: Vec::with_capacity(WAITING), failed: None })
    }

    #[inline]
    pub(super) fn push(&mut self, hash: KeyHash) {
        self.waiting.push(hash);
        if self.waiting.len() == WAITING {
            self.insert();
        }
    }

    fn insert(&mut self) {
        self.failed = self.failed.or(self.filter.insert_all(&self.waiting).err());
        self.waiting.clear();
    }

    /// # Errors
    /// [`Full`], which the signature of insertions demands, but which a filter of this kind never is.
    pub(super) fn finish(mut self) -> Result<BlockedBloom> {
        self.insert();
        match self.failed {
            Some(full) => Err(full.into()),
            None => Ok(self.filter),
        }
    }
}
