//! Tests the outputs of `furui seen` other than the new lines: `--repeats`, `--count`, and figures on a signal.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support;
use crate::support::{TempDir, distinct, failure, lines, run, stdout, text};
use furui::format::Printable;

#[test]
fn repeats_are_appended_to_a_file_in_their_order() {
    let dir = TempDir::new();
    let (repeats, store) = (dir.join("repeats"), dir.join("store"));
    let lines = lines(100_000, 5);
    assert!(stdout(&["seen", "--repeats", &repeats], &text(&lines)) == text(&distinct(&lines)));
    let inverted = stdout(&["seen", "--invert"], &text(&lines));
    assert!(fs::read(&repeats).unwrap() == inverted, "they are those that --invert prints");
    let run = ["seen", "--store", &store, "--repeats", &repeats];
    fs::write(&repeats, b"cut of").unwrap();
    assert_eq!(stdout(&run, b"a\nb\na\nb\na"), b"a\nb\n");
    assert_eq!(fs::read(&repeats).unwrap(), b"cut of\na\nb\na\n", "a line that a kill cut off is ended");
    assert_eq!(stdout(&run, b"b\nc\n"), b"c\n");
    assert_eq!(fs::read(&repeats).unwrap(), b"cut of\na\nb\na\nb\n", "the next run appends");
    assert_eq!(stdout(&["seen", "--mark", "--repeats", &repeats, "-0"], b"a\0a\0"), b"1\x000\0");
    assert!(fs::read(&repeats).unwrap().ends_with(b"b\n\0a\0"));
}

#[test]
fn the_file_of_repeats_is_a_table_with_one_header_and_has_no_lines_without_a_key() {
    let dir = TempDir::new();
    let repeats = dir.join("repeats");
    let (a, b) = (dir.file("a", b"k,v\nx,1\nx,2\n"), dir.file("b", b"k,v\nx,3\ny,4\n"));
    let args = ["seen", "--csv", "--key", "k", "--repeats", &repeats, &a, &b];
    assert_eq!(stdout(&args, b""), b"k,v\nx,1\ny,4\n");
    assert_eq!(stdout(&args, b""), b"k,v\nx,1\ny,4\n");
    assert_eq!(fs::read(&repeats).unwrap(), b"k,v\nx,2\nx,3\nx,2\nx,3\n");
    let other = dir.join("other");
    let args = ["seen", "-f2", "-d,", "--missing", "drop", "--repeats", &other];
    assert_eq!(run(&args, b"a,1\nb\nc,1\n").stdout, b"a,1\n");
    assert_eq!(fs::read(&other).unwrap(), b"c,1\n");
}

/// Runs `furui`, and appends its standard output to a file.
fn append(path: &str, args: &[&str], input: &[u8]) {
    let mut command = support::furui();
    let mut child = command.args(args).stdin(Stdio::piped());
    child = child.stdout(fs::File::options().append(true).create(true).open(path).unwrap());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
}

#[test]
fn a_file_to_which_runs_append_has_one_header() {
    let dir = TempDir::new();
    let (store, filter) = (dir.join("store"), dir.join("filter"));
    let csv = ["--csv", "--key", "k"];
    stdout(&[&["filter", "build", "-c", "99", "-o", &filter], &csv[..]].concat(), b"k,v\nx,1\n");
    let ids = dir.file("ids", b"k\ny\nz\n");
    for (doors, first, second) in [
        (&["seen", "--store", &store][..], "k,v\ny,1\n", "z,2\n"),
        (&["seen", "--filter", &filter], "k,v\ny,1\n", "z,2\n"),
        (&["seen"], "k,v\ny,1\n", "z,2\n"),
        (&["has", &ids], "k,v\ny,1\n", "z,2\n"),
        (&["seen", "--mark=line"], "1\tk,v\n1\ty,1\n", "0\tk,v\n1\tz,2\n"),
    ] {
        let all = dir.file("all.csv", b"");
        append(&all, &[doors, &csv].concat(), b"k,v\ny,1\n");
        append(&all, &[doors, &csv].concat(), b"k,v\nz,2\n");
        assert_eq!(fs::read_to_string(&all).unwrap(), format!("{first}{second}"), "{doors:?}");
        // A pipe has the header always.
        assert!(run(&[doors, &csv].concat(), b"k,v\n").stdout.ends_with(b"k,v\n"), "{doors:?}");
    }
}

/// True if a terminal would only show the text, in lines.
fn is_shown(text: &[u8]) -> bool {
    std::str::from_utf8(text).unwrap().chars().all(|c| c == '\n' || Printable(c).is_shown())
}

#[test]
fn words_of_strangers_are_quoted_in_messages() {
    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\r\tb\u{7f}";
    let dir = TempDir::new();
    let below = dir.join(HOSTILE);
    fs::create_dir(&below).unwrap();
    let path = |name: &str| format!("{below}/{name}");
    let file = |name: &str, bytes: &[u8]| dir.file(&format!("{HOSTILE}/{name}"), bytes);
    let (lines, store, dict, filter) = (file("lines", b"a\nb\na\n"), path("store"), path("dict"), path("filter"));
    stdout(&["seen", "-q", "--store", &store, &lines], b"");
    stdout(&["dict", "number", "--store", &dict, &lines], b"");
    stdout(&["filter", "build", "-c", "1", "-o", &filter, &dir.file("one", b"a\n")], b"");
    let table = file("table.csv", format!("id,\"{HOSTILE}\"\n1,2\n").as_bytes());
    let form = path("form");
    stdout(&["seen", "-q", "--store", &form, "--csv", "--key", &format!("\"{HOSTILE}\""), &table], b"");
    let json = file("json", format!("{{\"{HOSTILE}\":1}}\n").as_bytes());
    let missing = path("missing");
    let commands: [&[&str]; 38] = [
        &["seen", &missing],
        &["seen", &below],
        &["seen", "--csv", "--key", "no", &table],
        &["seen", "--csv", "--key", HOSTILE, &lines],
        &["seen", "--tsv", "--key", "no", &table],
        &["seen", "--csv", "--key", "id", &file("id.csv", b"id\n1\n"), &table],
        &["seen", "--csv", "--key", "id", "--missing", "error", &file("short.csv", b"x,id\n1\n")],
        &["seen", "--json", "--key", "/x", &json],
        &["seen", "--json", "--key", HOSTILE, &json],
        &["seen", "--stats", "--count", &lines],
        &["seen", "--stats=json", "--count", &lines],
        &["seen", "--store", &lines, &lines],
        &["seen", "--store", &form, &lines],
        &["seen", "--store", &store, "--like", &form, &lines],
        &["seen", "--store", &store, "--remove", &missing],
        &["seen", "--repeats", &lines, &lines],
        &["seen", "--filter", &missing, &lines],
        &["seen", "--max-line", "1", &file("long", b"abc\n")],
        &["seen", HOSTILE],
        &["has", &missing, &lines],
        &["has", &path("lines"), &missing],
        &["has", &file("empty", b""), &lines],
        &["info", &missing, &store, &dict, &filter, &form],
        &["info", "--json", &missing, &store, &dict, &filter, &form],
        &["verify", &lines, &missing],
        &["compact", &lines],
        &["snapshot", &store, &dict],
        &["export", &store, "--u64", &path("no/file")],
        &["union", &store, &lines, "-o", &missing],
        &["filter", "compare", &filter, &filter],
        &["filter", "insert", &filter, &lines],
        &["filter", "build", "-o", &path("no/file"), "-c", "1", &lines],
        &["dict", "get", "--store", &missing, &lines],
        &["dict", "delete", "--store", &dict, &json],
        &["dict", "build", "--store", &dict, &json],
        &["seen", "--memory", HOSTILE],
        &[&format!("--{HOSTILE}")],
        &[HOSTILE],
    ];
    for command in commands {
        let output = run(command, b"");
        assert!(is_shown(&output.stderr), "{command:?}: {:?}", String::from_utf8_lossy(&output.stderr));
        if command[0] != "seen" {
            assert!(is_shown(&output.stdout), "{command:?}: {:?}", String::from_utf8_lossy(&output.stdout));
        }
    }
    let message = failure(&["seen", &missing], b"");
    assert!(message.contains(r"/a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\u{200f}\r\tb\u{7f}/missing: "), "{message}");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf_8_is_whole_in_json() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = TempDir::new();
    let path = dir.path().join(OsStr::from_bytes(b"a\xFFb"));
    fs::write(&path, b"x\n").unwrap();
    let store = dir.path().join(OsStr::from_bytes(b"s\xFE"));
    let mut seen = support::furui();
    let output =
        seen.args(["seen", "-q", "--count", "--stats=json", "--store"]).args([&store, &path]).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    let info = support::furui().args(["info", "--json"]).arg(&store).output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    for (json, name, path) in [(&said["files"][0], "file", &path), (&info, "path", &store)] {
        let bytes: Vec<u8> = serde_json::from_value(json[format!("{name}_bytes")].clone()).unwrap();
        assert_eq!(bytes, path.as_os_str().as_bytes());
        assert_eq!(json[name], path.to_string_lossy().as_ref());
    }
    let plain = dir.join("plain");
    stdout(&["seen", "-q", "--store", &plain], b"a\n");
    assert!(!String::from_utf8(stdout(&["info", "--json", &plain], b"")).unwrap().contains("path_bytes"));
}

#[test]
fn a_file_that_cannot_take_the_repeats_is_an_error_and_what_was_printed_is_recorded() {
    let dir = TempDir::new();
    let (store, file) = (dir.join("store"), dir.file("lines", b"a\na\n"));
    let seen = |repeats: &str| failure(&["seen", "--repeats", repeats, "--store", &store, &file], b"");
    assert!(seen(&dir.join("no/file")).contains("no/file"));
    assert!(seen(&file).contains("input"));
    assert!(seen("-").contains("--invert"));
    assert!(failure(&["seen", "--repeats", "x", "--invert"], b"").contains("--invert"));
    assert_eq!(fs::read(&file).unwrap(), b"a\na\n");
    if cfg!(target_os = "linux") {
        let full = run(&["seen", "--repeats", "/dev/full", "--store", &store, &file], b"");
        let message = String::from_utf8(full.stderr).unwrap();
        assert_eq!((full.status.code(), full.stdout.as_slice()), (Some(2), &b"a\n"[..]), "{message}");
        assert!(message.contains("/dev/full"), "{message}");
        assert_eq!(stdout(&["seen", "--store", &store, &file], b""), b"", "it was printed");
    }
}

#[test]
fn the_lines_of_each_file_are_counted() {
    let dir = TempDir::new();
    let (a, b) = (dir.file("a", b"x,1\ny,2\nx,3\nz\n"), dir.file("b", b"x,1\n"));
    let empty = dir.file("empty", b"");
    let count = |args: &[&str]| {
        let output = run(&[&["seen", "--count", "-f1,2", "-d,"], args].concat(), b"w,1\nw,1\n");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = "furui: 1 line had no key: not recorded\n";
    let expected = format!(
        "{missing}{a}: 4 lines, 3 new, 0 repeats, 1 without a key\n{empty}: 0 lines, 0 new, 0 repeats, 0 without a key\n\
         standard input: 2 lines, 1 new, 1 repeat, 0 without a key\n{b}: 1 line, 0 new, 1 repeat, 0 without a key\n"
    );
    assert_eq!(count(&[&a, &empty, "-", &b]), expected);
    let twice = count(&[&b, &b]);
    assert_eq!(
        twice,
        format!("{b}: 1 line, 1 new, 0 repeats, 0 without a key\n{b}: 1 line, 0 new, 1 repeat, 0 without a key\n")
    );
    let summary = count(&["--stats", &b]);
    assert!(summary.starts_with("1 line (4 B), 1 new, 0 repeats\n") && summary.ends_with("0 without a key\n"));
    let json = count(&["--stats=json", &a, &b]);
    let files = format!(
        "\"files\":[{{\"file\":\"{a}\",\"lines\":4,\"new\":3,\"repeats\":0,\"missing\":1}},\
         {{\"file\":\"{b}\",\"lines\":1,\"new\":0,\"repeats\":1,\"missing\":0}}]}}\n"
    );
    assert!(json.ends_with(&files), "{json}");
    // A header does not count as a line.
    let csv = dir.file("csv", b"k\nx\nx\n");
    let output = run(&["seen", "--count", "--csv", "-q", "--key", "k", &csv, &csv], b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(" 2 lines, 1 new, 1 repeat, 0") && said.contains(" 2 lines, 0 new, 2 repeats, 0"), "{said}");
}

#[test]
fn the_letters_of_grep_sort_and_uniq_mean_what_they_mean_there() {
    let dir = TempDir::new();
    let known = dir.file("known", b"a\nb\n");
    for (args, input, expected) in [
        (&["seen", "-v"][..], &b"a\nb\na\n"[..], &b"a\n"[..]),
        (&["has", "-v", &known], b"a\nc\n", b"c\n"),
        (&["seen", "-i"], b"A\na\nb\n", b"A\nb\n"),
        (&["has", "-i", &known], b"A\nc\n", b"A\n"),
        (&["has", "-c", &known], b"a\nb\nc\n", b"2\n"),
        (&["seen", "-z"], b"a\0a\0b\0", b"a\0b\0"),
        (&["seen", "-0"], b"a\0a\0b\0", b"a\0b\0"),
        (&["has", "-z", &dir.file("nul", b"a\0")], b"a\0c\0", b"a\0"),
    ] {
        assert_eq!(stdout(args, input), expected, "{args:?}");
    }
    let counted = run(&["seen", "-c", "-q"], b"a\na\n");
    assert_eq!(
        String::from_utf8(counted.stderr).unwrap(),
        "standard input: 2 lines, 1 new, 1 repeat, 0 without a key\n"
    );
    let filter = dir.join("filter");
    assert_eq!(stdout(&["filter", "build", "-i", "-o", &filter], b"A\n"), b"");
    assert_eq!(stdout(&["has", "-i", &filter], b"a\nb\n"), b"a\n");
    let dict = dir.join("dict");
    for null in ["-z", "-0"] {
        assert_eq!(stdout(&["dict", "number", null, "--store", &dict], b"a\0b\0"), b"0\x001\0");
        assert_eq!(stdout(&["dict", "get", "-v", null, "--store", &dict], b"a\0c\0"), b"c\0");
        assert_eq!(stdout(&["dict", "prefix", null, "--store", &dict, "a"], b""), b"a\t0\0");
        assert_eq!(stdout(&["dict", "key", null, "--store", &dict, "1"], b""), b"1\tb\0");
    }
}

#[test]
fn the_output_may_be_a_file_which_is_written_anew() {
    let dir = TempDir::new();
    let (set, lines, dict) = (dir.file("set", b"a\nb\n"), dir.file("lines", b"b\nc\nb\n"), dir.join("dict"));
    let (filter, store, hits) = (dir.join("filter"), dir.join("store"), dir.join("hits"));
    assert_eq!(stdout(&["dict", "build", "--store", &dict, &set], b""), b"");
    assert_eq!(stdout(&["filter", "build", "-k", "quotient", "-o", &filter, &set], b""), b"");
    let out = dir.join("out");
    for args in [
        &["seen", &lines][..],
        &["seen", "--store", &store, "--csv", &lines],
        &["seen", "--mark", "--threads", "2", &lines],
        &["seen", "--filter", &filter, "-n", &lines],
        &["has", &set, &lines],
        &["has", "-c", &set, &lines],
        &["filter", "list", &filter],
        &["dict", "get", "--store", &dict, &lines],
        &["dict", "key", "--store", &dict, "1"],
        &["dict", "prefix", "--store", &dict, ""],
        &["dict", "range", "--store", &dict, "a"],
        &["dict", "number", "--store", &dict, &lines],
        &["dict", "count", "--store", &hits, &lines],
    ] {
        // A second run with a store or counts would print something else.
        let again = |args: &[&str]| stdout(args, b"");
        fs::write(&out, [b'x'; 5000]).unwrap();
        assert_eq!(again(&[args, &["-o", &out]].concat()), b"", "{args:?}");
        for changed in [&store, &hits] {
            let _ = fs::remove_dir_all(changed);
        }
        let (written, printed) = (fs::read(&out).unwrap(), again(&[args, &["-o", "-"]].concat()));
        assert!(written == printed && !printed.is_empty(), "{args:?}");
    }
    assert!(failure(&["seen", "-q", "-o", &out, &lines], b"").contains("--quiet"));
    assert!(failure(&["seen", "-o", &dir.join("no/out"), &lines], b"").contains("no/out"));
    if cfg!(target_os = "linux") {
        let store = dir.join("new");
        assert!(failure(&["seen", "--store", &store, "-o", "/dev/full", &lines], b"").contains("/dev/full"));
        assert_eq!(stdout(&["seen", "--store", &store, &lines], b""), b"b\nc\n", "nothing was delivered");
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_is_also_read_is_refused_and_stays_as_it_is() {
    use std::fs::File;

    use support::furui;

    let dir = TempDir::new();
    let (lines, other) = (dir.file("lines", b"b\na\nb\n"), dir.file("other", b"b\n"));
    let (link, filter) = (dir.join("link"), dir.join("filter"));
    fs::hard_link(&lines, &link).unwrap();
    assert_eq!(stdout(&["filter", "build", "-o", &filter, &other], b""), b"");
    let whole = fs::read(&filter).unwrap();
    for args in [
        &["seen", "-o", &lines, &lines][..],
        &["seen", "-o", &lines, &other, &link],
        &["seen", "--repeats", &link, &lines],
        &["seen", "--repeats", &lines, "-o", &link, &other],
        &["seen", "--filter", &filter, "-o", &filter, &other],
        &["has", "-o", &lines, &lines, &other],
        &["has", "-c", "-o", &lines, &other, &lines],
        &["has", "-o", &filter, &filter, &other],
        &["dict", "number", "--store", &dir.join("dict"), "-o", &lines, &lines],
        &["dict", "count", "--store", &dir.join("hits"), "-o", &lines, &lines],
    ] {
        assert!(failure(args, b"").contains("an input cannot be"), "{args:?}");
        assert!(fs::read(&lines).unwrap() == b"b\na\nb\n" && fs::read(&filter).unwrap() == whole, "{args:?}");
    }
    // Files that the shell opened: `seen lines >> lines`, and `seen < lines -o lines`.
    let appended = File::options().append(true).open(&lines).unwrap();
    let done = furui().args(["seen", &link]).stdout(appended).output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", String::from_utf8_lossy(&done.stderr));
    let done = furui().args(["seen", "-o", &lines]).stdin(File::open(&lines).unwrap()).output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read(&lines).unwrap(), b"b\na\nb\n");
}

#[cfg(unix)]
#[test]
fn a_signal_asks_for_figures_while_the_input_waits() {
    use std::io::{BufRead, BufReader};

    use rustix::process::{Pid, Signal, kill_process};
    use support::furui;

    let dir = TempDir::new();
    for args in [&["seen"][..], &["seen", "--store", &dir.join("store")]] {
        let mut command = furui();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let mut ask = || {
            kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::USR1).unwrap();
            line.clear();
            said.read_line(&mut line).unwrap();
            line.clone()
        };
        input.write_all(b"a\nb\na\nc\n").unwrap();
        for expected in ["a\n", "b\n", "c\n"] {
            let mut printed = String::new();
            output.read_line(&mut printed).unwrap();
            assert_eq!(printed, expected);
        }
        // The lines are printed a moment before the figures count them.
        let figures = loop {
            let figures = ask();
            if !figures.starts_with("furui: 0 lines") {
                break figures;
            }
        };
        assert!(figures.starts_with("furui: 4 lines (8 B) in "), "{figures}");
        assert!(figures.ends_with(" s, 3 new, 1 repeat\n"), "{figures}");
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_filter_has_the_same_outputs_as_a_set() {
    let dir = TempDir::new();
    let (empty, filter, store) = (dir.join("empty"), dir.join("filter"), dir.join("store"));
    assert_eq!(stdout(&["filter", "build", "--capacity", "100000", "--fpr", "1e-9", "-o", &empty], b""), b"");
    let input = text(&lines(20_000, 7));
    let file = dir.file("in", &input);
    for options in
        ["--repeats R --count", "--mark --repeats R", "--mark=line --count --stats", "--invert", "--quiet --stats"]
    {
        fs::copy(&empty, &filter).unwrap();
        let _ = fs::remove_dir_all(&store);
        let done = |set: [&str; 2]| {
            let repeats = dir.join("R");
            let options: Vec<&str> = options.split(' ').map(|word| if word == "R" { &repeats } else { word }).collect();
            let done = run(&[&["seen", &file], &set[..], &options].concat(), b"");
            let said = String::from_utf8(done.stderr).unwrap();
            // The other lines of the summary are about the kind of the set.
            let said: Vec<String> = said.lines().filter(|line| line.contains(" new, ")).map(str::to_owned).collect();
            let repeats = fs::read(&repeats).unwrap_or_default();
            let _ = fs::remove_file(dir.join("R"));
            (done.status.code(), done.stdout, said, repeats)
        };
        assert!(done(["--filter", &filter]) == done(["--store", &store]), "{options}");
        assert_eq!(stdout(&["seen", "--filter", &filter, &file], b""), b"", "{options}: all are in the filter now");
    }
    // A program that waits for each mark gets it.
    fs::copy(&empty, &filter).unwrap();
    assert_eq!(stdout(&["seen", "--mark", "--dry-run", "--filter", &filter], b"a\na\n"), b"1\n0\n");
    assert_eq!(stdout(&["seen", "--mark", "--filter", &filter], b"a\na\n"), b"1\n0\n");
}

/// Runs `furui seen` over lines with a limit, then over the lines that follow, and over these again: what is printed is
/// what one run prints, and nothing else was recorded.
fn is_limited(options: &[&str], input: &[String], limit: usize) {
    let whole = run(&[&["seen"], options].concat(), &text(input)).stdout;
    let whole: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    let dir = TempDir::in_memory();
    let (store, filter) = (dir.join("store"), dir.join("filter"));
    assert_eq!(stdout(&["filter", "build", "--capacity", "100000", "--fpr", "1e-9", "-o", &filter], b""), b"");
    let sets: &[[&str; 2]] = if options.contains(&"--threads") || options.contains(&"--invert") || options.is_empty() {
        &[["--store", &store], ["--filter", &filter]]
    } else {
        &[["--store", &store]]
    };
    for set in sets.iter().filter(|set| set[0] == "--store" || !options.contains(&"--threads")) {
        let name = format!("{set:?} {options:?} {limit}");
        let command = [&["seen"], &set[..], options].concat();
        let first = stdout(&[&command[..], &["--limit", &limit.to_string()]].concat(), &text(input));
        assert!(first == whole[..limit].concat(), "{name}: {}", String::from_utf8_lossy(&first));
        // Of the lines that were printed, the last one ends the run.
        let mut before = 0;
        let mut printed = whole[..limit].iter();
        let mut next = printed.next();
        let inverted = options.contains(&"--invert");
        let mut known = std::collections::HashSet::new();
        for line in input {
            let Some(wanted) = next else { break };
            before += 1;
            let is_new = known.insert(line);
            if line.as_bytes() == wanted.trim_ascii_end() && (is_new != inverted || options.contains(&"--window")) {
                next = printed.next();
            }
        }
        let rest = stdout(&command, &text(&input[before..]));
        assert!(rest == whole[limit..].concat(), "{name}: the next run begins where this one ended");
    }
}

#[test]
fn a_limit_is_exact_and_records_no_later_line() {
    let input = lines(9000, 3);
    for limit in [1, 2, 1500] {
        for options in [
            &[][..],
            &["--threads", "4"],
            &["--invert"],
            &["--cache", "none"],
            &["--cache", "lru", "--lru", "256"],
            &["--cache", "lru+stable"],
            &["--window", "1h"],
            &["--window", "10000000"],
        ] {
            is_limited(options, &input, limit);
        }
    }
    // Without a store, and with other outputs.
    assert_eq!(stdout(&["seen", "--limit", "2"], b"a\na\nb\nc\n"), b"a\nb\n");
    assert_eq!(stdout(&["seen", "--limit", "2", "--mark=line"], b"a\na\nb\nc\n"), b"1\ta\n0\ta\n1\tb\n");
    assert_eq!(stdout(&["seen", "--limit", "1", "--csv", "--key", "k"], b"k,v\n1,2\n3,4\n"), b"k,v\n1,2\n");
    let bad = ["seen", "--limit", "1", "--json", "--bad", "error"];
    assert_eq!(stdout(&bad, b"1\n{\n"), b"1\n", "the line that is bad is not wanted");
    let kept = run(&["seen", "--limit", "2", "-f2", "-d,", "--stats"], b"a,1\nb\nc,1\nd,2\ne\nf,3\n");
    assert_eq!(kept.stdout, b"a,1\nb\nd,2\n", "a line without a key is not new");
    assert!(String::from_utf8(kept.stderr).unwrap().contains("\n4 lines (14 B), 2 new, 1 repeat, 1 without a key\n"));
}

#[test]
fn a_run_with_a_limit_does_not_wait_for_more_input() {
    use std::io::Write;
    use std::process::Stdio;

    let dir = TempDir::new();
    let mut command = support::furui();
    command.args(["seen", "--limit", "2", "--store", &dir.join("store")]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a\na\nb\nc\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"a\nb\n"[..]));
    drop(input);
}

#[test]
fn the_status_tells_whether_a_line_was_new() {
    let dir = TempDir::new();
    let (store, filter) = (dir.join("store"), dir.join("filter"));
    assert_eq!(stdout(&["filter", "build", "--capacity", "100", "-o", &filter], b""), b"");
    for set in [["--store", &store], ["--filter", &filter]] {
        for (input, status) in [(&b""[..], 1), (b"a\n", 0), (b"a\na\n", 1), (b"a\nb\n", 0)] {
            let done = run(&[&["seen", "--status", "--quiet"], &set[..]].concat(), input);
            assert_eq!(done.status.code(), Some(status), "{set:?} {input:?}");
        }
    }
    assert_eq!(run(&["seen", "--status", "--invert"], b"a\n").status.code(), Some(0));
    assert_eq!(run(&["seen", "--status", &dir.join("missing")], b"").status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn an_input_that_is_the_output_is_an_error() {
    use std::fs::File;

    let dir = TempDir::new();
    let (file, store) = (dir.file("f", b"a\nb\na\n"), dir.join("store"));
    let dictionary = dir.join("dict");
    let refused = |args: &[&str], as_input: bool| {
        let mut command = support::furui();
        command.args(args).stdout(File::options().append(true).open(&file).unwrap());
        if as_input {
            command.stdin(File::open(&file).unwrap());
        }
        let done = command.output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(2) && said.contains("an input cannot be"), "{args:?}: {said}");
        assert_eq!(fs::read(&file).unwrap(), b"a\nb\na\n");
    };
    stdout(&["dict", "number", "--store", &dictionary], b"a\n");
    refused(&["seen", &file], false);
    refused(&["seen"], true);
    refused(&["seen", "--store", &store, "-"], true);
    refused(&["has", &file, &file], false);
    refused(&["dict", "number", "--store", &dictionary, &file], false);
    refused(&["dict", "get", "--store", &dictionary], true);
    let quiet =
        support::furui().args(["seen", "-q", &file]).stdout(File::options().append(true).open(&file).unwrap()).status();
    assert!(quiet.unwrap().success(), "nothing is printed");
}

#[test]
fn a_filter_is_kept_if_nobody_reads_and_has_what_was_printed_before_an_error() {
    use std::process::Stdio;

    let dir = TempDir::new();
    let (filter, input) = (dir.join("filter"), dir.file("in", &text(&lines(200_000, 9))));
    assert_eq!(stdout(&["filter", "build", "--capacity", "100000", "-o", &filter], b""), b"");
    let before = fs::read(&filter).unwrap();
    let mut child =
        support::furui().args(["seen", "--filter", &filter, &input]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert!(fs::read(&filter).unwrap() == before, "nobody has read the lines");
    let done = run(&["seen", "--filter", &filter, "--max-line", "4"], b"a\nb\nlonger\nc\n");
    assert_eq!((done.status.code(), &*done.stdout), (Some(2), &b"a\nb\n"[..]));
    assert_eq!(stdout(&["seen", "--filter", &filter], b"a\nb\nc\n"), b"c\n");
}
