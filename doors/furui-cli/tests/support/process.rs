//! Processes that run beside a test.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::Signal;

use crate::support;

/// A running command, which is killed when the value is dropped.
pub struct Process {
    child: Child,
    printed: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts a command whose standard output the test reads.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, printed }
    }

    /// The lines that the command prints from now on, up to the first that fits; `None` if it ends before.
    pub fn until(&mut self, fits: impl Fn(&str) -> bool) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| fits(line)) {
            lines.push(self.printed.next()?.unwrap());
        }
        Some(lines)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: Signal) {
        support::signal(&self.child, name);
    }

    /// Waits until the process has ended.
    pub fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
