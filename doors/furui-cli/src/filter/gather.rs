//! Gathers the hashes of all lines of the input in memory.

use furui::{Hashes, KeyHash};

use crate::error::Error;
use crate::memory;

/// Gathered hashes may take 1 / `SHARE` of the machine's memory.
const SHARE: u64 = 4;

/// Hashes of lines, which are kept in memory until the input ends.
pub struct Gathered {
    hashes: Vec<KeyHash>,
    most: usize,
    repeats: RepeatedKeys,
    /// Advice to the user, for the error if the hashes do not fit into the allowed memory.
    remedy: &'static str,
}

/// The treatment of the hash of a line that occurs again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RepeatedKeys {
    Kept,
    Dropped,
}

impl Gathered {
    /// Creates an empty collection. Its maximum size is a part of the machine's memory.
    pub fn new(repeats: RepeatedKeys, remedy: &'static str) -> Self {
        let most = (memory::total() / SHARE) as usize / size_of::<KeyHash>();
        Self { hashes: vec![], most, repeats, remedy }
    }

    /// Adds the hashes of a block of lines. Returns an error if they do not fit into the allowed memory.
    pub fn take(&mut self, hashes: &Hashes) -> Result<(), Error> {
        let all = &mut self.hashes;
        if all.len() + hashes.len() > all.capacity() {
            if self.repeats == RepeatedKeys::Dropped {
                all.sort_unstable();
                all.dedup();
            }
            let more = all.len().max(hashes.len()).min(self.most.saturating_sub(all.len()));
            if more < hashes.len() || all.try_reserve_exact(more).is_err() {
                return Err(Error::Message(format!(
                    "the hashes of {} lines do not fit into the memory for them: {}",
                    all.len() + hashes.len(),
                    self.remedy
                )));
            }
        }
        all.extend_from_slice(hashes.as_slice());
        Ok(())
    }

    /// Returns the hashes in ascending order, and the number of different hashes.
    pub fn finish(mut self) -> (Vec<KeyHash>, u64) {
        self.hashes.sort_unstable();
        if self.repeats == RepeatedKeys::Dropped {
            self.hashes.dedup();
        }
        let distinct = self.hashes.chunk_by(|a, b| a == b).count() as u64;
        (self.hashes, distinct)
    }
}
