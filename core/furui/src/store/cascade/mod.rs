//! The cascade filter: a set of fingerprints in RAM and in runs on storage, exact if they are whole 64-bit hashes.

mod batch;
mod combine;
mod commit;
mod drain;
mod durable;
mod fences;
mod filter;
mod hashes;
pub(crate) mod journal;
mod journal_writer;
pub(crate) mod k_way;
mod key_set;
mod ledger;
mod memtable;
mod merge_runs;
mod options;
mod over;
pub(crate) mod page;
mod page_set;
mod part;
mod policy;
mod remove;
pub(crate) mod room;
mod run;
pub(crate) mod run_reader;
pub(crate) mod run_writer;
mod share;
mod split;
mod split_batch;
mod window;

pub use combine::Combination;
pub(crate) use commit::check_keys;
pub use commit::{ExpectedNote, NewKeys};
pub use filter::CascadeFilter;
pub use journal::Journal;
pub(crate) use k_way::{Merge, SortedSource};
pub use key_set::KeySet;
pub use options::CascadeOptions;
pub use part::Part;
pub use run::Run;
pub(crate) use run_writer::{RunWriter, WrittenRun};
pub use share::Share;
pub use split_batch::SplitBatch;

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result, StoreProblem};
use crate::format::{FormatError, Problem, ReadAt};
use crate::hash::{HashSpec, KeyHash};
use crate::store::{JOURNAL, MANIFEST, Manifest, Published, RunEntry, Storage, StoreKind, Window};
use journal_writer::JournalWriter;
use ledger::Ledger;
use memtable::{MemTable, range_of};
use room::reserve;
use share::Levels;

/// An exact set of [`KeyHash`]es that may be far larger than memory.
///
/// ```text
///   RAM        table: the newest keys, in hash order            ── full? ──┐
///   storage    run   run   run: immutable, sorted, oldest last             │ one sequential pass merges the table
///              └─────┴─────┴──────────────────────────────────────────────<┘ and the runs it outgrew into a new run
///              journal: what is in the table, as far as it was synced
/// ```
///
/// This is the cascade filter of M. A. Bender et al., "Don't Thrash: How to Cache Your Hash on Flash" (VLDB 2012): a
/// quotient filter in RAM over quotient filters on storage, which are in hash order and so are merged by reading them
/// forward. Keys come in batches. A batch is looked up in RAM; the keys that are not there are sorted and looked up in
/// each run in one forward pass.
///
/// Cost: a look-up reads at most one page of each run, and there are about log₂(n / memory) runs. Each key is written
/// log₂(n / memory) times at 5 bytes. On storage a key takes 2 to 3 % more than the theoretical minimum of log₂(2⁶⁴/n)
/// + 1.44 bits.
///
/// Differences from the paper: whole 64-bit hashes are kept, so that the answer is exact except for equal hashes (the
/// paper's filter, of shorter fingerprints, is a [`CascadeFilter`] around it); the level in RAM is a flat table in hash
/// order; levels on storage have no empty slots, because they are never inserted into; and levels have no fixed sizes:
/// a level is merged when the newer levels together have grown to about its size.
///
/// This type is low level: [`Seen`](crate::seen::Seen) takes keys as bytes, and checks how a batch of hashes was made.
/// Here the caller makes bare hashes by [`hash_spec`](Self::hash_spec), and a hash that was made in another way is not
/// noticed.
///
/// A cascade is not a [`Filter`](crate::filter::Filter), because it reads storage and can fail.
///
/// Each key is in one level only, so that counts are exact.
///
/// ```
/// use furui::KeyHash;
/// use furui::store::Memory;
/// use furui::store::cascade::{Cascade, CascadeOptions};
///
/// let mut set = Cascade::open(Memory::new(), CascadeOptions::default())?;
/// let mut new = vec![];
/// set.insert_all(&[5, 7, 5].map(KeyHash::new), &mut new)?;
/// assert_eq!(new, [0, 1]);
/// assert!(set.contains(KeyHash::new(7))?);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct Cascade<S: Storage> {
    storage: S,
    memory: u64,
    manifest: Manifest,
    /// True if storage has a manifest.
    saved: bool,
    /// True if the set was advanced to a later tick than that of the manifest on storage, within the same slice of the
    /// window.
    stale: bool,
    /// True if a change failed. The state of storage is then unknown until the set is opened again.
    broken: bool,
    /// True if the set was opened without its journal, so that the keys of the journal are missing.
    partial: bool,
    /// The journal of an earlier process, if there was one. Its keys are in the table, unless they are in a run.
    old_journal: Option<Journal<S::File>>,
    /// True while the journal of an earlier process is being read. The journal must not be removed until it has been
    /// read to its end.
    replaying: bool,
    journal: Option<JournalWriter>,
    /// The runs, oldest first: those of the base, and those of the manifest. Shares that are lent hold handles to them.
    runs: Arc<Vec<Run<S::File>>>,
    /// The number of runs that belong to the base: to the set over which this one was opened. They are searched, and
    /// are otherwise no part of this set. 0 in other sets.
    base: usize,
    /// The tables in RAM, each with an equal range of the hashes, in order: one table, unless the set was
    /// [split](Self::split). Empty while the shares are lent.
    shares: Vec<Share<S::File>>,
    ledger: Option<Ledger>,
    /// The number of further keys for which [`prepare`](Self::prepare) has made room, in the table and in the list of
    /// keys that wait for the journal.
    prepared: usize,
    written: u64,
    /// The hashes of the current batch. In a set of short fingerprints, these are their
    /// [places](crate::store::Fingerprints); this module calls them hashes, too.
    hashes: Vec<u64>,
    /// For each of `hashes`, true if it is new. It is used only by [`note`](Self::note).
    is_new: Vec<bool>,
}

impl<S: Storage> fmt::Debug for Cascade<S> {
    /// Shows the numbers of keys in RAM and on storage, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cascade")
            .field("hash", &self.manifest.hash)
            .field("keys_in_memory", &self.keys_in_memory())
            .field("runs", &self.manifest.runs)
            .finish_non_exhaustive()
    }
}

impl<S: Storage> Cascade<S> {
    /// Opens the set that `storage` holds, or an empty one. It writes only if the journal is larger than the memory.
    ///
    /// Cost: reading the fences of each run, which are 1/500 of its size. If the last process was killed, there is also
    /// a journal to read, which takes 20 to 40 ns for each of its keys.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is damaged, missing, of a newer version, or hashed by another spec; [`Error::Store`]
    /// if the storage holds a store of another kind; [`Error::NoMemory`]; [`Error::Io`].
    pub fn open(storage: S, options: CascadeOptions) -> Result<Self> {
        Self::open_as(storage, options, Self::new_set(options))
    }

    /// The manifest of a new, empty set with these options; without a hash among them, the set gets one with a random
    /// seed.
    fn new_set(options: CascadeOptions) -> Manifest {
        let mut new = Manifest::new(StoreKind::Seen, options.hash.unwrap_or_else(HashSpec::random));
        new.form = options.form.unwrap_or_default();
        new
    }

    /// Opens the store that `storage` holds, which must be of the kind of `new`. If there is none, opens an empty store
    /// with the manifest `new`.
    fn open_as(storage: S, options: CascadeOptions, new: Manifest) -> Result<Self> {
        let (mut set, published) = Self::open_runs(storage, options, new)?;
        // All files that the manifest names exist, so any other run files are orphans. They are removed before the
        // journal is replayed, because the replay may publish a run under the name of an orphan.
        if let Some(mut published) = published {
            published.remove_orphans(&set.storage);
        }
        set.partial = false;
        set.replay()?;
        Ok(set)
    }

    /// Opens a set without its journal, whose keys may need much memory, to describe or verify its runs. The set can
    /// then be neither searched nor changed.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_published(storage: S, options: CascadeOptions) -> Result<Self> {
        Ok(Self::open_runs(storage, options, Self::new_set(options))?.0)
    }

    /// Opens the set without the keys of its journal. Returns it with the published state from which it was opened;
    /// `None` if storage holds no store yet.
    fn open_runs(storage: S, options: CascadeOptions, new: Manifest) -> Result<(Self, Option<Published<S::File>>)> {
        let mut published = Published::open(&storage, &[new.store])?;
        let (manifest, files, journal) = match &mut published {
            Some(published) => {
                (published.manifest.clone(), std::mem::take(&mut published.files), published.journal.take())
            }
            None => (new, vec![], None),
        };
        let expected = (options.hash.unwrap_or(manifest.hash), options.form.unwrap_or(manifest.form));
        check_keys(&storage.path(MANIFEST), (manifest.hash, manifest.form), expected)?;
        let open = |(entry, file)| open_run(&storage, entry, file, &manifest);
        let runs = manifest.runs.iter().zip(files).map(open).collect::<Result<_>>()?;
        let old_journal = match journal {
            Some(file) => Journal::of(file, &storage.path(JOURNAL), &manifest)?,
            None => None,
        };
        let memory = options.memory.max(CascadeOptions::MIN_MEMORY);
        let table = if manifest.window.is_some() { MemTable::dated() } else { MemTable::new() };
        let set = Self {
            storage,
            memory,
            manifest,
            saved: published.is_some(),
            stale: false,
            broken: false,
            partial: true,
            old_journal,
            replaying: false,
            journal: options.journal.then(|| JournalWriter::new(memory)).transpose()?,
            runs: Arc::new(runs),
            base: 0,
            shares: vec![Share::new(table)],
            ledger: None,
            prepared: 0,
            written: 0,
            hashes: vec![],
            is_new: vec![],
        };
        Ok((set, published))
    }

    /// The storage of the set's files.
    pub(crate) fn storage(&self) -> &S {
        &self.storage
    }

    /// The spec (algorithm and seed) by which all keys of the set were hashed, and by which keys must be hashed that
    /// are looked up or inserted.
    pub fn hash_spec(&self) -> HashSpec {
        self.manifest.hash
    }

    /// The number of keys, in RAM and on storage. In a set with a window, a key counts once for each run that has it,
    /// and once if it is in RAM; finding out how many are takes a pass over the table. Keys in shares that are lent do
    /// not count. If runs [share keys](Manifest::shares_keys), there are at most so many.
    pub fn len(&self) -> u64 {
        let in_memory = match self.manifest.window {
            Some(_) => self.shares.iter().map(|share| share.table.remembered(self.manifest.slice())).sum(),
            None => self.keys_in_memory(),
        };
        self.manifest.keys() + in_memory as u64
    }

    /// The number of keys in RAM. Keys of shares that are lent do not count.
    fn keys_in_memory(&self) -> usize {
        self.shares.iter().map(|share| share.table.len()).sum()
    }

    fn table_bytes(&self) -> usize {
        self.shares.iter().map(|share| share.table.bytes()).sum()
    }

    /// True if the set has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The runs, oldest first. In a set that was opened over another one, the runs of the other set come first.
    pub fn runs(&self) -> &[Run<S::File>] {
        &self.runs
    }

    /// The manifest of the store: its runs, how its keys were made and hashed, its window and its note. It does not
    /// count keys that are only in RAM or in the journal.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The memory that the set takes, in bytes, without shares that are lent.
    pub fn resident_bytes(&self) -> u64 {
        self.table_bytes() as u64 + self.run_bytes() + self.journal.as_ref().map_or(0, JournalWriter::bytes)
    }

    /// The bytes that were written to runs and to the journal since the set was opened.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Inserts keys, and appends to `new`, in any order, the indices of the keys that were not in the set. Among equal
    /// keys of a batch, only the first one is new.
    ///
    /// Keys of earlier calls may become durable during a call, but keys of the call itself do not.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Format`] if storage fails or is damaged; [`Error::NoMemory`]. Storage then holds the
    /// keys that it held before, and perhaps keys of earlier calls. Every later search or change of this value returns
    /// an error.
    ///
    /// # Panics
    /// If there are 2³² keys or more.
    pub fn insert_all(&mut self, keys: &[KeyHash], new: &mut Vec<u32>) -> Result<()> {
        self.begin(keys)?;
        self.insert_hashes(self.manifest.slice(), new)
    }

    /// Makes room for this many keys, which the next calls insert. Keys of earlier calls may become durable in this
    /// call, but no key does before all these keys were inserted.
    ///
    /// # Errors
    /// [`Error::Store`] if a share is lent, or after a failed write; those of writing a run or the journal.
    pub(crate) fn prepare(&mut self, keys: usize) -> Result<()> {
        self.check_usable()?;
        self.divide(1)?;
        self.make_room(&[keys])?;
        self.prepared = keys;
        Ok(())
    }

    /// Inserts keys without looking them up in the runs, and so without reading anything. A key that is also in a run
    /// is then in two levels, until these levels are merged.
    fn add_all(&mut self, keys: &[KeyHash], new: &mut Vec<u32>) -> Result<()> {
        self.begin(keys)?;
        new.clear();
        reserve(new, keys.len())?;
        self.add_hashes(new);
        Ok(())
    }

    /// Begins a batch: makes room in the table, and stores the hashes of the keys in `hashes`.
    fn begin(&mut self, keys: &[KeyHash]) -> Result<()> {
        assert!(u32::try_from(keys.len()).is_ok(), "batches are shorter than 2^32 keys");
        self.check_usable()?;
        self.divide(1)?;
        match self.prepared.checked_sub(keys.len()) {
            Some(left) => self.prepared = left,
            None => self.make_room(&[keys.len()])?,
        }
        self.take_hashes(keys)
    }

    /// Inserts `hashes` into the table of a set that is not split, which has room for them, and appends to `new` the
    /// indices of the hashes that the table did not have.
    fn add_hashes(&mut self, new: &mut Vec<u32>) {
        let before = new.len();
        self.shares[0].add(&self.hashes, new);
        self.note(&new[before..]);
    }

    /// Inserts `hashes` into a set that is not split, whose table has room for them, and appends to `new` the indices
    /// of the hashes that were not in the set. In a set with a window, the keys occur in slice `slice`.
    fn insert_hashes(&mut self, slice: u64, new: &mut Vec<u32>) -> Result<()> {
        let before = new.len();
        reserve(new, self.hashes.len())?;
        // After an error below, the set must not be used: a caller could not know which keys were inserted. Without
        // runs, there is no error.
        self.broken = !self.runs.is_empty();
        let levels = levels(&self.runs, &self.manifest, slice);
        let (fingerprints, replaying) = (self.manifest.fingerprints, self.replaying);
        let mut journal = self.journal.as_mut().filter(|_| !replaying);
        if let Some(journal) = journal.as_mut().filter(|_| self.manifest.window.is_some()) {
            journal.enter(slice, self.manifest.tick);
        }
        self.shares[0].insert(levels, slice, &self.hashes, new, |hash| {
            if let Some(journal) = &mut journal {
                journal.push_repeat(fingerprints.at(hash));
            }
        })?;
        self.note(&new[before..]);
        self.broken = false;
        Ok(())
    }

    /// Looks up a batch of keys. `out` is cleared first, and gets one answer for each key: true if it is in the set.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn contains_all(&mut self, keys: &[KeyHash], out: &mut Vec<bool>) -> Result<()> {
        self.check_usable()?;
        self.divide(1)?;
        self.take_hashes(keys)?;
        out.clear();
        let slice = self.manifest.slice();
        self.shares[0].contains_all(levels(&self.runs, &self.manifest, slice), slice, &self.hashes, out)
    }

    /// True if a key is in the set. Cost: a probe of the table, then at most one page of each run.
    ///
    /// # Errors
    /// Those of [`insert_all`](Self::insert_all).
    pub fn contains(&self, key: KeyHash) -> Result<bool> {
        self.check_usable()?;
        let hash = self.manifest.fingerprints.place_of(key);
        if self.shares[range_of(hash, self.shares.len())].knows(hash, self.manifest.slice()) {
            return Ok(true);
        }
        // The oldest run comes first, because it is the largest, and so most likely to have the key.
        let (earlier, present) = levels(&self.runs, &self.manifest, self.manifest.slice());
        for run in earlier.iter().chain(present) {
            if run.contains(hash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads every byte of every run and of the journal, and checks checksums, order and counts. In an exact set, also
    /// checks that no key is in two runs of the same slice (see [`Window`]), unless the manifest says that runs may
    /// share keys.
    ///
    /// # Errors
    /// [`Error::Format`] with the file and the offset of the first damage; [`Error::Io`].
    pub fn verify(&self) -> Result<()> {
        self.journal_keys()?;
        for run in &*self.runs {
            run.verify()?;
        }
        if self.manifest.store != StoreKind::Seen || self.manifest.shares_keys {
            return Ok(());
        }
        let (mut distinct, mut runs) = (0, self.runs.iter());
        for slice in self.manifest.runs.chunk_by(|a, b| a.slice == b.slice) {
            let mut merge = Merge::new(runs.by_ref().take(slice.len()).map(Run::reader).collect());
            loop {
                let keys = merge.next_keys()?;
                if keys.is_empty() {
                    break;
                }
                distinct += keys.len() as u64;
            }
        }
        if distinct != self.manifest.keys() {
            let file = self.storage.path(MANIFEST);
            return Err(FormatError { file, offset: 0, problem: Problem::Invalid("two runs share keys") }.into());
        }
        Ok(())
    }

    /// True if inserting this many keys would first make the keys of earlier calls durable. The caller must then make
    /// its own output for the earlier keys durable before it inserts.
    pub fn will_sync(&self, keys: usize) -> bool {
        if keys == 0 {
            return false;
        }
        let numbers = self.numbers_of(keys);
        let many_wait = self.journal.as_ref().is_some_and(|journal| !journal.has_room(numbers));
        let most = self.table_budget() / self.shares.len().max(1);
        let keys = if self.manifest.window.is_some() { self.keys_in_memory() / 4 + keys / 4 * 5 + 4 } else { keys };
        many_wait
            || self.has_long_journal()
            || self.keys_in_memory() > 0 && self.shares.iter().any(|share| !share.table.has_room(keys, most))
    }

    fn check_open(&self) -> Result<()> {
        if self.broken {
            return Err(self.refusal(StoreProblem::Failed));
        }
        if self.partial {
            return Err(self.refusal(StoreProblem::WithoutJournal));
        }
        Ok(())
    }

    /// Returns an error if the set cannot be searched or changed. Its journal may still be written.
    fn check_usable(&self) -> Result<()> {
        self.check_open()?;
        match self.ledger {
            Some(_) => Err(self.refusal(StoreProblem::Lent)),
            None => Ok(()),
        }
    }

    fn refusal(&self, problem: StoreProblem) -> Error {
        Error::store(self.storage.path(MANIFEST), problem)
    }

    fn take_hashes(&mut self, keys: &[KeyHash]) -> Result<()> {
        self.hashes.clear();
        reserve(&mut self.hashes, keys.len())?;
        let fingerprints = self.manifest.fingerprints;
        self.hashes.extend(keys.iter().map(|&key| fingerprints.place_of(key)));
        Ok(())
    }
}

/// Returns two lists of runs: those of the earlier slices that a window ending with `slice` has, and those of `slice`
/// itself.
fn levels<'a, F: ReadAt>(runs: &'a [Run<F>], manifest: &Manifest, slice: u64) -> Levels<'a, F> {
    if manifest.window.is_none() {
        return (&[], runs);
    }
    let before = |slice| manifest.runs.partition_point(|run| run.slice < slice);
    let (start, end) = (before(slice), manifest.runs.partition_point(|run| run.slice <= slice));
    (&runs[before(Window::oldest(manifest.slice())).min(start)..start], &runs[start..end])
}

/// Opens the file of a run, and checks that it is the one that the store's manifest names by `entry`.
///
/// # Errors
/// [`Error::Format`] if it is another file or another store's, or if its head is damaged; [`Error::Io`].
fn open_run<F: ReadAt>(
    storage: &impl Storage,
    entry: &RunEntry,
    file: impl Into<F>,
    manifest: &Manifest,
) -> Result<Run<F>> {
    let path = storage.path(&manifest.store.file_name(entry.number));
    let run = Run::open(file.into(), &path, manifest.hash)?;
    let is_named = run.seal() == entry.seal && run.len() == entry.keys;
    if !is_named || run.fingerprints() != manifest.fingerprints {
        return Err(FormatError { file: path, offset: 0, problem: Problem::OtherFile }.into());
    }
    Ok(run)
}
