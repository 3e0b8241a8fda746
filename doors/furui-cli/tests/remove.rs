//! `furui seen --remove`: lines that are taken out of a store.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support::{TempDir, failure, furui, run, stdout};

fn numbered(from: u32, to: u32) -> Vec<u8> {
    (from..to).flat_map(|line| format!("line {line}\n").into_bytes()).collect()
}

/// The standard error of a run that must succeed and print nothing else.
fn told(args: &[&str], input: &[u8]) -> String {
    let output = run(args, input);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{message}");
    message
}

/// Removes lines, and returns the summary.
fn remove(store: &str, more: &[&str], lines: &[u8]) -> String {
    told(&[&["seen", "--remove", "-", "--store", store, "--stats"], more].concat(), lines)
}

/// The numbers in `furui export`.
fn exported(store: &str) -> BTreeSet<u64> {
    let bytes = stdout(&["export", store, "--u64"], b"");
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// The names of the files of a store.
fn files(store: &str) -> BTreeSet<String> {
    fs::read_dir(store).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_removed_is_new_again_and_in_no_file() {
    let dir = TempDir::new();
    let store = dir.join("store");
    // There are several runs: the later ones are too small to be merged with the large one.
    stdout(&["seen", "-q", "--store", &store], &numbered(0, 300_000));
    stdout(&["seen", "-q", "--store", &store], &numbered(300_000, 301_000));
    let before = exported(&store);
    let gone =
        [numbered(1000, 1010), b"never there\n".to_vec(), numbered(300_500, 300_503), numbered(1000, 1001)].concat();
    let file = dir.file("gone", &gone);
    assert_eq!(stdout(&["seen", "--remove", &file, "--store", &store], b""), b"");
    assert_eq!(run(&["has", "-q", &store], &gone).status.code(), Some(1));
    assert_eq!(exported(&store).len(), before.len() - 13);
    assert!(exported(&store).is_subset(&before));
    assert_eq!(stdout(&["verify", &store], b""), b"");
    assert_eq!(files(&store).len(), 4, "two runs, the manifest and the lock");
    assert_eq!(
        remove(&store, &[], &gone),
        "15 lines (158 B): 0 keys removed, 14 not there; 300,987 keys in the set now\n"
    );
    let again = stdout(&["seen", "--store", &store], &numbered(0, 301_000));
    assert!(again == [numbered(1000, 1010), numbered(300_500, 300_503)].concat());
    assert_eq!(exported(&store), before);
}

#[test]
fn more_lines_than_memory_are_removed() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["seen", "-q", "--memory", "1MiB", "--store", &store], &numbered(0, 500_000));
    let gone = numbered(100_000, 600_000);
    for (options, summary) in [
        (&["-n"][..], "400,000 keys would be removed, 100,000 not there; 500,000 keys in the set now"),
        (&["--no-mmap"], "400,000 keys removed, 100,000 not there; 100,000 keys in the set now"),
        (&[], "0 keys removed, 500,000 not there; 100,000 keys in the set now"),
    ] {
        let said = remove(&store, &[&["--memory", "1MiB"], options].concat(), &gone);
        assert!(said.ends_with(&format!("{summary}\n")), "{said}");
    }
    assert!(stdout(&["has", &store], &numbered(0, 600_000)) == numbered(0, 100_000));
    assert_eq!(stdout(&["verify", &store], b""), b"");
}

#[test]
fn keys_are_made_as_the_store_says() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let form = ["--csv", "--key", "url"];
    let table = dir.file("table.csv", b"url,date\nhttp://a/,1\nhttp://b/,2\nhttp://c/,3\n");
    stdout(&[&["seen", "-q", "--store", &store], &form[..], &[&table]].concat(), b"");
    let gone = b"date,url\n,http://b/\n9,\"http://x/\"\nshort\n";
    assert!(failure(&["seen", "--remove", "-", "--store", &store], gone).contains("--csv --key url"));
    assert_eq!(
        remove(&store, &form, gone),
        "furui: 1 line had no key: nothing to remove\n\
         3 lines (40 B): 1 key removed, 1 not there; 2 keys in the set now\n"
    );
    // A compressed list of the keys themselves.
    let mut list = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    list.write_all(b"http://c/\n").unwrap();
    let list = dir.file("list.gz", &list.finish().unwrap());
    let json = told(&["seen", "--remove", &list, "--store", &store, "--as-is", "--stats=json"], b"");
    assert_eq!(json, "{\"lines\":1,\"bytes\":10,\"removed\":1,\"absent\":0,\"set_keys\":1}\n");
    let left = stdout(&[&["seen", "-n", "--store", &store], &form[..], &[&table]].concat(), b"");
    assert_eq!(left, b"url,date\nhttp://b/,2\nhttp://c/,3\n");
}

#[test]
fn a_dry_run_says_how_many_there_are_and_changes_nothing() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["seen", "-q", "--store", &store], &numbered(0, 100));
    let before: Vec<Vec<u8>> =
        files(&store).iter().map(|name| fs::read(dir.path().join("store").join(name)).unwrap()).collect();
    let dry = ["seen", "--remove", "-", "--store", &store, "--dry-run"];
    let said = told(&dry, &numbered(90, 110));
    assert_eq!(said, "20 lines (170 B): 10 keys would be removed, 10 not there; 100 keys in the set now\n");
    let json = told(&[&dry[..], &["--stats=json"]].concat(), &numbered(90, 110));
    assert!(json.contains("\"would_be_removed\":10,"), "{json}");
    let after: Vec<Vec<u8>> =
        files(&store).iter().map(|name| fs::read(dir.path().join("store").join(name)).unwrap()).collect();
    assert!(before == after);
}

#[test]
fn a_window_and_kept_tiers_forget_what_is_removed() {
    let dir = TempDir::in_memory();
    let (store, tiers) = (dir.join("window"), dir.join("tiers"));
    let window = ["seen", "--window", "1600", "--store", &store];
    // Each line occurs in three slices of the window.
    let lines = numbered(0, 100);
    assert!(stdout(&window, &[&lines[..], &lines, &lines].concat()) == lines);
    assert!(remove(&store, &[], &numbered(10, 20)).contains("10 keys removed"));
    assert!(stdout(&window, &lines) == numbered(10, 20));
    assert_eq!(stdout(&["verify", &store], b""), b"");

    let seen =
        ["seen", "--store", &tiers, "--cache", "lru+stable", "--lru", "1000", "--counters", "1000", "--fpr", "0.1"];
    // The filter drops some lines, which the LRU knows nevertheless.
    let lines = numbered(0, 3000);
    let printed = stdout(&seen, &lines);
    assert!(printed.len() < lines.len() && files(&tiers).contains("TIERS"));
    assert!(!remove(&tiers, &[], &lines).contains(" 0 keys removed"));
    assert!(!files(&tiers).contains("TIERS"));
    assert!(stdout(&seen, &numbered(2500, 3000)) == numbered(2500, 3000));
}

#[test]
fn what_makes_no_sense_is_refused_and_creates_nothing() {
    let dir = TempDir::new();
    let (store, dict, none) = (dir.join("store"), dir.join("dict"), dir.join("none"));
    let empty = dir.join("empty");
    fs::create_dir(&empty).unwrap();
    stdout(&["seen", "-q", "--store", &store], &numbered(0, 10));
    stdout(&["dict", "number", "--store", &dict], b"a\n");
    let file = dir.file("file", b"line 1\n");
    for store in [&none, &empty, &dict] {
        let error = failure(&["seen", "--remove", &file, "--store", store], b"");
        assert!(error.contains(store.as_str()), "{error}");
    }
    assert!(!fs::exists(&none).unwrap() && files(&empty).is_empty());
    let error = failure(&["seen", "--remove", &file, "--store", &store, "more"], b"");
    assert!(error.contains("more: ") && error.contains("without --remove"), "{error}");
    assert!(failure(&["seen", "--remove", &file], b"").contains("--store"));
    for options in [
        &["--filter", "f"][..],
        &["--mark"],
        &["--invert"],
        &["--count"],
        &["--repeats", "r"],
        &["--window", "1h"],
        &["--cache", "lru"],
        &["--lru", "1000"],
        &["--hash", "xxh3"],
        &["--like", &store],
        &["--sync", "1"],
    ] {
        let error = failure(&[&["seen", "--remove", &file, "--store", &store], options].concat(), b"");
        assert!(error.contains("cannot be used with") && error.contains(options[0]), "{error}");
    }
    assert!(failure(&["seen", "--remove", &dir.join("missing"), "--store", &store], b"").contains("missing"));
    assert!(failure(&["seen", "--remove", &store, "--store", &store], b"").contains("directory"));
    assert!(failure(&["seen", "--remove", "-", "--store", &store], b"a\0b\n").contains("NUL"));
    // With `--missing error`, a line without a key ends the command before anything is removed.
    let error = ["seen", "--remove", "-", "--store", &store, "--as-is", "-f", "2", "-d", ",", "--missing", "error"];
    assert!(failure(&error, b"x,line 1\nline 2\n").contains("line 2"));
    assert_eq!(stdout(&["has", "--count", &store], &numbered(0, 10)), b"10\n");
}

/// Kills the command after each change that the command makes in the directory.
#[test]
fn after_a_kill_all_lines_are_there_or_none_that_was_to_be_removed() {
    let dir = TempDir::in_memory();
    let (store, gone) = (dir.join("store"), numbered(0, 50_000));
    let left = numbered(50_000, 60_000);
    // A slice, a sixteenth of the window, has 10,000 lines, so the first lines are in several slices.
    let lines = [numbered(0, 60_000), numbered(0, 20_000)].concat();
    let (mut whole, mut removed) = (0, 0);
    for kill_at in 0.. {
        let _ = fs::remove_dir_all(&store);
        stdout(&["seen", "-q", "--window", "160000", "--store", &store], &lines);
        let mut child = furui()
            .args(["seen", "--remove", "-", "--store", &store])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&gone).unwrap();
        let (mut last, mut changes) = (files(&store), 0);
        if kill_at > 0 {
            drop(input);
            while changes < kill_at && child.try_wait().unwrap().is_none() {
                let now = files(&store);
                changes += usize::from(now != last);
                last = now;
            }
        }
        child.kill().unwrap();
        let finished = child.wait().unwrap().success();
        let there = stdout(&["has", &store], &numbered(0, 60_000));
        assert!(there == left || there == numbered(0, 60_000), "{} bytes", there.len());
        assert!(!finished || there == left);
        if there == left {
            removed += 1
        } else {
            whole += 1
        }
        assert_eq!(stdout(&["verify", &store], b""), b"");
        stdout(&["seen", "--remove", "-", "--store", &store], &gone);
        assert!(stdout(&["has", &store], &numbered(0, 60_000)) == left);
        if finished {
            break;
        }
    }
    println!("killed: {whole} times nothing was removed, {removed} times all was");
    assert!(whole > 0 && removed > 0);
}
