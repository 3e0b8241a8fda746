//! Commits: new keys are added to a set, with a note, in one change of its manifest.

use std::cell::Cell;
use std::fmt;
use std::io::Write;

use super::room::{fill_to, reserve};
use super::{Cascade, Merge, Run, RunWriter, Share, SortedSource, WrittenRun, policy};
use crate::error::{Error, Result, StoreProblem};
use crate::format::{FormatError, Problem, ReadAt};
use crate::hash::{HashSpec, KeyForm};
use crate::store::{MANIFEST, Note, Storage};

/// Keys that are to be added to a set by a [commit](Cascade::commit), in the order of their hashes, with the hash and
/// the form by which they were made.
///
/// ```
/// use furui::seen::{Seen, SeenOptions};
/// use furui::store::Memory;
/// use furui::store::cascade::{Cascade, CascadeOptions, ExpectedNote};
///
/// let store = Memory::new();
/// let mut set = Cascade::open(store.clone(), CascadeOptions::default())?;
/// set.sync()?;
/// let mut run = Seen::open_over(&store, Memory::new(), SeenOptions::default())?;
/// run.insert("a")?;
/// assert_eq!(run.set().new_keys()?.len(), 1);
/// assert_eq!(set.commit(run.set().new_keys()?, None, ExpectedNote::Any)?, 0);
/// assert_eq!(set.len(), 1);
/// # Ok::<(), furui::Error>(())
/// ```
pub struct NewKeys<'a> {
    pub(super) count: u64,
    pub(super) sources: Vec<Box<dyn SortedSource + 'a>>,
    pub(super) hash: HashSpec,
    pub(super) form: KeyForm,
}

impl<'a> NewKeys<'a> {
    /// All keys of one file of a run.
    pub(crate) fn of_run<F: ReadAt>(run: &'a Run<F>, form: KeyForm) -> Self {
        Self { count: run.len(), sources: vec![Box::new(run.reader())], hash: run.hash(), form }
    }

    /// All keys of several files of runs, which were hashed by this spec; records are their own keys.
    pub fn of_runs<F: ReadAt>(hash: HashSpec, runs: &'a [Run<F>]) -> Self {
        let count = runs.iter().map(Run::len).sum();
        let sources = runs.iter().map(|run| Box::new(run.reader()) as Box<dyn SortedSource>).collect();
        Self { count, sources, hash, form: KeyForm::default() }
    }

    /// Writes the keys to `out` as the file of a run, which also says their form.
    ///
    /// # Errors
    /// Those of reading the sources and of writing to `out`.
    pub(crate) fn write(self, out: &mut dyn Write, name: &str) -> Result<WrittenRun> {
        let mut writer = RunWriter::new(out, name, self.hash, self.count)?.with_form(self.form);
        let mut keys = Merge::new(self.sources);
        while let some @ [_, ..] = keys.next_keys()? {
            writer.push(some)?;
        }
        writer.finish()
    }

    /// The spec by which the keys were hashed.
    pub(crate) fn hash(&self) -> HashSpec {
        self.hash
    }

    /// The keys as sorted sources, which a merge with others makes into one run.
    pub(crate) fn into_sources(self) -> Vec<Box<dyn SortedSource + 'a>> {
        self.sources
    }

    /// The number of keys. Keys of several parts that were [joined](Self::join) count once for each part.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// True if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the keys of another part, so that one commit takes both.
    ///
    /// # Errors
    /// [`Error::Store`] if the keys were made in another form; [`Error::Format`] if they were hashed by another spec.
    pub fn join(&mut self, other: Self) -> Result<()> {
        check_keys(MANIFEST, (other.hash, other.form), (self.hash, self.form))?;
        self.count = self.count.saturating_add(other.count);
        self.sources.extend(other.sources);
        Ok(())
    }
}

impl fmt::Debug for NewKeys<'_> {
    /// Shows the number of keys, but not the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKeys").field("len", &self.count).field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// The note that a set must have before a [commit](Cascade::commit), which fails if another commit came first.
///
/// ```
/// use furui::KeyHash;
/// use furui::store::cascade::{Cascade, CascadeOptions, ExpectedNote};
/// use furui::store::{Memory, Note};
///
/// let mut set = Cascade::open(Memory::new(), CascadeOptions::default())?;
/// let run = Cascade::open(Memory::new(), CascadeOptions { hash: Some(set.hash_spec()), ..Default::default() })?;
/// set.commit(run.new_keys()?, Note::new("day 1"), ExpectedNote::None)?;
/// assert!(set.commit(run.new_keys()?, Note::new("day 1"), ExpectedNote::None).is_err());
/// set.commit(run.new_keys()?, Note::new("day 2"), ExpectedNote::Text("day 1"))?;
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectedNote<'a> {
    /// Any note, or none.
    #[default]
    Any,
    /// No note: none of the earlier commits had one.
    None,
    /// A note with this text.
    Text(&'a str),
}

impl ExpectedNote<'_> {
    fn is(self, found: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::None => found.is_none(),
            Self::Text(expected) => found == Some(expected),
        }
    }
}

impl<S: Storage> Cascade<S> {
    /// The keys of this set, to add them to another set by [`commit`](Self::commit): in a set that was opened over
    /// another one, those that the other one did not have.
    ///
    /// # Errors
    /// [`Error::Store`] if the set has a window or lacks its journal, or if a change failed.
    pub fn new_keys(&self) -> Result<NewKeys<'_>> {
        self.check_usable()?;
        self.check_whole()?;
        let mut sources = vec![];
        self.push_sources(&mut sources);
        Ok(NewKeys { count: self.len(), sources, hash: self.manifest.hash, form: self.manifest.form })
    }

    /// Adds keys in one change of the manifest: after a crash, the set has all of them and the note, or none of them
    /// and its old note. Without a note, the set keeps the note that it has. Returns the number of the keys that the
    /// set had already: others have recorded them since the keys were found to be new.
    ///
    /// Cost: the keys are looked up in all runs in one forward pass, and written once, in a run that is merged with the
    /// newest runs as the keys of a table are.
    ///
    /// # Errors
    /// [`StoreProblem::OtherNote`] if the note of the set is not `expected`, [`Error::Format`] or
    /// [`StoreProblem::OtherForm`] if the keys were made in another way, and [`StoreProblem::HasWindow`]: nothing has
    /// changed then. [`Error::Io`], or [`Error::Format`] if a file is damaged: the set must be opened again, and
    /// [`Note::commit`] tells whether the change came to pass.
    pub fn commit(&mut self, keys: NewKeys<'_>, note: Option<Note>, expected: ExpectedNote<'_>) -> Result<u64> {
        self.check_usable()?;
        self.check_whole()?;
        check_keys(&self.storage.path(MANIFEST), (keys.hash, keys.form), (self.manifest.hash, self.manifest.form))?;
        let found = self.manifest.note.as_ref().map(Note::text);
        if !expected.is(found) {
            return Err(self.refusal(StoreProblem::OtherNote { found: found.map(str::to_owned) }));
        }
        self.divide(1)?;
        if note.is_some() {
            (self.manifest.note, self.stale) = (note, true);
        }
        let known = Cell::new(0);
        if keys.count > 0 {
            let sizes: Vec<u64> = self.manifest.runs.iter().map(|run| run.keys).collect();
            let more = self.keys_in_memory() as u64 + keys.count;
            self.spill_with(policy::runs_to_merge(&sizes, more), Some((keys, &known)))?;
        }
        self.publish()?;
        Ok(known.get())
    }
}

/// Returns an error, which names `file`, if keys of this hash and form do not belong into a set that expects others.
pub(crate) fn check_keys(file: &str, found: (HashSpec, KeyForm), expected: (HashSpec, KeyForm)) -> Result<()> {
    if found.0 != expected.0 {
        let problem = Problem::OtherHash { found: found.0, expected: expected.0 };
        return Err(FormatError { file: file.to_owned(), offset: 0, problem }.into());
    }
    if found.1 != expected.1 {
        let problem = StoreProblem::OtherForm { found: found.1.into(), expected: expected.1.into() };
        return Err(Error::store(file.to_owned(), problem));
    }
    Ok(())
}

/// Sorted keys without those that a set has.
pub(super) struct Absent<'a, F> {
    keys: Merge<Box<dyn SortedSource + 'a>>,
    runs: &'a [Run<F>],
    shares: &'a [Share<F>],
    /// The keys of the current piece that the set does not have. The first `next` of them are consumed.
    piece: Vec<u64>,
    next: usize,
    found: Vec<bool>,
    /// The number of keys so far that the set has.
    known: &'a Cell<u64>,
}

impl<'a, F: ReadAt> Absent<'a, F> {
    pub(super) fn new(
        keys: Vec<Box<dyn SortedSource + 'a>>,
        runs: &'a [Run<F>],
        shares: &'a [Share<F>],
        known: &'a Cell<u64>,
    ) -> Self {
        Self { keys: Merge::new(keys), runs, shares, piece: vec![], next: 0, found: vec![], known }
    }
}

impl<F: ReadAt> SortedSource for Absent<'_, F> {
    fn fill(&mut self) -> Result<&[u64]> {
        while self.next == self.piece.len() {
            let keys = self.keys.next_keys()?;
            self.piece.clear();
            self.next = 0;
            if keys.is_empty() {
                break;
            }
            reserve(&mut self.piece, keys.len())?;
            self.piece.extend_from_slice(keys);
            self.found.clear();
            fill_to(&mut self.found, self.piece.len(), false)?;
            for run in self.runs {
                run.contains_sorted(&self.piece, &mut self.found)?;
            }
            let all = self.piece.len();
            let (shares, mut found) = (self.shares, self.found.iter());
            self.piece
                .retain(|&key| found.next() == Some(&false) && !shares.iter().any(|share| share.table.contains(key)));
            self.known.set(self.known.get() + (all - self.piece.len()) as u64);
        }
        Ok(&self.piece[self.next..])
    }

    fn consume(&mut self, count: usize) {
        self.next += count;
    }
}
