//! Tests standard input and output that are closed, full or gone, lines that are too long, and lack of memory.
use std::process::Output;

use crate::support::{TempDir, failure, feed, run, stdout};

/// Runs a line of shell in a directory. `$F` in it is furui.
fn shell(dir: &TempDir, line: &str, input: &[u8]) -> Output {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).env("F", env!("CARGO_BIN_EXE_furui")).current_dir(dir.path());
    feed(command, input)
}

/// Runs a line of shell, which must fail with status 2 and a message about `what`.
fn shell_fails(dir: &TempDir, line: &str, what: &str) {
    let output = shell(dir, line, b"a\n");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}: {message}");
    assert!(message.starts_with("furui: ") && message.contains(what), "{line}: {message}");
}

/// A directory with lines, and a filter, a store and a dictionary of them.
fn prepared() -> TempDir {
    let dir = TempDir::new();
    dir.file("lines", b"a\nb\na\n");
    for line in ["filter build -o filter lines", "seen -q --store store lines", "dict build --store dict lines"] {
        let output = shell(&dir, &format!("$F {line}"), b"");
        assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]), "{line}");
    }
    dir
}

/// Commands that print something.
const PRINTING: [&str; 26] = [
    "seen lines",
    "seen --store new lines",
    "seen --mark lines",
    "seen --invert --store store lines",
    "filter build -o - lines",
    "export --u64 store",
    "has lines lines",
    "union -o - filter filter",
    "intersect -o /dev/stdout filter filter",
    "has filter lines",
    "has --count filter lines",
    "filter compare filter filter",
    "dict number --store new-dict lines",
    "dict number --with-key --store new-dict lines",
    "dict count --store new-counts lines",
    "dict get --store dict lines",
    "dict key --store dict 1 0",
    "dict prefix --store dict a",
    "dict range --store dict",
    "info filter store",
    "info --json dict",
    "man",
    "completions bash",
    "help seen",
    "filter build --help",
    "--version",
];

#[test]
fn output_that_is_closed_or_full_is_an_error_of_every_command() {
    let dir = prepared();
    for line in PRINTING {
        shell_fails(&dir, &format!("$F {line} >&-"), "standard output");
        // A device that is always full.
        if cfg!(target_os = "linux") {
            shell_fails(&dir, &format!("$F {line} >/dev/full"), "standard output");
        }
    }
    assert_eq!(shell(&dir, "$F seen --store new lines", b"").stdout, b"a\nb\n", "nobody got these before");
}

#[test]
fn the_null_device_is_an_output_as_any_other() {
    let dir = prepared();
    for line in PRINTING {
        // Some programs open the device for reading, too, as Rust's runtime does in place of closed streams.
        for null in [">/dev/null", "1<>/dev/null"] {
            let output = shell(&dir, &format!("$F {line} {null}"), b"");
            assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]), "{line} {null}");
        }
    }
    assert_eq!(shell(&dir, "$F seen --store new lines", b"").stdout, b"", "they were printed");
}

#[test]
fn input_that_is_closed_is_an_error_of_every_command_that_reads_it() {
    let dir = prepared();
    let mut commands = vec![
        "seen",
        "seen lines -",
        "filter build -o new.filter",
        "filter insert filter",
        "has filter",
        "dict build --store dict",
        "dict get --store dict",
        "dict delete --store dict",
        "dict number --store dict",
        "dict count --store new-counts",
        "dict key --store dict",
    ];
    if cfg!(feature = "node") {
        commands.extend(["publish", "publish --format warc", "unpublish --from -"]);
    }
    for line in commands {
        shell_fails(&dir, &format!("$F {line} <&-"), "standard input");
    }
    assert_eq!(shell(&dir, "$F seen lines <&-", b"").stdout, b"a\nb\n", "it is not read");
}

#[test]
fn a_line_that_is_too_long_is_an_error_after_the_lines_before_it() {
    let dir = TempDir::new();
    let file = dir.file("lines", b"one\ntwo\nthree\nfour\n");
    let store = dir.join("store");
    let output = run(&["seen", "--max-line", "4", "--store", &store, &file], b"");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b"one\ntwo\n"[..]), "{message}");
    assert!(
        message.contains(&format!("{file}: line 3, from byte 8 on")) && message.contains("--max-line"),
        "{message}"
    );
    assert_eq!(stdout(&["seen", "--max-line", "5", "--store", &store, &file], b""), b"three\nfour\n");
    // The lines make the buffer grow: one has exactly the maximum length, and one is longer.
    let lines = [b"short\n", &[b'x'; 3 << 20][..], b"\n", &[b'y'; 3 << 20]].concat();
    let printed = stdout(&["seen", "--max-line", "3MiB"], &lines);
    assert!(printed[..lines.len()] == lines && printed[lines.len()..] == *b"\n");
    let message = failure(&["seen", "--max-line", "3145727"], &lines);
    assert!(message.contains("standard input: line 2, from byte 6 on"), "{message}");
    let message = failure(&["dict", "number", "--store", &dir.join("dict"), "--max-line", "2"], b"a\nabc");
    assert!(message.contains("line 2, from byte 2 on"), "{message}");
}

#[test]
fn a_lack_of_memory_is_an_error() {
    let dir = TempDir::new();
    if !shell(&dir, "ulimit -v 400000", b"").status.success() {
        return println!("SKIPPED: this shell limits no memory");
    }
    let long = vec![b'x'; 300 << 20];
    let output = shell(&dir, "ulimit -v 400000; exec $F seen --max-line 1GiB", &long);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("standard input: line 1: no memory"), "{message}");
    let output = shell(&dir, "ulimit -v 400000; exec $F filter build -c 10G -o filter", b"a\n");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("memory"), "{message}");
}
