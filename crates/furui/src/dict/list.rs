use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

use super::job::{Done, Job, Task};
use super::layer::{Layer, Window};
use super::policy::tries_to_merge;
use super::{DictOptions, FilteredTrie, Found, MAX_KEY, Snapshot, WriteBuffer};
use crate::error::{Error, Result};
use crate::format::{FormatError, Problem};
use crate::hash::{HashSpec, Rolling};
use crate::store::{MANIFEST, Manifest, RunEntry, Storage, StoreKind};

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
/// assert_eq!(dict.longest_prefix(b"seeds"), Some((3, 7)));
/// let before = dict.snapshot();
/// dict.delete(b"see")?;
/// assert_eq!((dict.get(b"see"), before.get(b"see")), (None, Some(7)));
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
    /// Larger than every value that was ever put.
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
        let (manifest, saved) = match Manifest::load_kind(&storage, StoreKind::Dict)? {
            Some(manifest) => (manifest, true),
            None => {
                let hash = options.hash.unwrap_or_else(|| Rolling::spec(HashSpec::random().seed));
                (Manifest::new(StoreKind::Dict, hash), false)
            }
        };
        if let Some(expected) = options.hash.filter(|&hash| hash != manifest.hash) {
            let problem = Problem::OtherHash { found: manifest.hash, expected };
            return Err(FormatError { file: storage.path(MANIFEST), offset: 0, problem }.into());
        }
        let open = |entry: &RunEntry| FilteredTrie::open(&storage, entry, manifest.hash);
        let layers =
            manifest.runs.iter().map(|entry| Ok(Layer::Trie(Arc::new(open(entry)?)))).collect::<Result<_>>()?;
        // Only now that all is there that should be: what a crash left. Where it may not be removed, on a storage that
        // is only read, it harms nobody.
        for orphan in manifest.orphans(&storage)? {
            let _ = storage.remove(&orphan);
        }
        Ok(Self {
            storage: Arc::new(storage),
            options,
            saved,
            broken: false,
            state: Snapshot { hash: manifest.hash, layers },
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

    /// The id that [`number`](Self::number) gives next: larger than every value that was ever put.
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
    /// [`Error::Config`] if the key is longer than [`MAX_KEY`], or a change failed before. Any other if a window had to
    /// be frozen and that failed: the key was not put then.
    pub fn put(&mut self, key: &[u8], value: u32) -> Result<()> {
        self.write(key, Found::Value(value))
    }

    /// Takes a key out, if it is there. It takes the room of a key until a merge with the oldest trie.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.write(key, Found::Deleted)
    }

    /// The number of a word: its value, or, if it has none, the [next id](Self::next_id), which it then keeps. Ids are
    /// given from 0 on, and none twice, whatever is deleted.
    ///
    /// # Errors
    /// As [`put`](Self::put); [`Error::Config`] after 2³² - 1 ids.
    pub fn number(&mut self, key: &[u8]) -> Result<u32> {
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let id = self.next_id;
        if id == u32::MAX {
            return Err(Error::Config("all ids below 2^32 - 1 have been given to keys: begin a new dictionary".into()));
        }
        self.put(key, id)?;
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
        self.tries().try_for_each(|trie| trie.verify(&*self.storage, self.hash))
    }

    /// Whether putting so many keys, of so many bytes together, may have to freeze a window first because nobody has done
    /// the job yet: the moment to wait for whoever is at it.
    pub fn will_freeze(&self, keys: usize, bytes: usize) -> bool {
        let (window_keys, window_bytes) = self.window_size();
        let bytes = window_bytes + bytes + keys * WriteBuffer::KEY_BYTES;
        self.waiting > 0 && (window_keys + keys > self.options.window_keys || bytes > self.options.window_bytes)
    }

    /// The work that waits, if there is any: to freeze the windows that are full, or else to merge tries. At most one
    /// job of each sort is out at a time. The number of its file is made durable here, with one small file.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub fn job(&mut self) -> Result<Option<Job<S>>> {
        self.check_usable()?;
        let tries = self.tries_len();
        let (range, freezes) = if self.waiting > 0 && self.freezing.strong_count() == 0 {
            (tries..tries + self.waiting, true)
        } else if let Some(newest) = self.manifest.runs.last().filter(|_| self.merging.strong_count() == 0) {
            match self.outgrown(tries - 1, newest.keys) {
                0 => return Ok(None),
                count => (tries - 1 - count..tries, false),
            }
        } else {
            return Ok(None);
        };
        let task = self.task(range)?;
        self.save()?;
        let out = if freezes { &mut self.freezing } else { &mut self.merging };
        *out = Arc::downgrade(&task.ticket);
        Ok(Some(Job { storage: Arc::clone(&self.storage), task }))
    }

    /// Puts the result of a job in the place of what it was made from. False if that is there no more, because it was
    /// done otherwise meanwhile: then nothing changes. What the job worked on becomes durable, as with
    /// [`sync`](Self::sync).
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub fn install(&mut self, done: Done) -> Result<bool> {
        self.check_usable()?;
        let layers = &self.state.layers;
        let start = layers.iter().position(|layer| done.sources.first().is_some_and(|first| first.is(layer)));
        let range = start.map(|start| start..start + done.sources.len());
        let there = range.filter(|range| {
            layers.get(range.clone()).is_some_and(|found| found.iter().zip(&done.sources).all(|(a, b)| a.is(b)))
        });
        match there {
            Some(range) => self.commit(range, &done)?,
            None => {
                if let Some(trie) = done.trie {
                    // Where this fails, the file is an orphan, and the next opening removes it.
                    let _ = self.storage.remove(&StoreKind::Dict.file_name(trie.entry().number));
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write(&mut self, key: &[u8], found: Found) -> Result<()> {
        self.check_usable()?;
        if key.len() > MAX_KEY {
            return Err(Error::Config(format!("a key of {} bytes: a dictionary takes up to {MAX_KEY}", key.len())));
        }
        let hash = self.hash.hash(key);
        if self.window_is_full(key.len()) {
            // Nobody has taken the one before.
            self.freeze(self.waiting)?;
            self.waiting = self.windows_len();
        }
        if let Found::Value(value) = found {
            self.next_id = self.next_id.max(value.saturating_add(1));
        }
        let next_id = self.next_id;
        let window = self.window();
        window.next_id = next_id;
        window.buffer.put(key, hash, found);
        Ok(())
    }

    /// Whether a key of this length no longer belongs to the window at hand.
    fn window_is_full(&self, length: usize) -> bool {
        let (keys, bytes) = self.window_size();
        keys >= self.options.window_keys || keys > 0 && bytes + length > self.options.window_bytes
    }

    /// The keys of the window at hand, and its bytes.
    fn window_size(&self) -> (usize, usize) {
        let windows = self.state.layers[self.tries_len() + self.waiting..].iter();
        windows.fold((0, 0), |(keys, bytes), layer| match layer {
            Layer::Window(window) => (keys + window.buffer.len(), bytes + window.buffer.bytes()),
            Layer::Trie(_) => (keys, bytes),
        })
    }

    /// The window that takes the next key: a new one if there is none, or if a snapshot holds it.
    fn window(&mut self) -> &mut Window {
        let first = self.tries_len() + self.waiting;
        let layers = &mut self.state.layers;
        // No snapshot can come to hold it while it is written to.
        let free = matches!(&layers[first..], [.., Layer::Window(window)] if Arc::strong_count(window) == 1);
        if !free {
            coalesce(layers, first);
            layers.push(Layer::Window(Arc::default()));
        }
        match layers.last_mut() {
            Some(Layer::Window(window)) => Arc::get_mut(window).expect("a window that nobody else holds"),
            _ => unreachable!("the last layer is a window"),
        }
    }

    fn tries_len(&self) -> usize {
        self.state.layers.partition_point(|layer| matches!(layer, Layer::Trie(_)))
    }

    fn windows_len(&self) -> usize {
        self.state.layers.len() - self.tries_len()
    }

    /// How many of the first `tries` tries, the newest of them, were outgrown by `newer` keys that come after them.
    fn outgrown(&self, tries: usize, newer: u64) -> usize {
        let sizes: Vec<u64> = self.manifest.runs[..tries].iter().map(|run| run.keys).collect();
        tries_to_merge(&sizes, newer, &self.options)
    }

    /// Freezes the oldest `windows` windows, and takes in the tries that they outgrew, unless a job is at those.
    fn freeze(&mut self, windows: usize) -> Result<()> {
        if windows == 0 {
            return Ok(());
        }
        let tries = self.tries_len();
        let newer = self.state.layers[tries..tries + windows].iter().map(Layer::keys).sum();
        let outgrown = if self.merging.strong_count() == 0 { self.outgrown(tries, newer) } else { 0 };
        self.replace(tries - outgrown..tries + windows)
    }

    /// Makes one trie of these layers, here and now.
    fn replace(&mut self, range: Range<usize>) -> Result<()> {
        if !self.saved {
            self.save()?;
        }
        self.broken = true;
        let task = self.task(range.clone())?;
        let done = task.run(&*self.storage)?;
        self.commit(range, &done)
    }

    fn task(&mut self, range: Range<usize>) -> Result<Task> {
        Ok(Task {
            number: self.manifest.take_number()?,
            hash: self.hash,
            rate: self.options.filter_rate,
            oldest: range.start == 0,
            sources: self.state.layers[range].to_vec(),
            ticket: Arc::default(),
        })
    }

    /// Puts a trie in the place of these layers, in the manifest first.
    fn commit(&mut self, range: Range<usize>, done: &Done) -> Result<()> {
        let tries = self.tries_len();
        let of_manifest = range.start..range.end.min(tries);
        let replaced: Vec<RunEntry> =
            self.manifest.runs.splice(of_manifest, done.trie.iter().map(|trie| *trie.entry())).collect();
        self.manifest.next_id = done.next_id.unwrap_or(self.manifest.next_id);
        self.save()?;
        self.waiting = self.waiting.saturating_sub(range.end.saturating_sub(tries));
        self.state.layers.splice(range, done.trie.iter().cloned().map(Layer::Trie));
        for old in replaced {
            // Where this fails, the file is an orphan, and the next opening removes it.
            let _ = self.storage.remove(&StoreKind::Dict.file_name(old.number));
        }
        Ok(())
    }

    fn save(&mut self) -> Result<()> {
        self.broken = true;
        self.manifest.save(&*self.storage)?;
        (self.saved, self.broken) = (true, false);
        Ok(())
    }

    fn check_usable(&self) -> Result<()> {
        if self.broken {
            return Err(Error::Config("the dictionary failed before: open it again".into()));
        }
        Ok(())
    }
}

/// Puts windows together, from `first` on, until each is more than twice as large as the next: then they are few, and a
/// key was copied a logarithmic number of times. Those that snapshots hold are copied.
fn coalesce(layers: &mut Vec<Layer>, first: usize) {
    while let [.., Layer::Window(older), Layer::Window(newer)] = &layers[first..]
        && older.buffer.len() <= 2 * newer.buffer.len()
    {
        let (Some(Layer::Window(newer)), Some(Layer::Window(older))) = (layers.pop(), layers.pop()) else { return };
        let mut both = Arc::unwrap_or_clone(older);
        both.next_id = newer.next_id;
        add(&mut both.buffer, &newer.buffer);
        layers.push(Layer::Window(Arc::new(both)));
    }
}

fn add(buffer: &mut WriteBuffer, newer: &WriteBuffer) {
    for record in newer.arrivals() {
        buffer.put(record.key, record.hash, record.found);
    }
}
