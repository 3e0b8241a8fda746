use std::io;

use furui::Error;

use crate::database;

/// An error of the layers below a shelf, which do not know the name of the file.
#[derive(Debug)]
pub(super) enum Fault {
    /// An error of the database library.
    Database(redb::Error),
    /// The database is damaged. The text names the table and the row.
    Damaged(String),
    /// An error of another kind, which names its file.
    Other(Error),
}

/// The result of an operation on the tables.
pub(super) type Outcome<T> = Result<T, Fault>;

impl<E: Into<redb::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

impl Fault {
    /// Makes the error for a row that furui cannot have written.
    pub(super) fn damaged(table: &str, row: impl std::fmt::Debug) -> Self {
        Self::Damaged(format!("damaged: table {table:?}, row {row:?}"))
    }

    /// Adds the name of the database's file to the error.
    pub(super) fn at(self, file: &str) -> Error {
        match self {
            Self::Other(error) => error,
            Self::Damaged(what) => Error::io("cannot read", file, io::Error::new(io::ErrorKind::InvalidData, what)),
            Self::Database(error) => database::explain(error, file),
        }
    }
}
