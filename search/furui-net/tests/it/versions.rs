//! Checks that the data of a node on disk has the form described in docs/format.md, so that later versions can read it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use furui_net::shelf::{Origin, Published, Shelf, ShelfOptions, Usage};
use furui_search::{ContentId, IdRange, Index, Publication, PublisherKey, Signature, Weight, Withdrawal, WordPostings};

/// The number of documents in the golden directory.
const DOCUMENTS: u32 = 3000;
/// The time at which everything expires.
const EXPIRES: u64 = 4_000_000_000;

/// A directory as it is described, with its large file compressed.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/shelf")
}

fn id(n: u32) -> ContentId {
    let word = u64::from(n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    let mut bytes = [0; 20];
    bytes.iter_mut().zip(word.iter().cycle()).for_each(|(byte, part)| *byte = part.rotate_left(n % 7));
    ContentId::new(bytes)
}

fn withdrawal(n: u32) -> Withdrawal {
    Withdrawal { id: id(n), publisher: key(n), signature: Signature { at: 9, bytes: [4; 64] } }
}

fn key(n: u32) -> PublisherKey {
    PublisherKey::new([n as u8; 32])
}

/// Lists of all lengths: some fit into the row of their word, some into one block, and some take several blocks.
fn postings() -> Vec<WordPostings> {
    let of = |step: u32| (0..DOCUMENTS).filter(move |n| n % step == 0);
    let weighted = |n: u32| (id(n), Weight::new(1 + n % 5, 1 + n % 30));
    [1, 2, 3, 7, 10, 300, 2999].map(|step| (format!("every-{step}"), of(step).map(weighted).collect())).to_vec()
}

fn records() -> Vec<(ContentId, Vec<u8>)> {
    (0..DOCUMENTS).step_by(30).map(|n| (id(n), format!("the record of document {n}").into_bytes())).collect()
}

fn published() -> Vec<Published> {
    (0..DOCUMENTS).step_by(30).map(|n| (id(n), key(n), publication(n))).collect()
}

fn publication(n: u32) -> Publication {
    Publication { signature: Signature { at: 8, bytes: [3; 64] }, first: n.into(), network: 7 }
}

fn origin() -> Origin {
    Origin { peer: vec![9; 38], prefix: "192.0.2.1/32".to_owned(), taken_over: false }
}

/// Fills the tables, and leaves a part in the journal.
fn fill(shelf: &mut Shelf) {
    let (last, first) = postings().split_last().map(|(last, first)| (last.clone(), first.to_vec())).unwrap();
    shelf.store((&first, &records(), &published()), EXPIRES).unwrap();
    assert_eq!(shelf.withdraw(&[withdrawal(60)], EXPIRES, false).unwrap(), 1);
    let other = [("of-another".to_owned(), vec![(id(DOCUMENTS + 1), Weight::new(2, 1))])];
    shelf.store_of(&origin(), &HashSet::new(), (&other, &[], &[]), EXPIRES).unwrap().unwrap();
    shelf.compact().unwrap();
    shelf.store((&[last], &[], &[]), EXPIRES).unwrap();
}

fn check(shelf: &mut Shelf) {
    for (word, mut postings) in postings() {
        postings.sort_by_key(|(id, _)| *id);
        assert_eq!(shelf.size(&word).unwrap().ids, postings.len() as u64, "{word}");
        let (ids, weights) = shelf.slice(&word, IdRange::ALL, usize::MAX).unwrap();
        assert!(ids.iter().copied().zip(weights.iter().copied()).eq(postings), "{word}");
    }
    for (id, record) in records() {
        let expected = (id != self::id(60)).then_some(record);
        assert_eq!(shelf.document(id).unwrap(), expected);
    }
    assert_eq!(shelf.publication(id(120)).unwrap(), Some((key(120), publication(120))));
    assert_eq!(shelf.withdrawn(IdRange::ALL, 9).unwrap(), [(withdrawal(60), EXPIRES)]);
    assert_eq!(shelf.expiries(&[id(0)]).unwrap(), [EXPIRES]);
    // A posting counts for 4 bytes, and a new word for 16 and its length.
    assert_eq!(shelf.usages(), [Usage { origin: origin(), documents: 1, bytes: 30 }]);
}

/// An unpacked copy of the golden directory.
fn unpacked() -> PathBuf {
    let directory = env::temp_dir().join(format!("furui-versions-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(directory.join("words")).unwrap();
    for entry in fs::read_dir(golden().join("words")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), directory.join("words").join(entry.file_name())).unwrap();
    }
    let packed = fs::read(golden().join("shelf.redb.zst")).unwrap();
    fs::write(directory.join("shelf.redb"), zstd::decode_all(&*packed).unwrap()).unwrap();
    directory
}

#[test]
fn what_was_kept_is_there_and_can_be_changed() {
    let directory = unpacked();
    let open = || Shelf::open(&directory, ShelfOptions::default()).unwrap();
    check(&mut open());
    let mut shelf = open();
    let more = [("every-1".to_owned(), vec![(id(DOCUMENTS), Weight::new(2, 1))])];
    assert_eq!(shelf.store((&more, &[], &[]), EXPIRES).unwrap().new, 1);
    shelf.compact().unwrap();
    assert_eq!(shelf.size("every-1").unwrap().ids, u64::from(DOCUMENTS) + 1);
    assert_eq!(shelf.expire(EXPIRES).unwrap(), u64::from(DOCUMENTS) + 2);
    fs::remove_dir_all(directory).unwrap();
}

/// This is not a test. It made the golden directory.
#[test]
#[ignore = "writes what is kept for later versions"]
fn write_the_shelf_of_this_version() {
    let directory = PathBuf::from(env::var_os("FURUI_TEST_SHELF").unwrap());
    fill(&mut Shelf::open(&directory, ShelfOptions::default()).unwrap());
    let file = directory.join("shelf.redb");
    fs::write(file.with_extension("redb.zst"), zstd::encode_all(&*fs::read(&file).unwrap(), 19).unwrap()).unwrap();
    fs::remove_file(file).unwrap();
}
