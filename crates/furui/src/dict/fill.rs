use crate::error::Result;
use crate::filter::BlockedBloom;
use crate::hash::{HashSpec, KeyHash};

/// A filter that is filled as the hashes of its keys come, some at a time, so that their memory is on its way.
pub(super) struct Fill {
    filter: BlockedBloom,
    waiting: Vec<KeyHash>,
}

/// How many wait.
const BATCH: usize = 256;

impl Fill {
    pub(super) fn new(keys: u64, hash: HashSpec, rate: f64) -> Result<Self> {
        let filter = BlockedBloom::with_rate(keys, rate)?.hashed_by(hash);
        Ok(Self { filter, waiting: Vec::with_capacity(BATCH) })
    }

    #[inline]
    pub(super) fn push(&mut self, hash: KeyHash) {
        self.waiting.push(hash);
        if self.waiting.len() == BATCH {
            self.insert();
        }
    }

    fn insert(&mut self) {
        self.filter.insert_all(&self.waiting);
        self.waiting.clear();
    }

    pub(super) fn finish(mut self) -> BlockedBloom {
        self.insert();
        self.filter
    }
}
