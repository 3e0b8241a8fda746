//! Tests the binary `furui seen --store DIR`: the lines that are recorded, and the effects of failures.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

#[cfg(unix)]
use rustix::process::Signal;

#[cfg(unix)]
use crate::support::signal;
use crate::support::{TempDir, distinct, failure, feed, furui, furui_for_signals, lines, run, stdout, text};

#[test]
fn the_next_run_goes_on_from_there() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let args = ["seen", "--store", &store];
    assert_eq!(stdout(&args, b"a\nb\na\n"), b"a\nb\n");
    assert_eq!(stdout(&args, b"b\nc\n"), b"c\n");
    assert_eq!(stdout(&args, b""), b"");
    assert_eq!(stdout(&["seen", "-v", "--store", &store], b"c\nd\n"), b"c\n");
    assert_eq!(stdout(&args, b"d\ne\n"), b"e\n");
}

#[test]
fn a_dry_run_records_nothing() {
    let dir = TempDir::new();
    let store = dir.join("store");
    assert_eq!(stdout(&["seen", "-n", "--store", &store], b"a\na\n"), b"a\n");
    assert!(!fs::exists(&store).expect("a path"), "a dry run makes no store");
    assert_eq!(stdout(&["seen", "--store", &store], b"a\n"), b"a\n");
    for _ in 0..2 {
        assert_eq!(stdout(&["seen", "-n", "--store", &store], b"a\nb\nb\n"), b"b\n");
    }
}

#[test]
fn sets_larger_than_memory_give_the_same_lines() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let (first, second) = (lines(900_000, 5), lines(900_000, 6));
    let all = distinct(&[first.clone(), second.clone()].concat());
    let expected_first = distinct(&first);
    // With 256 MiB the lines are taken in larger batches.
    let ways = ["--cache=recent --memory=1MiB", "--cache=lru --memory=1MiB", "--cache=none --memory=1MiB"];
    for way in ways.into_iter().chain(["--memory=1MiB --no-mmap", "--memory=256MiB", "--memory=256MiB --no-mmap"]) {
        let _ = fs::remove_dir_all(&store);
        let args: Vec<&str> = ["seen", "--store", &store].into_iter().chain(way.split(' ')).collect();
        if way.contains("256MiB") {
            stdout(&["seen", "--memory=1MiB", "--store", &store], &text(&first));
        } else {
            assert!(stdout(&args, &text(&first)) == text(&expected_first), "{way}");
        }
        assert!(stdout(&args, &text(&second)) == text(&all[expected_first.len()..]), "{way}");
    }
    // Without a store, keys that do not fit go to a temporary directory, which is removed at the end.
    let temporary = TempDir::new();
    let mut command = furui();
    command.args(["seen", "--memory", "1MiB"]).env("TMPDIR", temporary.path());
    let output = feed(command, &text(&[first, second].concat()));
    assert!(output.stdout == text(&all) && output.status.success());
    assert_eq!(fs::read_dir(temporary.path()).expect("a directory").count(), 0);
}

#[test]
fn a_second_process_is_told_that_the_store_is_in_use() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut child = furui()
        .args(["seen", "--store", &store])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    input.write_all(b"a\n").expect("it reads");
    output.read_line(&mut String::new()).expect("it answers, so it holds the lock");
    let message = failure(&["seen", "--store", &store], b"b\n");
    assert!(message.contains(&store) && message.contains("in use"), "{message}");
    drop(input);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\n"), b"b\n");
}

/// Kills the process at a random point of a run, again and again, and repeats the whole input each time. The outputs
/// together hold every line, and lines printed by a completed run are never printed again.
#[test]
fn after_kill_every_line_was_printed_by_one_run_or_the_next() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let all = lines(400_000, 7);
    let input = dir.file("input", &text(&all));
    let args = ["seen", "--memory", "1MiB", "--store", &store, &input];
    let mut printed: HashSet<String> = HashSet::new();
    for round in 0..12usize {
        let mut child = furui().args(args).stdout(Stdio::piped()).spawn().expect("the binary");
        // The moment of the kill is counted in lines of output, so that every phase of the run is hit.
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        let mut count = 0;
        while count < round * 9_000 && output.read_line(&mut line).expect("text") > 0 {
            printed.insert(line.trim_end().to_string());
            line.clear();
            count += 1;
        }
        child.kill().expect("still ours");
        child.wait().expect("it ends");
        // Lines that had reached the pipe were printed, too, except for a last line that the kill cut off.
        while output.read_line(&mut line).expect("text") > 0 {
            printed.extend(line.strip_suffix('\n').map(str::to_string));
            line.clear();
        }
    }
    let last = run(&args, b"");
    assert_eq!(last.status.code(), Some(0), "{}", String::from_utf8_lossy(&last.stderr));
    printed.extend(String::from_utf8(last.stdout).expect("text").lines().map(str::to_string));
    assert_eq!(printed.len(), distinct(&all).len());
    assert_eq!(stdout(&args, b""), b"", "a completed run is never forgotten");
}

#[cfg(unix)]
#[test]
fn a_line_that_a_kill_has_torn_does_not_swallow_the_next() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let printed = dir.file("printed", b"whole\nto");
    let append = fs::OpenOptions::new().append(true).open(&printed).expect("a file");
    let mut command = furui();
    command.args(["seen", "--store", &store, &dir.file("input", b"torn\nnext\n")]).stdout(append);
    assert!(command.status().expect("the binary").success());
    assert_eq!(fs::read(&printed).expect("a file"), b"whole\nto\ntorn\nnext\n");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_records_what_it_printed() {
    let dir = TempDir::new();
    let store = dir.join("store");
    for (name, line, code) in [(Signal::INT, "a\n", 130), (Signal::TERM, "b\n", 143), (Signal::HUP, "c\n", 129)] {
        let mut child = furui_for_signals()
            .args(["seen", "--store", &store])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary");
        let mut input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        input.write_all(line.as_bytes()).expect("it reads");
        let mut answer = String::new();
        output.read_line(&mut answer).expect("it answers");
        assert_eq!(answer, line);
        signal(&child, name);
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{name:?}");
    }
    assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\nc\nd\n"), b"d\n");
}

/// A pipe holds thousands of lines. If its reader dies together with `furui`, as on ^C in a pipeline, lines left in the
/// pipe do not count as printed.
#[cfg(unix)]
#[test]
fn what_is_left_in_a_pipe_when_the_reader_dies_is_not_recorded() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let input = text(&(0..2000).map(|i| format!("line {i}")).collect::<Vec<_>>());
    let mut child = furui_for_signals()
        .args(["seen", "--store", &store])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut stdin = child.stdin.take().expect("piped");
    let mut reader = child.stdout.take().expect("piped");
    stdin.write_all(&input).expect("it reads");
    // The first bytes have arrived, so the batch was processed; most of its output is still in the pipe.
    std::io::Read::read_exact(&mut reader, &mut [0; 100]).expect("it answers");
    signal(&child, Signal::INT);
    drop(reader);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    drop(stdin);
    // On a busy machine the lines that were read may have been recorded before the signal came.
    let again = stdout(&["seen", "--store", &store], &input);
    assert!(input.ends_with(&again) && input.len() - again.len() <= 100, "all other lines come again");
}

#[test]
fn a_bad_file_does_not_cost_the_record_of_the_good_ones() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let (good, missing) = (dir.file("good", b"a\nb\n"), dir.join("missing"));
    let output = run(&["seen", "--store", &store, &good, &missing], b"");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b"a\nb\n"[..]));
    assert_eq!(stdout(&["seen", "--store", &store, &good], b""), b"");
}

#[test]
fn a_run_without_lines_leaves_a_store_with_its_hash() {
    let dir = TempDir::new();
    let store = dir.join("store");
    assert_eq!(stdout(&["seen", "--store", &store, "--hash", "siphash"], b""), b"");
    assert!(String::from_utf8(stdout(&["info", &store], b"")).expect("text").contains("siphash"));
    assert_eq!(stdout(&["compact", &store], b""), b"");
    assert_eq!(stdout(&["verify", &store], b""), b"");
}

#[test]
fn a_store_keeps_its_hash() {
    let dir = TempDir::new();
    let store = dir.join("store");
    assert_eq!(stdout(&["seen", "--store", &store, "--hash", "siphash", "--hash-seed", "0x17"], b"a\n"), b"a\n");
    assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\n"), b"b\n");
    assert_eq!(stdout(&["seen", "--store", &store, "--hash-seed", "23"], b"b\n"), b"");
    for other in [["--hash", "xxh3"], ["--hash-seed", "24"]] {
        let args = [&["seen", "--store", &store][..], &other].concat();
        let message = failure(&args, b"a\n");
        assert!(message.contains("MANIFEST") && message.contains("siphash"), "{message}");
    }
}

#[test]
fn damage_is_an_error_that_names_the_file_and_changes_nothing() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let all = lines(300_000, 8);
    stdout(&["seen", "--memory", "1MiB", "--store", &store], &text(&all));
    let files = |store: &str| -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(store)
            .expect("a store")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.to_str().expect("text").to_string(), fs::read(&path).expect("a file")))
            .collect();
        files.sort();
        files
    };
    let healthy = files(&store);
    for (path, bytes) in healthy.iter().filter(|(path, _)| !path.ends_with("LOCK")) {
        let damages: [(&str, Option<Vec<u8>>); 5] = [
            ("missing", None),
            ("empty", Some(vec![])),
            ("truncated", Some(bytes[..bytes.len() - 1].to_vec())),
            ("flipped at the start", Some(flip(bytes, 9))),
            ("flipped in the middle", Some(flip(bytes, bytes.len() / 2))),
        ];
        for (what, damage) in damages {
            match &damage {
                Some(bytes) => fs::write(path, bytes).expect("writable"),
                None => fs::remove_file(path).expect("removable"),
            }
            let before = files(&store);
            for args in
                [&["seen", "--store", &store][..], &["seen", "--no-mmap", "--store", &store], &["verify", &store]]
            {
                let message = failure(args, &text(&all));
                assert!(message.contains(path.as_str()), "{args:?}: {what}: {message}");
            }
            assert!(files(&store) == before, "{what}: {path} was changed");
            fs::write(path, bytes).expect("writable");
        }
    }
    assert_eq!(stdout(&["seen", "--store", &store], &text(&all)), b"");
}

fn flip(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x10;
    bytes
}

#[test]
fn a_directory_with_other_things_is_no_store() {
    let dir = TempDir::new();
    dir.file("letter.txt", b"dear");
    dir.file("draft.tmp", b"dear");
    let path = dir.join("");
    for args in [&["seen", "--store", &path][..], &["info", &path], &["verify", &path], &["compact", &path]] {
        let message = failure(args, b"a\n");
        assert!(message.contains("store"), "{args:?}: {message}");
    }
    let mut names: Vec<_> = fs::read_dir(dir.path()).expect("ours").map(|e| e.expect("entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["draft.tmp", "letter.txt"], "and nothing in it is touched");
    let file = dir.join("letter.txt");
    assert!(failure(&["seen", "--store", &file], b"a\n").contains("directory"));
}

#[test]
fn a_directory_of_another_program_with_a_lock_is_no_store() {
    let dir = TempDir::new();
    dir.file("LOCK", b"");
    dir.file("000001.sst", b"dear");
    let path = dir.join("");
    for args in [&["seen", "--store", &path][..], &["seen", "-n", "--store", &path], &["info", &path]] {
        assert!(failure(args, b"a\n").contains("store"));
    }
    assert_eq!(fs::read_dir(dir.path()).expect("ours").count(), 2);
}

#[test]
fn single_files_are_described_and_verified() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["seen", "-q", "--store", &store], b"a\nb\n");
    let run = format!("{store}/0000000000000000.run");
    assert!(String::from_utf8(stdout(&["info", &run], b"")).expect("text").contains("a run of a store"));
    for file in [&run, &format!("{store}/MANIFEST")] {
        assert_eq!(stdout(&["verify", file], b""), b"");
    }
    let mut bytes = fs::read(&run).expect("a file");
    bytes[4096 + 500] ^= 1;
    let odd = dir.file("copy: odd name", &bytes);
    assert!(failure(&["verify", &odd], b"").contains(&odd));
    assert!(failure(&["info", &dir.file("letter", b"dear")], b"").contains("not a furui file"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_the_store_opens_again() {
    let dir = TempDir::new();
    let store = dir.join("store");
    assert_eq!(stdout(&["seen", "--store", &store], b"before\n"), b"before\n");
    let all = lines(600_000, 9);
    let input = dir.file("input", &text(&all));
    // A limit on the size of files stands for a full disk, which a test cannot make everywhere.
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec {} seen -q --memory 1MiB --store {store} {input}",
        env!("CARGO_BIN_EXE_furui")
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]);
    let output = feed(command, b"");
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(&store), "{message}");
    assert_eq!(stdout(&["verify", &store], b"").len(), 0);
    let again = stdout(&["seen", "--store", &store], &[&b"before\n"[..], &text(&all)].concat());
    assert!(!again.starts_with(b"before\n"), "keys that were recorded before are not forgotten");
}

#[test]
fn compact_leaves_one_run_with_the_same_lines() {
    let dir = TempDir::new();
    let store = dir.join("store");
    let all = lines(1_200_000, 10);
    stdout(&["seen", "-q", "--memory", "1MiB", "--store", &store], &text(&all));
    let runs = || fs::read_dir(&store).expect("a store").filter(|e| has_suffix(e, ".run")).count();
    stdout(&["compact", &store], b"");
    assert_eq!(runs(), 1);
    stdout(&["verify", &store], b"");
    assert_eq!(stdout(&["seen", "--store", &store], &text(&all)), b"");
    let info = String::from_utf8(stdout(&["info", &store], b"")).expect("text");
    assert!(info.contains(" in 1 run, "), "{info}");
    let json = String::from_utf8(stdout(&["info", "--json", &store], b"")).expect("text");
    assert!(json.contains(&format!("\"keys\":{}", distinct(&all).len())), "{json}");
}

fn has_suffix(entry: &std::io::Result<fs::DirEntry>, suffix: &str) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(suffix)))
}

/// A process that works on a store until its input ends.
struct Writer {
    child: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Writer {
    fn new(args: &[&str]) -> Self {
        let mut child = furui().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Sends a line, and reads the line that is printed for it. After that, the process certainly has the lock.
    fn answer(&mut self, line: &str) -> String {
        self.input.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_store_is_read_while_another_process_writes_to_it() {
    let dir = TempDir::new();
    let store = dir.join("store");
    stdout(&["seen", "-q", "--store", &store], b"old\n");
    let mut writer = Writer::new(&["seen", "--store", &store]);
    assert_eq!(writer.answer("new\n"), "new\n");
    assert_eq!(stdout(&["seen", "-n", "--store", &store], b"old\nother\n"), b"other\n");
    assert!(String::from_utf8(stdout(&["info", &store], b"")).unwrap().contains("keys"));
    assert_eq!(stdout(&["verify", &store], b""), b"");
    // A process that reads for a long time does not block others.
    let mut reader = Writer::new(&["seen", "-n", "--store", &store]);
    assert_eq!(reader.answer("unseen\n"), "unseen\n");
    writer.end();
    assert_eq!(stdout(&["seen", "--store", &store], b"old\nnew\nnewer\n"), b"newer\n");
    stdout(&["compact", &store], b"");
    assert_eq!(reader.answer("old\nunheard\n"), "unheard\n");
    reader.end();
}

#[test]
fn writers_wait_if_they_are_told_to() {
    let dir = TempDir::new();
    let (seen, dict) = (dir.join("seen"), dir.join("dict"));
    let mut writers = [&["seen", "--store", &seen][..], &["dict", "number", "--store", &dict]].map(Writer::new);
    assert_eq!(writers.each_mut().map(|writer| writer.answer("a\n")), ["a\n", "0\n"]);
    for (args, store) in [
        (&["seen", "--wait=0.01", "--store", &seen][..], &seen),
        (&["dict", "number", "--wait=0", "--store", &dict], &dict),
    ] {
        let message = failure(args, b"b\n");
        assert!(message.contains(store.as_str()) && message.contains("in use") && message.contains(" s"), "{message}");
    }
    assert!(failure(&["seen", "--store", &seen], b"b\n").contains("--wait"));
    assert!(failure(&["seen", "--store", &seen, "--wait=-1"], b"b\n").contains("seconds"));
    let mut waiting = [
        Writer::new(&["seen", "--wait", "--store", &seen]),
        Writer::new(&["dict", "number", "--wait=1000", "--store", &dict]),
    ];
    for writer in &mut waiting {
        writer.input.write_all(b"a\nb\n").unwrap();
        assert!(writer.child.try_wait().unwrap().is_none(), "it waits");
    }
    writers.into_iter().for_each(Writer::end);
    let [mut first, mut second] = waiting;
    assert_eq!([first.answer(""), second.answer(""), second.answer("")], ["b\n", "0\n", "1\n"]);
    first.end();
    second.end();
    for args in [
        &["compact", "--wait", &seen][..],
        &["compact", "--wait=1", &dict],
        &["dict", "build", "--wait", "--store", &dict],
        &["dict", "delete", "--wait", "--store", &dict],
    ] {
        let output = run(args, b"a\n");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_waits_for_the_lock_ends_on_a_signal() {
    use std::os::unix::process::ExitStatusExt;
    let dir = TempDir::new();
    let store = dir.join("store");
    let mut writer = Writer::new(&["seen", "--store", &store]);
    writer.answer("a\n");
    let mut waiting =
        furui_for_signals().args(["seen", "--wait", "--store", &store]).stdin(Stdio::null()).spawn().unwrap();
    // The signal is lost if it comes before the process has enabled it, and nothing tells when it has.
    let status = loop {
        signal(&waiting, Signal::INT);
        if let Some(status) = waiting.try_wait().unwrap() {
            break status;
        }
        std::thread::yield_now();
    };
    assert!(status.signal().is_some());
    writer.end();
}

#[test]
fn a_snapshot_is_a_store_of_what_was_recorded() {
    let dir = TempDir::new();
    let (store, copy) = (dir.join("store"), dir.join("copy"));
    stdout(&["seen", "-q", "--store", &store], b"a\n");
    let mut writer = Writer::new(&["seen", "--store", &store]);
    writer.answer("b\n");
    // What the writer records later is not in the copy: neither in its journal nor in any other of its files.
    let journal = |store: &str| fs::read(format!("{store}/JOURNAL")).unwrap_or_default();
    while journal(&store).is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(stdout(&["snapshot", &store, &copy], b""), b"");
    let copied = journal(&copy);
    writer.answer("later\n");
    while journal(&store).len() <= copied.len() {
        std::thread::yield_now();
    }
    assert!(journal(&copy) == copied && copied.len() > 88, "the journal is copied, not linked");
    assert_eq!(stdout(&["seen", "-n", "--store", &copy], b"a\nb\nlater\n"), b"later\n");
    writer.end();
    assert_eq!(stdout(&["verify", &copy], b""), b"");
    assert_eq!(stdout(&["seen", "--store", &copy], b"a\nc\n"), b"c\n");
    assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\nlater\nc\n"), b"c\n");
    assert!(failure(&["snapshot", &store, &copy], b"").contains("holds a store"));
    assert!(failure(&["snapshot", &dir.join("gone"), &dir.join("new")], b"").contains("gone"));
    dir.file("letter", b"dear");
    assert!(failure(&["snapshot", &store, &dir.join("")], b"").contains("other files"));
}

#[test]
fn a_store_whose_first_run_was_killed_is_said_to_be_one() {
    let dir = TempDir::new();
    let store = dir.join("store");
    fs::create_dir(&store).unwrap();
    assert!(failure(&["info", &store], b"").contains("not a store"));
    dir.file("store/LOCK", b"");
    for verb in ["info", "verify", "compact"] {
        let message = failure(&[verb, &store], b"");
        assert!(message.contains("nothing is recorded here yet") && message.contains("killed"), "{message}");
    }
    let dict = dir.join("dict");
    assert_eq!(stdout(&["dict", "number", "--store", &dict], b""), b"");
    assert_eq!(stdout(&["verify", &dict], b""), b"", "a run without input has made a dictionary");
    assert_eq!(stdout(&["seen", "--store", &store], b"a\n"), b"a\n");
}

#[test]
fn a_store_may_be_made_where_a_file_system_keeps_things() {
    let dir = TempDir::new();
    let store = dir.join("");
    fs::create_dir(dir.join("lost+found")).unwrap();
    dir.file(".DS_Store", b"");
    assert_eq!(stdout(&["seen", "--store", &store], b"a\n"), b"a\n");
    assert_eq!(stdout(&["seen", "--store", &store], b"a\nb\n"), b"b\n");
}

#[cfg(unix)]
#[test]
fn a_store_is_restored_as_the_page_on_stores_says() {
    let page = include_str!("../../../docs/stores.md");
    let restore = page.lines().skip_while(|line| !line.starts_with("To restore a store"));
    let restore = restore.filter_map(|line| line.strip_prefix("    ")).take(3);
    let commands: Vec<&str> = ["furui snapshot DIR COPY"].into_iter().chain(restore).collect();
    assert!(page.contains("\n    furui snapshot DIR COPY\n") && commands.len() == 4);
    let dir = TempDir::new();
    let path = std::path::Path::new(env!("CARGO_BIN_EXE_furui")).parent().unwrap();
    let sh = |script: &str| {
        let mut command = std::process::Command::new("sh");
        let search = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        let status = command.args(["-ec", script]).current_dir(dir.path()).env("PATH", search).status();
        assert!(status.unwrap().success(), "{script}");
    };
    stdout(&["seen", "-q", "--store", &dir.join("DIR")], b"a\n");
    sh(commands[0]);
    stdout(&["seen", "-q", "--store", &dir.join("DIR")], b"b\n");
    sh(&commands[1..].join("\n"));
    for store in ["DIR", "COPY"] {
        assert_eq!(stdout(&["seen", "--store", &dir.join(store)], b"a\nb\n"), b"b\n");
    }
}
