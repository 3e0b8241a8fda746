//! What filters answer, and what `info` says of them.

use std::fs;

use super::{KINDS, build, info};
use crate::support::{TempDir, distinct, failure, feed, furui, lines, run, stdout, text};

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
                // The filter forgets lines at random: about one in ten of the oldest ones.
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
    // As with grep -q, the status tells whether any file has a line that is in the filter.
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
fn info_says_what_a_filter_is() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    for (kind, more) in KINDS {
        build(kind, more, &filter, &text(&lines(3000, 4)));
        let said = String::from_utf8(stdout(&["info", &filter], b"")).unwrap();
        assert!(said.contains("xxh") && said.contains("wrongly at a rate of"), "{kind}: {said}");
        assert_eq!(info(&filter, "forgets"), (kind.starts_with("stable") || kind == "window").to_string(), "{kind}");
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
    let page = include_str!("../../../../docs/choosing.md");
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
    for kind in ["stable", "stable-light", "window"] {
        assert_eq!(stdout(&["filter", "build", "-k", kind, "-o", &filter, &file], b""), b"");
        assert!(stdout(&["has", &filter], &once).len() > once.len() / 100 * 95, "{kind}");
    }
    // These are the oldest lines; many repeats of other lines follow them.
    let old: Vec<String> = (0..1000).map(|i| format!("old {i}")).collect();
    let file = dir.file("old", &[text(&old), text(&lines(60_000, 2))].concat());
    assert_eq!(stdout(&["filter", "build", "-k", "stable-light", "-o", &filter, &file], b""), b"");
    assert_eq!(stdout(&["has", "--count", &filter], &text(&old)), b"1000\n");
}

#[test]
fn a_filter_has_the_bits_the_probes_and_the_decrements_that_are_asked_for() {
    let dir = TempDir::new();
    let (known, filter) = (text(&distinct(&lines(200, 1))), dir.join("f"));
    let file = dir.file("lines", &known);
    for (kind, bits, more, fields) in [
        // The sizes of the paper of Sei et al.
        ("bloom", "2164", &["--probes", "5"][..], &[("bits", "2164"), ("probes", "5")][..]),
        ("blocked", "5120", &["--probes", "6"], &[("cache_lines", "10"), ("probes", "6")]),
        ("counting", "8K", &["--probes", "3"], &[("counters", "2000"), ("probes", "3")]),
        // Decrements as in the paper of Kubota et al., in a small filter.
        ("stable", "1M", &["--probes", "8", "--decrements", "84"], &[("counters", "500000"), ("decrements", "84")]),
        ("stable-light", "1M", &["--probes", "8", "--decrements", "84"], &[("probes", "8"), ("decrements", "84")]),
    ] {
        let args = [&["filter", "build", "-k", kind, "--bits", bits, "-o", &filter], more].concat();
        let mut built = vec![];
        // From a pipe and from a file: nothing is counted first.
        for (input, stdin) in [(None, &known[..]), (Some(&*file), b"")] {
            assert_eq!(stdout(&args.iter().copied().chain(input).collect::<Vec<_>>(), stdin), b"", "{kind}");
            assert_eq!(stdout(&["has", &filter], &known), known, "{kind}");
            fields.iter().for_each(|&(name, value)| assert_eq!(info(&filter, name), value, "{kind}, {name}"));
            built.push(fs::read(&filter).unwrap());
        }
        assert!(kind == "stable" || built[0] == built[1], "{kind}");
    }
    let two = ["--bits", "2048", "--probes", "5"];
    for (more, reason) in [
        (&["--bits", "2048"][..], "--probes"),
        (&["--probes", "5"], "--bits"),
        (&["--decrements", "5"], "--bits"),
        (&["--bits", "0", "--probes", "5"], "from 1"),
        (&["--bits", "2048", "--probes", "65"], "from 1 to 64"),
        (&[&two[..], &["--capacity", "9"]].concat(), "--capacity"),
        (&[&two[..], &["--fpr", "1%"]].concat(), "--fpr"),
        (&[&two[..], &["--decrements", "5"]].concat(), "no other filter forgets"),
        (&[&two[..], &["-k", "stable"]].concat(), "--decrements"),
        (&[&two[..], &["-k", "stable-light"]].concat(), "--decrements"),
        (&[&two[..], &["-k", "ringed"]].concat(), "for each line"),
        (&[&two[..], &["-k", "window"]].concat(), "--window"),
        (&["-k", "stable", "--window", "1h"], "--kind window"),
        (&[&two[..], &["-k", "quotient"]].concat(), "fingerprints"),
        (&[&two[..], &["-k", "cascade"]].concat(), "fingerprints"),
        (&[&two[..], &["-k", "parquet"]].concat(), "eight probes"),
        (&[&two[..], &["-k", "fuse"]].concat(), "follows from --fpr"),
        (&["-k", "fuse", "--capacity", "9"], "takes no --capacity"),
        (&["-k", "fuse", "--fpr", "1e-9"], "more than 3.0e-8"),
        (&["-k", "blocked", "--bits", "1000", "--probes", "5"], "a multiple of 512"),
        (&["-k", "counting", "--bits", "1001", "--probes", "5"], "a multiple of 4"),
        (&["-k", "cascade", "--delta", "5"], "go with --kind ringed"),
        (&["-k", "cascade", "--no-remove"], "--kind quotient"),
    ] {
        let out = dir.join("none");
        let message = failure(&[&["filter", "build", "-o", &out, "/no/such/file"], more].concat(), b"x\n");
        assert!(message.contains(reason) && !message.contains("/no/such"), "{more:?}: {message}");
        assert!(!fs::exists(&out).unwrap(), "{more:?}");
    }
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
        // These are the parameters of the paper: M(0.01, 1) = 11 bits, 7 probes.
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
