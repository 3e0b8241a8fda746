//! A real node against its surroundings: clients that send half a request, few files, names that lead nowhere, and
//! peers that its owner does not want.
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{TempDir, failure, run, stdout};
use serde_json::Value;

/// A node, and what it prints.
struct Node {
    process: Child,
    _printed: Lines<BufReader<ChildStdout>>,
    warnings: Lines<BufReader<ChildStderr>>,
    address: String,
    url: String,
}

impl Node {
    fn start(data: &str, more: &[&str]) -> Self {
        Self::start_by("", data, more)
    }

    /// Starts a node after a command of the shell.
    fn start_by(before: &str, data: &str, more: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{before} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_furui")]);
        command.args(["node", "--data", data, "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0"]).args(more);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut printed = BufReader::new(process.stdout.take().unwrap()).lines();
        let warnings = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut line = |start| printed.next().unwrap().unwrap().strip_prefix(start).unwrap().to_owned();
        let (address, url) = (line("listening "), line("http "));
        Self { process, _printed: printed, warnings, address, url }
    }

    fn signal(&self, signal: &str) {
        let kill = Command::new("kill").args(["-s", signal, &self.process.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Sends half a request.
    fn half(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap();
        stream.write_all(b"GET /sta").unwrap();
        stream
    }

    fn status(&self) -> Value {
        let mut response = furui_node::ureq::get(format!("{}/status", self.url)).call().unwrap();
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    /// Waits until the status is as wanted.
    fn wait(&self, what: &str, fits: impl Fn(&Value) -> bool) {
        let start = Instant::now();
        while !fits(&self.status()) {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}: {}", self.status());
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // This fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_node_ends_although_requests_are_half_sent() {
    let dir = TempDir::new();
    let mut node = Node::start(&dir.join("node"), &[]);
    let _half: Vec<TcpStream> = (0..20).map(|_| node.half()).collect();
    node.status();
    let start = Instant::now();
    node.signal("TERM");
    assert!(node.process.wait().unwrap().success());
    // Without the bound, it would wait for the clients. The limits of time of half a request are longer.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

#[test]
fn a_node_with_few_files_serves_when_the_crowd_has_gone() {
    let dir = TempDir::new();
    let node = Node::start_by("ulimit -n 64;", &dir.join("node"), &[]);
    // The system accepts them all, and the node as many as it has files for.
    let crowd: Vec<TcpStream> = (0..100).map(|_| node.half()).collect();
    drop(crowd);
    assert_eq!(node.status()["peers"], 0);
    // If the node had no file for itself meanwhile, it opens its storage again.
    let publish = || run(&["publish", "--node", &node.url, "-"], b"{\"url\":\"u:1\",\"text\":\"a sieve\"}\n");
    let start = Instant::now();
    while !publish().status.success() {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn a_node_joins_by_a_name_and_says_what_it_cannot_reach() {
    let dir = TempDir::new();
    let first = Node::start(&dir.join("first"), &[]);
    let named = first.address.replace("/ip4/127.0.0.1/", "/dns4/localhost/");
    let second = Node::start(&dir.join("second"), &["--bootstrap", &named]);
    second.wait("joining", |status| status["peers"] == 1);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nowhere = format!("/ip4/127.0.0.1/tcp/{free}");
    let mut third = Node::start(&dir.join("third"), &["--bootstrap", &nowhere]);
    let warning = third.warnings.next().unwrap().unwrap();
    assert!(warning.contains(&format!(" WARN cannot reach {nowhere}: ")), "{warning}");
    let data = dir.join("fourth");
    let message = failure(&["node", "--data", &data, "--http", "127.0.0.1:0", "--bootstrap", "/dns4/a.example"], b"");
    assert!(message.contains("/dns4/a.example") && message.contains("/dns4/node.example/tcp/4001"), "{message}");
}

#[test]
fn what_an_owner_does_not_want_is_gone_and_stays_away() {
    let dir = TempDir::new();
    let data = dir.join("mine");
    let mut node = Node::start(&data, &[]);
    let other = Node::start(&dir.join("other"), &["--bootstrap", &node.address]);
    node.wait("joining", |status| status["peers"] == 1);
    other.wait("joining", |status| status["peers"] == 1);
    let lines: String = (0..20)
        .map(|number| format!("{{\"url\":\"http://spam.example/{number}\",\"text\":\"buy pills {number}\"}}\n"))
        .collect();
    assert!(run(&["publish", "--node", &other.url, "-"], lines.as_bytes()).status.success());
    let count = |node: &Node, query: &str| {
        let found = run(&["search", "--node", &node.url, "--json", "--limit", "100", query], b"");
        found.stdout.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1)
    };
    assert_eq!(count(&node, "pills"), 20);
    // A site: its documents are neither shown nor kept.
    assert_eq!(stdout(&["block", "--node", &node.url, "spam.example"], b""), b"1 blocked\n");
    assert_eq!(count(&node, "pills"), 0);
    assert_eq!(stdout(&["purge", "--node", &node.url, "spam.example"], b""), b"20 removed\n");
    assert_eq!(node.status()["documents"], 0);
    assert_eq!(count(&other, "pills"), 20);
    assert_eq!(stdout(&["block", "--node", &node.url], b""), b"site:spam.example\n");
    assert_eq!(stdout(&["unblock", "--node", &node.url, "spam.example"], b""), b"1 unblocked\n");
    assert_eq!(run(&["unblock", "--node", &node.url, "spam.example"], b"").status.code(), Some(1));
    let message = failure(&["block", "--node", &node.url, "two words"], b"");
    assert!(message.contains("two words") && message.contains("192.0.2.0/24"), "{message}");
    // A peer: the node does not speak with it any more.
    let peer = other.status()["peer"].as_str().unwrap().to_owned();
    fs::write(format!("{data}/blocked"), format!("{peer} # a spammer\n")).unwrap();
    node.signal("HUP");
    node.wait("parting", |status| status["peers"] == 0);
    assert_eq!(stdout(&["block", "--node", &node.url], b""), format!("{peer}\n").into_bytes());
    other.wait("parting", |status| status["peers"] == 0);
    fs::write(format!("{data}/blocked"), "two words\n").unwrap();
    node.signal("HUP");
    let warning = node.warnings.next().unwrap().unwrap();
    assert!(warning.contains("blocked: line 1") && warning.contains("stays as it was"), "{warning}");
    node.wait("refusing", |status| {
        let refusals = status["refusals"].as_array().unwrap();
        refusals.iter().any(|refusal| refusal["who"].as_str().unwrap().contains(&peer))
    });
}
