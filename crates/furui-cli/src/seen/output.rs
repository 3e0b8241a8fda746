//! The lines that are printed.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use furui::Error;
use furui::seen::Verdict;

use crate::blocks::Block;

/// Standard output, or nothing.
pub struct Output {
    file: Option<File>,
}

/// Whether anyone still reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    Open,
    Closed,
}

impl Output {
    /// Prints to standard output, or nowhere if `quiet`.
    pub fn new(quiet: bool) -> Result<Self, Error> {
        let file = if quiet { None } else { Some(standard_output().map_err(failed)?) };
        Ok(Self { file })
    }

    /// Prints the lines of a block that have the wanted verdict, in one write. The block is used up.
    pub fn write(&mut self, block: &mut Block<'_>, verdicts: &[Verdict], wanted: Verdict) -> Result<Sink, Error> {
        let Some(file) = &mut self.file else { return Ok(Sink::Open) };
        match file.write_all(keep(block, verdicts, wanted)) {
            Ok(()) => Ok(Sink::Open),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Sink::Closed),
            Err(error) => Err(failed(error)),
        }
    }

    /// Ends a line that a killed run left without its end, if the output is appended to a file: the first line to come must
    /// stand by itself. Where the file cannot be read, nothing is done.
    pub fn mend(&mut self, separator: u8) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let torn = || -> io::Result<bool> {
            let mut written = File::open("/dev/fd/1")?;
            if !written.metadata()?.is_file() || written.seek(SeekFrom::End(0))? == 0 {
                return Ok(false);
            }
            written.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            written.read_exact(&mut last)?;
            Ok(last != [separator])
        };
        if torn().unwrap_or(false) {
            file.write_all(&[separator]).map_err(failed)?;
        }
        Ok(())
    }

    /// Waits until what was printed is on the disk, if it goes to one.
    pub fn sync(&self) -> Result<(), Error> {
        match &self.file {
            Some(file) if file.metadata().is_ok_and(|data| data.is_file()) => file.sync_all().map_err(failed),
            _ => Ok(()),
        }
    }
}

fn failed(error: io::Error) -> Error {
    Error::io("cannot write to", "standard output", error)
}

/// Moves the lines with the wanted verdict to the front of the block: neighbours go in one piece.
fn keep<'a>(block: &'a mut Block<'_>, verdicts: &[Verdict], wanted: Verdict) -> &'a [u8] {
    let mut kept = 0;
    // The lines from `piece` to `line` are wanted and not moved yet.
    let (mut piece, mut line) = (0, 0);
    for (index, &verdict) in verdicts.iter().enumerate().take(block.len()) {
        let next = block.next_line(index);
        if verdict != wanted {
            if piece < line {
                block.bytes.copy_within(piece..line, kept);
                kept += line - piece;
            }
            piece = next;
        }
        line = next;
    }
    block.bytes.copy_within(piece..line, kept);
    &block.bytes[..kept + line - piece]
}

/// Standard output as a file, without the standard library's line buffer between.
#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn standard_output() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
