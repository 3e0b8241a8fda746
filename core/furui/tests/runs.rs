//! Runs compared with sorted sets, over files that are mapped and files that are not; and the effects of damage.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use furui::format::{Align, EnvelopeWriter, Kind, Tag};
use furui::raw::{Merge, PAGE_BYTES, Page, RemainderBits, RunWriter, SortedSource};
use furui::store::cascade::Run;
use furui::store::{Fingerprints, ReadAt};
use furui::{Error, HashSpec, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::dump;

/// A file in memory that counts the calls that read it. It can hide that it is in memory, so that it is read by calls.
#[derive(Clone, Debug)]
struct File {
    bytes: Arc<[u8]>,
    mapped: bool,
    reads: Arc<AtomicUsize>,
    bytes_read: Arc<AtomicUsize>,
}

impl File {
    fn new(bytes: &[u8], mapped: bool) -> Self {
        Self { bytes: bytes.into(), mapped, reads: Arc::default(), bytes_read: Arc::default() }
    }
}

impl ReadAt for File {
    fn len(&self) -> u64 {
        ReadAt::len(&*self.bytes)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(buf.len(), Ordering::Relaxed);
        self.bytes.read_at(offset, buf)
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.mapped.then_some(&self.bytes)
    }
}

fn write(keys: &[u64], piece: usize, expected: u64) -> Vec<u8> {
    write_of(Fingerprints::EXACT, keys, piece, expected)
}

fn write_of(fingerprints: Fingerprints, keys: &[u64], piece: usize, expected: u64) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = RunWriter::of(&mut file, "run", HashSpec::default(), fingerprints, expected).unwrap();
    for keys in keys.chunks(piece) {
        writer.push(keys).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!(written.keys, keys.len() as u64);
    assert_eq!(written.seal.length, file.len() as u64);
    file
}

fn open(bytes: &[u8], mapped: bool) -> Result<Run<File>> {
    Run::open(File::new(bytes, mapped), "run", HashSpec::default())
}

fn uniform(count: u64) -> Vec<u64> {
    let spec = HashSpec::default();
    (0..count).map(|i| spec.hash(&i.to_le_bytes()).get()).collect::<BTreeSet<u64>>().into_iter().collect()
}

fn read_all<F: ReadAt>(run: &Run<F>) -> Result<Vec<u64>> {
    let (mut all, mut reader) = (vec![], run.reader());
    loop {
        let keys = reader.fill()?;
        if keys.is_empty() {
            return Ok(all);
        }
        let count = keys.len().div_ceil(2);
        all.extend_from_slice(&keys[..count]);
        reader.consume(count);
    }
}

/// Strategy for fingerprints: whole hashes, or fingerprints of 8 to 56 bits whose number need not be a power of two.
fn fingerprints() -> impl Strategy<Value = Fingerprints> {
    let short = (8..=56u32, any::<u64>()).prop_map(|(bits, less)| (1 << bits) - less % (1 << (bits - 1)));
    prop_oneof![Just(u64::MAX), short].prop_map(|last| Fingerprints::new(last).unwrap())
}

fn keys() -> impl Strategy<Value = Vec<u64>> {
    let dense =
        (any::<u64>(), 1..6000u64).prop_map(|(start, count)| (0..count).map(|i| start.wrapping_add(i)).collect());
    let ends = vec((any::<bool>(), 0..20_000u64), 0..500)
        .prop_map(|keys| keys.iter().map(|&(top, key)| if top { u64::MAX - key } else { key }).collect());
    prop_oneof![(0..6000u64).prop_map(uniform), vec(any::<u64>(), 0..50), dense, ends]
        .prop_map(|keys: Vec<u64>| BTreeSet::from_iter(keys).into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_run_is_the_set_that_was_written(
        keys in keys(),
        fingerprints in fingerprints(),
        piece in 1..5000usize,
        expected in prop_oneof![1..10_000u64, Just(0), any::<u64>()],
        others in vec(any::<u64>(), 100),
        mapped in any::<bool>(),
    ) {
        let place = |key: u64| fingerprints.place(fingerprints.of(KeyHash::new(key)));
        let keys: Vec<u64> = keys.into_iter().map(place).collect::<BTreeSet<_>>().into_iter().collect();
        let run = open(&write_of(fingerprints, &keys, piece, expected), mapped).unwrap();
        run.verify().unwrap();
        prop_assert_eq!(run.fingerprints(), fingerprints);
        prop_assert_eq!(run.len(), keys.len() as u64);
        prop_assert_eq!(run.is_empty(), keys.is_empty());
        prop_assert_eq!(&read_all(&run).unwrap(), &keys);

        let mut asked: Vec<u64> = keys.iter().step_by(3).flat_map(|&key| [key, key ^ 1]).chain(others).collect();
        asked.extend([0, u64::MAX]);
        asked.iter_mut().for_each(|key| *key = place(*key));
        asked.sort_unstable();
        let expected: Vec<bool> = asked.iter().map(|key| keys.binary_search(key).is_ok()).collect();
        let mut found = vec![false; asked.len()];
        run.contains_sorted(&asked, &mut found).unwrap();
        prop_assert_eq!(&found, &expected);
        for (key, expected) in asked.iter().zip(&expected) {
            prop_assert_eq!(run.contains(*key).unwrap(), *expected);
        }

        // A key that another level has found stays found.
        let mut found: Vec<bool> = asked.iter().map(|key| key % 3 == 0).collect();
        run.contains_sorted(&asked, &mut found).unwrap();
        for ((key, found), expected) in asked.iter().zip(found).zip(expected) {
            prop_assert_eq!(found, expected || key % 3 == 0);
        }
    }

    #[test]
    fn the_merge_of_runs_is_the_union(sets in vec(keys(), 1..6)) {
        let runs: Vec<Run<File>> = sets.iter().map(|keys| open(&write(keys, 1000, 3000), false).unwrap()).collect();
        let mut merge = Merge::new(runs.iter().map(Run::reader).collect());
        let mut file = vec![];
        let mut writer = RunWriter::new(&mut file, "merged", HashSpec::default(), 10_000).unwrap();
        loop {
            let keys = merge.next_keys().unwrap();
            if keys.is_empty() {
                break;
            }
            writer.push(keys).unwrap();
        }
        writer.finish().unwrap();
        let union: BTreeSet<u64> = sets.into_iter().flatten().collect();
        let merged = open(&file, true).unwrap();
        merged.verify().unwrap();
        prop_assert_eq!(read_all(&merged).unwrap(), union.into_iter().collect::<Vec<u64>>());
    }
}

#[test]
fn a_changed_byte_is_an_error_and_never_a_wrong_answer() {
    let keys = uniform(300);
    let bytes = write(&keys, 300, 300);
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() {
        damaged[at] ^= 1 << (at % 8);
        if let Ok(run) = open(&damaged, at % 2 == 0) {
            for &key in keys.iter().step_by(100) {
                assert!(run.contains(key).unwrap_or(true), "byte {at}: {key:#x} is lost");
                assert!(!run.contains(key ^ 1).unwrap_or(false), "byte {at}: {:#x} was never there", key ^ 1);
            }
            let mut found = vec![false; keys.len()];
            assert!(run.contains_sorted(&keys, &mut found).is_err() || found.iter().all(|found| *found));
            assert!(read_all(&run).is_ok_and(|read| read == keys) || read_all(&run).is_err());
            let error = run.verify().expect_err("verify reads every byte").to_string();
            assert!(error.starts_with("run: at byte "), "byte {at}: {error}");
        }
        damaged[at] = bytes[at];
    }
}

#[test]
fn a_truncated_run_does_not_open() {
    let bytes = write(&uniform(900), 900, 900);
    for length in 0..bytes.len() {
        assert!(matches!(open(&bytes[..length], true), Err(Error::Format(_))), "{length} bytes");
    }
}

#[test]
fn damage_is_named_with_the_offset_of_its_page() {
    let keys = uniform(5000);
    let mut bytes = write(&keys, 5000, 5000);
    let start = bytes.len() - bytes.len() % PAGE_BYTES - PAGE_BYTES;
    bytes[start + 1000] ^= 1;
    let run = open(&bytes, true).unwrap();
    let expected = format!("run: at byte {start}: checksum mismatch");
    for error in [run.verify().unwrap_err(), run.contains(keys[4999]).unwrap_err(), read_all(&run).unwrap_err()] {
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert!(run.contains(keys[0]).unwrap(), "whole pages still answer");
}

/// Among these numbers of keys are those for which the last page has a single key, is full, or lacks one key.
#[test]
fn a_run_of_any_number_of_keys_has_all_of_them() {
    let all = uniform(2100);
    // Keys that differ in few bits fill pages to the number of keys that no page exceeds.
    let dense: Vec<u64> = (1..=all.len() as u64).map(|i| i << 40).collect();
    for keys in [all, dense] {
        let mut pages = BTreeSet::new();
        for count in 1..=keys.len() {
            let keys = &keys[..count];
            let run = open(&write(keys, count, 2100), true).unwrap();
            run.verify().unwrap();
            assert!(run.len() == count as u64 && read_all(&run).unwrap() == keys, "{count} keys");
            for key in [0, count / 2, count - 1] {
                assert!(run.contains(keys[key]).unwrap(), "{count} keys");
            }
            pages.insert(run.pages());
        }
        assert!(pages.len() > 2, "{pages:?}");
    }
}

#[test]
fn mapped_and_read_runs_give_equal_answers_on_both_sides_of_every_page() {
    let seed = HashSpec::random().seed;
    println!("seed {seed}");
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    // The keys of the second run are not uniform, so that pages are far from where they are guessed.
    let crowded: Vec<u64> = uniform(20_000).into_iter().map(|key| if key % 3 == 0 { key >> 9 } else { key }).collect();
    for keys in [uniform(20_000), crowded] {
        let keys: Vec<u64> = keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let bytes = write(&keys, 5000, 20_000);
        let [mapped, read] = [true, false].map(|mapped| open(&bytes, mapped).unwrap());
        // All keys and their neighbours are looked up, so the first and last keys of every page are among them.
        let mut asked: Vec<u64> = keys.iter().flat_map(|&key| [key - 1, key, key + 1]).chain([0, u64::MAX]).collect();
        asked.sort_unstable();
        let expected: Vec<bool> = asked.iter().map(|key| keys.binary_search(key).is_ok()).collect();
        let mut start = 0;
        while start < asked.len() {
            let most = if below(4) == 0 { 20_000 } else { 70 };
            let end = asked.len().min(start + 1 + below(most));
            let known: Vec<bool> = (start..end).map(|_| below(5) == 0).collect();
            for run in [&mapped, &read] {
                let mut found = known.clone();
                run.contains_sorted(&asked[start..end], &mut found).unwrap();
                for (i, found) in found.into_iter().enumerate() {
                    assert_eq!(found, known[i] || expected[start + i], "{:#x}", asked[start + i]);
                }
            }
            start = end;
        }
    }
}

#[test]
fn a_batch_that_meets_a_damaged_page_is_an_error_mapped_or_read() {
    let keys = uniform(20_000);
    let bytes = write(&keys, 5000, 20_000);
    let pages = open(&bytes, true).unwrap().pages();
    let mut damaged = bytes.clone();
    for page in (0..pages).step_by(3) {
        // The header of the file fills the page before the first one.
        let at = PAGE_BYTES * (1 + page);
        damaged[at + 2000] ^= 8;
        for run in [true, false].map(|mapped| open(&damaged, mapped).unwrap()) {
            // A second look-up is an error too.
            for _ in 0..2 {
                let error = run.contains_sorted(&keys, &mut vec![false; keys.len()]).unwrap_err().to_string();
                assert!(error.starts_with(&format!("run: at byte {at}: checksum mismatch")), "{error}");
            }
        }
        damaged[at + 2000] = bytes[at + 2000];
    }
}

#[test]
fn a_run_of_another_hash_or_kind_does_not_open() {
    let bytes = write(&[1, 2, 3], 3, 3);
    let other = HashSpec { seed: 1, ..HashSpec::default() };
    let error = Run::open(File::new(&bytes, true), "run", other).unwrap_err();
    assert!(error.to_string().contains("cannot be combined"), "{error}");

    let mut manifest = vec![];
    EnvelopeWriter::new(&mut manifest, Kind::Manifest, HashSpec::default()).unwrap().finish().unwrap();
    assert!(matches!(open(&manifest, true), Err(Error::Format(_))));
}

/// A file whose envelope is valid, whatever its content.
fn sealed(pages: &[[u8; PAGE_BYTES]], fences: &[u64], keys: u64, greatest: u64, bits: u32) -> Vec<u8> {
    sealed_at(Align::Page, pages.as_flattened(), fences, keys, greatest, bits)
}

fn sealed_at(align: Align, pages: &[u8], fences: &[u64], keys: u64, greatest: u64, bits: u32) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default()).unwrap();
    writer.section(Tag::new(*b"PAGE"), align).unwrap();
    writer.write_all(pages).unwrap();
    writer.section(Tag::new(*b"FENC"), Align::Line).unwrap();
    fences.iter().for_each(|fence| writer.write_all(&fence.to_le_bytes()).unwrap());
    writer.section(Tag::new(*b"META"), Align::Line).unwrap();
    writer.write_all(&keys.to_le_bytes()).unwrap();
    writer.write_all(&greatest.to_le_bytes()).unwrap();
    writer.write_all(&u64::from(bits).to_le_bytes()).unwrap();
    writer.write_all(&u64::MAX.to_le_bytes()).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn a_well_sealed_file_that_contradicts_itself_is_refused() {
    let bits = RemainderBits::for_keys(6, Fingerprints::EXACT);
    let mut pages = [[0; PAGE_BYTES]; 2];
    Page::encode(&[10, 20, 30], bits, &mut pages[0]);
    Page::encode(&[40, 50, 60], bits, &mut pages[1]);
    let good = sealed(&pages, &[10, 40], 6, 60, bits.get());
    open(&good, true).unwrap().verify().unwrap();
    assert!(open(&good, true).unwrap().contains(50).unwrap());

    for (what, bytes) in [
        ("fences that do not ascend", sealed(&pages, &[40, 10], 6, 60, bits.get())),
        ("a fence too few", sealed(&pages, &[10], 6, 60, bits.get())),
        ("a fence too many", sealed(&pages, &[10, 40, 50], 6, 60, bits.get())),
        ("a greatest key before the last fence", sealed(&pages, &[10, 40], 6, 39, bits.get())),
        ("more pages than keys", sealed(&pages, &[10, 40], 1, 60, bits.get())),
        ("more keys than pages can hold", sealed(&pages, &[10, 40], 1 << 40, 60, bits.get())),
        ("remainders too wide", sealed(&pages, &[10, 40], 6, 60, 57)),
        ("keys without pages", sealed(&[], &[], 6, 60, bits.get())),
        ("pages in the wrong place", sealed_at(Align::Line, pages.as_flattened(), &[10, 40], 6, 60, bits.get())),
        (
            "a part of a page",
            sealed_at(Align::Page, &[pages.as_flattened(), &[0]].concat(), &[10, 40], 6, 60, bits.get()),
        ),
    ] {
        assert!(matches!(open(&bytes, true), Err(Error::Format(_))), "{what}");
    }

    let swapped = [pages[1], pages[0]];
    for (what, bytes) in [
        ("pages in each other's place", sealed(&swapped, &[10, 40], 6, 60, bits.get())),
        ("a page twice", sealed(&[pages[0], pages[0]], &[10, 40], 6, 60, bits.get())),
        ("another greatest key", sealed(&pages, &[10, 40], 6, 61, bits.get())),
        ("another number of keys", sealed(&pages, &[10, 40], 7, 60, bits.get())),
        ("another width", sealed(&pages, &[10, 40], 6, 60, bits.get() - 1)),
        ("a page that reaches into the next", {
            let mut pages = pages;
            Page::encode(&[10, 20, 45], bits, &mut pages[0]);
            sealed(&pages, &[10, 40], 6, 60, bits.get())
        }),
        ("a page that ends with the first key of the next", {
            let mut pages = pages;
            Page::encode(&[10, 20, 40], bits, &mut pages[0]);
            sealed(&pages, &[10, 40], 6, 60, bits.get())
        }),
    ] {
        let run = open(&bytes, true).unwrap();
        assert!(matches!(run.verify(), Err(Error::Format(_))), "{what}");
        assert!(matches!(read_all(&run), Err(Error::Format(_))), "{what}");
    }

    // The padding is not zero, but the checksum fits.
    let mut padded = pages;
    padded[1][PAGE_BYTES / 2] = 1;
    let checksum = HashSpec::default().hash(&padded[1][4..]).get() as u32;
    padded[1][..4].copy_from_slice(&checksum.to_le_bytes());
    let run = open(&sealed(&padded, &[10, 40], 6, 60, bits.get()), true).unwrap();
    assert!(run.contains(50).unwrap() && run.verify().is_err());

    assert!(open(&sealed(&swapped, &[10, 40], 6, 60, bits.get()), true).unwrap().contains(50).is_err());
}

#[test]
fn a_lookup_reads_one_page_and_a_sorted_batch_no_page_twice() {
    let keys = uniform(50_000);
    let run = open(&write(&keys, 5000, 50_000), false).unwrap();
    let file = File::new(&write(&keys, 5000, 50_000), false);
    let (reads, bytes_read) = (file.reads.clone(), file.bytes_read.clone());
    let counted = Run::open(file, "run", HashSpec::default()).unwrap();

    let before = (reads.load(Ordering::Relaxed), bytes_read.load(Ordering::Relaxed));
    assert!(counted.contains(keys[777]).unwrap());
    assert_eq!(reads.load(Ordering::Relaxed) - before.0, 1);
    assert_eq!(bytes_read.load(Ordering::Relaxed) - before.1, PAGE_BYTES);

    let before = (reads.load(Ordering::Relaxed), bytes_read.load(Ordering::Relaxed));
    let mut found = vec![false; keys.len()];
    counted.contains_sorted(&keys, &mut found).unwrap();
    assert!(found.iter().all(|found| *found));
    assert_eq!(reads.load(Ordering::Relaxed) - before.0, run.pages().div_ceil(32), "32 adjacent pages a read");
    assert_eq!(bytes_read.load(Ordering::Relaxed) - before.1, run.pages() * PAGE_BYTES);

    let before = reads.load(Ordering::Relaxed);
    counted.contains_sorted(&keys, &mut found).unwrap();
    assert_eq!(reads.load(Ordering::Relaxed), before, "a key that is found already is not looked up");
    found[0] = false;
    let before = bytes_read.load(Ordering::Relaxed);
    counted.contains_sorted(&keys, &mut found).unwrap();
    assert_eq!(bytes_read.load(Ordering::Relaxed) - before, PAGE_BYTES, "nor is its page read for it");
}

#[test]
fn keys_out_of_order_are_refused() {
    for (first, second) in [(&[1, 5][..], &[5][..]), (&[1], &[5, 5]), (&[1], &[6, 5, 7])] {
        let refused = std::panic::catch_unwind(|| {
            let mut writer = RunWriter::new(io::sink(), "run", HashSpec::default(), 4).unwrap();
            writer.push(first).unwrap();
            writer.push(second).unwrap();
        });
        assert_eq!(refused.unwrap_err().downcast_ref(), Some(&"keys of a run ascend strictly"));
    }
}

#[test]
fn a_run_may_be_empty_and_its_pages_may_have_as_many_keys_as_any_page() {
    let empty = open(&write(&[], 1, 0), true).unwrap();
    empty.verify().unwrap();
    assert!(empty.is_empty() && !empty.contains(1).unwrap());
    let keys: Vec<u64> = (1..=574).collect();
    let run = open(&write(&keys, 1000, 3), true).unwrap();
    run.verify().unwrap();
    assert!(!run.is_empty() && run.pages() == 1 && run.remainder_bits().most_keys() == keys.len());
    assert_eq!(read_all(&run).unwrap(), keys);
}

#[test]
fn an_error_of_the_sink_names_the_file() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = RunWriter::new(Full, "0123.run", HashSpec::default(), 3).expect_err("the header is written at once");
    assert!(error.to_string().starts_with("cannot write 0123.run: "), "{error}");
}

/// The keys of the example in docs/format.md, cut after their first byte: quotients 1, 1, 3, 3 and 7.
const GOLDEN_KEYS: [u64; 5] =
    [0x0100_0000_0000_0001, 0x0123_4567_89AB_CDEF, 0x0300_0000_0000_0000, 0x03FF_FFFF_FFFF_FFFF, 0x0700_0000_0000_ABCD];

const GOLDEN: &[u8] = include_bytes!("golden/v1/0000000000000001.run");

#[test]
fn the_golden_run_is_read_and_written_byte_for_byte() {
    let run = open(GOLDEN, true).unwrap();
    run.verify().unwrap();
    assert_eq!(read_all(&run).unwrap(), GOLDEN_KEYS);
    assert!(run.contains(GOLDEN_KEYS[2]).unwrap() && !run.contains(GOLDEN_KEYS[2] + 1).unwrap());
    assert_eq!(write(&GOLDEN_KEYS, 5, 5), GOLDEN);
}

/// `cargo test -p furui --test it runs::write -- --ignored` writes the golden file again, when the format has changed.
#[test]
#[ignore = "writes the golden file"]
fn write_the_golden_run() {
    std::fs::write("tests/golden/v1/0000000000000001.run", write(&GOLDEN_KEYS, 5, 5)).unwrap();
}

#[test]
fn the_dump_in_the_format_description_is_the_golden_file() {
    dump::check("## Run", "## Filters", GOLDEN, 0x40..0x2080);
}
