//! Runs `furui demo` as a user does.
#![allow(dead_code, reason = "each test binary uses only a part of this module")]

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use crate::support::furui_for_signals;

/// A running `furui demo`, which is killed when the value is dropped.
pub struct Demo {
    process: Child,
    pub url: String,
    /// The queries that the demo suggests.
    pub suggested: Vec<String>,
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl Demo {
    /// Starts the demo with `temporary` as its directory for temporary files, and waits until all documents can be
    /// found.
    pub fn start(temporary: &str) -> Self {
        let mut command = furui_for_signals();
        command.args(["demo", "--no-open", "--port", "0"]).env("TMPDIR", temporary);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut printed: Vec<String> = Vec::new();
        while printed.last().is_none_or(|line| !line.contains("leaves nothing behind")) {
            printed.push(lines.next().expect("the demo ends too early").unwrap());
        }
        let url = printed.iter().find_map(|line| line.strip_prefix("The page is at ")).unwrap().to_owned();
        let suggested = printed.iter().filter_map(|line| Some(line.trim_start().split_once(&url)?.1.to_owned()));
        Self { process, suggested: suggested.filter(|path| path.starts_with('/')).collect(), url, _stdout: lines }
    }

    /// Sends this signal to the demo, and waits for its end.
    pub fn end(mut self, signal: &str) -> ExitStatus {
        let kill = Command::new("kill").args(["-s", signal, &self.process.id().to_string()]).status();
        assert!(kill.unwrap().success());
        self.process.wait().unwrap()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
