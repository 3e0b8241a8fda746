use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use furui_search::ContentId;
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction};

use crate::database;

pub(super) const FILE: &str = "published.redb";
/// The table from the id of a document to its row.
pub(super) const DOCUMENTS: TableDefinition<'_, &[u8; ContentId::BYTES], PublishedRow> = TableDefinition::new("ids");
/// The table from the hash of a URL to the first bytes of the id of the document that is published under it.
pub(super) const URLS: TableDefinition<'_, u64, u32> = TableDefinition::new("places");
/// The set of withdrawn documents whose withdrawal is yet to be sent to the nodes that keep them, each with the time of
/// the withdrawal.
pub(super) const WITHDRAWN: TableDefinition<'_, (&[u8; ContentId::BYTES], u32), ()> = TableDefinition::new("withdrawn");
/// The maximum size of the database's page cache, in bytes. The value is a choice, not a measurement.
const CACHE: usize = 4 << 20;

/// A row of a document: the hash of its URL, or 0 if it is withdrawn; and the time of its last publication or
/// withdrawal, in seconds since 1970.
pub(super) type PublishedRow = (u64, u32);
pub(super) type DocumentTable<'t> = Table<'t, &'static [u8; ContentId::BYTES], PublishedRow>;
pub(super) type WithdrawnTable<'t> = Table<'t, (&'static [u8; ContentId::BYTES], u32), ()>;

/// The database of published documents, which is described in docs/format.md, "A node's directory".
pub(super) struct PublishedTables {
    /// The open database; `None` after a failed change, until it is opened again.
    database: RwLock<Option<Database>>,
    path: Option<PathBuf>,
    file: String,
    changes: AtomicU64,
}

impl PublishedTables {
    /// Opens the tables in a directory or, without a directory, in memory. Missing tables are created.
    pub(super) fn open(directory: Option<&Path>) -> furui::Result<Self> {
        let path = directory.map(|directory| directory.join(FILE));
        let file = path.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
        let database = open(path.as_deref()).map_err(|error| database::explain(error, &file))?;
        Ok(Self { database: RwLock::new(Some(database)), path, file, changes: AtomicU64::new(0) })
    }

    /// Calls `ask` with the open database. If a change has failed before, for example because the disk was full, the
    /// database is opened again first.
    fn with<T>(&self, ask: impl FnOnce(&Database) -> Result<T, redb::Error>) -> furui::Result<T> {
        // A panic of another thread does not damage the database, which is in the state of its last transaction.
        if self.database.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
            if database.is_none() {
                let opened = open(self.path.as_deref()).map_err(|error| database::explain(error, &self.file))?;
                *database = Some(opened);
            }
        }
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let result = database.as_ref().map_or(Err(redb::Error::PreviousIo), ask);
        drop(database);
        if self.path.is_some() && matches!(result, Err(redb::Error::Io(_) | redb::Error::PreviousIo)) {
            // After a failure, the database rejects all changes until it is opened again.
            *self.database.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        result.map_err(|error| database::explain(error, &self.file))
    }

    /// The number of changes of the tables so far.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>) -> furui::Result<T> {
        self.with(|database| read(&database.begin_read()?))
    }

    /// Changes the tables in one transaction.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> furui::Result<T> {
        self.changes.fetch_add(1, Ordering::Relaxed);
        self.with(|database| {
            let transaction = database.begin_write()?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })
    }

    /// Copies the file into a directory while no change can take place.
    pub(super) fn copy(&self, to: &Path) -> furui::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        self.with(|database| {
            let _blocking = database.begin_write()?;
            Ok(fs::copy(path, to.join(FILE)).map(drop)?)
        })
    }

    /// Compacts the file, which returns its free space to the file system.
    pub(super) fn compact(&self) -> furui::Result<()> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = database.as_mut() else { return Ok(()) };
        let compacted = database.compact().map_err(redb::Error::from);
        compacted.map(|_| ()).map_err(|error| database::explain(error, &self.file))
    }
}

fn open(path: Option<&Path>) -> Result<Database, redb::Error> {
    let database = database::open(path, CACHE)?;
    // Tables that are missing are created.
    let transaction = database.begin_write()?;
    transaction.open_table(DOCUMENTS)?;
    transaction.open_table(URLS)?;
    transaction.open_table(WITHDRAWN)?;
    transaction.commit()?;
    Ok(database)
}

/// Finds the document that is published under the URL with this hash.
pub(super) fn find(
    table: &impl ReadableTable<&'static [u8; ContentId::BYTES], PublishedRow>,
    urls: &impl ReadableTable<u64, u32>,
    url: u64,
) -> Result<Option<ContentId>, redb::Error> {
    let Some(head) = urls.get(url)?.map(|head| head.value()) else { return Ok(None) };
    let (mut first, mut last) = ([0; ContentId::BYTES], [0xff; ContentId::BYTES]);
    first[..4].copy_from_slice(&head.to_le_bytes());
    last[..4].copy_from_slice(&head.to_le_bytes());
    for entry in table.range::<&[u8; ContentId::BYTES]>(&first..=&last)? {
        let (id, row) = entry?;
        if row.value().0 == url {
            return Ok(Some(ContentId::new(*id.value())));
        }
    }
    Ok(None)
}

/// The first bytes of a document's id, as the table [`URLS`] has them.
pub(super) fn head(id: ContentId) -> u32 {
    let (first, _) = id.as_bytes().split_first_chunk().expect("longer than that");
    u32::from_le_bytes(*first)
}

/// Converts a time in seconds since 1970 to the stored 32-bit form.
pub(super) fn seconds(since_1970: u64) -> u32 {
    u32::try_from(since_1970).unwrap_or(u32::MAX)
}
