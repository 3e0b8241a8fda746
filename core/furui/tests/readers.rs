//! Reading a store while another process writes to it, and copying it meanwhile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use furui::dict::{Dict, DictOptions};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{Directory, JOURNAL, MANIFEST, Manifest, Published, StoreKind, snapshot};
use furui::{Error, HashSpec, KeyHash};

/// A path for one test, at which there is no file.
fn free(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers").join(test);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{}: {error}", path.display()),
        _ => path,
    }
}

fn word(number: u32) -> String {
    format!("word {number}")
}

fn keys(range: std::ops::Range<u64>) -> Vec<KeyHash> {
    let hash = HashSpec::default();
    range.map(|number| hash.hash(&number.to_le_bytes())).collect()
}

fn cascade(storage: Directory) -> Cascade<Directory> {
    cascade_with(storage, false)
}

fn cascade_with(storage: Directory, journal: bool) -> Cascade<Directory> {
    Cascade::open(storage, CascadeOptions { memory: 0, hash: Some(HashSpec::default()), form: None, journal }).unwrap()
}

/// Calls `read`, which opens the directory, repeatedly while `write` runs, and at least once afterwards.
fn beside(write: impl FnOnce() + Send, mut read: impl FnMut()) -> u32 {
    let done = AtomicBool::new(false);
    let mut reads = 0;
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            write();
            done.store(true, Ordering::Release);
        });
        while !(done.load(Ordering::Acquire) || writer.is_finished()) {
            read();
            reads += 1;
        }
    });
    read();
    reads
}

/// Each sync of the writer publishes a trie, replaces the manifest, and removes the tries that were merged.
#[test]
fn a_dictionary_is_read_while_it_grows() {
    let path = free("dict");
    const WORDS: u32 = 300;
    let mut dict = Dict::open_with(Directory::open(&path).unwrap(), DictOptions::default()).unwrap();
    dict.sync().unwrap();
    let mut known = 0;
    let mut copies = 0;
    let reads = beside(
        || {
            for number in 0..WORDS {
                assert_eq!(dict.number(word(number).as_bytes()).unwrap(), number);
                dict.sync().unwrap();
            }
        },
        || {
            let read = Dict::open_with(Directory::open_read_only(&path).unwrap(), DictOptions::default()).unwrap();
            assert!(read.next_id() >= known, "a reader never goes back in time");
            known = read.next_id();
            for number in 0..known {
                assert_eq!(read.get(word(number).as_bytes()).unwrap(), Some(number));
            }
            read.verify().unwrap();
            if known > copies {
                copies = known;
                let copy = free("dict-copy");
                snapshot(&path, &copy).unwrap();
                let copy = Dict::open_with(Directory::open(&copy).unwrap(), DictOptions::default()).unwrap();
                assert!(copy.next_id() >= known);
                copy.verify().unwrap();
            }
        },
    );
    assert_eq!(known, WORDS);
    println!("{reads} reads beside the writer");
}

/// The writer begins journals and ends them again and again, and each record is durable when it is acknowledged. No
/// reader takes a journal that is not begun yet, or no longer needed, for one that is missing.
#[test]
fn a_set_with_a_journal_is_read_and_copied_while_it_grows() {
    let path = free("journal");
    const BATCH: u64 = 50;
    const BATCHES: u64 = 600;
    let mut set = cascade_with(Directory::open(&path).unwrap(), true);
    set.sync().unwrap();
    let acknowledged = AtomicU64::new(0);
    let mut turn = 0;
    let reads = beside(
        || {
            for batch in 0..BATCHES {
                set.insert_all(&keys(batch * BATCH..(batch + 1) * BATCH), &mut vec![]).unwrap();
                if batch % 7 == 6 {
                    set.publish().unwrap()
                } else {
                    set.sync().unwrap()
                }
                acknowledged.store((batch + 1) * BATCH, Ordering::Release);
            }
        },
        || {
            let certain = acknowledged.load(Ordering::Acquire);
            turn += 1;
            let read = match turn % 3 {
                0 => {
                    let copy = free("journal-copy");
                    snapshot(&path, &copy).unwrap();
                    cascade(Directory::open(&copy).unwrap())
                }
                _ => cascade(Directory::open_read_only(&path).unwrap()),
            };
            read.verify().unwrap();
            assert!(keys(0..certain).into_iter().all(|key| read.contains(key).unwrap()), "{certain} keys");
        },
    );
    println!("{reads} reads beside the writer");
}

#[test]
fn a_set_is_read_while_it_grows() {
    let path = free("seen");
    const BATCH: u64 = 1000;
    const BATCHES: u64 = 60;
    let mut set = cascade(Directory::open(&path).unwrap());
    set.sync().unwrap();
    let mut known = 0;
    let reads = beside(
        || {
            for batch in 0..BATCHES {
                set.insert_all(&keys(batch * BATCH..(batch + 1) * BATCH), &mut vec![]).unwrap();
                set.sync().unwrap();
            }
        },
        || {
            let mut read = cascade(Directory::open_read_only(&path).unwrap().mapped(false));
            assert!(read.len() >= known && read.len().is_multiple_of(BATCH));
            known = read.len();
            let mut found = vec![];
            read.contains_all(&keys(0..BATCHES * BATCH), &mut found).unwrap();
            assert_eq!(found.iter().filter(|&&found| found).count() as u64, known);
            assert!(found[..known as usize].iter().all(|&found| found));
            read.verify().unwrap();
        },
    );
    assert_eq!(known, BATCH * BATCHES);
    println!("{reads} reads beside the writer");
}

#[test]
fn what_a_reader_has_open_outlives_its_names() {
    let path = free("names");
    let mut set = cascade(Directory::open(&path).unwrap());
    set.insert_all(&keys(0..1000), &mut vec![]).unwrap();
    set.sync().unwrap();
    let reader = Directory::open_read_only(&path).unwrap();
    let old = Published::open(&reader, &[StoreKind::Seen]).unwrap().unwrap();
    let mut early = cascade(Directory::open_read_only(&path).unwrap().mapped(false));
    set.insert_all(&keys(1000..3000), &mut vec![]).unwrap();
    set.compact().unwrap();
    let new = Published::open(&reader, &[StoreKind::Seen]).unwrap().unwrap();
    assert_ne!(new.manifest.runs[0].number, old.manifest.runs[0].number);
    assert!(!path.join(StoreKind::Seen.file_name(old.manifest.runs[0].number)).exists());
    early.verify().unwrap();
    let mut found = vec![];
    early.contains_all(&keys(0..1001), &mut found).unwrap();
    assert_eq!(found.iter().filter(|&&found| found).count(), 1000);
}

#[test]
fn a_file_that_is_missing_for_good_is_an_error() {
    let path = free("missing");
    let mut set = cascade(Directory::open(&path).unwrap());
    set.insert_all(&keys(0..1000), &mut vec![]).unwrap();
    set.sync().unwrap();
    let run = path.join(StoreKind::Seen.file_name(0));
    fs::remove_file(&run).unwrap();
    let reader = Directory::open_read_only(&path).unwrap();
    let message = Published::open(&reader, &[StoreKind::Seen]).unwrap_err().to_string();
    assert!(message.contains(run.to_str().unwrap()) && message.contains("missing"), "{message}");
}

#[test]
fn a_copy_and_its_original_go_their_own_ways() {
    let (path, copy) = (free("original"), free("copy"));
    let mut set = cascade(Directory::open(&path).unwrap());
    set.insert_all(&keys(0..1000), &mut vec![]).unwrap();
    set.sync().unwrap();
    snapshot(&path, &copy).unwrap();
    assert_eq!(
        Manifest::load(&Directory::open_read_only(&path).unwrap()).unwrap(),
        Manifest::load(&Directory::open_read_only(&copy).unwrap()).unwrap()
    );
    set.insert_all(&keys(1000..1500), &mut vec![]).unwrap();
    set.compact().unwrap();
    let mut other = cascade(Directory::open(&copy).unwrap());
    assert_eq!(other.len(), 1000);
    other.insert_all(&keys(2000..2100), &mut vec![]).unwrap();
    other.compact().unwrap();
    other.verify().unwrap();
    assert_eq!((cascade(Directory::open_read_only(&path).unwrap()).len(), other.len()), (1500, 1100));
}

#[test]
fn a_copy_takes_the_place_of_nothing() {
    let (path, copy) = (free("whole"), free("place"));
    let refused = |to: &Path, what: &str| match snapshot(&path, to) {
        Err(error @ Error::Store(_)) => assert!(error.to_string().contains(what), "{error}"),
        other => panic!("{other:?}"),
    };
    drop(Directory::open(&path).unwrap());
    refused(&copy, "nothing is recorded here yet");
    assert!(!copy.exists());
    let mut set = cascade(Directory::open(&path).unwrap());
    set.insert_all(&keys(0..1000), &mut vec![]).unwrap();
    set.sync().unwrap();
    drop(set);
    refused(&path, "holds a store");
    // The copy is as if the process that makes it had been killed before it wrote the manifest.
    fs::create_dir_all(&copy).unwrap();
    fs::hard_link(path.join(StoreKind::Seen.file_name(0)), copy.join(StoreKind::Seen.file_name(0))).unwrap();
    refused(&copy, "cut short");
    let message = Manifest::load(&Directory::open_read_only(&copy).unwrap()).unwrap_err().to_string();
    assert!(message.contains(MANIFEST), "{message}");
    fs::remove_file(copy.join(StoreKind::Seen.file_name(0))).unwrap();
    snapshot(&path, &copy).unwrap();
    refused(&copy, "holds a store");
    let empty = free("empty");
    cascade(Directory::open(&empty).unwrap()).sync().unwrap();
    refused(&empty, "holds a store");
}

#[test]
fn a_long_journal_is_copied_whole() {
    let (path, copy) = (free("long-journal"), free("long-journal-copy"));
    let mut set = cascade_with(Directory::open(&path).unwrap(), true);
    set.insert_all(&keys(0..40_000), &mut vec![]).unwrap();
    set.sync().unwrap();
    snapshot(&path, &copy).unwrap();
    let journal = fs::read(copy.join(JOURNAL)).unwrap();
    assert!(journal.len() > 40_000 * 8 && journal == fs::read(path.join(JOURNAL)).unwrap());
}
