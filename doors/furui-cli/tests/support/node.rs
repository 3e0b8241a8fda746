//! Real `furui node` processes.

use std::fs::{self, File};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::process::Process;
use crate::support::{TempDir, failure, furui_for_signals, stdout};

/// The time limit for what nodes do in the background.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running node, which is killed when the value is dropped. What it logs is in a file.
pub struct Node {
    process: Process,
    /// The first address at which it listens for other nodes.
    pub address: String,
    pub url: String,
    log: String,
}

/// The arguments by which a node runs in a directory, with these further ones. It listens only on this machine, on free
/// ports, unless they say otherwise.
fn arguments<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual = [["--data", data], ["--listen", "/ip4/127.0.0.1/tcp/0"], ["--http", "127.0.0.1:0"]];
    let usual = usual.iter().filter(|[option, _]| !more.contains(option)).flatten();
    ["node"].iter().chain(usual).chain(more).copied().collect()
}

/// The message with which a node does not start, of which the arguments are those of [`command`].
pub fn refusal(data: &str, more: &[&str]) -> String {
    failure(&arguments(data, more), b"")
}

/// The command that starts a node in a directory, with these further arguments.
pub fn command(data: &str, more: &[&str]) -> Command {
    let mut command = furui_for_signals();
    command.args(arguments(data, more));
    command
}

/// A command that runs another after a command of the shell, in the same process.
pub fn after(shell: &str, command: &Command) -> Command {
    let mut after = Command::new("sh");
    after.args(["-c", &format!("{shell}; exec \"$0\" \"$@\"")]).arg(command.get_program()).args(command.get_args());
    after
}

impl Node {
    /// Starts a node whose directory, in that of the test, has this name, with these further arguments.
    pub fn start(dir: &TempDir, name: &str, more: &[&str]) -> Self {
        Self::run(command(&dir.join(name), more), dir.join(&format!("{name}.log")))
    }

    /// Runs a command that starts a node, with a file to the end of which it logs.
    pub fn run(mut command: Command, log: String) -> Self {
        command.stderr(File::options().create(true).append(true).open(&log).unwrap());
        let mut process = Process::start(command);
        let lines = process.until(|line| line.starts_with("http "));
        let lines = lines.unwrap_or_else(|| panic!("it does not start: {}", fs::read_to_string(&log).unwrap()));
        let value = |line: &str, name| line.strip_prefix(name).unwrap().to_owned();
        let (address, url) = (value(&lines[0], "listening "), value(lines.last().unwrap(), "http "));
        Self { process, address, url, log }
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Waits until the process has ended.
    pub fn ended(&mut self) -> ExitStatus {
        self.process.ended()
    }

    /// Interrupts the node, which must then end without an error.
    pub fn end(mut self) {
        self.signal(Signal::INT);
        assert!(self.ended().success(), "{}", self.log());
    }

    pub fn status(&self) -> Value {
        status(&self.url)
    }

    /// The line by which others join its network.
    pub fn invite(&self) -> String {
        String::from_utf8(stdout(&["invite", "--node", &self.url], b"")).unwrap().trim_end().to_owned()
    }

    /// Publishes documents, each a line of JSON. Returns what the command prints.
    pub fn publish(&self, lines: &str) -> String {
        String::from_utf8(stdout(&["publish", "--node", &self.url, "-"], lines.as_bytes())).unwrap()
    }

    /// The lines of a search: the results, and the last with their number.
    pub fn search(&self, query: &str) -> Vec<Value> {
        let found = super::run(&["search", "--node", &self.url, "--json", "--exact", "--limit", "1000", query], b"");
        let lines = found.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// The URLs that a search finds, sorted.
    pub fn find(&self, query: &str) -> Vec<String> {
        let lines = self.search(query);
        let mut urls: Vec<String> = lines.iter().filter_map(|line| line["url"].as_str().map(str::to_owned)).collect();
        urls.sort();
        urls
    }

    /// The number of documents that a search finds, and whether the node says that these are all.
    pub fn count(&self, query: &str) -> (u64, bool) {
        let end = self.search(query).pop().unwrap();
        (end["total"].as_u64().unwrap(), end["whole"].as_bool().unwrap())
    }

    /// Waits until a search finds these URLs and no others.
    pub fn finds(&self, query: &str, expected: &[&str]) {
        self.until(|| match self.find(query) {
            found if found == expected => Ok(()),
            found => Err(format!("{query}: {found:?}, not {expected:?}")),
        });
    }

    /// Waits until the log has a text.
    pub fn says(&self, text: &str) {
        self.until(|| if self.log().contains(text) { Ok(()) } else { Err(format!("{text:?} is not said")) });
    }

    /// Waits until the status is as wanted.
    pub fn wait(&self, what: &str, fits: impl Fn(&Value) -> bool) {
        self.until(|| match self.status() {
            status if fits(&status) => Ok(()),
            status => Err(format!("{what}: {status}")),
        });
    }

    fn until(&self, is_so: impl Fn() -> Result<(), String>) {
        let began = Instant::now();
        while let Err(why) = is_so() {
            assert!(began.elapsed() < PATIENCE, "{why}; {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The status of the node at a URL.
pub fn status(url: &str) -> Value {
    let mut response = furui_node::ureq::get(format!("{url}/status")).call().unwrap();
    serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
}

/// Waits until each node knows exactly the others, and has been given everything that it should hold.
pub fn settle(nodes: &[Node]) {
    for node in nodes {
        node.wait("settling", |status| {
            status["peers"] == nodes.len() as u64 - 1 && status["settled"] == true && status["whole"] == true
        });
    }
}
