//! Runs the real binary in tests.

#[cfg(all(unix, feature = "node"))]
pub mod chromium;
#[cfg(all(unix, feature = "node"))]
pub mod demo;
#[cfg(feature = "node")]
pub mod fake_node;
#[cfg(all(unix, feature = "node"))]
pub mod node;
#[cfg(all(unix, feature = "node"))]
pub mod process;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A command that runs the binary under test.
pub fn furui() -> Command {
    Command::new(env!("CARGO_BIN_EXE_furui"))
}

/// A command that runs the binary under test with signals enabled, even if the runner of the tests ignores them, as
/// `nohup` and background jobs do: child processes inherit ignored signals.
pub fn furui_for_signals() -> Command {
    if cfg!(target_os = "linux") {
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT", env!("CARGO_BIN_EXE_furui")]);
        command
    } else {
        furui()
    }
}

/// Sends a signal to a process that was not waited for.
#[cfg(unix)]
pub fn signal(process: &std::process::Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(process), signal).unwrap();
}

/// Runs `furui` with these arguments and this standard input.
pub fn run(args: &[&str], input: &[u8]) -> Output {
    let mut command = furui();
    command.args(args);
    feed(command, input)
}

/// Runs a command with this standard input. The command may end before it has read all of it.
pub fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Runs `furui`, which must succeed and print nothing to standard error, and returns its standard output.
pub fn stdout(args: &[&str], input: &[u8]) -> Vec<u8> {
    let output = run(args, input);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    output.stdout
}

/// Runs `furui`, which must fail with exit code 2, and returns its message on standard error.
pub fn failure(args: &[&str], input: &[u8]) -> String {
    let output = run(args, input);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with("furui: ") || message.starts_with("error: "), "{message}");
    message
}

/// A directory that is removed when the value is dropped.
pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// Creates a directory in memory, if the system has such a place, for tests that sync thousands of times.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::new() }
    }

    fn below(directory: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("furui-cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = directory.join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in the directory, as an argument.
    pub fn join(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    /// Writes a file into the directory, and returns its path.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The first occurrence of each line, in order: what `furui seen` must print.
pub fn distinct(lines: &[String]) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    lines.iter().filter(|line| seen.insert(line.as_str())).cloned().collect()
}

/// `count` lines with natural repeats: about a third of them are distinct.
pub fn lines(count: u64, seed: u64) -> Vec<String> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("https://example.org/{}/{}", (state >> 33) % 7, (state >> 40) % (count / 3 + 1))
        })
        .collect()
}

/// The bytes of a file with these lines.
pub fn text(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}
