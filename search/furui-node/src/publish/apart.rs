use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use furui_pages::Entry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::extract;

/// The time after which a file must have been read. Chosen: twice the processor time that its reader has.
const PATIENCE: Duration = Duration::from_secs(2 * extract::SECONDS);
/// The maximum size of the documents of a file in bytes, as JSON. Chosen: a thousandth of it is a book.
const MAX_OUTPUT: usize = 256 << 20;
/// The maximum size of one document in bytes, as JSON. Derived: twice the text that a reader puts into one, some
/// letters of which are escaped.
const MAX_ENTRY: usize = 4 << 20;
/// The number of bytes that are read at a time.
const BUFFER: usize = 64 << 10;

/// The signals by which a process is asked to end.
const INTERRUPTIONS: [Signal; 3] = [Signal::HUP, Signal::INT, Signal::TERM];

/// The documents of a file whose reader bounds neither its memory nor its time. It runs in a process of its own, with
/// limits, which is this program as `furui extract`; whatever happens to it is an entry, [`Entry::Broken`].
///
/// What the process prints is not believed: it is read up to a maximum, and the process is killed if it does not end.
pub(super) struct Apart {
    child: Child,
    output: ChildStdout,
    /// What was read, from `start` on not yet returned.
    buffer: Vec<u8>,
    start: usize,
    /// The number of bytes that the process may still print.
    left: usize,
    deadline: Instant,
    is_ended: bool,
    is_interrupted: bool,
}

impl Apart {
    /// Starts a process that reads the file, from its beginning.
    ///
    /// # Errors
    /// If there can be no process, or if the file cannot be read from its beginning, as a pipe cannot.
    pub(super) fn start(mut file: File) -> io::Result<Self> {
        file.rewind()?;
        let mut command = Command::new(program()?);
        command.arg(extract::NAME).stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        let deadline = Instant::now() + PATIENCE;
        let (buffer, start, left) = (Vec::new(), 0, MAX_OUTPUT);
        Ok(Self { child, output, buffer, start, left, deadline, is_ended: false, is_interrupted: false })
    }

    /// True if the process was asked to end, as all are when the machine or the service stops, or by ^C. Then nothing
    /// is wrong with the file.
    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// The next line without its end; `None` if there are no more. A line that is cut off is none.
    fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut searched = self.start;
        loop {
            if let Some(length) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                let line = self.buffer[self.start..searched + length].to_vec();
                self.start = searched + length + 1;
                return Ok(Some(line));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            searched = self.buffer.len();
            if searched > MAX_ENTRY {
                return Err(format!("a document of more than {MAX_ENTRY} bytes"));
            }
            self.wait()?;
            self.buffer.resize(searched + BUFFER.min(self.left), 0);
            let read = self.output.read(&mut self.buffer[searched..]);
            self.buffer.truncate(searched + read.as_ref().copied().unwrap_or_default());
            match read {
                Ok(0) if self.left == 0 => return Err(format!("documents of more than {MAX_OUTPUT} bytes")),
                Ok(0) => return Ok(None),
                Ok(read) => self.left -= read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// Waits until the process has printed something, or has ended.
    fn wait(&self) -> Result<(), String> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(|error| error.to_string())?;
            match poll(&mut [PollFd::new(&self.output, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Err(format!("not read within {} seconds", PATIENCE.as_secs())),
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// Waits for the process, which closes its output only by ending. Returns what went wrong.
    fn end(&mut self) -> Option<String> {
        match self.child.wait() {
            Ok(status) if status.success() => None,
            Ok(status) if INTERRUPTIONS.map(Signal::as_raw).map(Some).contains(&status.signal()) => {
                self.is_interrupted = true;
                None
            }
            Ok(status) => Some(failure(status)),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl Iterator for Apart {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.is_ended {
            return None;
        }
        let why = match self.line() {
            Ok(Some(line)) => match serde_json::from_slice(&line) {
                Ok(entry) => return Some(entry),
                Err(_) => "its reader has printed what is no document".into(),
            },
            Ok(None) => {
                self.is_ended = true;
                self.end()?
            }
            Err(why) => why,
        };
        self.is_ended = true;
        Some(Entry::Broken { place: String::new(), why })
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the end of the process means.
fn failure(status: ExitStatus) -> String {
    let signal = status.signal().and_then(Signal::from_named_raw);
    let (memory, seconds) = (extract::MEMORY >> 30, extract::SECONDS);
    match signal {
        Some(Signal::ABORT | Signal::SEGV) => {
            format!("its reader needs more than {memory} GiB of memory, or the file is damaged")
        }
        Some(Signal::XCPU) => format!("its reader needs more than {seconds} seconds of processor time"),
        _ => format!("its reader has failed: {status}"),
    }
}

/// The path of this program. On Linux it is still the same if the file was replaced since the start.
fn program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}
