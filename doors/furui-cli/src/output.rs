//! Prints to standard output, or to the file of `--output`.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use crate::error::Error;
use crate::input::block::Block;
use crate::pipes;
use crate::streams::refuse_input;
use crate::streams::standard_output;

/// The output of a command: standard output, a file in its place, or nothing.
pub struct Output {
    file: Option<File>,
    /// The name of the output, for error messages.
    name: String,
    /// True if the output is a pipe, whose reader may be slow, or may close it.
    pipe: bool,
    /// True if standard output is appended to a file that is not empty.
    continues: bool,
    /// The number of bytes that were printed, whether or not they have arrived at a reader or on storage.
    printed: u64,
}

/// The state of the output after a print.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    Open,
    /// The reader of the pipe has not read everything yet.
    Busy,
    Closed,
}

impl Output {
    /// Makes an output that prints to standard output, or nowhere if `quiet`.
    pub fn new(quiet: bool) -> Result<Self, Error> {
        let name = STANDARD_OUTPUT.to_string();
        let file = if quiet { None } else { Some(standard_output().map_err(|error| failed(&name, error))?) };
        Ok(Self::to(file, name))
    }

    /// Makes an output that prints to the file at `path`, which is created or truncated. Without a path, or with "-",
    /// does the same as [`new`](Self::new). An output that is one of the inputs is an error before the file is changed,
    /// because the run would read what it writes.
    pub fn open(path: Option<&Path>, quiet: bool, inputs: &[&Path]) -> Result<Self, Error> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let output = Self::new(quiet)?;
            if let Some(file) = &output.file {
                refuse_input(file, None, STANDARD_OUTPUT, inputs)?;
            }
            return Ok(output);
        };
        let name = path.display().to_string();
        let open = || {
            let file = File::options().write(true).create(true).truncate(false).open(path)?;
            Ok((file.metadata()?.is_file(), file))
        };
        let (is_regular, file) = open().map_err(|error| failed(&name, error))?;
        if is_regular {
            refuse_input(&file, Some(path), "the file of --output", inputs)?;
            file.set_len(0).and_then(|()| sync_name(path)).map_err(|error| failed(&name, error))?;
        }
        Ok(Self::to(Some(file), name))
    }

    fn to(file: Option<File>, name: String) -> Self {
        file.as_ref().map(pipes::widen);
        let pipe = file.as_ref().is_some_and(pipes::is_pipe);
        let continues = file.as_ref().and_then(appended_length).is_some();
        Self { file, name, pipe, continues, printed: 0 }
    }

    /// True if the output is appended to a file that is not empty, as after `>>`.
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// Makes [`print_until`](Self::print_until) stop at its deadline even if the reader of a pipe reads nothing, where
    /// the system allows that.
    pub fn without_waiting(mut self) -> Self {
        if let Some(file) = self.file.as_ref().filter(|_| self.pipe).and_then(pipes::without_waiting) {
            self.file = Some(file);
        }
        self
    }

    /// True if the output is a pipe, and the system tells how much of it was read.
    pub fn is_pipe(&self) -> bool {
        self.pipe
    }

    /// The number of bytes that have been printed so far.
    pub fn printed(&self) -> u64 {
        self.printed
    }

    /// Prints the wanted lines of a block in one write. `wanted` has an answer for each line. The contents of the block
    /// are overwritten.
    pub fn write(&mut self, block: &mut Block, wanted: impl Iterator<Item = bool>) -> Result<Sink, Error> {
        if self.file.is_none() {
            return Ok(Sink::Open);
        }
        let kept = keep(block, wanted);
        self.print(&block.bytes()[..kept])
    }

    /// Prints all of `left`, unless the reader has closed the output.
    pub fn print(&mut self, mut left: &[u8]) -> Result<Sink, Error> {
        self.print_until(&mut left, None)
    }

    /// Prints the bytes `left`, and stops at `until`. Afterwards `left` holds the bytes that were not printed.
    pub fn print_until(&mut self, left: &mut &[u8], until: Option<Instant>) -> Result<Sink, Error> {
        let Some(file) = &mut self.file else {
            *left = &[];
            return Ok(Sink::Open);
        };
        while !left.is_empty() {
            match file.write(left) {
                Ok(0) => return Err(failed(&self.name, ErrorKind::WriteZero.into())),
                Ok(count) => {
                    *left = &left[count..];
                    self.printed += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The output is non-blocking, because of `without_waiting` or of another process.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if until.is_some_and(|until| until <= Instant::now()) {
                        return Ok(Sink::Busy);
                    }
                    pipes::wait_writable(file, until);
                }
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Sink::Closed),
                Err(error) => return Err(failed(&self.name, error)),
            }
        }
        Ok(Sink::Open)
    }

    /// Appends a separator if the output is appended to a file whose last line has none, because a run was killed.
    /// Otherwise the first line of this run would continue that line. Does nothing if the file cannot be read.
    pub fn mend(&mut self, separator: u8) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        // Standard output is rarely open for reading, so the file is opened again.
        let last = appended_length(file).and_then(|length| ends_with("/dev/fd/1".as_ref(), length));
        if last.is_some_and(|last| last != separator) {
            file.write_all(&[separator]).map_err(|error| failed(&self.name, error))?;
        }
        Ok(())
    }

    /// The number of printed bytes that have arrived. If the output is a file, it is synced first, and then all bytes
    /// have arrived. If it is a pipe, bytes have arrived once the reader has read them. `None` if the reader has closed
    /// the pipe.
    pub fn arrived(&self) -> Result<Option<u64>, Error> {
        let Some(file) = &self.file else { return Ok(Some(self.printed)) };
        if file.metadata().is_ok_and(|data| data.is_file()) {
            file.sync_all().map_err(|error| failed(&self.name, error))?;
        }
        Ok(match self.pipe {
            true => pipes::unread(file).map(|left| self.printed.saturating_sub(left)),
            false => Some(self.printed),
        })
    }

    /// Waits until all printed bytes have [arrived](Self::arrived), but at most until `until`. Ends early if the reader
    /// closes the pipe, which it may do before it has read everything.
    pub fn settle(&self, until: Option<Instant>) -> Result<Sink, Error> {
        if let Some(pipe) = self.file.as_ref().filter(|_| self.pipe) {
            return Ok(match pipes::wait_drained(pipe, until) {
                Some(0) => Sink::Open,
                Some(_) => Sink::Busy,
                None => Sink::Closed,
            });
        }
        self.arrived().map(|_| Sink::Open)
    }
}

/// The length of the file that `file` appends to. `None` if it is not a regular file, is empty, or is not open for
/// appending.
#[cfg(unix)]
fn appended_length(file: &File) -> Option<u64> {
    use rustix::fs::{OFlags, fcntl_getfl};
    let length = file.metadata().ok().filter(|data| data.is_file())?.len();
    (length > 0 && fcntl_getfl(file).ok()?.contains(OFlags::APPEND)).then_some(length)
}

#[cfg(not(unix))]
fn appended_length(_: &File) -> Option<u64> {
    None
}

/// The last byte of a file of this length. `None` if it is empty, or cannot be read.
pub fn ends_with(path: &Path, length: u64) -> Option<u8> {
    let mut last = [0];
    let mut file = (length > 0).then(|| File::open(path))?.ok()?;
    file.seek(SeekFrom::Start(length - 1)).ok()?;
    file.read_exact(&mut last).ok()?;
    Some(last[0])
}

/// The name of standard output, for errors.
const STANDARD_OUTPUT: &str = "standard output";

fn failed(name: &str, error: io::Error) -> Error {
    Error::io("cannot write to", name, error)
}

/// Syncs the directory of a file, so that the file is there after a power cut.
#[cfg(unix)]
fn sync_name(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(directory) {
        Ok(directory) => directory.sync_all(),
        // A directory may allow to make files, but not to be read.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn sync_name(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Moves the wanted lines to the front of the block, and returns the number of bytes that they take. Adjacent lines are
/// moved together.
pub fn keep(block: &mut Block, wanted: impl Iterator<Item = bool>) -> usize {
    let mut kept = 0;
    // The bytes from `piece` to `line` are wanted lines that are not moved yet.
    let (mut piece, mut line) = (0, 0);
    for (index, wanted) in wanted.enumerate().take(block.len()) {
        let next = block.next_line(index);
        if !wanted {
            if piece < line {
                block.bytes_mut().copy_within(piece..line, kept);
                kept += line - piece;
            }
            piece = next;
        }
        line = next;
    }
    block.bytes_mut().copy_within(piece..line, kept);
    kept + line - piece
}

/// Prints a text on standard output. It is not an error if the reader has closed the pipe.
pub fn print(text: &[u8]) -> Result<(), Error> {
    Output::new(false)?.print(text).map(drop)
}

/// True if standard output is a terminal that can show bold words, and the user wants that (<https://no-color.org>).
pub fn is_styled() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
