//! Tests that `furui seen --store DIR` makes lines durable while it works: which lines it has recorded when it is
//! killed, and which it has not.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::support;
use crate::support::{TempDir, failure, furui, stdout};
use furui::store::Directory;

/// A process of `furui seen` that reads from a pipe and prints into a pipe.
struct Feed {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Feed {
    fn new(args: &[&str]) -> Self {
        let mut child =
            furui().arg("seen").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Feeds new lines and waits until they are printed.
    fn feed(&mut self, lines: &[String]) {
        self.input.write_all(&support::text(lines)).unwrap();
        for line in lines {
            let mut printed = String::new();
            self.output.read_line(&mut printed).unwrap();
            assert_eq!(printed.trim_end(), line);
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("line {i}")).collect()
}

/// The number of keys that the journal has on storage.
fn recorded(store: &str) -> u64 {
    let Ok(bytes) = fs::read(format!("{store}/JOURNAL")) else { return 0 };
    let (mut at, mut keys) = (88, 0);
    while let Some(count) = bytes.get(at..at + 4) {
        let count = u32::from_le_bytes(count.try_into().unwrap());
        at += 24 + 8 * count as usize;
        if at <= bytes.len() {
            keys += u64::from(count);
        }
    }
    keys
}

/// Waits until the journal has this many keys.
fn wait_for(store: &str, keys: u64) {
    while recorded(store) < keys {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_was_printed_before_a_pause_is_not_printed_again_after_a_kill() {
    let dir = TempDir::new();
    let store = dir.join("store");
    // Only pauses of the input cause keys to be recorded.
    let mut run = Feed::new(&["--store", &store, "--sync", "3600"]);
    run.feed(&numbered(0..500));
    wait_for(&store, 500);
    run.feed(&numbered(500..700));
    wait_for(&store, 700);
    run.kill();
    assert_eq!(stdout(&["seen", "--store", &store], &support::text(&numbered(0..701))), b"line 700\n");
    assert!(!fs::exists(format!("{store}/JOURNAL")).unwrap(), "a run that ends well leaves none");
}

#[test]
fn an_input_that_never_pauses_is_recorded_in_the_interval() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut run = Feed::new(&["--store", &store, "--sync", "0.2"]);
    let mut fed = 0;
    // The lines come one at a time. In a pause, so few lines are not worth a page of storage.
    while recorded(&store) < 20 || fed < 50 {
        run.feed(&numbered(fed..fed + 1));
        fed += 1;
    }
    run.kill();
    let kept = recorded(&store) as usize;
    assert!(
        stdout(&["seen", "--store", &store], &support::text(&numbered(0..fed))) == support::text(&numbered(kept..fed))
    );
}

/// Kills the run at random moments, and repeats the whole input each time. Lines that are printed again were in no
/// journal.
#[test]
fn after_a_kill_only_what_was_not_recorded_is_printed_again() {
    let dir = TempDir::new();
    let all = numbered(0..20_000);
    for threads in ["1", "2", "8"] {
        let store = dir.join(threads);
        let mut known = 0;
        for round in 1..8 {
            let mut run = Feed::new(&["--store", &store, "--sync", "0", "--threads", threads]);
            let end = known + 311 * round;
            run.input.write_all(&support::text(&all[..known])).unwrap();
            for chunk in all[known..end].chunks(50) {
                run.feed(chunk);
            }
            wait_for(&store, 100);
            run.kill();
            // The keys of earlier runs of the command are in a run file by now.
            known += recorded(&store) as usize;
            let again = stdout(&["seen", "-n", "--store", &store], &support::text(&all[..end]));
            assert!(again == support::text(&all[known..end]), "round {round}, {threads} threads");
            assert_eq!(stdout(&["verify", &store], b""), b"");
        }
        let again = stdout(&["seen", "--store", &store], &support::text(&all));
        assert!(again == support::text(&all[known..]));
    }
}

/// If the reader of a pipe is slow, the lines that it has read are recorded, although the process has much more to
/// print. Lines that are still in the pipe are not recorded.
#[cfg(target_os = "linux")]
#[test]
fn of_a_pipe_just_what_its_reader_has_taken_is_recorded() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let all = numbered(0..400_000);
    let input = dir.file("input", &support::text(&all));
    let mut child = furui()
        .args(["seen", "--store", &store, "--sync", "0.05", &input])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut output = child.stdout.take().unwrap();
    let mut taken = 0;
    for lines in [1, 100, 5000] {
        let bytes = support::text(&all[taken..taken + lines]).len();
        let mut printed = vec![0; bytes + 3];
        output.read_exact(&mut printed[..bytes]).unwrap();
        taken += lines;
        // The process waits for its reader now, and has nothing else to do.
        wait_for(&store, taken as u64);
        assert_eq!(recorded(&store), taken as u64);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let again = stdout(&["seen", "--store", &store, &input], b"");
    assert!(again == support::text(&all[taken..]));
}

#[test]
fn lines_printed_to_a_file_are_there_when_they_are_recorded() {
    let dir = TempDir::new();
    let (store, printed) = (dir.join("store"), dir.join("printed"));
    let mut command: Command = furui();
    command.args(["seen", "--store", &store]).stdin(Stdio::piped()).stdout(fs::File::create(&printed).unwrap());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&support::text(&numbered(0..1000))).unwrap();
    wait_for(&store, 1000);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read(&printed).unwrap(), support::text(&numbered(0..1000)));
}

#[test]
fn repeats_that_are_printed_do_not_keep_new_lines_from_being_recorded() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut run = Feed::new(&["-v", "--store", &store]);
    run.input.write_all(b"a\nb\nb\nc\n").unwrap();
    let mut printed = String::new();
    run.output.read_line(&mut printed).unwrap();
    assert_eq!(printed, "b\n");
    wait_for(&store, 3);
    run.kill();
    assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\nc\nd\n"), b"d\n");
}

#[test]
fn a_pipe_that_nobody_writes_to_yet_does_not_delay_what_was_printed() {
    let dir = TempDir::new();
    let (store, pipe) = (dir.join("store"), dir.join("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let input = dir.file("input", &support::text(&numbered(0..100)));
    let mut child = furui().args(["seen", "--store", &store, &input, &pipe]).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&store, 100);
    fs::write(&pipe, b"line 99\nline 100\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(stdout(&["seen", "--store", &store], &support::text(&numbered(0..102))), b"line 101\n");
}

#[test]
fn a_store_whose_first_run_was_killed_is_a_store() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut run = Feed::new(&["--store", &store, "--hash", "siphash"]);
    run.feed(&numbered(0..30));
    wait_for(&store, 30);
    run.kill();
    let info = |args: &[&str]| String::from_utf8(stdout(args, b"")).unwrap();
    let text = info(&["info", &store]);
    assert!(text.contains("siphash") && text.contains("30 keys, of a process that is at work or was killed"), "{text}");
    let json = info(&["info", "--json", &store]);
    assert!(json.contains("\"keys\":30") && json.contains("\"journal\":30"), "{json}");
    let journal = format!("{store}/JOURNAL");
    assert!(info(&["info", &journal]).contains("the journal of a store"));
    assert!(info(&["info", "--json", &journal]).contains("\"keys\":30"));
    assert_eq!(stdout(&["verify", &store], b""), b"");
    assert_eq!(stdout(&["verify", &journal], b""), b"");
    assert_eq!(stdout(&["seen", "-n", "--store", &store], &support::text(&numbered(0..31))), b"line 30\n");
    assert_eq!(stdout(&["compact", &store], b""), b"");
    let mut names: Vec<_> = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["0000000000000000.run", "LOCK", "MANIFEST"]);
    assert_eq!(stdout(&["seen", "--store", &store], &support::text(&numbered(0..31))), b"line 30\n");
}

#[test]
fn a_journal_that_is_gone_or_cut_is_an_error_and_nothing_is_changed() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut run = Feed::new(&["--store", &store]);
    run.feed(&numbered(0..200));
    wait_for(&store, 200);
    // The manifest follows the record.
    let known = || Directory::open_read_only(&store).unwrap().manifest().unwrap().journal_bytes;
    while known() * 2 <= fs::metadata(format!("{store}/JOURNAL")).unwrap().len() {
        std::thread::yield_now();
    }
    run.kill();
    let journal = format!("{store}/JOURNAL");
    let good = fs::read(&journal).unwrap();
    let refused = || {
        for args in [
            &["seen", "--store", &store][..],
            &["seen", "-n", "--store", &store],
            &["has", &store],
            &["verify", &store],
            &["info", &store],
            &["compact", &store],
            &["export", &store, "--u64"],
            &["seen", "--remove", "-", "--store", &store],
        ] {
            let message = failure(args, b"line 1\n");
            assert!(message.contains(&journal) && message.contains("from a copy"), "{args:?}: {message}");
        }
    };
    for length in [0, 50, 88, 96, good.len() / 2] {
        fs::write(&journal, &good[..length]).unwrap();
        refused();
        assert_eq!(fs::read(&journal).unwrap(), good[..length]);
    }
    fs::remove_file(&journal).unwrap();
    refused();
    assert!(!fs::exists(&journal).unwrap());
    fs::write(&journal, &good).unwrap();
    assert_eq!(stdout(&["seen", "--store", &store], &support::text(&numbered(0..201))), b"line 200\n");
}

#[test]
fn a_damaged_journal_is_an_error_that_names_it_and_nothing_is_changed() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut run = Feed::new(&["--store", &store]);
    // The manifest knows that the journal was begun. The last record is too short to be told to it.
    run.feed(&numbered(0..29));
    wait_for(&store, 29);
    run.feed(&numbered(29..30));
    wait_for(&store, 30);
    run.kill();
    let journal = format!("{store}/JOURNAL");
    let good = fs::read(&journal).unwrap();
    for at in [8, 70, 90, 100, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 4;
        fs::write(&journal, &bad).unwrap();
        for args in [
            &["seen", "--store", &store][..],
            &["seen", "-n", "--store", &store],
            &["verify", &store],
            &["info", &store],
            &["compact", &store],
            &["verify", &journal],
        ] {
            let message = failure(args, b"line 1\n");
            assert!(message.contains(&journal) && message.contains("at byte"), "{args:?}: {message}");
        }
        assert_eq!(fs::read(&journal).unwrap(), bad);
    }
    // The end of the journal is missing, as after a power cut during a write.
    fs::write(&journal, &good[..good.len() - 1]).unwrap();
    assert_eq!(stdout(&["verify", &store], b""), b"");
    assert!(stdout(&["seen", "--store", &store], &support::text(&numbered(0..30))).ends_with(b"line 29\n"));
}

#[test]
fn a_full_disk_is_an_error_and_what_was_recorded_before_is_kept() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let all = numbered(0..40_000);
    // A limit on the size of files stands for a full disk, which a test cannot make everywhere.
    let script =
        format!("trap '' XFSZ; ulimit -f 8; exec {} seen --sync 0 --store {store}", env!("CARGO_BIN_EXE_furui"));
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    let output = support::feed(command, &support::text(&all));
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    // The journal cannot be written. If all lines came at once, it is a run that cannot be written, before there was
    // anything to record.
    assert!(message.contains(&store) && (message.contains("JOURNAL") || message.contains(".run")), "{message}");
    assert_eq!(stdout(&["verify", &store], b""), b"");
    let kept = recorded(&store) as usize;
    assert!(stdout(&["seen", "--store", &store], &support::text(&all)) == support::text(&all[kept..]));
}

#[test]
fn a_time_that_cannot_be_is_refused() {
    let dir = TempDir::new();
    for time in ["-1", "soon", "NaN", "1e9", ""] {
        let message = failure(&["seen", "--store", &dir.join("store"), &format!("--sync={time}")], b"");
        assert!(message.contains("seconds from 0 to 86400"), "{message}");
    }
    assert!(failure(&["seen", "--sync", "1"], b"").contains("--store"));
}
