//! The files of a dictionary of bytes: damaged, made by an attacker, and as docs/format.md shows them.

use std::io::Write;
use std::ops::Range;

use furui::dict::{Dict, DictOptions};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Problem, Tag};
use furui::raw::Rolling;
use furui::store::{Manifest, Memory, Purpose, RunEntry, Storage, StoreKind};
use furui::{Error, HashSpec};

use crate::dict::damage::named_or_right;
use crate::dict::made::{MADE, SMALL, contents, format_error, three_tries};
use crate::dump;

fn open(storage: Memory) -> Dict<Memory, [u8]> {
    Dict::open_bytes_with(storage, SMALL).unwrap()
}

/// The range of the bytes in the file of a part where the values are.
fn values_in(file: &[u8]) -> Range<usize> {
    let envelope = Envelope::open(file, "part").unwrap();
    let section = envelope.sections().last().unwrap();
    assert_eq!(section.tag.to_string(), "VALS");
    section.offset as usize..(section.offset + section.length) as usize
}

/// What a reader or a merge gets from damaged values is right, or is an error that names the file. Damaged values are
/// never copied under a new checksum that fits.
#[test]
fn damage_of_any_byte_of_the_values_is_named_or_does_not_matter() {
    for made in [MADE[0], MADE[1]] {
        let (good, model) = three_tries::<[u8]>(made);
        let part = StoreKind::Dict(Purpose::Bytes).file_name(1);
        for at in values_in(&good.open(&part).unwrap()) {
            named_or_right::<[u8]>(&good, &model, &part, at);
        }
    }
}

/// A file of values with these sections, and checksums that fit.
fn values_file(meta: &[u8], data: &[u8], index: &[u8]) -> Vec<u8> {
    let mut file = vec![];
    let mut out = EnvelopeWriter::new(&mut file, Kind::Values, HashSpec::default()).unwrap();
    for (tag, align, bytes) in
        [(*b"META", Align::Line, meta), (*b"DATA", Align::Line, data), (*b"INDX", Align::Line, index)]
    {
        out.section(Tag::new(tag), align).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap();
    file
}

/// Files whose checksums fit, but that no writer has written: no reader panics, and opening or `verify` refuses them
/// all.
#[test]
fn values_that_nobody_has_written_are_refused() {
    let storage = Memory::new();
    let mut dict = open(storage.clone());
    for (key, value) in [("a", "one"), ("b", "two"), ("c", "three")] {
        dict.put(key, value).unwrap();
    }
    dict.sync().unwrap();
    let part = StoreKind::Dict(Purpose::Bytes).file_name(0);
    let file = storage.open(&part).unwrap();
    let envelope = Envelope::open(&*file, "part").unwrap();
    let section = |tag: &str| {
        let section = envelope.sections().iter().find(|section| section.tag.to_string() == tag).unwrap();
        &file[section.offset as usize..][..section.length as usize]
    };
    let meta = |count: u64, first: u32, end: u32| {
        [&count.to_le_bytes()[..], &first.to_le_bytes(), &end.to_le_bytes()].concat()
    };
    let entry = |id: u32, at: u64| [&id.to_le_bytes()[..], &at.to_le_bytes()].concat();
    let data = b"\0\x03one\x01\x03two\x01\x05three".to_vec();
    let good = (meta(3, 0, 3), data.clone(), entry(0, 0));
    assert_eq!(section("VALS"), values_file(&good.0, &good.1, &good.2));
    let bad: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> = vec![
        (meta(0, 0, 0), vec![], vec![]),
        (meta(3, 0, 2), data.clone(), entry(0, 0)),
        (meta(3, 3, 0), data.clone(), entry(0, 0)),
        (meta(2, 0, 3), data.clone(), entry(0, 0)),
        (meta(3, 0, 4), data.clone(), entry(0, 0)),
        (meta(3, 1, 4), data.clone(), entry(1, 0)),
        (vec![0; 15], data.clone(), entry(0, 0)),
        (meta(3, 0, 3), data.clone(), vec![]),
        (meta(3, 0, 3), data.clone(), entry(0, 0)[..11].to_vec()),
        (meta(3, 0, 3), data.clone(), entry(0, u64::MAX)),
        (meta(3, 0, 3), data.clone(), entry(0, 5)),
        (meta(3, 0, 3), data.clone(), entry(7, 0)),
        (meta(3, 0, 3), data.clone(), [entry(0, 0), entry(1, 5)].concat()),
        (meta(3, 0, 3), data[..15].to_vec(), entry(0, 0)),
        (meta(3, 0, 3), [&data[..], b"\x01\0"].concat(), entry(0, 0)),
        (meta(3, 0, 3), b"\0\x03one\0\x03two\x01\x05three".to_vec(), entry(0, 0)),
        (meta(3, 0, 3), b"\0\x03one\x01\xFF\xFF\xFF\xFF\x0F".to_vec(), entry(0, 0)),
        (meta(3, 0, 3), b"\0\x03one\xFF\xFF\xFF\xFF\x0F\x03two".to_vec(), entry(0, 0)),
        (meta(3, 0, 3), vec![0xFF; 20], entry(0, 0)),
    ];
    for (i, (meta, data, index)) in bad.into_iter().enumerate() {
        let storage = Memory::new();
        let mut manifest = Manifest::new(StoreKind::Dict(Purpose::Bytes), envelope.hash());
        let number = manifest.take_number().unwrap();
        let seal = storage
            .publish(&part, |out| {
                let mut out = EnvelopeWriter::new(out, Kind::FilteredTrie, envelope.hash()).unwrap();
                for (tag, bytes) in [
                    (*b"TRIE", section("TRIE").to_vec()),
                    (*b"FILT", section("FILT").to_vec()),
                    (*b"VALS", values_file(&meta, &data, &index)),
                ] {
                    out.section(Tag::new(tag), Align::Page).unwrap();
                    out.write_all(&bytes).unwrap();
                }
                Ok(out.finish().unwrap())
            })
            .unwrap();
        manifest.runs.push(RunEntry { number, keys: 3, seal, slice: 0 });
        manifest.next_id = 3;
        manifest.save(&storage).unwrap();
        let Ok(mut dict) = Dict::open_bytes_with(storage, SMALL) else { continue };
        assert!(dict.verify().is_err(), "file {i}");
        for key in ["a", "b", "c"] {
            let _ = dict.get(key);
        }
        assert!(dict.iter().count() <= 3);
        // If a merge succeeds, its result is valid.
        dict.put("d", "four").unwrap();
        if dict.compact().is_ok() {
            dict.verify().unwrap();
        }
    }
    let numbers = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Dict(Purpose::Numbers), envelope.hash());
    let number = manifest.take_number().unwrap();
    let entry = RunEntry { number, keys: 3, seal: envelope.seal(), slice: 0 };
    let name = StoreKind::Dict(Purpose::Numbers).file_name(number);
    numbers.publish(&name, |out| out.write_all(&file).map_err(|e| Error::io("cannot write", &name, e))).unwrap();
    manifest.runs.push(entry);
    manifest.save(&numbers).unwrap();
    let error = format_error(Dict::open_with(numbers, SMALL));
    assert_eq!(
        error.problem,
        Problem::Invalid("either it or its store is of a dictionary of bytes, and the other is not")
    );
}

/// The files of version 1 of the format, byte for byte.
const GOLDEN: [(&str, &[u8]); 2] = [
    ("MANIFEST", include_bytes!("../golden/v1/bytedict/MANIFEST")),
    ("0000000000000000.pairs", include_bytes!("../golden/v1/bytedict/0000000000000000.pairs")),
];

fn golden() -> Memory {
    let storage = Memory::new();
    let options = DictOptions { hash: Some(Rolling::spec(0)), window: 100, ..SMALL };
    let mut dict = Dict::open_bytes_with(storage.clone(), options).unwrap();
    for (key, value) in [("romane", "first"), ("romanus", ""), ("romane", "Roman"), ("rom", "city")] {
        dict.put(key, value).unwrap();
    }
    dict.sync().unwrap();
    storage
}

#[test]
fn today_reads_and_writes_the_bytes_of_version_1() {
    let storage = Memory::new();
    for (name, bytes) in GOLDEN {
        storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
        assert!(*golden().open(name).unwrap() == *bytes, "{name}");
    }
    let dict = open(storage);
    dict.verify().unwrap();
    let expected: [(&[u8], &[u8]); 3] = [(b"rom", b"city"), (b"romane", b"Roman"), (b"romanus", b"")];
    assert_eq!(contents(&dict), expected.map(|(key, value)| (key.to_vec(), value.to_vec())).into());
}

#[test]
fn the_dump_in_the_format_description_is_of_the_golden_file() {
    let golden = &GOLDEN[1].1[values_in(GOLDEN[1].1)];
    dump::check("### Values", "## A node's directory", golden, 0x40..0x104);
}

#[test]
#[ignore = "writes the golden files anew, which is a change of the format"]
fn write_the_golden_files() {
    let storage = golden();
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/bytedict");
    for name in storage.list().unwrap() {
        std::fs::write(directory.join(&name), &*storage.open(&name).unwrap()).unwrap();
    }
}
