//! Tests `furui search` with a node in this process.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
#[cfg(unix)]
use std::{fs::File, process::Command};

use crate::support::fake_node::FakeNode;
#[cfg(unix)]
use crate::support::{TempDir, feed, furui};
use crate::support::{failure, run, stdout};

const LINES: &str = concat!(
    "{\"url\":\"http://a.example/\",\"title\":\"Bloom filters\",\"text\":\"a set, wrong at a rate\"}\n",
    "{\"url\":\"http://b.example/\",\"title\":\"Cuckoo filters\",\"text\":\"a set, with deletes\"}\n",
    "{\"url\":\"http://c.example/\",\"title\":\"篩\",\"text\":\"東京タワーの篩\"}\n",
    "{\"url\":\"http://d.example/\",\"title\":\"evil\\u202e \\u001b[2J\",\"text\":\"terminal\"}\n",
);

fn node() -> FakeNode {
    let node = FakeNode::new();
    stdout(&["publish", "--node", &node.url()], LINES.as_bytes());
    node
}

/// The standard output of a search for these arguments.
fn search(node: &FakeNode, args: &[&str]) -> String {
    let output = run(&[&["search", "--node", &node.url()], args].concat(), b"");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.stdout.is_empty() {
        assert!(said.starts_with("furui: nothing was found; ") && output.status.code() == Some(1), "{said}");
    } else {
        assert_eq!((&*said, output.status.code()), ("", Some(0)));
    }
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn documents_are_printed_with_title_and_url() {
    let node = node();
    let bloom = "Bloom filters\n    http://a.example/\n    a set, wrong at a rate\n";
    let cuckoo = "Cuckoo filters\n    http://b.example/\n    a set, with deletes\n";
    assert_eq!(search(&node, &["BLOOM", "set"]), bloom);
    assert_eq!(search(&node, &["bloom set"]), bloom);
    assert_eq!(search(&node, &["filters", "-bloom"]), cuckoo);
    assert_eq!(search(&node, &["--", "-bloom", "filters"]), cuckoo);
    assert_eq!(search(&node, &["東京タワー"]), "篩\n    http://c.example/\n    東京タワーの篩\n");
    assert_eq!(search(&node, &["cuckoo OR 東京"]).lines().count(), 6);
    assert_eq!(search(&node, &["bloom", "cuckoo"]), "");
    // Characters that a terminal would obey are not printed.
    assert_eq!(search(&node, &["terminal"]), "evil [2J\n    http://d.example/\n    terminal\n");
}

#[test]
fn what_a_result_pretends_to_be_is_not_shown() {
    let node = FakeNode::new();
    let title = format!("pay\u{200b}pal{} {}", "\u{301}".repeat(40), "T".repeat(3000));
    let path = "x".repeat(1000);
    let lines: String =
        ["http://раураl.com/", "http://paypal.com⁄login.evil.example/", &format!("http://a.example/{path}")]
            .map(|url| format!("{}\n", serde_json::json!({ "url": url, "title": title, "text": "walrus" })))
            .concat();
    stdout(&["publish", "--node", &node.url(), "-"], lines.as_bytes());
    let text = search(&node, &["walrus"]);
    let cut = format!("paypal{} {}…", "\u{301}".repeat(4), "T".repeat(140 - 11));
    assert_eq!(text.lines().filter(|line| **line == *cut).count(), 3, "{text}");
    for url in ["http://xn--l-7sba6dbr.com/", "http://paypal.xn--comlogin-g03d.evil.example/"] {
        assert!(text.lines().any(|line| line.trim() == url), "{text}");
    }
    // An address is not cut, so that it can be copied.
    assert!(text.contains(&format!("http://a.example/{path}\n")), "{text}");
}

#[test]
fn what_has_no_url_or_gives_a_password_away_is_not_published() {
    let node = FakeNode::new();
    let lines = "{\"url\":\"not a url\",\"text\":\"a\"}\n{\"url\":\"http://me:secret@a.example/\",\"text\":\"a\"}\n";
    let output = run(&["publish", "--node", &node.url(), "-"], lines.as_bytes());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the URL \"not a url\" is none") && said.contains("leave it out"), "{said}");
    assert!(!said.contains("secret") && node.records().is_empty(), "{said}");
}

#[test]
fn phrases_and_sites_are_asked_for() {
    let node = node();
    let urls = |query: &str| {
        let text = search(&node, &[query]);
        let mut urls: Vec<_> =
            text.lines().filter_map(|line| line.trim().strip_prefix("http://")).map(str::to_owned).collect();
        urls.sort();
        urls.concat()
    };
    assert_eq!(urls("\"a set\""), "a.example/b.example/");
    assert_eq!(urls("\"set wrong\""), "a.example/");
    assert_eq!(urls("\"wrong set\""), "");
    assert_eq!(urls("set -\"set with\""), "a.example/");
    assert_eq!(urls("「タワーの篩」"), "c.example/");
    assert_eq!(urls("site:b.example"), "b.example/");
    assert_eq!(urls("set -site:b.example"), "a.example/");
    // Quotes of the shell do not reach the query.
    assert_eq!(search(&node, &["wrong set"]).lines().count(), 3);
}

/// The output on a terminal with these environment variables, in which each line end is a newline alone.
#[cfg(unix)]
fn on_a_terminal(args: &[&str], variables: &[(&str, &str)]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let end = File::options().read(true).write(true).open(name).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_furui"));
    command.args(args).stdin(end.try_clone().unwrap()).stdout(end);
    command
        .env_remove("NO_COLOR")
        .env_remove("NO_PAGER")
        .env_remove("PAGER")
        .env("TERM", "xterm")
        .envs(variables.iter().copied());
    let mut process = command.spawn().unwrap();
    // The terminal's other side is closed when the process ends, which a reader sees as an error.
    drop(command);
    let mut text = Vec::new();
    let _ = File::from(terminal).read_to_end(&mut text);
    assert!(process.wait().unwrap().success());
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// A program in a directory of its own, which writes its arguments and its input to a file there.
#[cfg(unix)]
fn recorder(dir: &TempDir, name: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let script = format!("#!/bin/sh\n{{ echo \"$@\"; [ -t 0 ] || cat; }} > '{}'\n", dir.join("record"));
    let file = dir.file(name, script.as_bytes());
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap())
}

#[test]
#[cfg(unix)]
fn a_result_of_the_web_is_opened_and_nothing_else() {
    let node = FakeNode::new();
    let lines = ["https://a.example/x?a=b&c", "javascript:alert(1)", "file:///etc/passwd", "ssh://a.example/"]
        .map(|url| format!("{}\n", serde_json::json!({ "url": url, "title": "Walrus", "text": url })))
        .concat();
    stdout(&["publish", "--node", &node.url(), "-"], lines.as_bytes());
    let dir = TempDir::new();
    let path = recorder(&dir, "xdg-open");
    let open = |number: &str, query: &str| {
        let mut command = furui();
        // Without a display, the libraries of a desktop look for other programs first.
        command.args(["search", "--node", &node.url(), "--open", number, query]).env("PATH", &path);
        feed(command, b"")
    };
    let output = open("1", "walrus site:a.example https");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.stdout, b"Walrus\n    https://a.example/x?a=b&c\n");
    let opened = || std::fs::read_to_string(dir.join("record"));
    assert_eq!(opened().unwrap(), "https://a.example/x?a=b&c\n");
    std::fs::remove_file(dir.join("record")).unwrap();
    for (query, why) in [
        ("walrus javascript", "neither of the web nor a file"),
        ("walrus ssh", "neither of the web nor a file"),
        ("walrus passwd", "files are opened for"),
        ("walrus https", "there is no document 2 to open; 1 were found"),
    ] {
        let output = open(if why.contains('2') { "2" } else { "1" }, query);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(why), "{query}: {said}");
    }
    assert_eq!(open("1", "nothing").status.code(), Some(1));
    assert!(opened().is_err(), "it was opened");
    let message = failure(&["search", "--open", "0", "a"], b"");
    assert!(message.contains("not a whole number from 1"), "{message}");
}

#[test]
#[cfg(unix)]
fn results_are_shown_in_a_pager_on_a_terminal_only() {
    let (node, dir) = (node(), TempDir::new());
    let path = recorder(&dir, "mypager");
    let args = ["search", "--node", &node.url(), "bloom"];
    let variables = [("PATH", path.as_str()), ("PAGER", "mypager --all")];
    let paged = || std::fs::read_to_string(dir.join("record"));
    assert_eq!(on_a_terminal(&args, &variables), "");
    let shown = paged().unwrap();
    assert!(shown.starts_with("--all\n1. \u{1b}[1mBloom") && shown.ends_with("rate\n"), "{shown}");
    std::fs::remove_file(dir.join("record")).unwrap();
    let refusing = ["search", "--no-pager", "--node", &node.url(), "bloom"];
    for (args, more) in [(&args[..], ("NO_PAGER", "1")), (&args, ("PAGER", "cat")), (&args, ("PAGER", ""))] {
        assert!(on_a_terminal(args, &[&variables[..], &[more]].concat()).contains("Bloom"));
    }
    assert!(on_a_terminal(&refusing, &variables).contains("Bloom"));
    let mut piped = furui();
    piped.args(args).envs(variables);
    assert!(feed(piped, b"").stdout.starts_with(b"Bloom"));
    assert!(paged().is_err(), "there was a pager");
}

#[test]
#[cfg(unix)]
fn what_was_asked_for_is_bold_on_a_terminal() {
    let node = node();
    let args = ["search", "--node", &node.url(), "\"bloom filters\" OR terminal", "-cuckoo"];
    let plain = "Bloom filters\n    http://a.example/\n    a set, wrong at a rate\n";
    let bold = "\x1b[1mBloom filters\x1b[22m\n    http://\x1b[4ma.example\x1b[24m/\n    a set, wrong at a rate\n";
    let evil = "evil [2J\n    http://\x1b[4md.example\x1b[24m/\n    \x1b[1mterminal\x1b[22m\n";
    let shown = on_a_terminal(&args, &[("PAGER", "cat")]);
    let one = |first, second| shown == format!("1. {first}2. {second}");
    assert!(one(bold, evil) || one(evil, bold), "{shown}");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = on_a_terminal(&args, &[variable, ("PAGER", "cat")]);
        assert!(shown.contains(plain) && !shown.contains('\x1b'), "{shown}");
    }
}

#[test]
fn options_after_the_words_are_not_taken_for_words() {
    let message = failure(&["search", "--node", &node().url(), "filters", "--json"], b"");
    assert_eq!(message, "furui: --json is not a word; options come before the words\n");
}

#[test]
fn json_is_a_line_for_each_document_and_one_for_the_sum() {
    let node = node();
    let lines = search(&node, &["--json", "--explain", "bloom"]);
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["url"], &lines[0]["title"]), (&"http://a.example/".into(), &"Bloom filters".into()));
    assert_eq!((lines[0]["id"].as_str().unwrap().len(), &lines[0]["score"]), (40, &1.0.into()));
    assert_eq!((&lines[0]["snippet"], &lines[0]["marks"]), (&"a set, wrong at a rate".into(), &serde_json::json!([])));
    assert_eq!(lines[0]["title_marks"], serde_json::json!([[0, 5]]));
    assert!(lines[1]["step"].as_str().unwrap().starts_with("plan: "), "{}", lines[1]);
    assert_eq!((&lines[2]["sent"], &lines[2]["received"]), (&10.into(), &20.into()));
    assert_eq!(lines[3], serde_json::json!({ "total": 1, "bytes": 30, "cursor": null, "whole": true }));
    assert_eq!(lines.len(), 4);
    let evil = search(&node, &["--json", "terminal"]);
    assert!(evil.contains(r"evil\u202e \u001b[2J") && !evil.contains('\u{202e}'), "{evil}");
    let output = run(&["search", "--node", &node.url(), "--json", "nothing"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"{\"total\":0,\"bytes\":30,\"cursor\":null,\"whole\":true}\n");
}

#[test]
fn explained_searches_say_what_was_sent() {
    let text = search(&node(), &["--explain", "bloom"]);
    assert!(text.starts_with("Bloom filters\n"), "{text}");
    assert!(text.contains("\n# plan: ") && text.contains(": 10 bytes sent, 20 received\n"), "{text}");
    assert!(text.ends_with("# 1 found, 30 bytes in all\n"), "{text}");
}

#[test]
fn more_than_a_page_is_asked_for_page_by_page() {
    let node = FakeNode::new();
    let lines: String = (0..2300).map(|i| format!("{{\"url\":\"u:{i}\",\"text\":\"page\"}}\n")).collect();
    stdout(&["publish", "--node", &node.url()], lines.as_bytes());
    let found = |limit: &str| {
        let text = search(&node, &["--json", "--limit", limit, "page"]);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let last: serde_json::Value = serde_json::from_str(&lines.pop().unwrap()).unwrap();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(last["total"], lines.len());
        (lines.len(), last["cursor"].is_null())
    };
    assert_eq!(found("10"), (10, false));
    assert_eq!(found("2100"), (2100, false));
    assert_eq!(found("5000"), (2300, true));
}

#[test]
fn what_cannot_be_done_is_said() {
    let node = node();
    let message = failure(&["search", "--exact", "--node", &node.url(), "bloom", "(set"], b"");
    assert_eq!(message, "furui: at character 7: this \"(\" is never closed; add a \")\", or leave it out\n");
    let message = failure(&["search", "--exact", "--node", &node.url(), "bloom", "\"a set"], b"");
    assert_eq!(
        message,
        "furui: at character 7: this quotation mark is never closed; add one after the phrase, or leave it out\n"
    );
    let literally = search(&node, &["cuckoo("]);
    let note = "(searched for as it is written: at character 7: this \"(\" is never closed";
    assert!(literally.starts_with(note) && literally.contains("Cuckoo filters"), "{literally}");
    let message = failure(&["search", "--node", "http://127.0.0.1:1", "x"], b"");
    assert!(message.contains("furui node"), "{message}");
    failure(&["search", "--node", &node.url()], b"");
    failure(&["search", "--node", &node.url(), "--limit", "0", "x"], b"");
    for (options, expected) in [
        (&["--coding", "zip"][..], "best, naive, fixed, ringed, golomb"),
        (
            &["--coding", "best", "--rate", "0.1"],
            "the coding best has no rate; leave the rate out, or take fixed or ringed",
        ),
        (&["--coding", "fixed", "--rate", "2"], "less than 1"),
        (&["--rate", "0.1"], "--coding"),
    ] {
        let message = failure(&[&["search", "--node", &node.url()], options, &["x"]].concat(), b"");
        assert!(message.contains(expected), "{message}");
    }
    assert!(search(&node, &["--coding", "ringed", "--rate", "1%", "cuckoo"]).starts_with("Cuckoo filters"));
}

/// A server that answers one request with these bytes, and then closes the connection.
fn answers(bytes: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        stream.write_all(bytes.as_bytes()).unwrap();
    });
    url
}

#[test]
fn answers_that_no_node_gives_are_errors() {
    for (answer, expected) in [
        ("HTTP/1.0 200 OK\r\n\r\n{\"total\":1", "cut off"),
        ("HTTP/1.0 200 OK\r\n\r\n", "cut off"),
        ("HTTP/1.0 200 OK\r\n\r\n<html>\n", "is it a node?"),
        ("HTTP/1.0 404 Not Found\r\n\r\n<html>\n", "is this a node?"),
        ("HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "is this a node?"),
        ("HTTP/1.0 200 OK\r\n\r\n{\"error\":\"too slow; ask again\"}\n", "furui: too slow; ask again\n"),
        ("SSH-2.0\r\n\r\n", "cannot reach a node"),
    ] {
        let message = failure(&["search", "--node", &answers(answer), "x"], b"");
        assert!(message.contains(expected), "{answer}: {message}");
    }
}
