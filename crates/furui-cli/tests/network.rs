//! A network of `furui node` processes, some of which are killed.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{TempDir, stdout};

/// The time limit for a network to settle.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is killed when the value is dropped.
struct Node {
    process: Child,
    address: String,
    url: String,
}

impl Node {
    fn start(data: &str, bootstrap: &[String]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_furui"));
        command.args(["node", "--data", data, "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0"]);
        for address in bootstrap {
            command.args(["--bootstrap", address]);
        }
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.next().unwrap().strip_prefix("listening ").unwrap().to_owned();
        let url = lines.next().unwrap().strip_prefix("http ").unwrap().to_owned();
        Self { process, address, url }
    }

    fn status(&self) -> Value {
        let mut response = ureq::get(format!("{}/status", self.url)).call().unwrap();
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    fn find(&self, query: &str) -> Vec<String> {
        let lines = stdout(&["search", "--node", &self.url, "--json", "--limit", "1000", query], b"");
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        let mut urls: Vec<String> = lines.filter_map(|line| line["url"].as_str().map(str::to_owned)).collect();
        urls.sort();
        urls
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // This fails if the process has been killed already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until each node knows exactly the other live nodes, and has been given everything that it should hold.
fn settle(nodes: &[Node]) {
    let start = Instant::now();
    for node in nodes {
        loop {
            let status = node.status();
            if status["peers"] == nodes.len() as u64 - 1 && status["settled"] == true && status["whole"] == true {
                break;
            }
            assert!(start.elapsed() < PATIENCE, "{status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn nodes_are_killed_and_come_back_and_every_document_is_found() {
    let dir = TempDir::new();
    let start = |number: usize, others: &[Node]| {
        let bootstrap: Vec<String> = others.iter().take(2).map(|node| node.address.clone()).collect();
        Node::start(&dir.join(&format!("node{number}")), &bootstrap)
    };
    let mut nodes = Vec::new();
    for number in 0..8 {
        nodes.push(start(number, &nodes));
    }
    settle(&nodes);
    let lines = (0..300).map(|number| {
        format!("{{\"url\":\"http://a.example/{number:03}\",\"text\":\"all c{} k{}\"}}\n", number % 10, number % 3)
    });
    let lines: String = lines.collect();
    let publish = ["publish", "--format", "jsonl", "--node", &nodes[0].url, "-"];
    assert_eq!(stdout(&publish, lines.as_bytes()), b"300 documents: 300 new, 0 known\n");
    assert_eq!(stdout(&publish, lines.as_bytes()), b"300 documents: 0 new, 300 known\n");
    let again = [&publish[..], &["--again"]].concat();
    assert_eq!(stdout(&again, lines.as_bytes()), b"300 documents: 300 new, 0 known\n");
    settle(&nodes);
    let check = |nodes: &[Node]| {
        for (class, node) in nodes.iter().enumerate() {
            let expected = (0..300).filter(|number| number % 10 == class && number % 3 == 1);
            let expected: Vec<String> = expected.map(|number| format!("http://a.example/{number:03}")).collect();
            assert_eq!(node.find(&format!("c{class} k1 all")), expected);
        }
    };
    check(&nodes);

    // Dropping kills the process, which writes nothing at its end.
    nodes.truncate(6);
    settle(&nodes);
    check(&nodes);
    let back = start(7, &nodes);
    assert!(back.status()["postings"].as_u64().unwrap() > 0, "it has its lists from disk");
    nodes.push(back);
    settle(&nodes);
    check(&nodes);

    // No node finds withdrawn documents, or old words of changed ones; not even a node that was down meanwhile.
    drop(nodes.remove(3));
    settle(&nodes);
    let ninth: String = (9..300).step_by(10).map(|number| format!("http://a.example/{number:03}\n")).collect();
    let unpublish = ["unpublish", "--node", &nodes[0].url, "--from", "-"];
    assert_eq!(stdout(&unpublish, ninth.as_bytes()), b"30 withdrawn\n");
    let changed = b"{\"url\":\"http://a.example/008\",\"text\":\"c8 other words\"}\n";
    let publish = ["publish", "--node", &nodes[0].url, "-"];
    assert_eq!(stdout(&publish, changed), b"1 documents: 0 new, 1 changed, 0 known\n");
    nodes.push(start(3, &nodes));
    settle(&nodes);
    for node in &nodes {
        assert_eq!(node.find("all c8").len(), 29);
        assert_eq!(node.find("c9 OR other"), ["http://a.example/008"]);
    }
}
