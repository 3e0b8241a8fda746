//! A simulated disk below the real binary, which records all operations and can fail; see disk.c.

pub mod cases;
#[cfg(feature = "node")]
pub mod node;
pub mod power;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::support::furui;

/// The path of the library that `LD_PRELOAD` loads into the binary.
pub struct Disk(PathBuf);

/// An entry of a trace: an operation on files, or bytes that were printed.
#[derive(Clone, Debug)]
pub struct Event {
    pub op: u8,
    pub inode: u64,
    pub offset: u64,
    pub path: String,
    /// The second path of a rename or a link.
    pub to: String,
    pub bytes: Vec<u8>,
}

impl Event {
    /// A mark that the test itself makes in a trace.
    pub fn mark(op: u8) -> Self {
        Self { op, inode: 0, offset: 0, path: String::new(), to: String::new(), bytes: vec![] }
    }
}

impl Disk {
    /// Builds the library. `None`, with a message, if programs cannot be watched on this system.
    pub fn new() -> Option<&'static Self> {
        static DISK: OnceLock<Option<Disk>> = OnceLock::new();
        let disk = DISK.get_or_init(Self::build).as_ref();
        if disk.is_none() {
            println!(
                "SKIPPED: needs Linux with glibc and the C compiler `cc` to put a library between program and system"
            );
        }
        disk
    }

    fn build() -> Option<Self> {
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            return None;
        }
        // Other test binaries may build the library at the same time.
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("disk-{}.so", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/disk.c");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", source, "-ldl", "-lpthread", "-o"]).arg(&library);
        assert!(cc.status().ok()?.success(), "disk.c does not compile");
        Some(Self(library))
    }

    /// A command that runs the binary, and records its operations on files below `root` in `trace`.
    pub fn furui(&self, root: &Path, trace: &Path) -> Command {
        let mut command = furui();
        command.env("LD_PRELOAD", &self.0).env("DISK_ROOT", root).env("DISK_TRACE", trace);
        command
    }
}

/// Copies everything below a directory.
pub fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if entry.is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).unwrap();
        }
    }
}

/// Reads a trace.
pub fn events(trace: &Path) -> Vec<Event> {
    let bytes = std::fs::read(trace).unwrap();
    let mut left = &bytes[..];
    let mut events = vec![];
    while !left.is_empty() {
        let end = left.iter().position(|&byte| byte == b'\n').unwrap();
        let line = std::str::from_utf8(&left[..end]).unwrap();
        left = &left[end + 1..];
        let mut fields = line.splitn(5, ' ');
        let op = fields.next().unwrap().as_bytes()[0];
        let mut number = || fields.next().unwrap().parse::<u64>().unwrap();
        let (inode, offset, length) = (number(), number(), number() as usize);
        let paths = fields.next().unwrap();
        let (path, to) = paths.split_once('\t').unwrap_or((paths, ""));
        let (bytes, rest) = left.split_at(length);
        left = rest;
        events.push(Event { op, inode, offset, path: path.to_owned(), to: to.to_owned(), bytes: bytes.to_vec() });
    }
    events
}

/// True if a run ended without an error. Status 1 is an answer, for example that a line to delete was not there.
pub fn ended_well(output: &Output) -> bool {
    matches!(output.status.code(), Some(0 | 1))
}

/// The number of operations that a fault of this kind can make fail.
pub fn count(events: &[Event], kind: &str) -> usize {
    let ops: &[u8] = match kind {
        "create" => b"C",
        "write" | "short" => b"WT",
        "sync" => b"SD",
        "rename" => b"R",
        "unlink" => b"U",
        "mkdir" => b"M",
        "link" => b"L",
        other => panic!("{other}"),
    };
    events.iter().filter(|event| ops.contains(&event.op)).count()
}
