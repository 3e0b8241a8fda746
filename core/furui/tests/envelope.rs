//! The envelope around files: files that were written can be read, and no other bytes can.

use std::error::Error as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use furui::format::{
    Align, Envelope, EnvelopeWriter, FormatError, Kind, MAX_SECTIONS, Problem, ReadAt, ReadError, Seal, Tag,
};
use furui::store::Manifest;
use furui::store::cascade::Run;
use furui::{Error, HashAlgorithm, HashSpec};
use proptest::collection::vec;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

const SPEC: HashSpec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 0x0123_4567_89AB_CDEF };

fn tag(index: usize) -> Tag {
    Tag::new([b'T', b'A', b'A' + (index / 26) as u8, b'A' + (index % 26) as u8])
}

fn written(sections: &[(Align, Vec<u8>)]) -> (Vec<u8>, Seal) {
    let mut file = Vec::new();
    let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, SPEC).unwrap();
    for (index, (align, bytes)) in sections.iter().enumerate() {
        writer.section(tag(index), *align).unwrap();
        bytes.chunks(7).for_each(|chunk| writer.write_all(chunk).unwrap());
    }
    let seal = writer.finish().unwrap();
    (file, seal)
}

/// A file with both kinds of padding, an empty section, and a section that needs no padding.
fn sample() -> Vec<u8> {
    written(&[
        (Align::Line, (1..=100).collect()),
        (Align::Line, vec![]),
        (Align::Line, vec![7; 128]),
        (Align::Page, vec![9; 5]),
    ])
    .0
}

fn check(bytes: &[u8]) -> Result<Envelope, FormatError> {
    let outcome = Envelope::open(bytes, "sample").and_then(|envelope| envelope.verify(bytes).map(|()| envelope));
    outcome.map_err(format_error)
}

fn format_error(error: ReadError) -> FormatError {
    match error {
        ReadError::Format(error) => error,
        other => panic!("{other}"),
    }
}

/// Makes all checksums of the envelope itself fit, as an adversary would.
fn reseal(file: &mut [u8]) {
    let checksum = xxh3_64(&file[..56]).to_le_bytes();
    file[56..64].copy_from_slice(&checksum);
    let footer = file.len() - 64;
    let count = u32::from_le_bytes(file[footer + 8..footer + 12].try_into().unwrap()) as usize;
    let Some(table) = footer.checked_sub(count.saturating_mul(32)) else { return };
    let sealed = [&file[..64], &file[table..footer + 48]].concat();
    file[footer + 48..footer + 56].copy_from_slice(&xxh3_64(&sealed).to_le_bytes());
}

fn problem_after(offset: usize, bytes: &[u8]) -> (u64, Problem) {
    let mut file = sample();
    let at = if offset >= 1 << 16 { file.len() - 64 + (offset - (1 << 16)) } else { offset };
    file[at..at + bytes.len()].copy_from_slice(bytes);
    reseal(&mut file);
    let error = check(&file).unwrap_err();
    assert_eq!(error.file, "sample");
    (error.offset, error.problem)
}

/// An offset within the footer, for [`problem_after`].
const FOOTER: usize = 1 << 16;

#[test]
fn an_empty_file_is_its_two_ends() {
    let (file, seal) = written(&[]);
    assert_eq!(file.len(), 128);
    let envelope = check(&file).unwrap();
    assert_eq!((envelope.kind(), envelope.hash(), envelope.seal()), (Kind::Run, SPEC, seal));
    assert!(envelope.sections().is_empty());
}

#[test]
fn every_flipped_byte_is_an_error_that_names_its_place() {
    let good = sample();
    let envelope = check(&good).unwrap();
    let table = good.len() as u64 - 64 - 4 * 32;
    for at in 0..good.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            let error = check(&bad).expect_err("a flipped byte");
            let at = at as u64;
            let section = envelope.sections().iter().find(|s| (s.offset..s.offset + s.length).contains(&at));
            match section {
                Some(section) => assert_eq!((error.offset, error.problem), (section.offset, Problem::Checksum)),
                None if at < 64 => assert_eq!(error.offset, 0),
                None if at < table => assert_eq!(error.offset, at, "padding"),
                None => assert!((table..=good.len() as u64).contains(&error.offset), "{error}"),
            }
        }
    }
}

#[test]
fn every_truncation_and_every_appendix_is_an_error_on_opening() {
    let good = sample();
    for length in 0..good.len() {
        let error = format_error(Envelope::open(&good[..length], "sample").expect_err("a truncated file"));
        match error.problem {
            Problem::Truncated { .. } => assert_eq!(error.offset, length as u64),
            Problem::NoEnd => assert_eq!(error.offset, length as u64 - 8),
            _ => panic!("{error}"),
        }
    }
    for appendix in [&b"\0"[..], b"\n", b"FURUIEND\0", &[0; 64], &good] {
        let longer = [&good, appendix].concat();
        let error = format_error(Envelope::open(longer.as_slice(), "sample").expect_err("bytes after the end"));
        // If a file consists of two files, the end of the second does not fit the beginning of the first.
        assert!(appendix == good || error.problem == Problem::Appended { bytes: appendix.len() as u64 }, "{error}");
    }
}

#[test]
fn foreign_newer_and_unknown_files_are_told_apart() {
    let error = |bytes: &[u8]| check(bytes).unwrap_err().problem;
    assert_eq!(error(b"#!/bin/sh\n"), Problem::NotFurui);
    assert_eq!(error(&[0; 4096]), Problem::NotFurui);
    assert_eq!(error(b""), Problem::Truncated { expected: 128, found: 0 });
    assert_eq!(error(b"FURUI"), Problem::Truncated { expected: 128, found: 5 });

    assert_eq!(problem_after(8, &[2, 0]), (8, Problem::NewerVersion { found: 2, supported: 1 }));
    assert!(matches!(problem_after(8, &[0, 0]), (8, Problem::Invalid(_))));
    assert_eq!(problem_after(10, &[0, 1]), (10, Problem::UnknownKind(256)));
    assert_eq!(problem_after(12, &[77, 0]), (12, Problem::UnknownHash(77)));
    assert!(matches!(problem_after(14, &[2]), (14, Problem::Invalid(_))));
    assert!(matches!(problem_after(55, &[1]), (55, Problem::Invalid(_))));

    let file = sample();
    let wrong = Manifest::decode(&*file, "sample").unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "sample: at byte 10: this is a run of a store, where the manifest of a store belongs"
    );
    match Run::open(Arc::<[u8]>::from(file), "sample", HashSpec::default()) {
        Err(Error::Format(other)) => {
            assert_eq!(other.problem, Problem::OtherHash { found: SPEC, expected: HashSpec::default() });
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_footer_that_lies_is_refused_even_with_good_checksums() {
    let file = sample();
    let footer = file.len() as u64 - 64;
    assert_eq!(problem_after(FOOTER + 12, &[1]), (footer + 12, Problem::Invalid("a reserved byte is not zero")));
    assert_eq!(problem_after(FOOTER + 24, &[1]), (footer + 24, Problem::Invalid("a reserved byte is not zero")));
    assert_eq!(problem_after(FOOTER + 47, &[1]), (footer + 47, Problem::Invalid("a reserved byte is not zero")));
    assert_eq!(problem_after(FOOTER + 8, &[65, 0, 0, 0]), (footer + 8, Problem::Invalid("too many sections")));
    for count in [0u32, 3, 5, 64, u32::MAX] {
        problem_after(FOOTER + 8, &count.to_le_bytes());
    }
    for wrong in [0, 64, footer, u64::MAX, u64::MAX - 127] {
        problem_after(FOOTER, &wrong.to_le_bytes());
    }
    for wrong in [0, footer, u64::MAX] {
        problem_after(FOOTER + 16, &wrong.to_le_bytes());
    }
}

#[test]
fn an_entry_that_lies_is_refused_even_with_good_checksums() {
    let table = sample().len() - 64 - 4 * 32;
    for entry in (0..4).map(|index| table + 32 * index) {
        let place = entry as u64;
        assert_eq!(problem_after(entry, b"meta").0, place, "letters that no tag has");
        for align in [0u32, 1, 63, 128, u32::MAX] {
            assert_eq!(problem_after(entry + 4, &align.to_le_bytes()).0, place);
        }
        for offset in [0u64, 63, 65, 1 << 40, u64::MAX - 63, u64::MAX] {
            assert_eq!(problem_after(entry + 8, &offset.to_le_bytes()).0, place);
        }
        for length in [1u64 << 40, u64::MAX - 4096, u64::MAX] {
            assert_eq!(problem_after(entry + 16, &length.to_le_bytes()).0, place);
        }
    }
    assert_eq!(problem_after(table + 32, b"TAAA").0, table as u64 + 32, "a tag twice");
}

#[test]
fn a_section_is_read_whole_within_a_limit_or_not_at_all() {
    let mut file = sample();
    let envelope = check(&file).unwrap();
    let read = |file: &[u8], tag, limit| envelope.read_section(file, tag, limit).map_err(format_error);
    assert_eq!(read(&file, tag(0), 100).unwrap(), (1..=100).collect::<Vec<u8>>());
    assert_eq!(read(&file, tag(1), 0).unwrap(), b"");
    assert_eq!(read(&file, tag(0), 99).unwrap_err().problem, Problem::TooLong { length: 100, limit: 99 });
    let missing = read(&file, tag(4), 99).unwrap_err();
    assert_eq!((missing.offset, missing.problem), (file.len() as u64 - 64, Problem::NoSection(tag(4))));
    file[64] ^= 1;
    assert_eq!(read(&file, tag(0), 100).unwrap_err().problem, Problem::Checksum);
    let shrunk = read(&file[..100], tag(0), 100).unwrap_err();
    assert_eq!((shrunk.offset, shrunk.problem), (64, Problem::Truncated { expected: 164, found: 100 }));
}

#[test]
fn a_file_that_was_swapped_under_its_envelope_does_not_verify() {
    let (one, _) = written(&[(Align::Line, vec![1; 10])]);
    let (two, _) = written(&[(Align::Line, vec![2; 10])]);
    assert!(check(&one).unwrap().verify(two.as_slice()).is_err());
}

/// Makes a run of a store the file of a filter, which must end with checksums of its regions.
fn as_filter(mut file: Vec<u8>) -> Vec<u8> {
    file[10..12].copy_from_slice(&Kind::BlockedBloom.code().to_le_bytes());
    reseal(&mut file);
    file
}

#[test]
fn checksums_of_regions_are_the_last_section_and_have_one_length() {
    let sums = Tag::new(*b"SUMS");
    // The bytes before the checksums, in regions of 4096 bytes, have one checksum of four bytes each.
    for (bytes, tag_of_last, align, length, fits) in [
        (10, sums, Align::Line, 4, true),
        (10, sums, Align::Page, 4, false),
        (10, sums, Align::Line, 0, false),
        (10, sums, Align::Line, 8, false),
        (10, tag(1), Align::Line, 4, false),
        (4096, sums, Align::Line, 8, true),
        (4096, sums, Align::Line, 4, false),
    ] {
        let mut file = Vec::new();
        let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, SPEC).unwrap();
        writer.section(tag(0), Align::Line).unwrap();
        writer.write_all(&vec![1; bytes]).unwrap();
        writer.section(tag_of_last, align).unwrap();
        writer.write_all(&vec![2; length]).unwrap();
        writer.finish().unwrap();
        let file = as_filter(file);
        match Envelope::open(&file[..], "sample") {
            // The section's own checksum fits, but those of the regions do not.
            Ok(_) if fits => assert_eq!(check(&file).unwrap_err().problem, Problem::Checksum),
            Ok(_) => panic!("{bytes}, {tag_of_last}, {align:?}, {length}"),
            Err(error) => {
                let FormatError { offset, problem, .. } = format_error(error);
                assert!(!fits, "{problem}");
                let missing = Problem::Invalid("the checksums of the file's regions are missing");
                assert_eq!((offset, problem), (file.len() as u64 - 64, missing));
            }
        }
    }
}

#[test]
fn checksums_of_regions_that_lie_do_not_verify_even_with_good_checksums() {
    let mut file = Vec::new();
    let mut writer = EnvelopeWriter::new(&mut file, Kind::BlockedBloom, SPEC).unwrap();
    writer.section(tag(0), Align::Line).unwrap();
    writer.write_all(&[1; 5000]).unwrap();
    writer.finish().unwrap();
    check(&file).unwrap();
    let footer = file.len() - 64;
    let section = 5120;
    // A checksum of a region, the section's checksum in the table, and the checksum of the last level in the footer.
    for at in [section, footer - 8, footer + 24] {
        let mut bad = file.clone();
        bad[at] ^= 1;
        reseal(&mut bad);
        let error = check(&bad).unwrap_err();
        assert_eq!((error.offset, error.problem), (section as u64, Problem::Checksum), "{at}");
    }
}

#[test]
fn a_writer_refuses_what_a_reader_would() {
    let mut file = Vec::new();
    let mut writer = EnvelopeWriter::new(&mut file, Kind::Run, SPEC).unwrap();
    assert_eq!(writer.write(b"nowhere").unwrap_err().kind(), io::ErrorKind::InvalidInput);
    for index in 0..MAX_SECTIONS {
        writer.section(tag(index), Align::Line).unwrap();
    }
    assert_eq!(writer.section(tag(MAX_SECTIONS), Align::Line).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    writer.finish().unwrap();
    assert_eq!(check(&file).unwrap().sections().len(), MAX_SECTIONS);

    let mut writer = EnvelopeWriter::new(io::sink(), Kind::Run, SPEC).unwrap();
    writer.section(tag(0), Align::Line).unwrap();
    assert_eq!(writer.section(tag(0), Align::Page).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

/// A file that counts the bytes that are read. If it has an error, reading fails with this error.
struct Counting<'a> {
    file: &'a [u8],
    read: AtomicU64,
    error: Option<io::ErrorKind>,
}

impl ReadAt for Counting<'_> {
    fn len(&self) -> u64 {
        ReadAt::len(self.file)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        self.error.map_or_else(|| self.file.read_at(offset, buf), |kind| Err(kind.into()))
    }
}

#[test]
fn opening_reads_only_the_ends_of_a_file() {
    let (file, _) = written(&[(Align::Page, vec![1; 1 << 20]), (Align::Line, vec![2; 1 << 20])]);
    let file = Counting { file: &file, read: AtomicU64::new(0), error: None };
    let envelope = Envelope::open(&file, "large").unwrap();
    assert_eq!(file.read.load(Ordering::Relaxed), 64 + 64 + 2 * 32);
    envelope.verify(&file).unwrap();
}

#[test]
fn an_error_of_the_device_is_no_damage() {
    let file = sample();
    let file = Counting { file: &file, read: AtomicU64::new(0), error: Some(io::ErrorKind::TimedOut) };
    let error = Envelope::open(&file, "device").unwrap_err();
    assert!(error.source().is_some_and(|source| source.is::<io::Error>()));
    match error {
        ReadError::Io { file, source } => {
            assert_eq!((file.as_str(), source.kind()), ("device", io::ErrorKind::TimedOut));
        }
        other => panic!("{other:?}"),
    }
}

fn align() -> impl Strategy<Value = Align> {
    prop_oneof![Just(Align::Line), Just(Align::Page)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn what_is_written_is_read(sections in vec((align(), vec(any::<u8>(), 0..300)), 0..8)) {
        let (file, seal) = written(&sections);
        let envelope = check(&file).unwrap();
        prop_assert_eq!(envelope.seal(), seal);
        prop_assert!(!envelope.seed_is_elsewhere());
        prop_assert_eq!(seal.length, file.len() as u64);
        prop_assert_eq!(envelope.sections().len(), sections.len());
        for (index, (align, bytes)) in sections.iter().enumerate() {
            let section = envelope.section(tag(index)).unwrap();
            prop_assert_eq!(section.align, *align);
            prop_assert_eq!(section.offset % u64::from(align.bytes()), 0);
            prop_assert_eq!(&envelope.read_section(file.as_slice(), tag(index), 300).unwrap(), bytes);
        }
    }

    #[test]
    fn random_bytes_are_an_error(bytes in vec(any::<u8>(), 0..400), as_ends in any::<bool>()) {
        let mut bytes = bytes;
        if as_ends && bytes.len() >= 128 {
            let length = bytes.len();
            bytes[..8].copy_from_slice(b"FURUI\r\n\x1a");
            bytes[8..16].copy_from_slice(&[1, 0, 1, 0, 1, 0, 0, 0]);
            bytes[length - 8..].copy_from_slice(b"FURUIEND");
            reseal(&mut bytes);
        }
        prop_assert!(check(&bytes).is_err());
    }

    /// Damage under checksums that fit is an error, or gives a file that a writer might have written.
    #[test]
    fn damage_that_was_sealed_is_an_error_or_a_whole_file(
        sections in vec((align(), vec(any::<u8>(), 0..100)), 0..4),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (mut file, _) = written(&sections);
        // The length of the header, the table and the footer together.
        let ends = 64 + sections.len() * 32 + 64;
        for (index, byte) in damage {
            let index = index.index(ends);
            let at = if index < 64 { index } else { file.len() - ends + index };
            file[at] = byte;
        }
        reseal(&mut file);
        if let Ok(envelope) = check(&file) {
            let mut again = Vec::new();
            let mut writer = EnvelopeWriter::new(&mut again, envelope.kind(), envelope.hash()).unwrap();
            for section in envelope.sections() {
                writer.section(section.tag, section.align).unwrap();
                writer.write_all(&file[section.offset as usize..][..section.length as usize]).unwrap();
            }
            writer.finish().unwrap();
            prop_assert_eq!(again, file);
        }
    }
}

#[test]
fn a_writer_flushes_what_it_writes_to() {
    struct Flushed<'a>(&'a AtomicU64);
    impl Write for Flushed<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    let flushes = AtomicU64::new(0);
    EnvelopeWriter::new(Flushed(&flushes), Kind::Run, SPEC).unwrap().flush().unwrap();
    assert_eq!(flushes.into_inner(), 1);
}
