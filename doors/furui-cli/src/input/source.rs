//! Reading from a file, a pipe or a terminal.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::decode::{Compression, Decoder};
use crate::error::Error;
use crate::input::magic::Contents;
use crate::input::reading::Looks;
use crate::interrupt::{Interrupt, Wait};
use crate::pipes;
use crate::say::quote::{with, word};
use crate::streams::standard_input;

/// The time for which input for a large block is gathered, counted from its first bytes. Looking up many lines together
/// is cheaper in a set on storage, and the delay is too short to notice.
const PATIENCE: Duration = Duration::from_millis(20);

/// A read of fewer bytes than this has most likely emptied the pipe, so its bytes are handed out without another read.
/// A program that sends a line and waits for the answer then gets it sooner.
const FEW: usize = 4096;

/// An open input, which is read from its current position, and may be a pipe.
pub struct Input {
    file: File,
    pub name: String,
    /// True for a pipe or a terminal, where a read may wait.
    waits: bool,
    /// True if the file is non-blocking, so that a read returns instead of waiting.
    nonblocking: bool,
    /// The decoder of a compressed input. The file is then a pipe, which poll reports as readable while a read from the
    /// decoder would not wait.
    decoder: Option<Decoder>,
    /// The examination of the first bytes that is still to be made before they are handed out.
    question: Question,
    /// The name of the file as a word of the shell, for messages; `None` for standard input.
    word: Option<String>,
    /// The error to return after the bytes that were read before it occurred.
    failure: Option<Error>,
}

/// An examination of the first bytes of an input.
enum Question {
    None,
    /// Finds out if the input is compressed, and if it is text.
    Contents(Looks),
    /// Finds out if the data that was decoded from this format is text.
    Text(Compression),
}

/// The result of reading from an input into a buffer.
#[derive(PartialEq, Eq)]
pub enum Fill {
    /// New bytes were read, or the buffer is full.
    Some,
    /// Nothing arrived before the deadline.
    Nothing,
    /// The input has ended: nothing will arrive any more.
    End,
    Interrupted,
}

/// The name of an input in messages: its path, or `standard input`.
pub fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_string() } else { path.display().to_string() }
}

impl Input {
    /// Opens a file, or standard input for "-". `looks` has the limits for compressed input and for input that is not
    /// text; `None` reads bytes as they are.
    pub fn open(path: &Path, looks: Option<Looks>) -> Result<Self, Error> {
        let name = name_of(path);
        let is_standard = path.as_os_str() == "-";
        let file = if is_standard { standard_input() } else { File::open(path) };
        let describe = |error| Error::io("cannot read", &name, error);
        let file = file.map_err(describe)?;
        let kind = file.metadata().map_err(describe)?.file_type();
        if kind.is_dir() {
            return Err(describe(io::Error::from(ErrorKind::IsADirectory)));
        }
        pipes::widen(&file);
        Ok(Self {
            file,
            waits: !kind.is_file(),
            nonblocking: false,
            decoder: None,
            question: looks.map_or(Question::None, Question::Contents),
            word: (!is_standard).then(|| word(&name)),
            failure: None,
            name,
        })
    }

    /// True if the input is compressed, so that a thread decodes it.
    pub fn is_decoded(&self) -> bool {
        self.decoder.is_some()
    }

    /// True if a read would wait, because no bytes have arrived.
    pub fn would_wait(&self, interrupt: &Interrupt) -> bool {
        self.waits && interrupt.ready(&self.file, Duration::ZERO) != Wait::Ready
    }

    /// Reads until the first bytes show what the input holds. If it is compressed, starts a decoder, and removes the
    /// bytes from the buffer, which must hold nothing else. An input that is not text is an error. Lines end in
    /// `separator`. Returns `None` at the end of the input.
    fn look(
        &mut self,
        buffer: &mut [u8],
        filled: &mut usize,
        separator: u8,
        interrupt: &Interrupt,
        until: Option<Instant>,
    ) -> Result<Option<Wait>, Error> {
        while !matches!(self.question, Question::None) {
            let wait = match (self.waits, until) {
                (false, _) => interrupt.check(),
                (true, None) => interrupt.wait(&self.file),
                (true, Some(until)) => interrupt.ready(&self.file, until.saturating_duration_since(Instant::now())),
            };
            if wait != Wait::Ready {
                return Ok(Some(wait));
            }
            let count = self.read(&mut buffer[*filled..])?;
            *filled += count.unwrap_or(0);
            let is_all = count == Some(0);
            let is_br = self.decoder.is_none() && self.name.ends_with(".br");
            match (Contents::of(&buffer[..*filled], is_all, separator, is_br), &self.question) {
                (Contents::Short, _) => {}
                (Contents::Compressed(compression), Question::Contents(looks)) => {
                    let (file, looks) = (self.file.try_clone(), *looks);
                    let head = buffer[..*filled].to_vec();
                    let started = file.and_then(|file| Decoder::start(compression, looks.memory, head, file));
                    let (pipe, decoder) = started.map_err(|error| Error::io("cannot decode", &self.name, error))?;
                    *filled = 0;
                    (self.file, self.waits, self.decoder) = (pipe, true, Some(decoder));
                    self.question = if looks.binary { Question::None } else { Question::Text(compression) };
                }
                (contents, question) => {
                    self.check(contents, question)?;
                    self.question = Question::None;
                    if is_all {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(Wait::Ready))
    }

    /// Returns an error if the contents that were found are not text, unless the user allows any bytes.
    fn check(&self, found: Contents, question: &Question) -> Result<(), Error> {
        let outer = match question {
            Question::Contents(looks) if looks.binary => return Ok(()),
            Question::Text(compression) => Some(*compression),
            Question::Contents(_) | Question::None => None,
        };
        let word = self.word.as_deref();
        let outer_command = outer.map(|outer| with(&format!("{} -dc", outer.program()), word));
        let (what, command) = match (found, &outer_command) {
            (Contents::Foreign(foreign), None) => (foreign.description(), foreign.command(word)),
            (Contents::Foreign(foreign), Some(outer)) => {
                (foreign.description(), format!("{outer} | {}", foreign.command(None)))
            }
            (Contents::Compressed(inner), Some(outer)) => (format!("{inner} data"), outer.clone()),
            _ => return Ok(()),
        };
        let within = outer.map(|outer| format!(" within {outer} data")).unwrap_or_default();
        Err(Error::Message(format!(
            "{}: this looks like {what}{within}, not like lines of text: pipe what `{command}` prints into furui; with --binary \
             the bytes are read as lines",
            self.name
        )))
    }

    /// Reads once, and returns the number of bytes, which is 0 at the end. `None` if the read was interrupted, or would
    /// have had to wait.
    fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        let read = match &mut self.decoder {
            Some(decoder) => decoder.read(buffer, &self.file),
            None => self.file.read(buffer),
        };
        match read {
            Ok(0) => self.finish().map(|()| Some(0)),
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

    /// Waits for the decoder to end, if there is one, after everything was read, and returns its error.
    fn finish(&mut self) -> Result<(), Error> {
        let finished = self.decoder.take().map_or(Ok(()), |decoder| decoder.finish(self.word.as_deref()));
        finished.map_err(|problem| Error::Message(format!("{}: {problem}", self.name)))
    }

    /// Reads the available bytes of the input into the rest of the buffer. If there are none, waits until `until`; if
    /// `patient`, then waits a moment longer for more. Lines end in `separator`.
    pub fn fill(
        &mut self,
        buffer: &mut [u8],
        filled: &mut usize,
        separator: u8,
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
        if !matches!(self.question, Question::None) {
            before = 0;
            match self.look(buffer, filled, separator, interrupt, until)? {
                None => return Ok(Fill::End),
                Some(Wait::Interrupted) => return Ok(Fill::Interrupted),
                Some(Wait::Nothing) => return Ok(Fill::Some),
                Some(Wait::Ready) if *filled > 0 => first = Some(Instant::now()),
                Some(Wait::Ready) => {}
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
                // The bytes that were read are no longer in the pipe, so they are handed out. The next call ends the
                // input.
                Wait::Interrupted if *filled > before => break,
                Wait::Interrupted => return Ok(Fill::Interrupted),
            }
            match self.read(&mut buffer[*filled..]) {
                Ok(Some(0)) => {
                    state = Fill::End;
                    break;
                }
                Ok(Some(count)) => {
                    *filled += count;
                    // The next chunk of a decoder may have arrived already.
                    if self.waits && !patient && count < FEW && self.decoder.is_none() {
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
