//! Cascade filters through the binary: `furui filter build --kind cascade` and what works on its directory.

use std::fs;

use crate::support::{TempDir, failure, run, stdout};

/// Different lines, as bytes.
fn numbered(head: &str, range: std::ops::Range<u32>) -> Vec<u8> {
    range.flat_map(|i| format!("{head}{i}\n").into_bytes()).collect()
}

/// Builds a cascade filter in a directory from standard input. The command must succeed and print nothing.
fn build(more: &[&str], output: &str, input: &[u8]) {
    assert_eq!(stdout(&[&["filter", "build", "--kind", "cascade", "-o", output], more].concat(), input), b"");
}

fn count(filter: &str, input: &[u8]) -> u64 {
    let output = run(&["has", "--count", filter], input);
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// A field of `furui info --json`, as a number.
fn info(filter: &str, field: &str) -> f64 {
    let json = String::from_utf8(stdout(&["info", "--json", filter], b"")).unwrap();
    let value = json.split(&format!("\"{field}\":")).nth(1).unwrap_or_else(|| panic!("{field} in {json}"));
    value.split([',', '}']).next().unwrap().parse().unwrap()
}

#[test]
fn a_filter_larger_than_its_memory_has_its_lines_and_few_others_through_all_its_life() {
    let dir = TempDir::new();
    let filter = dir.join("filter");
    let (first, second, absent) =
        (numbered("a", 0..400_000), numbered("b", 0..100_000), numbered("absent", 0..200_000));
    // A mebibyte of memory holds a quarter of these lines, in slots of 8 bytes.
    build(&["--memory", "1MiB", "--capacity", "500k", "--rate", "0.1%"], &filter, &first);
    assert_eq!(stdout(&["has", &filter], &first), first);
    assert_eq!(stdout(&["filter", "insert", "--memory", "1MiB", &filter], &second), b"");
    // Lines that are inserted once more change nothing.
    assert_eq!(stdout(&["filter", "insert", "--memory", "1MiB", &filter], &numbered("a", 5..500)), b"");
    assert_eq!(stdout(&["verify", &filter], b""), b"");
    assert_eq!(stdout(&["compact", &filter], b""), b"");
    assert_eq!(stdout(&["verify", &filter], b""), b"");

    assert_eq!(info(&filter, "runs"), 1.0);
    let (rate, intended) = (info(&filter, "false_positive_rate"), info(&filter, "intended_rate"));
    assert!((rate / 0.001 - 1.0).abs() < 0.01 && (intended / 0.001 - 1.0).abs() < 1e-6, "{rate}, {intended}");
    assert!((info(&filter, "keys") - 500_000.0).abs() < 100.0);
    let bits = info(&filter, "bytes") * 8.0 / 500_000.0;
    assert!(bits < 12.1, "{bits} bits a line");

    assert_eq!((count(&filter, &first), count(&filter, &second)), (400_000, 100_000));
    let wrong = count(&filter, &absent) as f64;
    assert!((wrong - 200.0).abs() < 3.0 * 200f64.sqrt(), "{wrong} of 200,000 at a rate of 0.1 %");
    assert_eq!(stdout(&["has", "-q", &filter], b"nothing\na7\n"), b"");
    assert_eq!(run(&["has", "-v", &filter], &second).status.code(), Some(1));

    let text = String::from_utf8(stdout(&["info", &filter], b"")).unwrap();
    for said in ["a cascade filter", "500,000 lines", "0.001 (made for 0.001)", "1 run", "remainders of 9 bits"] {
        assert!(text.contains(said), "{said} in {text}");
    }
}

#[test]
fn growth_beyond_the_capacity_is_told_with_the_rate_of_now() {
    let dir = TempDir::new();
    let filter = dir.join("filter");
    build(&["--capacity", "1000"], &filter, &numbered("a", 0..1000));
    let grown = run(&["filter", "insert", &filter], &numbered("a", 1000..3000));
    let told = String::from_utf8(grown.stderr).unwrap();
    assert_eq!(grown.status.code(), Some(0));
    assert!(told.contains("made for 1,000 lines") && told.contains("the false-positive rate is now 0.0"), "{told}");
    assert!(told.contains("not 0.01") && told.contains("--capacity"), "{told}");
    assert!(info(&filter, "false_positive_rate") > 0.025);
    assert_eq!(count(&filter, &numbered("a", 0..3000)), 3000);
    let built = run(&["filter", "build", "-k", "cascade", "-c", "9", "-o", &dir.join("small")], &numbered("a", 0..90));
    assert!(String::from_utf8(built.stderr).unwrap().contains("made for 9 lines"));
}

#[test]
fn files_are_counted_and_lines_are_keyed_as_elsewhere() {
    let dir = TempDir::new();
    let filter = dir.join("filter");
    let file = dir.file("lines", b"1,x\n2,y\n2,y\n");
    build(&["-f", "2", "-d", ",", "--rate", "1e-9", "--hash", "siphash", "--hash-seed", "7", &file], &filter, b"");
    assert_eq!(stdout(&["has", "--as-is", &filter], b"x\nz\ny\n"), b"x\ny\n");
    let text = String::from_utf8(stdout(&["info", &filter], b"")).unwrap();
    assert!(text.contains("siphash with seed"), "{text}");
    // Without --hash-seed, each filter has a random seed of its own.
    let seed = |name: &str| {
        build(&["-c", "9"], &dir.join(name), b"x\n");
        let json = String::from_utf8(stdout(&["info", "--json", &dir.join(name)], b"")).unwrap();
        json.split("\"seed\":").nth(1).unwrap()[..20].to_owned()
    };
    assert_ne!(seed("one"), seed("two"));
}

#[test]
fn what_cannot_be_is_an_error_that_says_what_could() {
    let dir = TempDir::new();
    let (filter, set, bloom) = (dir.join("filter"), dir.join("set"), dir.join("bloom"));
    build(&["-c", "1000"], &filter, b"a\n");
    stdout(&["seen", "-q", "--store", &set], b"a\n");
    stdout(&["filter", "build", "-o", &bloom, "-c", "10"], b"a\n");
    let full = dir.join("full");
    fs::create_dir(&full).unwrap();
    fs::write(dir.join("full/letter"), "dear").unwrap();

    let new = dir.join("new");
    let cascade = |output: &str, more: &[&str]| {
        failure(&[&["filter", "build", "-k", "cascade", "-o", output], more].concat(), b"b\n")
    };
    for (output, more, said) in [
        (&filter, &["-c", "10"][..], "holds a store"),
        (&set, &["-c", "10"], "holds a store"),
        (&full, &["-c", "10"], "other files"),
        (&bloom, &["-c", "10"], "this is a file, not the directory"),
        (&new, &[], "--capacity"),
        (&new, &["-c", "0"], "at least one line"),
        (&new, &["-c", "10", "--rate", "0"], "not a rate"),
        (&new, &["-c", "10", "--rate", "1.5"], "not a rate"),
        (&new, &["-c", "1T", "--rate", "1e-9"], "larger rate"),
        (&new, &["-c", "10", "--memory", "1KiB"], "takes at least this much"),
        (&"-".to_owned(), &["-c", "10"], "is a directory"),
    ] {
        let message = cascade(output, more);
        assert!(message.contains(said), "{output} {more:?}: {message}");
        assert!(!fs::exists(&new).unwrap(), "{more:?}");
    }

    for (args, said) in [
        (&["filter", "build", "-o", &new, "--memory", "1MiB"][..], "--kind cascade"),
        (&["filter", "insert", "--memory", "1MiB", &bloom], "is not one"),
        (&["filter", "insert", "--wait", &bloom], "is not one"),
        (&["filter", "insert", &set], "a store or a dictionary, not a filter"),
        (&["has", &full], "not a store"),
        (&["has", "--seed-file", "seed", &filter], "--seed-file"),
        (&["filter", "remove", &filter], "but not this command"),
        (&["union", &filter, &bloom, "-o", &new], "is a file: name only stores"),
        (&["union", &filter, &filter, "-o", &new], "not the set of a `furui seen --store`"),
        (&["filter", "compare", &filter, &bloom], "but not this command"),
        (&["seen", "--store", &filter], "not the set of a `furui seen --store`"),
        (&["seen", "-n", "--store", &filter], "not the set of a `furui seen --store`"),
        (&["dict", "get", "--store", &filter], "not a dictionary of numbers"),
    ] {
        let message = failure(args, b"b\n");
        assert!(message.contains(said), "{args:?}: {message}");
    }
    assert_eq!(stdout(&["has", &filter], b"a\n"), b"a\n");
}

#[test]
fn a_truncated_run_is_an_error_of_every_command_and_a_copy_is_whole() {
    let dir = TempDir::new();
    let (filter, copy) = (dir.join("filter"), dir.join("copy"));
    build(&["-c", "10000"], &filter, &numbered("a", 0..9000));
    stdout(&["snapshot", &filter, &copy], b"");
    let path = dir.join("filter/0000000000000000.run");
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    for args in [
        &["has", &filter][..],
        &["filter", "insert", &filter],
        &["info", &filter],
        &["verify", &filter],
        &["compact", &filter],
    ] {
        let message = failure(args, b"a1\n");
        assert!(message.contains("0000000000000000.run"), "{args:?}: {message}");
    }
    assert_eq!(count(&copy, &numbered("a", 0..9000)), 9000);
    assert_eq!(stdout(&["verify", &copy], b""), b"");
    // A single run file is described and verified too.
    let run = dir.join("copy/0000000000000000.run");
    assert_eq!(stdout(&["verify", &run], b""), b"");
    assert!(String::from_utf8(stdout(&["info", &run], b"")).unwrap().contains("PAGE"));
}
