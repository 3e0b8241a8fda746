//! Storage: the laws that every kind of storage keeps, and the particular properties of each kind.

use std::error::Error as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use furui::error::{StoreError, StoreProblem};
use furui::format::{self, Access, WriteError};
use furui::store::{Directory, MANIFEST, Memory, Overlay, ReadAt, Scratch, Storage};
use furui::{Error, Result};

/// A new empty directory for one test.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("storage").join(test);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{}: {error}", path.display()),
        _ => fs::create_dir_all(&path).unwrap(),
    }
    path
}

fn publish(storage: &impl Storage, name: &str, bytes: &[u8]) {
    storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
}

fn content(file: &impl ReadAt) -> Vec<u8> {
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn read(storage: &impl Storage, name: &str) -> Vec<u8> {
    content(&storage.open(name).unwrap())
}

fn assert_not_found<T>(outcome: Result<T>) {
    match outcome {
        Err(Error::Io { source, file, .. }) => {
            assert_eq!(source.kind(), io::ErrorKind::NotFound);
            assert!(file.contains("gone"), "the message names the file: {file}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("found"),
    }
}

/// Checks the laws of storage. The storage is empty at the start and at the end.
fn keeps_the_laws(storage: &impl Storage) {
    assert_eq!(storage.list().unwrap(), [""; 0]);
    assert_not_found(storage.open("gone"));
    assert_not_found(storage.remove("gone"));

    // A file has the bytes that were written, even in pieces, and `publish` returns the value that the writer returns.
    let long: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    let returned = storage.publish("b", |out| {
        long.chunks(70_001).for_each(|chunk| out.write_all(chunk).unwrap());
        Ok(42)
    });
    assert_eq!(returned.unwrap(), 42);
    publish(storage, "a", b"");
    publish(storage, "c", b"small");
    assert_eq!(storage.list().unwrap(), ["a", "b", "c"]);
    let b = storage.open("b").unwrap();
    assert_eq!(content(&b), long);
    assert_eq!((b.len(), b.is_empty()), (long.len() as u64, false));
    assert!(storage.open("a").unwrap().is_empty());

    // A file can be read at any position. A map, if there is one, shows equal bytes, even after its pages were
    // released.
    let mut three = [0; 3];
    b.read_at(500_001, &mut three).unwrap();
    assert_eq!(three, long[500_001..500_004]);
    assert_eq!(b.mapped().unwrap_or(&long), long);
    b.read_at(b.len(), &mut []).unwrap();
    for beyond in [b.len() - 2, b.len(), u64::MAX / 2] {
        assert_eq!(b.read_at(beyond, &mut three).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    // A writer that fails changes nothing.
    for name in ["b", "new"] {
        let failed = storage.publish(name, |out| -> Result<()> {
            out.write_all(&long).unwrap();
            Err(Error::NoNumberLeft { to: "this test" })
        });
        assert!(matches!(failed, Err(Error::NoNumberLeft { to: "this test" })));
        assert_eq!(storage.list().unwrap(), ["a", "b", "c"]);
        assert_eq!(read(storage, "b"), long);
    }

    // Replacing or removing a file does not affect readers that have it open.
    publish(storage, "b", b"other");
    assert_eq!(read(storage, "b"), b"other");
    storage.remove("b").unwrap();
    assert_eq!(content(&b), long);
    assert_eq!(b.mapped().unwrap_or(&long), long);
    assert_eq!(storage.list().unwrap(), ["a", "c"]);
    storage.remove("a").unwrap();
    storage.remove("c").unwrap();
    assert_eq!(storage.list().unwrap(), [""; 0]);
    publish(storage, "gone", b"once");
    storage.remove("gone").unwrap();
    assert_not_found(storage.open("gone"));
    assert_not_found(storage.remove("gone"));
}

#[test]
fn every_storage_keeps_the_laws() {
    keeps_the_laws(&Memory::new());
    // Windows does not remove files that are mapped, so there the laws are checked only with files that are not mapped.
    for mapped in [cfg!(unix), false] {
        keeps_the_laws(&Directory::open(directory("laws")).unwrap().mapped(mapped));
        keeps_the_laws(&Scratch::new(directory("laws-scratch")).mapped(mapped));
    }
    keeps_the_laws(&Overlay::new(Memory::new(), Memory::new()));
    keeps_the_laws(&Overlay::new(Directory::open(directory("laws-base")).unwrap(), Memory::new()));
}

#[test]
fn a_directory_is_created_with_its_parents_and_keeps_its_files() {
    let path = directory("kept").join("a/b/store");
    publish(&Directory::open(&path).unwrap(), MANIFEST, b"kept");
    assert_eq!(read(&Directory::open(&path).unwrap(), MANIFEST), b"kept");
    assert_eq!(read(&Directory::open_read_only(&path).unwrap(), MANIFEST), b"kept");
}

fn problem<T: std::fmt::Debug>(outcome: Result<T>) -> StoreProblem {
    match outcome.unwrap_err() {
        Error::Store(StoreError { problem, .. }) => problem,
        other => panic!("{other}"),
    }
}

#[test]
fn one_process_writes_and_any_number_read() {
    let path = directory("lock");
    let writer = Directory::open(&path).unwrap();
    match Directory::open(&path) {
        Err(Error::Store(StoreError { path: locked, problem: StoreProblem::Locked })) => {
            assert_eq!(locked, path.display().to_string());
        }
        other => panic!("{other:?}"),
    }
    let reader = Directory::open_read_only(&path).unwrap();
    publish(&writer, "file", b"bytes");
    let open = reader.open("file").unwrap();
    writer.remove("file").unwrap();
    assert_eq!(content(&open), b"bytes");
    drop(writer);
    Directory::open(&path).unwrap();
}

#[test]
#[cfg(unix)]
fn a_writer_that_is_no_longer_alone_changes_nothing_more() {
    let path = directory("not-alone");
    let refused = |outcome: Result<()>, what: &str| {
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    };
    let write = |storage: &Directory, name: &str| storage.publish(name, |out| out.write_all(b"new").map_err(io_error));
    let first = Directory::open(&path).unwrap();
    publish(&first, MANIFEST, b"one");
    fs::remove_file(path.join("LOCK")).unwrap();
    refused(write(&first, MANIFEST), "LOCK");
    refused(first.remove(MANIFEST), "LOCK");
    let second = Directory::open(&path).unwrap();
    refused(write(&first, "file"), "LOCK");
    publish(&second, "file", b"two");
    drop(second);

    // A manifest appeared or was replaced without the knowledge of the process that holds the lock.
    let writer = Directory::open(&path).unwrap();
    refused(write(&writer, MANIFEST), "another process wrote it");
    assert_eq!(read(&writer, MANIFEST), b"one");
    fs::write(path.join("other"), b"three").unwrap();
    fs::rename(path.join("other"), path.join(MANIFEST)).unwrap();
    refused(write(&writer, MANIFEST), "another process wrote it");
    assert_eq!(read(&writer, MANIFEST), b"three");
    publish(&writer, MANIFEST, b"four");
    publish(&writer, MANIFEST, b"five");
    assert_eq!(read(&writer, MANIFEST), b"five");
}

fn io_error(error: io::Error) -> Error {
    Error::io("cannot write", "a file", error)
}

#[test]
fn reading_changes_nothing() {
    let path = directory("read-only");
    let missing = path.join("gone");
    assert_not_found(Directory::open_read_only(&missing));
    assert!(!missing.exists());

    fs::write(path.join(MANIFEST), b"from a copy without LOCK").unwrap();
    fs::write(path.join("file.furui-tmp"), b"half").unwrap();
    let reader = Directory::open_read_only(&path).unwrap();
    assert_eq!(read(&reader, MANIFEST), b"from a copy without LOCK");
    assert_eq!(reader.list().unwrap(), [MANIFEST]);
    assert_eq!(problem(reader.publish("new", |_| Ok(()))), StoreProblem::ReadOnly);
    assert_eq!(problem(reader.remove(MANIFEST)), StoreProblem::ReadOnly);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "not even LOCK");
}

#[test]
fn a_writer_removes_what_a_crash_left_half_written_and_nothing_else() {
    let path = directory("left-over");
    for name in [MANIFEST, "file.furui-tmp", "foreign.tmp", "foreign"] {
        fs::write(path.join(name), b"bytes").unwrap();
    }
    fs::create_dir(path.join("folder.furui-tmp")).unwrap();
    let store = Directory::open(&path).unwrap();
    assert_eq!(store.list().unwrap(), [MANIFEST, "foreign", "foreign.tmp"]);
    assert!(!path.join("file.furui-tmp").exists());
    assert!(path.join("folder.furui-tmp").exists());
}

#[test]
fn a_directory_of_other_things_is_refused_and_left_alone() {
    let path = directory("foreign");
    // Many programs have a file named LOCK.
    for (files, name) in [(1, "letter.txt"), (2, "LOCK")] {
        fs::write(path.join(name), b"dear").unwrap();
        for outcome in [Directory::open(&path), Directory::open_read_only(&path)] {
            assert_eq!(problem(outcome), StoreProblem::Foreign);
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), files);
    }
}

#[test]
fn what_systems_put_into_directories_is_in_nobodys_way() {
    let path = directory("mount-point");
    fs::create_dir(path.join("lost+found")).unwrap();
    fs::write(path.join(".gitkeep"), b"").unwrap();
    let store = Directory::open(&path).unwrap();
    publish(&store, "0000000000000000.run", b"bytes");
    assert!(path.join("lost+found").exists() && path.join(".gitkeep").exists());
}

#[cfg(unix)]
#[test]
fn files_of_a_store_are_for_its_owner_alone_or_for_those_whom_its_manifest_is_for() {
    use std::os::unix::fs::PermissionsExt;
    let path = directory("modes");
    let modes = || {
        let modes = fs::read_dir(&path).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().permissions().mode() & 0o777)
        });
        modes.collect::<std::collections::BTreeMap<String, u32>>()
    };
    let store = Directory::open(&path).unwrap();
    let files = ["0000000000000000.run", "0000000000000000.trie", "0000000000000000.pairs", "TIERS", MANIFEST];
    files.iter().for_each(|name| publish(&store, name, b"a seed"));
    store.log("JOURNAL", b"head").unwrap().append(b"record").unwrap();
    assert_eq!(modes().len(), 7);
    assert!(modes().values().all(|&mode| mode == 0o600), "{:?}", modes());
    fs::set_permissions(path.join(MANIFEST), fs::Permissions::from_mode(0o640)).unwrap();
    ["0000000000000001.run", MANIFEST].iter().for_each(|name| publish(&store, name, b"a seed"));
    store.remove("JOURNAL").unwrap();
    store.log("JOURNAL", b"head").unwrap();
    for name in ["0000000000000001.run", "JOURNAL", MANIFEST] {
        assert_eq!(modes()[name], 0o640, "{name}");
    }
    // A file that is replaced keeps its own permissions.
    publish(&store, "TIERS", b"more");
    assert_eq!(modes()["TIERS"], 0o600);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_lock_is_refused_and_no_link_is_written_through() {
    use std::os::unix::fs::symlink;
    let path = directory("links");
    let [store, target] = ["store", "target"].map(|name| path.join(name));
    fs::create_dir(&store).unwrap();
    for is_there in [false, true] {
        symlink(&target, store.join("LOCK")).unwrap();
        let error = Directory::open(&store).unwrap_err().to_string();
        assert!(error.contains("LOCK") && error.contains("remove it"), "{error}");
        assert_eq!(target.exists(), is_there, "nothing is created");
        fs::remove_file(store.join("LOCK")).unwrap();
        fs::write(&target, b"of somebody").unwrap();
    }
    let directory = Directory::open(&store).unwrap();
    for name in [MANIFEST, "JOURNAL", "0000000000000000.run"] {
        symlink(&target, store.join(name)).unwrap();
        match name {
            MANIFEST => drop(directory.publish(name, |_| Ok(())).unwrap_err()),
            "JOURNAL" => directory.log(name, b"head").unwrap().append(b"record").unwrap(),
            _ => publish(&directory, name, b"run"),
        }
        assert_eq!(fs::read(&target).unwrap(), b"of somebody", "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_written_whole_keeps_its_permissions_and_removes_only_what_killed_writers_of_it_left() {
    use std::os::unix::fs::PermissionsExt;
    let path = directory("whole");
    let write = |name: &str| {
        format::publish(path.join(name), Access::Default, |out| out.write_all(b"new").map_err(io_error)).unwrap();
        fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777
    };
    let fresh = write("fresh");
    for mode in [0o640, 0o600, 0o604] {
        fs::set_permissions(path.join("fresh"), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(write("fresh"), mode);
    }
    assert_eq!(write("other"), fresh);

    let kept = ["out.0123abc.furui-tmp", "out.0123abcg.furui-tmp", "other.0123abcd.furui-tmp", "out.0123abcd", "outer"];
    let left = ["out.0123abcd.furui-tmp", "out.FFFFFFFF.furui-tmp"];
    kept.iter().chain(&left).for_each(|name| fs::write(path.join(name), b"half").unwrap());
    fs::create_dir(path.join("out.00000000.furui-tmp")).unwrap();
    let held = fs::File::create(path.join("out.11111111.furui-tmp")).unwrap();
    held.lock().unwrap();
    write("out");
    assert!(kept.iter().chain(&["out.00000000.furui-tmp", "out.11111111.furui-tmp"]).all(|it| path.join(it).exists()));
    assert!(!left.iter().any(|name| path.join(name).exists()));
    drop(held);
    write("out");
    assert!(!path.join("out.11111111.furui-tmp").exists());

    let nowhere = format::publish(path.join("gone/out"), Access::Default, |_| Ok::<(), WriteError>(())).unwrap_err();
    assert!(nowhere.source().is_some_and(|source| source.is::<io::Error>()), "{nowhere}");
}

#[test]
fn a_file_is_no_directory() {
    let path = directory("file").join("file");
    fs::write(&path, b"a log").unwrap();
    for outcome in [Directory::open(&path), Directory::open_read_only(&path)] {
        assert_eq!(problem(outcome), StoreProblem::NotADirectory);
    }
    Directory::open(path.join("below")).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"a log");
}

#[test]
fn names_stay_within_the_directory() {
    let path = directory("names");
    let store = Directory::open(path.join("store")).unwrap();
    for name in ["", ".", "..", "../up", "a/b", "a\\b", "/etc/passwd", "C:x", "nul\0", "LOCK", "x.furui-tmp"] {
        let refused = StoreProblem::Name(name.to_owned());
        assert_eq!(problem(store.publish(name, |_| Ok(()))), refused);
        assert_eq!(problem(store.open(name)), refused);
        assert_eq!(problem(store.remove(name)), refused);
    }
    assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
}

#[test]
fn a_directory_maps_files_only_if_wanted() {
    let path = directory("mapped");
    let store = Directory::open(&path).unwrap();
    publish(&store, "file", b"bytes");
    if cfg!(all(target_pointer_width = "64", any(unix, windows))) {
        assert_eq!(store.open("file").unwrap().mapped(), Some(&b"bytes"[..]));
    }
    assert_eq!(store.mapped(false).open("file").unwrap().mapped(), None);
}

#[test]
fn clones_of_memory_share_their_files() {
    let store = Memory::new();
    publish(&store.clone(), "file", b"shared");
    assert_eq!(read(&store, "file"), b"shared");
}

#[test]
fn scratch_files_have_no_names_for_others() {
    let path = directory("scratch");
    let scratch = Scratch::new(&path);
    publish(&scratch, "file", b"bytes");
    if cfg!(unix) {
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }
    let open: Arc<_> = scratch.open("file").unwrap();
    drop(scratch);
    assert_eq!(content(&open), b"bytes");
    drop(open);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);

    let nowhere = Scratch::new(path.join("gone"));
    assert_not_found(nowhere.publish("file", |_| Ok(())));
}

#[test]
fn an_overlay_shows_changes_and_leaves_the_base_alone() {
    let base = Memory::new();
    for name in ["kept", "hidden", "removed"] {
        publish(&base, name, b"base");
    }
    let over = Overlay::new(base.clone(), Memory::new());
    publish(&over, "hidden", b"top");
    publish(&over, "new", b"top");
    over.remove("removed").unwrap();
    assert_eq!(over.list().unwrap(), ["hidden", "kept", "new"]);
    assert_eq!(read(&over, "kept"), b"base");
    assert_eq!(read(&over, "hidden"), b"top");
    assert!(over.open("removed").is_err());

    // A name that was published over the base and then removed is gone, and can be published again.
    over.remove("hidden").unwrap();
    assert!(over.open("hidden").is_err());
    assert_eq!(over.list().unwrap(), ["kept", "new"]);
    publish(&over, "removed", b"again");
    assert_eq!(read(&over, "removed"), b"again");

    assert_eq!(base.list().unwrap(), ["hidden", "kept", "removed"]);
    assert!(base.list().unwrap().iter().all(|name| read(&base, name) == b"base"));
}
