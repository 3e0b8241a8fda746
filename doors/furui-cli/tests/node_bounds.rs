//! A real node against its surroundings: clients that send half a request, few files, names that lead nowhere, and
//! peers that its owner does not want.
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::node::{Node, after, command, refusal};
use crate::support::{TempDir, failure, run, stdout};

/// Sends half a request.
fn half(node: &Node) -> TcpStream {
    let mut stream = TcpStream::connect(node.url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(b"GET /sta").unwrap();
    stream
}

#[test]
fn a_node_ends_although_requests_are_half_sent() {
    let dir = TempDir::new();
    let mut node = Node::start(&dir, "node", &[]);
    let _half: Vec<TcpStream> = (0..20).map(|_| half(&node)).collect();
    node.status();
    let start = Instant::now();
    node.signal(Signal::TERM);
    assert!(node.ended().success());
    // Without the bound, it would wait for the clients. The limits of time of half a request are longer.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

#[test]
fn a_node_with_few_files_serves_when_the_crowd_has_gone() {
    let dir = TempDir::new();
    let node = Node::run(after("ulimit -n 64", &command(&dir.join("node"), &[])), dir.join("log"));
    // The system accepts them all, and the node as many as it has files for.
    let crowd: Vec<TcpStream> = (0..100).map(|_| half(&node)).collect();
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
    let first = Node::start(&dir, "first", &[]);
    let named = first.address.replace("/ip4/127.0.0.1/", "/dns4/localhost/");
    let second = Node::start(&dir, "second", &["--bootstrap", &named]);
    second.wait("joining", |status| status["peers"] == 1);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nowhere = format!("/ip4/127.0.0.1/tcp/{free}");
    let third = Node::start(&dir, "third", &["--bootstrap", &nowhere]);
    third.says(&format!(" WARN cannot reach {nowhere}: "));
    let message = refusal(&dir.join("fourth"), &["--bootstrap", "/dns4/a.example"]);
    assert!(message.contains("/dns4/a.example") && message.contains("/dns4/node.example/tcp/4001"), "{message}");
}

#[test]
fn what_an_owner_does_not_want_is_gone_and_stays_away() {
    let dir = TempDir::new();
    let data = dir.join("mine");
    let node = Node::start(&dir, "mine", &[]);
    let other = Node::start(&dir, "other", &["--bootstrap", &node.address]);
    node.wait("joining", |status| status["peers"] == 1);
    other.wait("joining", |status| status["peers"] == 1);
    let lines: String = (0..20)
        .map(|number| format!("{{\"url\":\"http://spam.example/{number}\",\"text\":\"buy pills {number}\"}}\n"))
        .collect();
    other.publish(&lines);
    let count = |node: &Node, query: &str| node.find(query).len();
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
    node.signal(Signal::HUP);
    node.wait("parting", |status| status["peers"] == 0);
    assert_eq!(stdout(&["block", "--node", &node.url], b""), format!("{peer}\n").into_bytes());
    other.wait("parting", |status| status["peers"] == 0);
    fs::write(format!("{data}/blocked"), "two words\n").unwrap();
    node.signal(Signal::HUP);
    node.says("stays as it was");
    assert!(node.log().contains("blocked: line 1"), "{}", node.log());
    node.wait("refusing", |status| {
        let refusals = status["refusals"].as_array().unwrap();
        refusals.iter().any(|refusal| refusal["who"].as_str().unwrap().contains(&peer))
    });
}
