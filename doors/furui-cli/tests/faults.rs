//! Tests the real binary on a disk on which any write, sync, rename or other operation of the command may fail, with an
//! error or a short write.

use std::fs;
use std::path::Path;

use crate::disk;
use crate::disk::Disk;
use crate::disk::cases::{self, Case, Run, Scale};
use crate::support;
use crate::support::TempDir;

const KINDS: [&str; 8] = ["create", "write", "short", "sync", "rename", "unlink", "mkdir", "link"];

/// An error of the system: its number, and its message.
type Error = (i32, &'static str);

const ERRORS: [Error; 2] = [(5, "Input/output error"), (28, "No space left on device")];

const NONE: Error = (0, "none");

/// Whether the disk works again at the next operation, or keeps failing.
const TIMES: [u32; 2] = [1, u32::MAX];

macro_rules! at_every_operation {
    ($($name:ident: $case:expr;)*) => { $(
        #[test]
        fn $name() {
            // At each operation, one of the four ways to fail is tried, in turn.
            fail_everywhere(&$case, |number, way| number % 4 == way);
        }
    )* };
}

at_every_operation! {
    of_seen_with_a_new_store: cases::new_set(Scale::Small);
    of_seen_with_a_store: cases::old_set(Scale::Small);
    of_dict_number_with_a_new_dictionary: cases::new_dict(Scale::Small);
    of_dict_number_with_a_dictionary: cases::old_dict(Scale::Small);
    of_compact_of_a_store: cases::compact_set();
    of_dict_number_with_a_louds_dictionary: cases::old_louds_dict(Scale::Small);
    of_compact_of_a_dictionary: cases::compact_dict();
    of_compact_of_a_louds_dictionary: cases::compact_louds_dict();
    of_filter_build: cases::build();
    of_filter_insert: cases::insert();
    of_filter_insert_into_a_cascade: cases::insert_cascade(Scale::Small);
    of_filter_remove: cases::remove();
    of_filter_union: cases::union();
    of_dict_build_with_a_new_dictionary: cases::new_dict_build();
    of_dict_build_with_a_dictionary: cases::dict_build();
    of_seen_that_removes: cases::remove_from_set();
    of_dict_count: cases::dict_count();
    of_dict_delete: cases::dict_delete();
    of_dict_build_of_bytes: cases::dict_build_of_bytes();
    of_dict_build_of_bytes_with_a_louds_dictionary: cases::louds_dict_build_of_bytes();
    of_dict_delete_of_bytes: cases::louds_dict_delete_of_bytes();
    of_snapshot: cases::snapshot_set();
    of_snapshot_of_a_dictionary: cases::snapshot_dict();
    of_snapshot_with_a_journal: cases::snapshot_journal();
    of_seen_with_tiers: cases::seen_with_tiers();
    of_union_of_stores: cases::union_stores();
    of_subtract: cases::subtract();
    of_intersect: cases::intersect();
    of_import: cases::import();
    of_commit: cases::commit();
    of_seen_with_pending_keys: cases::pending();
    of_seen_that_records_as_it_goes: cases::bursts("seen in bursts", false);
}

/// A system may write and read less than it is asked to, which is no error.
#[test]
fn transfers_may_be_short() {
    let Some(disk) = Disk::new() else { return };
    for case in cases::all(Scale::Small).into_iter().chain([cases::bursts("seen in bursts", false)]) {
        let root = TempDir::in_memory();
        (case.prepare)(root.path());
        let short = || {
            let mut command = support::furui();
            command.envs(
                disk.furui(root.path(), Path::new("")).get_envs().filter_map(|(name, value)| Some((name, value?))),
            );
            command.env_remove("DISK_TRACE").env("DISK_SHORT", "1");
            command
        };
        let output = (case.run)(short(), root.path());
        assert!(disk::ended_well(&output), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
        let run = Run { printed: output.stdout, finished: true, ..Run::default() };
        (case.check)(root.path(), &[run]).unwrap_or_else(|what| panic!("{}: {what}", case.name));
        for name in ["store", "copy", "f"].iter().filter(|name| root.path().join(name).exists()) {
            let mut verify = short();
            verify.args(["verify", &cases::path(root.path(), name)]);
            let output = support::feed(verify, b"");
            assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
#[ignore = "takes some minutes"]
fn at_every_operation_of_long_runs_in_every_way() {
    cases::all(Scale::Large).iter().for_each(|case| fail_everywhere(case, |_, _| true));
}

fn fail_everywhere(case: &Case, wanted: impl Fn(usize, usize) -> bool) {
    let Some(disk) = Disk::new() else { return };
    let (start, root, trace) = (TempDir::in_memory(), TempDir::in_memory(), TempDir::in_memory());
    (case.prepare)(start.path());
    disk::copy(start.path(), root.path());
    let trace = trace.path().join("trace");
    let output = (case.run)(disk.furui(root.path(), &trace), root.path());
    assert!(disk::ended_well(&output), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    let events = disk::events(&trace);
    let ways = || ERRORS.into_iter().flat_map(|error| TIMES.map(|times| (error, times)));
    let mut faults: Vec<(&str, usize, Error, u32)> = vec![];
    for kind in KINDS {
        for number in 0..disk::count(&events, kind) {
            let chosen = ways().enumerate().filter(|&(way, _)| wanted(number, way));
            faults.extend(chosen.map(|(_, (error, times))| (kind, number, error, times)));
        }
    }
    // A write may also be short, which is not an error.
    faults.extend((0..disk::count(&events, "short")).map(|number| ("short", number, NONE, 1)));
    let (mut outlived, mut missed, mut wrong) = (0, 0, vec![]);
    for &(kind, number, error, times) in &faults {
        match fail(disk, case, start.path(), (kind, number, error, times)) {
            Ok(Outcome::Reported) => {}
            Ok(Outcome::Outlived) => outlived += 1,
            // The number of pages of a run depends on the seed of its hash, so the operation that was to fail may not
            // happen.
            Ok(Outcome::Missed) => missed += 1,
            Err(what) => wrong.push(format!("{}: {kind} {number}, {}, {times} times: {what}", case.name, error.1)),
        }
    }
    println!(
        "{}: {} operations, {} faults, of which {outlived} did not matter and {missed} did not happen",
        case.name,
        events.len(),
        faults.len()
    );
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

enum Outcome {
    Reported,
    Outlived,
    Missed,
}

/// Runs the case with one fault.
fn fail(
    disk: &Disk,
    case: &Case,
    start: &Path,
    (kind, number, (error, words), times): (&str, usize, Error, u32),
) -> Result<Outcome, String> {
    let (root, trace) = (TempDir::in_memory(), TempDir::in_memory());
    disk::copy(start, root.path());
    let trace = trace.path().join("trace");
    let mut command = disk.furui(root.path(), &trace);
    command.env("DISK_FAULT", format!("{kind} {number} {error} {times}"));
    let output = (case.run)(command, root.path());
    let message = String::from_utf8_lossy(&output.stderr);
    let finished = disk::ended_well(&output);
    let happened = disk::events(&trace).iter().any(|event| event.op == b'F');
    let outcome = match output.status.code() {
        Some(0 | 1) if !happened => Outcome::Missed,
        // A file to remove may stay until the next run removes it. A file that cannot be linked is copied.
        Some(0 | 1) if ["unlink", "link"].contains(&kind) || error == 0 => Outcome::Outlived,
        Some(0 | 1) => return Err("the error was not reported".to_owned()),
        Some(2) if error != 0 && message.contains(words) && message.contains(root.path().to_str().unwrap()) => {
            Outcome::Reported
        }
        _ => return Err(format!("{}: {message}", output.status)),
    };
    (case.check)(root.path(), &[Run { printed: output.stdout, finished, ..Run::default() }])?;
    // Once the disk works, the next run continues. The rest of an incomplete copy is for the user to remove.
    let copy = root.path().join("copy");
    if copy.exists() {
        fs::remove_dir_all(copy).unwrap();
    }
    let again = (case.run)(support::furui(), root.path());
    if !disk::ended_well(&again) {
        return Err(format!("the next run: {}", String::from_utf8_lossy(&again.stderr)));
    }
    let left = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    match left.into_iter().find(|name| name.ends_with(".furui-tmp")) {
        Some(name) => Err(format!("{name} is left over")),
        None => Ok(outcome),
    }
}
