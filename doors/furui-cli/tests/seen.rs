//! Tests the input and output of the binary `furui seen`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::support::{TempDir, distinct, failure, furui, lines, run, stdout, text};

#[test]
fn prints_the_first_of_each_line_in_order() {
    assert_eq!(stdout(&["seen"], b"b\na\nb\n\na\n\nc\n"), b"b\na\n\nc\n");
    assert_eq!(stdout(&["seen"], b""), b"");
    assert_eq!(stdout(&["seen"], b"\n\n\n"), b"\n");
}

#[test]
fn completes_a_last_line_without_newline() {
    assert_eq!(stdout(&["seen"], b"a\nb"), b"a\nb\n");
    assert_eq!(stdout(&["seen"], b"a\na"), b"a\n");
}

#[test]
fn lines_are_bytes() {
    assert_eq!(stdout(&["seen"], b"\xFF\n\x00\n\xFF\n\r\n\x00\n"), b"\xFF\n\x00\n\r\n");
}

#[test]
fn reads_files_in_order_and_does_not_join_their_lines() {
    let dir = TempDir::new();
    let (a, b) = (dir.file("a", b"1\n2"), dir.file("b", b"3\n1\n"));
    assert_eq!(stdout(&["seen", &a, &b], b""), b"1\n2\n3\n");
    assert_eq!(stdout(&["seen", &b, "-", &a], b"4\n3\n"), b"3\n1\n4\n2\n");
}

#[test]
fn a_large_input_gives_each_line_once_whatever_the_cache() {
    let lines = lines(200_000, 1);
    let expected = text(&distinct(&lines));
    let input = text(&lines);
    for cache in ["recent", "lru", "none"] {
        assert!(stdout(&["seen", "--cache", cache], &input) == expected, "{cache}");
    }
}

#[test]
fn a_line_longer_than_any_block_is_a_line() {
    let long = "x".repeat(3 << 20);
    let input = format!("{long}\na\n{long}y\n{long}\na\n{long}");
    let expected = format!("{long}\na\n{long}y\n");
    assert!(stdout(&["seen"], input.as_bytes()) == expected.as_bytes());
}

#[test]
fn lines_made_to_be_taken_for_each_other_are_so_only_with_a_known_seed() {
    // Under XXH3 without a seed, the last 8 bytes of each key are multiplied by 0.
    let turn = 0xDB97_9083_E96D_D4DE_u64.to_le_bytes();
    let line = |i: u32| [&b"http://e.example"[..], &turn, format!("{i:08}").as_bytes(), b"\n"].concat();
    let input = (0..1000).flat_map(line).collect::<Vec<u8>>();
    assert!(stdout(&["seen"], &input) == input);
    assert!(stdout(&["seen", "--hash-seed", "1"], &input) == input);
    assert!(stdout(&["seen", "--hash-seed", "0"], &input) == line(0));
}

#[test]
fn invert_prints_the_repeats() {
    assert_eq!(stdout(&["seen", "-v"], b"a\nb\na\na\nc\nb\n"), b"a\na\nb\n");
}

#[test]
fn null_separates_lines_in_and_out() {
    assert_eq!(stdout(&["seen", "-0"], b"a\nb\0c\0a\nb\0c"), b"a\nb\0c\0");
}

#[test]
fn quiet_prints_nothing() {
    assert_eq!(stdout(&["seen", "-q"], b"a\na\n"), b"");
}

#[test]
fn a_field_can_be_the_key() {
    assert_eq!(stdout(&["seen", "-f", "2"], b"1\tx\n2\tx\n3\ty\n"), b"1\tx\n3\ty\n");
    assert_eq!(stdout(&["seen", "-f", "1", "-d", ","], b"a,1\na,2\nb\nb,3\n"), b"a,1\nb\n");
    // A line that lacks the field is never a repeat of another line.
    assert_eq!(run(&["seen", "-f", "9", "-d", ","], b"a,1\nb,2\n").stdout, b"a,1\nb,2\n");
}

#[test]
fn the_canonical_url_can_be_the_key() {
    let input = b"HTTP://Example.com:80/a/../b\nhttp://example.com/b#c\nnot a url\nhttp://example.com/B\n";
    let expected = b"HTTP://Example.com:80/a/../b\nnot a url\nhttp://example.com/B\n";
    assert_eq!(stdout(&["seen", "--url"], input), expected);
    let expected = b"x http://example.com\n";
    assert_eq!(
        stdout(&["seen", "--url", "-f2", "-d", " "], b"x http://example.com\ny HTTP://example.com/\n"),
        expected
    );
}

#[test]
fn a_line_is_answered_while_the_pipe_stays_open() {
    let dir = TempDir::new();
    for args in [vec!["seen".to_string()], vec!["seen".into(), "--store".into(), dir.join("store")]] {
        let mut child = furui().args(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut answer = String::new();
        for i in 0..100 {
            // The repeat is not answered. The next new line is answered before more input is sent.
            write!(input, "line {i}\nline {}\n", i / 2).unwrap();
            answer.clear();
            output.read_line(&mut answer).unwrap();
            assert_eq!(answer, format!("line {i}\n"));
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child =
        furui().arg("seen").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let bytes = text(&lines(300_000, 2));
    let _ = input.write_all(&bytes);
    drop(input);
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!((child.wait().unwrap().code(), message.as_str()), (Some(0), ""));
}

#[test]
fn bad_input_is_an_error_that_names_it() {
    let dir = TempDir::new();
    let missing = dir.join("missing");
    assert!(failure(&["seen", &missing], b"").contains(&missing));
    let directory = dir.join("");
    assert!(failure(&["seen", &directory], b"").contains("directory"));
    assert!(failure(&["seen", "--memory", "lots"], b"").contains("64MiB"));
    assert!(failure(&["seen", "-f", "0"], b"").contains("0"));
    assert!(failure(&["seen", "--protect", "("], b"").contains("regular expression"));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    assert!(failure(&["seen", "--fpr", "0.01"], b"").contains("lru+stable"));
    assert!(failure(&["seen", "--protect", "x"], b"").contains("lru+stable"));
    for rate in ["0", "1", "-1", "NaN"] {
        let rate = format!("--fpr={rate}");
        assert!(failure(&["seen", "--cache", "lru+stable", &rate], b"a\n").contains("rate"), "{rate}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = furui();
    command.arg("seen").stdout(full).stderr(Stdio::piped()).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("standard output"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_takes_nothing_changes_nothing_else() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = furui();
    command.args(["seen", "--stats"]).stderr(full());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a\na\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"a\n"[..]));
    let status = furui().args(["seen", "missing"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn stats_count_every_line() {
    let input = text(&lines(50_000, 3));
    let output = run(&["seen", "-q", "--stats"], &input);
    let report = String::from_utf8(output.stderr).unwrap();
    assert!(report.contains("50000 lines") || report.contains("50,000"), "{report}");
    let output = run(&["seen", "-q", "--stats=json"], b"a\nb\na\n");
    let report = String::from_utf8(output.stderr).unwrap();
    for field in ["\"lines\":3", "\"new\":2", "\"repeats\":1"] {
        assert!(report.contains(field), "{report}");
    }
}

#[test]
fn an_approximate_cache_drops_few_lines_and_says_how_many() {
    // There are more distinct lines than the LRU holds, each twice: the second pass must be recognised, and the first
    // mostly printed.
    let lines: Vec<String> = (0..300_000).map(|i| format!("https://example.org/{i}")).collect();
    let input = text(&lines);
    let args = ["seen", "--cache", "lru+stable", "--fpr", "0.01", "--memory", "8MiB", "--stats=json"];
    let output = run(&args, &input);
    assert_eq!(output.status.code(), Some(0));
    let printed = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
    assert!(printed > 295_000 && printed <= 300_000, "{printed}");
    let report = String::from_utf8(output.stderr).unwrap();
    assert!(report.contains("\"dropped_measured\"") && report.contains("\"dropped_expected\""), "{report}");
    let protected = [&args[..], &["--protect", "example"]].concat();
    let output = run(&protected, &input);
    assert!(output.stdout == input, "a protected line is never dropped");
}
