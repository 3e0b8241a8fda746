//! What `furui` reads: compressed files, CSV, TSV and JSON; which lines have equal keys; and lines that have none.

mod foreign;
mod frames;
mod keep_going;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support;
use crate::support::{TempDir, distinct, failure, feed, furui, lines, run, stdout, text};
use flate2::write::GzEncoder;

/// Compresses bytes with a program, or says that it is not there.
fn compressed(program: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    if command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).status().is_err() {
        println!("SKIPPED: {program} is not installed");
        return None;
    }
    let mut command = Command::new(program);
    command.arg("-c");
    let output = feed(command, bytes);
    assert!(output.status.success(), "{output:?}");
    Some(output.stdout)
}

#[test]
fn a_key_without_a_format_is_refused_with_the_format_that_a_file_looks_like() {
    let dir = TempDir::new();
    for (name, bytes, option) in [
        ("a.csv.gz", &b""[..], "--csv"),
        ("b.NDJSON", b"", "--json"),
        ("c", b"{\"a\":1}\n", "--json"),
        ("d", b"a\tb,c\n", "--tsv"),
        ("e.log", b"a,b\n", "--csv"),
    ] {
        let file = dir.file(name, bytes);
        for args in [&["seen", "--key", "a", &file][..], &["has", "--no-header", &file]] {
            let message = failure(args, b"");
            assert!(message.ends_with(&format!("furui: {file} looks like {option}\n")), "{message}");
        }
    }
    for args in [&["seen", "--key", "a"][..], &["seen", "--key", "a", &dir.file("text", b"words\n")]] {
        let message = failure(args, b"");
        assert!(message.contains("--csv") && !message.contains("looks like"), "{message}");
    }
}

#[test]
fn compressed_input_is_decoded_whole_or_named() {
    let dir = TempDir::new();
    let lines = lines(30_000, 5);
    let expected = text(&distinct(&lines));
    let plain = text(&lines);
    for program in ["gzip", "xz", "bzip2", "zstd", "lz4"] {
        let Some(packed) = compressed(program, &plain) else { continue };
        let file = dir.file("packed", &packed);
        assert!(stdout(&["seen", &file], b"") == expected, "{program}");
        assert!(stdout(&["seen"], &packed) == expected, "{program} from standard input");
        // Members, frames or streams that follow each other are one text.
        let (a, b) = plain.split_at(plain.len() / 2);
        let parts = [compressed(program, a).unwrap(), compressed(program, b).unwrap()].concat();
        assert!(stdout(&["seen"], &parts) == expected, "{program} in two parts");
        // A program may choose smaller blocks for a short part.
        let (a, b) = plain.split_at(plain.len() - 5_000);
        let parts = [a, b].map(|part| compressed(program, part).unwrap()).concat();
        assert!(stdout(&["seen"], &parts) == expected, "{program} in a long and a short part");
        assert!(stdout(&["seen", "--no-decompress", &file], b"").starts_with(&packed[..20]));
        // From a file that was cut off, the whole lines before the cut are printed, and then an error.
        for length in [packed.len() / 2, packed.len() - 3, 12] {
            let output = run(&["seen"], &packed[..length]);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{program}, {length} bytes: {message}");
            assert!(message.contains(&format!("standard input: damaged {program} data")), "{message}");
            assert!(expected.starts_with(&output.stdout) && !output.stdout.ends_with(b"x"), "{program}");
            assert!(output.stdout.is_empty() || output.stdout.ends_with(b"\n"), "{program}");
        }
        // If a byte was changed, nothing wrong is printed without an error.
        for at in (10..packed.len()).step_by(packed.len() / 12) {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x10;
            let output = run(&["seen"], &damaged);
            assert!(output.status.code() == Some(2) || output.stdout == expected, "{program}, byte {at}");
        }
    }
    for empty in ["gzip", "xz", "bzip2", "zstd", "lz4"].map(|program| compressed(program, b"")) {
        assert!(empty.is_none_or(|empty| stdout(&["seen"], &empty).is_empty()));
    }
}

#[test]
fn text_that_begins_like_a_compressed_file_is_text() {
    for text in ["BZh9\nBZh9\n", "BZh\n", "B", "\u{1f}\n", "(\n(\n", ""] {
        let lines: Vec<String> = text.split_inclusive('\n').map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(stdout(&["seen"], text.as_bytes()), support::text(&distinct(&lines)), "{text:?}");
    }
}

#[test]
fn csv_records_are_compared_by_columns() {
    let dir = TempDir::new();
    let a = dir.file("a.csv", b"id,name,city\n1,\"Doe, John\",x\n2,\"a\nb\",y\n3,\"Doe, John\",z\n4,\"a\nb\",y\n");
    let b = dir.file("b.csv", b"id,name,city\r\n9,\"say \"\"a\"\"\",x\r\n8,say \"a\",q\r\n");
    let by_name = stdout(&["seen", "--csv", "--key", "name", &a, &b], b"");
    // The header is printed once, though that of the second file has another line break; rows are printed as they came.
    assert_eq!(text_of(&by_name), "id,name,city\n1,\"Doe, John\",x\n2,\"a\nb\",y\n9,\"say \"\"a\"\"\",x\r\n");
    assert_eq!(by_name, stdout(&["seen", "--csv", "--key", "2", &a, &b], b""));
    let by_two = stdout(&["seen", "--csv", "--key", "city,name", &a], b"");
    assert_eq!(text_of(&by_two).lines().count(), 5);
    // Fields, and names in a header, are compared without their quotes.
    let quoted = dir.file("quoted.csv", b"\"id\",\"name\",city\n5,new,x\n");
    let both = stdout(&["seen", "--csv", "--key", "name", &b, &quoted], b"");
    assert_eq!(text_of(&both), "id,name,city\r\n9,\"say \"\"a\"\"\",x\r\n5,new,x\n");
    assert_eq!(stdout(&["seen", "--csv", "--no-header"], b"a,\"b\"\na,b\n\"a\",b\na,c\n"), b"a,\"b\"\na,c\n");
    let semicolons = stdout(&["seen", "--csv", "-d", ";", "--key", "b"], b"a;b\n1;x,y\n2;x,y\n");
    assert_eq!(semicolons, b"a;b\n1;x,y\n");
    let tabs = stdout(&["seen", "--tsv", "--key", "b"], b"a\tb\n1\t\"x\n2\t\"x\n3\ty\n");
    assert_eq!(tabs, b"a\tb\n1\t\"x\n3\ty\n");
    // A byte order mark is no part of a name.
    assert_eq!(stdout(&["seen", "--csv", "--key", "a"], b"\xEF\xBB\xBFa,b\n1,2\n1,3\n"), b"\xEF\xBB\xBFa,b\n1,2\n");
    assert!(stdout(&["seen", "--csv", "--key", "a"], b"").is_empty());
    assert_eq!(stdout(&["seen", "--csv", "--key", "a"], b"a,b"), b"a,b\n");
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn lines_without_a_key_are_kept_dropped_or_named() {
    let input = b"a,b\n1,x\n2\n3,x\n4\n";
    let args = |policy| ["seen", "--csv", "--key", "b", "--missing", policy];
    let kept = run(&["seen", "--csv", "--key", "b"], input);
    assert_eq!((text_of(&kept.stdout), kept.status.code()), ("a,b\n1,x\n2\n4\n", Some(0)));
    assert_eq!(text_of(&kept.stderr), "furui: 2 lines had no key: not recorded\n");
    let dropped = run(&args("drop"), input);
    assert_eq!(
        (text_of(&dropped.stdout), text_of(&dropped.stderr)),
        ("a,b\n1,x\n", "furui: 2 lines had no key: dropped\n")
    );
    let stopped = run(&args("error"), input);
    assert_eq!((text_of(&stopped.stdout), stopped.status.code()), ("a,b\n1,x\n", Some(2)));
    assert!(text_of(&stopped.stderr).contains("standard input: line 3: the line has no key"), "{stopped:?}");
    // With -i, repeats are printed; a line without a key is not a repeat.
    assert_eq!(run(&["seen", "-v", "--csv", "--key", "b"], input).stdout, b"a,b\n3,x\n");
    // Lines without a key are printed again at the next run, because they are not recorded.
    let dir = TempDir::new();
    let store = dir.join("store");
    let with_store = ["seen", "--store", &store, "--csv", "--key", "b"];
    assert_eq!(run(&with_store, input).stdout, b"a,b\n1,x\n2\n4\n");
    assert_eq!(run(&with_store, input).stdout, b"a,b\n2\n4\n");
    assert_eq!(run(&["seen", "-f", "2"], b"a\tb\nc\nd\tb\nc\n").stdout, b"a\tb\nc\nc\n");
}

#[test]
fn broken_records_are_named_with_their_line() {
    let csv = b"a,b\n1,\"x\ny\"\n2,\"unclosed\n3,z\n";
    assert!(failure(&["seen", "--csv", "--key", "b"], csv).contains("standard input: line 4: a quote is not closed"));
    let kept = run(&["seen", "--csv", "--key", "b", "--bad", "keep"], csv);
    assert_eq!((&*kept.stdout, kept.status.code()), (&csv[..], Some(0)));
    let json = b"{\"a\":1}\n{\"a\":\n{\"a\":1.0}\n{\"a\":\"1\"}\n\xFF\n";
    let message = failure(&["seen", "--json", "--key", "/a"], json);
    assert!(message.contains("standard input: line 2: not a JSON value: EOF while parsing"), "{message}");
    let dropped = run(&["seen", "--json", "--key", "/a", "--bad", "drop"], json);
    assert_eq!(dropped.stdout, b"{\"a\":1}\n{\"a\":\"1\"}\n");
    assert_eq!(text_of(&dropped.stderr), "furui: 2 lines had no key: dropped\n");
}

#[test]
fn wrong_columns_and_pointers_are_named() {
    let dir = TempDir::new();
    let (a, b) = (dir.file("a.csv", b"id,name\n1,x\n"), dir.file("b.csv", b"name,id\nx,1\n"));
    let message = failure(&["seen", "--csv", "--key", "url", &a], b"");
    assert!(message.contains("a.csv: there is no column url; the columns are id,name"), "{message}");
    assert!(failure(&["seen", "--csv", "--key", "3", &a], b"").contains("there is no column 3"));
    assert!(failure(&["seen", "--csv", "--key", "0", &a], b"").contains("columns are counted from 1"));
    assert!(failure(&["seen", "--csv", "--no-header", "--key", "id", &a], b"").contains("columns have numbers"));
    let message = failure(&["seen", "--csv", "--key", "id", &a, &b], b"");
    assert!(message.contains("b.csv: has other columns than"), "{message}");
    assert!(failure(&["seen", "--json", "--key", "a"], b"").contains("begins with /, as in /a"));
    assert!(failure(&["seen", "--key", "a"], b"").contains("--csv"));
    assert!(failure(&["seen", "-d", ","], b"a\n").contains("--delimiter goes with --field or --csv"));
    assert!(failure(&["seen", "--csv", "--null"], b"").contains("cannot be used with"));
    assert!(failure(&["seen", "--url", "--url-drop", "*"], b"").contains("drops every parameter"));
}

#[test]
fn csv_records_may_end_in_a_carriage_return() {
    let dir = TempDir::new();
    let csv = ["seen", "--csv", "--key", "b"];
    for (input, expected) in [
        ("a,b\r1,2\r1,2\r", "a,b\r1,2\r"),
        ("a,b\r1,2\r3,4\r3,4", "a,b\r1,2\r3,4\r"),
        ("a,b\r\n1,2\r3,2\n4,5\r\r6,5\r\n7,\"x\ry\"\r8,\"x\ry\"\r", "a,b\r\n1,2\r4,5\r\r7,\"x\ry\"\r"),
        // Text that was written with CRLF, and once more so, has an empty line after each record.
        ("a,b\r\r\n1,2\r\r\n3,2\r\r\n", "a,b\r\r\n1,2\r\r\n\r\n"),
    ] {
        let output = run(&csv, input.as_bytes());
        assert_eq!((text_of(&output.stdout), output.status.code()), (expected, Some(0)), "{input:?}");
    }
    let message = failure(&csv, b"a,b\r1,2\r\r\"3\r3\",4\r5,\"6\r");
    assert!(message.contains("standard input: line 6: a quote is not closed"), "{message}");
    let message = failure(&["seen", "--tsv", "--key", "b"], b"a\tb\r1\t2\r");
    assert!(message.contains("standard input: line 1: lines of TSV end in LF or CRLF"), "{message}");
    // A line break at each place near the end of a block.
    for end in ["\r", "\r\n", "\n"] {
        for length in (512 << 10) - 3..=(512 << 10) + 1 {
            let first = format!("a,b{end}{},k{end}", "x".repeat(length - 5 - 2 * end.len()));
            let file = dir.file("border", format!("{first}2,k{end}3,m{end}").as_bytes());
            assert!(
                stdout(&[&csv[..], &[&file]].concat(), b"") == format!("{first}3,m{end}").as_bytes(),
                "{length} {end:?}"
            );
        }
    }
    // Records of all kinds, in many blocks, from a file and from a pipe.
    let (mut input, mut expected) = (b"key,text\r".to_vec(), b"key,text\r".to_vec());
    for row in 0..60_000 {
        let text = if row % 2 == 0 { "x".repeat(row % 41) } else { format!("\"line {row}\r\n\r\"\"\"\"\"") };
        let record = format!("k{},{text}{}", row % 40_000, ["\r", "\n", "\r\n", "\r", "\r"][row % 5]);
        input.extend_from_slice(record.as_bytes());
        if row < 40_000 {
            expected.extend_from_slice(record.as_bytes());
        }
    }
    let file = dir.file("mixed.csv", &input);
    assert!(stdout(&["seen", "--csv", "--key", "key", &file], b"") == expected);
    assert!(stdout(&["seen", "--csv", "--key", "key"], &input) == expected);
}

#[test]
fn every_column_can_be_named() {
    let header = "\"Last, First\",2020,\"two\nlines\",a,a,3,name:x\n";
    let first = "v1,v2,v3,v4,v5,v6,v7\n";
    let named = [
        ("\"Last, First\"", 1),
        ("\"name:Last, First\"", 1),
        ("column:1", 1),
        ("1", 1),
        ("2020", 2),
        ("name:2020", 2),
        ("2", 2),
        ("\"two\nlines\"", 3),
        ("column:3", 3),
        ("column:4", 4),
        ("5", 5),
        ("name:3", 6),
        ("7", 7),
        ("name:name:x", 7),
    ];
    for (key, column) in named {
        let mut expected = format!("{header}{first}");
        let mut input = expected.clone();
        for same in 1..=7 {
            let field = |at: usize| if at == same { format!("v{at}") } else { format!("w{at} {same}") };
            let row = (1..=7).map(field).collect::<Vec<_>>().join(",") + "\n";
            input += &row;
            if same != column {
                expected += &row;
            }
        }
        assert_eq!(text_of(&stdout(&["seen", "--csv", "--key", key], input.as_bytes())), expected, "{key}");
    }
    for (key, reason) in [
        ("3", "3 is the name of column 6 and the number of another: write name:3 or column:3"),
        ("a", "several columns have the name a: write column:4 or column:5"),
        ("name:x", "there is no column x; the columns are"),
        ("name:7", "there is no column 7"),
        ("column:8", "there is no column 8"),
        ("03", "there is no column 03"),
        ("column:x", "after column: comes a number"),
        ("column:0", "columns are counted from 1"),
        ("\"open", "a quote is not closed"),
    ] {
        let message = failure(&["seen", "--csv", "--key", key], format!("{header}{first}").as_bytes());
        assert!(message.contains(reason), "{key}: {message}");
    }
    // A name that is the column's own number is clear.
    assert_eq!(stdout(&["seen", "--tsv", "--key", "2"], b"1\t2\na\tb\nc\tb\n"), b"1\t2\na\tb\n");
    // A set remembers such names, and keeps them apart from others.
    let dir = TempDir::new();
    let store = dir.join("store");
    let seen = |key| run(&["seen", "--store", &store, "--csv", "--key", key], format!("{header}{first}").as_bytes());
    let key = "a\"b,2020,\"two\nlines\"";
    let table = "a\"b,2020,\"two\nlines\"\n1,2,3\n";
    assert_eq!(stdout(&["seen", "--store", &store, "--csv", "--key", key], table.as_bytes()), table.as_bytes());
    assert_eq!(seen("\"a\"\"b,2020,two\nlines\"").status.code(), Some(2), "one name, not three");
    let info = stdout(&["info", &store], b"");
    assert!(text_of(&info).contains("--csv --key \"a\"\"b\",2020,\"two\\nlines\"\n"), "{}", text_of(&info));
    assert_eq!(stdout(&["seen", "--store", &store, "--csv", "--key", key], table.as_bytes()), &table.as_bytes()[..21]);
    // So are pointers and delimiters.
    let json = "{\"a,b\":1,\"c\":2}\n{\"a,b\":1.0,\"c\":3}\n";
    assert_eq!(stdout(&["seen", "--json", "--key", "\"/a,b\""], json.as_bytes()), &json.as_bytes()[..16]);
    assert_eq!(text_of(&stdout(&["seen", "--json", "--key", "\"/a,b\",/c"], json.as_bytes())), json);
    assert_eq!(stdout(&["seen", "-f", "2", "-d", "\""], b"a\"b\"c\nd\"b\n\"b\n"), b"a\"b\"c\n");
    assert!(failure(&["seen", "--csv", "-d", "\""], b"a\n").contains("cannot separate fields of CSV"));
}

#[test]
fn a_lone_surrogate_is_json_in_names_as_in_values() {
    let lines =
        [r#"{"\ud800":1,"k":"a"}"#, r#"{"k":"a","x":"\udfff"}"#, r#""\ud800""#, r#""\ud800 x""#, "{\"\\u006b\":\"b\"}"];
    let input = lines.map(|line| format!("{line}\n")).concat();
    let output = run(&["seen", "--json", "--key", "/k", "--missing", "drop"], input.as_bytes());
    assert_eq!(text_of(&output.stdout), format!("{}\n{}\n", lines[0], lines[4]), "{output:?}");
    for broken in
        ["{\"\\ud80\":1}", "{\"a\tb\":1,\"k\":1}", "\"\t\"", "\"\\ud800", "{\"k\":1} x", "{\"k\" 1}", "nul", "\"a\" x"]
    {
        let message = failure(&["seen", "--json", "--key", "/k"], broken.as_bytes());
        assert!(message.contains("standard input: line 1: not a JSON value"), "{broken}: {message}");
    }
}

#[test]
fn a_set_remembers_how_its_keys_are_made() {
    let dir = TempDir::new();
    let (store, filter, cascade) = (dir.join("store"), dir.join("filter"), dir.join("cascade"));
    let input = b"id,url\n1,a\n2,b\n";
    let csv = ["--csv", "--key", "url"];
    stdout(&[&["seen", "-q", "--store", &store], &csv[..]].concat(), input);
    stdout(&[&["filter", "build", "-c", "100", "-o", &filter], &csv[..]].concat(), input);
    let memory = ["--kind", "cascade", "--memory", "1MiB", "-c", "100"];
    stdout(&[&["filter", "build", "-o", &cascade], &memory[..], &csv[..]].concat(), input);
    for set in [&store, &filter, &cascade] {
        let info = String::from_utf8(stdout(&["info", set], b"")).unwrap();
        assert!(info.contains("keys from") && info.contains("--csv --key url"), "{info}");
        stdout(&["verify", set], b"");
    }
    let message = failure(&["seen", "--store", &store], b"a\n");
    assert!(message.contains("made from --csv --key url, and now they are made from whole lines"), "{message}");
    assert!(failure(&["has", &filter, "--csv", "--key", "id"], input).contains("--as-is"));
    assert!(failure(&["filter", "insert", &filter], b"c\n").contains("--as-is"));
    assert!(failure(&["filter", "insert", &cascade], b"c\n").contains("--as-is"));
    assert!(failure(&["has", &cascade], b"c\n").contains("--as-is"));
    // Here a whole line is the same key as the field `url` was, and the user says so by `--as-is`.
    assert_eq!(stdout(&["seen", "--store", &store, "--as-is"], b"a\nc\n"), b"c\n");
    for filter in [&filter, &cascade] {
        stdout(&["filter", "insert", filter, "--as-is"], b"c\n");
        assert_eq!(stdout(&["has", filter, "--as-is"], b"a\nc\nx\n"), b"a\nc\n");
        assert_eq!(stdout(&[&["has", filter], &csv[..]].concat(), b"id,url\n7,c\n8,x\n"), b"id,url\n7,c\n");
    }
    // A copy of the store, and a filter after an insertion, still know how their keys are made.
    let copy = dir.join("copy");
    stdout(&["snapshot", &store, &copy], b"");
    assert!(failure(&["seen", "--store", &copy], b"a\n").contains("--csv --key url"));
    let plain = dir.join("plain");
    stdout(&["filter", "build", "-c", "100", "-o", &plain], b"a\n");
    let message = failure(&["union", &filter, &plain, "-o", &dir.join("union")], b"");
    assert!(message.contains("keys were made from --csv --key url and from whole lines"), "{message}");
    assert!(failure(&["filter", "compare", &filter, &plain], b"").contains("do not fit together"));
    let long = (0..100).map(|column| format!("column{column}")).collect::<Vec<_>>().join(",");
    assert!(failure(&["seen", "--csv", "--key", &long], b"").contains("at most 255"));
}

#[test]
fn a_compressed_pipe_answers_line_by_line() {
    let Some(packed) = compressed("gzip", b"first\nfirst\nsecond\n") else { return };
    let mut child = furui().arg("seen").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut printed = BufReader::new(output).lines();
    // The first byte alone does not tell what follows.
    for byte in &packed {
        input.write_all(&[*byte]).unwrap();
        input.flush().unwrap();
    }
    // The member is whole, and the pipe is still open.
    assert_eq!(printed.next().unwrap().unwrap(), "first");
    assert_eq!(printed.next().unwrap().unwrap(), "second");
    drop(input);
    assert!(printed.next().is_none() && child.wait().unwrap().success());
}

/// The writers of compressed streams, each of which can be flushed, and ends the stream when it is dropped.
const STREAMS: [fn(ChildStdin) -> Box<dyn Write>; 3] = [
    |input| Box::new(GzEncoder::new(input, flate2::Compression::fast())),
    |input| Box::new(zstd::Encoder::new(input, 1).unwrap().auto_finish()),
    |input| Box::new(lz4_flex::frame::FrameEncoder::new(input).auto_finish()),
];

/// Sends a line as the next piece of a compressed stream, and leaves the stream open.
fn send(stream: &mut impl Write, line: &str) {
    stream.write_all(line.as_bytes()).unwrap();
    stream.flush().unwrap();
}

/// Starts a command between two pipes.
fn start(mut command: Command, args: &[&str]) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, BufReader::new(output))
}

fn next_line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

#[test]
fn each_piece_of_a_compressed_stream_is_answered_before_the_next_is_sent() {
    let dir = TempDir::in_memory();
    for (format, stream) in STREAMS.iter().enumerate() {
        for args in [&["seen"][..], &["seen", "--store", &dir.join("store")], &["seen", "--window", "1h"]] {
            let (mut child, input, mut output) = start(furui(), args);
            let mut input = stream(input);
            for line in 0..20 {
                let line = format!("{format} {line}\n");
                send(&mut input, &line.repeat(2));
                assert_eq!(next_line(&mut output), line, "{args:?}");
            }
            drop(input);
            assert!(next_line(&mut output).is_empty() && child.wait().unwrap().success());
        }
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_compressed_stream_that_stays_open() {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let dir = TempDir::in_memory();
        let store = dir.join("store");
        let (mut child, input, mut output) = start(support::furui_for_signals(), &["seen", "--store", &store]);
        let mut input = STREAMS[0](input);
        send(&mut input, "a\n");
        assert_eq!(next_line(&mut output), "a\n");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
        drop(input);
        assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\n"), b"b\n", "what was printed was recorded");
    }
}

#[test]
fn a_long_compressed_input_is_printed_up_to_its_damage() {
    let lines: Vec<String> =
        (1..150_000).map(|line| format!("{:x}", 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(line))).collect();
    let plain = text(&lines);
    for program in ["gzip", "xz", "bzip2", "zstd", "lz4"] {
        let Some(packed) = compressed(program, &plain) else { continue };
        let half = run(&["seen"], &packed[..packed.len() / 2]);
        // The other programs make blocks of 900 kB and more, each of which is decoded whole or not at all.
        let least = if ["gzip", "xz", "zstd"].contains(&program) { plain.len() / 4 } else { 0 };
        assert!(plain.starts_with(&half.stdout) && half.stdout.len() >= least, "{program}");
        assert_eq!(half.status.code(), Some(2), "{program}");
        // The whole text, and the beginning of another part.
        let output = run(&["seen"], &[&packed[..], &packed[..12]].concat());
        assert!(text_of(&output.stderr).contains(&format!("damaged {program}")), "{program}");
        assert!(output.stdout == plain, "{program}");
        assert_eq!(output.status.code(), Some(2), "{program}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_a_compressed_input() {
    let dir = TempDir::new();
    let lines: Vec<String> = (0..100_000).map(|line| format!("https://example.org/{line}")).collect();
    for program in ["gzip", "xz", "bzip2", "zstd", "lz4"] {
        let Some(packed) = compressed(program, &text(&lines)) else { continue };
        let (mut child, _, mut output) = start(furui(), &["seen", &dir.file("packed", &packed)]);
        assert_eq!(next_line(&mut output), "https://example.org/0\n");
        drop(output);
        assert!(child.wait().unwrap().success(), "{program}");
    }
}

#[cfg(unix)]
#[test]
fn a_compressed_pipe_that_another_process_made_non_blocking_is_read_whole() {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (reader, writer) = std::io::pipe().unwrap();
    fcntl_setfl(&reader, fcntl_getfl(&reader).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut child = furui().arg("seen").stdin(reader).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut stream = GzEncoder::new(writer, flate2::Compression::fast());
    for line in ["a\n", "b\n"] {
        stream.write_all(line.as_bytes()).and_then(|()| stream.flush()).unwrap();
        assert_eq!(next_line(&mut output), line);
    }
    drop(stream);
    assert!(next_line(&mut output).is_empty() && child.wait().unwrap().success());
}

#[test]
fn large_csv_is_read_in_blocks() {
    // Quoted fields with newlines fall on every place of a block's end.
    let mut input = b"key,text\n".to_vec();
    let mut expected = input.clone();
    for row in 0..60_000 {
        let record = format!("k{},\"line {row}\n\"\"{}\"\"\"\n", row % 40_000, "x".repeat(row % 41));
        input.extend_from_slice(record.as_bytes());
        if row < 40_000 {
            expected.extend_from_slice(record.as_bytes());
        }
    }
    let dir = TempDir::new();
    let file = dir.file("large.csv", &input);
    assert!(stdout(&["seen", "--csv", "--key", "key", &file], b"") == expected);
    assert!(stdout(&["seen", "--csv", "--key", "key"], &input) == expected);
    assert!(fs::metadata(&file).unwrap().len() > 2 << 20);
}
