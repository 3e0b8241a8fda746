//! The paper's tiers (an LRU and a filter), kept in the store: the next process begins with the kept tiers, and they
//! never make it take a key for known that the set lacks.

use std::collections::HashSet;
use std::io::Write;

use crate::dump;
use crate::support::{Failing, Fault};
use furui::filter::ConfigError;
use furui::format::{Align, EnvelopeWriter, FormatError, Kind, Tag};
use furui::seen::{Cache, KeptTiers, Replacement, Seen, SeenOptions, Start, TierSizes, Verdict};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{Manifest, Memory, Storage, TIERS};
use furui::{Error, HashAlgorithm, HashSpec, Hashes, KeyHash, Result};

/// The golden file, which has version 1 of the format.
const GOLDEN: &[u8] = include_bytes!("golden/v1/TIERS");
const GOLDEN_SPEC: HashSpec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 0x0123_4567_89AB_CDEF };

/// A rate at which nothing is dropped in these tests.
const EXACT: f64 = 1e-12;

fn options() -> SeenOptions {
    let sizes = TierSizes { lru: Some(300), counters: Some(1 << 20), ..TierSizes::default() };
    SeenOptions {
        cache: Cache::LruStable { rate: EXACT },
        sizes,
        memory: 1 << 20,
        hash: None,
        form: None,
        journal: true,
    }
}

fn keys(range: std::ops::Range<u64>) -> Vec<KeyHash> {
    range.map(|i| HashSpec::default().hash(&i.to_le_bytes())).collect()
}

fn open(storage: &Memory, options: SeenOptions) -> Seen<Memory> {
    Seen::open_with(storage.clone(), options).unwrap()
}

/// A batch of these hashes, as if they were hashed by this set's spec.
fn of<S: Storage>(seen: &Seen<S>, keys: &[KeyHash]) -> Hashes {
    let mut batch = Hashes::new(&seen.hash_spec().hasher());
    keys.iter().for_each(|&key| batch.push_hash(key));
    batch
}

fn new_keys<S: Storage>(seen: &mut Seen<S>, keys: &[KeyHash]) -> Result<Vec<KeyHash>> {
    let mut verdicts = vec![];
    seen.observe_all(&of(seen, keys), &mut verdicts)?;
    Ok(keys.iter().zip(verdicts).filter(|&(_, verdict)| verdict == Verdict::New).map(|(&key, _)| key).collect())
}

fn put(storage: &Memory, name: &str, bytes: &[u8]) {
    storage.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
}

fn copy(storage: &Memory) -> Memory {
    let copy = Memory::new();
    storage.list().unwrap().iter().for_each(|name| put(&copy, name, &storage.open(name).unwrap()));
    copy
}

/// A store in which all of `keys` were recorded.
fn store(keys: &[KeyHash], options: SeenOptions) -> Memory {
    let storage = Memory::new();
    let mut seen = open(&storage, options);
    assert_eq!(new_keys(&mut seen, keys).unwrap(), keys);
    seen.publish().unwrap();
    storage
}

#[test]
fn the_next_run_remembers_what_the_last_one_saw() {
    for replacement in [Replacement::Lru, Replacement::Clock] {
        let mut options = options();
        options.sizes.replacement = replacement;
        let all = keys(0..2000);
        let storage = store(&all, options);
        let mut seen = open(&storage, options);
        assert_eq!(seen.start(), Start::Whole);
        assert_eq!(new_keys(&mut seen, &all).unwrap(), []);
        let counters = *seen.counters();
        assert_eq!(counters.stable_forgotten, 0, "{counters:?}");
        // One claim of the filter in 32 is checked in the set; all others are believed.
        assert_eq!(counters.set_repeats, counters.audited, "{counters:?}");
        assert!(counters.audited <= 2000 / 32 + 1, "{counters:?}");
        // The next `Seen` begins with the tiers that this one leaves.
        seen.publish().unwrap();
        let mut seen = open(&storage, options);
        new_keys(&mut seen, &all[1700..]).unwrap();
        assert_eq!(seen.counters().lru_hits, 300);
    }
}

#[test]
fn the_keys_of_a_smaller_exact_cache_go_into_the_filter() {
    let all = keys(0..300);
    let storage = store(&all, options());
    let mut smaller = options();
    smaller.sizes.lru = Some(256);
    let mut seen = open(&storage, smaller);
    assert_eq!(seen.start(), Start::Whole);
    new_keys(&mut seen, &all[..44]).unwrap();
    assert_eq!((seen.counters().lru_hits, seen.counters().stable_forgotten), (0, 0));

    let mut other = options();
    other.sizes.counters = Some(1 << 19);
    let mut seen = open(&storage, other);
    assert_eq!(seen.start(), Start::Keys);
    assert_eq!(new_keys(&mut seen, &all).unwrap(), []);
    assert_eq!(seen.counters().lru_hits, 300);
}

/// A merge adds no keys, so the tiers still belong to the set. Keys of a journal that are merged are new to the tiers.
#[test]
fn a_merge_keeps_the_tiers() {
    // A run of more than 200,000 keys is not merged with a small one.
    let options = || SeenOptions { memory: 8 << 20, ..options() };
    let storage = store(&keys(0..210_000), options());
    let mut seen = open(&storage, options());
    new_keys(&mut seen, &keys(210_000..210_100)).unwrap();
    seen.publish().unwrap();
    let cascade = || Cascade::open(storage.clone(), CascadeOptions::default()).unwrap();
    assert_eq!(cascade().runs().len(), 2);
    cascade().compact().unwrap();
    assert_eq!(cascade().runs().len(), 1);
    let kept = |set: &Cascade<Memory>| KeptTiers::of(set).unwrap().unwrap();
    let of_store = kept(&cascade());
    assert!(of_store.is_current && of_store.keys == 300 && of_store.capacity == 300 && of_store.counters == 1 << 20);
    assert!(of_store.filled > 0.1 && of_store.filled < 0.9, "{of_store:?}");
    let mut seen = open(&storage, options());
    assert_eq!((seen.start(), new_keys(&mut seen, &keys(209_000..210_100)).unwrap()), (Start::Whole, vec![]));
    // These keys stay in the journal, as if the process had been killed.
    new_keys(&mut seen, &keys(300_000..300_100)).unwrap();
    seen.sync().unwrap();
    drop(seen);
    assert_eq!(open(&storage, options()).start(), Start::Whole);
    cascade().compact().unwrap();
    assert!(!kept(&cascade()).is_current);
    assert_eq!(open(&storage, options()).start(), Start::Outdated);
}

/// A file of tiers that belongs to an earlier or a later state of the set is ignored.
#[test]
fn tiers_of_another_state_are_not_believed() {
    let storage = store(&keys(0..1000), options());
    let before = copy(&storage);
    let mut seen = open(&storage, options());
    new_keys(&mut seen, &keys(1000..2000)).unwrap();
    seen.publish().unwrap();
    let tiers = storage.open(TIERS).unwrap();

    // A backup of the set is put back without its tiers. Then it changes in another way, up to the generation that the
    // tiers name.
    put(&before, TIERS, &tiers);
    let back = copy(&before);
    let mut seen = open(&back, options());
    assert_eq!(seen.start(), Start::Outdated);
    assert_eq!(new_keys(&mut seen, &keys(1000..2000)).unwrap().len(), 1000);
    let mut seen = open(&before, SeenOptions { cache: Cache::Recent, ..options() });
    new_keys(&mut seen, &keys(5000..6000)).unwrap();
    seen.publish().unwrap();
    put(&before, TIERS, &tiers);
    assert_eq!(
        Manifest::load(&before).unwrap().unwrap().generation(),
        Manifest::load(&storage).unwrap().unwrap().generation()
    );
    let mut seen = open(&before, options());
    assert_eq!(seen.start(), Start::Outdated);
    assert_eq!(new_keys(&mut seen, &keys(1000..2000)).unwrap().len(), 1000);

    // A run without these tiers removes them when it changes the set, and not before.
    let mut seen = open(&storage, SeenOptions { cache: Cache::Lru, ..options() });
    assert_eq!((seen.start(), new_keys(&mut seen, &keys(0..2000)).unwrap()), (Start::Empty, vec![]));
    seen.publish().unwrap();
    assert_eq!(open(&storage, options()).start(), Start::Whole);
    let mut seen = open(&storage, SeenOptions { cache: Cache::Recent, ..options() });
    new_keys(&mut seen, &keys(2000..2001)).unwrap();
    seen.publish().unwrap();
    assert!(!storage.list().unwrap().contains(&TIERS.to_owned()));
}

#[test]
fn nothing_is_lost_whatever_fails() {
    let mut options = options();
    options.sizes.counters = Some(1 << 12);
    let start = store(&keys(0..600), options);
    let recorded: HashSet<KeyHash> = keys(0..600).into_iter().collect();
    let batches = [keys(0..700), keys(500..900), keys(300..1000)];
    let all = keys(0..1000);
    for fault in Fault::ALL {
        for at in 0.. {
            let storage = Failing::new(&start, at, fault);
            let (mut printed, mut acknowledged) = (recorded.clone(), recorded.clone());
            let mut session = || {
                let mut seen = Seen::open_with(storage.clone(), options)?;
                for batch in &batches {
                    printed.extend(new_keys(&mut seen, batch)?);
                    seen.sync()?;
                    acknowledged.extend(batch);
                }
                seen.publish()
            };
            let outcome = session();
            if !storage.struck() {
                outcome.unwrap();
                assert!(at > 40, "the fault struck at {at} operations only");
                break;
            }
            for removed_come_back in [false, true] {
                let left = storage.after_crash(removed_come_back);
                let mut seen = open(&left, options);
                let again: HashSet<KeyHash> = new_keys(&mut seen, &all).unwrap().into_iter().collect();
                assert!(acknowledged.is_disjoint(&again), "{fault:?} at {at}: what was acknowledged was forgotten");
                assert!(all.iter().all(|key| printed.contains(key) || again.contains(key)), "{fault:?} at {at}: lost");
            }
        }
    }
}

/// A dropped key is dropped again as long as the tiers remember it, unless it is protected.
#[test]
fn a_dropped_key_comes_through_when_it_is_protected_or_forgotten() {
    let sizes = TierSizes {
        lru: Some(300),
        counters: Some(2000),
        probes: Some(1),
        decrements: Some(1),
        ..TierSizes::default()
    };
    let coarse = SeenOptions { sizes, ..options() };
    let storage = Memory::new();
    let mut seen = open(&storage, coarse);
    let all = keys(0..3000);
    let printed: HashSet<KeyHash> = new_keys(&mut seen, &all).unwrap().into_iter().collect();
    let last: Vec<KeyHash> = all[2700..].iter().copied().filter(|key| !printed.contains(key)).collect();
    assert!(!last.is_empty(), "this filter drops most keys");
    seen.publish().unwrap();

    let kept = copy(&storage);
    let mut seen = open(&kept, coarse);
    assert_eq!((seen.start(), new_keys(&mut seen, &last).unwrap()), (Start::Whole, vec![]));
    let mut verdicts = vec![];
    seen.observe_protected(&of(&seen, &last), |_| true, &mut verdicts).unwrap();
    assert!(verdicts.iter().all(|&verdict| verdict == Verdict::New));
    // The caches that drop nothing ignore the tiers that the store has kept.
    for cache in [Cache::Recent, Cache::Lru, Cache::None] {
        let mut seen = open(&copy(&storage), SeenOptions { cache, ..coarse });
        assert_eq!(new_keys(&mut seen, &last).unwrap(), last, "{cache:?}");
    }
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    let mut options = options();
    options.sizes.counters = Some(1000);
    let storage = store(&keys(0..20), options);
    let good = storage.open(TIERS).unwrap().to_vec();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        put(&storage, TIERS, &bad);
        let Err(Error::Format(FormatError { file, .. })) = Seen::open_with(storage.clone(), options) else {
            panic!("byte {at} of {}", good.len());
        };
        assert!(file.contains(TIERS), "{file}");
        put(&storage, TIERS, &good[..at]);
        assert!(Seen::open_with(storage.clone(), options).is_err(), "cut at {at}");
    }
    // Without the file of the tiers, the store is still complete.
    storage.remove(TIERS).unwrap();
    let mut seen = open(&storage, options);
    assert_eq!((seen.start(), new_keys(&mut seen, &keys(0..20)).unwrap()), (Start::Empty, vec![]));
}

/// Files of an attacker, whose checksums fit.
#[test]
fn sealed_files_that_cannot_be_are_refused() {
    let (storage, options) = example();
    let sections = |head: Vec<u8>, keys: usize, cursor: u64, tags: [&[u8; 4]; 4]| {
        let meta =
            [&40u64.to_le_bytes()[..], &5u64.to_le_bytes(), &[3, 0, 0, 0, 2, 0, 0, 0], &cursor.to_le_bytes()].concat();
        let bodies = [head, vec![7; 8 * keys], meta, vec![0; 16]];
        let mut file = vec![];
        let mut out = EnvelopeWriter::new(&mut file, Kind::Tiers, GOLDEN_SPEC).unwrap();
        for (tag, body) in tags.into_iter().zip(bodies) {
            out.section(Tag::new(*tag), Align::Line).unwrap();
            out.write_all(&body).unwrap();
        }
        out.finish().unwrap();
        put(&storage, TIERS, &file);
        Seen::open_with(storage.clone(), options).map(|seen| seen.start())
    };
    let head = |replacement: u8, keys: u64| {
        let room = 300u64.to_le_bytes();
        [&3u64.to_le_bytes()[..], &0x1234_5678_u32.to_le_bytes(), &[replacement, 0, 0, 0], &keys.to_le_bytes(), &room]
            .concat()
    };
    let tags = [b"HEAD", b"KEYS", b"META", b"BITS"];
    assert_eq!(sections(head(0, 300), 300, 39, tags).unwrap(), Start::Whole);
    let refused = [
        sections(head(2, 2), 2, 0, tags),
        sections(head(0, 3), 2, 0, tags),
        sections(head(0, 301), 301, 0, tags),
        sections(head(0, u64::MAX), 2, 0, tags),
        sections(head(0, 2)[..31].to_vec(), 2, 0, tags),
        sections(head(0, 2), 2, 40, tags),
        sections(head(0, 2), 2, 0, [tags[0], tags[2], tags[1], tags[3]]),
    ];
    for (number, outcome) in refused.into_iter().enumerate() {
        assert!(matches!(outcome, Err(Error::Format(_))), "{number}: {outcome:?}");
    }
}

#[test]
fn sizes_that_are_given_are_kept_or_refused() {
    let refused = |sizes: TierSizes, memory: u64| {
        let options = SeenOptions { sizes, memory, ..options() };
        match Seen::open_with(Memory::new(), options) {
            Err(Error::Config(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let too_much = refused(TierSizes::PAPER, 256 << 20);
    assert!(
        matches!(too_much, ConfigError::BeyondMemory { bytes, most, .. } if bytes == 277 << 20 && most == 224 << 20)
    );
    assert!(too_much.to_string().contains("more memory"));
    assert!(matches!(
        refused(TierSizes { lru: Some(255), ..TierSizes::default() }, 1 << 30),
        ConfigError::OutOfRange { given: 255, least: 256, .. }
    ));
    for sizes in [
        TierSizes { counters: Some(0), ..TierSizes::default() },
        TierSizes { probes: Some(65), ..TierSizes::default() },
        TierSizes { probes: Some(0), ..TierSizes::default() },
        TierSizes { decrements: Some(0), ..TierSizes::default() },
        TierSizes { lru: Some(usize::MAX), ..TierSizes::default() },
    ] {
        refused(sizes, 1 << 30);
    }
    // The filter decrements counters at a cursor, so the paper's k and P give a lower rate than in the paper.
    let paper = TierSizes { lru: None, counters: None, ..TierSizes::PAPER };
    let seen = open(&Memory::new(), SeenOptions { sizes: paper, ..options() });
    assert!(seen.stable_rate().is_some_and(|rate| rate < 1e-5 && rate > 0.3e-5), "{:?}", seen.stable_rate());
    let more_probes = TierSizes { probes: Some(8), ..TierSizes::default() };
    let options = SeenOptions { cache: Cache::LruStable { rate: 0.01 }, sizes: more_probes, ..options() };
    assert!(open(&Memory::new(), options).stable_rate().is_some_and(|rate| rate <= 0.01 && rate > 0.005));
}

/// The store of the example in docs/format.md, without its tiers. It has the two keys of the tiers already, so that
/// observing these keys does not change the manifest.
fn example() -> (Memory, SeenOptions) {
    let (storage, two) = (Memory::new(), [0x0123_4567_89AB_CDEF, 1].map(KeyHash::new));
    let mut set =
        Cascade::open(storage.clone(), CascadeOptions { hash: Some(GOLDEN_SPEC), ..CascadeOptions::default() });
    set.as_mut().unwrap().insert_all(&two, &mut vec![]).unwrap();
    set.unwrap().publish().unwrap();
    let mut manifest = Manifest::load(&storage).unwrap().unwrap();
    manifest.journal = 0x1234_5678;
    manifest.save(&storage).unwrap();
    let sizes =
        TierSizes { lru: Some(256), counters: Some(40), probes: Some(3), decrements: Some(5), ..TierSizes::default() };
    (storage, SeenOptions { sizes, journal: false, ..options() })
}

#[test]
fn the_golden_file_is_what_the_format_says() {
    let (storage, options) = example();
    put(&storage, TIERS, GOLDEN);
    let mut seen = open(&storage, options);
    assert_eq!((seen.start(), new_keys(&mut seen, &[KeyHash::new(1)]).unwrap()), (Start::Whole, vec![]));
    assert_eq!(seen.counters().lru_hits, 1);

    dump::check("## Tiers", "## Run", GOLDEN, 0x40..0xc0);
}

#[test]
#[ignore = "writes the golden file"]
fn write_the_golden_file() {
    let (storage, options) = example();
    let mut seen = open(&storage, options);
    new_keys(&mut seen, &[0x0123_4567_89AB_CDEF, 1].map(KeyHash::new)).unwrap();
    seen.publish().unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/TIERS");
    std::fs::write(path, &*storage.open(TIERS).unwrap()).unwrap();
}
