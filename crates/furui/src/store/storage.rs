use std::io;

use crate::error::Result;
use crate::format::ReadAt;

/// Where a store keeps its files: immutable, each under a name, published whole.
///
/// There is no way to change a file, and no way to see one half written; that is all the cascade and its manifest
/// build upon. A name is a plain file name: not empty, without separators, not `.` or `..`.
pub trait Storage {
    /// An open file. It stays readable, with the bytes it had, when its name is published again or removed.
    type File: ReadAt;

    /// Opens the file of this name.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io); of kind [`NotFound`](io::ErrorKind::NotFound) if there is no such file.
    fn open(&self, name: &str) -> Result<Self::File>;

    /// Writes a file and, once it is whole and durable, gives it its name, in place of what had that name before. What
    /// `write` returns is returned.
    ///
    /// # Errors
    /// Whatever `write` returns, and then nothing has changed; or [`Error::Io`](crate::Error::Io), and then the name
    /// stands for the old file or for the new one, whole in either case.
    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn io::Write) -> Result<T>) -> Result<T>;

    /// Removes a file. After a crash it may be there again.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), also if there is no such file.
    fn remove(&self, name: &str) -> Result<()>;

    /// The names of all files, sorted.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn list(&self) -> Result<Vec<String>>;

    /// The name as messages should give it: with the directory, if there is one.
    fn path(&self, name: &str) -> String;
}
