use std::{fmt, io};

use furui::format::Printable;

/// An error that ends a command. Text of strangers in its message is [`Printable`].
#[derive(Debug)]
pub enum Error {
    /// The library or the operating system failed.
    Library(furui::Error),
    /// Any other error. The message says what happened, where, and what to do.
    Message(String),
}

impl Error {
    /// Wraps an error of the operating system, with the operation and the file.
    pub(crate) fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        Self::Library(furui::Error::io(action, file, source))
    }
}

impl From<furui::Error> for Error {
    fn from(error: furui::Error) -> Self {
        Self::Library(error)
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

impl std::error::Error for Error {}
