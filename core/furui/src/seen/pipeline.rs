use std::fmt;
use std::path::Path;

use super::Verdict;
use super::counters::SeenCounters;
use super::sizes::TierSizes;
use super::tiers::{Cache, Tiers, Undecided};
use super::tiers_file::{self, Start};
use crate::error::Result;
use crate::filter::Mismatch;
use crate::hash::{HashSpec, Hashes, KeyForm, KeyHash, KeyHasher};
use crate::store::cascade::room::reserve;
use crate::store::cascade::{Cascade, CascadeOptions, ExpectedNote, NewKeys};
use crate::store::shared::{PackRun, SharedManifest};
use crate::store::{Directory, Note, Storage, TIERS};

/// An exact set that answers "have I seen this key?" for a stream of any length. A key is identified by its 64-bit
/// hash.
///
/// ```text
///   batch of hashes ──> cache tiers ──misses──> exact set: table in RAM ──absent, sorted──> runs on storage
///                           │                       │                                          │
///                           └──────────────── Verdict per key ─────────────────────────────────┘
/// ```
///
/// The tiers are those of Kubota, Ueda and Yamana ("Efficient Duplicated URL Detection for Web Crawlers", section 4.3):
/// a small cache answers for keys that are repeated soon, so that the exact set is asked less often. Differences from
/// the paper: the set is a [`Cascade`], whose first level is in RAM, and batches are looked up together, sorted by
/// hash. The default cache is a flat table of whole hashes, which drops nothing, and takes 1 ns a key on a crawl where
/// LRU and stable filter take 12 to 34 ns. For the same number of misses this table needs more memory than an LRU with
/// a stable filter of 1 %, and up to 6 times the memory of an LRU alone. The paper's own tiers are
/// [`Cache::LruStable`], with two differences: keys pass them in rounds of 256, so that an evicted key reaches the
/// filter at the end of its round; and one claim of the filter in 32 is checked instead of believed, which measures its
/// errors. [`TierSizes::PAPER`] has the paper's sizes. These tiers are kept in the store; the other caches give only
/// speed, and begin empty.
///
/// Cost of a key in a batch: about 1 ns in the cache, 15 to 40 ns in RAM, and on storage 50 to 100 ns for each run
/// whose pages are cached.
///
/// Two keys with the same 64-bit hash are one key: see [`KeyHash`].
///
/// # Durability
///
/// After [`sync`](Self::sync) or [`publish`](Self::publish) every key that was inserted before survives a crash of the
/// process or of the machine.
///
/// **Dropping a `Seen` publishes nothing.** The keys that were inserted since the last sync are then lost, unless the
/// set outgrew its memory meanwhile and wrote them to storage. Keys that were on storage before are kept.
///
/// ```
/// use furui::seen::Seen;
///
/// # let dir = std::env::temp_dir().join(format!("furui-doc-seen-{}", std::process::id()));
/// # let path = dir.join("crawl.seen");
/// # std::fs::create_dir_all(&dir).unwrap();
/// let mut seen = Seen::open(&path)?;
/// assert!(seen.insert("https://example.org/")?);
/// assert!(!seen.insert("https://example.org/")?);
/// assert_eq!(seen.extend(["https://example.org/", "https://example.org/about"])?, 1);
/// assert!(seen.contains("https://example.org/about")?);
/// seen.sync()?;
/// # drop(seen);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
///
/// A caller that hashes keys itself, such as in several threads, does so by [`hash_spec`](Self::hash_spec) and passes
/// batches of [`Hashes`]:
///
/// ```
/// use furui::seen::{Seen, SeenOptions, Verdict};
/// use furui::store::Memory;
///
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
/// let keys = seen.hash_spec().hasher().hash_all(["a", "b", "a"]);
/// let mut verdicts = vec![];
/// seen.observe_all(&keys, &mut verdicts)?;
/// assert_eq!(verdicts, [Verdict::New, Verdict::New, Verdict::Repeat]);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct Seen<S: Storage = Directory> {
    hasher: KeyHasher,
    pub(super) tiers: Tiers,
    pub(super) options: SeenOptions,
    pub(super) set: Cascade<S>,
    /// The tick of the set's window at which the next keys occur.
    pub(super) time: u64,
    start: Start,
    /// The generation of the manifest when the set was opened.
    opened: u64,
    pub(super) counters: SeenCounters,
    /// The indices in the current batch of the keys that the cache does not know.
    pub(super) misses: Vec<u32>,
    keys: Vec<KeyHash>,
    /// The keys among `misses` that were looked up in the stable filter.
    pub(super) asked: Vec<Undecided>,
    /// The indices of the new keys, in the list of keys that were looked up in the exact set.
    new: Vec<u32>,
    /// A buffer for the verdict on a single key.
    verdicts: Vec<Verdict>,
}

/// The number of keys in a batch of [`Seen::extend`].
const EXTEND_BATCH: usize = 4096;

/// The options of a [`Seen`].
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
///
/// let options = SeenOptions { memory: 16 << 20, journal: true, ..SeenOptions::default() };
/// let seen = Seen::open_with(Memory::new(), options)?;
/// assert_eq!(seen.options().memory, 16 << 20);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenOptions {
    /// The kind of cache in front of the exact set.
    pub cache: Cache,
    /// The sizes of [`Cache::Lru`] and [`Cache::LruStable`]. Sizes that are given here do not depend on `memory`, but
    /// the tiers together may take at most 7 / 8 of it.
    pub sizes: TierSizes,
    /// The memory for the set and the cache in bytes, at least [`CascadeOptions::MIN_MEMORY`]. Keys that do not fit are
    /// written to storage.
    pub memory: u64,
    /// The spec (algorithm and seed) by which keys are hashed. A store keeps the hash it was made with, and opening it
    /// with another one is an error. With `None` an existing store is opened with its own hash, and a new one gets XXH3
    /// with a random seed.
    pub hash: Option<HashSpec>,
    /// The form of the keys: the way in which they are made from records. A store keeps the form it was made with, and
    /// opening it with another one is an error. With `None` an existing store is opened whatever its form, and a new
    /// one gets the empty form: a record is its own key.
    pub form: Option<KeyForm>,
    /// If true, [`sync`](Seen::sync) appends 8 bytes for each new key to a journal, which is cheap. If false, `sync`
    /// writes a run, as [`publish`](Seen::publish) does.
    pub journal: bool,
}

impl Default for SeenOptions {
    /// The default options: the recent cache, 256 MiB of memory, the hash of the existing store, and no journal.
    fn default() -> Self {
        Self {
            cache: Cache::Recent,
            sizes: TierSizes::default(),
            memory: 256 << 20,
            hash: None,
            form: None,
            journal: false,
        }
    }
}

impl<S: Storage> fmt::Debug for Seen<S> {
    /// Shows the options and the number of keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen")
            .field("options", &self.options)
            .field("counters", &self.counters)
            .field("set", &self.set)
            .finish_non_exhaustive()
    }
}

impl Seen {
    /// Opens the set in a directory, with the default [`SeenOptions`]. The directory is created if it is missing, and
    /// locked against other writers until the set is dropped.
    ///
    /// [`open_with`](Self::open_with) takes other options, and any other [`Storage`].
    ///
    /// # Errors
    /// Those of [`Directory::open`] and of [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(Directory::open(path)?, SeenOptions::default())
    }
}

impl<S: Storage> Seen<S> {
    /// Opens the set that `storage` holds, or an empty one. An empty set is written at the first [`sync`](Self::sync),
    /// or when it outgrows its memory.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if a file is damaged, missing, of a newer version, or hashed by another
    /// spec; [`Error::Store`](crate::Error::Store) if the storage holds a store of another kind; another
    /// [`Error`](crate::Error) if the options are invalid, or the storage fails.
    pub fn open_with(storage: S, options: SeenOptions) -> Result<Self> {
        Self::open_as(options, |options| Cascade::open(storage, options))
    }

    /// Opens an empty set in `storage` over the published set in `base`: a key that the base has is not new, and only
    /// the other keys are inserted. The base is neither locked nor changed, and its later changes are not seen. A
    /// [commit](Cascade::commit) adds the keys to the base; [`Run`](super::Run) does both for a directory.
    ///
    /// # Errors
    /// Those of [`open_with`](Self::open_with); [`StoreProblem::NoStore`](crate::error::StoreProblem::NoStore) if the
    /// base holds no set, and [`StoreProblem::HasWindow`](crate::error::StoreProblem::HasWindow) if it forgets keys.
    pub fn open_over<B: Storage>(base: &B, storage: S, options: SeenOptions) -> Result<Self>
    where
        S::File: From<B::File>,
    {
        Self::open_as(options, |options| Cascade::open_over(base, storage, options))
    }

    /// Opens an empty set in `storage` over runs of a shared set, as [`Cascade::open_over_packs`] does.
    ///
    /// # Errors
    /// Those of [`Cascade::open_over_packs`].
    pub fn open_over_packs(
        shared: &SharedManifest,
        files: impl IntoIterator<Item = (String, S::File, PackRun)>,
        storage: S,
        options: SeenOptions,
    ) -> Result<Self> {
        Self::open_as(options, |options| Cascade::open_over_packs(shared, files, storage, options))
    }

    /// Makes the tiers, opens the set with the memory that they leave, and fills the tiers with those that the store
    /// keeps.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) if there are no tiers of these sizes;
    /// [`Error::NoMemory`](crate::Error::NoMemory); those of `open` and of reading the kept tiers.
    pub(super) fn open_as(
        options: SeenOptions,
        open: impl FnOnce(CascadeOptions) -> Result<Cascade<S>>,
    ) -> Result<Self> {
        let options = SeenOptions { memory: options.memory.max(CascadeOptions::MIN_MEMORY), ..options };
        let (mut tiers, bytes) = Tiers::new(options.cache, &options.sizes, options.memory)?;
        let memory = options.memory.saturating_sub(bytes);
        let set = open(CascadeOptions { memory, hash: options.hash, form: options.form, journal: options.journal })?;
        if Self::has_short_slices(set.manifest().window) {
            tiers = Tiers::None;
        } else if !set.runs().is_empty() {
            tiers.enlarge(options.memory)?;
        }
        let start = match &mut tiers {
            Tiers::LruStable(tiers) => tiers_file::restore(tiers, set.manifest(), set.storage())?,
            _ => Start::Empty,
        };
        Ok(Self {
            time: set.manifest().tick,
            start,
            opened: set.manifest().generation(),
            hasher: set.hash_spec().hasher(),
            tiers,
            options,
            set,
            counters: SeenCounters::default(),
            misses: vec![],
            keys: vec![],
            asked: vec![],
            new: vec![],
            verdicts: vec![],
        })
    }

    /// The spec (algorithm and seed) by which keys are hashed. A caller that hashes keys itself must use this spec.
    pub fn hash_spec(&self) -> HashSpec {
        self.hasher.spec()
    }

    /// Records a key. True if it is new.
    ///
    /// Cost: if the set is on storage, a single key costs much more than a key of a batch; [`extend`](Self::extend) and
    /// [`observe_all`](Self::observe_all) take batches.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = self.hasher.hash(key.as_ref());
        let mut verdicts = std::mem::take(&mut self.verdicts);
        let observed = self.observe(&[key], |_| false, &mut verdicts);
        self.verdicts = verdicts;
        observed?;
        Ok(self.verdicts[0] == Verdict::New)
    }

    /// True if a key was recorded before. This does not record the key.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.set.contains(self.hasher.hash(key.as_ref()))
    }

    /// Answers [`contains`](Self::contains) for a batch of keys that the caller hashed, in one forward pass through
    /// each run on storage. `out` is cleared and gets one answer for each key.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn contains_hashes(&mut self, keys: &Hashes, out: &mut Vec<bool>) -> Result<()> {
        self.set.contains_all(Mismatch::check(self.hash_spec(), keys)?, out)
    }

    /// Records keys, and returns how many of them are new. It works in batches, and so is faster than
    /// [`insert`](Self::insert). It is not the method of the trait [`Extend`], because it can fail.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn extend<K: AsRef<[u8]>>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64> {
        let before = self.counters.new;
        let (mut batch, mut verdicts) = (Hashes::new(&self.hasher), Vec::new());
        let mut keys = keys.into_iter();
        loop {
            batch.clear();
            batch.extend(keys.by_ref().take(EXTEND_BATCH));
            if batch.is_empty() {
                return Ok(self.counters.new - before);
            }
            self.observe_all(&batch, &mut verdicts)?;
        }
    }

    /// Records keys that were hashed by [`hash_spec`](Self::hash_spec), and says for each, in order, whether it is new.
    /// `verdicts` is cleared first.
    ///
    /// Keys of earlier calls may become durable during a call, but keys of the call itself do not. So a caller that has
    /// written out the keys that earlier calls reported as new loses nothing when it is killed.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) if the keys were hashed by another spec than
    /// [`hash_spec`](Self::hash_spec); nothing is recorded then. Another [`Error`](crate::Error) if storage fails or is
    /// damaged: the verdicts are then invalid, and the set must be opened again.
    pub fn observe_all(&mut self, keys: &Hashes, verdicts: &mut Vec<Verdict>) -> Result<()> {
        self.observe_protected(keys, |_| false, verdicts)
    }

    /// Works as [`observe_all`](Self::observe_all), but with [`Cache::LruStable`] the exact set answers for the keys at
    /// the indices for which `is_protected` is true, so that none of these keys is dropped. Protected keys are the
    /// paper's important pages. Cost: a protected key is looked up in the set even if the LRU has it, because it may
    /// have been dropped earlier, when it was not protected.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn observe_protected(
        &mut self,
        keys: &Hashes,
        is_protected: impl Fn(usize) -> bool,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<()> {
        self.observe(Mismatch::check(self.hash_spec(), keys)?, is_protected, verdicts)
    }

    fn observe(
        &mut self,
        keys: &[KeyHash],
        is_protected: impl Fn(usize) -> bool,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<()> {
        self.make_room(keys.len(), verdicts)?;
        verdicts.resize(keys.len(), Verdict::Repeat);
        if self.set.manifest().window.is_some() {
            // The keys before the end of a slice are not to become durable in this call.
            self.set.prepare(keys.len())?;
        }
        let mut done = 0;
        while done < keys.len() {
            let end = keys.len().min(done.saturating_add(self.move_on()?));
            self.observe_part(&keys[done..end], |i| is_protected(done + i), &mut verdicts[done..end])?;
            self.pass(end - done);
            done = end;
        }
        Ok(())
    }

    /// Makes room in the lists for a batch of `keys` keys, and empties `verdicts`.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory).
    pub(super) fn make_room(&mut self, keys: usize, verdicts: &mut Vec<Verdict>) -> Result<()> {
        verdicts.clear();
        reserve(verdicts, keys)?;
        for list in [&mut self.misses, &mut self.new] {
            list.clear();
            reserve(list, keys)?;
        }
        self.keys.clear();
        reserve(&mut self.keys, keys)
    }

    /// Observes keys that belong to one slice of a window. Before the call, all `verdicts` must be [`Verdict::Repeat`].
    fn observe_part(
        &mut self,
        keys: &[KeyHash],
        is_protected: impl Fn(usize) -> bool,
        verdicts: &mut [Verdict],
    ) -> Result<()> {
        self.misses.clear();
        self.asked.clear();
        self.tiers.filter(keys, is_protected, &mut self.misses, &mut self.asked, &mut self.counters);
        self.observe_misses(keys, verdicts)
    }

    /// Looks up and inserts, in the exact set, the keys of a batch whose indices are in `misses`, and updates the
    /// counters.
    ///
    /// # Errors
    /// Those of [`Cascade::insert_all`]; [`Error::NoMemory`](crate::Error::NoMemory) if a larger cache cannot be
    /// allocated.
    pub(super) fn observe_misses(&mut self, keys: &[KeyHash], verdicts: &mut [Verdict]) -> Result<()> {
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

    /// True if observing this many keys would first make the keys of earlier calls durable. If so, a caller that writes
    /// out the new keys must first make its output durable: then not even a power cut loses a key.
    pub fn will_sync(&self, keys: usize) -> bool {
        self.set.will_sync(keys)
    }

    /// Makes every recorded key durable: the keys survive a crash of the process or of the machine. With a
    /// [journal](SeenOptions::journal) this takes one write and one sync of its file, so it can be done every second.
    ///
    /// # Errors
    /// If storage fails. What was durable before is still durable, and the set must be opened again.
    pub fn sync(&mut self) -> Result<()> {
        self.set.sync()
    }

    /// Makes durable the first `keys` of the new keys that are not durable yet, in the order in which they came. It is
    /// for a caller that knows how many of these keys have reached the reader of its output. Without a journal, all
    /// keys become durable.
    ///
    /// # Errors
    /// Those of [`sync`](Self::sync).
    pub fn sync_first(&mut self, keys: usize) -> Result<()> {
        self.set.sync_first(keys)
    }

    /// The number of new keys that are not durable yet. Without a journal, such keys are not counted, and the number is
    /// 0.
    pub fn unsynced(&self) -> usize {
        self.set.unsynced()
    }

    /// Makes every recorded key durable in a run, which takes less space than a journal and is not read when the set is
    /// opened. Call it at the end of a stream: with [`Cache::LruStable`] it also writes the tiers (LRU and stable
    /// filter), so that the next [`Seen`] with tiers of the same sizes begins with the keys that this one remembers.
    ///
    /// # Errors
    /// Those of [`sync`](Self::sync).
    pub fn publish(&mut self) -> Result<()> {
        self.move_on()?;
        self.set.publish()?;
        let changed = self.set.manifest().generation() != self.opened;
        match &self.tiers {
            Tiers::LruStable(_) if !changed && self.counters.keys == 0 && self.start == Start::Whole => {}
            Tiers::LruStable(tiers) => tiers_file::save(tiers, self.set.manifest(), self.set.storage())?,
            // The file `TIERS` belongs to an earlier state of the set. If it cannot be removed, the next opening finds
            // out that it is outdated.
            _ if changed => _ = self.set.storage().remove(TIERS),
            _ => {}
        }
        Ok(())
    }

    /// Adds the keys of a [run](super::Run) or of a file of [`Pending`](super::Pending) keys, and a note, in one
    /// change; see [`Cascade::commit`]. Returns the number of the keys that the set had already.
    ///
    /// # Errors
    /// Those of [`Cascade::commit`].
    pub fn commit(&mut self, keys: NewKeys<'_>, note: Option<Note>, expected: ExpectedNote<'_>) -> Result<u64> {
        self.set.commit(keys, note, expected)
    }

    /// The state of the tiers when the set was opened. [`Start::Whole`] means that they were as an earlier
    /// [`publish`](Self::publish) left them.
    pub fn start(&self) -> Start {
        self.start
    }

    /// The false-positive rate at which the stable filter settles. `None` if there is no stable filter.
    pub fn stable_rate(&self) -> Option<f64> {
        match &self.tiers {
            Tiers::LruStable(tiers) => Some(tiers.filter.stable_rate()),
            _ => None,
        }
    }

    /// The numbers of keys that were observed since the set was opened, by the tier that answered for them.
    pub fn counters(&self) -> &SeenCounters {
        &self.counters
    }

    /// The text of the note that the last commit left in the set; `None` if none had a note.
    pub fn note(&self) -> Option<&str> {
        self.set.manifest().note.as_ref().map(Note::text)
    }

    /// The options with which the set was opened.
    pub fn options(&self) -> &SeenOptions {
        &self.options
    }

    /// The exact set behind the cache.
    pub fn set(&self) -> &Cascade<S> {
        &self.set
    }
}
