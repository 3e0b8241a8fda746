//! The manifest: it names the files of the store, whatever happens while it is replaced.

use std::io::Write;
use std::num::NonZeroU64;

use crate::dump;
use crate::support::{Failing, Fault};
use furui::error::{StoreError, StoreProblem};
use furui::format::{Align, Envelope, EnvelopeWriter, FormatError, Kind, Problem, ReadError, Seal, Tag};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{
    Fingerprints, MANIFEST, MAX_RUNS, Manifest, Memory, Published, Purpose, RunEntry, Storage, StoreKind, Window,
};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash, Result};
use proptest::collection::vec;
use proptest::prelude::*;

const SPEC: HashSpec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 0x0123_4567_89AB_CDEF };
const KEYS: Tag = Tag::new(*b"KEYS");

/// The golden file, written once by version 1 of the format and never written again. Every later version reads it.
const GOLDEN: &[u8] = include_bytes!("golden/v1/MANIFEST");

/// The golden file of a set with a window.
const GOLDEN_WINDOW: &[u8] = include_bytes!("golden/v1/MANIFEST-window");

fn entry(number: u64, keys: u64, seal: Seal) -> RunEntry {
    RunEntry { number, keys, seal, slice: 0 }
}

fn golden() -> Manifest {
    let mut manifest = Manifest::new(StoreKind::Seen, SPEC);
    manifest.journal = 0;
    for _ in 0..4 {
        manifest.take_number().unwrap();
    }
    manifest.runs = vec![
        entry(3, 1_000_000, Seal { length: 6_082_816, checksum: 0x1122_3344_5566_7788 }),
        entry(2, 65_536, Seal { length: 430_336, checksum: 0x99AA_BBCC_DDEE_FF00 }),
    ];
    manifest
}

/// The manifest of [`golden`] with a window of an hour, 1000 hours and a minute after its clock began.
fn golden_window() -> Manifest {
    let mut manifest = golden();
    manifest.window = Some(Window::Milliseconds(NonZeroU64::new(3_600_000).unwrap()));
    manifest.tick = 3_600_060_000;
    (manifest.runs[0].slice, manifest.runs[1].slice) = (15_984, 16_000);
    manifest.save(&Memory::new()).unwrap();
    manifest
}

fn decode(bytes: &[u8]) -> std::result::Result<Manifest, FormatError> {
    Manifest::decode(bytes, "sample").map_err(|error| match error {
        ReadError::Format(error) => error,
        other => panic!("{other}"),
    })
}

fn encode(manifest: &Manifest) -> Vec<u8> {
    let mut bytes = Vec::new();
    manifest.encode(&mut bytes).unwrap();
    bytes
}

fn format_error<T>(outcome: Result<T>) -> FormatError {
    match outcome {
        Err(Error::Format(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no error"),
    }
}

fn put(storage: &impl Storage, name: &str, bytes: &[u8]) {
    storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
}

/// Publishes a file that stands for a run of these keys. Returns its entry.
fn publish_run(storage: &impl Storage, manifest: &mut Manifest, keys: &[u8]) -> Result<RunEntry> {
    let number = manifest.take_number()?;
    let name = StoreKind::Seen.file_name(number);
    let hash = manifest.hash;
    let seal = storage.publish(&name, |out| {
        let write = || {
            let mut writer = EnvelopeWriter::new(out, Kind::Run, hash)?;
            writer.section(KEYS, Align::Line)?;
            writer.write_all(keys)?;
            writer.finish()
        };
        write().map_err(|source| Error::io("cannot write", &name, source))
    })?;
    Ok(entry(number, keys.len() as u64, seal))
}

fn keys_of(storage: &impl Storage, manifest: &Manifest) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for run in &manifest.runs {
        let file = run.open(storage, StoreKind::Seen)?;
        let envelope = Envelope::open(&file, &storage.path(&StoreKind::Seen.file_name(run.number)))?;
        envelope.verify(&file)?;
        all.extend(envelope.read_section(&file, KEYS, 256)?);
    }
    all.sort_unstable();
    Ok(all)
}

#[test]
fn today_reads_and_writes_the_bytes_of_version_1() {
    let mut manifest = golden();
    let storage = Memory::new();
    manifest.save(&storage).unwrap();
    assert_eq!(&*storage.open(MANIFEST).unwrap(), GOLDEN);
    let read = decode(GOLDEN).unwrap();
    assert_eq!(read, manifest);
    assert_eq!((read.generation(), read.keys()), (1, 1_065_536));
    assert_eq!(encode(&golden_window()), GOLDEN_WINDOW);
    assert_eq!(decode(GOLDEN_WINDOW).unwrap(), golden_window());
}

#[test]
fn the_dumps_in_the_format_description_are_the_golden_files() {
    dump::check("## Manifest", "### Example of a window", GOLDEN, 0..GOLDEN.len());
    dump::check("### Example of a window", "## Journal", GOLDEN_WINDOW, 0xc0..0x100);
}

#[test]
#[ignore = "writes the golden file"]
fn write_the_golden_file_of_a_window() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/MANIFEST-window"), encode(&golden_window()))
        .unwrap();
}

#[test]
fn every_flipped_byte_and_every_truncation_is_an_error() {
    for at in 0..GOLDEN.len() {
        let mut bad = GOLDEN.to_vec();
        bad[at] ^= 0x10;
        let error = decode(&bad).expect_err("a flipped byte");
        assert!(error.offset <= GOLDEN.len() as u64, "{error}");
        decode(&GOLDEN[..at]).expect_err("a truncated file");
    }
}

#[test]
fn names_of_runs_are_exact() {
    assert_eq!(StoreKind::Seen.file_name(0xABC), "0000000000000abc.run");
    for number in [0, 1, 0xABC, u64::MAX] {
        assert_eq!(StoreKind::Seen.number_of(&StoreKind::Seen.file_name(number)), Some(number));
    }
    for foreign in [
        "",
        ".run",
        "MANIFEST",
        "abc.run",
        "0000000000000ABC.run",
        "+000000000000abc.run",
        "0000000000000abc.run.bak",
        "00000000000000abc.run",
        "0000000000000abg.run",
        "000000000000é.run",
    ] {
        assert_eq!(StoreKind::Seen.number_of(foreign), None, "{foreign}");
    }
}

#[test]
fn names_of_files_say_what_is_in_them() {
    for (kind, name, readers) in [
        (StoreKind::Seen, "0000000000000abc.run", &[StoreKind::Seen, StoreKind::Filter][..]),
        (StoreKind::Filter, "0000000000000abc.run", &[StoreKind::Seen, StoreKind::Filter]),
        (
            StoreKind::Dict(Purpose::Counts),
            "0000000000000abc.trie",
            &[Purpose::Numbers, Purpose::Values, Purpose::Counts].map(StoreKind::Dict),
        ),
        (StoreKind::Dict(Purpose::Bytes), "0000000000000abc.pairs", &[StoreKind::Dict(Purpose::Bytes)]),
    ] {
        assert_eq!(kind.file_name(0xABC), name);
        assert!(StoreKind::ALL.iter().filter(|kind| kind.number_of(name).is_some()).eq(readers), "{kind}");
    }
}

#[test]
fn a_filter_keeps_what_it_was_made_for_and_no_other_store_has_that() {
    let mut manifest = Manifest::new(StoreKind::Filter, SPEC);
    (manifest.capacity, manifest.fingerprints) = (1000, Fingerprints::with_rate(1000, 0.01).unwrap());
    let bytes = encode(&manifest);
    assert_eq!(decode(&bytes).unwrap(), manifest);
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        decode(&bad).expect_err("a flipped byte");
        decode(&bytes[..at]).expect_err("a truncated file");
    }
    for (store, capacity, fingerprints) in [
        (StoreKind::Filter, 0, manifest.fingerprints),
        (StoreKind::Filter, 1000, Fingerprints::EXACT),
        (StoreKind::Seen, 1000, manifest.fingerprints),
        (StoreKind::Dict(Purpose::Values), 1000, manifest.fingerprints),
    ] {
        let mut bad = Manifest::new(store, SPEC);
        (bad.capacity, bad.fingerprints) = (capacity, fingerprints);
        assert!(bad.save(&Memory::new()).is_err(), "{store}");
        if store == StoreKind::Filter {
            decode(&encode(&bad)).expect_err("a manifest that cannot be saved");
        }
    }
}

#[test]
fn a_dictionary_keeps_its_purpose_its_next_id_and_its_numbers() {
    for purpose in Purpose::ALL {
        let mut manifest = Manifest::new(StoreKind::Dict(purpose), SPEC);
        manifest.form = "--csv --key url".parse().unwrap();
        assert_eq!(decode(&encode(&manifest)).unwrap(), manifest);
        manifest.next_id = 0xFEDC_BA98;
        assert_eq!(manifest.save(&Memory::new()).is_ok(), purpose == Purpose::Bytes);
        assert_eq!(decode(&encode(&manifest)).is_ok(), purpose == Purpose::Bytes);
        manifest.next_id = 0;
        manifest.taken.insert(0..=5);
        manifest.taken.insert(7..=u32::MAX);
        assert_eq!(manifest.save(&Memory::new()).is_ok(), purpose == Purpose::Numbers);
        assert_eq!(decode(&encode(&manifest)).ok(), (purpose == Purpose::Numbers).then_some(manifest));
    }
}

#[test]
fn a_store_of_another_kind_is_refused_by_name() {
    let storage = Memory::new();
    assert!(Published::open(&storage, &[StoreKind::Dict(Purpose::Numbers)]).unwrap().is_none());
    Manifest::new(StoreKind::Seen, SPEC).save(&storage).unwrap();
    assert!(Published::open(&storage, &[StoreKind::Seen]).unwrap().is_some());
    let error = Published::open(&storage, &[StoreKind::Dict(Purpose::Numbers)]).unwrap_err().to_string();
    assert!(
        error.contains("memory:MANIFEST") && error.contains("furui seen") && error.contains("furui dict"),
        "{error}"
    );
}

#[test]
fn orphans_are_files_of_ours_that_nobody_names() {
    let storage = Memory::new();
    let open = || Cascade::open(storage.clone(), CascadeOptions { journal: false, ..CascadeOptions::default() });
    let mut set = open().unwrap();
    set.insert_all(&[KeyHash::new(1)], &mut vec![]).unwrap();
    set.sync().unwrap();
    let named = StoreKind::Seen.file_name(set.manifest().runs[0].number);
    let next = set.manifest().clone().take_number().unwrap();
    drop(set);
    // A crash may leave the file of the next run, but no file of a later run.
    let orphan = StoreKind::Seen.file_name(next);
    for name in [orphan.as_str(), "notes.txt", "1.run"] {
        put(&storage, name, b"");
    }
    drop(open().unwrap());
    let mut left = storage.list().unwrap();
    left.sort();
    assert_eq!(left, [&named, "1.run", MANIFEST, "notes.txt"]);
    put(&storage, &StoreKind::Seen.file_name(next + 1), b"");
    let error = format_error(open());
    assert!(error.to_string().contains("older than the other files of its store"), "{error}");
}

#[test]
fn no_store_is_not_a_damaged_one() {
    let storage = Memory::new();
    assert_eq!(Manifest::load(&storage).unwrap(), None);
    storage.publish("notes.txt", |_| Ok(())).unwrap();
    assert_eq!(Manifest::load(&storage).unwrap(), None);

    let mut manifest = Manifest::new(StoreKind::Seen, SPEC);
    publish_run(&storage, &mut manifest, b"abc").unwrap();
    let lost = format_error(Manifest::load(&storage));
    assert_eq!((lost.file.as_str(), lost.problem), ("memory:MANIFEST", Problem::Missing));
}

#[test]
fn a_run_that_is_missing_or_short_is_damage() {
    let storage = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Seen, SPEC);
    let run = publish_run(&storage, &mut manifest, b"abc").unwrap();
    let name = StoreKind::Seen.file_name(run.number);
    let good = run.open(&storage, StoreKind::Seen).unwrap();
    put(&storage, &name, &good[..good.as_ref().len() - 1]);
    let Seal { length, .. } = run.seal;
    let error = format_error(run.open(&storage, StoreKind::Seen));
    assert_eq!((error.offset, error.problem), (length - 1, Problem::Truncated { expected: length, found: length - 1 }));

    storage.remove(&name).unwrap();
    let error = format_error(run.open(&storage, StoreKind::Seen));
    assert_eq!((error.file.as_str(), error.problem), ("memory:0000000000000000.run", Problem::Missing));
}

#[test]
fn a_manifest_that_contradicts_itself_is_neither_written_nor_read() {
    let run = golden().runs[0];
    let contradictions: [(usize, Vec<RunEntry>); 4] = [
        (1, vec![run, run]),
        (0, vec![RunEntry { number: 4, ..run }]),
        (1, vec![RunEntry { keys: u64::MAX, ..run }, RunEntry { number: 0, keys: 1, ..run }]),
        (MAX_RUNS, vec![run; MAX_RUNS + 1]),
    ];
    for (index, runs) in contradictions {
        let mut manifest = golden();
        manifest.runs = runs;
        let storage = Memory::new();
        assert!(matches!(
            manifest.save(&storage),
            Err(Error::Store(StoreError { problem: StoreProblem::Manifest(_), .. }))
        ));
        assert_eq!(storage.list().unwrap(), [""; 0]);
        let error = decode(&encode(&manifest)).unwrap_err();
        match error.problem {
            Problem::Invalid(_) => assert_eq!(error.offset, 128 + 32 * index as u64),
            Problem::TooLong { limit, .. } => assert_eq!((index, limit), (MAX_RUNS, 32 * MAX_RUNS as u64)),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn as_many_runs_as_there_may_be_are_kept_and_not_one_more() {
    for mut manifest in [golden(), golden_window()] {
        let run = RunEntry { keys: 1, slice: manifest.slice(), ..manifest.runs[0] };
        manifest.runs.clear();
        while manifest.runs.len() < MAX_RUNS {
            let number = manifest.take_number().unwrap();
            manifest.runs.push(RunEntry { number, ..run });
        }
        let storage = Memory::new();
        manifest.save(&storage).unwrap();
        assert_eq!(Manifest::load(&storage).unwrap().unwrap(), manifest);
        let number = manifest.take_number().unwrap();
        manifest.runs.push(RunEntry { number, ..run });
        let error = manifest.save(&storage).unwrap_err().to_string();
        assert!(error.contains("more than 4096 runs"), "{error}");
    }
}

#[test]
fn sections_that_no_manifest_has_are_refused() {
    let with = |sections: &[(&[u8; 4], &[u8])]| {
        let mut file = Vec::new();
        let mut writer = EnvelopeWriter::new(&mut file, Kind::Manifest, SPEC).unwrap();
        for (tag, bytes) in sections {
            writer.section(Tag::new(**tag), Align::Line).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        decode(&file).map(|_| ()).map_err(|error| (error.offset, error.problem))
    };
    let mut meta = [0; 32];
    meta[..4].copy_from_slice(b"seen");
    assert_eq!(with(&[(b"META", &meta), (b"RUNS", &[])]), Ok(()));
    let length = 1000u64.to_le_bytes();
    assert_eq!(with(&[(b"META", &meta), (b"RUNS", &[]), (b"JRNL", &length)]), Ok(()));
    for wrong in [&[0; 8][..], &length[..7], &[1; 9], &[]] {
        assert!(with(&[(b"META", &meta), (b"RUNS", &[]), (b"JRNL", wrong)]).is_err(), "{wrong:?}");
    }
    for sections in [
        &[][..],
        &[(b"META", &meta[..])],
        &[(b"RUNS", &[][..]), (b"META", &meta)],
        &[(b"META", &meta[..]), (b"RUNS", &[]), (b"MORE", &[])],
        &[(b"META", &meta[..31]), (b"RUNS", &[])],
        &[(b"META", &[0; 33][..]), (b"RUNS", &[])],
        &[(b"META", &meta[..]), (b"RUNS", &[0; 31])],
        &[(b"META", &meta[..]), (b"RUNS", &[0; 32])],
    ] {
        assert!(with(sections).is_err(), "{sections:?}");
    }
    meta = *b"sown\0\0\0\0........................";
    assert!(with(&[(b"META", &meta), (b"RUNS", &[])]).is_err());
    meta = [0; 32];
    meta[..4].copy_from_slice(b"list");
    let unknown = with(&[(b"META", &meta), (b"RUNS", &[])]);
    assert_eq!(unknown, Err((64, Problem::UnknownStore(r"list\x00\x00\x00\x00".to_owned()))));
    // The section META begins at byte 64, and the ones after it at byte 128.
    let place = |kind: &[u8; 8], at: usize, rate: Option<&[u8; 16]>| {
        let mut meta = [0; 32];
        meta[..8].copy_from_slice(kind);
        meta[at] += 1;
        let rate = rate.map(|rate| (b"RATE", &rate[..]));
        with(&[(b"META", &meta[..]), (b"RUNS", &[])].into_iter().chain(rate).collect::<Vec<_>>()).unwrap_err().0
    };
    assert_eq!(place(b"seen\0\0\0\0", 24, None), 64 + 24, "a run that is not there");
    assert_eq!(place(b"seen\0\0\0\0", 26, None), 64 + 26, "runs that share keys, where there are none");
    assert_eq!(place(b"filter\0\0", 16, Some(&[0; 16])), 128 + 8, "a last fingerprint");
    // `made` is the layout of a dictionary's tries, and the number of polynomials of their filters.
    for (kind, made, valid) in [
        (b"counts\0\0", [0, 0], true),
        (b"bytes\0\0\0", [1, 0], true),
        (b"numbers\0", [1, 4], true),
        (b"numbers\0", [1, 3], false),
        (b"values\0\0", [0, 4], false),
        (b"numbers\0", [2, 0], false),
        (b"seen\0\0\0\0", [1, 0], false),
        (b"seen\0\0\0\0", [0, 4], false),
    ] {
        meta = [0; 32];
        meta[..8].copy_from_slice(kind);
        meta[26..28].copy_from_slice(&made);
        assert_eq!(with(&[(b"META", &meta), (b"RUNS", &[])]).is_ok(), valid, "{made:?}");
    }
    for (kind, ranges, valid) in [
        (b"numbers\0", &[0, 4, 6, 6][..], true),
        (b"numbers\0", &[], false),
        (b"numbers\0", &[0, 4, 5, 6], false),
        (b"values\0\0", &[0, 4], false),
        (b"seen\0\0\0\0", &[0, 4], false),
    ] {
        meta = [0; 32];
        meta[..8].copy_from_slice(kind);
        let ranges: Vec<u8> = ranges.iter().flat_map(|number: &u32| number.to_le_bytes()).collect();
        assert_eq!(with(&[(b"META", &meta), (b"RUNS", &[]), (b"NUMB", &ranges)]).is_ok(), valid, "{ranges:?}");
    }
}

#[test]
fn file_numbers_end_with_an_error() {
    let mut bytes = encode(&golden());
    // This changes the next file number. The file is written anew, so that the checksums of section and seal fit.
    let mut meta = bytes[64..96].to_vec();
    meta[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let runs = bytes[128..192].to_vec();
    bytes.clear();
    let mut writer = EnvelopeWriter::new(&mut bytes, Kind::Manifest, SPEC).unwrap();
    for (tag, section) in [(b"META", &meta), (b"RUNS", &runs)] {
        writer.section(Tag::new(*tag), Align::Line).unwrap();
        writer.write_all(section).unwrap();
    }
    writer.finish().unwrap();
    assert!(matches!(
        decode(&bytes).unwrap().take_number(),
        Err(Error::Store(StoreError { problem: StoreProblem::NoFileNumberLeft, .. }))
    ));
}

/// Opens the store, adds a run of `keys`, merges all runs into one if there are three, and cleans up. Adds the keys
/// that are certainly durable to `acknowledged`, even if an error ends the work.
fn work(storage: &Failing, keys: &[u8], acknowledged: &mut Vec<u8>) -> Result<()> {
    let mut manifest = match Manifest::load(storage)? {
        Some(manifest) => manifest,
        None => {
            let mut new = Manifest::new(StoreKind::Seen, SPEC);
            new.save(storage)?;
            new
        }
    };
    for name in storage.list()? {
        let number = StoreKind::Seen.number_of(&name);
        if number.is_some_and(|number| manifest.runs.iter().all(|run| run.number != number)) {
            storage.remove(&name)?;
        }
    }
    for key in keys {
        let run = publish_run(storage, &mut manifest, &[*key])?;
        manifest.runs.push(run);
        manifest.save(storage)?;
        acknowledged.push(*key);
        if manifest.runs.len() == 3 {
            let all = keys_of(storage, &manifest)?;
            let merged = publish_run(storage, &mut manifest, &all)?;
            let old = std::mem::replace(&mut manifest.runs, vec![merged]);
            manifest.save(storage)?;
            for run in old {
                storage.remove(&StoreKind::Seen.file_name(run.number))?;
            }
        }
    }
    Ok(())
}

/// The manifest of a store is replaced. Any single operation may fail, or the process may die at that operation.
#[test]
fn whatever_fails_what_was_acknowledged_is_there() {
    for fault in Fault::ALL {
        let mut struck = 0;
        loop {
            let storage = Failing::new(&Memory::new(), struck, fault);
            let mut acknowledged = Vec::new();
            let outcome = work(&storage, b"abcdefg", &mut acknowledged);
            if !storage.struck() {
                outcome.unwrap();
                break;
            }
            assert!(outcome.is_err(), "{fault:?} at {struck} was not reported");
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let keys = match Manifest::load(&left).unwrap() {
                    Some(manifest) => keys_of(&left, &manifest).unwrap(),
                    None => Vec::new(),
                };
                assert!(keys == acknowledged || keys.split_last().is_some_and(|(_, rest)| rest == acknowledged));

                // The next process continues, and leaves no file that the manifest does not name.
                let next = Failing::new(&left, u64::MAX, fault);
                work(&next, b"xyz", &mut Vec::new()).unwrap();
                let left = next.after_crash(false);
                let manifest = Manifest::load(&left).unwrap().unwrap();
                assert_eq!(keys_of(&left, &manifest).unwrap(), [&keys[..], b"xyz"].concat());
                assert_eq!(left.list().unwrap().len(), 1 + manifest.runs.len());
            }
            struck += 1;
        }
        assert!(struck > 100, "the fault struck at {struck} operations");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn what_is_encoded_is_decoded(seed: u64, runs in vec((0u64..1 << 40, any::<u64>(), any::<u64>()), 0..50)) {
        let mut manifest = Manifest::new(StoreKind::Seen, HashSpec { seed, ..SPEC });
        for (keys, length, checksum) in runs {
            let number = manifest.take_number().unwrap();
            manifest.runs.insert(0, entry(number, keys, Seal { length, checksum }));
        }
        let bytes = encode(&manifest);
        prop_assert_eq!(decode(&bytes).unwrap(), manifest);
    }

    #[test]
    fn random_bytes_are_an_error(bytes in vec(any::<u8>(), 0..400)) {
        prop_assert!(decode(&bytes).is_err());
    }
}
