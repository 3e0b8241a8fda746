//! Blocked Bloom filters in files: the bytes that docs/format.md shows, and bytes that are not a filter.

use std::io::Write;

use furui::filter::{AnyFilter, BlockedBloom, Filter, FilterMut, FilterRef};
use furui::format::{Align, EnvelopeWriter, Kind, Tag};
use furui::{HashSpec, KeyHash};

use crate::dump;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");

fn keys(list: u64, n: u64) -> Vec<KeyHash> {
    (0..n).map(|i| HashSpec::default().hash(&(list << 32 | i).to_le_bytes())).collect()
}

/// The filters of the examples in docs/format.md, with the names of their files.
fn golden() -> [(&'static str, BlockedBloom); 1] {
    let empty = [("blocked.filter", BlockedBloom::from_parts(2, 10).unwrap())];
    empty.map(|(name, mut filter)| {
        for key in [0x1000_0000_0000_0001, 0x8765_4321_0FED_CBA9, 0xFFFF_FFFF_FFFF_FFFF] {
            assert!(filter.insert_hash(KeyHash::new(key)).unwrap());
        }
        (name, filter)
    })
}

fn file_of(filter: BlockedBloom) -> Vec<u8> {
    let mut file = vec![];
    AnyFilter::Blocked(filter).write_to(&mut file).unwrap();
    file
}

#[test]
#[ignore = "writes the golden files anew, which changes the format"]
fn write_golden_files() {
    for (name, filter) in golden() {
        std::fs::write(format!("{GOLDEN}/{name}"), file_of(filter)).unwrap();
    }
}

#[test]
fn the_golden_files_are_read_and_written_as_they_are() {
    for (name, filter) in golden() {
        let path = format!("{GOLDEN}/{name}");
        let file = std::fs::read(&path).unwrap();
        assert_eq!(file_of(filter.clone()), file, "{name}");
        let opened = AnyFilter::open(&path).unwrap();
        let mut written = vec![];
        opened.write_to(&mut written).unwrap();
        assert_eq!(written, file, "{name}");
        assert!(keys(0, 1000).iter().all(|&key| opened.contains_hash(key) == filter.contains_hash(key)), "{name}");
    }
}

#[test]
fn the_examples_of_the_format_description_are_the_golden_files() {
    let file = std::fs::read(format!("{GOLDEN}/blocked.filter")).unwrap();
    dump::check("### Blocked Bloom filter", "### Counting Bloom filter", &file, 0x80..0x100);
}

#[test]
fn borrowed_bytes_at_any_address_answer_alike() {
    for probes in [3, 8, 12] {
        let mut filter = BlockedBloom::from_parts(60, probes).unwrap();
        filter.insert_all(&keys(0, 2000)).unwrap();
        let file = file_of(filter.clone());
        let asked = keys(1, 5000);
        let (mut answers, mut expected) = (vec![], vec![]);
        filter.contains_all(&asked, &mut expected);
        for shift in [0, 1, 7, 32] {
            let shifted = [&vec![0; shift][..], &file].concat();
            let borrowed = FilterRef::from_bytes(&shifted[shift..], "borrowed").unwrap();
            borrowed.contains_all(&asked, &mut answers);
            assert_eq!(answers, expected, "{probes} probes, shifted by {shift} bytes");
            assert!(asked.iter().zip(&expected).all(|(&key, &answer)| borrowed.contains_hash(key) == answer));
            assert_eq!(borrowed.false_positive_rate(), filter.false_positive_rate());
        }
    }
}

#[test]
fn numbers_that_no_filter_has_are_errors() {
    let sealed = |lines: u64, probes: u32, reserved: u32, last: u8, table: usize| {
        let mut meta = [0; 32];
        meta[..8].copy_from_slice(&lines.to_le_bytes());
        meta[16..20].copy_from_slice(&probes.to_le_bytes());
        meta[20..24].copy_from_slice(&reserved.to_le_bytes());
        meta[31] = last;
        let mut file = vec![];
        let mut writer = EnvelopeWriter::new(&mut file, Kind::BlockedBloom, HashSpec::default()).unwrap();
        for (tag, bytes) in [(b"META", &meta[..]), (b"BITS", &vec![0xAA; table])] {
            writer.section(Tag::new(*tag), Align::Line).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        file
    };
    let read = |file: &[u8]| FilterRef::from_bytes(file, "file").map(|filter| filter.contains_hash(KeyHash::new(7)));
    assert!(read(&sealed(2, 9, 0, 0, 128)).is_ok());
    for (lines, probes, reserved, last, table) in [
        (0, 8, 0, 0, 0),
        (u64::MAX, 8, 0, 0, 128),
        (1 << 58, 8, 0, 0, 0),
        (2, 0, 0, 0, 128),
        (2, 17, 0, 0, 128),
        (2, u32::MAX, 0, 0, 128),
        (3, 9, 0, 0, 192),
        (2, 8, 1, 0, 128),
        (2, 8, 0, 1, 128),
        (2, 8, 0, 0, 127),
        (2, 8, 0, 0, 192),
    ] {
        let file = sealed(lines, probes, reserved, last, table);
        assert!(read(&file).is_err(), "{lines} lines, {probes} probes, {reserved}, {table} bytes");
    }
}
