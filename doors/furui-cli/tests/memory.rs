//! A command takes the memory that it was given. If memory is short, it ends with status 2 and an error message, and
//! loses nothing that was acknowledged.

use std::fs;
use std::io::Write;
use std::ops::RangeInclusive;
use std::process::{Child, Command, Output, Stdio};

use crate::support::{TempDir, furui, stdout};

const MIB: u64 = 1 << 20;

/// Runs `furui` with a limit on its address space, in bytes. `None` if the system has no such limit.
fn run_within(bytes: u64, args: &[&str]) -> Option<Output> {
    let script = "ulimit -c 0; ulimit -v \"$1\" || exit 99; shift; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", &(bytes / 1024).to_string()]).arg(furui().get_program()).args(args);
    let output = command.env("RUST_BACKTRACE", "0").output().unwrap();
    (output.status.code() != Some(99)).then_some(output)
}

/// The address space that the command needs to start, in MiB. It depends on how the command was built.
fn to_start() -> u64 {
    let starts = |&limit: &u64| run_within(limit * MIB, &["--version"]).is_none_or(|output| output.status.success());
    (2..).step_by(2).find(starts).unwrap()
}

/// Runs a command with limits from the smallest to the largest. Calls `prepare` before each run, and `check` with its
/// output afterwards. Some limits must be too low, and some high enough.
fn sweep(limits: RangeInclusive<u64>, step: u64, args: &[&str], mut prepare: impl FnMut(), check: impl Fn(&Output)) {
    let mut ends = [0, 0];
    for limit in limits.step_by(step as usize) {
        prepare();
        let Some(output) = run_within(limit * MIB, args) else {
            println!("SKIPPED: this system does not limit address space");
            return;
        };
        let message = String::from_utf8_lossy(&output.stderr);
        let said = message.starts_with("furui: ") && message.contains("emory");
        match output.status.code() {
            Some(0) => ends[0] += 1,
            Some(2) if said => ends[1] += 1,
            // A small allocation of the standard library aborts if another allocation has just taken the last page of
            // memory.
            None if is_small(&message) => continue,
            _ => panic!("{args:?} within {limit} MiB: {}: {message}", output.status),
        }
        check(&output);
    }
    assert!(ends.iter().all(|&count| count > 0), "{args:?}: {ends:?} runs had enough memory and had not");
}

/// True if the process was aborted because there was no memory for a few bytes.
fn is_small(message: &str) -> bool {
    let bytes = message.strip_prefix("memory allocation of ").and_then(|rest| rest.split(' ').next());
    bytes.and_then(|bytes| bytes.parse().ok()).is_some_and(|bytes: u64| bytes < 4096)
}

/// Lines that are all different. Each has at least `length` bytes that no other line has.
fn different(count: u64, length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut lines = vec![];
    for _ in 0..count {
        let start = lines.len();
        while lines.len() - start < length {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lines.extend_from_slice(format!("{:08x}", state >> 32).as_bytes());
        }
        lines.push(b'\n');
    }
    lines
}

/// Inserts the lines `others` into a dictionary that already holds the lines `first`, durably.
fn dict_sweep(limits: RangeInclusive<u64>, step: u64, verb: &str, first: &[u8], others: &[u8]) {
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let (first, others) = (dir.file("first", first), dir.file("others", others));
    let prepare = || {
        let _ = fs::remove_dir_all(&store);
        stdout(&["dict", "build", "--store", &store, &first], b"");
    };
    let acknowledged = fs::read(&first).unwrap();
    let count = acknowledged.iter().filter(|&&byte| byte == b'\n').count();
    let all = [acknowledged, fs::read(&others).unwrap()].concat();
    sweep(limits, step, &["dict", verb, "--store", &store, &others], prepare, |output| {
        stdout(&["verify", &store], b"");
        // The first lines have the first numbers; the lines that were printed have the next ones.
        let printed = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
        let kept = all.split(|&byte| byte == b'\n').take(count + printed);
        let lines: Vec<u8> = kept.clone().flat_map(|line| [line, b"\n"].concat()).collect();
        let numbered: Vec<u8> =
            kept.zip(0..).flat_map(|(line, number)| [line, format!("\t{number}\n").as_bytes()].concat()).collect();
        assert!(stdout(&["dict", "get", "--store", &store], &lines) == numbered, "{output:?}");
    });
}

#[test]
fn a_dictionary_of_long_keys_loses_nothing() {
    let (first, others) = (different(1000, 900, 1), different(10_000, 900, 2));
    let start = to_start();
    dict_sweep(start + 10..=start + 170, 40, "build", &first, &others);
    dict_sweep(start + 10..=start + 170, 40, "number", &first, &others);
}

#[test]
fn a_dictionary_of_short_keys_loses_nothing() {
    let (first, others) = (different(10_000, 16, 1), different(150_000, 16, 2));
    let start = to_start();
    dict_sweep(start + 10..=start + 70, 20, "build", &first, &others);
    dict_sweep(start + 10..=start + 70, 20, "number", &first, &others);
}

#[test]
fn a_dictionary_of_bytes_loses_nothing() {
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let entries = |count, seed| -> Vec<u8> {
        let lines = different(count, 900, seed);
        let lines = lines.split_inclusive(|&byte| byte == b'\n');
        lines.flat_map(|line| [&line[..24], b"\t", &line[24..]].concat()).collect()
    };
    let (first, others) = (entries(1000, 1), dir.file("others", &entries(30_000, 2)));
    let keys: Vec<u8> =
        first.split(|&byte| byte == b'\n').flat_map(|line| [&line[..line.len().min(24)], b"\n"].concat()).collect();
    let prepare = || {
        let _ = fs::remove_dir_all(&store);
        stdout(&["dict", "put", "--values", "bytes", "--store", &store], &first);
    };
    let start = to_start();
    sweep(start + 10..=start + 170, 40, &["dict", "put", "--store", &store, &others], prepare, |output| {
        stdout(&["verify", &store], b"");
        assert!(stdout(&["dict", "get", "--store", &store], &keys) == first, "{output:?}");
    });
}

#[test]
fn compaction_loses_nothing() {
    let dir = TempDir::in_memory();
    let (store, copy) = (dir.join("store"), dir.join("copy"));
    // The second part is too small to be merged with the first.
    let parts = [different(12_000, 900, 1), different(400, 900, 2)];
    for part in &parts {
        stdout(&["dict", "build", "--store", &store], part);
    }
    let lines = parts.concat();
    let answers = stdout(&["dict", "get", "--store", &store], &lines);
    let prepare = || {
        let _ = fs::remove_dir_all(&copy);
        stdout(&["snapshot", &store, &copy], b"");
    };
    let start = to_start();
    sweep(start + 10..=start + 110, 20, &["compact", &copy], prepare, |_| {
        stdout(&["verify", &copy], b"");
        assert!(stdout(&["dict", "get", "--store", &copy], &lines) == answers);
    });
}

#[test]
fn a_store_prints_no_line_twice() {
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let lines = different(500_000, 16, 3);
    let file = dir.file("lines", &lines);
    let prepare = || drop(fs::remove_dir_all(&store));
    let start = to_start();
    sweep(start + 11..=start + 59, 4, &["seen", "--store", &store, &file], prepare, |output| {
        // With very little memory nothing is recorded, so there is nothing to verify.
        if fs::exists(format!("{store}/MANIFEST")).unwrap() {
            stdout(&["verify", &store], b"");
        }
        let again = stdout(&["seen", "--store", &store, &file], b"");
        assert!([&*output.stdout, &*again].concat() == lines, "{} bytes, then {}", output.stdout.len(), again.len());
    });
}

/// The memory that a process has allocated and used, in bytes. `None` where the system does not tell.
fn allocated(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    kib.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Runs a command on the numbers below `count`, one a line. Returns the most memory that it had while it read them, and
/// what it said. `None` where the system does not tell.
fn peak(args: &[&str], count: u64) -> Option<(u64, String)> {
    let mut command = furui();
    let piped = command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut peak = allocated(&child);
    for from in (0..count).step_by(10_000) {
        let lines: String = (from..count.min(from + 10_000)).map(|number| format!("{number}\n")).collect();
        stdin.write_all(lines.as_bytes()).unwrap();
        peak = peak.max(allocated(&child));
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}: {said}");
    Some((peak?, said))
}

#[test]
fn a_set_takes_the_memory_that_was_asked_for_whatever_the_number_of_threads() {
    let dir = TempDir::in_memory();
    let store = dir.join("store");
    let cases: [(u64, &[&str]); 6] = [
        (8, &["seen", "--stats", "--memory", "8MiB", "--threads", "1"]),
        (8, &["seen", "--stats", "--memory", "8MiB", "--threads", "2"]),
        (8, &["seen", "--stats", "--memory", "8MiB", "--threads", "16"]),
        (4, &["seen", "--stats", "--memory", "4MiB", "--threads", "4", "--store", &store]),
        (1, &["seen", "--stats", "--memory", "1MiB", "--threads", "8"]),
        (4, &["filter", "build", "--kind", "cascade", "-c", "2M", "--memory", "4MiB", "-o", &store]),
    ];
    for (mib, args) in cases {
        let Some((peak, said)) = peak(args, if mib < 8 { 600_000 } else { 1_100_000 }) else {
            println!("SKIPPED: this system does not tell what a process has allocated");
            return;
        };
        assert!(peak <= mib * MIB * 5 / 4 + 16 * MIB, "{args:?}: {peak} bytes");
        assert_eq!(said.contains("storage: "), args[0] == "seen", "{args:?}: the keys did not fit: {said}");
        let few = args.contains(&"16") || args.contains(&"1MiB");
        assert_eq!(said.contains(" worked: --memory has no room for more"), few, "{args:?}: {said}");
        let _ = fs::remove_dir_all(&store);
    }
}
