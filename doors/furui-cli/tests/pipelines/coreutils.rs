//! Compares furui's lines with those of awk, sort, uniq, grep and comm.

use std::collections::BTreeSet;

use super::{furui, other, random};
use crate::damage::random::Random;
use crate::pipelines::table::write;
use crate::support::TempDir;

/// A random file of lines: any bytes but NUL and newline, with repeats, and sometimes no newline at the end.
fn lines(random: &mut Random) -> Vec<u8> {
    let mut text = vec![];
    let most = *random.pick(&[0, 1, 30, 1000]);
    for _ in 0..random.below(most + 1) {
        match random.below(6) {
            0 => {}
            1 => text.extend_from_slice(
                random.pick(&["1", "1.0", "01", "1e0", "a", "A", "a ", " a", "a\r", "\t"]).as_bytes(),
            ),
            2 => text.extend((0..random.below(3)).map(|_| *random.pick(&[1, b'\r', 0x80, 0xE9, 0xFF, b'x']))),
            3 => text.extend(b"long".repeat(random.below(300))),
            _ => text.extend_from_slice(format!("https://example.org/{}", random.below(100)).as_bytes()),
        }
        text.push(b'\n');
    }
    if random.below(3) == 0 && text.last() == Some(&b'\n') && text.len() > 1 && text[text.len() - 2] != b'\n' {
        text.pop();
    }
    text
}

#[test]
#[ignore = "needs programs of Debian: cargo xtask test pipelines"]
fn distinct_lines_are_those_of_awk_and_sort() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..20 {
        let texts: Vec<Vec<u8>> = (0..1 + random.below(3)).map(|_| lines(&mut random)).collect();
        let files = write(&dir, case, &texts);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let ours = furui(&[&["seen"], &files[..]].concat(), b"");
        assert!(ours == other("awk", &[&["!s[$0]++"], &files[..]].concat(), b""), "{files:?}");
        let repeats = furui(&[&["seen", "--invert"], &files[..]].concat(), b"");
        assert!(repeats == other("awk", &[&["s[$0]++"], &files[..]].concat(), b""), "{files:?}");
        // Sorted, the lines are those of `sort -u`, and their counts are those of `uniq -c`.
        assert!(other("sort", &[], &ours) == other("sort", &[&["-u"], &files[..]].concat(), b""), "{files:?}");
        let store = dir.join(&format!("{case}-counts"));
        let ours = furui(&[&["dict", "count", "--store", &store], &files[..]].concat(), b"");
        let theirs = other("uniq", &["-c"], &other("sort", &files, b""));
        let theirs: Vec<u8> = theirs
            .split_inclusive(|&byte| byte == b'\n')
            .flat_map(|line| {
                // Spaces precede the count, and one space follows it.
                let line = &line[line.iter().position(|&byte| byte != b' ').unwrap()..];
                let space = line.iter().position(|&byte| byte == b' ').unwrap();
                [&line[..space], b"\t", &line[space + 1..]].concat()
            })
            .collect();
        assert!(ours == theirs, "{files:?}");
    }
}

#[test]
#[ignore = "needs programs of Debian: cargo xtask test pipelines"]
fn lines_in_a_set_are_those_that_grep_finds() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..20 {
        let files = write(&dir, case, &[lines(&mut random), lines(&mut random)]);
        let [set, asked] = [files[0].as_str(), files[1].as_str()];
        let store = dir.join(&format!("{case}-store"));
        furui(&["seen", "-q", "--store", &store, set], b"");
        let dict = dir.join(&format!("{case}-dict"));
        furui(&["dict", "number", "--store", &dict, set], b"");
        for options in ["-axFf", "-avxFf"] {
            // grep's status 1 says that no line matches.
            let theirs =
                other("sh", &["-c", "grep \"$1\" \"$2\" \"$3\" || test $? = 1", "sh", options, set, asked], b"");
            // An empty file is no set, because it may be what is left of a filter.
            let sets = [&*store, &dict, set];
            for set in &sets[..if std::fs::read(set).unwrap().is_empty() { 2 } else { 3 }] {
                let verb = if options == "-axFf" { &["has"][..] } else { &["has", "-v"] };
                let output = crate::support::run(&[verb, &[set, asked]].concat(), b"");
                assert!(output.stdout == theirs, "{options} {set} {asked}");
                assert_eq!(output.status.code(), Some(i32::from(theirs.is_empty())), "{options} {set} {asked}");
            }
        }
    }
}

#[test]
#[ignore = "needs programs of Debian: cargo xtask test pipelines"]
fn combined_stores_are_those_that_comm_and_sort_make_of_their_hashes() {
    let (mut random, dir) = (random(), TempDir::new());
    for case in 0..10 {
        let files = write(&dir, case, &[lines(&mut random), lines(&mut random)]);
        let path = |name: &str| dir.join(&format!("{case}-{name}"));
        let [a, b] = ["a", "b"].map(path);
        furui(&["seen", "-q", "--store", &a, &files[0]], b"");
        furui(&["seen", "-q", "--store", &b, "--like", &a, &files[1]], b"");
        // The hashes as decimal numbers, sorted as texts.
        let hashes = |store: &str, name: &str| {
            let numbers = other("od", &["-An", "-v", "-tu8", "-w8"], &furui(&["export", store, "--u64"], b""));
            let file = dir.file(&format!("{case}-{name}"), &other("sort", &[], &numbers));
            (file, numbers)
        };
        let ((a_file, a_hashes), (b_file, _)) = (hashes(&a, "a.txt"), hashes(&b, "b.txt"));
        let distinct: BTreeSet<_> = a_hashes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        let count = furui(&["seen", &files[0]], b"").iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(distinct.len(), count, "a hash for each line of {}", files[0]);
        for (verb, program) in [("union", "sort -u"), ("subtract", "comm -23"), ("intersect", "comm -12")] {
            let out = path(verb);
            furui(&[verb, &a, &b, "-o", &out], b"");
            let theirs = other("sh", &["-c", &format!("{program} \"$1\" \"$2\""), "sh", &a_file, &b_file], b"");
            let (ours, _) = hashes(&out, &format!("{verb}.txt"));
            assert!(std::fs::read(ours).unwrap() == theirs, "{verb} {files:?}");
        }
    }
}
