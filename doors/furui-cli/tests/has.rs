//! `furui has` answers the same questions from every kind of set.

use std::collections::HashSet;
use std::fs;

use crate::support::{TempDir, failure, run, stdout};

fn numbered(from: u32, to: u32) -> Vec<u8> {
    (from..to).flat_map(|line| format!("line {line}\n").into_bytes()).collect()
}

/// The lines of `asked` that are, or are not, in `set`.
fn model(set: &[u8], asked: &[u8], there: bool) -> Vec<u8> {
    let known: HashSet<&[u8]> = set.split(|&byte| byte == b'\n').collect();
    let lines = asked.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| known.contains(&line[..line.len() - 1]) == there).flatten().copied().collect()
}

#[test]
fn every_exact_set_answers_as_the_naive_model() {
    let dir = TempDir::new();
    let (old, asked) = (numbered(0, 30_000), [numbered(20_000, 50_000), numbered(0, 5)].concat());
    let (text, questions) = (dir.file("old.txt", &old), dir.file("asked.txt", &asked));
    let (store, dict, bytes) = (dir.join("store"), dir.join("dict"), dir.join("bytes"));
    // The store has several runs.
    stdout(&["seen", "-q", "--store", &store], &numbered(0, 29_000));
    stdout(&["seen", "-q", "--store", &store], &numbered(28_000, 30_000));
    stdout(&["dict", "build", "--store", &dict, &text], b"");
    stdout(&["dict", "build", "--values", "bytes", "--escape", "--store", &bytes], &entries(&old));
    let there = model(&old, &asked, true);
    for set in [&text, &store, &dict, &bytes] {
        assert!(stdout(&["has", set, &questions], b"") == there, "{set}");
        assert!(stdout(&["has", "-v", set], &asked) == model(&old, &asked, false), "{set}");
        assert_eq!(stdout(&["has", "--count", set, &questions], b""), b"10005\n", "{set}");
        let status = |options: &[&str]| run(&[&["has"], options].concat(), b"line 1\n").status.code();
        assert_eq!((status(&["-q", set]), status(&["-qv", set])), (Some(0), Some(1)), "{set}");
    }
    for options in [&["--no-mmap"][..], &["--memory", "1MiB"]] {
        assert!(stdout(&[&["has", &store, &questions], options].concat(), b"") == there, "{options:?}");
        assert!(stdout(&[&["has", &text, &questions], options].concat(), b"") == there, "{options:?}");
    }
}

#[test]
fn a_text_larger_than_the_memory_goes_to_temporary_files() {
    let dir = TempDir::new();
    let old = dir.file("old", &numbered(0, 300_000));
    for options in [&[][..], &["--no-mmap"]] {
        let counted =
            stdout(&[&["has", "--count", "--memory", "1MiB", &old], options].concat(), &numbered(299_000, 400_000));
        assert_eq!(counted, b"1000\n", "{options:?}");
    }
}

/// The entries of a dictionary: each line, a tab, and a value.
fn entries(lines: &[u8]) -> Vec<u8> {
    lines.split_inclusive(|&byte| byte == b'\n').flat_map(|line| [&line[..line.len() - 1], b"\tv\n"].concat()).collect()
}

#[test]
fn a_set_is_only_read_while_another_process_writes_to_it() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["seen", "-q", "--store", &store], b"a\n");
    let lock = fs::File::open(dir.join("store/LOCK")).unwrap();
    lock.lock().unwrap();
    let names = || fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name()).collect::<HashSet<_>>();
    let before = names();
    assert_eq!(stdout(&["has", &store], b"b\na\n"), b"a\n");
    assert_eq!(stdout(&["has", &store], b"b\na\n"), b"a\n", "nothing was learned");
    assert_eq!(names(), before);
}

#[test]
fn a_text_is_compressed_or_comes_from_a_pipe() {
    let dir = TempDir::new();
    let asked = dir.file("asked", b"x\nb\na");
    assert_eq!(stdout(&["has", "-", &asked], b"a\nb"), b"b\na\n");
    assert_eq!(stdout(&["has", "-v", "-", &asked], b""), b"x\nb\na\n", "an empty set");
    assert!(failure(&["has", "-"], b"a\n").contains("standard input is the set"));
    assert!(failure(&["has", "-", &asked, "-"], b"a\n").contains("standard input is the set"));
    if cfg!(unix) {
        assert_eq!(stdout(&["has", "/dev/stdin", &asked], b"b\n"), b"b\n");
    }
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, b"a\nb\n").unwrap();
    let packed = dir.file("old.gz", &packed.finish().unwrap());
    assert_eq!(stdout(&["has", &packed, &asked], b""), b"b\na\n");
}

#[test]
fn keys_of_a_text_are_made_as_those_of_the_lines() {
    let dir = TempDir::new();
    let old = dir.file("old.csv", b"id,url\n1,\"a,b\"\n2,c\n3\n");
    let csv = ["--csv", "--key", "url", &old];
    let new = b"url,more\nc,1\nd,2\n\"a,b\",3\n\n";
    let output = run(&[&["has"], &csv[..]].concat(), new);
    assert_eq!(output.stdout, b"url,more\nc,1\n\"a,b\",3\n", "each file has a header of its own");
    let output = run(&[&["has", "-v", "--missing", "drop"], &csv[..]].concat(), new);
    assert_eq!(output.stdout, b"url,more\nd,2\n");
    // A line without a key is in no set, so it is printed as one that is not there.
    let output = run(&[&["has", "-v"], &csv[..]].concat(), new);
    assert_eq!(output.stdout, b"url,more\nd,2\n\n");
    let said = "furui: 1 line had no key: not taken into the set\nfurui: 1 line had no key: not in the set\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), said);
    let bad = dir.file("bad.csv", b"id,url\n1,\"open\n");
    assert!(failure(&["has", "--csv", "--key", "url", &bad], new).contains("bad.csv: line 2"));
    assert!(failure(&["has", "--csv", "--key", "none", &old], new).contains("no column none"));
    assert_eq!(stdout(&["has", "--ignore-case", "--trim", &dir.file("names", b"Ada\n")], b" ADA \nBob\n"), b" ADA \n");
    let dict = dir.join("dict");
    stdout(&["dict", "build", "--store", &dict], b"c\n");
    let refused = failure(&["has", "--csv", "--key", "url", &dict], new);
    assert!(refused.contains("whole lines") && refused.contains("--as-is"), "{refused}");
    let output = run(&["has", "--csv", "--key", "url", "--missing", "drop", "--as-is", &dict], new);
    assert_eq!(output.stdout, b"url,more\nc,1\n");
}

#[test]
fn a_list_of_keys_is_looked_up_in_a_column() {
    let dir = TempDir::new();
    let ids = dir.file("ids.txt", b"7\n8\n x\n");
    let log = dir.file("log.csv", b"id,url\n7,a\n9,b\n\"8\",c\n X,d\n");
    let has = |options: &[&str], set: &str, file: &str| {
        let output = run(&[&["has", "--set-lines"], options, &[set, file]].concat(), b"");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let csv = ["--csv", "--key", "id"];
    assert_eq!(has(&csv, &ids, &log), "id,url\n7,a\n\"8\",c\n");
    assert_eq!(has(&["-v", "--csv", "--key", "id"], &ids, &log), "id,url\n9,b\n X,d\n");
    assert_eq!(has(&["-v", "--csv", "--key", "1", "--trim", "--ignore-case"], &ids, &log), "id,url\n9,b\n");
    // CRLF ends the lines of a list as it ends records.
    assert_eq!(has(&csv, &dir.file("crlf.txt", b"7\r\n9\r\n"), &log), "id,url\n7,a\n9,b\n");
    assert_eq!(has(&["--tsv", "--key", "k"], &ids, &dir.file("log.tsv", b"v\tk\na\t7\nb\t6\n")), "v\tk\na\t7\n");
    assert_eq!(has(&["--field", "2"], &ids, &dir.file("fields", b"a\t7\nb\t6\n")), "a\t7\n");
    let urls = dir.file("urls.txt", b"http://Example.com:80/a\n");
    let fields = dir.file("urls", b"1\thttp://example.com/a#b\n2\thttp://example.com/\n");
    assert_eq!(has(&["--field", "2", "--url"], &urls, &fields), "1\thttp://example.com/a#b\n");
    // A line may be the text of a string, or a value of JSON.
    let json =
        dir.file("log.json", b"{\"k\":7}\n{\"k\":\"7\"}\n{\"k\":8.0}\n{\"k\":\"x y\"}\n{\"k\":null}\n{\"k\":\"z\"}\n");
    let list = dir.file("list", b"7\n8\nx y\nnull\n\"z\"\n");
    assert_eq!(has(&["--json", "--key", "/k"], &list, &json).lines().count(), 6);
    assert_eq!(
        run(&["has", "--set-lines", "--json", "--key", "/k", &dir.file("no", b"z y\n"), &json], b"").status.code(),
        Some(1)
    );
    // Without the option the list is read as the files are, which the error says.
    let message = failure(&[&["has"], &csv[..], &[&ids, &log]].concat(), b"");
    assert!(message.contains("there is no column id; the columns are 7; --set-lines takes each line"), "{message}");
    assert!(failure(&["has", "--set-lines", "--csv", &ids, &log], b"").contains("name the one"));
    assert!(failure(&["has", "--set-lines", "--csv", "--key", "id,url", &ids, &log], b"").contains("one part"));
    let store = dir.join("store");
    stdout(&["seen", "-q", "--store", &store], b"a\n");
    assert!(failure(&["has", "--set-lines", &store], b"a\n").contains("a file of lines"));
    // A list with NULs has two ways in.
    let nuls = dir.file("nuls", b"a\0b\nc\n");
    assert!(failure(&["has", &nuls], b"c\n").contains("--set-lines"));
    assert_eq!(stdout(&["has", "--set-lines", &nuls], b"a\0b\nb\nc\n"), b"a\0b\nc\n");
    assert_eq!(stdout(&["has", "-0", &nuls], b"a\0b\0"), b"a\0");
}

#[test]
fn what_is_left_of_a_filter_is_no_list_of_lines() {
    let dir = TempDir::new();
    let filter = dir.join("filter");
    stdout(&["filter", "build", "-c", "9", "-o", &filter], b"a\n");
    let whole = fs::read(&filter).unwrap();
    for length in (0..10).chain([100, whole.len() - 1]) {
        let cut = dir.file("cut", &whole[..length]);
        for options in [&["has", "-v", &cut][..], &["has", "--csv", "--key", "a", &cut]] {
            let message = failure(options, b"a\n");
            assert!(message.contains("cut: "), "{length}: {message}");
        }
    }
    let empty = dir.file("empty", b"");
    let asked = dir.file("asked", b"a\n");
    assert!(failure(&["has", "-v", &empty], b"a\n").contains("has 0 bytes, and may be a filter that was cut off"));
    assert_eq!(stdout(&["has", "-v", "--set-lines", &empty], b"a\n"), b"a\n");
    assert_eq!(stdout(&["has", "-v", "--set-lines", &dir.file("f", b"FUR")], b"a\nFUR\n"), b"a\n");
    assert_eq!(stdout(&["has", "-v", &dir.file("fur", b"FUR\n")], b"a\nFUR\n"), b"a\n", "a line that ends");
    assert_eq!(stdout(&["has", "-v", "-", &asked], b""), b"a\n");
    if cfg!(unix) {
        assert_eq!(stdout(&["has", "-v", "/dev/null", &asked], b""), b"a\n");
    }
    // An empty dictionary, like an empty store, is a set.
    for make in [
        &["seen", "--store"][..],
        &["dict", "number", "--store"],
        &["dict", "build", "--store"],
        &["dict", "count", "--store"],
    ] {
        let set = dir.join(&make.concat());
        stdout(&[make, &[&set]].concat(), b"");
        assert_eq!(stdout(&["has", "-v", &set], b"a\n"), b"a\n", "{make:?}");
    }
}

#[test]
fn a_store_remembers_how_its_keys_were_made() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["seen", "-q", "--field", "2", "--store", &store], b"x\ta\n");
    assert_eq!(stdout(&["has", "--field", "2", &store], b"y\ta\ny\tb\n"), b"y\ta\n");
    assert!(failure(&["has", &store], b"a\n").contains("--as-is"));
    assert_eq!(stdout(&["has", "--as-is", &store], b"a\nb\n"), b"a\n");
}

#[test]
fn what_is_no_set_is_an_error() {
    let dir = TempDir::new();
    let (store, filter, folder) = (dir.join("store"), dir.join("filter"), dir.join("folder"));
    stdout(&["seen", "-q", "--store", &store], b"a\n");
    stdout(&["filter", "build", "-c", "9", "-o", &filter], b"a\n");
    fs::create_dir(&folder).unwrap();
    assert!(failure(&["has", &dir.join("none")], b"a\n").contains("none"));
    assert!(failure(&["has", &folder], b"a\n").contains("not a store"));
    dir.file("folder/something", b"");
    assert!(failure(&["has", &folder], b"a\n").contains("not a store"));
    let run_file = dir.join("store/0000000000000000.run");
    assert!(failure(&["has", &run_file], b"a\n").contains("not a filter"), "a part of a store");
    assert!(failure(&["has", &dir.file("zeros", &[0; 100])], b"a\n").contains("NUL bytes"));
    assert!(failure(&["has", "-", &dir.file("lines", b"a\n")], &fs::read(&filter).unwrap()).contains("regular file"));
    assert!(failure(&["has", "--seed-file", &filter, &store], b"a\n").contains("--seed-file is for"));
    // A damaged byte of a run is found before any answer.
    let mut bytes = fs::read(&run_file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&run_file, bytes).unwrap();
    let output = run(&["has", &store], b"a\n");
    assert!(output.status.code() == Some(2) || output.stdout == b"a\n", "right, or an error");
    fs::write(&run_file, b"short").unwrap();
    assert!(failure(&["has", &store], b"a\n").contains("0000000000000000.run"));
}
