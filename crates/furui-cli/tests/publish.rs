//! `furui publish`, to a node in this process.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

#[path = "support/node.rs"]
mod node;
mod support;

use std::fs;

use node::FakeNode;
use support::{TempDir, failure, run, stdout};

fn jsonl(count: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|i| {
            format!("{{\"url\":\"http://a.example/{i:04}\",\"title\":\"t{i}\",\"text\":\"word w{i}\"}}\n").into_bytes()
        })
        .collect()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[test]
fn lines_are_published_once_however_often_they_are_sent() {
    let node = FakeNode::new();
    let publish = ["publish", "--node", &node.url(), "-"];
    assert_eq!(text(&stdout(&publish, &jsonl(700))), "700 documents: 700 new, 0 known\n");
    assert_eq!(text(&stdout(&publish[..3], &jsonl(1000))), "1,000 documents: 300 new, 700 known\n");
    let records = node.records();
    assert_eq!(records.len(), 1000);
    assert_eq!((&*records[7].url, &*records[7].title, &*records[7].text), ("http://a.example/0007", "t7", "word w7"));
}

#[test]
fn the_same_line_twice_is_one_document() {
    let node = FakeNode::new();
    let input = [jsonl(2), jsonl(2)].concat();
    assert_eq!(text(&stdout(&["publish", "--node", &node.url()], &input)), "4 documents: 2 new, 2 known\n");
}

#[test]
fn lines_that_are_no_documents_are_named_and_left_out() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    let lines = b"\n{\"url\":\"u:1\",\"title\":\"one\"}\nnonsense\n{\"title\":\"two\"}\n{\"url\":\"u:2\",\"text\":\"!\"}\n\xff\n";
    let file = dir.file("some.jsonl", lines);
    let output = run(&["publish", "--node", &node.url(), &file], b"");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "1 documents: 1 new, 0 known; 4 left out\n");
    let errors: Vec<&str> = text(&output.stderr).lines().collect();
    for (line, (number, why)) in
        errors.iter().zip([(3, "no document"), (4, "missing field `url`"), (5, "without words"), (6, "no document")])
    {
        assert!(line.contains(&format!("some.jsonl: line {number}: ")) && line.contains(why), "{line}");
    }
    assert_eq!(errors.len(), 4);
    let message = failure(&["publish", "--strict", "--node", &node.url(), &file], b"");
    assert!(message.contains("some.jsonl: line 3: no document"), "{message}");
}

#[test]
fn directories_are_walked_and_what_is_no_text_is_left_out() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    for inner in ["tree/b/c", "tree/.git"] {
        fs::create_dir_all(dir.join(inner)).unwrap();
    }
    for (name, bytes) in [
        ("tree/b/c/d e.txt", "deep 篩".as_bytes()),
        ("tree/a.txt", b"shallow"),
        ("tree/image.bin", b"PNG\0\0"),
        ("tree/latin", b"caf\xe9"),
        ("tree/.hidden", b"hidden"),
        ("tree/.git/config", b"hidden"),
        ("tree/more.jsonl", b"{\"url\":\"http://x.example/\",\"text\":\"x\"}"),
    ] {
        dir.file(name, bytes);
    }
    let tree = dir.join("tree");
    let output = run(&["publish", "--node", &node.url(), "--base", "http://site.example/docs", &tree], b"");
    assert_eq!(text(&output.stdout), "3 documents: 3 new, 0 known; 2 left out\n");
    let errors = text(&output.stderr);
    assert!(errors.contains("image.bin: no text: there are zeros in it; left out"), "{errors}");
    assert!(errors.contains("latin: no text: not UTF-8; left out"), "{errors}");
    let records = node.records();
    let found: Vec<_> = records.iter().map(|record| (&*record.url, &*record.title, &*record.text)).collect();
    assert_eq!(
        found,
        [
            ("http://site.example/docs/a.txt", "a.txt", "shallow"),
            ("http://site.example/docs/b/c/d%20e.txt", "d e.txt", "deep 篩"),
            ("http://x.example/", "", "x"),
        ]
    );
    stdout(&["publish", "--node", &node.url(), &dir.join("tree/a.txt")], b"");
    let own = node.records().into_iter().find(|record| record.url.starts_with("file://")).unwrap();
    assert!(own.url.ends_with("/tree/a.txt"), "{}", own.url);
}

#[test]
fn what_cannot_be_done_is_said() {
    let node = FakeNode::new();
    let message = failure(&["publish", "--node", &node.url(), "/no/such/file"], b"");
    assert!(message.contains("cannot read /no/such/file"), "{message}");
    let message = failure(&["publish", "--node", &node.url()], b"{\"url\":\"u:\",\"text\":\"refuseme\"}\n");
    assert_eq!(message, "furui: the disk is full; make room\n");
    // Nothing listens on port 1.
    let message = failure(&["publish", "--node", "http://127.0.0.1:1"], b"{}\n");
    assert!(
        message.contains("cannot reach a node at http://127.0.0.1:1") && message.contains("furui node"),
        "{message}"
    );
    for url in ["https://127.0.0.1:1", "127.0.0.1:1", "http://a/b", "http://"] {
        let message = failure(&["publish", "--node", url], b"");
        assert!(message.contains("http://127.0.0.1:7717"), "{message}");
    }
}
