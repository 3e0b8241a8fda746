//! Tests `furui node --watch`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::publish::pdfs;
use crate::support::node::{Node, refusal};
#[cfg(target_os = "linux")]
use crate::support::node::{after, command};
use crate::support::{TempDir, run};

/// Two directories with the same parent: that of the watched files, with symbolic links resolved, and that of others.
fn directories() -> (TempDir, String, String) {
    let dir = TempDir::new();
    for name in ["watched", "elsewhere"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let real = dir.path().canonicalize().unwrap();
    let path = |name: &str| real.join(name).to_str().unwrap().to_owned();
    (dir, path("watched"), path("elsewhere"))
}

#[test]
fn a_watched_folder_is_found_as_it_is() {
    let (dir, watched, elsewhere) = directories();
    let write = |name: &str, text: &str| fs::write(format!("{watched}/{name}"), text).unwrap();
    let url = |name: &str| format!("file://{watched}/{name}");
    fs::create_dir_all(format!("{watched}/deep/er")).unwrap();
    write("a.txt", "walrus one");
    write("deep/er/b.md", "# A title\n\nwalrus two");
    write("deep/page.html", "<title>P</title><link rel=canonical href='https://example.org/p'><p>walrus three");
    write("picture.png", "walrus\0");
    write(".hidden", "walrus");
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    let (a, b, page) = (url("a.txt"), url("deep/er/b.md"), "https://example.org/p");
    node.finds("walrus", &[&a, &b, page]);

    // What is new, changed or replaced is published; what goes, or may no more be read, is withdrawn.
    write("new.txt", "walrus four");
    node.finds("walrus", &[&a, &b, &url("new.txt"), page]);
    write("a.txt", "manatee");
    node.finds("walrus", &[&b, &url("new.txt"), page]);
    node.finds("manatee", &[&a]);
    fs::write(format!("{elsewhere}/replacement"), "dugong").unwrap();
    fs::rename(format!("{elsewhere}/replacement"), format!("{watched}/a.txt")).unwrap();
    node.finds("dugong", &[&a]);
    node.finds("manatee", &[]);
    fs::remove_file(format!("{watched}/new.txt")).unwrap();
    node.finds("walrus", &[&b, page]);

    // Directories: moved inside, out and in, and removed.
    fs::rename(format!("{watched}/deep"), format!("{watched}/moved")).unwrap();
    node.finds("walrus", &[&url("moved/er/b.md"), page]);
    write("moved/er/c.txt", "walrus five");
    node.finds("walrus", &[&url("moved/er/b.md"), &url("moved/er/c.txt"), page]);
    fs::rename(format!("{watched}/moved"), format!("{elsewhere}/moved")).unwrap();
    node.finds("walrus", &[]);
    fs::rename(format!("{elsewhere}/moved"), format!("{watched}/back")).unwrap();
    node.finds("walrus", &[&url("back/er/b.md"), &url("back/er/c.txt"), page]);
    fs::remove_dir_all(format!("{watched}/back/er")).unwrap();
    node.finds("walrus", &[page]);

    // Symbolic links lead to nothing, in the place of a file or of a directory.
    fs::write(format!("{elsewhere}/secret.txt"), "walrus secret").unwrap();
    symlink(&elsewhere, format!("{watched}/link")).unwrap();
    symlink(format!("{elsewhere}/secret.txt"), format!("{watched}/secret.txt")).unwrap();
    // Neither do files that are too long, or that are none.
    write("long.txt", &"walrus ".repeat(3 << 20));
    assert!(std::process::Command::new("mkfifo").arg(format!("{watched}/pipe.txt")).status().unwrap().success());
    node.says("long.txt: more than 16777216 bytes; publish it in parts; left out");
    write("last.txt", "walrus last");
    node.finds("walrus", &[&url("last.txt"), page]);
    node.end();

    // What changes while the node is down is seen at the start.
    fs::remove_file(format!("{watched}/last.txt")).unwrap();
    write("a.txt", "walrus again");
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    node.finds("walrus", &[&a, page]);
    node.end();
    // A directory that is watched no more is not published.
    let node = Node::start(&dir, "node", &[]);
    node.finds("walrus", &[]);
    assert_eq!(node.log().lines().count(), 1, "nothing but of the long file: {}", node.log());
}

#[test]
fn a_pdf_is_found_and_a_malicious_one_does_not_keep_the_node_from_others() {
    let (dir, watched, _) = directories();
    let write = |name: &str, bytes: &[u8]| fs::write(format!("{watched}/{name}"), bytes).unwrap();
    let url = |name: &str| format!("file://{watched}/{name}");
    write("a.pdf", &pdfs::simple("puffin"));
    write("b.pdf", &pdfs::circle());
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    node.finds("puffin words", &[&url("a.pdf")]);
    node.says("b.pdf: its reader needs more than 2 GiB of memory, or the file is damaged; left out");
    write("b.pdf", &pdfs::simple("puffin"));
    node.finds("puffin", &[&url("a.pdf"), &url("b.pdf")]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_reader_is_ended_with_the_node_is_read_again() {
    let (dir, watched, _) = directories();
    fs::write(format!("{watched}/a.pdf"), pdfs::large()).unwrap();
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    pdfs::end_reader(node.id(), "-TERM");
    node.says("a.pdf: operation interrupted; left out");
    node.end();
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    node.says("a.pdf: its reader needs more than 2 GiB of memory, or the file is damaged; left out");
}

#[test]
fn of_files_with_one_url_the_first_is_published_and_another_takes_its_place() {
    let (dir, watched, _) = directories();
    let line = |text: &str| format!("{{\"url\":\"https://example.org/1\",\"title\":\"{text}\",\"text\":\"otter\"}}\n");
    let lines: String = (2..1500).map(|n| format!("{{\"url\":\"u:{n:04}\",\"text\":\"heron x{n}\"}}\n")).collect();
    fs::write(format!("{watched}/a.jsonl"), line("first")).unwrap();
    fs::write(format!("{watched}/b.jsonl"), line("second") + &line("third") + &lines).unwrap();
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    node.finds("otter first", &["https://example.org/1"]);
    node.finds("otter second", &[]);
    node.finds("heron x1499", &["u:1499"]);
    fs::remove_file(format!("{watched}/a.jsonl")).unwrap();
    node.finds("otter second", &["https://example.org/1"]);
    node.finds("otter first", &[]);
    // Of a file with many documents, those that have gone are withdrawn.
    fs::write(format!("{watched}/b.jsonl"), "{\"url\":\"u:1499\",\"text\":\"heron x1499\"}\n").unwrap();
    node.finds("heron", &["u:1499"]);
    node.finds("otter", &[]);
    // What was withdrawn by hand comes back with the node.
    assert!(run(&["unpublish", "--node", &node.url, "u:1499"], b"").status.success());
    node.finds("heron", &[]);
    node.end();
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    node.finds("heron", &["u:1499"]);
}

#[test]
fn what_a_gitignore_excludes_is_withdrawn_and_comes_back() {
    let (dir, watched, _) = directories();
    fs::create_dir_all(format!("{watched}/inner/build")).unwrap();
    let write = |name: &str, text: &str| fs::write(format!("{watched}/{name}"), text).unwrap();
    let url = |name: &str| format!("file://{watched}/{name}");
    write("inner/.gitignore", "build/\n");
    write("inner/main.rs", "// gannet");
    write("inner/build/made.rs", "// gannet");
    write("mail", "From a\nFrom: a@x.example\nSubject: gannet\nMessage-ID: <1@x.example>\n\n");
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    let (main, made, mail) = (url("inner/main.rs"), url("inner/build/made.rs"), "mid:1@x.example");
    node.finds("gannet", &[&main, mail]);
    write("inner/build/more.rs", "// gannet");
    write("inner/.gitignore", "build/\n*.rs\n");
    node.finds("gannet", &[mail]);
    fs::remove_file(format!("{watched}/inner/.gitignore")).unwrap();
    node.finds("gannet", &[&made, &url("inner/build/more.rs"), &main, mail]);
}

#[test]
fn the_directory_of_the_node_is_not_published() {
    let (dir, watched, _) = directories();
    fs::write(format!("{watched}/a.txt"), "kestrel").unwrap();
    // The node is in the watched directory, and a file in it would have a format that is published.
    fs::create_dir(format!("{watched}/node")).unwrap();
    fs::set_permissions(format!("{watched}/node"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(format!("{watched}/node/notes.txt"), "kestrel in the node").unwrap();
    let node = Node::start(&dir, "watched/node", &["--watch", &watched, dir.path().to_str().unwrap()]);
    node.finds("kestrel", &[&format!("file://{watched}/a.txt")]);
    fs::write(format!("{watched}/node/more.txt"), "kestrel in the node").unwrap();
    fs::write(format!("{watched}/b.txt"), "kestrel").unwrap();
    node.finds("kestrel", &[&format!("file://{watched}/a.txt"), &format!("file://{watched}/b.txt")]);
}

#[test]
fn a_watched_directory_may_go_and_come_back() {
    let (dir, watched, elsewhere) = directories();
    let missing = format!("{watched}/missing");
    let message = refusal(&dir.join("node"), &["--watch", &missing]);
    assert!(message.contains(&format!("cannot watch {missing}")), "{message}");
    let message = refusal(&dir.join("node"), &["--watch", &dir.file("file", b"")]);
    assert!(message.contains("file: Not a directory") && !fs::exists(dir.join("node")).unwrap(), "{message}");
    let a = format!("file://{watched}/a.txt");
    fs::write(format!("{watched}/a.txt"), "marmot").unwrap();
    let node = Node::start(&dir, "node", &["--watch", &watched]);
    node.finds("marmot", &[&a]);
    fs::rename(&watched, format!("{elsewhere}/away")).unwrap();
    node.finds("marmot", &[]);
    fs::create_dir(&watched).unwrap();
    fs::write(format!("{watched}/b.txt"), "marmot").unwrap();
    node.finds("marmot", &[&format!("file://{watched}/b.txt")]);
    fs::write(format!("{watched}/a.txt"), "marmot").unwrap();
    node.finds("marmot", &[&a, &format!("file://{watched}/b.txt")]);
    node.end();
}

/// Runs a node after a command of the shell as root of a user namespace, in which limits and mounts are its own. `None`
/// if such are not permitted.
#[cfg(target_os = "linux")]
fn apart(dir: &TempDir, shell: &str, more: &[&str]) -> Option<Node> {
    let inner = after(shell, &command(&dir.join("node"), more));
    let apart = |program: &std::ffi::OsStr| {
        let mut command = std::process::Command::new("unshare");
        command.arg("-Urm").arg(program);
        command
    };
    if !apart("true".as_ref()).status().is_ok_and(|status| status.success()) {
        println!("SKIPPED: no user namespaces may be made here");
        return None;
    }
    let mut command = apart(inner.get_program());
    command.args(inner.get_args());
    Some(Node::run(command, dir.join("node.log")))
}

#[cfg(target_os = "linux")]
#[test]
fn where_the_system_watches_nothing_the_node_says_so_and_compares() {
    for limit in ["instances", "watches"] {
        let (dir, watched, _) = directories();
        fs::write(format!("{watched}/a.txt"), "puffin").unwrap();
        let shell = format!("echo 0 >/proc/sys/user/max_inotify_{limit}");
        let Some(node) = apart(&dir, &shell, &["--watch", &watched]) else { return };
        node.finds("puffin", &[&format!("file://{watched}/a.txt")]);
        node.says(&format!(
            "all is compared every 60 seconds instead; to watch more on Linux, raise fs.inotify.max_user_{limit}"
        ));
        node.end();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_full_disk_keeps_from_being_published_is_published_when_there_is_room() {
    use std::io::Write;
    let (dir, watched, _) = directories();
    fs::write(format!("{watched}/a.txt"), "razorbill").unwrap();
    let data = dir.join("node");
    let shell = format!("mkdir '{data}' && mount -t tmpfs -o size=16m,mode=700 tmpfs '{data}'");
    let Some(node) = apart(&dir, &shell, &["--watch", &watched]) else { return };
    node.finds("razorbill", &[&format!("file://{watched}/a.txt")]);
    let ballast = format!("/proc/{}/root{data}/ballast", node.id());
    let mut file = fs::File::create(&ballast).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    let lines: String = (0..300).map(|n| format!("{{\"url\":\"u:{n:03}\",\"text\":\"guillemot x{n}\"}}\n")).collect();
    fs::write(format!("{watched}/b.jsonl"), lines).unwrap();
    node.says("node/watched.redb: No space left on device (os error 28); make room; the node tries again");
    fs::remove_file(&ballast).unwrap();
    drop(file);
    node.finds("guillemot x299", &["u:299"]);
    node.end();
}
