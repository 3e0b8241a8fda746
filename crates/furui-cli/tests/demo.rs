//! `furui demo`: what it says is true, and nothing is left of it.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]
#![cfg(unix)]

#[path = "support/demo.rs"]
mod demo;
mod support;

use std::net::TcpStream;

use demo::Demo;
use support::{TempDir, failure};

#[test]
fn what_is_suggested_finds_something_and_nothing_is_left() {
    let dir = TempDir::new();
    for signal in ["TERM", "INT"] {
        let demo = Demo::start(dir.path().to_str().unwrap());
        assert!(demo.suggested.len() > 5);
        for path in &demo.suggested {
            let page = ureq::get(format!("{}{path}", demo.url)).call().unwrap().body_mut().read_to_string().unwrap();
            assert!(page.contains("</mark>") && page.contains("<p id=\"summary\">Result"), "{path}: {page}");
            assert!(!page.contains("there may be more"), "{path}: {page}");
        }
        // A connection that nothing is asked over, as browsers keep them, holds nothing up.
        let address = demo.url.strip_prefix("http://").unwrap().to_owned();
        let idle = TcpStream::connect(&address).unwrap();
        assert!(demo.end(signal).success());
        drop(idle);
        assert!(TcpStream::connect(&address).is_err());
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
