//! Reading from a file, a pipe or a terminal.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::interrupt::{Interrupt, Wait};
use crate::pipes;
use crate::streams::standard_input;

/// How long a large block is gathered, from its first bytes on, while more arrive. With a set on storage, looking up many lines
/// together is cheaper. The delay is too short to notice.
const PATIENCE: Duration = Duration::from_millis(20);

/// An open input.
pub struct Input {
    file: File,
    pub name: String,
    /// True for a pipe or a terminal, where a read may wait.
    waits: bool,
}

/// The result of a read.
#[derive(PartialEq, Eq)]
pub enum Fill {
    /// There are new bytes, or the buffer is full.
    Some,
    /// Nothing arrived before the deadline.
    Nothing,
    /// The file is read to its end.
    End,
    Interrupted,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let (file, name) = if path.as_os_str() == "-" {
            (standard_input(), "standard input".to_string())
        } else {
            (File::open(path), path.display().to_string())
        };
        let describe = |error| Error::io("cannot read", &name, error);
        let file = file.map_err(describe)?;
        let kind = file.metadata().map_err(describe)?.file_type();
        if kind.is_dir() {
            return Err(describe(io::Error::from(ErrorKind::IsADirectory)));
        }
        pipes::widen(&file);
        Ok(Self { file, name, waits: !kind.is_file() })
    }

    /// True if a read would wait now.
    pub fn would_wait(&self, interrupt: &Interrupt) -> bool {
        self.waits && interrupt.ready(&self.file, Duration::ZERO) != Wait::Ready
    }

    /// Reads the available bytes. If there are none, waits until `until`; with `patience`, then waits a moment longer
    /// for more.
    pub fn fill(
        &mut self,
        buffer: &mut [u8],
        filled: &mut usize,
        interrupt: &Interrupt,
        patient: bool,
        until: Option<Instant>,
    ) -> Result<Fill, Error> {
        let mut state = Fill::Some;
        let before = *filled;
        let mut first = None;
        while *filled < buffer.len() {
            let wait = match (self.waits, first) {
                (false, _) => interrupt.check(),
                (true, None) => match until {
                    None => interrupt.wait(&self.file),
                    Some(until) => interrupt.ready(&self.file, until.saturating_duration_since(Instant::now())),
                },
                (true, Some(_)) if !patient => interrupt.ready(&self.file, Duration::ZERO),
                (true, Some(first)) => interrupt.ready(&self.file, PATIENCE.saturating_sub(Instant::elapsed(&first))),
            };
            if *filled == before {
                first = Some(Instant::now());
            }
            match wait {
                Wait::Ready => {}
                Wait::Nothing => break,
                // The bytes that were read are no longer in the pipe, so they are handed out. The next call ends the input.
                Wait::Interrupted if *filled > before => break,
                Wait::Interrupted => return Ok(Fill::Interrupted),
            }
            match self.file.read(&mut buffer[*filled..]) {
                Ok(0) => {
                    state = Fill::End;
                    break;
                }
                Ok(count) => *filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Another process has made standard input non-blocking, so the loop waits by a poll.
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.waits = true,
                Err(error) => return Err(Error::io("cannot read", &self.name, error)),
            }
        }
        Ok(state)
    }
}
