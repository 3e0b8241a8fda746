//! The interfaces for programs, as programs of others use them: SearXNG's engine, a client of the Model Context
//! Protocol, and schemathesis, which tries what docs/search.md and `/openapi.json` say of a real node.

mod description;
mod mcp;
mod schemathesis;
mod searxng;

use std::process::{Command, Output};

use crate::support::node::Node;
use crate::support::{TempDir, feed};

/// A node with twelve documents.
fn node(dir: &TempDir, more: &[&str]) -> Node {
    let node = Node::start(dir, "node", more);
    let lines: String = (1..=12)
        .map(|number| {
            let url = format!("https://example.org/{number}");
            let text = format!("The takahe, seen {number} times in 篩.").repeat(number);
            format!("{}\n", serde_json::json!({ "url": url, "title": format!("Takahe {number}"), "text": text }))
        })
        .collect();
    node.publish(&lines);
    node
}

/// What a program in Python prints, which must succeed. It runs in a directory of the test, where it may leave files.
fn python(dir: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.args(arguments).current_dir(dir.path());
    let output = feed(command, b"");
    let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{printed}\n{said}\n`cargo xtask test pipelines` installs what is missing");
    output
}
