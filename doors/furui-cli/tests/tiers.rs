//! Tests the tiers of `furui seen --cache lru+stable` through the binary: their sizes, what is kept of them, and how
//! lost lines come back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::{TempDir, failure, run, stdout, text};

fn numbered(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|i| format!("https://example.org/{i}")).collect()
}

/// The JSON of `--stats` about a run with these options.
fn stats(args: &[&str], input: &[u8]) -> String {
    let output = run(&[&["seen", "-q", "--stats=json"], args].concat(), input);
    let report = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    report
}

#[test]
fn the_next_run_sees_all_repeats_in_the_tiers() {
    let dir = TempDir::new();
    let (store, input) = (dir.join("store"), text(&numbered(0..100_000)));
    let args = ["--store", &store, "--memory", "8MiB", "--cache", "lru+stable", "--lru", "1000"];
    let first = stats(&args, &input);
    assert!(first.contains("\"start\":\"empty\"") && first.contains("\"new\":100000"), "{first}");
    for dry in [&["--dry-run"][..], &[], &[]] {
        let next = stats(&[dry, &args].concat(), &input);
        for field in ["\"start\":\"whole\"", "\"new\":0", "\"stable_forgotten\":0"] {
            assert!(next.contains(field), "{field}: {next}");
        }
    }
    assert_eq!(stdout(&["verify", &store], b""), b"");
    // A command that changes the set without tiers removes the tiers from the store.
    assert_eq!(stdout(&["seen", "--store", &store], b"a\n"), b"a\n");
    assert!(stats(&args, &input).contains("\"start\":\"empty\""));
    // Damage is an error that names the file.
    let tiers = dir.join("store/TIERS");
    let mut bytes = fs::read(&tiers).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&tiers, bytes).unwrap();
    let args = [&["seen"], &args[..]].concat();
    assert!(failure(&args, b"a\n").contains("TIERS"));
    for verb in ["verify", "info"] {
        let output = run(&[verb, &store], b"");
        assert!(output.status.code() == Some(2) && String::from_utf8(output.stderr).unwrap().contains("TIERS"));
    }
    fs::remove_file(tiers).unwrap();
    assert_eq!(stdout(&args, b"a\nb\n"), b"b\n");
}

/// A copy and a merged store begin with the tiers that the last command left, and `info` describes the tiers.
#[test]
fn tiers_are_described_and_outlive_a_merge_and_a_copy() {
    let dir = TempDir::new();
    let (store, copy, input) = (dir.join("store"), dir.join("copy"), text(&numbered(0..210_000)));
    let sizes = ["--lru", "1000", "--counters", "4M", "--probes", "8", "--decrements", "84"];
    let args = [&["--store", &store, "--cache", "lru+stable", "--replacement", "clock"][..], &sizes].concat();
    // A run of more than 200,000 lines is not merged with a small one.
    let last = text(&numbered(210_000..210_100));
    stats(&args, &input);
    stats(&args, &last);
    let info = |path: &str| String::from_utf8(stdout(&["info", path], b"")).unwrap();
    let tiers = |path: &str| info(path).lines().find(|line| line.starts_with("tiers")).unwrap().to_owned();
    let before = tiers(&store);
    assert!(before.contains("clock of 1,000 lines, 1,000 taken; 4,000,000 counters, k = 8, P = 84, "), "{before}");
    let json = String::from_utf8(stdout(&["info", "--json", &store], b"")).unwrap();
    for field in [
        "\"tiers_replacement\":\"clock\",\"tiers_lru\":1000,\"tiers_lru_keys\":1000,\"tiers_counters\":4000000,",
        "\"tiers_probes\":8,\"tiers_decrements\":84,\"tiers_filled\":0.2",
        "\"tiers_current\":true",
    ] {
        assert!(json.contains(field), "{field}: {json}");
    }

    assert!(info(&store).contains("in 2 runs"));
    stdout(&["compact", &store], b"");
    assert!(info(&store).contains("in 1 run,"));
    stdout(&["snapshot", &store, &copy], b"");
    for path in [&store, &copy] {
        assert_eq!((tiers(path), info(path).contains("another state")), (before.clone(), false));
        let args = [&["--store", path][..], &args[2..]].concat();
        let next = stats(&args, &last);
        for field in ["\"start\":\"whole\"", "\"new\":0", "\"stable_forgotten\":0"] {
            assert!(next.contains(field), "{field}: {next}");
        }
        assert_eq!(stdout(&["verify", path], b""), b"");
    }
    // The copy is independent of the original: what is written to the copy is not in the original.
    let changed = [&["--store", &copy][..], &args[2..]].concat();
    assert_eq!(stdout(&[&["seen"], &changed[..]].concat(), b"a\n"), b"a\n");
    assert!(stats(&args, b"a\n").contains("\"new\":1"));
    // Older tiers are put beside a set that has changed since.
    let old = fs::read(dir.join("store/TIERS")).unwrap();
    assert_eq!(stdout(&[&["seen"], &args[..]].concat(), b"b\n"), b"b\n");
    fs::write(dir.join("store/TIERS"), old).unwrap();
    assert!(info(&store).contains("another state of the set"));
    assert!(stats(&args, b"").contains("\"start\":\"outdated\""));
}

#[test]
fn what_is_given_is_kept_and_what_cannot_be_is_refused() {
    let lines = text(&numbered(0..2000));
    for sizes in [
        &["--cache", "lru", "--lru", "256"][..],
        &["--cache", "lru", "--replacement", "clock", "--lru", "300"],
        &["--cache", "lru+stable", "--lru", "300", "--counters", "1M", "--probes", "8", "--decrements", "84"],
        &["--paper", "--memory", "64MiB", "--lru", "1K", "--counters", "1M"],
    ] {
        assert!(stdout(&[&["seen"], sizes].concat(), &[&lines[..], &lines].concat()) == lines, "{sizes:?}");
    }
    for (args, expected) in [
        (&["--lru", "1000"][..], "lru+stable"),
        (&["--replacement", "clock"], "lru+stable"),
        (&["--cache", "lru", "--counters", "1000"], "lru+stable"),
        (&["--cache", "recent", "--paper"], "lru+stable"),
        (&["--cache", "none", "--probes", "4"], "lru+stable"),
        (&["--cache", "lru", "--decrements", "4"], "lru+stable"),
        (&["--paper", "--fpr", "0.01"], "--fpr"),
        (&["--cache", "lru+stable", "--decrements", "9", "--fpr", "0.01"], "--fpr"),
        (&["--cache", "lru", "--lru", "255"], "from 256"),
        (&["--cache", "lru", "--lru", "many"], "number"),
        (&["--cache", "lru", "--lru", "2G"], "1073741824"),
        (&["--cache", "lru+stable", "--probes", "65"], "from 1 to 64"),
        (&["--cache", "lru+stable", "--probes", "0"], "from 1 to 64"),
        (&["--cache", "lru+stable", "--counters", "3"], "from"),
        (&["--cache", "lru+stable", "--decrements", "0"], "from 1"),
        (&["--cache", "lru", "--replacement", "fifo"], "clock"),
        (&["--paper", "--memory", "64MiB"], "more memory"),
        (&["--cache", "lru", "--memory", "8MiB", "--lru", "1M"], "more memory"),
    ] {
        let message = failure(&[&["seen"], args].concat(), b"a\n");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

/// The commands that docs/crawling.md prints: a crawl loses pages, and the most linked of them come back.
#[cfg(unix)]
#[test]
fn the_recipe_brings_back_the_lost_lines_that_most_lines_link_to() {
    let dir = TempDir::new();
    // Each page is met once. One page in a hundred is met a hundred times more at the end.
    let mut links = numbered(0..200_000);
    let popular: Vec<String> = links.iter().step_by(100).cloned().collect();
    (0..100).for_each(|_| links.extend_from_slice(&popular));
    dir.file("links.txt", &text(&links));
    let page = include_str!("../../../docs/crawling.md");
    let (_, recipe) = page.split_once("<!-- a test runs this -->").unwrap();
    let lines = recipe.lines().skip(1).take_while(|line| line.is_empty() || line.starts_with("      "));
    let script: String = lines.flat_map(|line| [line.trim(), "\n"]).collect();
    assert_eq!(script.matches("furui").count(), 5, "{script}");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_furui")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("sh")
        .args(["-ec", &script])
        .current_dir(dir.path())
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let set = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (fetched, lost) = (set(&read("fetched.txt")), set(&read("lost.txt")));
    assert!(fetched.is_disjoint(&lost) && fetched.len() + lost.len() == 200_000);
    assert!((100..3000).contains(&lost.len()), "{} lost", lost.len());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    links.iter().filter(|link| lost.contains(*link)).for_each(|link| *counts.entry(link).or_default() += 1);
    let ranked = read("most-linked.txt");
    let ranked: Vec<(usize, &str)> =
        ranked.lines().map(|line| line.trim().split_once(' ').unwrap()).map(|(n, l)| (n.parse().unwrap(), l)).collect();
    assert!(ranked.is_sorted_by(|a, b| a.0 >= b.0));
    assert!(ranked.iter().map(|&(n, line)| (line, n)).collect::<BTreeMap<_, _>>() == counts);
    let again = set(&read("again.txt"));
    assert_eq!(again, ranked[..100.min(ranked.len())].iter().map(|(_, line)| (*line).to_owned()).collect());
    let left =
        set(&String::from_utf8(stdout(&["seen", "-n", "--store", &dir.join("crawl"), &dir.join("links.txt")], b""))
            .unwrap());
    assert_eq!(left, lost.difference(&again).cloned().collect());
}
