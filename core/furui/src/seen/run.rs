use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Seen, SeenOptions, Verdict};
use crate::error::{Error, Result, StoreError, StoreProblem};
use crate::hash::{HashSpec, Hashes};
use crate::store::cascade::{Cascade, CascadeOptions, ExpectedNote};
use crate::store::{Directory, DiskFile, Note, Scratch, Storage};

/// A run over a set: it answers as the set would, and records nothing in it before [`commit`](Self::commit).
///
/// **A set must never know a key whose row is not committed.** Late is harmless: a row comes twice, or is repaired.
/// Early loses rows: a task that fails and is tried again finds its own keys in the set, and drops its rows. So a job
/// asks a run, writes its rows, commits them to where they belong, and then commits the run. A run that is dropped, or
/// whose process is killed, leaves the set as it was.
///
/// A run reads the set as it was published when the run was opened, with its journal, and adds its own keys to that
/// view. It holds no lock, so that any number of runs may be open beside a writer.
///
/// ```
/// use furui::seen::{Run, Seen};
///
/// # let path = std::env::temp_dir().join(format!("furui-doc-run-{}", std::process::id()));
/// let mut run = Run::open(&path)?;
/// assert!(run.insert("https://example.org/")?);
/// assert!(!run.insert("https://example.org/")?);
/// // Here the rows are written and committed. A second attempt after a failure would get the same answers.
/// drop(run);
///
/// let mut run = Run::open(&path)?;
/// assert!(run.insert("https://example.org/")?);
/// assert_eq!(run.commit(Some("day 1"), Default::default())?, 0);
/// assert_eq!(Seen::open(&path)?.note(), Some("day 1"));
/// # std::fs::remove_dir_all(path).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct Run<S: Storage = Scratch> {
    path: PathBuf,
    seen: Seen<S>,
    /// The note of a commit that ended with an error, and may have come to pass.
    attempt: Option<Note>,
}

/// The number of times that a run looks again for a set that another process is just making, and the pause between two
/// looks. A set is made by two syncs of files.
const CREATE_TRIES: u32 = 200;
const CREATE_PAUSE: Duration = Duration::from_millis(5);

impl Run {
    /// Opens a run over the set in a directory with the default [`SeenOptions`]. If there is no set yet, an empty one
    /// is made. What outgrows the memory is written to files without names in that directory.
    ///
    /// # Errors
    /// Those of [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(&path, Scratch::new(&path), SeenOptions::default())
    }
}

impl<S: Storage<File: From<DiskFile>>> Run<S> {
    /// Opens a run over the set in a directory; what outgrows the memory of the options is written to `temporary`,
    /// which must be empty. If there is no set yet, an empty one is made, with the hash and the form of the options.
    ///
    /// # Errors
    /// Those of [`Seen::open_with`]; [`StoreProblem::HasWindow`] if the set has a window.
    pub fn open_with(path: impl AsRef<Path>, temporary: S, options: SeenOptions) -> Result<Self> {
        let path = path.as_ref();
        create(path, options)?;
        let directory = Directory::open_read_only(path)?;
        let seen = Seen::open_over(&directory, temporary, options)?;
        Ok(Self { path: path.to_path_buf(), seen, attempt: None })
    }

    /// The spec (algorithm and seed) by which keys are hashed. A caller that hashes keys itself must use this spec.
    pub fn hash_spec(&self) -> HashSpec {
        self.seen.hash_spec()
    }

    /// The text of the note that the set had when the run was opened, or that the last commit of this run left in it.
    pub fn note(&self) -> Option<&str> {
        self.seen.note()
    }

    /// Adds a key to the run. True if neither the set nor the run had it. A single key costs much more than a key of a
    /// batch.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.seen.insert(key)
    }

    /// Adds keys to the run in batches. Returns the number of those that neither the set nor the run had.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn extend<K: AsRef<[u8]>>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<u64> {
        self.seen.extend(keys)
    }

    /// Adds keys to the run that were hashed by [`hash_spec`](Self::hash_spec), and says for each, in order, whether it
    /// is new. `verdicts` is cleared first.
    ///
    /// # Errors
    /// Those of [`Seen::observe_all`]: after one, the run must be opened again.
    pub fn observe_all(&mut self, keys: &Hashes, verdicts: &mut Vec<Verdict>) -> Result<()> {
        self.seen.observe_all(keys, verdicts)
    }

    /// True if the set or the run has a key. The run does not take the key.
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all).
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.seen.contains(key)
    }

    /// The number of the run's own keys: those that a commit would add.
    pub fn len(&self) -> u64 {
        self.seen.set().len()
    }

    /// True if the run has no keys of its own.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The set over which the run was opened, together with the run's own keys.
    pub fn seen(&self) -> &Seen<S> {
        &self.seen
    }

    /// The set over which the run was opened, together with the run's own keys, for calls that a run does not have.
    pub fn seen_mut(&mut self) -> &mut Seen<S> {
        &mut self.seen
    }

    /// Adds the run's keys and the note to the set, in one change of its manifest. Without a note, the set keeps the
    /// note that it has. Returns the number of the run's keys that others have recorded since the run was opened.
    ///
    /// The set is locked meanwhile. Afterwards the run is empty, over the set with these keys, and can be used again.
    /// After an error the run is unchanged, and the commit may be tried again: if it had come to pass after all, the
    /// second one changes nothing.
    ///
    /// # Errors
    /// [`StoreProblem::Locked`] if another process writes to the set; [`StoreProblem::OtherNote`] if the set's note is
    /// not `expected`; [`StoreProblem::NoteTooLong`]; [`Error::Io`] or [`Error::Format`].
    pub fn commit(&mut self, note: Option<&str>, expected: ExpectedNote<'_>) -> Result<u64> {
        let new = match note {
            Some(text) => match &self.attempt {
                Some(attempt) if attempt.text() == text => Some(attempt.clone()),
                _ => Some(Note::new(text).ok_or_else(|| {
                    Error::store(
                        self.path.display().to_string(),
                        StoreProblem::NoteTooLong { bytes: text.len(), most: Note::MAX_BYTES },
                    )
                })?),
            },
            None => None,
        };
        let options = CascadeOptions { memory: self.seen.options().memory, ..CascadeOptions::default() };
        let mut set = Cascade::open(Directory::open(&self.path)?, options)?;
        let is_done = self.attempt.is_some() && set.manifest().note == self.attempt && new == self.attempt;
        let known = if is_done {
            0
        } else {
            self.attempt.clone_from(&new);
            set.commit(self.seen.set().new_keys()?, new, expected)?
        };
        self.attempt = None;
        self.seen.set.end_base(set.manifest().note.clone())?;
        Ok(known)
    }
}

/// Makes an empty set in a directory that holds none.
fn create(path: &Path, options: SeenOptions) -> Result<()> {
    for _ in 0..CREATE_TRIES {
        match Directory::open_read_only(path).and_then(|directory| directory.manifest()) {
            Ok(_) => return Ok(()),
            Err(error) if error.is_not_found() => {}
            Err(Error::Store(StoreError {
                problem: StoreProblem::NoStore | StoreProblem::NothingRecorded, ..
            })) => {}
            Err(error) => return Err(error),
        }
        match Directory::open(path).and_then(|directory| Seen::open_with(directory, options)?.sync()) {
            Err(Error::Store(StoreError { problem: StoreProblem::Locked, .. })) => thread::sleep(CREATE_PAUSE),
            made => return made,
        }
    }
    Err(Error::store(path.display().to_string(), StoreProblem::Locked))
}
