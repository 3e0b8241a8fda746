//! Tests that `furui seen` does the same with any number of threads.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::process::{Output, Stdio};

use crate::support::{TempDir, distinct, furui, lines, run, stdout, text};

const THREADS: [&str; 4] = ["1", "2", "3", "8"];

/// What a command did: its status, its output, and the figures of its summary that do not depend on memory or threads.
fn outcome(output: &Output) -> (Option<i32>, Vec<u8>, Vec<String>) {
    let said = String::from_utf8_lossy(&output.stderr);
    // Some figures depend on the memory that threads leave to the set. Each thread has a recent cache of its
    // own, so the number of threads determines which repeats a cache finds and which the set finds.
    let other = ["memory", "threads", "runs", "stored", "written", "recent_hits", "set_repeats"];
    let is_figure = |part: &&str| !other.iter().any(|name| part.contains(name));
    let told = said.lines().flat_map(|line| line.split(',').filter(is_figure)).map(str::to_owned);
    (output.status.code(), output.stdout.clone(), told.collect())
}

/// Files of random lines, some short, some long, some of which have no second field, and the last of which may have no
/// separator.
fn files(dir: &TempDir, state: &mut u64, separator: u8) -> Vec<String> {
    let mut below = |bound: u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % bound
    };
    let mut paths = vec![];
    for file in 0..1 + below(3) {
        let mut bytes = vec![];
        let distinct = 1 + below(200_000);
        for _ in 0..below(4) * below(30_000) {
            let line = match below(200) {
                0 => String::new(),
                1 => "only".to_owned(),
                2 => "x".repeat(below(3000) as usize),
                _ => format!("https://example.org/some/{},{}", below(10), below(distinct)),
            };
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(separator);
        }
        if below(10) == 0 {
            bytes.extend(vec![b'y'; 3_000_000]);
        }
        if below(2) == 0 {
            bytes.extend_from_slice(b"last,1");
        }
        paths.push(dir.file(&format!("file{file}"), &bytes));
    }
    paths
}

#[test]
fn any_number_of_threads_prints_the_same() {
    let dir = TempDir::in_memory();
    let repeats = dir.join("repeats");
    let small = ["--memory", "1MiB"];
    let options: [&[&str]; 20] = [
        &[],
        &["--invert"],
        &["--mark"],
        &["--mark=line"],
        &["--count"],
        &["--repeats", &repeats],
        &["--field", "2", "--delimiter", ","],
        &["--field", "2", "--delimiter", ",", "--missing", "drop", "--count"],
        &["--field", "2", "--delimiter", ",", "--missing", "error"],
        &["--max-line", "2000", "--count"],
        &["--null"],
        &["--csv", "--no-header", "--key", "2"],
        &["--csv", "--key", "2", "--missing", "drop"],
        &["--json", "--bad", "keep"],
        &["--window", "5000"],
        &["--cache", "none"],
        &["--cache", "lru", "--lru", "1000"],
        &["--cache", "lru+stable", "--lru", "300", "--counters", "20000", "--probes", "4", "--fpr", "0.01"],
        &["--quiet"],
        &["--hash", "siphash", "--ignore-case"],
    ];
    let mut state = 1;
    for (case, options) in options.iter().enumerate() {
        let separator = if options.contains(&"--null") { 0 } else { b'\n' };
        let paths = files(&dir, &mut state, separator);
        let memory = if state.is_multiple_of(3) { &[][..] } else { &small };
        let outcomes = THREADS.map(|threads| {
            let _ = fs::remove_file(&repeats);
            let mut command = furui();
            command.args(["seen", "--stats=json", "--hash-seed", "7", "--threads", threads]);
            let output = command.args(memory).args(*options).args(&paths).output().unwrap();
            (outcome(&output), fs::read(&repeats).unwrap_or_default())
        });
        for (threads, other) in THREADS.iter().zip(&outcomes).skip(1) {
            let (one, other) = (&outcomes[0], other);
            let what = format!("case {case}, {options:?} {memory:?}, {threads} threads");
            assert_eq!((one.0.0, &one.0.2), (other.0.0, &other.0.2), "{what}");
            assert!(one.0.1 == other.0.1 && one.1 == other.1, "{what}: other lines");
        }
    }
}

#[test]
fn a_store_that_outgrows_its_memory_is_the_same_set() {
    let dir = TempDir::in_memory();
    for options in [&[][..], &["--window", "30000"], &["--no-mmap", "--cache", "none"]] {
        let runs = THREADS.map(|threads| {
            let store = dir.join(&format!("{}-{threads}", options.len()));
            let args = ["seen", "--memory", "1MiB", "--hash-seed", "7", "--threads", threads, "--store", &store];
            let first = stdout(&[&args[..], options].concat(), &text(&lines(250_000, 5)));
            let second = stdout(&[&args[..], options].concat(), &text(&lines(100_000, 6)));
            assert_eq!(stdout(&["verify", &store], b""), b"");
            // A set with a window has no export.
            let hashes = if options.contains(&"--window") { vec![] } else { stdout(&["export", "--u64", &store], b"") };
            (first, second, hashes)
        });
        assert!(runs.iter().all(|run| *run == runs[0]), "{options:?}");
    }
}

#[test]
fn lines_before_an_error_are_printed_and_recorded_and_no_later_ones() {
    let dir = TempDir::in_memory();
    let lines: Vec<String> = distinct(&lines(150_000, 8)).iter().map(|line| format!("k\t{line}")).collect();
    for (nth, bad) in [0, 1, 7000, 20_000, lines.len() - 1].into_iter().enumerate() {
        let broken: Vec<u8> = text(&[&lines[..bad], &["without".to_owned()], &lines[bad..]].concat());
        for threads in THREADS {
            let store = dir.join(&format!("{nth}-{threads}"));
            let args = ["seen", "-f2", "--threads", threads, "--store", &store];
            let output = run(&[&args[..], &["--missing", "error"]].concat(), &broken);
            assert_eq!(output.status.code(), Some(2));
            assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("line {}", bad + 1)));
            assert!(output.stdout == text(&lines[..bad]), "{bad} {threads}");
            assert!(stdout(&args, &text(&lines)) == text(&lines[bad..]), "{bad} {threads}");
        }
    }
}

/// The reader of the output goes away after some lines, while workers read on. Lines that it did not get are new for
/// the next run.
#[test]
fn a_reader_that_goes_away_ends_the_run_though_more_input_may_come() {
    let dir = TempDir::in_memory();
    let lines = distinct(&lines(300_000, 9));
    for threads in THREADS {
        let store = dir.join(threads);
        let mut command = furui();
        command.args(["seen", "--threads", threads, "--store", &store]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let writer = std::thread::spawn({
            let text = text(&lines);
            // The pipe stays open, so that a worker waits for more input.
            move || (input.write_all(&text).is_ok(), input)
        });
        drop(output);
        assert!(child.wait().unwrap().success());
        drop(writer.join().unwrap());
        assert!(stdout(&["seen", "--store", &store], &text(&lines)) == text(&lines), "{threads}");
    }
}

#[test]
fn a_file_of_repeats_on_a_full_disk_ends_the_run_and_records_what_was_printed() {
    if !std::path::Path::new("/dev/full").exists() {
        return println!("SKIPPED: this system has no /dev/full");
    }
    let dir = TempDir::in_memory();
    let lines = lines(300_000, 11);
    for threads in THREADS {
        let store = dir.join(threads);
        let output = run(&["seen", "--threads", threads, "--store", &store, "--repeats", "/dev/full"], &text(&lines));
        assert_eq!(output.status.code(), Some(2));
        let rest = stdout(&["seen", "--store", &store], &text(&lines));
        assert!([output.stdout, rest].concat() == text(&distinct(&lines)), "{threads}");
    }
}

/// Kills a run that spills again and again, at many moments. The next run prints all lines that the first one had not
/// printed, and what the first one had recorded it had printed.
#[test]
fn after_a_kill_no_line_is_lost() {
    let dir = TempDir::in_memory();
    let lines = lines(400_000, 12);
    let (input, distinct) = (dir.file("input", &text(&lines)), distinct(&lines));
    for threads in THREADS {
        let mut recorded = 0;
        for round in 0..4 {
            let store = dir.join(&format!("{threads}-{round}"));
            let args = ["seen", "--memory", "1MiB", "--sync", "0.01", "--threads", threads, "--store", &store, &input];
            let mut child = furui().args(args).stdout(Stdio::piped()).spawn().unwrap();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            // The reader kills the process after some lines, and then reads what is left in the pipe.
            let mut printed = vec![];
            let until = text(&distinct).len() * (round + 1) / 4 - 1000;
            output.by_ref().take(until as u64).read_to_end(&mut printed).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            output.read_to_end(&mut printed).unwrap();
            let whole = printed.iter().filter(|&&byte| byte == b'\n').count();
            assert!(text(&distinct).starts_with(&printed));
            assert_eq!(stdout(&["verify", &store], b""), b"");
            let again = stdout(&args, b"");
            let kept = distinct.len() - again.iter().filter(|&&byte| byte == b'\n').count();
            assert!(again == text(&distinct[kept..]), "{threads} threads, round {round}");
            assert!(kept <= whole, "{threads} threads, round {round}: {kept} recorded, {whole} printed");
            recorded += kept;
        }
        assert!(recorded > 0, "{threads} threads");
    }
}
