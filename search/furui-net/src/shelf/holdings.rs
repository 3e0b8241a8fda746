use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use furui::dict::{Dict, DictOptions};
use furui::filter::ConfigError;
use furui::store::{Directory, Memory};
use furui::{Error, Result};
use furui_search::{ContentId, WordPostings, limits};

use redb::WriteTransaction;

use super::bounds::Bounded;
use super::change::Change;
use super::fault::{Fault, Outcome};
use super::origins::{OWN, Origins};
use super::place::Place;
use super::publications::{Publications, Standings, not_withdrawn};
use super::recent::Recent;
use super::resolver::{Bringing, Resolver};
use super::tables::{JOURNAL, ORIGINS, Tables, Totals};
use super::{Brought, MAX_CHANGE, MAX_RECORD, Runs, ShelfOptions};

/// The name of the database's file in the directory of a shelf.
pub(super) const DATABASE: &str = "shelf.redb";
/// The name of the directory, in that of a shelf, with the dictionary of words.
pub(super) const WORDS: &str = "words";

/// The storage of a node: for each word the ids of the documents that contain it, and the records of documents, on disk
/// or in memory.
///
/// ```text
///   store ──> journal (durable) ──> recent, in memory ── full? ──> lists of document numbers,
///                                      │                           documents, blocks of records
///   slice <── sorted run of ids <──────┴── a cache, bounded ──────────┘
/// ```
///
/// Documents are numbered in the order of their arrival, so that a posting needs one or two bytes instead of twenty; a
/// [`Dict`] numbers the words. Each call of `store` writes one row of a journal. The contents of the journal are also
/// kept in memory, where they can be queried at once. When the journal has reached a certain size, the tables are
/// updated in one transaction, list by list, so that each page of the database is written once for many postings.
/// Records are compressed together in blocks of a few pages.
///
/// An expired document is kept until [`expire`](Self::expire) is called.
///
/// # What is kept
///
/// When [`store`](Self::store) returns, its additions are durable: they survive a crash of the process or of the
/// machine. After a failed change, the shelf accepts no more changes until it is opened again.
#[derive(Debug)]
pub struct Shelf {
    pub(super) tables: Tables,
    pub(super) words: Dict<Place>,
    pub(super) totals: Totals,
    pub(super) origins: Origins,
    pub(super) bounded: Bounded,
    pub(super) recent: Recent,
    pub(super) runs: Runs,
    pub(super) options: ShelfOptions,
    /// The number that the next row of the journal gets.
    sequence: u64,
    /// The number of records that were withdrawn since the shelf was opened.
    pub(super) withdrawals: u64,
    pub(super) whole: bool,
    /// The reason that a change failed; `None` if none has failed.
    fault: Option<String>,
    /// True if the failure may pass, because the disk was full or the process had too many open files.
    may_pass: bool,
    pub(super) directory: Option<PathBuf>,
    /// The block of records that was read last, decompressed.
    pub(super) buffer: Vec<u8>,
}

/// The numbers of what a call of [`Shelf::store`] has stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The number of postings and records that were stored and that the shelf did not have.
    pub new: u64,
    /// The approximate size in bytes of new postings and records of documents that another origin had brought first.
    pub foreign: u64,
}

impl Shelf {
    /// Opens the shelf in a directory, or creates one: the file `shelf.redb` and the directory `words` in it. Other
    /// files in the directory are not touched.
    ///
    /// # Errors
    /// [`StoreProblem::Locked`](furui::error::StoreProblem::Locked) if another process has it open; [`Error::Config`]
    /// if another version wrote it; [`Error::Io`] or [`Error::Format`], with the name of the file, if it cannot be read
    /// or written, or is damaged.
    pub fn open(directory: &Path, options: ShelfOptions) -> Result<Self> {
        // The directory of the words is opened first, because this also creates the directory around it and acquires
        // the lock.
        let words = Place::Directory(Directory::open(directory.join(WORDS))?);
        Self::new(words, Some(directory), options)
    }

    /// Makes an empty shelf in memory.
    ///
    /// # Errors
    /// No error is expected.
    pub fn in_memory(options: ShelfOptions) -> Result<Self> {
        Self::new(Place::Memory(Memory::new()), None, options)
    }

    fn new(words: Place, directory: Option<&Path>, options: ShelfOptions) -> Result<Self> {
        let words = Dict::open_with(words, DictOptions::default())?;
        let file = directory.map(|directory| directory.join(DATABASE));
        let (tables, totals) = Tables::open(file.as_deref(), options.page_bytes)?;
        let origins =
            tables.origins().and_then(|table| Origins::read(&table)).map_err(|fault| fault.at(tables.file()))?;
        let mut shelf = Self {
            recent: Recent::new(totals.next_document),
            runs: Runs::new(options.cached_bytes),
            sequence: 0,
            withdrawals: 0,
            whole: false,
            fault: None,
            may_pass: false,
            directory: directory.map(Path::to_owned),
            buffer: vec![],
            options,
            tables,
            words,
            totals,
            origins,
            bounded: Bounded::default(),
        };
        shelf.recover().map_err(|fault| fault.at(shelf.tables.file()))?;
        Ok(shelf)
    }

    /// Reads the journal, and applies its changes in memory.
    fn recover(&mut self) -> Outcome<()> {
        if self.words.next_id() < self.totals.next_word {
            return Err(Fault::Damaged(format!(
                "damaged: it has postings of {} words, and the directory {WORDS:?} beside it knows {}; both belong together",
                self.totals.next_word,
                self.words.next_id()
            )));
        }
        for (sequence, row) in self.tables.journal()? {
            let change = Change::decode(&row).ok_or_else(|| Fault::damaged("journal", sequence))?;
            // Words are restored first, in the order of their numbers: a word that is missing in the dictionary gets
            // its number again.
            for (word, number) in &change.words {
                if self.words.number(word.as_bytes()).map_err(Fault::Other)? != *number {
                    return Err(Fault::damaged("journal", sequence));
                }
            }
            let counts = (&mut self.totals, &mut self.origins);
            self.recent.apply(change, self.tables.view()?, counts, &mut self.runs)?;
            self.sequence = sequence + 1;
        }
        Ok(())
    }

    /// Stores postings (for each word, the ids of documents that contain it) and records of documents, by id, which
    /// this node publishes itself. All of these documents are kept until `expires`, in seconds since 1970, or longer if
    /// their known expiry is later. Postings and records that are already stored are skipped.
    ///
    /// The publications of the records say who can [`withdraw`](Self::withdraw) them. A publication that is not later
    /// than a withdrawal is not stored, nor is its record. The caller has checked the signatures.
    ///
    /// A call stores everything or, if it returns an error, nothing. It waits for a write to the disk, so it should
    /// store many postings and records.
    ///
    /// # Errors
    /// [`Error::Config`] if a word is empty or longer than [`limits::WORD_BYTES`], if a record is longer than
    /// [`MAX_RECORD`], or if the call exceeds [`MAX_CHANGE`], counting 24 bytes a posting, 32 a record, and the bytes
    /// of words and records. [`Error::Io`] if the disk is full, or fails.
    pub fn store(&mut self, brought: Brought<'_>, expires: u64) -> Result<Stored> {
        self.store_as((OWN, &HashSet::new()), brought, expires)
    }

    pub(super) fn store_as(
        &mut self,
        (origin, proven): (u32, &HashSet<ContentId>),
        (postings, records, published): Brought<'_>,
        expires: u64,
    ) -> Result<Stored> {
        check(postings, records)?;
        self.changing(|shelf| {
            let Standings { records, published } = not_withdrawn(shelf.tables.view()?, records, published)?;
            let taken_over = shelf.origins.is_taken_over(origin);
            let bringing = Bringing { origin, taken_over, expires: to_time(expires).max(1), proven, exact: proven };
            shelf.try_store((postings, &records, &published), bringing)
        })
    }

    pub(super) fn try_store(
        &mut self,
        (postings, records, published): Brought<'_>,
        bringing: Bringing<'_>,
    ) -> Outcome<Stored> {
        let Self { tables, words, recent, totals, .. } = self;
        let mut resolver = Resolver::new(recent, tables.view()?, totals.id_hash(), bringing);
        let mut new_words = vec![];
        for (word, ids) in postings.iter().filter(|(_, ids)| !ids.is_empty()) {
            let next = words.next_id();
            let number = words.number(word.as_bytes()).map_err(Fault::Other)?;
            if number == next {
                new_words.push((word.clone(), number));
            }
            resolver.postings(number, ids)?;
        }
        records.iter().try_for_each(|(id, record)| resolver.record(*id, record))?;
        let numbers = published.iter().map(|(id, ..)| resolver.number(*id, 0)).collect::<Outcome<Vec<_>>>()?;
        let publish = |transaction: &WriteTransaction| {
            let mut publications = Publications::open(transaction)?;
            numbers.iter().zip(published).try_for_each(|(&number, &published)| publications.add(number, published))
        };
        let mut change = resolver.finish()?;
        change.words = new_words;
        if change.is_empty() {
            if !published.is_empty() {
                self.tables.change(publish)?;
            }
            return Ok(Stored::default());
        }
        let row = change.encode();
        let origins = &mut self.origins;
        self.tables.change(|transaction| {
            // The row of a new origin must be durable before a change refers to it.
            origins.write_new(&mut transaction.open_table(ORIGINS)?)?;
            transaction.open_table(JOURNAL)?.insert(self.sequence, row.as_slice())?;
            publish(transaction)
        })?;
        self.sequence += 1;
        let counts = (&mut self.totals, &mut self.origins);
        let (new, foreign) = self.recent.apply(change, self.tables.view()?, counts, &mut self.runs)?;
        if self.recent.bytes >= self.options.recent_bytes {
            self.flush()?;
        }
        Ok(Stored { new, foreign })
    }

    /// Removes all documents that expire by `now`, in seconds since 1970, with their postings and records, and compacts
    /// the files. Returns the number of these documents.
    ///
    /// Cost: if any document has expired, all lists are read, and the changed ones are written.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk is full or fails, or the database is damaged.
    pub fn expire(&mut self, now: u64) -> Result<u64> {
        self.changing(|shelf| {
            let now = to_time(now).min(u32::MAX - 1);
            let forgotten = shelf.forget_all(|_, document| document.expires <= now)?;
            shelf.forget_withdrawn(now)?;
            if forgotten > 0 {
                shelf.tables.compact()?;
            }
            Ok(forgotten)
        })
    }

    /// Reorganizes the files to the least size. Cost: all recent changes, and up to the whole file, are written.
    ///
    /// # Errors
    /// As [`expire`](Self::expire).
    pub fn compact(&mut self) -> Result<()> {
        self.changing(|shelf| {
            shelf.flush()?;
            shelf.words.compact().map_err(Fault::Other)?;
            shelf.tables.compact()
        })
    }

    /// A counter that changes whenever something is added or withdrawn, but not on expiry.
    pub fn changes(&self) -> u64 {
        self.sequence + self.withdrawals
    }

    /// The reason that a change failed; `None` if none has failed. After a failure, the shelf must be opened again.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// True if a change failed because the disk was full, or the process had too many open files. When this condition
    /// has passed, the shelf can be opened again.
    pub fn may_pass(&self) -> bool {
        self.may_pass
    }

    /// Opens a shelf on disk again, after a change has failed. If that fails too, the shelf is empty and accepts no
    /// change until it is opened again.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn reopen(&mut self, directory: &Path) -> Result<()> {
        let (options, bounds) = (self.options, self.bounded.bounds);
        let mut empty = Self::in_memory(options)?;
        empty.set_bounds(bounds);
        (empty.fault, empty.may_pass) = (self.fault.take(), true);
        // Dropping the old shelf closes its files.
        *self = empty;
        let mut shelf = Self::open(directory, options)?;
        shelf.set_bounds(bounds);
        *self = shelf;
        Ok(())
    }

    /// The directory of a shelf on disk; `None` in memory.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Sets whether the node has been given everything that it should hold. This is false when a shelf is opened.
    pub fn set_whole(&mut self, whole: bool) {
        self.whole = whole;
    }

    /// Makes a change, unless an earlier one has failed. If this change fails, all later ones are refused.
    pub(super) fn changing<T>(&mut self, change: impl FnOnce(&mut Self) -> Outcome<T>) -> Result<T> {
        if let Some(why) = &self.fault {
            return Err(Error::io("cannot change", self.tables.file(), io::Error::other(why.clone())));
        }
        // This reason remains in place only if the change panics.
        self.fault = Some(format!("{}: a change was not finished; start again", self.tables.file()));
        let result = self.asking(change);
        self.fault = result.as_ref().err().map(ToString::to_string);
        self.may_pass = result.as_ref().is_err_and(may_pass);
        result
    }

    pub(super) fn asking<T>(&mut self, ask: impl FnOnce(&mut Self) -> Outcome<T>) -> Result<T> {
        ask(self).map_err(|fault| fault.at(self.tables.file()))
    }
}

/// True if an error says that no disk space is left, or that too many files are open, for which there is no
/// `ErrorKind`.
fn may_pass(error: &Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    let Error::Io { source, .. } = error else { return false };
    matches!(source.kind(), StorageFull | QuotaExceeded) || has_too_many_files(source)
}

#[cfg(unix)]
fn has_too_many_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(not(unix))]
fn has_too_many_files(_: &io::Error) -> bool {
    false
}

/// Converts a time in seconds since 1970 to the stored 32-bit form.
fn to_time(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

fn out_of_range(what: &'static str, given: usize, least: u64, most: usize) -> Error {
    ConfigError::OutOfRange { what, given: given as u64, least, most: most as u64 }.into()
}

fn check(postings: &[WordPostings], records: &[(ContentId, Vec<u8>)]) -> Result<()> {
    if let Some((word, _)) = postings.iter().find(|(word, _)| word.is_empty() || word.len() > limits::WORD_BYTES) {
        return Err(out_of_range("bytes of a word", word.len(), 1, limits::WORD_BYTES));
    }
    if let Some((_, record)) = records.iter().find(|(_, record)| record.len() > MAX_RECORD) {
        return Err(out_of_range("bytes of a record", record.len(), 0, MAX_RECORD));
    }
    let of_postings = postings.iter().map(|(word, ids)| 16 + word.len() + 24 * ids.len()).sum::<usize>();
    let of_records = records.iter().map(|(_, record)| 32 + record.len()).sum::<usize>();
    if of_postings + of_records > MAX_CHANGE {
        return Err(out_of_range("bytes to store at once", of_postings + of_records, 0, MAX_CHANGE));
    }
    Ok(())
}
