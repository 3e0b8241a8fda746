use crate::error::Result;
use crate::filter::{BlockedBloom, FilterMut};
use crate::hash::{HashSpec, KeyHash};

/// A filter that is being filled. It inserts hashes in groups, so that their cache misses overlap.
pub(super) struct Fill {
    filter: BlockedBloom,
    waiting: Vec<KeyHash>,
}

/// The number of hashes of a group.
const WAITING: usize = 256;

impl Fill {
    pub(super) fn new(keys: u64, hash: HashSpec, rate: f64) -> Result<Self> {
        let filter = BlockedBloom::with_rate(keys, rate)?.hashed_by(hash);
        Ok(Self { filter, waiting: Vec::with_capacity(WAITING) })
    }

    #[inline]
    pub(super) fn push(&mut self, hash: KeyHash) {
        self.waiting.push(hash);
        if self.waiting.len() == WAITING {
            self.insert();
        }
    }

    fn insert(&mut self) {
        self.filter.insert_all(&self.waiting).expect("a Bloom filter is never full");
        self.waiting.clear();
    }

    pub(super) fn finish(mut self) -> BlockedBloom {
        self.insert();
        self.filter
    }
}
