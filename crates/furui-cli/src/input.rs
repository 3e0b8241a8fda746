//! Reading from a file, a pipe or a terminal.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::decode::{Compression, Decoder, Start};
use crate::error::Error;
use crate::interrupt::{Interrupt, Wait};
use crate::pipes;
use crate::streams::standard_input;

/// How long the input for a large block is gathered, from its first bytes on. In a set on storage it is cheaper to look
/// up many lines together. The delay is too short to notice.
const PATIENCE: Duration = Duration::from_millis(20);

/// A read of fewer bytes than this has most likely emptied the pipe, so its bytes are handed out without a look for more. A program
/// that sends a line and waits for the answer gets it sooner.
const FEW: usize = 4096;

/// An open input.
pub struct Input {
    file: File,
    pub name: String,
    /// True for a pipe or a terminal, where a read may wait.
    waits: bool,
    /// True if a read returns instead of waiting.
    nonblocking: bool,
    decoding: Decoding,
    /// The error to return after the bytes that were read before it.
    failure: Option<Error>,
}

/// Whether an input is decoded.
enum Decoding {
    /// The first bytes, which tell whether the input is compressed, have not arrived.
    Unknown,
    No,
    /// The input is decoded. Its file is a pipe, which poll reports as readable while a read from this decoder would not wait.
    By(Decoder),
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

/// The name of an input in messages.
pub fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_string() } else { path.display().to_string() }
}

impl Input {
    /// Opens a file, or standard input for "-". If `decodes`, compressed contents are decoded.
    pub fn open(path: &Path, decodes: bool) -> Result<Self, Error> {
        let name = name_of(path);
        let file = if path.as_os_str() == "-" { standard_input() } else { File::open(path) };
        let describe = |error| Error::io("cannot read", &name, error);
        let file = file.map_err(describe)?;
        let kind = file.metadata().map_err(describe)?.file_type();
        if kind.is_dir() {
            return Err(describe(io::Error::from(ErrorKind::IsADirectory)));
        }
        pipes::widen(&file);
        let decoding = if decodes { Decoding::Unknown } else { Decoding::No };
        Ok(Self { file, name, waits: !kind.is_file(), nonblocking: false, decoding, failure: None })
    }

    /// True if a thread decodes the input.
    pub fn is_decoded(&self) -> bool {
        matches!(self.decoding, Decoding::By(_))
    }

    /// True if a read would wait now.
    pub fn would_wait(&self, interrupt: &Interrupt) -> bool {
        self.waits && interrupt.ready(&self.file, Duration::ZERO) != Wait::Ready
    }

    /// Reads until the first bytes tell whether the input is compressed. If it is, starts a decoder, and removes these
    /// bytes from the buffer, which must hold nothing else.
    fn look(
        &mut self,
        buffer: &mut [u8],
        filled: &mut usize,
        interrupt: &Interrupt,
        until: Option<Instant>,
    ) -> Result<Wait, Error> {
        while let Decoding::Unknown = self.decoding {
            let wait = match (self.waits, until) {
                (false, _) => interrupt.check(),
                (true, None) => interrupt.wait(&self.file),
                (true, Some(until)) => interrupt.ready(&self.file, until.saturating_duration_since(Instant::now())),
            };
            if wait != Wait::Ready {
                return Ok(wait);
            }
            let count = self.read(&mut buffer[*filled..])?;
            *filled += count.unwrap_or(0);
            match Compression::of(&buffer[..*filled]) {
                Start::Compressed(compression) => {
                    let file = self.file.try_clone();
                    let started = file.and_then(|file| Decoder::start(compression, buffer[..*filled].to_vec(), file));
                    let (pipe, decoder) = started.map_err(|error| Error::io("cannot decode", &self.name, error))?;
                    *filled = 0;
                    (self.file, self.waits, self.decoding) = (pipe, true, Decoding::By(decoder));
                }
                Start::Short if count != Some(0) => {}
                Start::Short | Start::Plain => self.decoding = Decoding::No,
            }
        }
        Ok(Wait::Ready)
    }

    /// Reads once. `None` if the read was interrupted, or would have had to wait.
    fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        let read = match &mut self.decoding {
            Decoding::By(decoder) => decoder.read(buffer, &self.file),
            Decoding::Unknown | Decoding::No => self.file.read(buffer),
        };
        match read {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
            // Another process has made standard input non-blocking, so from now on the loop polls before each read.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                (self.waits, self.nonblocking) = (true, true);
                Ok(None)
            }
            Err(error) => Err(Error::io("cannot read", &self.name, error)),
        }
    }

    /// Ends the decoder, if there is one, when nothing is left to read.
    fn finish(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.decoding, Decoding::No) {
            Decoding::By(decoder) => {
                decoder.finish().map_err(|problem| Error::Message(format!("{}: {problem}", self.name)))
            }
            Decoding::Unknown | Decoding::No => Ok(()),
        }
    }

    /// Reads the available bytes. If there are none, waits until `until`; if `patient`, then waits a moment longer for
    /// more.
    pub fn fill(
        &mut self,
        buffer: &mut [u8],
        filled: &mut usize,
        interrupt: &Interrupt,
        patient: bool,
        until: Option<Instant>,
    ) -> Result<Fill, Error> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let mut state = Fill::Some;
        let mut first = None;
        let mut before = *filled;
        if let Decoding::Unknown = self.decoding {
            before = 0;
            match self.look(buffer, filled, interrupt, until)? {
                Wait::Interrupted => return Ok(Fill::Interrupted),
                Wait::Nothing => return Ok(Fill::Some),
                Wait::Ready if *filled > 0 => first = Some(Instant::now()),
                Wait::Ready => {}
            }
        }
        while *filled < buffer.len() {
            let wait = match (self.waits, first) {
                (false, _) => interrupt.check(),
                (true, None) => match until {
                    // In blocking mode, the read itself waits.
                    None if !self.nonblocking && !interrupt.listens() => Wait::Ready,
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
            let read = self.read(&mut buffer[*filled..]).and_then(|count| match count {
                Some(0) => self.finish().map(|()| count),
                count => Ok(count),
            });
            match read {
                Ok(Some(0)) => {
                    state = Fill::End;
                    break;
                }
                Ok(Some(count)) => {
                    *filled += count;
                    // A decoder's next chunk may be there already.
                    if self.waits && !patient && count < FEW && !matches!(self.decoding, Decoding::By(_)) {
                        break;
                    }
                }
                Ok(None) => {}
                // The bytes before the error are handed out first.
                Err(error) if *filled > before => {
                    self.failure = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(state)
    }
}
