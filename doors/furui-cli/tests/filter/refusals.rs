//! What the commands of `furui filter` refuse.

use std::fs;

use super::{KINDS, build};
use crate::support::{TempDir, failure, furui, lines, stdout, text};

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
