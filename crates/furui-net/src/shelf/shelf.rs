use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use furui::dict::{Dict, DictOptions};
use furui::search::{ContentId, IdRange, Index, Listing};
use furui::store::{Directory, Memory};
use furui::{Error, Result};
use redb::ReadableTableMetadata;

use super::change::Change;
use super::documents::Documents;
use super::fault::{Fault, Outcome};
use super::lists::{self, Extent};
use super::place::Place;
use super::recent::Recent;
use super::resolver::Resolver;
use super::runs::Gather;
use super::tables::{JOURNAL, Tables, Totals};
use super::{RECORDS, Runs, records};

/// The longest word, in bytes.
pub const MAX_WORD: usize = 255;
/// The longest record, in bytes.
pub const MAX_RECORD: usize = 4 << 20;
/// The most that one call of [`Shelf::store`] may add, in bytes, as [`Shelf::store`] counts them.
pub const MAX_CHANGE: usize = 64 << 20;

/// The file of the database.
const DATABASE: &str = "shelf.redb";
/// The directory of the words.
const WORDS: &str = "words";

/// A node's own postings and documents: for each word the ids of the documents that hold it, and the records of documents,
/// on disk or in memory.
///
/// ```text
///   store ──> journal (durable) ──> recent, in memory ── full? ──> lists of document numbers,
///                                      │                           documents, blocks of records
///   slice <── sorted run of ids <──────┴── a cache, bounded ──────────┘
/// ```
///
/// Documents are numbered as they come, so that a posting takes one byte or two instead of twenty; words are numbered by a
/// [`Dict`]. What a call stores is one row of a journal, and found at once in memory; when enough has come together,
/// the tables are brought up to date in one transaction, list by list, so that a page of the database is written for many
/// postings. Records are compressed together, as many as fill a few pages of the database.
///
/// An expired document is there until [`expire`](Self::expire) is called.
///
/// # What is kept
///
/// Once [`store`](Self::store) returns, what it stored survives a crash of the process or the machine. After an error in a
/// change nothing more is taken until the shelf is opened again.
#[derive(Debug)]
pub struct Shelf {
    pub(super) tables: Tables,
    pub(super) words: Dict<Place>,
    pub(super) totals: Totals,
    pub(super) recent: Recent,
    pub(super) runs: Runs,
    options: ShelfOptions,
    /// The number of the journal's next row.
    sequence: u64,
    whole: bool,
    /// A change failed.
    broken: bool,
    directory: Option<PathBuf>,
}

/// How much memory a [`Shelf`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShelfOptions {
    /// Bytes of sorted lists that are kept to be asked again.
    pub cached_bytes: usize,
    /// The most ids that are sorted together: a longer list is read once for each part of this size. Twice as many are in
    /// memory meanwhile, of 20 bytes. It also bounds the answer to a single question.
    pub run_ids: usize,
    /// Bytes of what is recent, more or less, before it is written to the tables; on disk, the journal takes half of that
    /// or less.
    pub recent_bytes: usize,
    /// Bytes of the database's pages that are kept.
    pub page_bytes: usize,
}

/// What [`Shelf::store`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// How many postings and records were not there before.
    pub new: u64,
}

/// A word of a shelf, and its list in two numbers: equal lists have equal ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordList {
    /// The word.
    pub word: String,
    /// How many ids.
    pub ids: u64,
    /// The sum, modulo 2⁶⁴, of the ids' [hashes](ContentId::hash).
    pub fingerprint: u64,
}

/// How much a shelf holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Words that have postings.
    pub words: u64,
    /// Postings.
    pub postings: u64,
    /// Documents that have a posting or a record.
    pub documents: u64,
    /// Documents whose record is kept.
    pub records: u64,
    /// Bytes that its files take on disk; none in memory.
    pub disk_bytes: u64,
    /// Bytes of sorted lists that are kept to be asked again.
    pub cached_bytes: u64,
}

impl Default for ShelfOptions {
    /// 64 MiB of sorted lists, runs of a million ids, 8 MiB of recent postings and records, 16 MiB of pages.
    fn default() -> Self {
        Self { cached_bytes: 64 << 20, run_ids: 1 << 20, recent_bytes: 8 << 20, page_bytes: 16 << 20 }
    }
}

impl Shelf {
    /// Opens the shelf that a directory holds, or makes one: the file `shelf.redb` and the directory `words` in it.
    /// Other files there are left alone.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process has it open; [`Error::Config`] if a newer version wrote it; [`Error::Io`] or
    /// [`Error::Format`], with the name of the file, if it cannot be read or written, or is damaged.
    pub fn open(directory: &Path, options: ShelfOptions) -> Result<Self> {
        // The directory of the words, inside, is made with it, and has the lock that comes first.
        let words = Place::Directory(Directory::open(directory.join(WORDS))?);
        Self::new(words, Some(directory), options)
    }

    /// An empty shelf in memory.
    ///
    /// # Errors
    /// None that are to be expected.
    pub fn in_memory(options: ShelfOptions) -> Result<Self> {
        Self::new(Place::Memory(Memory::new()), None, options)
    }

    fn new(words: Place, directory: Option<&Path>, options: ShelfOptions) -> Result<Self> {
        let words = Dict::open(words, DictOptions::default())?;
        let file = directory.map(|directory| directory.join(DATABASE));
        let (tables, totals) = Tables::open(file.as_deref(), options.page_bytes)?;
        let mut shelf = Self {
            recent: Recent::new(totals.next_document),
            runs: Runs::new(options.cached_bytes),
            sequence: 0,
            whole: false,
            broken: false,
            directory: directory.map(Path::to_owned),
            options,
            tables,
            words,
            totals,
        };
        shelf.recover().map_err(|fault| fault.at(shelf.tables.file()))?;
        Ok(shelf)
    }

    /// Reads the journal.
    fn recover(&mut self) -> Outcome<()> {
        if self.words.next_id() < self.totals.next_word {
            return Err(Fault::Damaged(format!(
                "damaged: it has postings of {} words, and the directory {WORDS:?} beside it knows {}; both belong together",
                self.totals.next_word,
                self.words.next_id()
            )));
        }
        let mut changes = vec![];
        self.tables.journal(|sequence, row| {
            changes.push((sequence, row.to_vec()));
            Ok(())
        })?;
        for (sequence, row) in changes {
            let change = Change::decode(&row).ok_or_else(|| Fault::damaged("journal", sequence))?;
            for (word, number) in &change.words {
                self.words.put(word.as_bytes(), *number).map_err(Fault::Other)?;
            }
            self.recent.apply(change, self.tables.view()?, &mut self.totals, &mut self.runs)?;
            self.sequence = sequence + 1;
        }
        Ok(())
    }

    /// Keeps postings, by word the ids of documents that hold it, and records of documents, by id; all of these documents
    /// until `expires`, a time in seconds, or longer if they are known to. What is there already is not stored again.
    ///
    /// All of it or, after an error, nothing. A call costs a write to disk that is waited for: many postings and records
    /// should come together.
    ///
    /// # Errors
    /// [`Error::Config`] if a word is empty or longer than [`MAX_WORD`], a record is longer than [`MAX_RECORD`], or all is
    /// more than [`MAX_CHANGE`]: 24 bytes a posting, 32 a record, and the words' and records' own. [`Error::Io`] if the disk
    /// is full, or fails.
    pub fn store(
        &mut self,
        postings: &[(String, Vec<ContentId>)],
        records: &[(ContentId, Vec<u8>)],
        expires: u64,
    ) -> Result<Stored> {
        check(postings, records)?;
        self.changing(|shelf| shelf.try_store(postings, records, to_time(expires).max(1)))
    }

    fn try_store(
        &mut self,
        postings: &[(String, Vec<ContentId>)],
        records: &[(ContentId, Vec<u8>)],
        expires: u32,
    ) -> Outcome<Stored> {
        let Self { tables, words, recent, totals, .. } = self;
        let mut resolver = Resolver::new(recent, tables.view()?, totals.id_hash(), expires);
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
        let mut change = resolver.finish()?;
        change.words = new_words;
        if change.is_empty() {
            return Ok(Stored::default());
        }
        let row = change.encode();
        self.tables.change(|transaction| {
            transaction.open_table(JOURNAL)?.insert(self.sequence, row.as_slice())?;
            Ok(())
        })?;
        self.sequence += 1;
        let new = self.recent.apply(change, self.tables.view()?, &mut self.totals, &mut self.runs)?;
        if self.recent.bytes >= self.options.recent_bytes {
            self.flush()?;
        }
        Ok(Stored { new })
    }

    /// Forgets all documents that expire by `now`, in seconds, with their postings and records, and gives the room back.
    /// Returns how many there were.
    ///
    /// Cost: if there are any, all lists are read, and those written that change.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk is full, or fails, or the database is damaged.
    pub fn expire(&mut self, now: u64) -> Result<u64> {
        self.changing(|shelf| {
            let forgotten = shelf.forget(to_time(now).min(u32::MAX - 1))?;
            if forgotten > 0 {
                shelf.tables.compact()?;
            }
            Ok(forgotten)
        })
    }

    /// Puts everything where it takes the least room. Cost: what is new, and up to the whole file, is written.
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

    /// The first `most` words after `word` in the order of their bytes, with their lists in short; from the first on after
    /// the empty word.
    ///
    /// # Errors
    /// [`Error::Io`] if the database cannot be read, or is damaged.
    pub fn words_after(&mut self, word: &str, most: usize) -> Result<Vec<WordList>> {
        self.asking(|shelf| {
            let mut found = vec![];
            let view = shelf.tables.view()?;
            let mut entries = shelf.words.range((Bound::Excluded(word.as_bytes()), Bound::Unbounded));
            while found.len() < most
                && let Some((word, number)) = entries.next_entry()
            {
                let extent = match shelf.recent.lists.get(&number) {
                    Some(fresh) => fresh.extent(),
                    None => lists::extent(&view.words, number)?,
                };
                if extent.ids > 0 {
                    let word = String::from_utf8(word.to_vec());
                    let word = word.map_err(|_| Fault::Damaged(format!("damaged: word {number} is not UTF-8")))?;
                    found.push(WordList { word, ids: extent.ids, fingerprint: extent.sum });
                }
            }
            Ok(found)
        })
    }

    /// The ids of the documents whose records are kept, in `range`, ascending: all of them, or the first `most`.
    ///
    /// # Errors
    /// As [`slice`](Index::slice).
    pub fn records(&mut self, range: IdRange, most: usize) -> Result<Arc<[ContentId]>> {
        self.asking(|shelf| shelf.run(RECORDS, range, most))
    }

    /// Says whether the node has been given all that it should hold; no, after opening.
    pub fn set_whole(&mut self, whole: bool) {
        self.whole = whole;
    }

    /// How much it holds.
    ///
    /// # Errors
    /// [`Error::Io`] if the database cannot be read, or is damaged.
    pub fn statistics(&mut self) -> Result<Statistics> {
        let disk_bytes = self.directory.as_deref().map_or(Ok(0), disk_bytes)?;
        self.asking(|shelf| {
            let records = shelf.extent(RECORDS)?.ids;
            let is_new = |(word, fresh): &(&u32, &super::recent::Fresh)| **word != RECORDS && fresh.table.ids == 0;
            let new = shelf.recent.lists.iter().filter(is_new).count() as u64;
            let view = shelf.tables.view()?;
            let of_records = u64::from(lists::extent(&view.words, RECORDS)?.ids > 0);
            Ok(Statistics {
                words: view.words.len()? - of_records + new,
                postings: shelf.totals.postings,
                documents: shelf.totals.documents,
                records,
                disk_bytes,
                cached_bytes: shelf.runs.bytes() as u64,
            })
        })
    }

    /// Whether changes can be made, and then the change: if it fails, the last.
    fn changing<T>(&mut self, change: impl FnOnce(&mut Self) -> Outcome<T>) -> Result<T> {
        if self.broken {
            let file = self.tables.file();
            return Err(Error::Config(format!("{file}: a change failed before; open it again to go on")));
        }
        self.broken = true;
        let result = self.asking(change)?;
        self.broken = false;
        Ok(result)
    }

    fn asking<T>(&mut self, ask: impl FnOnce(&mut Self) -> Outcome<T>) -> Result<T> {
        ask(self).map_err(|fault| fault.at(self.tables.file()))
    }

    fn extent(&mut self, word: u32) -> Outcome<Extent> {
        match self.recent.lists.get(&word) {
            Some(fresh) => Ok(fresh.extent()),
            None => lists::extent(&self.tables.view()?.words, word),
        }
    }

    fn run(&mut self, word: u32, range: IdRange, most: usize) -> Outcome<Arc<[ContentId]>> {
        let most = most.min(self.options.run_ids);
        if most == 0 || range.last < range.first {
            return Ok(Arc::default());
        }
        let whole = self.extent(word)?.ids <= self.options.run_ids as u64;
        let Self { tables, recent, runs, .. } = self;
        let view = tables.view()?;
        let known = runs.get(word, range, most, |numbers, ids| {
            let mut older = Documents::new(view);
            for &number in numbers {
                ids.push(recent.id(&mut older, number)?.ok_or_else(|| Fault::damaged("documents", number))?);
            }
            Ok(())
        })?;
        if let Some(ids) = known {
            return Ok(ids);
        }
        let mut gather = Gather::new(if whole { 0 } else { range.first }, self.options.run_ids);
        let mut older = Documents::new(view);
        let mut show = |numbers: &[u32]| {
            for &number in numbers {
                gather.push(recent.id(&mut older, number)?.ok_or_else(|| Fault::damaged("documents", number))?);
            }
            Ok(())
        };
        lists::read(view, word, &mut show)?;
        if let Some(fresh) = recent.lists.get(&word) {
            show(&fresh.numbers)?;
        }
        let run = gather.finish();
        let ids = run.get(range, most).expect("a run from its beginning on, of as many ids as may be asked for");
        runs.insert(word, run);
        Ok(ids)
    }

    fn record(&mut self, id: ContentId) -> Outcome<Option<Vec<u8>>> {
        let Self { tables, recent, totals, .. } = self;
        let view = tables.view()?;
        let mut older = Documents::new(view);
        let number = match recent.ids.get(&id) {
            Some(&number) => Some(number),
            None => older.find(totals.id_hash(), id)?,
        };
        let Some(number) = number else { return Ok(None) };
        if let Some(record) = recent.records.get(&number) {
            return Ok(Some(record.clone()));
        }
        if number >= recent.first {
            return Ok(None);
        }
        let Some(block) = older.get(number)?.and_then(|document| document.block) else { return Ok(None) };
        let row = view.records.get(block)?.ok_or_else(|| Fault::damaged("records", block))?;
        let found = records::unpack(block, row.value())?.into_iter().find(|(other, _)| *other == number);
        found.map(|(_, record)| Some(record)).ok_or_else(|| Fault::damaged("records", block))
    }
}

impl Index for Shelf {
    fn size(&mut self, word: &str) -> Result<Listing> {
        let whole = self.whole;
        self.asking(|shelf| match shelf.words.get(word.as_bytes()) {
            Some(number) => Ok(Listing { ids: shelf.extent(number)?.ids, whole }),
            None => Ok(Listing { ids: 0, whole }),
        })
    }

    /// As said there; no more than [`ShelfOptions::run_ids`] at once.
    fn slice(&mut self, word: &str, range: IdRange, most: usize) -> Result<Arc<[ContentId]>> {
        self.asking(|shelf| match shelf.words.get(word.as_bytes()) {
            Some(number) => shelf.run(number, range, most),
            None => Ok(Arc::default()),
        })
    }

    fn document(&mut self, id: ContentId) -> Result<Option<Vec<u8>>> {
        self.asking(|shelf| shelf.record(id))
    }
}

/// A time as it is stored.
fn to_time(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

fn check(postings: &[(String, Vec<ContentId>)], records: &[(ContentId, Vec<u8>)]) -> Result<()> {
    if let Some((word, _)) = postings.iter().find(|(word, _)| word.is_empty() || word.len() > MAX_WORD) {
        return Err(Error::Config(format!("a word of {} bytes: a shelf takes 1 to {MAX_WORD}", word.len())));
    }
    if let Some((_, record)) = records.iter().find(|(_, record)| record.len() > MAX_RECORD) {
        return Err(Error::Config(format!("a record of {} bytes: a shelf takes up to {MAX_RECORD}", record.len())));
    }
    let of_postings = postings.iter().map(|(word, ids)| 16 + word.len() + 24 * ids.len()).sum::<usize>();
    let of_records = records.iter().map(|(_, record)| 32 + record.len()).sum::<usize>();
    if of_postings + of_records > MAX_CHANGE {
        let bytes = of_postings + of_records;
        return Err(Error::Config(format!(
            "{bytes} bytes at once: a shelf takes up to {MAX_CHANGE}; store them in parts"
        )));
    }
    Ok(())
}

/// What the files take.
fn disk_bytes(directory: &Path) -> Result<u64> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error| Error::io("cannot list", path, error)
    };
    let mut files = vec![directory.join(DATABASE)];
    let words = directory.join(WORDS);
    for entry in fs::read_dir(&words).map_err(failed(&words))? {
        files.push(entry.map_err(failed(&words))?.path());
    }
    let sizes = files.iter().map(|file| Ok(size_on_disk(&fs::metadata(file).map_err(failed(file))?)));
    sizes.sum()
}

#[cfg(unix)]
fn size_on_disk(file: &fs::Metadata) -> u64 {
    // The database's file has holes.
    std::os::unix::fs::MetadataExt::blocks(file) * 512
}

#[cfg(not(unix))]
fn size_on_disk(file: &fs::Metadata) -> u64 {
    file.len()
}
