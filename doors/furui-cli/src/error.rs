//! The error type of the commands.

use std::fmt;
use std::io;

use furui::format::Printable;

/// An error that ends the command, and whose message is printed on standard error. Text in the message that comes from
/// outside, such as names of files and columns, is [`Printable`].
#[derive(Debug)]
pub enum Error {
    /// An error of the crate `furui`, whose message already says where and what to do.
    Library(furui::Error),
    /// Anything else: the message says what happened, where, and what to do.
    Message(String),
}

impl Error {
    /// Wraps an error of the operating system, with the operation and the file.
    pub fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        Self::Library(furui::Error::io(action, file, source))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => error.fmt(f),
            Self::Message(message) => Printable(message).fmt(f),
        }
    }
}

impl<E> From<E> for Error
where
    furui::Error: From<E>,
{
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}
