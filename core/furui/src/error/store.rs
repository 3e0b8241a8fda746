use std::fmt;

use crate::format::Printable;
use crate::hash::KeyForm;
use crate::window::Window;

/// An error of opening or changing a store, with its path and the problem.
///
/// ```
/// use furui::Error;
/// use furui::seen::Seen;
///
/// # let dir = std::env::temp_dir().join(format!("furui-store-error-{}", std::process::id()));
/// # let dir = dir.as_path();
/// let _first = Seen::open(dir)?;
/// let Err(Error::Store(error)) = Seen::open(dir) else { panic!("two writers of one store") };
/// assert_eq!(error.path, dir.display().to_string());
/// assert!(error.to_string().ends_with("wait for it to end, or use another directory"));
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// The store's directory, or the file in it that has the problem.
    pub path: String,
    /// The problem with the store or the file, from which the caller sees what to do.
    pub problem: StoreProblem,
}

/// The reasons why a store cannot be opened or changed.
///
/// ```
/// use furui::Error;
/// use furui::error::StoreProblem;
/// use furui::store::Directory;
///
/// # let dir = std::env::temp_dir().join(format!("furui-store-problem-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let empty = dir.as_path();
/// match Directory::open_read_only(empty)?.manifest() {
///     Err(Error::Store(error)) => assert_eq!(error.problem, StoreProblem::NoStore),
///     other => panic!("an empty directory is no store: {other:?}"),
/// }
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreProblem {
    /// Another process has the store open for writing.
    Locked,
    /// The lock file, which keeps other writers out, was removed or replaced.
    LockLost,
    /// The store was opened for reading only.
    ReadOnly,
    /// Another process has replaced the manifest, although this process has the lock.
    Overwritten,
    /// The manifest was replaced again and again by other processes while the files that it names were being opened.
    Unsettled {
        /// The number of attempts to open the files.
        tries: u32,
    },
    /// An earlier change failed, and its effect on storage is not known.
    Failed,
    /// The store was opened without its journal, so the keys in the journal are missing.
    WithoutJournal,
    /// Shares of the set are lent to other threads, or they have taken keys whose verdicts are void after an error.
    Lent,
    /// The path leads to a file, not to a directory.
    NotADirectory,
    /// The directory holds files that belong to no store.
    Foreign,
    /// The target directory of a copy already holds a store, or a part of one.
    Occupied,
    /// The directory holds no store.
    NoStore,
    /// The directory was made for a store, but nothing is recorded in it yet.
    NothingRecorded,
    /// The directory holds a store of another kind.
    OtherKind {
        /// The kind of the store that the directory holds.
        found: &'static str,
        /// The kind of store that was to be opened.
        expected: &'static str,
    },
    /// The dictionary was made with another value of an option that cannot be changed later.
    OtherMade {
        /// The name of the option, as in [`DictOptions`](crate::dict::DictOptions).
        option: &'static str,
        /// The value that the option had when the dictionary was made.
        found: &'static str,
        /// The value of the option with which it was to be opened.
        expected: &'static str,
    },
    /// The keys of the store were made from records in another way.
    OtherForm {
        /// The form of the store's keys.
        found: Box<KeyForm>,
        /// The form of keys that the caller expected.
        expected: Box<KeyForm>,
    },
    /// The window of the set is not the one with which it was to be opened: the set remembers a different part of the
    /// stream.
    OtherWindow {
        /// The window of the set; `None` if it remembers all keys.
        found: Option<Window>,
        /// The window with which the set was to be opened.
        expected: Window,
    },
    /// The note of the set is not the one after which the commit was to come: another commit came first.
    OtherNote {
        /// The note's text; `None` if the set has no note.
        found: Option<String>,
    },
    /// The text of a note is longer than [`Note::MAX_BYTES`](crate::store::Note::MAX_BYTES).
    NoteTooLong {
        /// The length of the text in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        most: usize,
    },
    /// The set forgets keys, so it cannot be combined with others or exported, and there are no runs over it.
    HasWindow {
        /// The window of the set.
        window: Window,
    },
    /// The tries of a dictionary with this layout cannot have filters with this hash.
    NoSuchFilters {
        /// The layout, by its [name](crate::store::Layout::name).
        layout: &'static str,
        /// The name of the filter hash, which tries of this layout cannot have.
        filter_hash: &'static str,
    },
    /// The name of a file is not valid in a store.
    Name(String),
    /// The storage does not outlive the process, so it cannot have a log.
    NoLog,
    /// A manifest contradicts itself, and was not written.
    Manifest(&'static str),
    /// The store has already used all numbers that it has for files.
    NoFileNumberLeft,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable(format_args!("{}: {}", self.path, self.problem)).fmt(f)
    }
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Locked => "in use by another process; wait for it to end, or use another directory",
            Self::LockLost => {
                "its file LOCK was removed or replaced, so that another process may be writing here; nothing more is \
                 written: open it again"
            }
            Self::ReadOnly => "opened for reading only; open it for writing to change it",
            Self::Overwritten => {
                "another process wrote it, although this one has the lock; nothing was written: open the store again"
            }
            Self::Unsettled { tries } => {
                return write!(f, "replaced {tries} times while the files it names were opened; try again");
            }
            Self::Failed => "an earlier change failed: open the store again",
            Self::WithoutJournal => "opened without its journal, for reading only: open the whole store",
            Self::Lent => "parts of the set are in use, or have failed: give all of them back, or open the store again",
            Self::NotADirectory => "this is a file, not the directory of a store; name another path",
            Self::Foreign => "holds other files and is not a store; name an empty or a new directory",
            Self::Occupied => "holds a store, or a part of a copy that was cut short; name a new or an empty directory",
            Self::NoStore => "not a store: it has no MANIFEST; name the directory of a store",
            Self::NothingRecorded => {
                "nothing is recorded here yet: the first run is at work, had no input, or was killed before it recorded \
                 anything; wait for it to end, or run it again"
            }
            Self::OtherKind { found, expected } => {
                return write!(f, "this is {found}, not {expected}; name another directory");
            }
            Self::OtherMade { option, found, expected } => {
                return write!(
                    f,
                    "made with {option} {found}, which is fixed, not {expected}: omit the option, or make a new store"
                );
            }
            Self::OtherForm { found, expected } => {
                let said = |form: &KeyForm| match form.is_empty() {
                    true => "whole records".to_owned(),
                    false => Printable(form).to_string(),
                };
                return write!(
                    f,
                    "its keys are made by {}, not by {}: make them in the same way, or open it without naming a form",
                    said(found),
                    said(expected)
                );
            }
            Self::OtherWindow { found, expected } => {
                let found = found.map_or_else(|| "all keys".to_owned(), |window| format!("a window of {window}"));
                return write!(
                    f,
                    "remembers {found}, which is fixed, not a window of {expected}: give no window, or make a new store"
                );
            }
            Self::OtherNote { found: None } => {
                "has no note, so that it is not the set after which the commit was to come: ask a new run, and commit it"
            }
            Self::OtherNote { found: Some(found) } => {
                return write!(
                    f,
                    "its note is {found:?}, because another commit came first: ask a new run, and commit it"
                );
            }
            Self::NoteTooLong { bytes, most } => {
                return write!(f, "a note of {bytes} bytes, where at most {most} fit: shorten it");
            }
            Self::HasWindow { window } => {
                return write!(f, "remembers only a window of {window}: use a set that remembers all its keys");
            }
            Self::NoSuchFilters { layout, filter_hash } => {
                return write!(
                    f,
                    "a dictionary of layout {layout} has no filters of hash {filter_hash}: ask for one-state, or for layout louds"
                );
            }
            Self::Name(name) => return write!(f, "{name:?} is not valid as the name of a file here"),
            Self::NoLog => "temporary files cannot keep a log; use a directory",
            Self::Manifest(problem) => return write!(f, "{problem}; nothing was written"),
            Self::NoFileNumberLeft => "all numbers for files have been used: copy the store to a new one",
        })
    }
}

impl std::error::Error for StoreError {}
