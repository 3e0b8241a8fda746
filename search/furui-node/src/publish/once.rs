use furui::seen::{Cache, Seen, SeenOptions};
use furui::store::Scratch;

use crate::Error;

/// The memory for the URLs that one command publishes, in bytes. URLs that do not fit go to a temporary file.
const MEMORY: u64 = 16 << 20;

/// The URLs that this process has met so far.
pub(super) struct Once {
    seen: Seen<Scratch>,
}

impl Once {
    pub(super) fn new() -> Result<Self, Error> {
        // A new set has a random seed. The seed is necessary, because strangers choose the URLs of the pages that they
        // write.
        let options = SeenOptions { cache: Cache::None, memory: MEMORY, ..SeenOptions::default() };
        let seen = Seen::open_with(Scratch::new(std::env::temp_dir()).mapped(false), options)?;
        Ok(Self { seen })
    }

    /// Records a URL. True if the URL was not recorded before.
    pub(super) fn is_first(&mut self, url: &str) -> Result<bool, Error> {
        Ok(self.seen.insert(url)?)
    }
}
