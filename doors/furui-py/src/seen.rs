use std::path::PathBuf;
use std::sync::OnceLock;

use furui::error::StoreProblem;
use furui::format::Printable;
use furui::seen::{Cache, Run, Seen as Set, SeenCounters, SeenOptions, Verdict};
use furui::store::cascade;
use furui::store::shared::{PackRun, SharedManifest};
use furui::store::{Directory, Overlay, Scratch, Storage, Window, snapshot};
use furui::{Error, Hashes, KeyForm, KeyHash, KeyHasher};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::batch::{Column, Taken, hash_batch};
use crate::clock;
use crate::errors::{OrRaise, config, raise};
use crate::files::Files;
use crate::guard::Guarded;
use crate::hashed::{hash_of, too_short};
use crate::key::with_key;
use crate::options::{Made, Seconds, hash_text, memory_size, parse, parse_form};
use crate::packs::{Fetched, open_over};
use crate::shared::Store;

/// The number of keys of a batch that are looked up together. Larger parts cost less if keys are on storage.
const PART: usize = 1 << 16;
const PART_ON_STORAGE: usize = 1 << 19;

/// An exact set that remembers what it has seen, of any size: in memory, or in a directory across runs.
///
/// path: the directory of the set, which is created if it is missing. One process writes to it at a time. None: the set
///     exists as long as this object; keys that do not fit into memory are in temporary files.
/// memory: the memory of the set, in bytes or as in "64MiB", at least 1 MiB. Keys beyond it go to storage.
/// hash: how keys are hashed, as in "xxh3:0" (docs/python.md). None: as the existing set does, or XXH3 with a random
/// seed. like: another Seen or filter, or the path of one, whose hash this set takes, so that the two can be combined.
/// sync: after how many seconds new keys are durable at the latest. 0: when the call returns. None: at sync() and
/// close(). read_only: only look keys up, without the lock of the set, as it is when it is opened: keys that a writer
/// makes durable later are not found. window: remember only this many last keys (int),
/// or this long ("12h"). None: everything, or as the existing set does. form: how the program makes keys from its
/// records, in its own words. A set is refused if it was made by another form. cache: for a set in a bucket, as in
/// "s3://bucket/urls.seen", which takes read_only=True: a folder that keeps what was fetched (see furui.cloud).
///
/// Two keys with equal 64-bit hashes are one key. Among n keys, n**2 / 2**65 are expected to be mistaken for another.
///
/// Raises LockedError if another process or object writes to the set, DamageError if a file is damaged, ConfigError if
/// an argument is invalid or the set was made otherwise.
#[pyclass(frozen, weakref, subclass, module = "furui")]
pub struct Seen {
    set: Guarded<Opened>,
    path: Option<PathBuf>,
    hasher: KeyHasher,
    form: KeyForm,
    /// The figures of the set when it was closed.
    last: OnceLock<Figures>,
    /// True if keys are durable when a call returns.
    is_immediate: bool,
    is_read_only: bool,
    counts_time: bool,
}

/// An open set, and lists that calls reuse.
pub struct Opened {
    kind: Kind,
    key: Hashes,
    verdicts: Vec<Verdict>,
}

/// What becomes of the keys of an open set.
pub enum Kind {
    /// The keys are written to the directory of the set.
    Stored(Set<Files>),
    /// The keys are forgotten: the set has no directory, or takes no keys.
    Temporary(Set<Files>),
    /// The set is that of a bucket, and takes no keys: all are in the runs over which it was opened.
    Lent(Set<Files>),
    /// The keys are added to the set in the directory by a commit.
    Run(Run<Files>),
}

impl Kind {
    fn set_mut(&mut self) -> &mut Set<Files> {
        match self {
            Self::Stored(set) | Self::Temporary(set) | Self::Lent(set) => set,
            Self::Run(run) => run.seen_mut(),
        }
    }
}

impl Store for Opened {
    fn sync(&mut self) -> furui::Result<()> {
        match &mut self.kind {
            Kind::Stored(set) => {
                // A new set is recorded even if it is empty, so that others can read it.
                let is_new = set.set().manifest().generation() == 0;
                if is_new || set.unsynced() + set.unsynced_repeats() > 0 { set.sync() } else { Ok(()) }
            }
            Kind::Temporary(_) | Kind::Lent(_) | Kind::Run(_) => Ok(()),
        }
    }

    fn close(&mut self) -> furui::Result<()> {
        match &mut self.kind {
            Kind::Stored(set) => set.publish(),
            Kind::Temporary(_) | Kind::Lent(_) | Kind::Run(_) => Ok(()),
        }
    }
}

impl Opened {
    pub fn new(kind: Kind, hasher: &KeyHasher) -> Self {
        Self { kind, key: Hashes::new(hasher), verdicts: vec![] }
    }

    pub fn set(&self) -> &Set<Files> {
        match &self.kind {
            Kind::Stored(set) | Kind::Temporary(set) | Kind::Lent(set) => set,
            Kind::Run(run) => run.seen(),
        }
    }

    fn set_mut(&mut self) -> &mut Set<Files> {
        self.kind.set_mut()
    }

    /// The run (`furui.Run`) that this object stands for; `None` if it stands for a set.
    pub fn run(&mut self) -> Option<&mut Run<Files>> {
        match &mut self.kind {
            Kind::Run(run) => Some(run),
            Kind::Stored(_) | Kind::Temporary(_) | Kind::Lent(_) => None,
        }
    }

    /// Records the keys of a batch. Returns for each key whether it is new.
    fn observe(&mut self, keys: &Hashes, is_timed: bool) -> furui::Result<Vec<bool>> {
        let mut new = vec![];
        reserve(&mut new, keys.len())?;
        if is_timed {
            self.tell_time();
        }
        let mut done = 0;
        while done < keys.len() {
            self.key.clear();
            let part = keys.len().min(done + self.part());
            keys.as_slice()[done..part].iter().for_each(|&key| self.key.push_hash(key));
            self.observe_key()?;
            new.extend(self.verdicts.iter().map(|&verdict| verdict == Verdict::New));
            done = part;
        }
        Ok(new)
    }

    /// Records one key. Returns true if it is new.
    fn observe_one(&mut self, key: KeyHash) -> furui::Result<bool> {
        self.key.clear();
        self.key.push_hash(key);
        self.observe_key()?;
        Ok(self.verdicts[0] == Verdict::New)
    }

    /// Records the hashes in `key`, and leaves the verdicts on them in `verdicts`.
    fn observe_key(&mut self) -> furui::Result<()> {
        self.kind.set_mut().observe_all(&self.key, &mut self.verdicts)
    }

    /// The number of keys. In the set of a bucket there are at most so many, because its runs may share keys.
    fn len(&self) -> u64 {
        match &self.kind {
            Kind::Lent(set) => set.set().runs().iter().map(cascade::Run::len).sum(),
            _ => self.set().set().len(),
        }
    }

    fn part(&self) -> usize {
        if self.is_on_storage() { PART_ON_STORAGE } else { PART }
    }

    /// True if the set has runs on storage, so that a look-up may read them.
    fn is_on_storage(&self) -> bool {
        !self.set().set().runs().is_empty()
    }

    fn tell_time(&mut self) {
        self.set_mut().set_time(clock::now());
    }
}

fn reserve(list: &mut Vec<bool>, keys: usize) -> furui::Result<()> {
    list.try_reserve(keys).map_err(|_| Error::NoMemory { what: "the answers of a batch", bytes: keys })
}

#[pymethods]
impl Seen {
    #[new]
    #[pyo3(signature = (
        path=None, *, memory=None, hash=None, like=None, sync=Some(Seconds::ONE), read_only=false, window=None, form=None,
        cache=None
    ), text_signature = "(path=None, *, memory='64MiB', hash=None, like=None, sync=1.0, read_only=False, window=None, form=None, cache=None)")]
    #[expect(clippy::too_many_arguments, reason = "they are the keyword arguments of the class")]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        memory: Option<&Bound<'_, PyAny>>,
        hash: Option<&str>,
        like: Option<&Bound<'_, PyAny>>,
        sync: Option<Seconds>,
        read_only: bool,
        window: Option<&Bound<'_, PyAny>>,
        form: Option<&str>,
        cache: Option<PathBuf>,
    ) -> PyResult<Self> {
        if let Some(url) = path.as_ref().and_then(|path| path.to_str()).filter(|path| path.contains("://")) {
            if !read_only {
                return Err(config(py, "a set in a bucket takes keys by furui.cloud.Run: open it with read_only=True"));
            }
            let memory = memory.map_or(Ok(64 << 20), memory_size)?;
            return Self::open_url(py, url, cache, memory, form);
        }
        let made = Made::read(py, hash, like)?;
        let form = match form {
            Some(text) => parse_form(text)?,
            None => made.form.unwrap_or_default(),
        };
        let memory = memory.map_or(Ok(64 << 20), memory_size)?;
        let window = window.map(|window| parse(window, str::parse)).transpose()?;
        let cache = if read_only { Cache::None } else { Cache::Recent };
        let options = SeenOptions { memory, hash: made.hash, form: Some(form), cache, ..SeenOptions::default() };
        if read_only && path.is_none() {
            return Err(config(py, "read_only needs the path of a set"));
        }
        let is_stored = path.is_some() && !read_only;
        let options = SeenOptions { journal: is_stored, ..options };
        let set = py.detach(|| {
            let files = match &path {
                None => Files::temporary(),
                Some(path) if read_only => {
                    let scratch = Scratch::new(std::env::temp_dir());
                    Files::Lent(Overlay::new(Directory::open_read_only(path)?, scratch))
                }
                Some(path) => Files::Stored(Directory::open(path)?),
            };
            match window {
                Some(window) => Set::open_window(files, options, window),
                // An existing set keeps its window.
                None => Set::open_with(files, options),
            }
        });
        let set = set.or_raise(py)?;
        let hasher = set.hash_spec().hasher();
        let window = set.set().manifest().window;
        let counts_time = matches!(window, Some(Window::Milliseconds(_)));
        let kind = if is_stored { Kind::Stored(set) } else { Kind::Temporary(set) };
        let interval = sync.map(|Seconds(interval)| interval).filter(|_| is_stored);
        let is_immediate = interval.is_some_and(|interval| interval.is_zero());
        let interval = interval.filter(|interval| !interval.is_zero());
        let mut set = Guarded::new(Opened::new(kind, &hasher), interval)?;
        if is_stored && let Some(path) = &path {
            set = set.locks(py, path);
        }
        let last = OnceLock::new();
        Ok(Self { set, path, hasher, form, last, is_immediate, is_read_only: read_only, counts_time })
    }

    /// Record a key. Return True if it is new.
    ///
    /// key: str, bytes, int from -2**63 to 2**64 - 1, uuid.UUID or None. "a" and b"a" are one key.
    /// hashed: the key is a 64-bit hash itself: an int, or bytes of which the first eight count, such as a digest, also
    ///     one in hexadecimal digits. docs/python.md says how it is mixed. A str is refused.
    #[pyo3(signature = (key, *, hashed=false))]
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>, hashed: bool) -> PyResult<bool> {
        let key = self.hash_one(key, hashed)?;
        self.check_writable(py)?;
        if self.is_immediate || self.counts_time {
            return self.set.detached(py, |opened| {
                if self.counts_time {
                    opened.tell_time();
                }
                let is_new = opened.observe_one(key)?;
                if self.is_immediate {
                    opened.sync()?;
                }
                Ok(is_new)
            });
        }
        let in_memory = self.set.with(py, |opened| {
            let will_write = || opened.set().will_sync(1);
            if opened.is_on_storage() || will_write() {
                return Ok(None);
            }
            opened.observe_one(key).map(Some).or_raise(py)
        })?;
        in_memory.map_or_else(|| self.set.detached(py, |opened| opened.observe_one(key)), Ok)
    }

    /// Record the keys of a batch. Return for each, in order, whether it is new.
    ///
    /// batch: a list, tuple or iterable of keys; a numpy array of bytes, text, integers or objects; a pandas or Polars
    ///     Series; an Arrow array, stream, or table of one column. A null is a key of its own, the same as None, and so
    ///     are NaN, pandas.NA, NaT and what numpy has masked.
    /// hashed: the keys are 64-bit hashes themselves, as in add().
    ///
    /// The answer is a list for a list or an iterable, a numpy array for numpy and pandas, a Polars Series or a pyarrow
    /// Array for these, and otherwise an Answers, which is an Arrow array. If the batch holds a value that is no key,
    /// TypeError is raised, which names its type and index, and no key is recorded.
    #[pyo3(signature = (batch, *, hashed=false))]
    fn add_many<'py>(&self, batch: &Bound<'py, PyAny>, hashed: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = batch.py();
        self.check_writable(py)?;
        let keys = hash_batch(batch, &self.hasher, hashed)?;
        let new = self.set.detached(py, |opened| {
            let new = opened.observe(&keys, self.counts_time)?;
            if self.is_immediate {
                opened.sync()?;
            }
            Ok(new)
        })?;
        Column::Bools(new).into_kind_of(batch)
    }

    /// Look up the keys of a batch. Return for each, in order, True if it was recorded. The arguments are those of
    /// add_many().
    #[pyo3(signature = (batch, *, hashed=false))]
    fn has_many<'py>(&self, batch: &Bound<'py, PyAny>, hashed: bool) -> PyResult<Bound<'py, PyAny>> {
        let keys = hash_batch(batch, &self.hasher, hashed)?;
        let found = self.set.detached(batch.py(), |opened| {
            let mut found = vec![];
            opened.set_mut().contains_hashes(&keys, &mut found)?;
            Ok(found)
        })?;
        Column::Bools(found).into_kind_of(batch)
    }

    /// Return True if a key was recorded. The arguments are those of add().
    #[pyo3(signature = (key, *, hashed=false))]
    fn has(&self, py: Python<'_>, key: &Bound<'_, PyAny>, hashed: bool) -> PyResult<bool> {
        let key = self.hash_one(key, hashed)?;
        let in_memory = self.set.with(py, |opened| {
            let is_on_storage = opened.is_on_storage();
            let found = || opened.set().set().contains(key).or_raise(py);
            if is_on_storage { Ok(None) } else { found().map(Some) }
        })?;
        in_memory.map_or_else(|| self.set.detached(py, |opened| opened.set().set().contains(key)), Ok)
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.has(py, key, false)
    }

    /// Return the number of keys. With a window, a key counts once in each sixteenth of the window in which it came.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.set.with(py, |opened| Ok(opened.len() as usize))
    }

    /// Remove a key from the set and from its files. Return True if it was there.
    ///
    /// Cost: all files of the set are read and written once; discard_many() removes any number of keys at that cost.
    #[pyo3(signature = (key, *, hashed=false))]
    fn discard(&self, py: Python<'_>, key: &Bound<'_, PyAny>, hashed: bool) -> PyResult<bool> {
        let mut keys = Hashes::new(&self.hasher);
        keys.push_hash(self.hash_one(key, hashed)?);
        Ok(self.remove(py, &keys)? > 0)
    }

    /// Remove the keys of a batch from the set and from its files. Return how many were there.
    #[pyo3(signature = (batch, *, hashed=false))]
    fn discard_many(&self, batch: &Bound<'_, PyAny>, hashed: bool) -> PyResult<u64> {
        self.remove(batch.py(), &hash_batch(batch, &self.hasher, hashed)?)
    }

    /// Make all recorded keys durable: they survive a crash of the process or of the machine.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.set.detached(py, Opened::sync)
    }

    /// Make all keys durable, release the lock, and free the memory. A closed set raises ValueError, except for
    /// stats(), which has the figures of the end.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(last) = self.set.close(py, |opened| figures(opened.set()))? {
            // One call closes the set, so there are no earlier figures.
            let _is_first = self.last.set(last);
        }
        Ok(())
    }

    /// Copy the set as it is now to a new directory, by hard links where possible. The copy is a set of its own.
    fn snapshot(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Some(from) = self.path.as_ref() else {
            return Err(config(py, "a set without a path has no files to copy: open it with a path"));
        };
        self.set.detached(py, |opened| {
            opened.sync()?;
            snapshot(from, path)
        })
    }

    /// Return figures of the set: `len`, the number of keys; `keys`, `new` and `repeats`, the numbers of keys that were
    /// added, of new ones and of repeats since it was opened; `runs`, the number of files, and `bytes`, their size;
    /// `unsynced`, the number of keys that are not durable yet. Files are written when the memory is full, and by
    /// close(): after it, these are the figures of the end.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (counters, length, runs, bytes, unsynced) = match self.last.get() {
            Some(last) => *last,
            None => self.set.with(py, |opened| Ok(figures(opened.set())))?,
        };
        let stats = PyDict::new(py);
        stats.set_item("len", length)?;
        stats.set_item("keys", counters.keys)?;
        stats.set_item("new", counters.new)?;
        stats.set_item("repeats", counters.repeats())?;
        stats.set_item("runs", runs)?;
        stats.set_item("bytes", bytes)?;
        stats.set_item("unsynced", unsynced)?;
        Ok(stats)
    }

    /// The directory of the set, or None.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// The hash function of the keys and its seed, as in "xxh3:0x7".
    #[getter]
    fn hash(&self) -> String {
        hash_text(self.hasher.spec())
    }

    /// The form in which the program that filled the set makes keys from its records. It is empty if a record is its
    /// own key.
    #[getter]
    fn form(&self) -> String {
        self.form.to_string()
    }

    /// The note that the last commit left in the set, or None.
    #[getter]
    fn note(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.set.with(py, |opened| Ok(opened.set().note().map(str::to_owned)))
    }

    /// True after close().
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.set.is_closed(py)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        self.close(py)?;
        Ok(false)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Seen cannot be pickled or copied: each copy would remember only what it has seen itself, and report the \
             keys of the others as new. Open one Seen in one process and send it the keys, or give each worker the keys \
             of its own share (by their hash) and a path of its own",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let place =
            self.path.as_ref().map_or("in memory".to_owned(), |path| format!("in {}", Printable(path.display())));
        if self.closed(py) {
            return format!("<furui.Seen {place}, closed>");
        }
        let length = self.__len__(py).map_or("?".to_owned(), |length| length.to_string());
        format!("<furui.Seen {place}, {length} keys>")
    }
}

impl Seen {
    /// A run over the set in a directory.
    pub fn of_run(run: Run<Files>, path: PathBuf, form: KeyForm) -> PyResult<Self> {
        let hasher = run.hash_spec().hasher();
        let set = Guarded::new(Opened::new(Kind::Run(run), &hasher), None)?;
        Ok(Self::without_sync(set, Some(path), hasher, form, false))
    }

    /// Opens a set that has the keys of runs of packs, each of them given by its name, its open file and its entry.
    /// Keys that are added to it go to temporary files, and not to the packs. `memory` bounds its memory in bytes.
    pub fn over(
        shared: &SharedManifest,
        files: Vec<(String, <Files as Storage>::File, PackRun)>,
        memory: u64,
    ) -> furui::Result<Set<Files>> {
        let options = SeenOptions { memory, ..SeenOptions::default() };
        Set::open_over_packs(shared, files, Files::temporary(), options)
    }

    /// A set over the runs of packs, which is called `path` in errors.
    pub fn of_packs(set: Set<Files>, path: PathBuf, form: KeyForm, is_read_only: bool) -> PyResult<Self> {
        let hasher = set.hash_spec().hasher();
        let kind = if is_read_only { Kind::Lent(set) } else { Kind::Temporary(set) };
        let set = Guarded::new(Opened::new(kind, &hasher), None)?;
        let path = is_read_only.then_some(path);
        Ok(Self::without_sync(set, path, hasher, form, is_read_only))
    }

    /// The directory of the set; `None` if it has none.
    pub fn directory(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// Opens the set in a bucket at its present state.
    fn open_url(py: Python<'_>, url: &str, cache: Option<PathBuf>, memory: u64, form: Option<&str>) -> PyResult<Self> {
        let fetched = py.import("furui._bucket")?.getattr("fetched")?.call1((url, cache))?;
        let (manifest, files, folder): (Vec<u8>, Vec<Fetched>, Bound<'_, PyAny>) = fetched.extract()?;
        let seen = open_over(py, &manifest, url.into(), files, memory, true);
        // Files that are open stay readable when their folder is gone.
        folder.call_method0("cleanup")?;
        let seen = seen?;
        match form {
            Some(form) if parse_form(form)? != seen.form => {
                Err(config(py, format!("{url}: its keys are made by {:?}, not by {form:?}", seen.form.to_string())))
            }
            _ => Ok(seen),
        }
    }

    /// A set whose keys become durable by no call of its own.
    fn without_sync(
        set: Guarded<Opened>,
        path: Option<PathBuf>,
        hasher: KeyHasher,
        form: KeyForm,
        is_read_only: bool,
    ) -> Self {
        let last = OnceLock::new();
        Self { set, path, hasher, form, last, is_immediate: false, is_read_only, counts_time: false }
    }

    /// The open set, whose lock no call holds meanwhile.
    pub fn opened(&self) -> &Guarded<Opened> {
        &self.set
    }

    fn hash_one(&self, key: &Bound<'_, PyAny>, is_hash: bool) -> PyResult<KeyHash> {
        if !is_hash {
            return with_key(key, |bytes| self.hasher.hash(bytes));
        }
        Taken::Hashes
            .with(key, |bytes| hash_of(bytes).ok_or(bytes.len()))?
            .map_err(|length| too_short(key.py(), length))
    }

    fn remove(&self, py: Python<'_>, keys: &Hashes) -> PyResult<u64> {
        self.check_writable(py)?;
        let made = SeenOptions { hash: Some(self.hasher.spec()), form: Some(self.form), ..SeenOptions::default() };
        let options = SeenOptions { cache: Cache::None, ..made };
        let path = || self.path.as_ref().map_or(String::new(), |path| path.display().to_string());
        self.set.detached(py, |opened| {
            if opened.run().is_some() {
                return Err(Error::store(path(), StoreProblem::ReadOnly));
            }
            let mut gone = Set::open_with(Files::temporary(), options)?;
            gone.observe_all(keys, &mut opened.verdicts)?;
            opened.set_mut().remove_all(&gone)
        })
    }

    fn check_writable(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_read_only {
            return Ok(());
        }
        let path = self.path.as_ref().map_or(String::new(), |path| path.display().to_string());
        Err(raise(py, Error::store(path, StoreProblem::ReadOnly)))
    }
}

/// What `stats()` tells: the counters, and the numbers of keys, of runs, of bytes in runs, and of keys that are not
/// durable yet.
type Figures = (SeenCounters, u64, usize, u64, usize);

fn figures(set: &Set<Files>) -> Figures {
    let cascade = set.set();
    let bytes = cascade.manifest().runs.iter().map(|run| run.seal.length).sum();
    (*set.counters(), cascade.len(), cascade.runs().len(), bytes, set.unsynced() + set.unsynced_repeats())
}
