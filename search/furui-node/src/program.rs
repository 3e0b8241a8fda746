use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// The program to which the commands belong, which provides their input, output and messages.
pub trait Program: Sync {
    /// Prints bytes on standard output. Returns false if the reader has closed the pipe.
    ///
    /// # Errors
    /// If standard output is closed, or cannot be written to.
    fn print(&self, bytes: &[u8]) -> Result<bool, Error>;

    /// True if standard output is a terminal that can show bold words, and the user wants that.
    fn is_styled(&self) -> bool;

    /// Prints a message on standard error, without ending the command.
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

    /// Makes a progress bar for reading these files. The returned function advances it by a number of bytes; dropping
    /// the function removes the bar.
    fn progress(&self, what: &'static str, files: &[PathBuf]) -> Box<dyn FnMut(usize)>;
}

/// An event while reading the lines of a file.
pub enum Part<'a> {
    /// A line without its line end, and the file and line number, for messages.
    Line(&'a [u8], String),
    /// The number of bytes read since the last such event.
    Read(usize),
    /// No further line is available yet, so buffered data should be sent.
    Pause,
}
