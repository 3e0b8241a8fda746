//! Tests `furui seen --mark` as the coprocess of a program that sends a line and waits for the answer.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::support::{TempDir, failure, furui, lines, run, stdout, text};

/// A furui that answers each line.
struct Coprocess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Coprocess {
    fn start(args: &[&str]) -> Self {
        let mut child = furui().arg("seen").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Sends a line, and waits for its answer.
    fn ask(&mut self, line: &str) -> String {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
        let mut rest = String::new();
        assert_eq!(self.output.read_line(&mut rest).unwrap(), 0, "more answers than lines: {rest}");
    }
}

#[test]
fn each_line_is_answered_before_the_next_is_sent() {
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let mut known = HashSet::new();
    // The third run finds its keys in the files of the store.
    for args in [&["--mark"][..], &["--mark", "--store", &store], &["--mark", "--store", &store]] {
        if args.len() == 1 || !std::path::Path::new(&store).exists() {
            known.clear();
        }
        let mut coprocess = Coprocess::start(args);
        for line in lines(500, args.len() as u64).iter().chain(&lines(100, 7)) {
            let expected = if known.insert(line.clone()) { "1\n" } else { "0\n" };
            assert_eq!(coprocess.ask(line), expected, "{args:?}: {line}");
        }
        coprocess.end();
    }
    let mut coprocess = Coprocess::start(&["--mark=line"]);
    assert_eq!([coprocess.ask("a"), coprocess.ask(""), coprocess.ask("a")], ["1\ta\n", "1\t\n", "0\ta\n"]);
    coprocess.end();
}

#[test]
fn batches_have_an_answer_for_each_line() {
    let lines = lines(200_000, 3);
    let mut known = HashSet::new();
    let is_new: Vec<bool> = lines.iter().map(|line| known.insert(line)).collect();
    let marks: Vec<u8> = is_new.iter().flat_map(|&new| [b'0' + u8::from(new), b'\n']).collect();
    assert!(stdout(&["seen", "--mark"], &text(&lines)) == marks);
    let marked = lines.iter().zip(is_new).map(|(line, new)| format!("{}\t{line}\n", u8::from(new)));
    assert!(stdout(&["seen", "--mark=line"], &text(&lines)) == marked.collect::<String>().as_bytes());
}

#[test]
fn lines_without_a_key_and_headers_are_answered_too() {
    let input = b"a,1\nb\nc,1\nd\n";
    let mark = |options: &[&str]| run(&[&["seen", "--mark"], options].concat(), input);
    assert_eq!(mark(&["-f2", "-d,"]).stdout, b"1\n1\n0\n1\n");
    assert_eq!(mark(&["-f2", "-d,", "--missing", "drop"]).stdout, b"1\n0\n0\n0\n");
    let failed = mark(&["-f2", "-d,", "--missing", "error"]);
    assert_eq!((failed.stdout.as_slice(), failed.status.code()), (&b"1\n"[..], Some(2)));
    let dir = TempDir::new();
    let (a, b) = (dir.file("a", b"k,v\n\"x\ny\",1\n"), dir.file("b", b"k,v\n\"x\ny\",2\nz,3\n"));
    let csv = |form: &str| stdout(&["seen", form, "--csv", "--key", "k", &a, &b], b"");
    assert_eq!(csv("--mark"), b"1\n1\n0\n0\n1\n");
    assert_eq!(csv("--mark=line"), b"1\tk,v\n1\t\"x\ny\",1\n0\tk,v\n0\t\"x\ny\",2\n1\tz,3\n");
    assert_eq!(stdout(&["seen", "--mark", "-0"], b"a\n\0a\n\0b"), b"1\x000\x001\0");
}

#[test]
fn a_line_whose_answer_nobody_read_is_new_for_the_next_run() {
    if !cfg!(target_os = "linux") {
        return println!("SKIPPED: this system does not tell what was read from a pipe");
    }
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let mut coprocess = Coprocess::start(&["--mark", "--store", &store]);
    assert_eq!(coprocess.ask("read"), "1\n");
    // The parent reads the first answer, and then goes away without reading the second one.
    coprocess.input.write_all(b"unread\n").unwrap();
    wait_until_readable(&coprocess.output);
    let Coprocess { mut child, input, output } = coprocess;
    drop(output);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(stdout(&["seen", "--mark", "--dry-run", "--store", &store], b"unread\n"), b"1\n");
}

/// Waits until there is something to read, and reads nothing.
#[cfg(target_os = "linux")]
fn wait_until_readable(output: &BufReader<ChildStdout>) {
    while rustix::io::ioctl_fionread(output.get_ref()).unwrap() == 0 {
        std::thread::yield_now();
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_until_readable(_: &BufReader<ChildStdout>) {}

#[test]
fn marks_go_with_neither_invert_nor_quiet() {
    for other in ["--invert", "--quiet"] {
        assert!(failure(&["seen", "--mark", other], b"").contains(other));
    }
    assert!(failure(&["seen", "--mark=word"], b"").contains("line"));
}
