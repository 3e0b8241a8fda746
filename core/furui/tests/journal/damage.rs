//! Damage of a journal: every changed, cut or zeroed byte is an error that names its place, or the end of the journal
//! where a crash would have left one.

use furui::format::{FormatError, Problem};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{JOURNAL, MANIFEST, Manifest, Memory, Storage, StoreKind};
use furui::{Error, Result};
use proptest::collection::vec;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::{GOLDEN, HEAD, OPTIONS, RECORD, bytes_of, copy, decode, found, hash, insert, killed, open, put};

fn format_error<T>(outcome: Result<T>) -> FormatError {
    match outcome {
        Err(Error::Format(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn every_byte_that_changes_is_an_error_that_names_the_journal_and_a_place() {
    let storage = killed();
    let good = bytes_of(&storage, JOURNAL);
    let starts = [HEAD, HEAD + RECORD + 80, HEAD + 2 * RECORD + 88];
    for at in 0..good.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut bad = good.clone();
            bad[at] ^= change;
            put(&storage, JOURNAL, &bad);
            let error = format_error(found(copy(&storage)));
            assert!(error.file.contains(JOURNAL), "{error}");
            let record = starts.iter().rev().find(|&&start| start <= at).copied().unwrap_or(0);
            if record > 0 {
                assert_eq!(error.offset, record as u64, "byte {at}: {error}");
            } else {
                assert!(error.offset < HEAD as u64);
            }
            assert!(
                format_error(Cascade::open_published(storage.clone(), OPTIONS).and_then(|set| set.verify()))
                    .file
                    .contains(JOURNAL)
            );
            assert_eq!(bytes_of(&storage, JOURNAL), bad, "nothing is overwritten");
        }
    }
}

/// A store with a journal of records of 10, 1, 29, 5, 5 and 5 keys, from number 100 on, and the ends of the records.
fn killed_with_many_records() -> (Memory, Vec<usize>) {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    insert(&mut set, 0..100).unwrap();
    set.publish().unwrap();
    let mut ends = vec![];
    for range in [100..110, 110..111, 111..140, 140..145, 145..150, 150..155] {
        insert(&mut set, range).unwrap();
        set.sync().unwrap();
        ends.push(bytes_of(&storage, JOURNAL).len());
    }
    (storage, ends)
}

#[test]
fn a_journal_that_is_cut_off_before_what_the_manifest_knows_is_damage_and_behind_it_has_the_records_before() {
    let (storage, ends) = killed_with_many_records();
    let good = bytes_of(&storage, JOURNAL);
    // The manifest was last saved after the third record, which more than doubled the journal.
    let known = Manifest::load(&storage).unwrap().unwrap().journal_bytes;
    assert_eq!(known, ends[2] as u64);
    let whole = [0, 10, 11, 40, 45, 50, 55];
    for length in 0..=good.len() {
        put(&storage, JOURNAL, &good[..length]);
        let records = ends.iter().filter(|&&end| end <= length).count();
        let outcomes = [
            Cascade::open(copy(&storage), OPTIONS).map(|set| set.len()),
            Cascade::open_published(storage.clone(), OPTIONS)
                .and_then(|set| set.verify().map(|()| 100 + whole[records])),
        ];
        for outcome in outcomes {
            if length as u64 >= known {
                assert_eq!(outcome.unwrap(), 100 + whole[records], "{length} bytes");
            } else {
                let error = format_error(outcome);
                assert!(error.file.contains(JOURNAL) && error.offset <= length as u64, "{error}");
            }
        }
        assert_eq!(bytes_of(&storage, JOURNAL), good[..length], "nothing is overwritten");
    }
}

#[test]
fn a_journal_that_is_missing_is_an_error_that_names_it_as_soon_as_it_was_begun() {
    let (storage, _) = killed_with_many_records();
    let storage = [killed(), storage];
    for storage in storage {
        storage.remove(JOURNAL).unwrap();
        let before = storage.list().unwrap();
        for outcome in [Cascade::open(storage.clone(), OPTIONS), Cascade::open_published(storage.clone(), OPTIONS)] {
            let error = format_error(outcome.map(drop));
            assert_eq!((error.file.as_str(), error.problem), ("memory:JOURNAL", Problem::Missing));
        }
        assert_eq!(storage.list().unwrap(), before);
    }
    // After the last publish there is no journal, and none is missed.
    let storage = killed();
    open(storage.clone()).publish().unwrap();
    assert!(!storage.list().unwrap().contains(&JOURNAL.to_owned()));
    assert_eq!(open(storage).len(), 140);
}

/// Zeros from any place on, of any length: they are damage, unless a crash during the last record leaves the same.
#[test]
fn zeros_are_the_end_of_a_journal_only_where_the_last_record_was() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    let mut ends = vec![HEAD];
    for count in [100, 3, 700, 64, 65, 1, 150] {
        let first = set.len();
        insert(&mut set, first..first + count).unwrap();
        set.sync().unwrap();
        ends.push(bytes_of(&storage, JOURNAL).len());
    }
    let (good, last) = (bytes_of(&storage, JOURNAL), ends[ends.len() - 2]);
    let all = decode(&good).unwrap();
    for start in HEAD..good.len() {
        for length in [1, 8, 64, 512, 4096, good.len()] {
            let end = (start + length).min(good.len());
            let mut bad = good.clone();
            bad[start..end].fill(0);
            // Some bytes are zero already, and with another salt these are others.
            let Some(first) = (start..end).find(|&at| bad[at] != good[at]) else { continue };
            match decode(&bad) {
                // The last record is lost. Of all records from some place on, only the manifest knows.
                Ok(keys) => {
                    let lost = end == good.len() && ends.iter().any(|begin| (start..=first).contains(begin));
                    assert!(first >= last || lost, "{length} zeros at {start}");
                    assert!(all.starts_with(&keys));
                }
                Err(Error::Format(error)) => {
                    let record = ends.iter().rev().find(|&&begin| begin <= first).unwrap();
                    assert_eq!(error.offset, *record as u64, "{length} zeros at {start}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    // Nor are bytes that follow the journal taken for an end, unless they are zeros.
    for more in [&good[..100], &good[HEAD..], &[1; 8], &[0xFF; 600]] {
        decode(&[&good[..], more].concat()).expect_err("appended bytes");
    }
    assert_eq!(decode(&[&good[..], &[0; 600]].concat()).unwrap(), all);
}

/// After a write that was cut short, a device may have any subset of the sectors of this write. The other sectors read
/// as zeros.
#[test]
fn a_last_record_of_which_sectors_are_missing_is_the_end_and_another_is_damage() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    insert(&mut set, 0..100).unwrap();
    set.sync().unwrap();
    let first = bytes_of(&storage, JOURNAL).len();
    // The power fails before the manifest knows of the second record.
    let before = copy(&storage);
    insert(&mut set, 100..500).unwrap();
    set.sync().unwrap();
    let last = bytes_of(&storage, JOURNAL);
    insert(&mut set, 500..501).unwrap();
    set.sync().unwrap();
    let more = bytes_of(&storage, JOURNAL);
    let offset = |bytes: &[u8]| {
        put(&before, JOURNAL, bytes);
        format_error(Cascade::open(copy(&before), OPTIONS)).offset
    };
    for sector in first / 512..last.len().div_ceil(512) {
        let missing = (sector * 512).max(first)..(sector * 512 + 512).min(last.len());
        for (whole, torn) in [(&last, true), (&more, false)] {
            let mut bytes = whole.clone();
            bytes[missing.clone()].fill(0);
            if torn {
                put(&before, JOURNAL, &bytes);
                assert_eq!(open(copy(&before)).len(), 100);
                put(&storage, JOURNAL, &bytes);
                assert_eq!(format_error(Cascade::open(copy(&storage), OPTIONS)).offset, first as u64);
            } else {
                assert_eq!(offset(&bytes), first as u64);
            }
        }
        // These zeros are not those of a missing sector.
        let mut bytes = last.clone();
        bytes[missing.start + 8..missing.end - 8].fill(0);
        assert_eq!(offset(&bytes), first as u64);
    }
    // All subsets of the sectors of the record.
    let sectors: Vec<_> = (first / 512..last.len().div_ceil(512)).collect();
    for subset in 1u32..1 << sectors.len() {
        let mut bytes = last.clone();
        for (_, sector) in sectors.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1) {
            bytes[(sector * 512).max(first)..(sector * 512 + 512).min(last.len())].fill(0);
        }
        put(&before, JOURNAL, &bytes);
        assert_eq!(open(copy(&before)).len(), 100, "{subset:b}");
    }
}

#[test]
fn a_journal_of_another_store_or_of_another_state_is_never_taken_in() {
    let storage = killed();
    let journal = bytes_of(&storage, JOURNAL);
    // This is the state after a crash between the publish and the removal of the journal.
    let mut set = open(storage.clone());
    set.publish().unwrap();
    let older_manifest = bytes_of(&storage, MANIFEST);
    put(&storage, JOURNAL, &journal);
    assert_eq!(open(storage.clone()).len(), 140);
    assert!(!storage.list().unwrap().contains(&JOURNAL.to_owned()), "it is of no use");

    // This journal is newer than the manifest.
    insert(&mut set, 140..150).unwrap();
    set.publish().unwrap();
    insert(&mut set, 150..160).unwrap();
    set.sync().unwrap();
    let newer = copy(&storage);
    put(&newer, MANIFEST, &older_manifest);
    assert!(Cascade::open(newer, OPTIONS).is_err());

    // This journal is of another store, with the same seed and the same number of generations before it was begun.
    let options = CascadeOptions { hash: Some(set.hash_spec()), ..OPTIONS };
    let other = Memory::new();
    let mut set = Cascade::open(other.clone(), options).unwrap();
    let begun = Manifest::load(&storage).unwrap().unwrap().generation() - 1;
    while set.manifest().generation() < begun {
        let generation = set.manifest().generation();
        insert(&mut set, [generation]).unwrap();
        set.publish().unwrap();
    }
    put(&other, JOURNAL, &bytes_of(&storage, JOURNAL));
    assert_eq!(format_error(Cascade::open(other.clone(), options)).problem, Problem::OtherFile);
    // This journal has another seed.
    put(&other, JOURNAL, &bytes_of(&killed(), JOURNAL));
    assert!(matches!(format_error(Cascade::open(other, options)).problem, Problem::OtherHash { .. }));
}

#[test]
fn a_journal_without_a_manifest_is_a_lost_manifest() {
    let storage = killed();
    for name in [MANIFEST.to_owned(), StoreKind::Seen.file_name(0)] {
        storage.remove(&name).unwrap();
        let error = format_error(Cascade::open(storage.clone(), OPTIONS));
        assert_eq!((error.file.as_str(), error.problem), ("memory:MANIFEST", Problem::Missing));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn changed_bytes_give_keys_that_were_there_or_an_error(
        records in vec(1usize..200, 1..6),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let storage = Memory::new();
        let mut set = open(storage.clone());
        let mut all = vec![];
        for count in records {
            let from = all.len() as u64;
            insert(&mut set, from..from + count as u64).unwrap();
            all.extend((from..from + count as u64).map(hash));
            set.sync().unwrap();
        }
        let mut bytes = bytes_of(&storage, JOURNAL);
        prop_assert_eq!(&decode(&bytes).unwrap(), &all);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 2);
        if let Ok(keys) = decode(&bytes) {
            prop_assert!(all.starts_with(&keys));
        }
    }

    #[test]
    fn any_bytes_behind_a_head_are_an_error_or_the_end(tail in vec(any::<u8>(), 0..2000), zeros in 0usize..2000) {
        let mut bytes = GOLDEN[..HEAD].to_vec();
        bytes.extend(tail);
        bytes.extend(vec![0; zeros]);
        if let Ok(keys) = decode(&bytes) {
            prop_assert_eq!(keys, vec![]);
        }
        prop_assert!(decode(&bytes[HEAD..]).is_err());
    }
}

/// A journal of one record with these numbers, under checksums that fit.
fn forged(numbers: &[u64]) -> Vec<u8> {
    let (mut file, at) = (GOLDEN[..HEAD].to_vec(), (HEAD as u64).to_le_bytes());
    let (salt, count) = (GOLDEN[HEAD - 8..HEAD].to_vec(), (numbers.len() as u32).to_le_bytes());
    let check = (xxh3_64(&[&salt[..], &at, &count].concat()) as u32).to_le_bytes();
    let keys: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let sum = xxh3_64(&[&salt[..], &at, &xxh3_64(&keys).to_le_bytes()].concat()).to_le_bytes();
    [&count[..], &check, &sum, &keys, &count, &check].into_iter().for_each(|part| file.extend(part));
    file
}

#[test]
fn ticks_that_go_back_are_damage_and_equal_ones_are_not() {
    for numbers in [&[7, 8][..], &[0, 5, 7, 0, 5, 8], &[0, 5, 7, 0, 6, 8]] {
        assert_eq!(decode(&forged(numbers)).unwrap(), [7, 8]);
    }
    let error = format_error(decode(&forged(&[0, 5, 7, 0, 4, 8])));
    assert_eq!((error.offset, error.problem), (HEAD as u64, Problem::Invalid("a tick is before the last one")));
}

/// Behind the last record there is no sector that could be missing.
#[test]
fn a_changed_byte_of_a_last_record_that_ends_with_a_sector_is_damage() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    insert(&mut set, 0..50).unwrap();
    set.sync().unwrap();
    let mut bytes = bytes_of(&storage, JOURNAL);
    assert_eq!(bytes.len(), 512);
    bytes[200] ^= 1;
    assert_eq!(format_error(decode(&bytes)).offset, HEAD as u64);
}

/// All that is left of a journal is the end of its last record. It lies where a search by pieces of 256 KiB is over.
#[test]
fn zeros_before_the_end_of_a_later_record_are_damage() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    for keys in [0..1, 1..32_763] {
        insert(&mut set, keys).unwrap();
        set.sync().unwrap();
    }
    let mut bytes = bytes_of(&storage, JOURNAL);
    let end = HEAD + (256 << 10);
    assert_eq!(bytes.len(), end + 8);
    bytes[HEAD..end].fill(0);
    assert_eq!(format_error(decode(&bytes)).offset, HEAD as u64);
}

#[test]
fn the_manifest_knows_a_journal_that_has_doubled() {
    let storage = Memory::new();
    let mut set = open(storage.clone());
    for keys in [0..1, 1..13] {
        insert(&mut set, keys).unwrap();
        set.sync().unwrap();
        let length = bytes_of(&storage, JOURNAL).len();
        assert_eq!(Manifest::load(&storage).unwrap().unwrap().journal_bytes, length as u64);
    }
    assert_eq!(bytes_of(&storage, JOURNAL).len(), 2 * (HEAD + RECORD + 8));
}
