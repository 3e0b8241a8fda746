//! Tests `furui node`: its configuration file, and the errors that keep it from starting.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::node::{Node, after, command, refusal};
use crate::support::{TempDir, failure, furui_for_signals, run};

#[test]
fn a_node_runs_by_a_file_alone() {
    let dir = TempDir::new();
    let text = "# all of it\ndata = \"state/of it\"\nlisten = [\"/ip4/127.0.0.1/tcp/0\"]\nhttp = \"127.0.0.1:0\"\n";
    let file = dir.file("node.toml", text.as_bytes());
    let mut command = furui_for_signals();
    command.args(["node", "--config", &file]).current_dir("/");
    let node = Node::run(command, dir.join("log"));
    assert!(node.address.starts_with("/ip4/127.0.0.1/tcp/"), "{}", node.address);
    assert!(node.url.starts_with("http://127.0.0.1:"), "{}", node.url);
    assert!(dir.path().join("state/of it/identity").exists(), "a relative path begins at the file's directory");
    let open = open_to_others(&dir.path().join("state"));
    assert_eq!(open, Vec::<String>::new(), "what a node holds is its owner's alone");
    node.end();
}

/// The files in a directory that users other than the owner can read, write or enter.
fn open_to_others(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let open = entries.flat_map(|path| {
        let is_open = path.metadata().unwrap().permissions().mode() & 0o077 != 0;
        let below = if path.is_dir() { open_to_others(&path) } else { vec![] };
        is_open.then(|| path.display().to_string()).into_iter().chain(below).collect::<Vec<_>>()
    });
    open.collect()
}

#[test]
fn a_directory_that_others_may_enter_is_not_shared_with_a_node() {
    let dir = TempDir::new();
    let data = dir.join("data");
    fs::create_dir(&data).unwrap();
    fs::write(format!("{data}/notes"), "somebody's").unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let message = refusal(&data, &[]);
    assert!(message.contains(&format!("chmod 700 {data}")), "{message}");
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_line() {
    let dir = TempDir::new();
    for (text, line, why) in [
        (&b"data = 'd'\nlisen = ['/ip4/127.0.0.1/tcp/0']\n"[..], 2, "unknown field `lisen`, expected one of `data`"),
        (b"data = 'd'\n\nlisten = '/ip4/127.0.0.1/tcp/0'\n", 3, "invalid type: string"),
        (b"http = '127.0.0.1'\n", 1, "invalid socket address"),
        (b"http = 7717\n", 1, "invalid type: integer"),
        (b"data = 'd'\ndata = 'e'\n", 2, "duplicate key"),
        (b"data = 'd'\nhttp = \n", 2, ""),
        (b"data 'd'\n", 1, ""),
    ] {
        let file = dir.file("node.toml", text);
        let message = failure(&["node", "--config", &file], b"");
        let begin = format!("furui: {file}: line {line}: {why}");
        assert!(message.starts_with(&begin) && message.contains("an option of `furui node`"), "{message}");
    }
    let missing = dir.join("missing.toml");
    let message = failure(&["node", "--config", &missing], b"");
    assert!(message.starts_with(&format!("furui: cannot read {missing}: ")), "{message}");
    failure(&["node", "--config", &dir.file("latin.toml", b"data = 'caf\xe9'\n")], b"");
    failure(&["node", "--config", dir.path().to_str().unwrap()], b"");
    let message = failure(&["node", "--config", &dir.file("zeros.toml", &vec![b'\n'; (1 << 20) + 1])], b"");
    assert!(message.contains("more than 1048576 bytes"), "{message}");
}

#[test]
fn what_keeps_a_node_from_starting_is_named() {
    let dir = TempDir::new();
    let data = dir.join("node");
    let node = |arguments: &[&str]| refusal(&data, arguments);
    let message = node(&["--bootstrap", "example.org:4001"]);
    assert!(message.contains("`example.org:4001` is not a multiaddress") && message.contains("/ip4/"), "{message}");
    let message = node(&["--listen", "/ip4/192.0.2.1/tcp/0"]);
    assert!(message.contains("cannot listen on /ip4/192.0.2.1/tcp/0"), "{message}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let message = refusal(&data, &["--http", &address]);
    assert!(message.contains(&format!("cannot listen on {address}")) && message.contains("by --http"), "{message}");
    let file = dir.file("file", b"");
    let message = refusal(&file, &[]);
    assert!(message.contains(&file), "{message}");
    fs::write(format!("{data}/identity"), b"no key").unwrap();
    let message = node(&[]);
    assert!(message.contains("node/identity is not the 32 bytes") && message.contains("remove it"), "{message}");
    assert_eq!(run(&["node", "--http", "nowhere", "--data", &data], b"").status.code(), Some(2));
}

#[test]
fn a_node_whose_disk_is_full_says_so_and_ends_and_goes_on_where_it_was() {
    let dir = TempDir::new();
    // This text has few words, and can hardly be compressed.
    let number =
        |n: u64| format!("{:x}{}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15), if n.is_multiple_of(16) { " " } else { "" });
    let documents: String = (0..100)
        .map(|n| {
            let words: String = (n * 1000 + 1..=n * 1000 + 1000).map(number).collect();
            format!("{{\"url\":\"http://a.example/{n}\",\"text\":\"all {words}\"}}\n")
        })
        .collect();
    // Its files can have at most so many blocks of 512 bytes, as if the disk were almost full.
    let limited = |blocks: u32, log: &str| {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}");
        Node::run(after(&limit, &command(&dir.join("node"), &[])), dir.join(log))
    };
    let mut node = limited(2200, "full.log");
    let output = run(&["publish", "--node", &node.url], documents.as_bytes());
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("node/shelf.redb: "), "{message}");
    assert_eq!(node.ended().code(), Some(2), "{}", node.log());
    let message = node.log();
    assert!(message.starts_with("furui: cannot ") && message.contains("node/shelf.redb: "), "{message}");

    let node = limited(1_000_000, "more.log");
    let sums = node.publish(&documents);
    assert!(sums.starts_with("100 documents: "), "{sums}");
    assert_eq!(node.find("all").len(), 100);
}
