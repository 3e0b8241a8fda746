//! Runs `furui` with limits of memory and time.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Limits the address space of a command to 1 GiB, where the system can.
const LIMITED: &str = "ulimit -c 0; ulimit -v 1048576 2>/dev/null; exec \"$0\" \"$@\"";
/// The time after which a command counts as hanging. The slowest takes less than a second.
const TIME: Duration = Duration::from_secs(60);
/// The maximum number of bytes that a command may print.
const PRINTED: u64 = 64 << 20;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(i32),
    /// The command did not end in time, or printed without end.
    Hang,
}

/// The output of a command, and how it ended.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Answer {
    /// The answer as a text, with a part of the output from this byte on.
    pub fn from(&self, byte: usize) -> String {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
        let (printed, told) = (shown(&self.stdout[byte..]), shown(self.stderr.as_bytes()));
        format!("{:?}, {} bytes, at {byte} {printed:?}, error {told:?}", self.end, self.stdout.len())
    }
}

/// Runs `furui` in a directory, without input.
pub fn run(directory: &Path, arguments: &[String]) -> Answer {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", LIMITED, env!("CARGO_BIN_EXE_furui")])
        .args(arguments)
        .current_dir(directory)
        .env("TMPDIR", directory)
        .env("RUST_BACKTRACE", "0");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let pid = Pid::from_child(&child);
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let (stdout, stderr) = read(stdout, stderr);
        let status = child.wait().expect("it was started here");
        // Sending fails if nobody waits any more.
        let _ = sender.send(());
        (status, stdout, stderr)
    });
    let in_time = receiver.recv_timeout(TIME).is_ok();
    if !in_time {
        // This fails if the process has ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
    let (status, stdout, stderr) = waiting.join().unwrap();
    let endless = !in_time || stdout.len() as u64 == PRINTED;
    let end = match status.code() {
        _ if endless => End::Hang,
        Some(code) => End::Code(code),
        None => End::Signal(status.signal().unwrap_or_default()),
    };
    Answer { end, stdout, stderr }
}

fn read(stdout: ChildStdout, stderr: ChildStderr) -> (Vec<u8>, String) {
    let (mut printed, mut told) = (vec![], vec![]);
    stdout.take(PRINTED).read_to_end(&mut printed).expect("a pipe");
    stderr.take(PRINTED).read_to_end(&mut told).expect("a pipe");
    (printed, String::from_utf8_lossy(&told).into_owned())
}
