//! Tests `furui dict --values bytes` by running the binary.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support;
use crate::support::{TempDir, failure, furui, lines, run, stdout};

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn entries_are_put_found_listed_replaced_and_deleted() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let dict = |args: &[&str], input: &[u8]| {
        text_of(stdout(&[&["dict", args[0], "--store", &store], &args[1..]].concat(), input))
    };
    let titles = dir.file("titles", "a\tone\nab\t値\nb\twith\ttab\nempty\t\n\tno key\n".as_bytes());
    assert_eq!(dict(&["put", "--values", "bytes", &titles], b""), "");
    // The dictionary knows what its values are.
    assert_eq!(dict(&["put"], b"a\t2\n"), "");
    assert_eq!(dict(&["get"], b"b\na\nnone\nempty\n\n"), "b\twith\ttab\na\t2\nempty\t\n\tno key\n");
    assert_eq!(dict(&["get", "--values", "bytes"], b"a\n"), "a\t2\n");
    assert_eq!(dict(&["prefix", "a"], b""), "a\t2\nab\t値\n");
    assert_eq!(dict(&["range", "ab", "c"], b""), "ab\t値\nb\twith\ttab\n");
    assert_eq!(dict(&["delete"], b"ab\n"), "");
    stdout(&["verify", &store], b"");
    stdout(&["compact", &store], b"");
    let all = "\tno key\na\t2\nb\twith\ttab\nempty\t\n";
    assert_eq!(dict(&["range"], b""), all);
    let copy = dir.join("copy");
    stdout(&["snapshot", &store, &copy], b"");
    assert_eq!(text_of(stdout(&["dict", "range", "--store", &copy], b"")), all);

    let info = text_of(stdout(&["info", &store], b""));
    assert!(info.contains("a dictionary of bytes") && info.contains("\nvalues ") && info.contains("1 trie"), "{info}");
    let json = text_of(stdout(&["info", "--json", &store], b""));
    assert!(json.contains(r#""values":"bytes""#) && json.contains(r#""value_bytes":"#), "{json}");
    let part = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    let part = part.into_iter().find(|name| name.ends_with(".pairs")).unwrap();
    stdout(&["verify", &part], b"");
    assert!(text_of(stdout(&["info", &part], b"")).contains("section   VALS"));
    // The checksum of a region is compared when a value in it is read.
    let mut bad = fs::read(&part).unwrap();
    let at = bad.windows(8).position(|bytes| bytes == b"with\ttab").unwrap();
    bad[at] ^= 1;
    fs::write(&part, bad).unwrap();
    for args in [&["verify", &store][..], &["dict", "range", "--store", &store], &["dict", "get", "--store", &store]] {
        let message = failure(args, b"b\n");
        assert!(message.contains(&part) && message.contains("checksum"), "{message}");
    }
}

#[test]
fn all_bytes_go_in_and_out_with_escapes() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let mut escaped = vec![];
    for &byte in &all {
        match byte {
            0 => escaped.extend(b"\\0"),
            b'\t' => escaped.extend(b"\\t"),
            b'\n' => escaped.extend(b"\\n"),
            b'\r' => escaped.extend(b"\\r"),
            b'\\' => escaped.extend(b"\\\\"),
            _ => escaped.push(byte),
        }
    }
    let entry = [&escaped[..], b"\t", &escaped, b"\n"].concat();
    let dict =
        |args: &[&str], input: &[u8]| stdout(&[&["dict", args[0], "--store", &store], &args[1..]].concat(), input);
    dict(&["put", "--values", "bytes", "--escape"], &entry);
    let key = [&escaped[..], b"\n"].concat();
    assert!(dict(&["get", "--escape"], &key) == entry);
    assert!(dict(&["range", "--escape"], b"") == entry);
    // Without escapes the line could not be read again.
    let message = failure(&["dict", "range", "--store", &store], b"");
    assert!(message.contains("--escape"), "{message}");
    dict(&["delete", "--escape"], &key);
    assert_eq!(run(&["dict", "range", "--store", &store], b"").status.code(), Some(1));

    // If lines end in NUL, values can have newlines.
    dict(&["put", "-0"], b"page\t<p>\n\t<a>\n\0other\tx\0");
    assert_eq!(dict(&["get", "-0"], b"page\0"), b"page\t<p>\n\t<a>\n\0");
    assert_eq!(dict(&["range", "-0"], b""), b"other\tx\0page\t<p>\n\t<a>\n\0");
    let message = failure(&["dict", "get", "--store", &store], b"other\npage\n");
    assert!(message.contains("\"page\"") && message.contains("--escape"), "{message}");
    assert_eq!(dict(&["get", "--escape"], b"page\n"), b"page\t<p>\\n\\t<a>\\n\n");

    // Keys of a dictionary of numbers have escapes, too.
    let numbers = dir.join("numbers");
    stdout(&["dict", "build", "--escape", "--store", &numbers], b"a\\tb\\n\t7\n");
    assert_eq!(stdout(&["dict", "prefix", "--escape", "--store", &numbers, "a"], b""), b"a\\tb\\n\t7\n");
}

#[test]
fn a_bad_line_is_named_and_those_before_it_are_kept() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let long = "v".repeat((16 << 20) + 1);
    for (bad, reason) in [
        ("no value", "no tab between a key and its value"),
        ("key\\x\tvalue", "after a backslash, --escape takes"),
        ("key\tvalue\\", "after a backslash, --escape takes"),
        (&format!("key\t{long}"), "16777217 bytes: a dictionary takes up to 16777216"),
        (&format!("{}\tvalue", "k".repeat(65537)), "65537 bytes: a dictionary takes up to 65536"),
    ] {
        let _ = fs::remove_dir_all(&store);
        let input = dir.file("bad", format!("one\t1\ntwo\t2\n{bad}\nfour\t4\n").as_bytes());
        let message = failure(&["dict", "put", "--values", "bytes", "--escape", "--store", &store, &input], b"");
        assert!(message.contains(&format!("{input}: line 3")) && message.contains(reason), "{message}");
        assert_eq!(text_of(stdout(&["dict", "range", "--store", &store], b"")), "one\t1\ntwo\t2\n");
    }
}

#[test]
fn numbers_and_bytes_are_refused_for_each_other() {
    let dir = TempDir::new();
    let (numbers, bytes) = (dir.join("numbers"), dir.join("bytes"));
    stdout(&["dict", "build", "--store", &numbers], b"a\n");
    stdout(&["dict", "build", "--values", "bytes", "--store", &bytes], b"a\tb\n");
    for (store, asked, other) in
        [(&numbers, "bytes", "a dictionary of numbers"), (&bytes, "numbers", "a dictionary of bytes")]
    {
        for args in [&["build"][..], &["get"], &["delete"], &["range"], &["prefix", ""]] {
            let message = failure(&[&["dict"], args, &["--values", asked, "--store", store]].concat(), b"a\tc\n");
            assert!(message.contains(&format!("this is {other}")), "{message}");
        }
    }
    let message = failure(&["dict", "number", "--store", &bytes], b"x\n");
    assert!(message.contains("this is a dictionary of bytes"), "{message}");
    let message = failure(&["seen", "--store", &bytes], b"x\n");
    assert!(message.contains("this is a dictionary of bytes"), "{message}");
    assert_eq!(text_of(stdout(&["dict", "range", "--store", &bytes], b"")), "a\tb\n");
    assert_eq!(text_of(stdout(&["dict", "range", "--store", &numbers], b"")), "a\t0\n");
}

/// Kills the process without warning at different moments. The dictionary then opens whole, with everything that an
/// earlier command has recorded, and each entry has a value that was put for its key.
#[test]
fn after_kill_the_dictionary_is_whole() {
    ["compact", "louds"].into_iter().for_each(it_is_whole_after_kill);
}

fn it_is_whole_after_kill(layout: &str) {
    let dir = TempDir::new();
    let store = dir.join("store");
    let keys = lines(20_000, 9);
    let entries = |round: usize| -> Vec<u8> {
        let value = |key: &str| format!("{key}\t{round}:{}\n", key.repeat(1 + key.len() % 20));
        keys.iter().flat_map(|key| value(key).into_bytes()).collect()
    };
    stdout(&["dict", "put", "--values", "bytes", "--layout", layout, "--store", &store], &entries(0));
    for round in 1..5usize {
        let mut child = furui().args(["dict", "put", "--store", &store]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // The first rounds write only a part of the input before the kill. The last rounds write all of it and close
        // the pipe, so that the kill comes during a merge.
        let bytes = entries(round);
        let part = if round < 3 { bytes.len() * round / 3 } else { bytes.len() };
        input.write_all(&bytes[..part]).unwrap();
        if round >= 3 {
            drop(input);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        stdout(&["verify", &store], b"");
        let found = text_of(stdout(&["dict", "range", "--store", &store], b""));
        let mut count = 0;
        for line in found.lines() {
            let (key, value) = line.split_once('\t').unwrap();
            let (found, value) = value.split_once(':').unwrap();
            assert!(found.parse::<usize>().unwrap() <= round && value == key.repeat(1 + key.len() % 20), "{line}");
            count += 1;
        }
        assert_eq!(count, support::distinct(&keys).len());
    }
}
