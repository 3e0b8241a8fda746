//! Opens redb databases so that a crash during creation leaves a complete database or none, opens them again after a
//! failure, and explains their errors.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use furui::Error;
use furui::error::StoreProblem;
use furui::format::sync_name;
use redb::backends::InMemoryBackend;
use redb::{Builder, Database, ReadTransaction, ReadableDatabase, WriteTransaction};

/// The maximum size of the page cache of a [`ReopenedDatabase`], in bytes. The value is a choice, not a measurement.
const CACHE: usize = 4 << 20;

/// A database that is opened again after it has failed, for example because the disk was full: redb refuses all changes
/// after a failed one until then.
#[derive(Debug)]
pub(crate) struct ReopenedDatabase {
    /// The open database; `None` after a failure, until it is opened again.
    database: RwLock<Option<Database>>,
    path: Option<PathBuf>,
    create: CreateTables,
    changes: AtomicU64,
}

/// Creates the tables that are missing in a database.
type CreateTables = fn(&WriteTransaction) -> Result<(), redb::Error>;

impl ReopenedDatabase {
    /// Opens the database at a path, or one in memory, and creates the file and the tables that are missing.
    pub(crate) fn open(path: Option<PathBuf>, create: CreateTables) -> furui::Result<Self> {
        let database = Self { database: RwLock::new(None), path, create, changes: AtomicU64::new(0) };
        database.with(|_| Ok(()))?;
        Ok(database)
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>) -> furui::Result<T> {
        self.with(|database| read(&database.begin_read()?))
    }

    /// The number of changes that were tried since it was opened.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Changes the tables in one transaction.
    pub(crate) fn change<T>(
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

    /// Copies the file to a path while no change can take place. A database in memory is not copied.
    pub(crate) fn copy(&self, to: &Path) -> furui::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let copied = self.with(|database| {
            let _blocking = database.begin_write()?;
            Ok(fs::copy(path, to))
        })?;
        copied.map(drop).map_err(|source| Error::io("cannot write", to.display().to_string(), source))
    }

    /// Compacts the file, which returns its free space to the file system.
    pub(crate) fn compact(&self) -> furui::Result<()> {
        let mut open = self.database.write().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = open.as_mut() else { return Ok(()) };
        let compacted = database.compact().map(drop).map_err(redb::Error::from);
        if self.is_broken_by(&compacted) {
            *open = None;
        }
        compacted.map_err(|error| self.explain(error))
    }

    /// Calls `ask` with the database, which is opened first if it has failed before.
    fn with<T>(&self, ask: impl FnOnce(&Database) -> Result<T, redb::Error>) -> furui::Result<T> {
        // A panic of another thread does not damage the database, which is in the state of its last transaction.
        if self.database.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
            if database.is_none() {
                *database = Some(self.opened().map_err(|error| self.explain(error))?);
            }
        }
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let result = database.as_ref().map_or(Err(redb::Error::PreviousIo), ask);
        drop(database);
        if self.is_broken_by(&result) {
            *self.database.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        result.map_err(|error| self.explain(error))
    }

    /// True if the database refuses changes after this result, until it is opened again.
    fn is_broken_by<T>(&self, result: &Result<T, redb::Error>) -> bool {
        self.path.is_some() && matches!(result, Err(redb::Error::Io(_) | redb::Error::PreviousIo))
    }

    fn opened(&self) -> Result<Database, redb::Error> {
        let database = open(self.path.as_deref(), CACHE)?;
        let transaction = database.begin_write()?;
        (self.create)(&transaction)?;
        transaction.commit()?;
        Ok(database)
    }

    fn explain(&self, error: redb::Error) -> Error {
        explain(error, &self.path.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string()))
    }
}

/// Opens the database at a path, or one in memory, and creates it if it is missing. `cache` is the maximum size of the
/// page cache, in bytes.
pub(crate) fn open(path: Option<&Path>, cache: usize) -> Result<Database, redb::Error> {
    let mut builder = Builder::new();
    builder.set_cache_size(cache);
    match path {
        None => Ok(builder.create_with_backend(InMemoryBackend::new())?),
        Some(path) => {
            let database = if path.exists() { builder.create(path)? } else { create(&builder, path)? };
            // If a process was killed after it had created the file, the directory entry may not be durable yet, so it
            // is synced.
            sync_name(path).map_err(|error| error.source)?;
            Ok(database)
        }
    }
}

/// Creates an empty database under a temporary name, and then renames it to `path`. Thus neither a crash nor a full
/// disk leaves an incomplete database, which could not be opened, at `path`.
fn create(builder: &Builder, path: &Path) -> Result<Database, redb::Error> {
    let new = path.with_extension("new");
    remove(&new)?;
    let created = builder.create(&new).map_err(redb::Error::from).and_then(|database| {
        fs::rename(&new, path)?;
        Ok(database)
    });
    if created.is_err() {
        remove(&new)?;
    }
    created
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes an error that names the database's file and, for some causes, says what to do.
pub(crate) fn explain(error: redb::Error, file: &str) -> Error {
    let other = |kind, why: &str| Error::io("cannot use", file, io::Error::new(kind, why));
    match error {
        redb::Error::DatabaseAlreadyOpen => Error::store(file, StoreProblem::Locked),
        redb::Error::PreviousIo => {
            other(ErrorKind::Other, "an earlier read or write failed; make sure that the disk works and has space")
        }
        redb::Error::Io(source) if source.kind() == ErrorKind::StorageFull => {
            other(ErrorKind::StorageFull, &format!("{source}; make room"))
        }
        redb::Error::Io(source) if source.kind() == ErrorKind::InvalidData => other(
            ErrorKind::InvalidData,
            "it is damaged, or not a database of furui; restore it from a copy, or move the node's directory away and begin a new \
             one, which other nodes fill",
        ),
        redb::Error::Io(source) => Error::io("cannot read or write", file, source),
        error => other(ErrorKind::Other, &error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use furui::error::StoreError;

    use super::*;

    #[test]
    fn what_was_begun_and_not_finished_is_begun_again() {
        let directory = std::env::temp_dir().join(format!("furui-database-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("some.redb");
        fs::write(path.with_extension("new"), [0; 5000]).unwrap();
        drop(open(Some(&path), 1 << 20).unwrap());
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        let database = open(Some(&path), 1 << 20).unwrap();
        let second = explain(open(Some(&path), 1 << 20).unwrap_err(), "some.redb");
        assert!(matches!(second, Error::Store(StoreError { problem: StoreProblem::Locked, .. })), "{second}");
        drop(database);
        fs::write(&path, [0; 5000]).unwrap();
        let damaged = explain(open(Some(&path), 1 << 20).unwrap_err(), "some.redb").to_string();
        assert!(damaged.contains("some.redb") && damaged.contains("it is damaged"), "{damaged}");
        fs::remove_dir_all(&directory).unwrap();
        assert!(open(Some(&path), 1 << 20).is_err(), "there is no such directory");
    }
}
