//! The dictionary itself; see [`Dict`].

mod bytes;
mod upkeep;
mod windows;

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Weak};

use super::layer::Layer;
use super::making::Making;
use super::{DictOptions, DictValue, FilteredTrie, Found, Snapshot};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{FormatError, Problem};
use crate::hash::{HashSpec, Rolling};
use crate::store::{
    Directory, FilterHash, Layout, MANIFEST, Manifest, Published, Purpose, RunEntry, Storage, StoreKind, Taken,
};

/// An ordered map from byte strings to numbers or to byte strings, in memory or on disk, that takes new keys while it
/// is read. It is ten times smaller than a hash map.
///
/// A dictionary has either numbers as values, `Dict<S>`, which [`open`](Self::open) opens, or any bytes,
/// `Dict<S, [u8]>`, which [`open_bytes`](Self::open_bytes) opens. Its [`Purpose`] says what they mean, and is fixed
/// when it is made.
///
/// ```text
///   put ──> window ── full? ──> freeze ──> <trie, filter>   <trie, filter>   <trie, filter>
///           hash table           in order      newest    └── merged when they have grown ──┘
/// ```
///
/// It grows as in section 3 of T. Koyanagi, K. Yoshida, Y. Unno and Y. Shinjo, "Method to Build Bloom Filters for
/// Online Building of LOUDS TRIE" (2011): new keys are found at once in a window, a write buffer of w keys; a full
/// window is frozen into a trie with a Bloom filter; when there are more than f tries, adjacent ones are merged, where
/// the newest value of a key wins, and filters get new sizes (equation 1). Differences: keys can be deleted, by entries
/// that hide older ones until a merge with the oldest trie drops them; and tries are files, published atomically and
/// named by a manifest.
///
/// By default the tries are compact ones, and merged geometrically. The paper's own dictionary is that of the options
/// [`Layout::Louds`], [`Merging::All`](super::Merging::All) and [`FilterHash::Polynomials4`].
///
/// A `Dict` dereferences to its newest [`Snapshot`], which has the methods that read; [`snapshot`](Self::snapshot)
/// gives one to keep.
///
/// # Jobs
///
/// [`job`](Self::job) hands freezing and merging out to any thread; meanwhile the dictionary is read and written, and
/// no thread waits. If a window is full and the job for the previous window was not taken, [`put`](Self::put) does the
/// work itself. So a caller that does not use jobs has at most two windows in memory, and at most
/// [`merge_after`](DictOptions::merge_after) tries.
///
/// # Durability
///
/// After [`sync`](Self::sync) everything that was put before survives a crash of the process or of the machine.
///
/// **Dropping a `Dict` publishes nothing.** Without a `sync`, storage holds everything that was put up to the end of
/// some window, which is a complete earlier state of the dictionary. Later changes are lost.
///
/// After an error in a change the dictionary can be read, but not changed until it is opened again.
///
/// ```
/// use furui::dict::Dict;
///
/// # let dir = std::env::temp_dir().join(format!("furui-doc-dict-{}", std::process::id()));
/// # let path = dir.join("words.dict");
/// # std::fs::create_dir_all(&dir).unwrap();
/// let mut dict = Dict::open(&path)?;
/// assert_eq!([dict.number("seen")?, dict.number("before")?, dict.number("seen")?], [0, 1, 0]);
/// dict.put("see", 7)?;
/// assert_eq!((dict.longest_prefix("seeds")?, dict.number("after")?), (Some((3, 7)), 8));
/// let before = dict.snapshot();
/// dict.delete("see")?;
/// assert_eq!((dict.get("see")?, before.get("see")?), (None, Some(7)));
/// dict.sync()?;
/// # drop(dict);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Dict<S: Storage = Directory, V: DictValue + ?Sized = u32> {
    storage: Arc<S>,
    options: DictOptions,
    manifest: Manifest,
    /// True if the storage already has a manifest of this dictionary.
    saved: bool,
    /// True if a change failed. The state of storage is then unknown until the dictionary is opened again.
    broken: bool,
    state: Snapshot<V>,
    /// The number of full windows (write buffers) that wait to be frozen into tries. They are the oldest windows.
    waiting: usize,
    /// The id that the next value gets, if values are byte strings; ids ascend in the order in which values were put.
    next_id: u32,
    /// The set of all numbers that the dictionary has ever held, if its purpose is [`Purpose::Numbers`], so that none
    /// is given twice.
    taken: Taken,
    /// The token of the last job that freezes windows (full write buffers), as long as that job may be running.
    freezing: Weak<()>,
    /// The token of the last job that merges tries, as long as it may be running.
    merging: Weak<()>,
}

impl<S: Storage, V: DictValue + ?Sized> Deref for Dict<S, V> {
    type Target = Snapshot<V>;

    fn deref(&self) -> &Snapshot<V> {
        &self.state
    }
}

impl Dict {
    /// Opens the dictionary in a directory, with the default [`DictOptions`]. The directory is created if it is
    /// missing, and locked against other writers until the dictionary is dropped.
    ///
    /// [`open_with`](Self::open_with) takes other options, and any other [`Storage`].
    ///
    /// # Errors
    /// Those of [`Directory::open`] and of [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(Directory::open(path)?, DictOptions::default())
    }
}

impl<S: Storage> Dict<S> {
    /// Opens the dictionary that `storage` holds, or an empty one. An empty dictionary is written at the first
    /// [`sync`](Self::sync), or when its first window (write buffer) is full.
    ///
    /// Cost: the two ends of each trie's file are read, whatever its size.
    ///
    /// ```
    /// use furui::dict::{Dict, DictOptions};
    /// use furui::store::Memory;
    ///
    /// let options = DictOptions { window: 1000, ..DictOptions::default() };
    /// let dict = Dict::open_with(Memory::new(), options)?;
    /// assert_eq!(dict.next_id(), 0);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged, missing, of a newer version, or hashed by another spec; [`Error::Store`]
    /// if the storage holds a store of another kind, or a dictionary with another purpose; [`Error::Config`] if the
    /// options are invalid; [`Error::Io`].
    pub fn open_with(storage: S, options: DictOptions) -> Result<Self> {
        Self::open_kind(storage, options)
    }

    /// The number that [`number`](Self::number) gives to the next new key, or 2³² - 1 if no number is left.
    pub fn next_id(&self) -> u32 {
        self.taken.next().unwrap_or(u32::MAX)
    }

    /// The set of all numbers that the dictionary has ever held, if its purpose is [`Purpose::Numbers`]. It is empty in
    /// other dictionaries.
    pub fn taken(&self) -> &Taken {
        &self.taken
    }

    /// Sets the value of a key, and replaces the value it had. If the dictionary gives numbers to its keys, this moves
    /// a number in: [`number`](Self::number) never gives it. Two keys to which equal numbers are put both have it.
    ///
    /// # Errors
    /// [`Error::Config`] if the key is longer than [`MAX_KEY`](super::MAX_KEY); [`Error::Store`] if an earlier change
    /// failed; [`Error::NoMemory`]; any other error if a full write buffer had to be frozen into a trie and that
    /// failed. The key is then not put.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: u32) -> Result<()> {
        let key = key.as_ref();
        self.write(key, self.hasher.hash(key), Found::Value(value), None)
    }

    /// The number of a key. A new key is given the one after the greatest that the dictionary has ever held, or 0 to
    /// begin with. If that would be 2³² - 1 or more, because such a number was [`put`](Self::put), it is given the
    /// smallest that the dictionary has never held, and of the gaps between numbers only the 512 widest may be known
    /// ([`Taken`]). So no number is given twice, nor one that was put, even if keys are deleted.
    ///
    /// # Errors
    /// Those of [`put`](Self::put); [`Error::Store`] if the purpose of the dictionary is not [`Purpose::Numbers`];
    /// [`Error::NoNumberLeft`] if no number is left.
    pub fn number(&mut self, key: impl AsRef<[u8]>) -> Result<u32> {
        let key = key.as_ref();
        if self.manifest.store != StoreKind::Dict(Purpose::Numbers) {
            let expected = Purpose::Numbers.what();
            let problem = StoreProblem::OtherKind { found: self.manifest.store.what(), expected };
            return Err(Error::store(self.storage.path(MANIFEST), problem));
        }
        let hash = self.hasher.hash(key);
        if let Some(value) = self.find(key, hash)?.and_then(Found::value) {
            return Ok(value);
        }
        let id = self.taken.next().ok_or(Error::NoNumberLeft { to: "keys" })?;
        self.write(key, hash, Found::Value(id), None)?;
        Ok(id)
    }
}

impl<S: Storage, V: DictValue + ?Sized> Dict<S, V> {
    fn open_kind(storage: S, options: DictOptions) -> Result<Self> {
        options.check()?;
        let stores: Vec<StoreKind> = match options.purpose {
            Some(purpose) if V::PURPOSES.contains(&purpose) => vec![StoreKind::Dict(purpose)],
            Some(other) => {
                let problem = StoreProblem::OtherKind { found: V::PURPOSES[0].what(), expected: other.what() };
                return Err(Error::store(storage.path(MANIFEST), problem));
            }
            None => V::PURPOSES.iter().copied().map(StoreKind::Dict).collect(),
        };
        let mut published = Published::open(&storage, &stores)?;
        let (manifest, files) = match &mut published {
            Some(published) => (published.manifest.clone(), std::mem::take(&mut published.files)),
            None => {
                let hash = options.hash.unwrap_or_else(|| Rolling::spec(HashSpec::random().seed));
                let mut manifest = Manifest::new(stores[0], hash);
                manifest.layout = options.layout.unwrap_or_default();
                manifest.form = options.form.unwrap_or_default();
                manifest.filter_hash = options.filter_hash.unwrap_or_default();
                (manifest, vec![])
            }
        };
        if let Some(expected) = options.hash.filter(|&hash| hash != manifest.hash) {
            let problem = Problem::OtherHash { found: manifest.hash, expected };
            return Err(FormatError { file: storage.path(MANIFEST), offset: 0, problem }.into());
        }
        options.check_made(&manifest).map_err(|problem| Error::store(storage.path(MANIFEST), problem))?;
        let making = Making::new(&manifest, options.filter_rate);
        let open = |(entry, file): (&RunEntry, S::File)| {
            Ok(Layer::Trie(Arc::new(FilteredTrie::open(&storage, entry, &file, &making)?)))
        };
        let layers = manifest.runs.iter().zip(files).map(open).collect::<Result<Vec<Layer>>>()?;
        if layers.iter().any(|layer| layer.ids().end > manifest.next_id) {
            let problem = Problem::Invalid("a trie has an id of a value that this manifest has not assigned");
            return Err(FormatError { file: storage.path(MANIFEST), offset: 0, problem }.into());
        }
        if let Some(published) = &mut published {
            published.remove_orphans(&storage);
        }
        Ok(Self {
            storage: Arc::new(storage),
            options,
            saved: published.is_some(),
            broken: false,
            state: Snapshot { hasher: making.hasher, layers, values: PhantomData },
            waiting: 0,
            next_id: manifest.next_id,
            taken: manifest.taken.clone(),
            manifest,
            freezing: Weak::new(),
            merging: Weak::new(),
        })
    }

    /// The options with which the dictionary was opened.
    pub fn options(&self) -> &DictOptions {
        &self.options
    }

    /// The purpose of the dictionary, which says what its values mean.
    pub fn purpose(&self) -> Purpose {
        self.manifest.store.purpose().unwrap_or(V::PURPOSES[0])
    }

    /// The layout of the dictionary's tries.
    pub fn layout(&self) -> Layout {
        self.manifest.layout
    }

    /// The hash from which the filters of the dictionary's tries take the positions of a key. It was chosen when the
    /// dictionary was made.
    pub fn filter_hash(&self) -> FilterHash {
        self.manifest.filter_hash
    }

    /// The manifest of the store: its tries, how its keys were made and hashed, and what their values mean. Keys in
    /// windows (write buffers) are not in it.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The present state of the dictionary, which the caller can keep. Cost: a handle to each part. While the snapshot
    /// exists, later keys go to a new window (write buffer); small windows are joined later.
    pub fn snapshot(&self) -> Arc<Snapshot<V>> {
        Arc::new(self.state.clone())
    }

    /// Removes a key, if it is there. The deletion takes as much room as a key until it is merged with the oldest trie.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        let key = key.as_ref();
        self.write(key, self.hasher.hash(key), Found::Deleted, None)
    }

    /// Makes everything that was put durable: write buffers are frozen into tries, which are merged with the tries that
    /// they outgrew, unless a job is merging the outgrown ones. An empty dictionary is recorded too, with its hash.
    ///
    /// # Errors
    /// [`Error::Io`], or another error of the storage. What was durable before is still durable, and the dictionary
    /// must be opened again before it is changed.
    pub fn sync(&mut self) -> Result<()> {
        self.check_usable()?;
        if !self.saved {
            self.save()?;
        }
        self.freeze(self.windows_len())
    }

    /// Makes everything durable in one trie, which takes the least space and has the fastest look-ups. Deletions take
    /// no room after that.
    ///
    /// # Errors
    /// Those of [`sync`](Self::sync).
    pub fn compact(&mut self) -> Result<()> {
        self.check_usable()?;
        match self.state.layers.as_slice() {
            [] | [Layer::Trie(_)] => self.sync(),
            layers => self.replace(0..layers.len()),
        }
    }

    /// Reads every byte of every trie on storage. Checks checksums, order and counts, that each key is found, and that
    /// there is exactly one value for each key; if the dictionary gives numbers to its keys, also that the manifest
    /// knows all of them.
    ///
    /// # Errors
    /// [`Error::Format`] with the file and the offset of the first damage; [`Error::Io`].
    pub fn verify(&self) -> Result<()> {
        let store = self.manifest.store;
        let taken = (store == StoreKind::Dict(Purpose::Numbers)).then_some(&self.manifest.taken);
        self.tries().try_for_each(|trie| trie.verify(&*self.storage, store, taken))
    }
}
