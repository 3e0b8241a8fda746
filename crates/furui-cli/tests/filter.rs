//! `furui filter` through its binary.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod support;

use std::fs;

use support::{TempDir, distinct, failure, feed, furui, furui_for_signals, lines, run, stdout, text};

/// Every kind, with the options that it needs to be built from a pipe.
const KINDS: [(&str, &[&str]); 8] = [
    ("bloom", &[]),
    ("blocked", &[]),
    ("counting", &[]),
    ("stable", &["--capacity", "10000"]),
    ("stable-light", &["--capacity", "10000"]),
    ("ringed", &[]),
    ("quotient", &[]),
    ("parquet", &[]),
];

/// Builds a filter from standard input.
fn build(kind: &str, more: &[&str], output: &str, input: &[u8]) {
    let args = [&["filter", "build", "--kind", kind, "-o", output], more].concat();
    assert_eq!(stdout(&args, input), b"", "{kind}");
}

/// The value of a field in the output of `furui info --json`.
fn info(path: &str, field: &str) -> String {
    let json = String::from_utf8(stdout(&["info", path, "--json"], b"")).unwrap();
    let value = json.split(&format!("\"{field}\":")).nth(1).unwrap_or_else(|| panic!("{field} in {json}"));
    value.split([',', '}']).next().unwrap().trim_matches('"').to_owned()
}

#[test]
fn every_kind_contains_its_lines_from_pipes_and_from_files_and_few_others() {
    let dir = TempDir::new();
    let (known, other) = (distinct(&lines(9000, 1)), distinct(&lines(9000, 2)));
    let known_text = text(&known);
    let file = dir.file("known", &known_text);
    let other: Vec<String> = other.iter().map(|line| format!("{line}#")).collect();
    for (kind, more) in KINDS {
        let piped = dir.join("piped");
        build(kind, more, &piped, &known_text);
        let counted = dir.join("counted");
        let args = [&["filter", "build", "-k", kind, "--fpr", "0.001", "-o", &counted], more, &[&file]].concat();
        assert_eq!(stdout(&args, b""), b"", "{kind}");
        for (filter, rate) in [(&piped, 0.01), (&counted, 0.001)] {
            let there = stdout(&["has", filter], &known_text);
            if kind == "stable" {
                // The filter forgets at random: one of ten of the oldest lines.
                assert!(there.len() > known_text.len() / 100 * 95, "{} of {}", there.len(), known_text.len());
            } else {
                assert!(there == known_text, "{kind}: {} of {} bytes", there.len(), known_text.len());
                let nothing = run(&["has", "-v", filter], &known_text);
                assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(1), 0), "{kind}");
            }
            let wrong = run(&["has", "--count", filter], &text(&other));
            let wrong: f64 = String::from_utf8(wrong.stdout).unwrap().trim().parse().unwrap();
            let expected = rate * other.len() as f64;
            assert!(wrong <= 1.3 * expected + 4.0 * expected.sqrt(), "{kind}: {wrong} of {} wrong", other.len());
            assert_eq!(stdout(&["verify", filter], b""), b"", "{kind}");
        }
    }
}

#[test]
fn a_file_that_is_missing_keeps_no_other_from_being_tested() {
    let dir = TempDir::new();
    let filter = dir.join("filter");
    build("bloom", &[], &filter, b"a\nb\n");
    let (one, two, missing) = (dir.file("one", b"a\nx\n"), dir.file("two", b"y\nb\n"), dir.join("missing"));
    let directory = dir.join(".");
    let output = run(&["has", &filter, &one, &missing, &directory, &two], b"");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b"a\nb\n"[..]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.lines().count(), 2, "{told}");
    assert!(told.contains(&missing) && told.contains(&directory), "{told}");
    // Like grep, a quiet run tells whether any file has such a line.
    let quiet = |files: &[&str]| run(&[&["has", "-q", &filter], files].concat(), b"").status.code();
    assert_eq!(quiet(&[&missing, &one]), Some(0));
    assert_eq!(quiet(&[&missing]), Some(2));
    let counted = run(&["has", "--count", &filter, &missing, &one, &two], b"");
    assert_eq!((counted.status.code(), counted.stdout.as_slice()), (Some(2), &b"2\n"[..]));
}

#[test]
fn test_answers_as_grep_does() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    build("bloom", &["--fpr", "1e-6"], &filter, b"a\nb\n");
    assert_eq!(stdout(&["has", &filter], b"b\nc\na\nb\n"), b"b\na\nb\n");
    assert_eq!(stdout(&["has", "-v", &filter], b"b\nc\na"), b"c\n");
    assert_eq!(stdout(&["has", "--count", &filter], b"b\nc\na\nb\n"), b"3\n");
    assert_eq!(stdout(&["has", "-q", &filter], b"c\na\n"), b"");
    assert_eq!(run(&["has", &filter], b"c\n").status.code(), Some(1));
    assert_eq!(run(&["has", "-q", &filter], b"").status.code(), Some(1));
    assert_eq!(run(&["has", "--count", &filter], b"c\n").stdout, b"0\n");
}

#[test]
fn lines_are_keyed_as_seen_keys_them() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    build("bloom", &["--fpr", "1e-6", "-f", "2", "-d", ","], &filter, b"1,x\n2,y\n");
    assert_eq!(stdout(&["has", "--as-is", &filter], b"x\nz\n"), b"x\n");
    assert_eq!(stdout(&["has", "--as-is", "-0", &filter], b"x\0z\0y\0"), b"x\0y\0");
    build("bloom", &["--fpr", "1e-6", "--url"], &filter, b"HTTP://Example.com:80/a#b\n");
    assert_eq!(stdout(&["has", "--url", &filter], b"http://example.com/a\n"), b"http://example.com/a\n");
}

#[test]
fn what_is_inserted_later_is_there_and_what_is_removed_is_not() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    for (kind, more) in KINDS {
        build(kind, &[more, &["--fpr", "1e-4"]].concat(), &filter, &text(&lines(900, 3)));
        // A quotient filter that was built for its lines alone grows, and says so.
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
fn unions_and_intersections_hold_what_they_should() {
    let dir = TempDir::new();
    let (a, b, out) = (dir.join("a"), dir.join("b"), dir.join("out"));
    for kind in ["bloom", "blocked", "counting", "ringed", "quotient", "parquet"] {
        build(kind, &["--fpr", "1e-4", "--capacity", "1000"], &a, b"1\n2\n3\n");
        build(kind, &["--fpr", "1e-4", "--capacity", "1000"], &b, b"3\n4\n");
        assert_eq!(stdout(&["union", &a, &b, "-o", &out], b""), b"", "{kind}");
        assert_eq!(stdout(&["has", &out], b"1\n2\n3\n4\n5\n"), b"1\n2\n3\n4\n", "{kind}");
        if kind != "counting" {
            assert_eq!(stdout(&["intersect", &a, &b, "-o", &out], b""), b"", "{kind}");
            assert_eq!(stdout(&["has", &out], b"1\n2\n3\n4\n5\n"), b"3\n", "{kind}");
        }
    }
}

#[test]
fn compare_estimates_what_two_filters_share() {
    let dir = TempDir::new();
    let numbers = |from: u32, to: u32| (from..to).map(|i| format!("{i}\n")).collect::<String>().into_bytes();
    for kind in ["bloom", "blocked", "ringed", "quotient", "parquet"] {
        let (a, b) = (dir.join("a"), dir.join("b"));
        build(kind, &["--capacity", "20000"], &a, &numbers(0, 15_000));
        build(kind, &["--capacity", "20000"], &b, &numbers(5000, 20_000));
        let json = String::from_utf8(stdout(&["filter", "compare", &a, &b, "--json"], b"")).unwrap();
        let field = |name: &str| -> f64 {
            let value = json.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("{name} in {json}"));
            value.split([',', '}']).next().unwrap().parse().unwrap()
        };
        for (name, truth) in [("a", 15e3), ("b", 15e3), ("union", 20e3), ("intersection", 10e3), ("jaccard", 0.5)] {
            let (value, error) = (field(name), field(&format!("{name}_error")));
            assert!((value - truth).abs() <= 4.0 * error + 0.01 * truth, "{kind}, {name}: {value} ± {error}");
        }
        let said = String::from_utf8(stdout(&["filter", "compare", &a, &b], b"")).unwrap();
        assert!(said.contains("similarity") && said.contains('±'), "{said}");
    }
}

#[test]
fn what_does_not_fit_together_is_named_on_both_sides() {
    let dir = TempDir::new();
    let (a, b, out) = (dir.join("a"), dir.join("b"), dir.join("out"));
    build("bloom", &["--capacity", "1000"], &a, b"x\n");
    for (kind, more) in [
        ("blocked", &["--capacity", "1000"][..]),
        ("bloom", &["--capacity", "2000"]),
        ("bloom", &["--capacity", "1000", "--fpr", "0.001"]),
        ("bloom", &["--capacity", "1000", "--hash-seed", "7"]),
        ("bloom", &["--capacity", "1000", "--hash", "siphash"]),
    ] {
        build(kind, more, &b, b"x\n");
        for verb in ["union", "intersect"] {
            let message = failure(&[verb, &a, &b, "-o", &out], b"");
            assert!(message.contains(&a) && message.contains(&b), "{kind} {more:?}: {message}");
            assert!(!fs::exists(&out).unwrap(), "nothing is written");
        }
        let message = failure(&["filter", "compare", &a, &b], b"");
        assert!(message.contains(&a) && message.contains(&b), "{kind} {more:?}: {message}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_read() {
    let dir = TempDir::new();
    let out = dir.join("f");
    for (args, hint) in [
        (&["--fpr", "0"][..], "more than 0 and less than 1"),
        (&["--fpr", "1"], "more than 0 and less than 1"),
        (&["--fpr", "nan"], "more than 0 and less than 1"),
        (&["--fpr", "1e-19", "--capacity", "100"], "another kind of filter"),
        (&["--capacity", "0"], "at least one"),
        (&["--capacity", "1000000000000000"], ""),
        (&["--kind", "stable"], "--capacity"),
        (&["--kind", "nonsense"], "nonsense"),
        (&["/no/such/file"], "/no/such/file"),
    ] {
        for kind in ["bloom", "quotient"] {
            let kind: &[&str] = if args.contains(&"--kind") { &[] } else { &["-k", kind] };
            let args = [&["filter", "build", "-o", &out], kind, args].concat();
            let message = failure(&args, b"a\n");
            assert!(message.contains(hint), "{args:?}: {message}");
            assert!(!fs::exists(&out).unwrap(), "{args:?}");
        }
    }
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_anything_is_read() {
    let dir = TempDir::new();
    let path = dir.path().display().to_string();
    let unread = format!("{path}/no lines");
    for (output, expected) in [(path.clone(), "cannot write"), (format!("{path}/no/filter"), "cannot write into")] {
        let message = failure(&["filter", "build", "-o", &output, &unread], b"");
        assert!(message.contains(expected) && !message.contains("no lines"), "{message}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "no file is left behind");
}

#[test]
fn a_damaged_or_foreign_file_is_named() {
    let dir = TempDir::new();
    for (kind, more) in KINDS {
        let filter = dir.join("f");
        build(kind, more, &filter, &text(&lines(50, 1)));
        let good = fs::read(&filter).unwrap();
        for at in [0, 9, 40, 66, 70, 130, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            fs::write(&filter, &bad).unwrap();
            let message = failure(&["has", &filter], b"a\n");
            assert!(message.contains(&filter), "{kind}, byte {at}: {message}");
            failure(&["filter", "insert", &filter], b"a\n");
            assert_eq!(fs::read(&filter).unwrap(), bad, "{kind}, byte {at}: nothing is overwritten");
            failure(&["verify", &filter], b"");
            failure(&["info", &filter], b"");
        }
        for length in [5, 63, 64, 100, good.len() - 1] {
            fs::write(&filter, &good[..length]).unwrap();
            assert!(failure(&["has", &filter], b"a\n").contains(&filter), "{kind}, {length} bytes");
        }
    }
    let foreign =
        dir.file("text", b"no filter at all, but a text that is long enough to be one, should it want to be\n");
    assert!(failure(&["filter", "list", &foreign], b"").contains("not a furui file"));
    assert!(failure(&["has", &dir.join("none")], b"").contains("none"));
    assert!(failure(&["has", dir.path().to_str().unwrap()], b"").contains("furui"));
}

#[test]
fn a_ringed_filter_has_the_window_and_the_bits_that_are_asked_for() {
    let dir = TempDir::new();
    let (known, filter) = (text(&distinct(&lines(2000, 1))), dir.join("ringed"));
    let count = known.iter().filter(|&&byte| byte == b'\n').count();
    let mut built = Vec::new();
    for (more, delta, gamma) in [
        (&[][..], "1000", None),
        (&["--gamma", "fractional"], "1000", None),
        (&["--delta", "100"], "100", None),
        // The paper's: M(0.01, 1) = 11 bits, 7 probes.
        (&["--delta", "100000", "--gamma", "whole"], "100000", Some("11")),
    ] {
        build("ringed", more, &filter, &known);
        assert_eq!(stdout(&["has", &filter], &known), known);
        assert_eq!(info(&filter, "delta"), delta);
        let found = info(&filter, "gamma");
        match gamma {
            Some(gamma) => {
                assert_eq!((&*found, &*info(&filter, "probes")), (gamma, "7"));
                assert_eq!(info(&filter, "bits"), (11 * count).to_string());
                let said = String::from_utf8(stdout(&["info", &filter], b"")).unwrap();
                assert!(said.contains("11 bits a line") && said.contains("100,000"), "{said}");
            }
            None => assert!((9.0..11.0).contains(&found.parse::<f64>().unwrap()), "{found}"),
        }
        built.push(fs::read(&filter).unwrap());
    }
    assert!(built[0] == built[1] && built[1] != built[2]);
    for (more, reason) in [
        (&["-k", "bloom", "--delta", "100"][..], "go with --kind ringed"),
        (&["-k", "blocked", "--gamma", "whole"], "go with --kind ringed"),
        (&["-k", "ringed", "--delta", "0"], "a whole number from 1"),
        (&["-k", "ringed", "--delta", "4294967295", "--gamma", "whole"], "groups of a window"),
        (&["-k", "ringed", "--gamma", "half"], "whole, fractional"),
    ] {
        let message = failure(&[&["filter", "build", "-o", &filter], more].concat(), b"x\n");
        assert!(message.contains(reason), "{more:?}: {message}");
    }
}

#[test]
fn info_says_what_a_filter_is() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    for (kind, more) in KINDS {
        build(kind, more, &filter, &text(&lines(3000, 4)));
        let said = String::from_utf8(stdout(&["info", &filter], b"")).unwrap();
        assert!(said.contains("xxh") && said.contains("wrongly at a rate of"), "{kind}: {said}");
        assert_eq!(info(&filter, "forgets"), kind.starts_with("stable").to_string(), "{kind}");
        let rate: f64 = info(&filter, "false_positive_rate").parse().unwrap();
        assert!(rate > 0.0 && rate < 0.011, "{kind}: {rate}");
        assert_eq!(info(&filter, "bytes"), fs::metadata(&filter).unwrap().len().to_string());
    }
}

#[test]
fn a_filter_that_was_given_too_much_says_so() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    let output = run(&["filter", "build", "--capacity", "100", "-o", &filter], &text(&lines(3000, 4)));
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("fuller than it was made for"));
    build("bloom", &["--capacity", "10"], &dir.join("small"), b"");
    run(&["filter", "insert", &dir.join("small")], &text(&lines(3000, 4)));
    let said = String::from_utf8(stdout(&["filter", "compare", &dir.join("small"), &dir.join("small")], b"")).unwrap();
    assert!(said.contains("too full to say") && !said.contains("NaN"), "{said}");
    let message = failure(&["filter", "build", "-k", "quotient", "-c", "100", "-o", &filter], &text(&lines(3000, 4)));
    assert!(
        message.contains(&filter) && message.contains("full at 100") && message.contains("--capacity"),
        "{message}"
    );
}

#[test]
fn what_no_reader_of_parquet_knows_is_refused() {
    let dir = TempDir::new();
    let build = ["filter", "build", "-k", "parquet", "-o", &dir.join("f")];
    for more in [["--hash", "xxh3"], ["--hash", "siphash"], ["--hash-seed", "7"]] {
        let message = failure(&[&build[..], &more].concat(), b"a\n");
        assert!(message.contains("--hash xxh64"), "{message}");
    }
    assert_eq!(stdout(&[&build[..], &["--hash", "xxh64"]].concat(), b"a\n"), b"");
}

#[test]
#[cfg(unix)]
fn a_lock_that_somebody_holds_does_not_stop_a_filter_from_being_written() {
    let dir = TempDir::new();
    let (filter, temporary) = (dir.join("f"), dir.file("f.furui-tmp", b"of another process"));
    let held = fs::File::open(&temporary).unwrap();
    held.lock().unwrap();
    build("bloom", &[], &filter, b"a\n");
    assert_eq!(stdout(&["has", &filter], b"a\nb\n"), b"a\n");
    assert_eq!(fs::read(&temporary).unwrap(), b"of another process");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "the other name is gone");
}

#[test]
fn a_filter_goes_through_pipes() {
    let dir = TempDir::new();
    let filter = stdout(&["filter", "build", "-o", "-"], b"a\n");
    let path = dir.file("f", &filter);
    assert_eq!(stdout(&["has", &path], b"a\n"), b"a\n");
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link_and_what_it_names_is_replaced() {
    let dir = TempDir::new();
    let (link, real) = (dir.join("link"), dir.join("real"));
    std::os::unix::fs::symlink("real", &link).unwrap();
    build("bloom", &[], &link, b"a\n");
    assert_eq!(stdout(&["filter", "insert", &link], b"b\n"), b"");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(stdout(&["has", &real], b"a\nb\n"), b"a\nb\n");
    let round = dir.join("round");
    std::os::unix::fs::symlink("round", &round).unwrap();
    assert!(failure(&["filter", "build", "-o", &round], b"a\n").contains("symbolic links"));
}

#[test]
#[cfg(target_os = "linux")]
fn standard_output_is_written_to_by_either_name() {
    use std::process::Stdio;
    let dir = TempDir::new();
    // The file is like /dev/stdout.
    let link = dir.join("stdout");
    std::os::unix::fs::symlink("/proc/self/fd/1", &link).unwrap();
    for name in ["-", &link] {
        let path = dir.join("f");
        let mut command = furui();
        command.args(["filter", "build", "-o", name, &dir.file("lines", b"a\n")]);
        assert!(command.stdout(fs::File::create(&path).unwrap()).stdin(Stdio::null()).status().unwrap().success());
        assert_eq!(stdout(&["has", &path], b"a\nb\n"), b"a\n", "{name}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
    }
}

#[test]
#[cfg(unix)]
fn a_filter_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new();
    let filter = dir.join("f");
    build("bloom", &[], &filter, b"a\n");
    for mode in [0o600, 0o640, 0o444] {
        fs::set_permissions(&filter, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(stdout(&["filter", "insert", &filter], b"b\n"), b"");
        assert_eq!(fs::metadata(&filter).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn writers_of_one_file_wait_for_each_other() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    // The files are large enough for the writers to overlap.
    let start = |line: &str| {
        let lines = dir.file(line, line.as_bytes());
        furui().args(["filter", "build", "-c", "30000000", "-o", &filter, &lines]).spawn().unwrap()
    };
    let writers = ["a", "b", "c", "d"].map(start);
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(stdout(&["verify", &filter], b""), b"");
    assert_eq!(stdout(&["has", "--count", &filter], b"a\nb\nc\nd\n"), b"1\n", "whole, and of one writer");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5, "no file is left behind");
}

#[test]
fn lines_are_not_replaced_by_their_filter() {
    let dir = TempDir::new();
    let lines = dir.file("lines", b"a\n");
    let other_name = format!("{}/./lines", dir.path().display());
    let message = failure(&["filter", "build", "-o", &other_name, &dir.file("more", b"b\n"), &lines], b"");
    assert!(message.contains("both input and output"), "{message}");
    assert_eq!(fs::read(&lines).unwrap(), b"a\n");
    if cfg!(unix) {
        let mut command = furui();
        command.args(["filter", "build", "-o", &lines]).stdin(fs::File::open(&lines).unwrap());
        assert_eq!(command.output().unwrap().status.code(), Some(2));
        assert_eq!(fs::read(&lines).unwrap(), b"a\n");
    }
}

#[test]
#[cfg(unix)]
fn what_a_killed_writer_left_is_removed_and_nothing_else() {
    let dir = TempDir::new();
    let (filter, victim) = (dir.join("f"), dir.file("victim", b"kept\n"));
    let left = "f.0123abcd.furui-tmp";
    let others = ["f.furui-tmp", "f.0123abc.furui-tmp", "f.0123abcg.furui-tmp", "g.0123abcd.furui-tmp", "f.0123abcd"];
    others.iter().for_each(|name| drop(dir.file(name, b"kept\n")));
    std::os::unix::fs::symlink("victim", dir.join("f.89abcdef.furui-tmp")).unwrap();
    let held = fs::File::open(dir.file("f.00000000.furui-tmp", b"of a writer that is at work")).unwrap();
    held.lock().unwrap();
    // Another process still reads the earlier filter of that name.
    build("bloom", &[], &dir.join(left), b"a\n");
    assert_eq!(stdout(&["union", &dir.join(left), "-o", &filter], b""), b"");
    assert_eq!(stdout(&["has", &filter], b"a\n"), b"a\n");
    assert!(!fs::exists(dir.join(left)).unwrap());
    assert!(others.iter().all(|name| fs::read(dir.join(name)).unwrap() == b"kept\n"));
    assert_eq!(fs::read(&victim).unwrap(), b"kept\n");
    assert!(
        fs::exists(dir.join("f.00000000.furui-tmp")).unwrap() && fs::exists(dir.join("f.89abcdef.furui-tmp")).unwrap()
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), others.len() + 4);
}

#[test]
#[cfg(unix)]
fn a_signal_leaves_no_half_written_file() {
    use std::os::unix::process::ExitStatusExt;
    for signal in ["INT", "TERM", "HUP"] {
        let dir = TempDir::new();
        let lines = dir.file("lines", b"a\n");
        let is_temporary = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().to_str().is_some_and(|name| name.ends_with(".furui-tmp"))
        };
        let any_temporary = || fs::read_dir(dir.path()).unwrap().any(is_temporary);
        let mut command = furui_for_signals();
        command.args(["filter", "build", "-c", "100000000", "-o", &dir.join("f"), &lines]);
        let mut process = command.spawn().unwrap();
        while !any_temporary() && process.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::process::Command::new("kill").args(["-s", signal, &process.id().to_string()]).status().unwrap();
        let status = process.wait().unwrap();
        // The file may have been complete before the signal came.
        assert!(status.signal().is_some() || status.success(), "{signal}: {status}");
        assert!(!any_temporary(), "{signal}");
        assert_eq!(fs::exists(dir.join("f")).unwrap(), status.success(), "{signal}: {status}");
    }
}

#[test]
#[cfg(unix)]
fn a_change_that_was_begun_is_not_undone_and_undoes_nothing() {
    use std::io::Write;
    let dir = TempDir::new();
    let (filter, lines) = (dir.join("f"), dir.file("lines", b"later\n"));
    build("bloom", &["-c", "1000"], &filter, b"first\n");
    let mut change = furui();
    let mut change = change.args(["filter", "insert", &filter]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = change.stdin.take().unwrap();
    // The input is more than a pipe holds, so the process has begun to read, and has the lock.
    stdin.write_all(&b"second\n".repeat(100_000)).unwrap();
    assert!(failure(&["filter", "insert", &filter], b"").contains("another process"));
    let mut other = furui().args(["filter", "build", "-c", "1000", "-o", &filter, &lines]).spawn().unwrap();
    drop(stdin);
    assert!(change.wait().unwrap().success() && other.wait().unwrap().success());
    assert_eq!(stdout(&["has", &filter], b"first\nsecond\nlater\n"), b"later\n");
}

#[test]
fn the_uses_in_the_page_on_choosing_work_as_printed() {
    let dir = TempDir::new();
    let some = distinct(&lines(3000, 6));
    for (name, lines) in [
        ("kept-urls.txt", &some[..1000]),
        ("wanted-urls.txt", &some[900..2000]),
        ("east.txt", &some[..1000]),
        ("west.txt", &some[500..1500]),
        ("my-contacts.txt", &some[..100]),
        ("their-contacts.txt", &some[50..150]),
    ] {
        dir.file(name, &text(lines));
    }
    let here = |line: &str| {
        let mut command = furui();
        command.args(line.split_whitespace().skip(1)).current_dir(dir.path());
        let output = feed(command, b"");
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]), "{line}");
        output.stdout
    };
    // The other process writes this filter.
    dir.file("shared.seed", b"0x5EED0F7B0B12A11C\n");
    here("furui filter build -c 10000 --seed-file shared.seed -o theirs.filter their-contacts.txt");
    let page = include_str!("../../../docs/choosing.md");
    let commands = page.lines().skip_while(|line| *line != "## What else a filter is for");
    let commands =
        commands.take_while(|line| *line != "## What they cost").filter_map(|line| line.strip_prefix("    furui"));
    let printed: Vec<Vec<u8>> = commands.map(|line| here(&format!("furui{line}"))).collect();
    assert!(printed[1].starts_with(&text(&some[900..1000])));
    assert!(printed[6].starts_with(&text(&some[50..100])) && printed[6].len() < text(&some[..60]).len());
    assert!(String::from_utf8(printed[7].clone()).unwrap().contains("in both"));
    let root = dir.join("root.filter");
    assert_eq!(stdout(&["has", &root], &text(&some[..1500])), text(&some[..1500]));
}

#[test]
fn repeats_from_a_pipe_are_no_more_lines() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    let some = distinct(&lines(3000, 5));
    let repeated: Vec<u8> = (0..100).flat_map(|_| text(&some)).collect();
    for kind in ["blocked", "counting"] {
        build(kind, &[], &filter, &repeated);
        assert_eq!(info(&filter, "capacity"), some.len().to_string(), "{kind}");
        assert_eq!(stdout(&["has", &filter], &text(&some)), text(&some), "{kind}");
    }
}

#[test]
fn a_stable_filter_of_a_file_remembers_it_whatever_its_repeats() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    let all: Vec<String> = (0..4).flat_map(|_| lines(9000, 1)).collect();
    let file = dir.file("lines", &text(&all));
    let once = text(&distinct(&lines(9000, 1)));
    for kind in ["stable", "stable-light"] {
        assert_eq!(stdout(&["filter", "build", "-k", kind, "-o", &filter, &file], b""), b"");
        assert!(stdout(&["has", &filter], &once).len() > once.len() / 100 * 95, "{kind}");
    }
    // These are the oldest lines, after many repeats of others.
    let old: Vec<String> = (0..1000).map(|i| format!("old {i}")).collect();
    let file = dir.file("old", &[text(&old), text(&lines(60_000, 2))].concat());
    assert_eq!(stdout(&["filter", "build", "-k", "stable-light", "-o", &filter, &file], b""), b"");
    assert_eq!(stdout(&["has", "--count", &filter], &text(&old)), b"1000\n");
}

#[test]
#[cfg(unix)]
fn a_filter_is_not_opened_from_a_pipe() {
    for args in [&["list"][..], &["insert"], &["remove"]] {
        let message = failure(&[&["filter"], args, &["/dev/stdin"]].concat(), b"");
        assert!(message.contains("regular file"), "{message}");
    }
    for verb in ["info", "verify"] {
        let message = failure(&[verb, "/dev/stdin"], b"");
        assert!(message.contains("regular file"), "{message}");
    }
}

#[test]
fn hostile_lines_need_a_seed_that_nobody_knows() {
    let dir = TempDir::new();
    let (a, b) = (dir.join("a"), dir.join("b"));
    build("bloom", &["--hash", "siphash", "--hash-seed", "0x1234"], &a, b"alice@example.org\n");
    build("bloom", &["--hash", "siphash", "--hash-seed", "0x1235"], &b, b"alice@example.org\n");
    assert_eq!(stdout(&["has", &a], b"alice@example.org\n"), b"alice@example.org\n");
    assert_ne!(fs::read(&a).unwrap()[200..], fs::read(&b).unwrap()[200..]);
    build("bloom", &["--hash", "sha1"], &a, b"alice\n");
    assert_eq!(stdout(&["has", &a], b"alice\n"), b"alice\n");
}

#[test]
fn a_filter_without_its_seed_tells_only_those_who_have_the_seed() {
    let dir = TempDir::new();
    let (mine, theirs, both, seed) = (dir.join("mine"), dir.join("theirs"), dir.join("both"), dir.join("seed"));
    let made = run(&["filter", "build", "-c", "100", "--seed-file", &seed, "-o", &mine], b"alice\nbob\n");
    let told = String::from_utf8(made.stderr).unwrap();
    assert!(made.status.success() && told.contains("random seed"), "{told}");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&seed).unwrap().permissions()) & 0o777, 0o600);
    // The second filter takes the seed that is there.
    assert_eq!(stdout(&["filter", "build", "-c", "100", "--seed-file", &seed, "-o", &theirs], b"bob\ncarol\n"), b"");
    let with = ["--seed-file", &seed];
    assert_eq!(stdout(&[&["has"][..], &with, &[&theirs]].concat(), b"alice\nbob\n"), b"bob\n");
    let union = [&["union"][..], &with, &[&mine, &theirs, "-o", &both]].concat();
    assert_eq!(stdout(&union, b""), b"");
    assert_eq!(stdout(&[&["filter", "insert"][..], &with, &[&both]].concat(), b"dave\n"), b"");
    let asked = [&["has"][..], &with, &[&both]].concat();
    assert_eq!(stdout(&asked, b"alice\nbob\ncarol\ndave\nerin\n"), b"alice\nbob\ncarol\ndave\n");
    assert!(run(&[&["filter", "compare"][..], &with, &[&mine, &theirs]].concat(), b"").status.success());

    // Nobody else can ask, and no file has the seed.
    let number = fs::read_to_string(&seed).unwrap();
    let number = u64::from_str_radix(number.trim().trim_start_matches("0x"), 16).unwrap();
    for filter in [&mine, &theirs, &both] {
        let bytes = fs::read(filter).unwrap();
        assert!(!bytes.windows(8).any(|window| window == number.to_le_bytes()), "{filter} holds the seed");
        assert!(failure(&["has", filter], b"alice\n").contains("--seed-file"));
        assert_eq!(stdout(&["verify", filter], b""), b"");
        let info = String::from_utf8(stdout(&["info", filter], b"")).unwrap();
        assert!(info.contains("kept elsewhere") && !info.contains(&format!("{number:x}")), "{info}");
    }
    assert!(String::from_utf8(stdout(&[&["info"][..], &with, &[&mine]].concat(), b"")).unwrap().contains("holds"));
    let other = dir.file("other", b"0x1234\n");
    assert!(failure(&["has", "--seed-file", &other, &mine], b"alice\n").contains("another seed"));
    let bad = dir.file("bad", b"no number\n");
    assert!(failure(&["has", "--seed-file", &bad, &mine], b"alice\n").contains("not a number"));
    assert!(failure(&["has", "--seed-file", &dir.join("none"), &mine], b"").contains("none"));
    for kind in ["parquet", "cascade"] {
        let out = dir.join("refused");
        let message = failure(&["filter", "build", "-k", kind, "-c", "9", "--seed-file", &seed, "-o", &out], b"a\n");
        assert!(message.contains("--seed-file"), "{message}");
    }
}

#[test]
fn caches_in_processes_of_their_own_swap_digests() {
    for program in ["python3", "curl"] {
        let found = std::process::Command::new(program).arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: there is no {program}");
            return;
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digests.sh");
    let output = std::process::Command::new("sh").args([script, env!("CARGO_BIN_EXE_furui")]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("700 pages found of 700"), "{output:?}");
}
