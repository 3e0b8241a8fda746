//! A file, a pipe or a terminal that is read.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::interrupt::{Interrupt, Wait};
use crate::pipes;
use crate::streams::standard_input;

/// How long a block is gathered for, from its first bytes on, while more keep arriving: with a set on storage it pays
/// to look many lines up together. Nobody notices the wait.
const PATIENCE: Duration = Duration::from_millis(20);

/// An input that is open.
pub struct Input {
    file: File,
    pub name: String,
    /// A pipe or terminal, where reading may wait.
    waits: bool,
}

/// What reading brought.
#[derive(PartialEq, Eq)]
pub enum Fill {
    /// There are new bytes, or the buffer is full.
    Some,
    /// The time is over, and nothing has come.
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

    /// Whether there is nothing to read yet.
    pub fn would_wait(&self, interrupt: &Interrupt) -> bool {
        self.waits && interrupt.ready(&self.file, Duration::ZERO) != Wait::Ready
    }

    /// Reads what is there, waiting only if nothing is, or with patience a moment for more. Nothing may be read by then.
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
                // What was read is gone from the pipe: it is answered first, and the next call ends the input.
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
                // Somebody has set standard input not to wait: the waiting is done above.
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.waits = true,
                Err(error) => return Err(Error::io("cannot read", &self.name, error)),
            }
        }
        Ok(state)
    }
}
