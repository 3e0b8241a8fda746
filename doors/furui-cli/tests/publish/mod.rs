//! `furui publish`, to a node in this process.

mod crawls;
mod disks;
pub mod pdfs;
mod sites;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support;
use crate::support::fake_node::FakeNode;
use crate::support::{TempDir, failure, run, stdout};
use furui_node::furui_net::http::MAX_LINE;
use furui_node::furui_search::MAX_TEXT;

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
    assert_eq!(text(&stdout(&["publish", "--node", &node.url()], &input)), "2 documents: 2 new, 0 known; 2 repeated\n");
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
    for (line, (number, why)) in errors.iter().zip([
        (3, "not a document"),
        (4, "missing field `url`"),
        (5, "without words"),
        (6, "not a document"),
    ]) {
        assert!(line.contains(&format!("some.jsonl: line {number}: ")) && line.contains(why), "{line}");
    }
    assert_eq!(errors.len(), 4);
    let message = failure(&["publish", "--strict", "--node", &node.url(), &file], b"");
    assert!(message.contains("some.jsonl: line 3: not a document"), "{message}");
}

#[test]
fn a_line_that_is_too_long_is_named_and_left_out() {
    let dir = TempDir::new();
    let document = |number: usize, text: &str| format!("{{\"url\":\"u:{number}\",\"text\":\"{text}\"}}\n");
    // A line of blanks is not a document either, whatever follows it.
    let blank = " ".repeat(MAX_LINE) + &document(3, "behind");
    let escaped = "\\u0061\\u0020".repeat(MAX_TEXT / 2);
    let lines = [document(1, "one"), document(2, &"two ".repeat(MAX_LINE)), blank, document(4, &escaped)].concat();
    let file = dir.file("long.jsonl", lines.as_bytes());
    for (args, input, place) in [(&[&*file][..], &b""[..], "long.jsonl"), (&[], lines.as_bytes(), "standard input")] {
        let node = FakeNode::new();
        let output = run(&[&["publish", "--node", &node.url()], args].concat(), input);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(text(&output.stdout), "2 documents: 2 new, 0 known; 2 left out\n");
        let why = format!("a line of more than {MAX_LINE} bytes; publish the document in parts; left out");
        let errors: Vec<&str> = text(&output.stderr).lines().collect();
        assert_eq!(errors.len(), 2);
        for (error, number) in errors.iter().zip([2, 3]) {
            assert!(error.ends_with(&format!("{place}: line {number}: {why}")), "{error}");
        }
        assert!(node.records().iter().any(|record| record.url == "u:4" && record.text.len() == MAX_TEXT));
    }
    let node = FakeNode::new();
    let message = failure(&["publish", "--strict", "--node", &node.url(), &file], b"");
    assert!(message.contains("long.jsonl: line 2: a line of more than 8388608 bytes"), "{message}");
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
    assert_eq!(text(&output.stdout), "3 documents: 3 new, 0 known; 1 left out, 1 of other kinds\n");
    let errors = text(&output.stderr);
    assert!(errors.contains("latin: no text: not UTF-8; left out"), "{errors}");
    let records = node.records();
    let found: Vec<_> = records.iter().map(|record| (&*record.url, &*record.title, &*record.text)).collect();
    assert_eq!(
        found,
        [
            ("http://site.example/docs/a.txt", "a.txt", "shallow"),
            ("http://site.example/docs/b/c/d%20e.txt", "b/c/d e.txt", "deep 篩"),
            ("http://x.example/", "", "x"),
        ]
    );
    stdout(&["publish", "--node", &node.url(), &dir.join("tree/a.txt")], b"");
    let own = node.records().into_iter().find(|record| record.url.starts_with("file://")).unwrap();
    assert!(own.url.ends_with("/tree/a.txt"), "{}", own.url);
    let output = run(&["publish", "--node", &node.url(), &dir.join("tree/image.bin")], b"");
    assert!(text(&output.stderr).contains("image.bin: no text: there are zeros in it; left out"));
}

/// A page that states facts about itself in its `head`.
fn page(head: &str, body: &str) -> Vec<u8> {
    format!("<!DOCTYPE html><html lang=en-GB><head>{head}</head><body><nav>Home</nav><p>{body}</body>").into_bytes()
}

#[test]
fn pages_are_published_as_they_are_read_and_under_the_url_that_they_name() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    fs::create_dir(dir.join("site")).unwrap();
    for (name, bytes) in [
        ("site/a.html", page("<title>One &amp; two</title><script>no</script>", "caf\u{e9} <b>bo</b>ld")),
        ("site/b.htm", page("<link rel=canonical href='https://b.example/B#x'>", "other")),
        ("site/c.html", b"<html><meta charset=koi8-r><p>\xe9".to_vec()),
        ("site/d.html", page("<meta name=robots content=noindex>", "hidden")),
        ("site/e.html", b"<html lang=de><p>anders".to_vec()),
        ("site/f.md", b"Intro\n# *First* heading\nwords".to_vec()),
        ("site/g.html", page("<link rel=canonical href=/docs/a.html>", "again")),
        ("site/h.css", b"p { color: red }".to_vec()),
        ("site/i", b" <!doctype HTML><title>By its content</title>".to_vec()),
        ("site/empty.html", b"<html><script>words</script>".to_vec()),
    ] {
        dir.file(name, &bytes);
    }
    let publish =
        ["publish", "--lang", "en,ru", "--base", "http://s.example/docs", "--node", &node.url(), &dir.join("site")];
    let output = run(&publish, b"");
    // An empty document has its file's name as its title.
    let sums =
        "6 documents: 6 new, 0 known; 1 repeated, 1 that ask not to be found, 1 in other languages, 1 of other kinds\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), (sums, ""));
    let records = node.records();
    let found: Vec<_> = records.iter().map(|record| (&*record.url, &*record.title, &*record.text)).collect();
    assert_eq!(
        found,
        [
            ("http://s.example/docs/a.html", "One & two", "caf\u{e9} bold"),
            ("http://s.example/docs/c.html", "c.html", "И"),
            ("http://s.example/docs/empty.html", "empty.html", ""),
            ("http://s.example/docs/f.md", "First heading", "Intro\nFirst heading\nwords"),
            ("http://s.example/docs/i", "By its content", ""),
            ("https://b.example/B", "b.htm", "other"),
        ]
    );
    assert!(text(&stdout(&publish, b"")).starts_with("6 documents: 0 new, 6 known; "));
    let forced = ["publish", "--format", "text", "--node", &node.url(), &dir.join("site/h.css")];
    assert_eq!(text(&stdout(&forced, b"")), "1 documents: 1 new, 0 known\n");
    assert!(node.records().iter().any(|record| record.text.contains("color: red")));
}

#[cfg(unix)]
#[test]
fn what_is_odd_in_a_directory_keeps_nothing_else_from_being_published() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let node = FakeNode::new();
    let dir = TempDir::new();
    fs::create_dir_all(dir.join("tree/inner")).unwrap();
    dir.file("tree/a.txt", b"one");
    dir.file("tree/inner/b.html", b"<p>two \xf0\x28\x8c\x28");
    symlink("..", dir.join("tree/inner/loop")).unwrap();
    symlink("self", dir.join("tree/self")).unwrap();
    symlink("/no/such/file", dir.join("tree/dangling")).unwrap();
    let huge = fs::File::create(dir.join("tree/huge.html")).unwrap();
    huge.set_len(5 << 30).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.join("tree/pipe")).status().unwrap().success());
    let shut = dir.file("tree/shut.txt", b"three");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    // Some users may read every file.
    let may_read = fs::read(&shut).is_ok();

    let output = run(&["publish", "--node", &node.url(), &dir.join("tree")], b"");
    let (published, left_out) = if may_read { (3, 2) } else { (2, 3) };
    let sums = format!("{published} documents: {published} new, 0 known; {left_out} left out\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), &*sums));
    let errors = text(&output.stderr);
    assert!(errors.contains("huge.html: more than 16777216 bytes; publish it in parts; left out"), "{errors}");
    assert!(errors.contains("pipe: neither a file nor a directory; left out"), "{errors}");
    assert!(may_read || errors.contains("shut.txt: Permission denied"), "{errors}");
    assert!(node.records().iter().any(|record| record.text.starts_with("two ")));
    // A file that the user named is not skipped silently.
    let message = failure(&["publish", "--node", &node.url(), &dir.join("tree/self")], b"");
    assert!(message.contains("cannot read") && message.contains("tree/self"), "{message}");
}

#[cfg(unix)]
#[test]
fn who_interrupts_leaves_nothing_behind_but_what_was_sent() {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    let node = FakeNode::new();
    let dir = TempDir::new();
    let mut command = support::furui_for_signals();
    command.args(["publish", "--node", &node.url()]).env("TMPDIR", dir.path());
    let mut publish = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = publish.stdin.take().unwrap();
    stdin.write_all(&jsonl(300)).unwrap();
    // Documents that have arrived are sent if no others follow at once.
    while node.records().len() < 300 {
        std::thread::yield_now();
    }
    support::signal(&publish, rustix::process::Signal::INT);
    assert_eq!(publish.wait().unwrap().signal(), Some(2));
    drop(stdin);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(text(&stdout(&["publish", "--node", &node.url()], &jsonl(301))), "301 documents: 1 new, 300 known\n");
}

#[test]
fn it_is_said_what_fewer_nodes_took_than_should() {
    let node = FakeNode::new();
    let lines = "{\"url\":\"u:1\",\"text\":\"a scarce one\"}\n{\"url\":\"u:2\",\"text\":\"another\"}\nnonsense\n";
    let output = run(&["publish", "--node", &node.url()], lines.as_bytes());
    let sums = "2 documents: 2 new, 0 known; 1 at fewer than 3 nodes; 1 left out\n";
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), sums));
}

#[test]
fn what_is_known_is_not_sent() {
    let node = FakeNode::new();
    let relay = Relay::to(&node.url());
    let lines = jsonl(2000);
    let publish = ["publish", "--node", &relay.url, "-"];
    stdout(&publish, &lines);
    let first = relay.sent();
    assert!(first > lines.len() as u64);
    assert_eq!(text(&stdout(&publish, &lines)), "2,000 documents: 0 new, 2,000 known\n");
    let again = relay.sent() - first;
    // The bytes are an id for each document, and a header for each batch.
    assert!(again < 2000 * 41 + 8 * 400, "{again}");
}

/// Forwards bytes to a node, and counts them.
struct Relay {
    url: String,
    sent: Arc<AtomicU64>,
}

impl Relay {
    fn to(node: &str) -> Self {
        use std::io::{Read, Write};
        use std::sync::atomic::Ordering;
        let address = node.strip_prefix("http://").unwrap().to_owned();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::<AtomicU64>::default();
        let count = Arc::clone(&sent);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (mut client, mut node) = (client.unwrap(), std::net::TcpStream::connect(&address).unwrap());
                let (mut back, mut answer) = (client.try_clone().unwrap(), node.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut answer, &mut back));
                let count = Arc::clone(&count);
                std::thread::spawn(move || {
                    let mut piece = [0; 4096];
                    while let Ok(read @ 1..) = client.read(&mut piece) {
                        count.fetch_add(read as u64, Ordering::Relaxed);
                        node.write_all(&piece[..read]).unwrap();
                    }
                    let _ = node.shutdown(std::net::Shutdown::Write);
                });
            }
        });
        Self { url, sent }
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

#[test]
fn what_was_published_is_withdrawn() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    stdout(&["publish", "--node", &node.url()], &jsonl(20));
    let unpublish = ["unpublish", "--node", &node.url()];
    let output = run(
        &[&unpublish[..], &["http://a.example/0001", "HTTP://A.example:80/0002", "http://b.example/"]].concat(),
        b"",
    );
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "2 withdrawn; 1 not published here\n"));
    assert_eq!(text(&output.stderr), "furui: http://b.example/: not published by this node\n");
    assert_eq!(node.records().len(), 18);
    let list = dir.file("list", b"http://a.example/0003\n\n  http://a.example/0004\r\n");
    assert_eq!(text(&stdout(&[&unpublish[..], &["--from", &list]].concat(), b"")), "2 withdrawn\n");
    let output = run(&[&unpublish[..], &["--from", "-"]].concat(), b"http://a.example/0003\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), "0 withdrawn; 1 not published here\n"));
    assert_eq!(text(&stdout(&[&unpublish[..], &["--all"]].concat(), b"")), "16 withdrawn\n");
    assert_eq!(run(&[&unpublish[..], &["--all"]].concat(), b"").status.code(), Some(1));
    let message = failure(&unpublish, b"");
    assert!(message.contains("--all") && message.contains("--from"), "{message}");
    failure(&[&unpublish[..], &["--all", "http://a.example/"]].concat(), b"");
    failure(&[&unpublish[..], &["--from", "/no/such/file"]].concat(), b"");
}

#[test]
fn what_cannot_be_done_is_said() {
    let node = FakeNode::new();
    let message = failure(&["publish", "--node", &node.url(), "/no/such/file"], b"");
    assert!(message.contains("cannot read /no/such/file"), "{message}");
    let message = failure(&["publish", "--node", &node.url()], b"{\"url\":\"u:\",\"text\":\"refuseme\"}\n");
    assert_eq!(message, "furui: the disk is full; make room\n");
    // Nothing listens on port 1.
    let message = failure(&["publish", "--node", "http://127.0.0.1:1"], b"{\"url\":\"u:\",\"text\":\"x\"}\n");
    assert!(
        message.contains("cannot reach a node at http://127.0.0.1:1") && message.contains("furui node"),
        "{message}"
    );
    for url in ["https://127.0.0.1:1", "127.0.0.1:1", "http://a/b", "http://"] {
        let message = failure(&["publish", "--node", url], b"");
        assert!(message.contains("http://127.0.0.1:7717"), "{message}");
    }
}
