//! Tests `furui dict count` and `dict key`, and the options that print lines with numbers.

use std::collections::BTreeMap;

use crate::support::{TempDir, failure, lines, run, stdout, text};

/// What is printed for these counts, in this order.
fn counted<'a>(counts: impl IntoIterator<Item = (&'a String, &'a u32)>) -> Vec<u8> {
    counts.into_iter().flat_map(|(line, count)| format!("{count}\t{line}\n").into_bytes()).collect()
}

#[test]
fn counts_continue_across_runs_and_are_printed_in_the_order_of_lines() {
    let dir = TempDir::in_memory();
    let store = dir.join("counts");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    // Windows of 1000 keys, so that keys are in several tries.
    let options = ["dict", "count", "--window", "1000", "--store", &store];
    for (run, number) in [30_000, 10, 5000].into_iter().enumerate() {
        let lines = lines(number, run as u64);
        for line in &lines {
            *counts.entry(line.clone()).or_default() += 1;
        }
        assert!(stdout(&options, &text(&lines)) == counted(&counts), "run {run}");
    }
    let mut sorted: Vec<(&String, &u32)> = counts.iter().collect();
    sorted.sort_by_key(|&(line, &count)| (std::cmp::Reverse(count), line));
    for top in [1, 7, 100, 1_000_000] {
        let printed = stdout(&[&options[..], &["--top", &top.to_string()]].concat(), b"");
        assert!(printed == counted(sorted.iter().copied().take(top)), "{top}");
    }
    assert_eq!(stdout(&[&options[..], &["--quiet"]].concat(), b"new\n"), b"");
    assert_eq!(stdout(&["dict", "get", "--store", &store], b"new\n"), b"new\t1\n");
    assert_eq!(stdout(&["verify", &store], b""), b"");
}

#[test]
fn lines_of_one_run_are_counted_without_a_store() {
    let dir = TempDir::in_memory();
    let lines = lines(20_000, 11);
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    lines.iter().for_each(|line| *counts.entry(line.clone()).or_default() += 1);
    // Windows of 500 keys, so that most keys go to temporary files and are merged.
    for options in [&[][..], &["--window", "500", "--merge-after", "2"], &["--layout", "louds", "--window", "500"]] {
        assert!(stdout(&[&["dict", "count"][..], options].concat(), &text(&lines)) == counted(&counts), "{options:?}");
    }
    let mut sorted: Vec<(&String, &u32)> = counts.iter().collect();
    sorted.sort_by_key(|&(line, &count)| (std::cmp::Reverse(count), line));
    assert!(stdout(&["dict", "count", "--top", "5"], &text(&lines)) == counted(sorted.into_iter().take(5)));
    assert_eq!(stdout(&["dict", "count"], b""), b"");
    assert_eq!(stdout(&["dict", "count", "-0"], b"b\0a\0b\0"), b"1\ta\x002\tb\0");
    assert!(failure(&["dict", "count", "--wait"], b"a\n").contains("--wait needs --store"));
    assert!(failure(&["dict", "count", "--as-is"], b"a\n").contains("--as-is needs --store"));
    assert!(failure(&["dict", "count", "--quiet"], b"a\n").contains("--store"));
    assert!(failure(&["dict", "count", &dir.join("none")], b"").contains("none"));
}

#[test]
fn keys_of_records_are_counted() {
    let dir = TempDir::in_memory();
    let count =
        |args: &[&str], input: &[u8]| String::from_utf8(stdout(&[&["dict", "count"], args].concat(), input)).unwrap();
    let table = b"url,lang,n\na,en,1\nb,de,1\nc,en,2\n\"d\",\"en\",1\n";
    assert_eq!(count(&["--csv", "--key", "lang"], table), "1\tde\n3\ten\n");
    assert_eq!(count(&["--csv", "--key", "lang", "--top", "1"], table), "3\ten\n");
    assert_eq!(count(&["--csv", "--key", "lang,n"], table), "1\tde\t1\n2\ten\t1\n1\ten\t2\n");
    assert_eq!(count(&["--tsv", "--key", "b"], b"a\tb\n1\tx\n2\tx\n"), "2\tx\n");
    assert_eq!(count(&["-f", "2", "-d", " "], b"1 x\n2 y\n3 x\n"), "2\tx\n1\ty\n");
    assert_eq!(count(&["--json", "--key", "/l"], b"{\"l\":1}\n{\"l\":1.0}\n{\"l\":\"1\"}\n"), "1\t\"1\"\n2\t1\n");
    assert_eq!(count(&["--ignore-case", "--trim"], b"A\n a\nb\n"), "2\ta\n1\tb\n");
    assert_eq!(count(&["--url"], b"HTTP://A.example\nhttp://a.example/\n"), "2\thttp://a.example/\n");
    let lines = b"key\nx\n\"two\nlines\"\n";
    assert!(failure(&["dict", "count", "--csv"], lines).contains("--escape"));
    assert_eq!(count(&["--csv", "--escape"], lines), "1\ttwo\\nlines\n1\tx\n");
    let store = dir.join("langs");
    let stored = ["--store", &store, "--csv", "--key", "lang"];
    count(&stored, table);
    assert_eq!(count(&stored, table), "2\tde\n6\ten\n");
    assert!(failure(&["dict", "count", "--store", &store], b"en\n").contains("--csv --key lang"));
    assert_eq!(count(&["--store", &store, "--as-is"], b"en\n"), "2\tde\n7\ten\n");
    let output = run(&["dict", "count", "-f", "2"], b"a\tb\nc\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"1\tb\n"[..]));
    assert!(said.contains("1 line had no key: not counted"), "{said}");
    assert!(failure(&["dict", "count", "-f", "2", "--missing", "error"], b"c\n").contains("line 1"));
}

#[test]
fn a_line_that_cannot_be_counted_is_an_error_after_those_before_it() {
    let dir = TempDir::new();
    let store = dir.join("counts");
    let count = ["dict", "count", "--store", &store];
    let long = "x".repeat(70_000);
    assert!(failure(&count, format!("a\na\n{long}\nb\n").as_bytes()).contains("standard input: line 3"));
    assert_eq!(stdout(&count, b""), b"2\ta\n");
    assert_eq!(stdout(&["dict", "build", "--values", "counts", "--store", &store], b"a\t4294967294\n"), b"");
    assert_eq!(stdout(&count, b"a\n"), b"4294967295\ta\n");
    assert!(failure(&count, b"b\na\n").contains("2^32"));
    assert_eq!(stdout(&count, b""), b"4294967295\ta\n1\tb\n");
    assert_eq!(stdout(&[&count[..], &["-0", "-q"]].concat(), b"two\nlines\0"), b"");
    assert!(failure(&count, b"").contains("two\\nlines"));
}

#[test]
fn numbers_of_lines_are_not_taken_for_counts() {
    let dir = TempDir::new();
    let (ids, bytes) = (dir.join("ids"), dir.join("bytes"));
    assert_eq!(stdout(&["dict", "number", "--store", &ids], b"a\n"), b"0\n");
    assert!(
        failure(&["dict", "count", "--store", &ids], b"a\n")
            .contains("a dictionary of numbers, which `furui dict number` gives")
    );
    assert_eq!(stdout(&["dict", "get", "--store", &ids], b"a\n"), b"a\t0\n");
    assert_eq!(stdout(&["dict", "build", "--values", "bytes", "--store", &bytes], b"a\tb\n"), b"");
    failure(&["dict", "count", "--store", &bytes], b"a\n");
    failure(&["dict", "key", "--store", &bytes, "1"], b"");
    for wrong in ["0", "x", "-1"] {
        failure(&["dict", "count", "--store", &dir.join("new"), "--top", wrong], b"");
    }
}

#[test]
fn lines_are_printed_with_their_numbers_and_found_by_them() {
    let dir = TempDir::in_memory();
    let ids = dir.join("ids");
    let number = ["dict", "number", "--with-key", "--window", "2", "--store", &ids];
    assert_eq!(stdout(&number, b"b\na\tx\nb\nc\nd\n"), b"0\tb\n1\ta\tx\n0\tb\n2\tc\n3\td\n");
    let key = ["dict", "key", "--store", &ids];
    assert_eq!(stdout(&[&key[..], &["3", "0", "9", "3"]].concat(), b""), b"3\td\n0\tb\n3\td\n");
    assert_eq!(stdout(&key, b"1\n2\n"), b"1\ta\tx\n2\tc\n");
    assert_eq!(stdout(&[&key[..], &["-0", "--escape"]].concat(), b"1\0"), b"1\ta\\tx\0");
    let none = run(&[&key[..], &["17"]].concat(), b"");
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
    // Several keys may have one value.
    assert_eq!(stdout(&["dict", "build", "--store", &ids], b"z\t2\ny\t2\n"), b"");
    assert_eq!(stdout(&key, b"2\n"), b"2\tc\n2\ty\n2\tz\n");
    let bad = run(&key, b"0\n4294967296\n1\n");
    let message = String::from_utf8(bad.stderr).unwrap();
    assert_eq!((bad.status.code(), bad.stdout.as_slice()), (Some(2), &b"0\tb\n"[..]), "{message}");
    assert!(message.contains("standard input: line 2") && message.contains("4294967296"), "{message}");
    assert!(failure(&[&key[..], &["x"]].concat(), b"").contains('x'));
    assert!(failure(&["dict", "key", "--store", &dir.join("none"), "1"], b"").contains("none"));
}

#[test]
fn the_lines_that_are_not_keys_can_be_printed() {
    let dir = TempDir::new();
    let store = dir.join("dict");
    assert_eq!(stdout(&["dict", "build", "--store", &store], b"a\nb\n"), b"");
    let get = ["dict", "get", "-v", "--store", &store];
    assert_eq!(stdout(&get, b"a\nx\nb\n\nx\n"), b"x\n\nx\n");
    assert_eq!(stdout(&[&get[..], &["--escape"]].concat(), b"\\tx\n"), b"\\tx\n");
    let all = run(&get, b"b\na\n");
    assert_eq!((all.status.code(), all.stdout.len()), (Some(1), 0));
}
