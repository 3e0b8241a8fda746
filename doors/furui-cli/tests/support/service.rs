//! A `furui node` that runs as a service does, in a directory of its own.
#![allow(dead_code, reason = "each test binary uses only a part of this module")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{TempDir, furui_for_signals, run};

/// The time limit for what a node does in the background.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running node, which is killed when the value is dropped. Its standard error is the file `log` beside its
/// directory.
pub struct Service {
    process: Child,
    pub url: String,
    log: String,
}

impl Service {
    /// Starts a node with these further arguments. Its directory is `node` in `dir`.
    pub fn start(dir: &TempDir, more: &[&str]) -> Self {
        Self::start_in(dir, "node", more)
    }

    pub fn start_in(dir: &TempDir, data: &str, more: &[&str]) -> Self {
        let (data, log) = (dir.join(data), dir.join(&format!("{data}.log")));
        let mut command = furui_for_signals();
        command.args(["node", "--data", &data, "--listen", "/ip4/127.0.0.1/tcp/0"]);
        if !more.contains(&"--http") {
            command.args(["--http", "127.0.0.1:0"]);
        }
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let mut process = command.args(more).stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url = lines.find_map(|line| line.strip_prefix("http ").map(str::to_owned));
        let url = url.unwrap_or_else(|| panic!("it does not start: {}", std::fs::read_to_string(&log).unwrap()));
        Self { process, url, log }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub fn signal(&self, signal: &str) {
        let kill = Command::new("kill").args(["-s", signal, &self.process.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Interrupts the node, and waits for its end.
    pub fn end(mut self) -> ExitStatus {
        self.signal("INT");
        self.process.wait().unwrap()
    }

    /// The URLs that a search finds, sorted.
    pub fn find(&self, query: &str) -> Vec<String> {
        let found = run(&["search", "--node", &self.url, "--json", "--limit", "1000", query], b"");
        let lines = found.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        let mut urls: Vec<String> = lines.filter_map(|line| line["url"].as_str().map(str::to_owned)).collect();
        urls.sort();
        urls
    }

    /// Waits until a search finds these URLs and no others.
    pub fn finds(&self, query: &str, expected: &[&str]) {
        let began = Instant::now();
        loop {
            let found = self.find(query);
            if found == expected {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{query}: {found:?}, not {expected:?}; {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the log has a text.
    pub fn says(&self, text: &str) {
        let began = Instant::now();
        while !self.log().contains(text) {
            assert!(began.elapsed() < PATIENCE, "{text:?} is not in {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
