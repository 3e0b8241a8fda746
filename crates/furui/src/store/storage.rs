use std::io;

use crate::error::Result;
use crate::format::ReadAt;

/// Where a store keeps its files: immutable, each under a name, published whole; and logs, which grow at their end.
///
/// There is no way to change what a file has, and no way to see one half written; that is all the cascade and its
/// manifest build upon. A name is a plain file name: not empty, without separators, not `.` or `..`.
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

    /// Publishes a file of the bytes `head`, as [`publish`](Self::publish) does, that can then be appended to. Whoever opens
    /// it sees what it had at that moment, and it may be replaced or removed as any other.
    ///
    /// # Errors
    /// Those of [`publish`](Self::publish).
    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>>;

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

/// The end of a file that [`Storage::log`] has made.
pub trait Log: Send + Sync {
    /// Appends these bytes. Once this has returned they are durable, and all that was appended before; if the process or the
    /// machine stops before, storage has any part of them.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and then the log is of no more use: what storage has of the bytes nobody knows, and a
    /// second attempt would not tell.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;
}
