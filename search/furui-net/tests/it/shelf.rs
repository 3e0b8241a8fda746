//! Tests a shelf against a naive model, and across crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, io};

use furui::error::{StoreError, StoreProblem};
use furui_net::shelf::{MAX_RECORD, Shelf, ShelfOptions, Statistics, WordList};
use furui_search::{ContentId, IdRange, Index, Weight, limits};
use proptest::prelude::*;

use crate::common::Directory;

/// Ids that are distributed like hashes.
fn id(n: u64) -> ContentId {
    let mut bytes = [0; 20];
    for (index, part) in bytes.chunks_mut(8).enumerate() {
        let word = (n + 1 + index as u64 * 1000).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let word = word.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        part.copy_from_slice(&word.to_le_bytes()[..part.len()]);
    }
    ContentId::new(bytes)
}

/// A weight that depends on the word and the document only.
fn weight(word: &str, id: ContentId) -> Weight {
    let [_, steps, length, title, ..] = *id.as_bytes();
    let uses = (steps % 7).saturating_sub(word.len() as u8 % 7);
    let (uses, title) = (u16::from(uses) | (1 + u16::from(steps ^ length) % 31) << 4, u16::from(title % 16));
    Weight::of_bits(uses | (title % 6) << 9, u16::from(length.max(1)) | title << 8).unwrap()
}

fn weighted(postings: &[(String, Vec<ContentId>)]) -> Vec<(String, Vec<(ContentId, Weight)>)> {
    let with = |word: &str, ids: &[ContentId]| ids.iter().map(|&id| (id, weight(word, id))).collect();
    postings.iter().map(|(word, ids)| (word.clone(), with(word, ids))).collect()
}

fn record(n: u64) -> Vec<u8> {
    format!("a record of document {n}, which says what others say, too").repeat(1 + n as usize % 5).into_bytes()
}

/// The contents of a shelf (the lists and records that a node keeps) in the simplest form.
#[derive(Clone, Debug, Default)]
struct Model {
    lists: BTreeMap<String, BTreeSet<ContentId>>,
    records: BTreeMap<ContentId, Vec<u8>>,
    expires: BTreeMap<ContentId, u64>,
}

impl Model {
    fn store(&mut self, postings: &[(String, Vec<ContentId>)], records: &[(ContentId, Vec<u8>)], expires: u64) -> u64 {
        let mut new = 0;
        for (word, ids) in postings {
            for &id in ids {
                new += u64::from(self.lists.entry(word.clone()).or_default().insert(id));
                self.live(id, expires);
            }
        }
        for (id, record) in records {
            new += u64::from(self.records.insert(*id, record.clone()).is_none());
            self.live(*id, expires);
        }
        new
    }

    fn live(&mut self, id: ContentId, expires: u64) {
        let known = self.expires.entry(id).or_default();
        *known = expires.max(*known);
    }

    fn expire(&mut self, now: u64) -> u64 {
        let before = self.expires.len();
        self.expires.retain(|_, expires| *expires > now);
        self.records.retain(|id, _| self.expires.contains_key(id));
        for ids in self.lists.values_mut() {
            ids.retain(|id| self.expires.contains_key(id));
        }
        self.lists.retain(|_, ids| !ids.is_empty());
        (before - self.expires.len()) as u64
    }

    fn words(&self) -> Vec<WordList> {
        let sum = |ids: &BTreeSet<ContentId>| ids.iter().fold(0u64, |sum, id| sum.wrapping_add(id.hash().get()));
        let lists = self.lists.iter().filter(|(_, ids)| !ids.is_empty());
        lists.map(|(word, ids)| WordList { word: word.clone(), ids: ids.len() as u64, fingerprint: sum(ids) }).collect()
    }

    fn slice(&self, word: &str, range: IdRange, most: usize) -> Vec<ContentId> {
        let ids = self.lists.get(word).into_iter().flatten().copied();
        ids.filter(|&id| range.contains(id)).take(most).collect()
    }

    /// Checks that the shelf answers every question as the model does.
    fn check(&self, shelf: &mut Shelf) {
        assert_eq!(shelf.words_after("", usize::MAX).unwrap(), self.words());
        for (word, ids) in &self.lists {
            assert_eq!(shelf.size(word).unwrap().ids, ids.len() as u64, "{word}");
            let (all, weights) = shelf.slice(word, IdRange::ALL, usize::MAX).unwrap();
            assert!(all.iter().eq(ids), "{word}");
            assert!(weights.iter().copied().eq(ids.iter().map(|&id| weight(word, id))), "{word}");
        }
        for (id, record) in &self.records {
            assert_eq!(shelf.document(*id).unwrap().as_ref(), Some(record));
        }
        let kept = shelf.records(IdRange::ALL, usize::MAX).unwrap();
        assert!(kept.iter().eq(self.records.keys()));
        let Statistics { words, postings, documents, records, .. } = shelf.statistics().unwrap();
        let all: usize = self.lists.values().map(BTreeSet::len).sum();
        let expected = [self.words().len(), all, self.expires.len(), self.records.len()];
        assert_eq!([words, postings, documents, records], expected.map(|n| n as u64));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Store { postings: Vec<(u8, Vec<u16>)>, records: Vec<u16>, expires: u64 },
    Slice { word: u8, first: u64, length: u64, most: usize },
    Expire { now: u64 },
    Compact,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let ids = || prop::collection::vec(0..600u16, 0..40);
    // A few words have long lists, others short ones.
    let word = || prop_oneof![0..3u8, 0..30u8];
    let postings = prop::collection::vec((word(), ids()), 0..12);
    prop_oneof![
        8 => (postings, ids(), 0..50u64).prop_map(|(postings, records, expires)| Step::Store { postings, records, expires }),
        4 => (word(), any::<u64>(), any::<u64>(), 0..30usize)
            .prop_map(|(word, first, length, most)| Step::Slice { word, first, length, most }),
        1 => (0..40u64).prop_map(|now| Step::Expire { now }),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

fn word(n: u8) -> String {
    format!("word-{n}")
}

fn run(steps: &[Step], directory: Option<&Path>, options: ShelfOptions) {
    let open = || match directory {
        Some(directory) => Shelf::open(directory, options).unwrap(),
        None => Shelf::in_memory(options).unwrap(),
    };
    let mut shelf = open();
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Store { postings, records, expires } => {
                let ids = |ids: &[u16]| ids.iter().map(|&n| id(n.into())).collect();
                let postings: Vec<_> = postings.iter().map(|(n, all)| (word(*n), ids(all))).collect();
                let records: Vec<_> = records.iter().map(|&n| (id(n.into()), record(n.into()))).collect();
                let new = model.store(&postings, &records, (*expires).max(1));
                assert_eq!(shelf.store((&weighted(&postings), &records, &[]), *expires).unwrap().new, new);
            }
            Step::Slice { word: n, first, length, most } => {
                let range = IdRange { first: *first, last: first.saturating_add(*length) };
                let (found, weights) = shelf.slice(&word(*n), range, *most).unwrap();
                assert_eq!(&*found, model.slice(&word(*n), range, (*most).min(options.run_ids)));
                assert!(weights.iter().copied().eq(found.iter().map(|&id| weight(&word(*n), id))));
            }
            Step::Expire { now } => assert_eq!(shelf.expire(*now).unwrap(), model.expire(*now)),
            Step::Compact => shelf.compact().unwrap(),
            Step::Reopen if directory.is_some() => {
                drop(shelf);
                shelf = open();
            }
            Step::Reopen => {}
        }
        assert!(shelf.statistics().unwrap().cached_bytes <= (options.cached_bytes + 20 * 12 * 40) as u64);
    }
    if options.run_ids > 600 {
        model.check(&mut shelf);
    }
}

/// Little memory for recent changes, so that the tables are written often.
const OFTEN: ShelfOptions =
    ShelfOptions { recent_bytes: 4000, cached_bytes: 1 << 20, run_ids: 1 << 20, page_bytes: 1 << 20 };

fn some_postings(from: u64) -> Vec<(String, Vec<ContentId>)> {
    let ids = |step| (from..from + 40).filter(|n| n % step == 0).map(id).collect();
    vec![("all".into(), ids(1)), ("third".into(), ids(3)), (format!("only-{from}"), vec![id(from)])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_shelf_in_memory_is_as_the_model(steps in prop::collection::vec(step(), 1..40), recent in 1..20_000usize) {
        run(&steps, None, ShelfOptions { recent_bytes: recent, ..ShelfOptions::default() });
    }

    #[test]
    fn a_shelf_on_disk_is_as_the_model(steps in prop::collection::vec(step(), 1..25), recent in 1..20_000usize) {
        let directory = Directory::new();
        run(&steps, Some(directory.path()), ShelfOptions { recent_bytes: recent, ..ShelfOptions::default() });
    }

    #[test]
    fn lists_longer_than_fits_are_read_in_parts(steps in prop::collection::vec(step(), 1..60), run_ids in 1..50usize) {
        run(&steps, None, ShelfOptions { recent_bytes: 3000, run_ids, cached_bytes: 4000, ..ShelfOptions::default() });
    }
}

#[test]
fn long_lists_that_grow_in_any_order_are_whole_and_sorted() {
    let mut shelf = Shelf::in_memory(ShelfOptions { recent_bytes: 200_000, ..ShelfOptions::default() }).unwrap();
    let mut model = Model::default();
    // Most additions to lists are documents that have numbers already, so that lists grow in the middle.
    for step in [997u64, 613, 1, 2, 3, 7] {
        for part in 0..20 {
            let ids: Vec<_> = (0..1000).map(|n| id((part * 1000 + n) * step % 20_011)).collect();
            let postings = [(word(step as u8), ids.clone()), ("all".to_owned(), ids)];
            let new = model.store(&postings, &[], 9);
            assert_eq!(shelf.store((&weighted(&postings), &[], &[]), 9).unwrap().new, new);
        }
    }
    model.check(&mut shelf);
    let half: Vec<_> = (0..20_011).filter(|n| n % 4 > 0).map(id).collect();
    for ids in half.chunks(5000) {
        let postings = [("half".to_owned(), ids.to_vec())];
        assert_eq!(shelf.store((&weighted(&postings), &[], &[]), 20).unwrap().new, model.store(&postings, &[], 20));
    }
    assert_eq!(shelf.expire(10).unwrap(), model.expire(10));
    model.check(&mut shelf);
    assert_eq!(shelf.expire(20).unwrap(), model.expire(20));
    model.check(&mut shelf);
    assert_eq!(shelf.statistics().unwrap(), Statistics::default());
}

#[test]
fn the_first_weight_of_a_posting_stays_and_a_record_tells_no_length() {
    let mut shelf = Shelf::in_memory(OFTEN).unwrap();
    let posting = |step, length| [("word".to_owned(), vec![(id(1), Weight::new(step, length))])];
    shelf.store((&[], &[(id(1), record(1))], &[]), 9).unwrap();
    shelf.compact().unwrap();
    for (step, length) in [(3, 40), (5, 50)] {
        shelf.store((&posting(step, length), &[], &[]), 9).unwrap();
        let (_, weights) = shelf.slice("word", IdRange::ALL, 9).unwrap();
        assert_eq!(*weights, [Weight::new(3, 40)]);
        shelf.compact().unwrap();
        assert_eq!(shelf.slice("word", IdRange::ALL, 9).unwrap().1, weights);
    }
}

#[test]
fn what_expires_gives_its_room_back() {
    let scratch = Directory::new();
    let mut shelf = Shelf::open(scratch.path(), ShelfOptions::default()).unwrap();
    let empty = shelf.statistics().unwrap().disk_bytes;
    for part in 0..10 {
        let ids: Vec<_> = (part * 1000..part * 1000 + 1000).collect();
        let records: Vec<_> = ids.iter().map(|&n| (id(n), record(n ^ n << 13))).collect();
        let postings = [(word(part as u8), ids.iter().map(|&n| id(n)).collect())];
        shelf.store((&weighted(&postings), &records, &[]), 5 + part % 2).unwrap();
    }
    shelf.compact().unwrap();
    let full = shelf.statistics().unwrap().disk_bytes;
    assert_eq!(shelf.expire(5).unwrap(), 5000);
    let half = shelf.statistics().unwrap().disk_bytes;
    assert_eq!(shelf.expire(6).unwrap(), 5000);
    let none = shelf.statistics().unwrap().disk_bytes;
    assert!(half < full && none < half && none < 2 * empty, "{empty} {full} {half} {none}");
}

/// This is not a test, but the process that the next test kills.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_that_stores_until_it_is_killed() {
    let directory = env::var_os("FURUI_TEST_SHELF").unwrap();
    let mut shelf = Shelf::open(Path::new(&directory), OFTEN).unwrap();
    for from in (0..).step_by(10) {
        shelf.store((&weighted(&some_postings(from)), &[(id(from), record(from))], &[]), 7).unwrap();
        let mut out = io::stdout();
        writeln!(out, "\nstored {from}").and_then(|()| out.flush()).unwrap();
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let scratch = Directory::new();
    let mut last = 0;
    for kill_after in [1, 30, 7] {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "shelf::child_that_stores_until_it_is_killed", "--ignored", "--nocapture"])
            .env("FURUI_TEST_SHELF", scratch.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let numbers = lines.filter_map(|line| line.strip_prefix("stored ")?.parse::<u64>().ok());
        last = last.max(numbers.take(kill_after).last().unwrap());
        child.kill().unwrap();
        child.wait().unwrap();

        let mut shelf = Shelf::open(scratch.path(), OFTEN).unwrap();
        let (found, _) = shelf.slice("all", IdRange::ALL, usize::MAX).unwrap();
        // The call that was in progress at the kill was stored whole, or not at all.
        assert!(found.len() as u64 >= last + 40 && found.len() % 10 == 0);
        let mut expected: Vec<_> = (0..found.len() as u64).map(id).collect();
        expected.sort();
        assert_eq!(&*found, expected);
        for from in (0..=last).step_by(10) {
            assert_eq!(shelf.size(&format!("only-{from}")).unwrap().ids, 1);
            assert_eq!(shelf.document(id(from)).unwrap(), Some(record(from)));
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn words_may_be_ahead_of_the_lists_and_never_behind() {
    let (scratch, before) = (Directory::new(), Directory::new());
    let mut model = Model::default();
    let mut shelf = Shelf::open(scratch.path(), ShelfOptions::default()).unwrap();
    model.store(&some_postings(0), &[], 1);
    shelf.store((&weighted(&some_postings(0)), &[], &[]), 1).unwrap();
    drop(shelf);
    copy(scratch.path(), before.path());
    let mut shelf = Shelf::open(scratch.path(), ShelfOptions::default()).unwrap();
    shelf.store((&weighted(&some_postings(5)), &[], &[]), 1).unwrap();
    shelf.compact().unwrap();
    drop(shelf);

    // This is the state after a crash when the new words were durable, and the new lists were not yet.
    let (ahead, behind) = (Directory::new(), Directory::new());
    copy(before.path(), ahead.path());
    copy(&scratch.path().join("words"), &ahead.path().join("words"));
    let mut shelf = Shelf::open(ahead.path(), OFTEN).unwrap();
    model.check(&mut shelf);
    for from in [7, 5] {
        let new = model.store(&some_postings(from), &[], 1);
        assert_eq!(shelf.store((&weighted(&some_postings(from)), &[], &[]), 1).unwrap().new, new);
    }
    model.check(&mut shelf);

    fs::create_dir_all(behind.path()).unwrap();
    fs::copy(scratch.path().join("shelf.redb"), behind.path().join("shelf.redb")).unwrap();
    let error = Shelf::open(behind.path(), OFTEN).unwrap_err().to_string();
    assert!(error.contains("shelf.redb") && error.contains("words"), "{error}");
}

#[test]
fn a_second_node_another_version_and_damage_are_refused_by_name() {
    let scratch = Directory::new();
    let shelf = Shelf::open(scratch.path(), OFTEN).unwrap();
    let error = Shelf::open(scratch.path(), OFTEN).unwrap_err();
    assert!(matches!(error, furui::Error::Store(StoreError { problem: StoreProblem::Locked, .. })), "{error}");
    drop(shelf);

    let file = scratch.path().join("shelf.redb");
    let meta = redb::TableDefinition::<&str, u64>::new("meta");
    let journal = redb::TableDefinition::<u64, &[u8]>::new("journal");
    let change = |key: &str, version, row: Option<&[u8]>| {
        let database = redb::Database::open(&file).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(meta).unwrap().insert(key, version).unwrap();
        if let Some(row) = row {
            transaction.open_table(journal).unwrap().insert(0, row).unwrap();
        }
        transaction.commit().unwrap();
    };
    change("version", 5, None);
    let error = Shelf::open(scratch.path(), OFTEN).unwrap_err().to_string();
    assert!(error.contains("shelf.redb") && error.contains("another version"), "{error}");
    change("version", 6, Some(b"not a row"));
    let error = Shelf::open(scratch.path(), OFTEN).unwrap_err().to_string();
    assert!(error.contains("shelf.redb") && error.contains("journal"), "{error}");
    fs::write(&file, b"not a database, and of some length".repeat(1000)).unwrap();
    let error = Shelf::open(scratch.path(), OFTEN).unwrap_err().to_string();
    assert!(error.contains("shelf.redb"), "{error}");
}

#[test]
fn limits_are_errors_that_name_them_and_leave_the_shelf_usable() {
    let mut shelf = Shelf::in_memory(OFTEN).unwrap();
    for length in [0, limits::WORD_BYTES + 1] {
        let error =
            shelf.store((&weighted(&[("w".repeat(length), vec![id(1)])]), &[], &[]), 1).unwrap_err().to_string();
        assert!(error.contains(&format!("{length} bytes")), "{error}");
    }
    let error = shelf.store((&[], &[(id(1), vec![0; MAX_RECORD + 1])], &[]), 1).unwrap_err().to_string();
    assert!(error.contains("record"), "{error}");
    let records: Vec<_> = (0..17).map(|n| (id(n), vec![n as u8; MAX_RECORD])).collect();
    let error = shelf.store((&[], &records, &[]), 1).unwrap_err().to_string();
    assert!(error.contains("bytes to store at once"), "{error}");
    assert_eq!(
        shelf.store((&weighted(&[("w".repeat(limits::WORD_BYTES), vec![id(1)])]), &records[..3], &[]), 1).unwrap().new,
        4
    );
    assert_eq!(shelf.document(id(2)).unwrap(), Some(vec![2; MAX_RECORD]));
    assert_eq!(shelf.document(id(99)).unwrap(), None);
    assert_eq!(shelf.slice("unknown", IdRange::ALL, 5).unwrap().0.len(), 0);
    assert!(!shelf.size("unknown").unwrap().whole);
    shelf.set_whole(true);
    assert!(shelf.size("unknown").unwrap().whole);
}

#[test]
fn a_shelf_can_be_handed_to_a_thread() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Shelf::in_memory(OFTEN).unwrap());
}
