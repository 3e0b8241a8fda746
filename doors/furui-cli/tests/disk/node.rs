//! Tests a node while the disk or the power fails.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::cases::{Case, is_finished, lines, path};
use crate::support::{feed, furui};

/// Starts a node, and publishes a document. The node is killed as soon as it has acknowledged the document.
pub fn node() -> Case {
    const DOCUMENT: &str = "{\"url\": \"http://site.example/\", \"title\": \"a sieve\", \"text\": \"seen before\"}\n";
    let start = |command: &mut Command, root: &Path| -> (Child, Vec<u8>) {
        let data = path(root, "data");
        command.args(["node", "--data", &data, "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut lines, mut printed) = (BufReader::new(child.stdout.take().unwrap()), vec![]);
        // The process may have ended.
        (0..2).for_each(|_| assert!(lines.read_until(b'\n', &mut printed).is_ok()));
        (child, printed)
    };
    let field = |printed: &[u8], start: &str| -> Option<String> {
        lines(printed).find_map(|line| line.split_once(start)).map(|(_, rest)| rest.to_owned())
    };
    Case {
        name: "a node",
        prepare: Box::new(|_| {}),
        run: Box::new(move |mut command, root| {
            let (mut child, printed) = start(&mut command, root);
            let published = field(&printed, "http http").map(|url| {
                let mut command = furui();
                command.args(["publish", "--format", "jsonl", "--node", &format!("http{url}"), "-"]);
                feed(command, DOCUMENT.as_bytes())
            });
            let _ = child.kill();
            let mut output = child.wait_with_output().unwrap();
            output.stdout = printed;
            if let Some(published) = published.filter(|published| published.status.success()) {
                output.status = published.status;
            }
            output
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let mut command = furui();
            let (mut child, printed) = start(&mut command, root);
            let found = field(&printed, "http http").map(|url| {
                let mut command = furui();
                command.args(["search", "--node", &format!("http{url}"), "--json", "sieve"]);
                feed(command, b"")
            });
            let _ = child.kill();
            let output = child.wait_with_output().unwrap();
            let Some(found) = found else {
                return Err(format!("it does not start: {}", String::from_utf8_lossy(&output.stderr)));
            };
            let name = field(&printed, "/p2p/");
            if let Some(other) = runs.iter().find_map(|run| field(&run.printed, "/p2p/"))
                && Some(&other) != name.as_ref()
            {
                return Err(format!("it was {other} and is {name:?}"));
            }
            if is_finished(runs) && !found.status.success() {
                return Err("the document is gone".to_owned());
            }
            Ok(())
        }),
    }
}
