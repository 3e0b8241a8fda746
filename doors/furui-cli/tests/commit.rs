//! Tests `furui seen --pending` and `furui commit`: jobs that fail between the two, beside other writers, and what is
//! refused.

use std::fs;

use crate::support::{TempDir, failure, furui, run, stdout};

fn lines(numbers: std::ops::Range<u32>) -> Vec<u8> {
    numbers.flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// Runs `furui commit` with these arguments, and returns what it says on standard error.
fn commit(arguments: &[&str]) -> String {
    let done = run(&[&["commit"], arguments].concat(), b"");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.stdout.is_empty());
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn a_job_that_fails_before_its_commit_loses_no_line() {
    let dir = TempDir::new();
    let (store, file) = (dir.join("store"), dir.join("pending"));
    let ask = ["seen", "--store", &store, "--pending", &file];
    for memory in ["1MiB", "64MiB"] {
        // Every attempt prints the same lines, and the store is made by the first.
        let ask = [&ask[..], &["--memory", memory]].concat();
        for _ in 0..3 {
            assert_eq!(stdout(&ask, &lines(0..300_000)), lines(0..300_000));
            assert_eq!(run(&["has", "--count", &store], &lines(0..1000)).stdout, b"0\n");
        }
    }
    // An attempt that fails leaves no keys of an earlier one to commit.
    let done = run(&[&ask[..], &[&dir.join("none")]].concat(), b"");
    assert_eq!(done.status.code(), Some(2));
    assert!(!fs::exists(&file).unwrap());
    assert!(failure(&["commit", &store, &file], b"").contains("pending"));

    assert_eq!(stdout(&ask, &lines(0..300_000)), lines(0..300_000));
    assert_eq!(commit(&[&store, &file, "--note", "day 1"]), "300,000 lines recorded; 0 were there already\n");
    assert_eq!(stdout(&ask, &lines(100..300_100)), lines(300_000..300_100));
    assert_eq!(stdout(&["seen", "--store", &store], &lines(299_990..300_010)), lines(300_000..300_010));
    assert_eq!(
        commit(&["--after", "day 1", "--note", "day 2", &store, &file]),
        "90 lines recorded; 10 were there already\n"
    );
    // The same once more changes nothing.
    assert_eq!(commit(&[&store, &file]), "0 lines recorded; 100 were there already\n");
    assert!(failure(&["commit", &store, &file, "--after", "day 1"], b"").contains("day 2"));
    assert!(failure(&["commit", &store, &file, "--after", ""], b"").contains("day 2"));
    let info = String::from_utf8(stdout(&["info", &store], b"")).unwrap();
    assert!(info.contains("note        day 2\n") && info.contains("keys        300,100\n"), "{info}");
    let info = String::from_utf8(stdout(&["info", "--json", &store], b"")).unwrap();
    assert!(info.contains("\"note\":\"day 2\""), "{info}");
    assert_eq!(stdout(&["verify", &store, &file], b""), b"");
}

#[test]
fn several_tasks_are_recorded_at_once() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let files = [dir.join("a"), dir.join("b")];
    for (file, range) in files.iter().zip([0..1000, 500..1500]) {
        let ask = ["seen", "--store", &store, "--pending", file];
        assert_eq!(stdout(&ask, &lines(range.clone())), lines(range));
    }
    assert_eq!(commit(&[&store, &files[0], &files[1]]), "1,500 lines recorded; 500 were there already\n");
    // The others, options of keys included.
    let other = dir.join("other");
    let ask = ["seen", "--store", &other, "--pending", &files[1], "--ignore-case"];
    assert_eq!(stdout(&ask, b"A\na\n"), b"A\n");
    assert!(failure(&["commit", &store, &files[0], &files[1]], b"").contains("made"));
    assert!(failure(&["commit", &store, &files[1]], b"").contains("made"));
    commit(&[&other, &files[1]]);
    assert_eq!(stdout(&["has", "--count", "--ignore-case", &other], b"a\n"), b"1\n");
}

#[test]
fn what_is_no_file_of_pending_keys_stays() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let text = dir.file("text", b"mine\n");
    let ask = ["seen", "--store", &store, "--pending", &text];
    assert!(failure(&ask, b"a\n").contains("text"));
    assert_eq!(fs::read(&text).unwrap(), b"mine\n");
    assert!(failure(&["commit", &store, &text], b"").contains("store"));
    stdout(&["seen", "-q", "--store", &store], b"b\n");
    assert!(failure(&["commit", &store, &text], b"").contains("text"));
    let window = dir.join("window");
    stdout(&["seen", "-q", "--store", &window, "--window", "1h"], b"a\n");
    assert!(failure(&["seen", "--store", &window, "--pending", &dir.join("p")], b"a\n").contains("window"));
    let long = "x".repeat(4097);
    let file = dir.join("p");
    stdout(&["seen", "-q", "--store", &store, "--pending", &file], b"a\n");
    assert!(failure(&["commit", &store, &file, "--note", &long], b"").contains("4096"));
    assert!(failure(&["commit", &store, &file, "--note", ""], b"").contains("--note"));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_gets_no_file_to_commit() {
    let dir = TempDir::new();
    let (store, file) = (dir.join("store"), dir.join("pending"));
    let mut command = furui();
    command.args(["seen", "--store", &store, "--pending", &file]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), &lines(0..100_000));
    child.wait().unwrap();
    assert!(!fs::exists(&file).unwrap());
}
