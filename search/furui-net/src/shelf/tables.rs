use std::io;
use std::path::Path;

use furui::{Error, HashAlgorithm, HashSpec};
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction};

use super::fault::{Fault, Outcome};
use crate::database;

/// The type of the values in most tables.
pub(super) type Row = &'static [u8];

pub(super) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
pub(super) const JOURNAL: TableDefinition<u64, Row> = TableDefinition::new("journal");
pub(super) const WORDS: TableDefinition<u32, Row> = TableDefinition::new("words");
pub(super) const LISTS: TableDefinition<(u32, u32), Row> = TableDefinition::new("blocks");
pub(super) const IDS: TableDefinition<(u64, u32), ()> = TableDefinition::new("ids");
pub(super) const DOCUMENTS: TableDefinition<u32, Row> = TableDefinition::new("documents");
pub(super) const RECORDS: TableDefinition<u32, Row> = TableDefinition::new("records");
pub(super) const ORIGINS: TableDefinition<u32, Row> = TableDefinition::new("origins");

pub(super) const PUBLICATIONS: TableDefinition<u32, Row> = TableDefinition::new("publications");
pub(super) const URLS: TableDefinition<(u64, u32), ()> = TableDefinition::new("urls");
pub(super) const WITHDRAWN: TableDefinition<&[u8; 52], &[u8; 72]> = TableDefinition::new("withdrawn");

/// The version of the tables' format, which is described in docs/format.md, "A node's directory".
const VERSION: u64 = 6;

/// The database of a shelf, and the snapshot of it from which readers are served.
#[derive(Debug)]
pub(super) struct Tables {
    database: Database,
    file: String,
    view: Option<View>,
}

/// A snapshot of a shelf's tables, from which queries are answered.
#[derive(Debug)]
pub(super) struct View {
    pub(super) words: ReadOnlyTable<u32, Row>,
    pub(super) lists: ReadOnlyTable<(u32, u32), Row>,
    pub(super) ids: ReadOnlyTable<(u64, u32), ()>,
    pub(super) documents: ReadOnlyTable<u32, Row>,
    pub(super) records: ReadOnlyTable<u32, Row>,
    pub(super) publications: ReadOnlyTable<u32, Row>,
    pub(super) urls: ReadOnlyTable<(u64, u32), ()>,
    pub(super) withdrawn: ReadOnlyTable<&'static [u8; 52], &'static [u8; 72]>,
}

/// The tables of a shelf, opened for changes in one transaction.
pub(super) struct Tablets<'t> {
    pub(super) words: Table<'t, u32, Row>,
    pub(super) lists: Table<'t, (u32, u32), Row>,
    pub(super) ids: Table<'t, (u64, u32), ()>,
    pub(super) documents: Table<'t, u32, Row>,
    pub(super) records: Table<'t, u32, Row>,
}

/// The counters in the table `meta`, which apply to all tables of a shelf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// The seed of the keyed hash by which ids are looked up.
    pub(super) seed: u64,
    /// The number that the next new document gets.
    pub(super) next_document: u32,
    /// The number that the next block of records gets.
    pub(super) next_block: u32,
    /// A number greater than the numbers of all words in the tables.
    pub(super) next_word: u32,
    /// The total number of postings in the lists of all words.
    pub(super) postings: u64,
    /// The number of documents with a posting or a record.
    pub(super) documents: u64,
}

impl Tables {
    /// Opens the database in a file, or one in memory, and creates missing tables. `cache` is the maximum size of the
    /// page cache, in bytes. Returns the tables and the counters.
    pub(super) fn open(path: Option<&Path>, cache: usize) -> Result<(Self, Totals), Error> {
        let file = path.map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
        let database = database::open(path, cache).map_err(|error| Fault::from(error).at(&file))?;
        let tables = Self { database, file, view: None };
        let totals = tables.prepare().map_err(|fault| fault.at(&tables.file))?;
        Ok((tables, totals))
    }

    /// Opens the table of origins in the state after the last change.
    pub(super) fn origins(&self) -> Outcome<ReadOnlyTable<u32, Row>> {
        Ok(self.database.begin_read()?.open_table(ORIGINS)?)
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    fn prepare(&self) -> Outcome<Totals> {
        let transaction = self.database.begin_write()?;
        let totals = {
            let mut meta = transaction.open_table(META)?;
            let version = meta.get("version")?.map(|version| version.value());
            match version {
                Some(VERSION) => Totals::read(&meta)?,
                Some(other) => {
                    let why = format!(
                        "written by another version (its format is {other}, this program knows {VERSION}); use that \
                         version, or another directory"
                    );
                    let why = io::Error::new(io::ErrorKind::InvalidData, why);
                    return Err(Fault::Other(Error::io("cannot use", &*self.file, why)));
                }
                None => {
                    let totals = Totals { seed: HashSpec::random().seed, ..Totals::default() };
                    meta.insert("version", VERSION)?;
                    totals.write(&mut meta)?;
                    totals
                }
            }
        };
        transaction.open_table(JOURNAL)?;
        Tablets::open(&transaction)?;
        transaction.open_table(ORIGINS)?;
        transaction.open_table(PUBLICATIONS)?;
        transaction.open_table(URLS)?;
        transaction.open_table(WITHDRAWN)?;
        transaction.commit()?;
        Ok(totals)
    }

    /// Returns a snapshot of the tables in the state after the last change.
    pub(super) fn view(&mut self) -> Outcome<&View> {
        if self.view.is_none() {
            let transaction = self.database.begin_read()?;
            self.view = Some(View {
                words: transaction.open_table(WORDS)?,
                lists: transaction.open_table(LISTS)?,
                ids: transaction.open_table(IDS)?,
                documents: transaction.open_table(DOCUMENTS)?,
                records: transaction.open_table(RECORDS)?,
                publications: transaction.open_table(PUBLICATIONS)?,
                urls: transaction.open_table(URLS)?,
                withdrawn: transaction.open_table(WITHDRAWN)?,
            });
        }
        Ok(self.view.as_ref().expect("just put there"))
    }

    /// Changes the tables in one transaction, which is durable when this returns.
    pub(super) fn change<T>(&mut self, change: impl FnOnce(&WriteTransaction) -> Outcome<T>) -> Outcome<T> {
        // An open snapshot would keep its pages from being reused.
        self.view = None;
        let transaction = self.database.begin_write()?;
        let result = change(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Changes the tables like [`change`](Self::change), and also passes a snapshot of the state before the change to
    /// the closure.
    pub(super) fn rewrite<T>(&mut self, change: impl FnOnce(&WriteTransaction, &View) -> Outcome<T>) -> Outcome<T> {
        self.view()?;
        let view = self.view.take().expect("just made");
        self.change(|transaction| change(transaction, &view))
    }

    /// Returns the rows of the journal, each with its number, in order.
    pub(super) fn journal(&self) -> Outcome<Vec<(u64, Vec<u8>)>> {
        let journal = self.database.begin_read()?.open_table(JOURNAL)?;
        let rows = journal.iter()?.map(|row| row.map(|(sequence, change)| (sequence.value(), change.value().to_vec())));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Moves used pages to the front of the database's file, and truncates the file.
    pub(super) fn compact(&mut self) -> Outcome<()> {
        self.view = None;
        self.database.compact()?;
        Ok(())
    }
}

impl<'t> Tablets<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Outcome<Self> {
        Ok(Self {
            words: transaction.open_table(WORDS)?,
            lists: transaction.open_table(LISTS)?,
            ids: transaction.open_table(IDS)?,
            documents: transaction.open_table(DOCUMENTS)?,
            records: transaction.open_table(RECORDS)?,
        })
    }
}

impl Totals {
    /// The hash function by which an id is looked up. It is keyed, because strangers choose ids.
    pub(super) fn id_hash(&self) -> HashSpec {
        HashSpec { algorithm: HashAlgorithm::SipHash13, seed: self.seed }
    }

    fn read(meta: &impl ReadableTable<&'static str, u64>) -> Outcome<Self> {
        let get = |name| -> Outcome<u64> { Ok(meta.get(name)?.ok_or_else(|| Fault::damaged("meta", name))?.value()) };
        let small = |name| u32::try_from(get(name)?).map_err(|_| Fault::damaged("meta", name));
        Ok(Self {
            seed: get("seed")?,
            next_document: small("next document")?,
            next_block: small("next block")?,
            next_word: small("next word")?,
            postings: get("postings")?,
            documents: get("documents")?,
        })
    }

    pub(super) fn write(&self, meta: &mut Table<'_, &'static str, u64>) -> Outcome<()> {
        let Self { seed, next_document, next_block, next_word, postings, documents } = *self;
        meta.insert("seed", seed)?;
        meta.insert("next document", u64::from(next_document))?;
        meta.insert("next block", u64::from(next_block))?;
        meta.insert("next word", u64::from(next_word))?;
        meta.insert("postings", postings)?;
        meta.insert("documents", documents)?;
        Ok(())
    }
}
