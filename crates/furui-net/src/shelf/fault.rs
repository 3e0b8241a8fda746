use std::io;

use furui::Error;

use crate::database;

/// What can go wrong beneath a shelf, before it is known which file it was.
#[derive(Debug)]
pub(super) enum Fault {
    /// The database's own error.
    Database(redb::Error),
    /// What it holds cannot be: which table, and what of it.
    Damaged(String),
    /// Anything else, with its file.
    Other(Error),
}

/// The result of what uses the tables.
pub(super) type Outcome<T> = Result<T, Fault>;

impl<E: Into<redb::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

impl Fault {
    /// A row that no writer makes.
    pub(super) fn damaged(table: &str, row: impl std::fmt::Debug) -> Self {
        Self::Damaged(format!("damaged: table {table:?}, row {row:?}"))
    }

    /// The error, with the name of the database's file.
    pub(super) fn at(self, file: &str) -> Error {
        match self {
            Self::Other(error) => error,
            Self::Damaged(what) => Error::io("cannot read", file, io::Error::new(io::ErrorKind::InvalidData, what)),
            Self::Database(error) => database::explain(error, file),
        }
    }
}
