//! Tests the outputs of `furui seen` other than the new lines: `--repeats`, `--count`, and figures on a signal.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use furui::format::Printable;
use support::{TempDir, distinct, failure, lines, run, stdout, text};

#[test]
fn repeats_are_appended_to_a_file_in_their_order() {
    let dir = TempDir::new();
    let (repeats, store) = (dir.join("repeats"), dir.join("store"));
    let lines = lines(100_000, 5);
    assert!(stdout(&["seen", "--repeats", &repeats], &text(&lines)) == text(&distinct(&lines)));
    let inverted = stdout(&["seen", "--invert"], &text(&lines));
    assert!(fs::read(&repeats).unwrap() == inverted, "they are those that --invert prints");
    let run = ["seen", "--store", &store, "--repeats", &repeats];
    fs::write(&repeats, b"cut of").unwrap();
    assert_eq!(stdout(&run, b"a\nb\na\nb\na"), b"a\nb\n");
    assert_eq!(fs::read(&repeats).unwrap(), b"cut of\na\nb\na\n", "a line that a kill cut off is ended");
    assert_eq!(stdout(&run, b"b\nc\n"), b"c\n");
    assert_eq!(fs::read(&repeats).unwrap(), b"cut of\na\nb\na\nb\n", "the next run appends");
    assert_eq!(stdout(&["seen", "--mark", "--repeats", &repeats, "-0"], b"a\0a\0"), b"1\x000\0");
    assert!(fs::read(&repeats).unwrap().ends_with(b"b\n\0a\0"));
}

#[test]
fn the_file_of_repeats_is_a_table_with_one_header_and_has_no_lines_without_a_key() {
    let dir = TempDir::new();
    let repeats = dir.join("repeats");
    let (a, b) = (dir.file("a", b"k,v\nx,1\nx,2\n"), dir.file("b", b"k,v\nx,3\ny,4\n"));
    let args = ["seen", "--csv", "--key", "k", "--repeats", &repeats, &a, &b];
    assert_eq!(stdout(&args, b""), b"k,v\nx,1\ny,4\n");
    assert_eq!(stdout(&args, b""), b"k,v\nx,1\ny,4\n");
    assert_eq!(fs::read(&repeats).unwrap(), b"k,v\nx,2\nx,3\nx,2\nx,3\n");
    let other = dir.join("other");
    let args = ["seen", "-f2", "-d,", "--missing", "drop", "--repeats", &other];
    assert_eq!(run(&args, b"a,1\nb\nc,1\n").stdout, b"a,1\n");
    assert_eq!(fs::read(&other).unwrap(), b"c,1\n");
}

/// Runs `furui`, and appends its standard output to a file.
fn append(path: &str, args: &[&str], input: &[u8]) {
    let mut command = support::furui();
    let mut child = command.args(args).stdin(Stdio::piped());
    child = child.stdout(fs::File::options().append(true).create(true).open(path).unwrap());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
}

#[test]
fn a_file_to_which_runs_append_has_one_header() {
    let dir = TempDir::new();
    let (store, filter) = (dir.join("store"), dir.join("filter"));
    let csv = ["--csv", "--key", "k"];
    stdout(&[&["filter", "build", "-c", "99", "-o", &filter], &csv[..]].concat(), b"k,v\nx,1\n");
    let ids = dir.file("ids", b"k\ny\nz\n");
    for (doors, first, second) in [
        (&["seen", "--store", &store][..], "k,v\ny,1\n", "z,2\n"),
        (&["seen", "--filter", &filter], "k,v\ny,1\n", "z,2\n"),
        (&["seen"], "k,v\ny,1\n", "z,2\n"),
        (&["has", &ids], "k,v\ny,1\n", "z,2\n"),
        (&["seen", "--mark=line"], "1\tk,v\n1\ty,1\n", "0\tk,v\n1\tz,2\n"),
    ] {
        let all = dir.file("all.csv", b"");
        append(&all, &[doors, &csv].concat(), b"k,v\ny,1\n");
        append(&all, &[doors, &csv].concat(), b"k,v\nz,2\n");
        assert_eq!(fs::read_to_string(&all).unwrap(), format!("{first}{second}"), "{doors:?}");
        // A pipe has the header always.
        assert!(run(&[doors, &csv].concat(), b"k,v\n").stdout.ends_with(b"k,v\n"), "{doors:?}");
    }
}

/// True if a terminal would only show the text, in lines.
fn is_shown(text: &[u8]) -> bool {
    std::str::from_utf8(text).unwrap().chars().all(|c| c == '\n' || Printable(c).is_shown())
}

#[test]
fn words_of_strangers_are_quoted_in_messages() {
    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\r\tb\u{7f}";
    let dir = TempDir::new();
    let below = dir.join(HOSTILE);
    fs::create_dir(&below).unwrap();
    let path = |name: &str| format!("{below}/{name}");
    let file = |name: &str, bytes: &[u8]| dir.file(&format!("{HOSTILE}/{name}"), bytes);
    let (lines, store, dict, filter) = (file("lines", b"a\nb\na\n"), path("store"), path("dict"), path("filter"));
    stdout(&["seen", "-q", "--store", &store, &lines], b"");
    stdout(&["dict", "number", "--store", &dict, &lines], b"");
    stdout(&["filter", "build", "-c", "1", "-o", &filter, &dir.file("one", b"a\n")], b"");
    let table = file("table.csv", format!("id,\"{HOSTILE}\"\n1,2\n").as_bytes());
    let form = path("form");
    stdout(&["seen", "-q", "--store", &form, "--csv", "--key", &format!("\"{HOSTILE}\""), &table], b"");
    let json = file("json", format!("{{\"{HOSTILE}\":1}}\n").as_bytes());
    let missing = path("missing");
    let commands: [&[&str]; 38] = [
        &["seen", &missing],
        &["seen", &below],
        &["seen", "--csv", "--key", "no", &table],
        &["seen", "--csv", "--key", HOSTILE, &lines],
        &["seen", "--tsv", "--key", "no", &table],
        &["seen", "--csv", "--key", "id", &file("id.csv", b"id\n1\n"), &table],
        &["seen", "--csv", "--key", "id", "--missing", "error", &file("short.csv", b"x,id\n1\n")],
        &["seen", "--json", "--key", "/x", &json],
        &["seen", "--json", "--key", HOSTILE, &json],
        &["seen", "--stats", "--count", &lines],
        &["seen", "--stats=json", "--count", &lines],
        &["seen", "--store", &lines, &lines],
        &["seen", "--store", &form, &lines],
        &["seen", "--store", &store, "--like", &form, &lines],
        &["seen", "--store", &store, "--remove", &missing],
        &["seen", "--repeats", &lines, &lines],
        &["seen", "--filter", &missing, &lines],
        &["seen", "--max-line", "1", &file("long", b"abc\n")],
        &["seen", HOSTILE],
        &["has", &missing, &lines],
        &["has", &path("lines"), &missing],
        &["has", &file("empty", b""), &lines],
        &["info", &missing, &store, &dict, &filter, &form],
        &["info", "--json", &missing, &store, &dict, &filter, &form],
        &["verify", &lines, &missing],
        &["compact", &lines],
        &["snapshot", &store, &dict],
        &["export", &store, "--u64", &path("no/file")],
        &["union", &store, &lines, "-o", &missing],
        &["filter", "compare", &filter, &filter],
        &["filter", "insert", &filter, &lines],
        &["filter", "build", "-o", &path("no/file"), "-c", "1", &lines],
        &["dict", "get", "--store", &missing, &lines],
        &["dict", "delete", "--store", &dict, &json],
        &["dict", "build", "--store", &dict, &json],
        &["seen", "--memory", HOSTILE],
        &[&format!("--{HOSTILE}")],
        &[HOSTILE],
    ];
    for command in commands {
        let output = run(command, b"");
        assert!(is_shown(&output.stderr), "{command:?}: {:?}", String::from_utf8_lossy(&output.stderr));
        if command[0] != "seen" {
            assert!(is_shown(&output.stdout), "{command:?}: {:?}", String::from_utf8_lossy(&output.stdout));
        }
    }
    let message = failure(&["seen", &missing], b"");
    assert!(message.contains(r"/a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\r\tb\u{7f}/missing: "), "{message}");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf_8_is_whole_in_json() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = TempDir::new();
    let path = dir.path().join(OsStr::from_bytes(b"a\xFFb"));
    fs::write(&path, b"x\n").unwrap();
    let store = dir.path().join(OsStr::from_bytes(b"s\xFE"));
    let mut seen = support::furui();
    let output =
        seen.args(["seen", "-q", "--count", "--stats=json", "--store"]).args([&store, &path]).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    let info = support::furui().args(["info", "--json"]).arg(&store).output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    for (json, name, path) in [(&said["files"][0], "file", &path), (&info, "path", &store)] {
        let bytes: Vec<u8> = serde_json::from_value(json[format!("{name}_bytes")].clone()).unwrap();
        assert_eq!(bytes, path.as_os_str().as_bytes());
        assert_eq!(json[name], path.to_string_lossy().as_ref());
    }
    let plain = dir.join("plain");
    stdout(&["seen", "-q", "--store", &plain], b"a\n");
    assert!(!String::from_utf8(stdout(&["info", "--json", &plain], b"")).unwrap().contains("path_bytes"));
}

#[test]
fn a_file_that_cannot_take_the_repeats_is_an_error_and_what_was_printed_is_recorded() {
    let dir = TempDir::new();
    let (store, file) = (dir.join("store"), dir.file("lines", b"a\na\n"));
    let seen = |repeats: &str| failure(&["seen", "--repeats", repeats, "--store", &store, &file], b"");
    assert!(seen(&dir.join("no/file")).contains("no/file"));
    assert!(seen(&file).contains("input"));
    assert!(seen("-").contains("--invert"));
    assert!(failure(&["seen", "--repeats", "x", "--invert"], b"").contains("--invert"));
    assert_eq!(fs::read(&file).unwrap(), b"a\na\n");
    if cfg!(target_os = "linux") {
        let full = run(&["seen", "--repeats", "/dev/full", "--store", &store, &file], b"");
        let message = String::from_utf8(full.stderr).unwrap();
        assert_eq!((full.status.code(), full.stdout.as_slice()), (Some(2), &b"a\n"[..]), "{message}");
        assert!(message.contains("/dev/full"), "{message}");
        assert_eq!(stdout(&["seen", "--store", &store, &file], b""), b"", "it was printed");
    }
}

#[test]
fn the_lines_of_each_file_are_counted() {
    let dir = TempDir::new();
    let (a, b) = (dir.file("a", b"x,1\ny,2\nx,3\nz\n"), dir.file("b", b"x,1\n"));
    let empty = dir.file("empty", b"");
    let count = |args: &[&str]| {
        let output = run(&[&["seen", "--count", "-f1,2", "-d,"], args].concat(), b"w,1\nw,1\n");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = "furui: 1 line had no key: not recorded\n";
    let expected = format!(
        "{missing}{a}: 4 lines, 3 new, 0 repeats, 1 without a key\n{empty}: 0 lines, 0 new, 0 repeats, 0 without a key\n\
         standard input: 2 lines, 1 new, 1 repeat, 0 without a key\n{b}: 1 line, 0 new, 1 repeat, 0 without a key\n"
    );
    assert_eq!(count(&[&a, &empty, "-", &b]), expected);
    let twice = count(&[&b, &b]);
    assert_eq!(
        twice,
        format!("{b}: 1 line, 1 new, 0 repeats, 0 without a key\n{b}: 1 line, 0 new, 1 repeat, 0 without a key\n")
    );
    let summary = count(&["--stats", &b]);
    assert!(summary.starts_with("1 line (4 B), 1 new, 0 repeats\n") && summary.ends_with("0 without a key\n"));
    let json = count(&["--stats=json", &a, &b]);
    let files = format!(
        "\"files\":[{{\"file\":\"{a}\",\"lines\":4,\"new\":3,\"repeats\":0,\"missing\":1}},\
         {{\"file\":\"{b}\",\"lines\":1,\"new\":0,\"repeats\":1,\"missing\":0}}]}}\n"
    );
    assert!(json.ends_with(&files), "{json}");
    // A header does not count as a line.
    let csv = dir.file("csv", b"k\nx\nx\n");
    let output = run(&["seen", "--count", "--csv", "-q", "--key", "k", &csv, &csv], b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(" 2 lines, 1 new, 1 repeat, 0") && said.contains(" 2 lines, 0 new, 2 repeats, 0"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_signal_asks_for_figures_while_the_input_waits() {
    use std::io::{BufRead, BufReader};

    use rustix::process::{Pid, Signal, kill_process};
    use support::furui;

    let dir = TempDir::new();
    for args in [&["seen"][..], &["seen", "--store", &dir.join("store")]] {
        let mut command = furui();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let mut ask = || {
            kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::USR1).unwrap();
            line.clear();
            said.read_line(&mut line).unwrap();
            line.clone()
        };
        input.write_all(b"a\nb\na\nc\n").unwrap();
        for expected in ["a\n", "b\n", "c\n"] {
            let mut printed = String::new();
            output.read_line(&mut printed).unwrap();
            assert_eq!(printed, expected);
        }
        // The lines are printed a moment before the figures count them.
        let figures = loop {
            let figures = ask();
            if !figures.starts_with("furui: 0 lines") {
                break figures;
            }
        };
        assert!(figures.starts_with("furui: 4 lines (8 B) in "), "{figures}");
        assert!(figures.ends_with(" s, 3 new, 1 repeat\n"), "{figures}");
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}
