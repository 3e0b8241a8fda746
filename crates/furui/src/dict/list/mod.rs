//! The dictionary; see [`Dict`].

mod upkeep;
mod windows;

use std::ops::Deref;
use std::sync::{Arc, Weak};

use super::layer::Layer;
use super::{DictOptions, FilteredTrie, Found, Snapshot};
use crate::error::{Error, Result};
use crate::format::{FormatError, Problem};
use crate::hash::{HashSpec, Rolling};
use crate::store::{MANIFEST, Manifest, Published, RunEntry, Storage, StoreKind};

/// A map from byte strings to numbers that takes new keys while it is read: in memory or on disk, ten times smaller than
/// a hash map, in order.
///
/// ```text
///   put ──> window ── full? ──> freeze ──> <trie, filter>   <trie, filter>   <trie, filter>
///           hash table           in order      newest    └── merged when they have grown ──┘
/// ```
///
/// The online LOUDS dictionary of T. Koyanagi, K. Yoshida, Y. Unno and Y. Shinjo, "Method to Build Bloom Filters for Online
/// Building of LOUDS TRIE" (2011), section 3: a buffer of w keys answers at once; full, it is frozen into a trie with a
/// Bloom filter; after f tries, adjacent ones are merged, the newest value of a key wins, and filters are sized anew
/// (equation 1). Differences: tries are path-compressed; keys can be deleted, by entries that hide what is older until a
/// merge with the oldest trie drops them; tries are files, published whole and named by a manifest; and which tries are
/// merged is chosen ([`Merging`](super::Merging)).
///
/// It reads as its newest [`Snapshot`], to which it dereferences; [`snapshot`](Self::snapshot) gives one to keep.
///
/// # Who does the work
///
/// Freezing and merging are handed out by [`job`](Self::job), for any thread to do; meanwhile the dictionary is read and
/// written, and nobody waits. What nobody has taken by the time the next window is full, [`put`](Self::put) does itself;
/// so that a caller who knows nothing of jobs has at most two windows in memory and
/// [`most_tries`](DictOptions::most_tries) tries.
///
/// # What is kept
///
/// After [`sync`](Self::sync) all that was put survives whatever happens. Without it, what is on storage is what was put
/// up to some window: an earlier state of the dictionary, whole. After an error in a change the dictionary can be read, but
/// not changed until it is opened again.
///
/// ```
/// use furui::dict::{Dict, DictOptions};
/// use furui::store::Memory;
///
/// let mut dict = Dict::open(Memory::new(), DictOptions::default())?;
/// assert_eq!([dict.number(b"seen")?, dict.number(b"before")?, dict.number(b"seen")?], [0, 1, 0]);
/// dict.put(b"see", 7)?;
/// assert_eq!(dict.longest_prefix(b"seeds")?, Some((3, 7)));
/// let before = dict.snapshot();
/// dict.delete(b"see")?;
/// assert_eq!((dict.get(b"see")?, before.get(b"see")?), (None, Some(7)));
/// dict.sync()?;
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Dict<S: Storage> {
    storage: Arc<S>,
    options: DictOptions,
    manifest: Manifest,
    /// Whether storage has a manifest yet.
    saved: bool,
    /// Something failed, and what storage has now is for a new opening to find out.
    broken: bool,
    state: Snapshot,
    /// How many windows, the oldest ones, are full and wait to be frozen.
    waiting: usize,
    /// How many ids were given.
    next_id: u32,
    /// The jobs that somebody may be at.
    freezing: Weak<()>,
    merging: Weak<()>,
}

impl<S: Storage> Deref for Dict<S> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.state
    }
}

impl<S: Storage> Dict<S> {
    /// Opens the dictionary that `storage` holds, or an empty one. Nothing is written before there is a reason.
    ///
    /// Cost: the two ends of each trie's file are read, whatever its size.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged, missing, of a newer version, or hashed otherwise; [`Error::Config`] if
    /// the storage holds something else, or the options cannot be; [`Error::Io`].
    pub fn open(storage: S, options: DictOptions) -> Result<Self> {
        options.check()?;
        let mut published = Published::open(&storage, StoreKind::Dict)?;
        let (manifest, files) = match &mut published {
            Some(published) => (published.manifest.clone(), std::mem::take(&mut published.files)),
            None => {
                let hash = options.hash.unwrap_or_else(|| Rolling::spec(HashSpec::random().seed));
                (Manifest::new(StoreKind::Dict, hash), vec![])
            }
        };
        if let Some(expected) = options.hash.filter(|&hash| hash != manifest.hash) {
            let problem = Problem::OtherHash { found: manifest.hash, expected };
            return Err(FormatError { file: storage.path(MANIFEST), offset: 0, problem }.into());
        }
        let open = |(entry, file): (&RunEntry, S::File)| {
            Ok(Layer::Trie(Arc::new(FilteredTrie::open(&storage, entry, &file, manifest.hash)?)))
        };
        let layers = manifest.runs.iter().zip(files).map(open).collect::<Result<_>>()?;
        if let Some(published) = &mut published {
            published.remove_orphans(&storage);
        }
        Ok(Self {
            storage: Arc::new(storage),
            options,
            saved: published.is_some(),
            broken: false,
            state: Snapshot { hasher: manifest.hash.hasher(), layers },
            waiting: 0,
            next_id: manifest.next_id,
            manifest,
            freezing: Weak::new(),
            merging: Weak::new(),
        })
    }

    /// How it works.
    pub fn options(&self) -> &DictOptions {
        &self.options
    }

    /// The manifest of what is on storage.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The id that [`number`](Self::number) gives next, which is the count of ids it has given.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// The dictionary as it is now, to keep. Cost: a handle to each part. What is put next goes to a window of its own
    /// while somebody holds the snapshot; small windows are put together again.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::new(self.state.clone())
    }

    /// Gives a key a value, instead of the one that it has.
    ///
    /// # Errors
    /// [`Error::Config`] if the key is longer than [`MAX_KEY`](super::MAX_KEY), or a change failed before. Any other if a
    /// window had to be frozen and that failed: the key was not put then.
    pub fn put(&mut self, key: &[u8], value: u32) -> Result<()> {
        self.write(key, self.hasher.hash(key), Found::Value(value), self.next_id)
    }

    /// Takes a key out, if it is there. It takes the room of a key until a merge with the oldest trie.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.write(key, self.hasher.hash(key), Found::Deleted, self.next_id)
    }

    /// The number of a word: its value, or, if it has none, the [next id](Self::next_id), which it then keeps. Ids are
    /// given from 0 on, and none twice, whatever is deleted. A value that is [`put`](Self::put) is no id, and may equal one
    /// that is given before or after.
    ///
    /// # Errors
    /// As [`put`](Self::put); [`Error::Config`] after 2³² - 1 ids.
    pub fn number(&mut self, key: &[u8]) -> Result<u32> {
        let hash = self.hasher.hash(key);
        if let Some(value) = self.find(key, hash)?.and_then(Found::value) {
            return Ok(value);
        }
        let id = self.next_id;
        if id == u32::MAX {
            return Err(Error::Config("all ids below 2^32 - 1 have been given to keys: begin a new dictionary".into()));
        }
        self.write(key, hash, Found::Value(id), id + 1)?;
        Ok(id)
    }

    /// Makes durable all that was put: windows are frozen, and the tries merged that they outgrew, unless a job is at
    /// that. An empty dictionary is then one, too, with its hash.
    ///
    /// # Errors
    /// [`Error::Io`], or whatever else storage answers. What was durable is so still; the dictionary must be opened again
    /// before it is changed.
    pub fn sync(&mut self) -> Result<()> {
        self.check_usable()?;
        if !self.saved {
            self.save()?;
        }
        self.freeze(self.windows_len())
    }

    /// Makes one trie of all there is: the least space, and the fastest to look into. Deleted keys are gone then.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub fn compact(&mut self) -> Result<()> {
        self.check_usable()?;
        match self.state.layers.as_slice() {
            [] | [Layer::Trie(_)] => self.sync(),
            layers => self.replace(0..layers.len()),
        }
    }

    /// Reads every byte of every trie on storage: checksums, order, counts, and that each key is found.
    ///
    /// # Errors
    /// [`Error::Format`] with the file and the offset of the first damage; [`Error::Io`].
    pub fn verify(&self) -> Result<()> {
        self.tries().try_for_each(|trie| trie.verify(&*self.storage))
    }
}
