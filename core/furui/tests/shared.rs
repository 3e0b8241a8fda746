//! Tests the files of shared sets: manifests and packs, whole and damaged, and sets over the runs of packs.

use std::collections::BTreeSet;

use furui::error::StoreError;
use furui::format::{FormatError, Problem, ReadError};
use furui::seen::{Seen, SeenOptions, Verdict};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::shared::{PackEntry, PackRun, PackTable, SharedManifest, WrittenPack, shard_of};
use furui::store::{Memory, Storage};
use furui::{Error, HashAlgorithm, HashSpec, KeyHash};
use proptest::collection::vec;
use proptest::prelude::*;

const HASH: HashSpec = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: 1 };
const OPTIONS: CascadeOptions = CascadeOptions { memory: 1 << 20, hash: Some(HASH), form: None, journal: false };

fn set(keys: &[u64]) -> Cascade<Memory> {
    let mut set = Cascade::open(Memory::new(), OPTIONS).unwrap();
    let keys: Vec<KeyHash> = keys.iter().copied().map(KeyHash::new).collect();
    set.insert_all(&keys, &mut vec![]).unwrap();
    set
}

fn pack(keys: &[u64], shards: u32, id: u8) -> (Vec<u8>, PackEntry) {
    let mut bytes = vec![];
    let (set, sources) = (set(keys), set(&[1 << 40, 1 << 50]));
    let (keys, sources) = (set.new_keys().unwrap(), sources.new_keys().unwrap());
    let written = WrittenPack::write(&mut bytes, "pack", shards, keys, Some(sources)).unwrap();
    (bytes, written.entry([id; 16]))
}

fn table(bytes: &[u8], entry: &PackEntry) -> Result<PackTable, FormatError> {
    let range = entry.table as usize..(entry.table + entry.table_length) as usize;
    match PackTable::read(&bytes[range], entry, "pack") {
        Ok(table) => Ok(table),
        Err(Error::Format(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn bytes_of(pack: &[u8], run: &PackRun) -> Vec<u8> {
    pack[run.offset as usize..][..run.seal.length as usize].to_vec()
}

/// A storage with a file of these bytes, and the open file.
fn file(bytes: &[u8]) -> <Memory as Storage>::File {
    let storage = Memory::new();
    storage
        .publish("run", |out| out.write_all(bytes).map_err(|error| Error::io("cannot write", "run", error)))
        .unwrap();
    storage.open("run").unwrap()
}

fn manifest(packs: Vec<PackEntry>, shards: u32) -> SharedManifest {
    SharedManifest { hash: HASH, packs, ..SharedManifest::new([7; 16], shards) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_set_over_packs_answers_as_a_plain_one(
        parts in vec(vec(prop_oneof![any::<u64>(), 1u64..200], 0..3000), 1..4),
        bits in 0u32..9,
        asked in vec(prop_oneof![any::<u64>(), 1u64..400], 1..2000),
    ) {
        let shards = 1 << bits;
        let packs: Vec<_> = parts.iter().zip(1..).map(|(keys, id)| pack(keys, shards, id)).collect();
        let shared = manifest(packs.iter().map(|pack| pack.1).collect(), shards);
        let known: BTreeSet<u64> = parts.iter().flatten().map(|&key| KeyHash::new(key).get()).collect();
        let mut files = vec![];
        for (bytes, entry) in &packs {
            let table = table(bytes, entry).unwrap();
            let (sources, runs): (Vec<PackRun>, Vec<PackRun>) =
                table.runs().iter().copied().partition(|run| run.shard == shards);
            prop_assert_eq!(sources.iter().map(|run| run.keys).collect::<Vec<_>>(), [2]);
            prop_assert_eq!(runs.iter().map(|run| run.keys).sum::<u64>(), entry.keys);
            files.extend(runs.iter().map(|run| ("run".to_owned(), file(&bytes_of(bytes, run)), *run)));
        }
        // A reader may fetch only some shards: here, the first half of them.
        let half: Vec<_> = files.iter().filter(|file| file.2.shard <= shards / 2).map(|(name, file, run)| (name.clone(), file.clone(), *run)).collect();
        let options = SeenOptions { memory: 1 << 20, ..SeenOptions::default() };
        let mut part = Seen::open_over_packs(&shared, half, Memory::new(), options).unwrap();
        let mut all = Seen::open_over_packs(&shared, files, Memory::new(), options).unwrap();
        let mut hashes = furui::Hashes::new(&HASH.hasher());
        asked.iter().for_each(|&key| hashes.push_hash(KeyHash::new(key)));
        let (mut verdicts, mut there) = (vec![], vec![]);
        part.contains_hashes(&hashes, &mut there).unwrap();
        all.observe_all(&hashes, &mut verdicts).unwrap();
        let mut own = BTreeSet::new();
        for ((&key, verdict), there) in asked.iter().zip(verdicts).zip(there) {
            let key = KeyHash::new(key).get();
            prop_assert_eq!(verdict == Verdict::New, !known.contains(&key) && own.insert(key));
            if shard_of(key, shards) <= shards / 2 {
                prop_assert_eq!(there, known.contains(&key));
            }
        }
        prop_assert_eq!(all.set().len(), own.len() as u64);
    }

    #[test]
    fn manifests_are_read_as_they_were_written(
        numbers in any::<[u64; 4]>(),
        bits in 0u32..17,
        packs in vec((any::<[u8; 16]>(), 0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 20), 0..50),
        dropped in vec((any::<[u8; 16]>(), any::<u64>()), 0..50),
        commits in vec(any::<[u8; 16]>(), 0..65),
        note in proptest::option::of("\\PC{0,500}"),
    ) {
        let mut ids = BTreeSet::new();
        let packs = packs.into_iter().filter(|pack| ids.insert(pack.0)).map(|(id, keys, table, table_length)| PackEntry {
            id, keys, table, table_length, length: table + table_length + 64, table_checksum: numbers[3],
        });
        let shared = SharedManifest {
            generation: numbers[0], epoch: numbers[1], dropped, commits, note,
            form: "--csv --key 1".parse().unwrap(),
            ..manifest(packs.collect(), 1 << bits)
        };
        let mut bytes = vec![];
        shared.encode(&mut bytes).unwrap();
        prop_assert_eq!(SharedManifest::decode(&bytes[..], "MANIFEST").unwrap(), shared);
        let at = (numbers[2] % bytes.len() as u64) as usize;
        prop_assert!(SharedManifest::decode(&bytes[..at], "MANIFEST").is_err());
        bytes[at] ^= 1 << (numbers[3] % 8);
        prop_assert!(SharedManifest::decode(&bytes[..], "MANIFEST").is_err(), "a bit of byte {} flipped", at);
    }
}

#[test]
fn every_flipped_byte_of_a_table_and_every_short_answer_is_an_error() {
    let (bytes, entry) = pack(&(1..2000).map(|key| key << 53).collect::<Vec<u64>>(), 4, 1);
    let runs = table(&bytes, &entry).unwrap().runs().to_vec();
    assert_eq!(runs.iter().map(|run| run.shard).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for at in entry.table as usize..(entry.table + entry.table_length) as usize {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        assert_eq!(table(&bad, &entry).unwrap_err().problem, Problem::Checksum);
    }
    let start = entry.table as usize;
    for cut in 0..entry.table_length as usize {
        let error = PackTable::read(&bytes[start..start + cut], &entry, "pack").unwrap_err();
        assert!(matches!(error, Error::Format(FormatError { problem: Problem::Truncated { .. }, .. })), "{error}");
    }
    let shared = manifest(vec![entry], 4);
    let open = |bytes: &[u8], run: PackRun| {
        let files = [("run".to_owned(), file(bytes), run)];
        Seen::open_over_packs(&shared, files, Memory::new(), SeenOptions::default()).map(drop)
    };
    let run = bytes_of(&bytes, &runs[1]);
    open(&run, runs[1]).unwrap();
    for cut in (0..run.len()).step_by(61) {
        open(&run[..cut], runs[1]).unwrap_err();
    }
    // The run of another shard, as an object of another generation would have it.
    let error = open(&run, runs[2]).unwrap_err();
    assert!(matches!(error, Error::Format(FormatError { problem: Problem::OtherFile, .. })), "{error}");
}

#[test]
fn manifests_that_break_a_rule_are_neither_written_nor_read() {
    let entry =
        |id: u8| PackEntry { id: [id; 16], length: 200, keys: 1, table: 100, table_length: 40, table_checksum: 0 };
    assert!(manifest(vec![entry(1), entry(2)], 4).encode(&mut vec![]).is_ok());
    for shared in [
        manifest(vec![], 0),
        manifest(vec![], 3),
        manifest(vec![], 1 << 17),
        manifest(vec![entry(1), entry(1)], 1),
        manifest(vec![PackEntry { table: 161, ..entry(1) }], 1),
        manifest(vec![PackEntry { table: u64::MAX, ..entry(1) }], 1),
        manifest(vec![PackEntry { keys: u64::MAX, ..entry(1) }, entry(2)], 1),
        SharedManifest { commits: vec![[0; 16]; 65], ..manifest(vec![], 1) },
        SharedManifest { note: Some("x".repeat(4097)), ..manifest(vec![], 1) },
    ] {
        assert!(shared.encode(&mut vec![]).is_err(), "{shared:?}");
    }
    let mut other = vec![];
    let store = Memory::new();
    Cascade::open(store.clone(), OPTIONS).unwrap().sync().unwrap();
    other.extend_from_slice(&store.open("MANIFEST").unwrap());
    let error = SharedManifest::decode(&other[..], "MANIFEST").unwrap_err();
    assert!(matches!(error, ReadError::Format(FormatError { problem: Problem::WrongKind { .. }, .. })), "{error}");
    // A set of another form is refused.
    let options = SeenOptions { form: Some("--csv --key 1".parse().unwrap()), ..SeenOptions::default() };
    let outcome = Seen::open_over_packs(&manifest(vec![], 1), [], Memory::new(), options);
    assert!(matches!(outcome, Err(Error::Store(StoreError { .. }))));
}
