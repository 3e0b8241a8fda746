use furui::seen::{Cache, Seen, SeenOptions, Verdict};
use furui::store::Scratch;
use furui::{Error, HashSpec, KeyHasher};

/// The memory for the URLs of a run, in bytes. What does not fit goes to temporary files.
const MEMORY: u64 = 16 << 20;

/// The URLs that this run has published.
pub(super) struct Once {
    seen: Seen<Scratch>,
    hasher: KeyHasher,
}

impl Once {
    pub(super) fn new() -> Result<Self, Error> {
        // The hash has a secret seed, as strangers choose the URLs of their pages.
        let hash = HashSpec::random();
        let options = SeenOptions { cache: Cache::None, memory: MEMORY, hash: Some(hash), journal: false };
        let seen = Seen::open(Scratch::new(std::env::temp_dir()).mapped(false), options)?;
        Ok(Self { seen, hasher: hash.hasher() })
    }

    /// Returns true if this is the first time that the URL is passed.
    pub(super) fn is_first(&mut self, url: &str) -> Result<bool, Error> {
        let key = self.hasher.hash(url.as_bytes());
        Ok(self.seen.observe(key)? == Verdict::New)
    }
}
