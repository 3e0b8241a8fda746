//! How the file of a filter is replaced.

use std::fs;

#[cfg(unix)]
use rustix::process::Signal;

use crate::filter::build;
#[cfg(unix)]
use crate::support::signal;
use crate::support::{TempDir, failure, furui, furui_for_signals, stdout};

#[test]
#[cfg(unix)]
fn a_lock_that_somebody_holds_does_not_stop_a_filter_from_being_written() {
    let dir = TempDir::new();
    let (filter, temporary) = (dir.join("f"), dir.file("f.furui-tmp", b"of another process"));
    let held = fs::File::open(&temporary).unwrap();
    held.lock().unwrap();
    build("bloom", &[], &filter, b"a\n");
    assert_eq!(stdout(&["has", &filter], b"a\nb\n"), b"a\n");
    assert_eq!(fs::read(&temporary).unwrap(), b"of another process");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "the other name is gone");
}

#[test]
fn a_filter_goes_through_pipes() {
    let dir = TempDir::new();
    let filter = stdout(&["filter", "build", "-o", "-"], b"a\n");
    let path = dir.file("f", &filter);
    assert_eq!(stdout(&["has", &path], b"a\n"), b"a\n");
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link_and_what_it_names_is_replaced() {
    let dir = TempDir::new();
    let (link, real) = (dir.join("link"), dir.join("real"));
    std::os::unix::fs::symlink("real", &link).unwrap();
    build("bloom", &[], &link, b"a\n");
    assert_eq!(stdout(&["filter", "insert", &link], b"b\n"), b"");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(stdout(&["has", &real], b"a\nb\n"), b"a\nb\n");
    let round = dir.join("round");
    std::os::unix::fs::symlink("round", &round).unwrap();
    assert!(failure(&["filter", "build", "-o", &round], b"a\n").contains("symbolic links"));
}

#[test]
#[cfg(target_os = "linux")]
fn standard_output_is_written_to_by_either_name() {
    use std::process::Stdio;
    let dir = TempDir::new();
    // The link is like /dev/stdout.
    let link = dir.join("stdout");
    std::os::unix::fs::symlink("/proc/self/fd/1", &link).unwrap();
    for name in ["-", &link] {
        let path = dir.join("f");
        let mut command = furui();
        command.args(["filter", "build", "-o", name, &dir.file("lines", b"a\n")]);
        assert!(command.stdout(fs::File::create(&path).unwrap()).stdin(Stdio::null()).status().unwrap().success());
        assert_eq!(stdout(&["has", &path], b"a\nb\n"), b"a\n", "{name}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
    }
}

#[test]
#[cfg(unix)]
fn a_filter_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new();
    let filter = dir.join("f");
    build("bloom", &[], &filter, b"a\n");
    for mode in [0o600, 0o640, 0o444] {
        fs::set_permissions(&filter, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(stdout(&["filter", "insert", &filter], b"b\n"), b"");
        assert_eq!(fs::metadata(&filter).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn writers_of_one_file_wait_for_each_other() {
    let dir = TempDir::new();
    let filter = dir.join("f");
    // The files are large enough for the writers to overlap.
    let start = |line: &str| {
        let lines = dir.file(line, line.as_bytes());
        furui().args(["filter", "build", "-c", "30000000", "-o", &filter, &lines]).spawn().unwrap()
    };
    let writers = ["a", "b", "c", "d"].map(start);
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(stdout(&["verify", &filter], b""), b"");
    assert_eq!(stdout(&["has", "--count", &filter], b"a\nb\nc\nd\n"), b"1\n", "whole, and of one writer");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5, "no file is left behind");
}

#[test]
#[cfg(unix)]
fn what_a_killed_writer_left_is_removed_and_nothing_else() {
    let dir = TempDir::new();
    let (filter, victim) = (dir.join("f"), dir.file("victim", b"kept\n"));
    let left = "f.0123abcd.furui-tmp";
    let others = ["f.furui-tmp", "f.0123abc.furui-tmp", "f.0123abcg.furui-tmp", "g.0123abcd.furui-tmp", "f.0123abcd"];
    others.iter().for_each(|name| drop(dir.file(name, b"kept\n")));
    std::os::unix::fs::symlink("victim", dir.join("f.89abcdef.furui-tmp")).unwrap();
    let held = fs::File::open(dir.file("f.00000000.furui-tmp", b"of a writer that is at work")).unwrap();
    held.lock().unwrap();
    // Another process still reads the earlier filter of that name.
    build("bloom", &[], &dir.join(left), b"a\n");
    assert_eq!(stdout(&["union", &dir.join(left), "-o", &filter], b""), b"");
    assert_eq!(stdout(&["has", &filter], b"a\n"), b"a\n");
    assert!(!fs::exists(dir.join(left)).unwrap());
    assert!(others.iter().all(|name| fs::read(dir.join(name)).unwrap() == b"kept\n"));
    assert_eq!(fs::read(&victim).unwrap(), b"kept\n");
    assert!(
        fs::exists(dir.join("f.00000000.furui-tmp")).unwrap() && fs::exists(dir.join("f.89abcdef.furui-tmp")).unwrap()
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), others.len() + 4);
}

#[test]
#[cfg(unix)]
fn a_signal_leaves_no_half_written_file() {
    use std::os::unix::process::ExitStatusExt;
    for name in [Signal::INT, Signal::TERM, Signal::HUP] {
        let dir = TempDir::new();
        let lines = dir.file("lines", b"a\n");
        let is_temporary = |entry: std::io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().to_str().is_some_and(|name| name.ends_with(".furui-tmp"))
        };
        let any_temporary = || fs::read_dir(dir.path()).unwrap().any(is_temporary);
        let mut command = furui_for_signals();
        command.args(["filter", "build", "-c", "100000000", "-o", &dir.join("f"), &lines]);
        let mut process = command.spawn().unwrap();
        while !any_temporary() && process.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        signal(&process, name);
        let status = process.wait().unwrap();
        // The file may have been complete before the signal came.
        assert!(status.signal().is_some() || status.success(), "{name:?}: {status}");
        assert!(!any_temporary(), "{name:?}");
        assert_eq!(fs::exists(dir.join("f")).unwrap(), status.success(), "{name:?}: {status}");
    }
}

#[test]
#[cfg(unix)]
fn a_change_that_was_begun_is_not_undone_and_undoes_nothing() {
    use std::io::Write;
    let dir = TempDir::new();
    let (filter, lines) = (dir.join("f"), dir.file("lines", b"later\n"));
    build("bloom", &["-c", "1000"], &filter, b"first\n");
    let mut change = furui();
    let mut change = change.args(["filter", "insert", &filter]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = change.stdin.take().unwrap();
    // The input is more than a pipe holds, so the process has begun to read, and has the lock.
    stdin.write_all(&b"second\n".repeat(100_000)).unwrap();
    assert!(failure(&["filter", "insert", &filter], b"").contains("another process"));
    let mut other = furui().args(["filter", "build", "-c", "1000", "-o", &filter, &lines]).spawn().unwrap();
    drop(stdin);
    assert!(change.wait().unwrap().success() && other.wait().unwrap().success());
    assert_eq!(stdout(&["has", &filter], b"first\nsecond\nlater\n"), b"later\n");
}
