//! Lines that are inserted and removed, and filters that grow.

use std::fs;

use super::{KINDS, build, info};
use crate::support::{TempDir, distinct, failure, lines, run, stdout, text};

#[test]
fn what_is_inserted_later_is_there_and_what_is_removed_is_not() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    for (kind, more) in KINDS {
        build(kind, &[more, &["--fpr", "1e-4"]].concat(), &filter, &text(&lines(900, 3)));
        if kind == "fuse" {
            let before = fs::read(&filter).unwrap();
            let message = failure(&["filter", "insert", &filter], b"new\n");
            assert!(message.contains("build a new one from all keys"), "{message}");
            let message = failure(&["seen", "--filter", &filter], b"new\n");
            assert!(message.contains("furui has -v"), "{message}");
            assert_eq!(fs::read(&filter).unwrap(), before);
            continue;
        }
        // A quotient filter that was built for these lines alone grows, and says so.
        assert!(run(&["filter", "insert", &filter], b"new\nnewer\n").status.success(), "{kind}");
        assert_eq!(stdout(&["has", &filter], b"new\nnewer\n"), b"new\nnewer\n", "{kind}");
        if kind == "counting" || kind == "quotient" {
            let there = lines(900, 3)[0].clone() + "\n";
            assert_eq!(stdout(&["filter", "remove", &filter], there.as_bytes()), b"", "{kind}");
            let again = run(&["filter", "remove", &filter], b"never there\n");
            assert_eq!(again.status.code(), Some(1), "{kind}");
            assert!(String::from_utf8(again.stderr).unwrap().contains("1 line was not in the filter"), "{kind}");
        } else {
            let message = failure(&["filter", "remove", &filter], b"new\n");
            assert!(message.contains("counting") && message.contains("quotient"), "{kind}: {message}");
        }
    }
}

#[test]
fn what_is_removed_from_a_quotient_filter_takes_no_other_line_with_it() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    let numbers = |from: u32, to: u32| (from..to).map(|i| format!("{i}\n")).collect::<String>().into_bytes();
    // Half of all lines share a fingerprint with another one, and each line occurs twice.
    let all = numbers(0, 20_000);
    build("quotient", &["--fpr", "0.5"], &filter, &[&*all, &all].concat());
    let gone = numbers(0, 10_000);
    assert_eq!(stdout(&["filter", "remove", &filter], &[&*gone, &gone].concat()), b"");
    let kept = numbers(10_000, 20_000);
    assert!(stdout(&["has", &filter], &kept) == kept, "a line that was not removed is gone");
    assert_eq!(info(&filter, "fingerprints"), "10000");
    assert_eq!(stdout(&["filter", "remove", &filter], &kept), b"");
    assert_eq!((info(&filter, "fingerprints"), stdout(&["filter", "list", &filter], b"")), ("0".into(), vec![]));
}

#[test]
fn a_quotient_filter_without_removal_keeps_one_copy_and_says_so() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    build("quotient", &["--no-remove", "--fpr", "0.5"], &filter, &text(&lines(9000, 1)));
    let distinct = distinct(&lines(9000, 1)).len();
    assert!(info(&filter, "fingerprints").parse::<usize>().unwrap() < distinct);
    assert_eq!(info(&filter, "removable"), "false");
    let before = fs::read(&filter).unwrap();
    let message = failure(&["filter", "remove", &filter], b"a\n");
    assert!(message.contains("one copy"), "{message}");
    assert!(fs::read(&filter).unwrap() == before);
    let message = failure(&["filter", "build", "--no-remove", "-o", &filter], b"a\n");
    assert!(message.contains("--kind quotient"), "{message}");
}

#[test]
fn a_quotient_filter_grows_when_it_is_full_and_shrinks_when_asked() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    let numbers = |from: u32, to: u32| (from..to).map(|i| format!("{i}\n")).collect::<String>().into_bytes();
    for more in [&[][..], &["--no-remove"]] {
        build("quotient", &[&["--capacity", "1000", "--fpr", "0.001"], more].concat(), &filter, &numbers(0, 1000));
        let slots = |filter: &str| info(filter, "slots").parse::<u64>().unwrap();
        let list = |filter: &str| stdout(&["filter", "list", filter], b"");
        let (before, fingerprints) = (slots(&filter), list(&filter));
        let listed = String::from_utf8(fingerprints.clone()).unwrap();
        let listed: Vec<u64> = listed.lines().map(|line| line.parse().unwrap()).collect();
        assert!(listed.is_sorted() && listed.len().to_string() == info(&filter, "fingerprints"));

        let told = run(&["filter", "resize", "--slots", "5000", &filter], b"");
        assert!(told.status.success() && String::from_utf8(told.stderr).unwrap().contains("5,000 slots"));
        assert_eq!((slots(&filter), list(&filter) == fingerprints), (5000, true));
        assert!(run(&["filter", "resize", "--capacity", "1000", &filter], b"").status.success());
        assert!(slots(&filter) < 1100 && list(&filter) == fingerprints);
        let message = failure(&["filter", "resize", "--capacity", "900", &filter], b"");
        assert!(message.contains("900"), "{message}");
        assert!(failure(&["filter", "resize", "--slots", "0", &filter], b"").contains('0'));
        assert!(failure(&["filter", "resize", "--slots", "100000000000", &filter], b"").contains("100000000000"));
        assert!(list(&filter) == fingerprints, "a refused command changes nothing");

        let grown = run(&["filter", "insert", &filter], &numbers(500, 5000));
        let told = String::from_utf8(grown.stderr).unwrap();
        assert!(grown.status.success() && told.contains("slots") && told.contains("rate"), "{told}");
        assert!(slots(&filter) > 4 * before);
        assert!(stdout(&["has", &filter], &numbers(0, 5000)) == numbers(0, 5000));
        assert_eq!(stdout(&["verify", &filter], b""), b"");
    }
    let bloom = dir.join("bloom");
    build("bloom", &[], &bloom, b"a\n");
    for command in [&["filter", "list"][..], &["filter", "resize", "--capacity", "10"]] {
        let message = failure(&[command, &[&bloom]].concat(), b"");
        assert!(message.contains("a growing") || message.contains("a Bloom filter"), "{message}");
    }
}

#[test]
fn a_quotient_filter_that_was_made_to_double_keeps_its_rate() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    let numbers = |from: u32, to: u32| (from..to).map(|i| format!("{i}\n")).collect::<String>().into_bytes();
    build("quotient", &["--capacity", "100", "--fpr", "0.01", "--doublings", "10"], &filter, &numbers(0, 100));
    for (from, to) in [(100, 5000), (5000, 60_000)] {
        let grown = run(&["filter", "insert", &filter], &numbers(from, to));
        assert!(grown.status.success());
        assert!(String::from_utf8(grown.stderr).unwrap().contains("slots"), "it says that it has grown");
    }
    assert_eq!(stdout(&["has", "--count", &filter], &numbers(0, 60_000)), b"60000\n");
    let rate: f64 = info(&filter, "false_positive_rate").parse().unwrap();
    assert!(rate < 0.01, "{rate}");
    let message = failure(&["filter", "build", "-k", "bloom", "--doublings", "3", "-o", &filter], b"x\n");
    assert!(message.contains("--kind quotient"), "{message}");
}
