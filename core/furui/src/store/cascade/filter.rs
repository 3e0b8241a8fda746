use std::fmt;
use std::path::Path;

use super::{Cascade, CascadeOptions};
use crate::error::{Error, Result, StoreProblem};
use crate::filter::{Estimate, Mismatch};
use crate::hash::{HashSpec, Hashes, KeyHash, KeyHasher};
use crate::store::{Directory, Fingerprints, MANIFEST, Manifest, Storage, StoreKind};

/// The number of keys in a batch of [`CascadeFilter::extend`].
const EXTEND_BATCH: usize = 4096;

/// A filter that may be far larger than memory. It says "no" only to keys that were never inserted; the rate at which
/// it wrongly says "yes" is chosen for a number of keys.
///
/// It is the cascade filter of M. A. Bender et al., "Don't Thrash: How to Cache Your Hash on Flash" (VLDB 2012): it
/// keeps a fingerprint of each key in a level in RAM; when that level is full, it is merged sequentially with levels on
/// storage. The implementation is that of the exact set, [`Cascade`], with shorter [`Fingerprints`].
///
/// Cost: an insertion reads nothing, and writes the 1.5 bytes of the key (at 0.1 %) log₂ (n / memory) times. A look-up
/// reads at most one page of each level; there are about log₂ (n / memory) levels, and one after
/// [`compact`](Self::compact). On storage a key takes about log₂ (1 / rate) + 2 bits. At 0.1 % these are 12.0 bits; any
/// filter takes at least 9.97, and any sorted list of fingerprints at least 11.41.
///
/// Differences from the paper: fingerprints are the numbers 1 to m for any m, instead of p bits, so that the rate is
/// exactly the requested one; the level in RAM is a flat table of 8 bytes a slot instead of a quotient filter, because
/// a quotient filter took 3.5 to 7 times as long; levels on storage have no empty slots; and keys cannot be removed.
///
/// It takes any number of keys. With more than its capacity it errs more often: see
/// [`false_positive_rate`](Self::false_positive_rate). As with a [`Seen`](crate::seen::Seen), keys are durable after
/// [`sync`](Self::sync) or [`publish`](Self::publish), and dropping the filter publishes nothing.
///
/// ```
/// use furui::store::cascade::CascadeFilter;
///
/// # let dir = std::env::temp_dir().join(format!("furui-doc-cascade-{}", std::process::id()));
/// # let path = dir.join("urls");
/// # std::fs::create_dir_all(&dir).unwrap();
/// let mut filter = CascadeFilter::create(&path, 1_000_000, 0.001)?;
/// filter.extend(["https://example.org/", "https://example.org/about"])?;
/// filter.insert("https://example.org/news")?;
/// assert!(filter.contains("https://example.org/")?);
/// filter.publish()?;
/// # drop(filter);
///
/// let filter = CascadeFilter::open(&path)?;
/// assert!(filter.contains("https://example.org/news")?);
/// assert!(filter.false_positive_rate() < 0.001);
/// # drop(filter);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
pub struct CascadeFilter<S: Storage = Directory> {
    hasher: KeyHasher,
    set: Cascade<S>,
    /// The indices in the current batch of the keys that were not in RAM before.
    new: Vec<u32>,
}

impl<S: Storage> fmt::Debug for CascadeFilter<S> {
    /// Shows the capacity, the fingerprints and the number of keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CascadeFilter")
            .field("capacity", &self.capacity())
            .field("fingerprints", &self.fingerprints())
            .field("set", &self.set)
            .finish_non_exhaustive()
    }
}

impl CascadeFilter {
    /// Creates a filter for `capacity` keys with a false-positive rate of `rate` in a directory, which must be new or
    /// empty, with the default [`CascadeOptions`].
    ///
    /// # Errors
    /// Those of [`Directory::open`] and of [`create_with`](Self::create_with).
    pub fn create(path: impl AsRef<Path>, capacity: u64, rate: f64) -> Result<Self> {
        // Invalid numbers are refused before a directory is created.
        Fingerprints::with_rate(capacity, rate)?;
        Self::create_with(Directory::open(path)?, capacity, rate, CascadeOptions::default())
    }

    /// Opens the filter in a directory with the default [`CascadeOptions`].
    ///
    /// # Errors
    /// [`Error::Store`] if the directory holds no filter; those of [`Directory::open`] and of
    /// [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        // The manifest is looked for first, because opening a directory for writing would create it.
        Directory::open_read_only(&path)?.manifest()?;
        Self::open_with(Directory::open(path)?, CascadeOptions::default())
    }
}

impl<S: Storage> CascadeFilter<S> {
    /// Creates a filter for `capacity` keys with a false-positive rate of `rate` in a storage that holds no store.
    ///
    /// # Errors
    /// [`Error::Config`] if the capacity is 0, or if the rate is not between 0 and 1 or is less than capacity / 2⁵⁶;
    /// [`Error::Store`] if `storage` holds a store; [`Error::Io`].
    pub fn create_with(storage: S, capacity: u64, rate: f64, options: CascadeOptions) -> Result<Self> {
        let fingerprints = Fingerprints::with_rate(capacity, rate)?;
        if Manifest::load(&storage)?.is_some() {
            return Err(Error::store(storage.path(MANIFEST), StoreProblem::Occupied));
        }
        let hash = options.hash.unwrap_or_else(HashSpec::random);
        let mut new = Manifest::new(StoreKind::Filter, hash);
        (new.fingerprints, new.capacity) = (fingerprints, capacity);
        new.form = options.form.unwrap_or_default();
        let mut filter = Self::of(Cascade::open_as(storage, options, new)?);
        filter.set.save_manifest()?;
        Ok(filter)
    }

    /// Opens the filter that `storage` holds.
    ///
    /// # Errors
    /// Those of [`Cascade::open`]; [`Error::Store`] if there is no store.
    pub fn open_with(storage: S, options: CascadeOptions) -> Result<Self> {
        let manifest = existing(&storage)?;
        Ok(Self::of(Cascade::open_as(storage, options, manifest)?))
    }

    /// Opens a filter without its journal, whose keys may need much memory, to describe or verify its runs. The filter
    /// can then be neither searched nor changed.
    ///
    /// # Errors
    /// Those of [`open_with`](Self::open_with).
    pub fn open_published(storage: S, options: CascadeOptions) -> Result<Self> {
        let manifest = existing(&storage)?;
        Ok(Self::of(Cascade::open_runs(storage, options, manifest)?.0))
    }

    fn of(set: Cascade<S>) -> Self {
        Self { hasher: set.hash_spec().hasher(), set, new: vec![] }
    }

    /// The spec (algorithm and seed) by which keys are hashed. A caller that hashes keys itself must use this spec.
    pub fn hash_spec(&self) -> HashSpec {
        self.hasher.spec()
    }

    /// Inserts a key. Cost: 20 to 100 ns, and its share of the merges.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.add(&[self.hasher.hash(key.as_ref())])
    }

    /// Inserts keys, in batches. This is not the trait [`Extend`], because an insertion can fail.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn extend<K: AsRef<[u8]>>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<()> {
        let (mut batch, mut keys) = (Vec::with_capacity(EXTEND_BATCH), keys.into_iter());
        loop {
            batch.clear();
            batch.extend(keys.by_ref().take(EXTEND_BATCH).map(|key| self.hasher.hash(key.as_ref())));
            if batch.is_empty() {
                return Ok(());
            }
            self.add(&batch)?;
        }
    }

    /// Inserts the keys of a batch that the caller hashed. Nothing is read: a key that is on storage already
    /// is dropped when the levels are merged.
    ///
    /// Keys of earlier calls may become durable during a call, but keys of the call itself do not.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys were hashed by another spec than [`hash_spec`](Self::hash_spec); nothing is
    /// changed then. [`Error::Io`] or [`Error::Format`] if storage fails or is damaged; [`Error::NoMemory`]. Storage
    /// then holds the keys that it held before, and perhaps keys of earlier calls, and the filter must be opened again.
    ///
    /// # Panics
    /// If there are 2³² keys or more.
    pub fn insert_hashes(&mut self, keys: &Hashes) -> Result<()> {
        self.add(Mismatch::check(self.hash_spec(), keys)?)
    }

    fn add(&mut self, keys: &[KeyHash]) -> Result<()> {
        self.set.add_all(keys, &mut self.new)
    }

    /// True if `key` may be in the set; false if it certainly is not. Cost: a probe in RAM, then at most one page of
    /// each run.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.set.contains(self.hasher.hash(key.as_ref()))
    }

    /// Answers [`contains`](Self::contains) for a batch of keys that the caller hashed, in one forward pass through
    /// each run. `out` is cleared and gets one answer for each key.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn contains_hashes(&mut self, keys: &Hashes, out: &mut Vec<bool>) -> Result<()> {
        self.set.contains_all(Mismatch::check(self.hash_spec(), keys)?, out)
    }

    /// Makes every inserted key durable, in the [journal](CascadeOptions::journal) or in a run.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn sync(&mut self) -> Result<()> {
        self.set.sync()
    }

    /// Makes every inserted key durable in a run. Call it after the last insertion.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn publish(&mut self) -> Result<()> {
        self.set.publish()
    }

    /// Merges everything into one run. After that, the filter takes the least space, a look-up reads at most one page,
    /// and [`len`](Self::len) is exact.
    ///
    /// # Errors
    /// Those of [`insert_hashes`](Self::insert_hashes).
    pub fn compact(&mut self) -> Result<()> {
        self.set.compact()
    }

    /// The number of keys that the filter was made for.
    pub fn capacity(&self) -> u64 {
        self.set.manifest().capacity
    }

    /// The range of fingerprints that keys can have.
    pub fn fingerprints(&self) -> Fingerprints {
        self.set.manifest().fingerprints
    }

    /// The number of fingerprints in RAM and on storage. A fingerprint that was inserted again may count twice, until
    /// the levels that hold it are merged.
    pub fn len(&self) -> u64 {
        self.set.len()
    }

    /// True if no key was inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The false-positive rate that the filter was made for, at its capacity.
    pub fn intended_rate(&self) -> f64 {
        -(-(self.capacity() as f64) / self.fingerprints().last() as f64).exp_m1()
    }

    /// The probability that [`contains`](Self::contains) says yes to a key that was never inserted, as the filter
    /// stands now: the share of the possible fingerprints that it holds. If [`len`](Self::len) counts a fingerprint
    /// twice, this rate is too high.
    pub fn false_positive_rate(&self) -> f64 {
        self.fingerprints().rate(self.len())
    }

    /// An estimate of the number of different keys that were inserted.
    pub fn cardinality(&self) -> Estimate {
        let value = self.fingerprints().expected_keys(self.len());
        // Among n keys, about n² / 2m share a fingerprint with another key. The standard deviation of that number is
        // its square root.
        Estimate { value, error: value / (2.0 * self.fingerprints().last() as f64).sqrt() }
    }

    /// The set of fingerprints that the filter consists of, for information about its memory and its runs.
    pub fn set(&self) -> &Cascade<S> {
        &self.set
    }
}

/// Reads the manifest of the filter that a storage holds; an error if it holds none.
fn existing<S: Storage>(storage: &S) -> Result<Manifest> {
    Manifest::load_kind(storage, &[StoreKind::Filter])?
        .ok_or_else(|| Error::store(storage.path(MANIFEST), StoreProblem::NoStore))
}
