//! Runs `furui demo` as a user does.

use std::process::{ExitStatus, Stdio};

use rustix::process::Signal;

use crate::support::furui_for_signals;
use crate::support::process::Process;

/// A running `furui demo`, which is killed when the value is dropped.
pub struct Demo {
    process: Process,
    pub url: String,
    /// The queries that the demo suggests.
    pub suggested: Vec<String>,
}

impl Demo {
    /// Starts the demo with `temporary` as its directory for temporary files, and waits until all documents can be
    /// found.
    pub fn start(temporary: &str) -> Self {
        let mut command = furui_for_signals();
        command.args(["demo", "--no-open", "--port", "0", "--nodes", "3"]).env("TMPDIR", temporary);
        command.stderr(Stdio::null());
        let mut process = Process::start(command);
        let printed = process.until(|line| line.contains("leaves nothing behind")).expect("the demo ends too early");
        let url = printed.iter().find_map(|line| line.strip_prefix("The page is at ")).unwrap().to_owned();
        let suggested = printed.iter().filter_map(|line| Some(line.trim_start().split_once(&url)?.1.to_owned()));
        Self { process, suggested: suggested.filter(|path| path.starts_with('/')).collect(), url }
    }

    /// Sends this signal to the demo, and waits for its end.
    pub fn end(mut self, signal: Signal) -> ExitStatus {
        self.process.signal(signal);
        self.process.ended()
    }
}
