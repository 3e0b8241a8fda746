use furui::seen::{Cache, Seen, SeenOptions, Verdict};
use furui::store::Scratch;
use furui::{Error, HashSpec, KeyHasher};

/// Bytes of memory for the URLs of a run; what does not fit goes to a file that goes with the run.
const MEMORY: u64 = 16 << 20;

/// Which URLs came already in this run.
pub(super) struct Once {
    seen: Seen<Scratch>,
    hasher: KeyHasher,
}

impl Once {
    pub(super) fn new() -> Result<Self, Error> {
        // Keyed: whoever writes pages that are published by others chooses their URLs.
        let hash = HashSpec::random();
        let options = SeenOptions { cache: Cache::None, memory: MEMORY, hash: Some(hash), journal: false };
        let seen = Seen::open(Scratch::new(std::env::temp_dir()).mapped(false), options)?;
        Ok(Self { seen, hasher: hash.hasher() })
    }

    /// Whether a URL comes for the first time.
    pub(super) fn is_first(&mut self, url: &str) -> Result<bool, Error> {
        let key = self.hasher.hash(url.as_bytes());
        Ok(self.seen.observe(key)? == Verdict::New)
    }
}
