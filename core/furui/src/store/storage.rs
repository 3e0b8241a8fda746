use std::io;

use crate::error::Result;
use crate::format::ReadAt;

/// The place where a store keeps its files: immutable files, each published atomically under a name, and logs, which
/// grow at their end.
///
/// A file cannot be changed, and cannot be seen half written. The cascade and its manifest need no other guarantees. A
/// name is a plain file name: not empty, without separators, not `.` or `..`.
///
/// ```
/// use furui::Error;
/// use furui::store::{Memory, ReadAt, Storage};
///
/// let storage = Memory::new();
/// storage.publish("greeting", |out| {
///     out.write_all(b"hello").map_err(|source| Error::io("cannot write", "greeting", source))
/// })?;
/// assert_eq!(storage.list()?, ["greeting"]);
/// assert_eq!(storage.open("greeting")?.len(), 5);
/// # Ok::<(), furui::Error>(())
/// ```
pub trait Storage {
    /// An open file. Its bytes can still be read after its name was published again or removed.
    type File: ReadAt;

    /// Opens the file with this name.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io); of kind [`NotFound`](io::ErrorKind::NotFound) if there is no such file.
    fn open(&self, name: &str) -> Result<Self::File>;

    /// Writes a file, and gives it its name once it is whole and durable, in place of an older file of that name.
    /// Returns the value that `write` returns.
    ///
    /// # Errors
    /// The error of `write`: nothing has changed then. [`Error::Io`](crate::Error::Io): the name then stands for either
    /// the old file or the new one, and that file is complete.
    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn io::Write) -> Result<T>) -> Result<T>;

    /// Publishes a file with the bytes `head` as [`publish`](Self::publish) does, and returns a handle that appends to
    /// it. An open file shows the bytes that it had when it was opened. A log may be replaced or removed like any other
    /// file.
    ///
    /// # Errors
    /// Those of [`publish`](Self::publish).
    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>>;

    /// Removes a file. After a crash of the machine, the file may exist again.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), also if there is no such file.
    fn remove(&self, name: &str) -> Result<()>;

    /// The names of all files, sorted.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn list(&self) -> Result<Vec<String>>;

    /// The name of a file as error messages show it: with the path of the directory, if there is one.
    fn path(&self, name: &str) -> String;
}

/// A log that [`Storage::log`] has made, open for appending.
///
/// ```
/// use furui::store::{Memory, ReadAt, Storage};
///
/// let storage = Memory::new();
/// let mut log = storage.log("JOURNAL", b"head")?;
/// log.append(b"record")?;
/// assert_eq!(storage.open("JOURNAL")?.len(), 10);
/// # Ok::<(), furui::Error>(())
/// ```
pub trait Log: Send + Sync {
    /// Appends bytes. When this returns, they are durable, and so is everything that was appended before. If the
    /// process or the machine stops before that, storage has some part of the bytes.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io). The log must not be used after an error: it is not known which bytes storage
    /// has, and a second attempt would not show it.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;
}
