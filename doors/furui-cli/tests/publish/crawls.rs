//! Crawls: WARC files, also broken ones.

use super::{page, text};
use crate::support::fake_node::FakeNode;
use crate::support::{TempDir, run};

pub(super) fn warc_record(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

#[test]
fn crawls_are_published_past_what_is_broken_in_them() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    let answer = |url: &str, headers: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n");
        warc_record("response", url, &[head.as_bytes(), body].concat())
    };
    let html = "Content-Type: text/html; charset=iso-8859-1";
    let bank = page("<link rel=canonical href=http://bank.example/>", "not the bank");
    let moved = page("<link rel=canonical href=http://www.a.example/first>", "moved");
    let records = [
        warc_record("warcinfo", "", b"software: test"),
        answer("http://a.example/1", html, b"<title>caf\xe9</title>first"),
        answer(
            "http://a.example/2",
            "Content-Type: text/html\r\nTransfer-Encoding: chunked",
            b"5\r\n<p>se\r\n4\r\ncond\r\n0\r\n\r\n",
        ),
        b"WARC/1.0\r\nWARC-Type: response\r\n\r\nno length\r\n".to_vec(),
        answer("http://evil.example/", html, &bank),
        answer("http://a.example/3", html, &moved),
        answer("http://a.example/4", "Content-Type: text/plain\r\nX-Robots-Tag: noindex", b"hidden"),
        answer("mailto:x", html, b"words"),
        answer("http://a.example/5", html, b"cut off")[..180].to_vec(),
    ]
    .concat();
    let plain = dir.file("crawl.warc", &records);
    let output = run(&["publish", "--node", &node.url(), &plain], b"");
    let sums = "4 documents: 4 new, 0 known; 3 left out, 1 that ask not to be found, 1 of other kinds\n";
    assert_eq!(text(&output.stdout), sums);
    let errors = text(&output.stderr);
    for error in [
        "crawl.warc: record 4: no Content-Length; left out",
        "crawl.warc: record 8: \"mailto:x\" is not a URL of the web; left out",
        "crawl.warc: record 9 (http://a.example/5): it ends in the middle; left out",
    ] {
        assert!(errors.contains(error), "{errors}");
    }
    let records: Vec<_> = node.records().into_iter().map(|record| (record.url, record.title, record.text)).collect();
    let expected = [
        ("http://a.example/1", "caf\u{e9}", "first"),
        ("http://a.example/2", "", "second"),
        ("http://evil.example/", "", "not the bank"),
        ("http://www.a.example/first", "", "moved"),
    ];
    assert_eq!(records, expected.map(|(url, title, text)| (url.into(), title.into(), text.into())));
    // Files that are not a WARC file, and bytes that are not part of a gzip file, are reported.
    for (name, bytes) in [("x.warc", &b"words"[..]), ("y.warc.gz", &b"\x1f\x8b\x08\0broken"[..])] {
        let output = run(&["publish", "--node", &node.url(), &dir.file(name, bytes)], b"");
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(0), "0 documents: 0 new, 0 known; 1 left out\n")
        );
    }
}

/// A member of a gzip file that stores these bytes uncompressed, without its end.
fn unfinished_member(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    [&head[..], &length.to_le_bytes(), &(!length).to_le_bytes(), bytes].concat()
}

#[test]
fn of_a_crawl_that_was_cut_off_everything_before_the_cut_is_published() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    let answer = |url: &str| {
        let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>the page at {url}");
        warc_record("response", url, page.as_bytes())
    };
    let whole = [answer("http://a.example/1"), answer("http://a.example/2"), answer("http://a.example/3")].concat();
    let member = unfinished_member(&whole);
    for (name, bytes, why) in [
        ("a.warc", &whole[..whole.len() - 20], "record 3 (http://a.example/3): it ends in the middle"),
        ("b.warc.gz", &member[..member.len() - 20], "record 3 (http://a.example/3): a damaged gzip member"),
    ] {
        let output = run(&["publish", "--node", &node.url(), &dir.file(name, bytes)], b"");
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).starts_with("2 documents: "), "{}", text(&output.stdout));
        assert!(text(&output.stderr).ends_with(&format!("{name}: {why}; left out\n")), "{}", text(&output.stderr));
    }
    assert_eq!(node.records().len(), 2);
}
