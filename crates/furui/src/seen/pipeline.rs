use super::Verdict;
use super::counters::Counters;
use super::tiers::{Asked, Cache, Tiers};
use crate::error::Result;
use crate::hash::{HashSpec, KeyHash};
use crate::store::Storage;
use crate::store::cascade::{Cascade, CascadeOptions};

/// "Have I seen this key?", for a stream of any length, exactly by the keys' 64-bit hashes.
///
/// ```text
///   batch of KeyHash ─> cache tiers ──misses──> exact set: table in RAM ──absent, sorted──> runs on storage
///                           │                       │                                          │
///                           └──────────────── Verdict per key ─────────────────────────────────┘
/// ```
///
/// The tiers of Kubota, Ueda and Yamana ("Efficient Duplicated URL Detection for Web Crawlers", section 4.3): a small
/// cache answers for what comes again soon, so that the exact set is asked less often. Differences from the paper:
/// the set is a [`Cascade`], whose first level is in RAM; batches are answered together, sorted by hash; and the
/// default cache is a flat table of whole hashes, one way, which drops nothing and on a crawl takes 1 ns a key, where
/// LRU and stable filter take 12 to 34; but for as few misses it needs more memory than they do at 1 %, and up to 6
/// times that of an LRU alone. The paper's tiers are
/// [`Cache::LruStable`], with two differences: keys go through them in rounds of 256, so that an evicted key reaches
/// the filter at the end of its round; and one claim of the filter in 32 is not believed but checked, which counts
/// its errors.
///
/// Cost of a key in a batch: about 1 ns in the cache; 15 to 40 ns in RAM; and on storage 50 to 100 ns for each run,
/// warm.
///
/// Two keys with the same 64-bit hash are one key: see [`KeyHash`].
///
/// ```
/// use furui::HashSpec;
/// use furui::seen::{Seen, SeenOptions, Verdict};
/// use furui::store::Memory;
///
/// let mut seen = Seen::open(Memory::default(), SeenOptions::default())?;
/// let spec = seen.hash_spec();
/// let keys: Vec<_> = ["a", "b", "a"].iter().map(|line| spec.hash(line.as_bytes())).collect();
/// let mut verdicts = vec![];
/// seen.observe_all(&keys, &mut verdicts)?;
/// assert_eq!(verdicts, [Verdict::New, Verdict::New, Verdict::Repeat]);
/// seen.sync()?;
/// # Ok::<(), furui::Error>(())
/// ```
pub struct Seen<S: Storage> {
    tiers: Tiers,
    options: SeenOptions,
    set: Cascade<S>,
    counters: Counters,
    /// The misses of the batch at hand: their indices in it, and their keys.
    misses: Vec<u32>,
    keys: Vec<KeyHash>,
    /// Those of the misses that the stable filter was asked about.
    asked: Vec<Asked>,
    /// The indices in `keys` of those that are new.
    new: Vec<u32>,
}

/// How a [`Seen`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenOptions {
    /// What stands before the exact set.
    pub cache: Cache,
    /// Bytes of RAM for the set and the cache, at least [`CascadeOptions::MIN_MEMORY`]. What does not fit goes to
    /// storage.
    pub memory: u64,
    /// How keys are hashed. A store that exists keeps what it was made with, and refuses another; `None` takes what
    /// it has, or XXH3 with a random seed for a new one.
    pub hash: Option<HashSpec>,
    /// Whether [`sync`](Seen::sync) records keys in a journal, 8 bytes each, and so is cheap; else it publishes a run, as
    /// [`publish`](Seen::publish) does.
    pub journal: bool,
}

impl Default for SeenOptions {
    /// The recent cache, 256 MiB, whatever hash the store has, and no journal.
    fn default() -> Self {
        Self { cache: Cache::Recent, memory: 256 << 20, hash: None, journal: false }
    }
}

impl<S: Storage> Seen<S> {
    /// Opens the set that `storage` holds, or an empty one.
    ///
    /// # Errors
    /// [`Error`](crate::Error): the store is damaged, of a newer version, or hashed otherwise; or the options cannot
    /// be.
    pub fn open(storage: S, options: SeenOptions) -> Result<Self> {
        let options = SeenOptions { memory: options.memory.max(CascadeOptions::MIN_MEMORY), ..options };
        let mut tiers = Tiers::new(options.cache, options.memory)?;
        let memory = options.memory.saturating_sub(tiers.bytes(options.memory));
        let set = Cascade::open(storage, CascadeOptions { memory, hash: options.hash, journal: options.journal })?;
        if !set.runs().is_empty() {
            tiers.enlarge(options.memory)?;
        }
        Ok(Self {
            tiers,
            options,
            set,
            counters: Counters::default(),
            misses: vec![],
            keys: vec![],
            asked: vec![],
            new: vec![],
        })
    }

    /// How keys must be hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.set.hash_spec()
    }

    /// Records the keys and says for each, in order, whether it is new. `verdicts` is cleared first.
    ///
    /// Keys of earlier calls may become durable meanwhile, keys of this call never do: a caller who has written out
    /// what earlier calls called new can be killed at any moment and lose nothing.
    ///
    /// # Errors
    /// If storage fails or is damaged. The verdicts are void then, and the set must be opened again.
    pub fn observe_all(&mut self, keys: &[KeyHash], verdicts: &mut Vec<Verdict>) -> Result<()> {
        self.observe_protected(keys, |_| false, verdicts)
    }

    /// As [`observe_all`](Self::observe_all), but the keys whose index `is_protected` affirms go past the approximate
    /// tier to the exact set: the paper's important pages, which must not be dropped.
    ///
    /// # Errors
    /// As [`observe_all`](Self::observe_all).
    pub fn observe_protected(
        &mut self,
        keys: &[KeyHash],
        is_protected: impl Fn(usize) -> bool,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<()> {
        verdicts.clear();
        verdicts.resize(keys.len(), Verdict::Repeat);
        self.misses.clear();
        self.asked.clear();
        self.tiers.filter(keys, is_protected, &mut self.misses, &mut self.asked, &mut self.counters);
        self.keys.clear();
        self.keys.extend(self.misses.iter().map(|&i| keys[i as usize]));
        self.new.clear();
        let on_storage = !self.set.runs().is_empty();
        self.set.insert_all(&self.keys, &mut self.new)?;
        if !on_storage && !self.set.runs().is_empty() {
            self.tiers.enlarge(self.options.memory)?;
        }
        for &i in &self.new {
            verdicts[self.misses[i as usize] as usize] = Verdict::New;
        }
        self.counters.keys += keys.len() as u64;
        self.counters.new += self.new.len() as u64;
        self.counters.set_repeats += (self.keys.len() - self.new.len()) as u64;
        for asked in &self.asked {
            let new = verdicts[asked.index as usize] == Verdict::New;
            self.counters.audited_false += u64::from(asked.claimed && new);
            self.counters.stable_forgotten += u64::from(!asked.claimed && !new);
        }
        Ok(())
    }

    /// Records one key.
    ///
    /// # Errors
    /// As [`observe_all`](Self::observe_all).
    pub fn observe(&mut self, key: KeyHash) -> Result<Verdict> {
        let mut verdicts = Vec::with_capacity(1);
        self.observe_all(&[key], &mut verdicts)?;
        Ok(verdicts[0])
    }

    /// Whether observing so many keys will first make those of earlier calls durable. What was called new in earlier
    /// calls should be durable before: then not even a machine that loses its power loses a line.
    pub fn will_sync(&self, keys: usize) -> bool {
        self.set.will_sync(keys)
    }

    /// Makes durable all that was recorded: after this it survives whatever becomes of the process. With a
    /// [journal](SeenOptions::journal) that takes one write and one sync of its file, so it can be done every second.
    ///
    /// # Errors
    /// If storage fails. The store has kept what it had; it must be opened again.
    pub fn sync(&mut self) -> Result<()> {
        self.set.sync()
    }

    /// Makes durable the first `keys` of the new keys that no sync has made durable yet, in the order in which they came: for a
    /// caller that knows how many of them have reached whoever they were meant for. Without a journal all become durable.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub fn sync_first(&mut self, keys: usize) -> Result<()> {
        self.set.sync_first(keys)
    }

    /// How many new keys no sync has made durable yet. Without a journal they are not counted.
    pub fn unsynced(&self) -> usize {
        self.set.unsynced()
    }

    /// Makes durable all that was recorded, in a run, which takes less room than a journal and need not be read to go on: for
    /// the end of a stream.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub fn publish(&mut self) -> Result<()> {
        self.set.publish()
    }

    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How it was opened.
    pub fn options(&self) -> &SeenOptions {
        &self.options
    }

    /// The exact set behind the cache.
    pub fn set(&self) -> &Cascade<S> {
        &self.set
    }
}
