//! `furui demo`: its output is true, and it leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::demo::Demo;
use crate::support::{TempDir, failure, furui_for_signals, signal};

#[test]
fn what_is_suggested_finds_something_and_nothing_is_left() {
    let dir = TempDir::new();
    for signal in [Signal::TERM, Signal::INT] {
        let demo = Demo::start(dir.path().to_str().unwrap());
        assert!(demo.suggested.len() > 5);
        for path in &demo.suggested {
            let page = furui_node::ureq::get(format!("{}{path}", demo.url))
                .call()
                .unwrap()
                .body_mut()
                .read_to_string()
                .unwrap();
            assert!(page.contains("</mark>") && page.contains("<p id=\"summary\">Result"), "{path}: {page}");
            assert!(!page.contains("there may be more"), "{path}: {page}");
        }
        // An idle connection, such as browsers keep open, delays nothing.
        let address = demo.url.strip_prefix("http://").unwrap().to_owned();
        let idle = TcpStream::connect(&address).unwrap();
        assert!(demo.end(signal).success());
        drop(idle);
        assert!(TcpStream::connect(&address).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_interruption_at_any_time_leaves_nothing() {
    let dir = TempDir::new();
    for until in ["starting", "published"] {
        let mut command = furui_for_signals();
        command.args(["demo", "--no-open", "--port", "0", "--nodes", "2"]).env("TMPDIR", dir.path());
        let mut demo = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(demo.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.starts_with(until)), "{until}");
        signal(&demo, Signal::INT);
        let rest: Vec<String> = lines.collect();
        assert!(demo.wait().unwrap().success(), "{rest:?}");
        assert!(rest.iter().all(|line| line.starts_with("published")), "{rest:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_port_that_is_taken_is_an_error_if_it_was_asked_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let message = failure(&["demo", "--no-open", "--port", &port], b"");
    assert!(message.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{message}");
}
