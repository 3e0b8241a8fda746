use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// The program that the commands are a part of: its input, its output and its messages.
pub trait Program: Sync {
    /// Prints bytes on standard output. False if the reader has closed the pipe and wants no more.
    ///
    /// # Errors
    /// If standard output is closed, or cannot be written to.
    fn print(&self, bytes: &[u8]) -> Result<bool, Error>;

    /// True if standard output is a terminal that can show bold words, and the user wants that.
    fn is_styled(&self) -> bool;

    /// Prints a message on standard error, and goes on.
    fn complain(&self, message: &str);

    /// Standard input.
    ///
    /// # Errors
    /// If it was closed when the process began.
    fn input(&self) -> io::Result<File>;

    /// Reads the lines of a file, or of standard input for "-". Of a line that is longer than `most` bytes, at least
    /// one byte more is given, so that it can be told from others, but not all of it.
    ///
    /// # Errors
    /// If the file cannot be read, and those of `take`.
    fn lines(&self, path: &Path, most: usize, take: &mut dyn FnMut(Part<'_>) -> Result<(), Error>)
    -> Result<(), Error>;

    /// A progress bar for reading these files, which goes on by the bytes that it is told, and is cleared when it is
    /// dropped.
    fn progress(&self, what: &'static str, files: &[PathBuf]) -> Box<dyn FnMut(usize)>;
}

/// A part of the lines of a file.
pub enum Part<'a> {
    /// A line without its end, and the file and number of the line, for messages.
    Line(&'a [u8], String),
    /// This many bytes were read for the lines since the last such part.
    Read(usize),
    /// More lines would have to be waited for: what is held back should be sent now.
    Pause,
}
