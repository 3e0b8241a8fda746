use furui::seen::{Cache, Seen, SeenOptions};
use furui::store::Scratch;

use crate::Error;

/// The memory for the URLs that one command publishes, in bytes. URLs that do not fit are stored in a temporary file.
const MEMORY: u64 = 16 << 20;

/// The set of URLs that this command has published or skipped so far.
pub(super) struct Once {
    seen: Seen<Scratch>,
}

impl Once {
    pub(super) fn new() -> Result<Self, Error> {
        // The hash seed must be random, because strangers choose the URLs of their pages.
        let options = SeenOptions { cache: Cache::None, memory: MEMORY, ..SeenOptions::default() };
        let seen = Seen::open_with(Scratch::new(std::env::temp_dir()).mapped(false), options)?;
        Ok(Self { seen })
    }

    /// Records a URL. Returns true if it was not recorded before.
    pub(super) fn is_first(&mut self, url: &str) -> Result<bool, Error> {
        Ok(self.seen.insert(url)?)
    }
}
