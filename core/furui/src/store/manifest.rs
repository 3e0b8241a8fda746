use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

use super::{FilterHash, Fingerprints, Layout, MANIFEST, Note, Purpose, ReadAt, Storage, StoreKind, Taken, Window};
use crate::error::{Error, Result, StoreProblem};
use crate::format::field::{array_at, u16_at, u32_at, u64_at};
use crate::format::{Align, Envelope, EnvelopeWriter, FormatError, Kind, Problem, ReadError, Seal, Tag};
use crate::hash::{HashSpec, KeyForm};

/// The maximum number of runs of a store. It bounds the memory that an invalid manifest takes.
pub const MAX_RUNS: usize = 4096;

const META: Tag = Tag::new(*b"META");
const META_LEN: usize = 32;
const META_GENERATION: usize = 8;
const META_NEXT_FILE: usize = 16;
const META_RUN_COUNT: usize = 24;
const META_LAYOUT: usize = 26;
const META_FILTER_HASH: usize = 27;
/// The offset in the section `META` of a field that depends on the kind of store: the next id of a dictionary of bytes,
/// or the mark of a journal; 0 in other dictionaries.
const META_EXTRA: usize = 28;

const RUNS: Tag = Tag::new(*b"RUNS");
const RUN_LEN: usize = 32;
const RUN_KEYS: usize = 8;
const RUN_FILE_LEN: usize = 16;
const RUN_CHECKSUM: usize = 24;

const RATE: Tag = Tag::new(*b"RATE");
const RATE_LEN: usize = 16;
const RATE_LAST: usize = 8;

const NOTE: Tag = Tag::new(*b"NOTE");
const NUMBERS: Tag = Tag::new(*b"NUMB");
const JOURNAL_TAG: Tag = Tag::new(*b"JRNL");
const JOURNAL_LEN: usize = 8;

const WINDOW: Tag = Tag::new(*b"WIND");
const WINDOW_HEAD: usize = 24;
const WINDOW_TICK: usize = 8;
const WINDOW_UNIT: usize = 16;
const WINDOW_RESERVED: usize = 20;
const SLICE_LEN: usize = 8;

/// The small file that names the kind of a store and the files that it consists of.
///
/// A file belongs to a store only if the manifest names it, and the manifest is replaced atomically. So a store goes
/// from one state to the next in one step, however many files change. This order makes a change safe:
///
/// 1. publish the new runs, under numbers from [`take_number`](Self::take_number);
/// 2. [`save`](Self::save) a manifest that names the new runs, and no longer the runs that they replace;
/// 3. remove the files that are no longer named.
///
/// A crash before step 2 leaves new files that the manifest does not name, and a crash after it leaves old ones:
/// opening the store for writing removes both. A new store saves its empty manifest before any other file, so that runs
/// without a manifest are known to be a damaged store and not a new one.
///
/// ```
/// use furui::HashSpec;
/// use furui::store::{Manifest, Memory, StoreKind};
///
/// let storage = Memory::new();
/// let mut manifest = Manifest::new(StoreKind::Seen, HashSpec::default());
/// manifest.save(&storage)?;
/// assert_eq!(Manifest::load(&storage)?, Some(manifest));
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// What the store holds: a set, a cascade filter, or a dictionary of numbers or of bytes.
    pub store: StoreKind,
    /// The spec by which the keys of all runs were hashed.
    pub hash: HashSpec,
    /// The runs, oldest first. The runs of a dictionary are its tries.
    pub runs: Vec<RunEntry>,
    /// The next id of a dictionary of bytes, which is greater than the ids of all values. 0 in other stores.
    pub next_id: u32,
    /// The set of numbers that a dictionary of numbers has ever held. It is empty in other stores.
    pub taken: Taken,
    /// The layout of a dictionary's tries; the default in other stores.
    pub layout: Layout,
    /// The hash of the filters of a dictionary's tries; the default in other stores.
    pub filter_hash: FilterHash,
    /// The mark of the journal that belongs to this state of a set or of a cascade filter; 0 in a dictionary.
    pub journal: u32,
    /// The number of bytes of the journal that were durable when this manifest was made; 0 if the journal was not begun
    /// by then. A journal that is missing or ends before that byte is damaged.
    pub journal_bytes: u64,
    /// The range of the fingerprints that the runs hold: whole hashes in a set, shorter numbers in a cascade filter.
    pub fingerprints: Fingerprints,
    /// The number of keys that a cascade filter was made for; 0 in other stores.
    pub capacity: u64,
    /// The form of the keys: the way in which they were made from records, according to the program that inserted them.
    pub form: KeyForm,
    /// The part of the stream that a set remembers. `None` if it remembers all keys.
    pub window: Option<Window>,
    /// The latest tick to which a set with a window was advanced; 0 in other stores.
    pub tick: u64,
    /// True if a key of a set may be in several runs, so that [`keys`](Self::keys) may be greater than the number of
    /// different keys. Such runs were added to the set without being read; a merge of all runs ends it.
    pub shares_keys: bool,
    /// The note of the last commit to a set; `None` if none had a note.
    pub note: Option<Note>,
    generation: u64,
    next_file: u64,
}

/// An entry for a run in the manifest.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::{Manifest, Memory, ReadAt};
///
/// let memory = Memory::new();
/// let mut seen = Seen::open_with(memory.clone(), SeenOptions::default())?;
/// seen.extend(["a", "b"])?;
/// seen.sync()?;
/// let manifest = Manifest::load(&memory)?.expect("a store");
/// let run = manifest.runs[0];
/// assert_eq!(run.keys, 2);
/// assert_eq!(run.open(&memory, manifest.store)?.len(), run.seal.length);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// The number in the name of the run's file.
    pub number: u64,
    /// The number of keys in the run, which its file states, too.
    pub keys: u64,
    /// The length and the checksum that identify the run's file.
    pub seal: Seal,
    /// The slice of the [`Window`] in which the run's keys occurred; 0 in a store without a window.
    pub slice: u64,
}

impl RunEntry {
    /// Opens the run's file, which must exist and have at least its length. The caller compares the
    /// [`seal`](Self::seal) to find out whether it is the right file.
    ///
    /// # Errors
    /// [`Error::Format`] if the file is missing or too short; [`Error::Io`].
    pub fn open<S: Storage>(&self, storage: &S, store: StoreKind) -> Result<S::File> {
        let name = store.file_name(self.number);
        let error = |offset, problem| FormatError { file: storage.path(&name), offset, problem };
        let file = match storage.open(&name) {
            Err(missing) if missing.is_not_found() => return Err(error(0, Problem::Missing).into()),
            opened => opened?,
        };
        let Seal { length: expected, .. } = self.seal;
        let found = file.len();
        if found < expected {
            return Err(error(found, Problem::Truncated { expected, found }).into());
        }
        Ok(file)
    }
}

impl Manifest {
    /// The manifest of a new store, without runs. It is not saved yet. For a cascade filter, the caller must set the
    /// [`fingerprints`](Self::fingerprints) and the [`capacity`](Self::capacity) before it saves the manifest.
    pub fn new(store: StoreKind, hash: HashSpec) -> Self {
        let mut new = Self {
            store,
            hash,
            runs: Vec::new(),
            next_id: 0,
            taken: Taken::default(),
            layout: Layout::default(),
            filter_hash: FilterHash::default(),
            journal: 0,
            journal_bytes: 0,
            fingerprints: Fingerprints::EXACT,
            capacity: 0,
            form: KeyForm::default(),
            window: None,
            tick: 0,
            shares_keys: false,
            note: None,
            generation: 0,
            next_file: 0,
        };
        if store.purpose().is_none() {
            new.end_journal();
        }
        new
    }

    /// Draws a new mark at random, so that an existing journal, which has the old mark, does not belong to the store
    /// any more. The runs must hold all keys of that journal.
    pub(super) fn end_journal(&mut self) {
        let old = self.journal;
        self.journal_bytes = 0;
        while self.journal == old {
            // A new RandomState has random keys. No other journal is likely to have this mark.
            self.journal = RandomState::new().hash_one(old) as u32;
        }
    }

    /// Reads the manifest of a store. `None` if there is no store yet.
    ///
    /// # Errors
    /// [`Error::Format`] if the manifest is damaged, or if it is missing but other files of a store exist;
    /// [`Error::Io`].
    pub fn load<S: Storage>(storage: &S) -> Result<Option<Self>> {
        let path = storage.path(MANIFEST);
        let open = || match storage.open(MANIFEST) {
            Err(missing) if missing.is_not_found() => Ok(None),
            opened => opened.map(Some),
        };
        let has_parts = || Ok::<_, Error>(storage.list()?.iter().any(|name| StoreKind::is_any_part(name)));
        let file = match open()? {
            // A store has a manifest before it has other files. A writer may have created both since the first look.
            None if has_parts()? => match open()? {
                None => return Err(FormatError { file: path, offset: 0, problem: Problem::Missing }.into()),
                found => found,
            },
            found => found,
        };
        Ok(file.map(|file| Self::decode(&file, &path)).transpose()?)
    }

    /// Reads the manifest as [`load`](Self::load) does, and checks that the store is of one of these kinds.
    ///
    /// # Errors
    /// Those of [`load`](Self::load); [`Error::Store`] if the store is of another kind.
    pub(crate) fn load_kind<S: Storage>(storage: &S, stores: &[StoreKind]) -> Result<Option<Self>> {
        let manifest = Self::load(storage)?;
        match &manifest {
            Some(Self { store: found, .. }) if !stores.contains(found) => {
                let expected = stores.first().map_or("", |store| store.what());
                let problem = StoreProblem::OtherKind { found: found.what(), expected };
                Err(Error::store(storage.path(MANIFEST), problem))
            }
            _ => Ok(manifest),
        }
    }

    /// Replaces the manifest of the store by this one, atomically and durably, and increments the generation by one.
    ///
    /// # Errors
    /// [`Error::Store`] if there are more than [`MAX_RUNS`] runs, or if the fields contradict each other;
    /// [`Error::Io`]: the store's manifest is then either the old one or this one.
    pub fn save<S: Storage>(&mut self, storage: &S) -> Result<()> {
        let path = storage.path(MANIFEST);
        self.check().map_err(|(_, problem)| Error::store(path.as_str(), StoreProblem::Manifest(problem)))?;
        self.generation = self.generation.saturating_add(1);
        self.shares_keys &= self.runs.len() > 1;
        storage.publish(MANIFEST, |out| {
            self.encode(out).map(drop).map_err(|source| Error::io("cannot write", path, source))
        })
    }

    /// The number of times that the manifest of this store was saved.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of keys of all runs together. If runs [share keys](Self::shares_keys), there are at most so many.
    pub fn keys(&self) -> u64 {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.keys))
    }

    /// The number of the present slice: the part of the window to which `tick` belongs. 0 without a window.
    pub fn slice(&self) -> u64 {
        self.window.map_or(0, |window| window.slice_of(self.tick))
    }

    /// The number of runs that hold keys of the present slice of the window: the newest runs or, without a window, all
    /// of the runs.
    pub(super) fn present_runs(&self) -> usize {
        let slice = self.slice();
        self.runs.iter().rev().take_while(|run| run.slice == slice).count()
    }

    /// Returns a number for the file of a new run, larger than that of every earlier run.
    ///
    /// # Errors
    /// [`Error::Store`] after 2⁶⁴ - 1 files.
    pub fn take_number(&mut self) -> Result<u64> {
        let number = self.next_file;
        self.next_file = number.checked_add(1).ok_or_else(|| Error::store(MANIFEST, StoreProblem::NoFileNumberLeft))?;
        Ok(number)
    }

    /// The run files in `storage` that this manifest does not name, because a crash left them. Files that are not named
    /// like runs do not count.
    ///
    /// # Errors
    /// [`Error::Format`] if a file has a number that was not given out yet: then this is an older manifest of the
    /// store, and the files that it does not name may hold keys of the store. [`Error::Io`].
    pub(crate) fn orphans<S: Storage>(&self, storage: &S) -> Result<Vec<String>> {
        let named: BTreeSet<u64> = self.runs.iter().map(|run| run.number).collect();
        let mut orphans = Vec::new();
        for name in storage.list()? {
            let Some(number) = self.store.number_of(&name).filter(|number| !named.contains(number)) else { continue };
            // A crash leaves at most one run: the one that was being added.
            if number > self.next_file {
                let problem = Problem::Invalid("it is older than the other files of its store");
                return Err(FormatError { file: storage.path(MANIFEST), offset: 0, problem }.into());
            }
            orphans.push(name);
        }
        Ok(orphans)
    }

    /// Writes the manifest's file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn encode(&self, out: impl Write) -> io::Result<Seal> {
        let mut out = EnvelopeWriter::new(out, Kind::Manifest, self.hash)?;
        out.section(META, Align::Line)?;
        out.write_all(&self.store.bytes())?;
        out.write_all(&self.generation.to_le_bytes())?;
        out.write_all(&self.next_file.to_le_bytes())?;
        out.write_all(&(self.runs.len() as u16).to_le_bytes())?;
        out.write_all(&[self.layout.code() | u8::from(self.shares_keys), self.filter_hash.polynomials()])?;
        let extra = match self.store {
            StoreKind::Dict(_) => self.next_id,
            StoreKind::Seen | StoreKind::Filter => self.journal,
        };
        out.write_all(&extra.to_le_bytes())?;
        out.section(RUNS, Align::Line)?;
        for run in &self.runs {
            for field in [run.number, run.keys, run.seal.length, run.seal.checksum] {
                out.write_all(&field.to_le_bytes())?;
            }
        }
        if self.store == StoreKind::Filter {
            out.section(RATE, Align::Line)?;
            out.write_all(&self.capacity.to_le_bytes())?;
            out.write_all(&self.fingerprints.last().to_le_bytes())?;
        }
        if let Some(window) = self.window {
            out.section(WINDOW, Align::Line)?;
            out.write_all(&window.ticks().to_le_bytes())?;
            out.write_all(&self.tick.to_le_bytes())?;
            out.write_all(&window.code().to_le_bytes())?;
            out.write_all(&[0; WINDOW_HEAD - WINDOW_RESERVED])?;
            for run in &self.runs {
                out.write_all(&run.slice.to_le_bytes())?;
            }
        }
        if self.taken != Taken::default() {
            out.section(NUMBERS, Align::Line)?;
            out.write_all(&self.taken.to_bytes())?;
        }
        if let Some(note) = &self.note {
            out.section(NOTE, Align::Line)?;
            out.write_all(&note.to_bytes())?;
        }
        if self.journal_bytes > 0 {
            out.section(JOURNAL_TAG, Align::Line)?;
            out.write_all(&self.journal_bytes.to_le_bytes())?;
        }
        out.key_form(&self.form)?;
        out.finish()
    }

    /// Reads every byte of a manifest's file, which is called `name` in errors. Takes at most [`MAX_RUNS`] × 40 bytes
    /// of memory.
    ///
    /// # Errors
    /// [`ReadError::Format`] for all bytes that [`encode`](Self::encode) cannot have written.
    pub fn decode(file: &(impl ReadAt + ?Sized), name: &str) -> std::result::Result<Self, ReadError> {
        let envelope = Envelope::open(file, name)?;
        envelope.expect_kind(Kind::Manifest)?;
        envelope.expect_sections(&[META, RUNS], &[RATE, WINDOW, NUMBERS, NOTE, JOURNAL_TAG])?;
        let (meta_at, runs_at) = (envelope.section(META)?.offset, envelope.section(RUNS)?.offset);
        // The offset and the bytes of a section that not every manifest has.
        let optional = |tag, most| match envelope.section(tag) {
            Ok(section) => Ok(Some((section.offset, envelope.read_section(file, tag, most)?))),
            Err(_) => Ok::<_, ReadError>(None),
        };
        let meta = envelope.read_section(file, META, META_LEN)?;
        if meta.len() != META_LEN {
            return Err(envelope.error(meta_at, Problem::Invalid("the section META has a wrong length")).into());
        }
        let runs = envelope.read_section(file, RUNS, MAX_RUNS * RUN_LEN)?;
        if runs.len() != usize::from(u16_at(&meta, META_RUN_COUNT)) * RUN_LEN {
            let at = meta_at + META_RUN_COUNT as u64;
            return Err(envelope.error(at, Problem::Invalid("the number of runs does not fit their section")).into());
        }
        let rate = optional(RATE, RATE_LEN)?;
        let window = optional(WINDOW, WINDOW_HEAD + MAX_RUNS * SLICE_LEN)?;
        let taken = match optional(NUMBERS, Taken::MAX_BYTES)? {
            Some((at, bytes)) => Taken::from_bytes(&bytes)
                .filter(|taken| *taken != Taken::default())
                .ok_or_else(|| envelope.error(at, Problem::Invalid("the section NUMB is invalid")))?,
            None => Taken::default(),
        };
        let note = match optional(NOTE, Note::MAX_SECTION)? {
            Some((at, bytes)) => {
                let note = Note::from_bytes(&bytes);
                Some(note.ok_or_else(|| envelope.error(at, Problem::Invalid("the section NOTE is invalid")))?)
            }
            None => None,
        };
        let journal_bytes = match optional(JOURNAL_TAG, JOURNAL_LEN)? {
            Some((at, bytes)) => {
                let bytes = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).filter(|&bytes| bytes > 0);
                bytes.ok_or_else(|| envelope.error(at, Problem::Invalid("the section JRNL is invalid")))?
            }
            None => 0,
        };
        let form = envelope.key_form(file)?;
        envelope.verify(file)?;

        let store = array_at(&meta, 0);
        let store = StoreKind::from_bytes(store).ok_or_else(|| {
            let kind = store.escape_ascii().to_string();
            envelope.error(meta_at, Problem::UnknownStore(kind))
        })?;
        let extra = u32_at(&meta, META_EXTRA);
        let (next_id, journal) = match store {
            StoreKind::Dict(_) => (extra, 0),
            StoreKind::Seen | StoreKind::Filter => (0, extra),
        };
        let (capacity, fingerprints) = match (store, rate) {
            (StoreKind::Filter, Some((at, rate))) if rate.len() == RATE_LEN => {
                let last = u64_at(&rate, RATE_LAST);
                let invalid =
                    || envelope.error(at + RATE_LAST as u64, Problem::Invalid("the last fingerprint is invalid"));
                (u64_at(&rate, 0), Fingerprints::new(last).ok_or_else(invalid)?)
            }
            (StoreKind::Seen | StoreKind::Dict(_), None) => (0, Fingerprints::EXACT),
            _ => {
                return Err(envelope
                    .error(
                        meta_at,
                        Problem::Invalid("the section RATE is missing, wrong, or in a store that has no rate"),
                    )
                    .into());
            }
        };
        // In a set, the byte that names the layout of a dictionary tells whether runs may share keys.
        let (shares_keys, layout) = match (store, meta[META_LAYOUT]) {
            (StoreKind::Seen, 1) if runs.len() > RUN_LEN => (true, 0),
            (_, layout) => (false, layout),
        };
        let layout = Layout::from_code(layout);
        let filter_hash = FilterHash::of_polynomials(meta[META_FILTER_HASH]);
        let (layout, filter_hash) = layout
            .zip(filter_hash)
            .filter(|&of| store.purpose().is_some() || of == Default::default())
            .filter(|&(layout, filter_hash)| filter_hash.fits(layout))
            .ok_or_else(|| {
                let problem = Problem::Invalid("its dictionary has a layout or filters of an unknown kind");
                envelope.error(meta_at + META_LAYOUT as u64, problem)
            })?;
        let mut runs: Vec<RunEntry> = runs.chunks_exact(RUN_LEN).map(run_of).collect();
        let (window, tick) = match window {
            Some((at, bytes)) => {
                let (window, tick) = window_of(&bytes, &mut runs)
                    .ok_or_else(|| envelope.error(at, Problem::Invalid("the section WIND is invalid")))?;
                (Some(window), tick)
            }
            None => (None, 0),
        };
        let manifest = Self {
            store,
            hash: envelope.hash(),
            runs,
            next_id,
            taken,
            layout,
            filter_hash,
            journal,
            journal_bytes,
            fingerprints,
            capacity,
            form,
            window,
            tick,
            shares_keys,
            note,
            generation: u64_at(&meta, META_GENERATION),
            next_file: u64_at(&meta, META_NEXT_FILE),
        };
        manifest
            .check()
            .map_err(|(run, problem)| envelope.error(runs_at + (run * RUN_LEN) as u64, Problem::Invalid(problem)))?;
        Ok(manifest)
    }

    /// Checks rules that every manifest obeys, before it is written and after it was read. An error names the index of
    /// a run and the problem.
    fn check(&self) -> std::result::Result<(), (usize, &'static str)> {
        if self.runs.len() > MAX_RUNS {
            return Err((MAX_RUNS, "there are more than 4096 runs: compact the store"));
        }
        let purpose = self.store.purpose();
        if self.next_id != 0 && purpose != Some(Purpose::Bytes) {
            return Err((0, "it counts ids of values, and its store has none"));
        }
        if self.taken != Taken::default() && purpose != Some(Purpose::Numbers) {
            return Err((0, "it lists assigned numbers, and its store assigns none"));
        }
        if self.journal_bytes > 0 && purpose.is_some() {
            return Err((0, "it has a journal, and a dictionary has none"));
        }
        let has_rate = self.capacity > 0 && !self.fingerprints.is_exact();
        if has_rate != (self.store == StoreKind::Filter) {
            return Err((0, "capacity and rate do not fit the kind of the store"));
        }
        if self.window.is_some() && self.store != StoreKind::Seen || self.window.is_none() && self.tick != 0 {
            return Err((0, "it has a window or its time, and its store has no window"));
        }
        if (self.note.is_some() || self.shares_keys) && self.store != StoreKind::Seen {
            return Err((0, "a note, or runs that share keys, in a store that is no set"));
        }
        let mut numbers = BTreeSet::new();
        let mut keys: u64 = 0;
        let mut slice = 0;
        for (index, run) in self.runs.iter().enumerate() {
            if !numbers.insert(run.number) {
                return Err((index, "two runs have the same file number"));
            }
            if run.number >= self.next_file {
                return Err((index, "a run has a file number that was never given out"));
            }
            keys = keys.checked_add(run.keys).ok_or((index, "its runs have more than 2^64 keys"))?;
            if run.slice < slice || run.slice > self.slice() {
                return Err((index, "the slice of a run is out of order or in the future"));
            }
            slice = run.slice;
        }
        Ok(())
    }
}

fn run_of(entry: &[u8]) -> RunEntry {
    RunEntry {
        number: u64_at(entry, 0),
        keys: u64_at(entry, RUN_KEYS),
        seal: Seal { length: u64_at(entry, RUN_FILE_LEN), checksum: u64_at(entry, RUN_CHECKSUM) },
        slice: 0,
    }
}

/// Reads the section `WIND`: returns the window and the tick, and sets the slice of each of `runs`. `None` if the
/// section is invalid.
fn window_of(bytes: &[u8], runs: &mut [RunEntry]) -> Option<(Window, u64)> {
    let slices = bytes.get(WINDOW_HEAD..).filter(|slices| slices.len() == runs.len() * SLICE_LEN)?;
    for (run, slice) in runs.iter_mut().zip(slices.chunks_exact(SLICE_LEN)) {
        run.slice = u64_at(slice, 0);
    }
    let window = Window::from_code(u32_at(bytes, WINDOW_UNIT), u64_at(bytes, 0))?;
    (u32_at(bytes, WINDOW_RESERVED) == 0).then_some((window, u64_at(bytes, WINDOW_TICK)))
}
