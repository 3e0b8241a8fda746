//! Filters in files: a filter that was written and read continues as if it had never left memory, and has the bytes
//! that docs/format.md shows.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, CheckedFilter, ConfigError, CountingBloom, Filter, FilterMut, FilterRef, Fuse,
    Gamma, GrowingBloom, QuotientFilter, RingedBloom, RingedParams, SeedlessFilter, SplitBlockBloom, StableBloom,
    StableBloomLight, WindowBloom,
};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Tag};
use furui::{HashAlgorithm, HashSpec, KeyHash};
use proptest::prelude::*;

use crate::dump;

const META: Tag = Tag::new(*b"META");
const BITS: Tag = Tag::new(*b"BITS");

/// Uniform hashes (SplitMix64) without repeats.
fn hashes(seed: u64) -> impl Iterator<Item = KeyHash> {
    (1..).map(move |i: u64| {
        let mut x = seed.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        KeyHash::new(x ^ x >> 31)
    })
}

fn spec() -> HashSpec {
    HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 0x0123_4567_89AB_CDEF }
}

/// The filters of the examples in docs/format.md, with the names of their files.
fn golden() -> Vec<(&'static str, AnyFilter)> {
    let keys = [0x1000_0000_0000_0001, 0x8765_4321_0FED_CBA9, 0x8765_4321_0FED_CBA9, 0xFFFF_FFFF_FFFF_FFFF];
    let sha1 = HashSpec { algorithm: HashAlgorithm::Sha1, seed: 7 };
    let filters = [
        ("bloom", AnyFilter::Bloom(Bloom::from_parts(100, 4).unwrap())),
        ("bloom-sha1", AnyFilter::Bloom(Bloom::from_parts(100, 4).unwrap().hashed_by(sha1))),
        ("counting", AnyFilter::Counting(CountingBloom::from_parts(20, 3, 4).unwrap())),
        ("stable", AnyFilter::Stable(StableBloom::from_parts(40, 2, 3, 5).unwrap())),
        ("stable-light", AnyFilter::StableLight(StableBloomLight::from_parts(40, 3, 5).unwrap())),
        ("quotient", AnyFilter::Quotient(QuotientFilter::new(8, 8).unwrap().counting().hashed_by(spec()))),
    ];
    let mut filters: Vec<_> = filters.into_iter().collect();
    for (_, filter) in &mut filters {
        keys.iter().for_each(|&key| assert!(filter.insert_hash(KeyHash::new(key)).is_ok()));
    }
    let fuse = Fuse::from_hashes(HashSpec::default(), keys.map(KeyHash::new).to_vec(), 1.0 / 256.0).unwrap();
    filters.push(("fuse", fuse.into()));
    filters
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v1/{name}.filter"))
}

fn written<M: std::ops::Deref<Target = [u8]>>(filter: &AnyFilter<M>) -> Vec<u8> {
    let mut file = vec![];
    filter.write_to(&mut file).unwrap();
    file
}

#[test]
#[ignore = "writes the golden files anew, which changes the format"]
fn write_golden_files() {
    golden().iter().for_each(|(name, filter)| std::fs::write(golden_path(name), written(filter)).unwrap());
}

#[test]
fn golden_files_are_read_and_written_as_they_are() {
    for (name, filter) in golden() {
        let file = std::fs::read(golden_path(name)).unwrap();
        let opened = AnyFilter::open(golden_path(name)).unwrap();
        let borrowed = FilterRef::from_bytes(&file, name).unwrap();
        assert!(written(&filter) == file && written(&opened) == file && written(&borrowed) == file, "{name}");
        for key in hashes(9).take(1000) {
            assert_eq!(
                (opened.contains_hash(key), borrowed.contains_hash(key)),
                (filter.contains_hash(key), filter.contains_hash(key))
            );
        }
    }
}

#[test]
fn the_dumps_in_the_format_description_are_of_the_golden_files() {
    for (from, to, name, table) in [
        ("### Bloom filter", "#### Probes by SHA-1", "bloom", 0x40..0x90),
        ("#### Probes by SHA-1", "### Blocked Bloom filter", "bloom-sha1", 0x80..0x90),
        ("### Counting Bloom filter", "### Stable Bloom filter", "counting", 0x80..0x90),
        ("### Stable Bloom filter", "### Stable Bloom filter light", "stable", 0x58..0x90),
        ("### Stable Bloom filter light", "### Ringed Bloom filter", "stable-light", 0x58..0x90),
        ("### Ringed Bloom filter", "### Quotient filter", "ringed", 0x40..0x88),
        ("### Quotient filter", "### Split-block Bloom filter", "quotient", 0x40..0xea),
        ("### Fuse filter", "## Dictionaries", "fuse", 0x80..0xa8),
    ] {
        dump::check(from, to, &std::fs::read(golden_path(name)).unwrap(), table);
    }
}

/// Small filters of all kinds whose files have two sections; some have the minimum size.
fn small() -> Vec<AnyFilter> {
    let ringed = |probes, gamma, delta, keys| {
        let params = RingedParams::new(probes, Gamma::Bits(gamma), delta).unwrap();
        AnyFilter::Ringed(RingedBloom::with_size(params, keys).unwrap())
    };
    let others = [
        AnyFilter::Bloom(Bloom::from_parts(1, 1).unwrap()),
        AnyFilter::Bloom(Bloom::with_rate(1, 0.01).unwrap()),
        AnyFilter::Blocked(BlockedBloom::from_parts(1, 3).unwrap()),
        AnyFilter::Blocked(BlockedBloom::from_parts(4, 11).unwrap()),
        AnyFilter::Stable(StableBloom::from_parts(2, 1, 1, 1).unwrap()),
        AnyFilter::SplitBlock(SplitBlockBloom::from_parts(3).unwrap()),
        ringed(1, 1.0, 1, 1),
        ringed(45, 1.0, 47, 1),
        ringed(7, 10.1, 3, 40),
    ];
    golden().into_iter().map(|(_, filter)| filter).chain(others).collect()
}

/// Filters of every kind, with some thousand keys each.
fn filled() -> Vec<AnyFilter> {
    let mut filters = vec![
        AnyFilter::Bloom(Bloom::with_rate(3000, 0.01).unwrap()),
        AnyFilter::Bloom(Bloom::from_parts(20_003, 64).unwrap().hashed_by(spec())),
        AnyFilter::Counting(CountingBloom::with_rate(3000, 0.01).unwrap()),
        AnyFilter::Counting(CountingBloom::from_parts(10_001, 5, 2).unwrap().hashed_by(spec())),
        AnyFilter::Stable(StableBloom::with_rate(20_003, 2, 0.01).unwrap().hashed_by(spec())),
        AnyFilter::Stable(StableBloom::from_parts(5000, 1, 2, 7).unwrap()),
        AnyFilter::StableLight(StableBloomLight::with_rate(20_003, 0.01).unwrap().hashed_by(spec())),
        AnyFilter::Quotient(QuotientFilter::with_rate(4000, 0.01).unwrap()),
        AnyFilter::Quotient(QuotientFilter::with_fingerprint_bits(6007, 33).unwrap().counting().hashed_by(spec())),
    ];
    for filter in &mut filters {
        filter.insert_all(&hashes(1).take(3000).collect::<Vec<_>>()).unwrap();
    }
    filters
}

#[test]
fn a_filter_that_was_written_and_read_goes_on_as_one_that_was_not() {
    let dir = tempdir("filter-files");
    for (i, mut stayed) in filled().into_iter().enumerate() {
        let path = dir.join(format!("{i}.filter"));
        std::fs::write(&path, written(&stayed)).unwrap();
        {
            let (mut read, mut stayed) = (AnyFilter::open(&path).unwrap(), stayed.clone());
            for key in hashes(1).skip(2500).take(1200) {
                assert_eq!(read.insert_hash(key), stayed.insert_hash(key));
            }
            assert_eq!(written(&read), written(&stayed));
            assert_eq!(read.false_positive_rate(), stayed.false_positive_rate());
            assert_eq!(read.forgets(), stayed.forgets());
        }
        let file = std::fs::read(&path).unwrap();
        assert_eq!(file, written(&stayed), "the file is never changed");
        let borrowed = FilterRef::from_bytes(&file, "file").unwrap();
        let keys: Vec<KeyHash> = hashes(1).take(6000).collect();
        let (mut one, mut two) = (vec![], vec![]);
        borrowed.contains_all(&keys, &mut one);
        stayed.contains_all(&keys, &mut two);
        assert_eq!(one, two);
        stayed.insert_all(&keys[2900..3100]).unwrap();
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// Tests filters that are checked while they are read: if the file is damaged, each answer is right or an error that
/// names the file, and after the first error all answers are errors.
#[test]
fn a_checked_filter_answers_as_the_filter_does_and_believes_no_damage() {
    let dir = tempdir("checked-filters");
    let path = dir.join("it.filter");
    let keys: Vec<[u8; 8]> = (0..6000u64).map(u64::to_le_bytes).collect();
    let fuse = Fuse::from_keys(HashSpec::default(), &keys[..3000], 1e-6).unwrap();
    let kinds = filled().into_iter().chain(filled_others()).chain([fuse.into()]);
    for mut filter in kinds {
        keys[..3000].iter().for_each(|key| _ = filter.insert(key));
        let file = written(&filter);
        std::fs::write(&path, &file).unwrap();
        let checked = CheckedFilter::open(&path).unwrap();
        assert_eq!((checked.kind(), checked.hash_spec()), (filter.kind(), filter.hash_spec()));
        let right: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
        assert!(keys.iter().zip(&right).all(|(key, &right)| checked.contains(key).unwrap() == right));
        let mut all = vec![];
        let batch = checked.hash_spec().hasher().hash_all(&keys);
        CheckedFilter::open(&path).unwrap().contains_hashes(&batch, &mut all).unwrap();
        let other = HashSpec::random();
        let refused = checked.contains_hashes(&other.hasher().hash_all(&keys), &mut all).unwrap_err();
        assert_eq!(refused.problem, Problem::OtherHash { found: filter.hash_spec(), expected: other });
        assert!(all == right && written(checked.whole().unwrap()) == file);
        for at in (0..file.len()).step_by(file.len() / 40) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            let Ok(checked) = CheckedFilter::open(&path) else { continue };
            let mut failed = false;
            for (key, &right) in keys.iter().zip(&right) {
                match checked.contains(key) {
                    Ok(found) => assert!(found == right && !failed, "{:?} at {at}", filter.kind()),
                    Err(error) => failed = error.to_string().contains("it.filter"),
                }
            }
            // Damage that no lookup reads is found by a check of the whole file, except in the padding at its end.
            assert!(checked.whole().is_err() || at >= file.len() - 400 && written(checked.whole().unwrap()) == file);
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// Filters of the kinds that [`filled`] leaves out, large enough for several regions.
fn filled_others() -> Vec<AnyFilter> {
    let params = RingedParams::with_rate(0.01, Gamma::Exact, 1000).unwrap();
    let mut filters = vec![
        AnyFilter::Blocked(BlockedBloom::with_rate(30_000, 0.01).unwrap()),
        AnyFilter::Blocked(BlockedBloom::with_rate(30_000, 1e-5).unwrap()),
        AnyFilter::Ringed(RingedBloom::with_size(params, 30_000).unwrap()),
        AnyFilter::SplitBlock(SplitBlockBloom::with_rate(30_000, 0.01).unwrap()),
        AnyFilter::Growing(GrowingBloom::with_rate(0.01).unwrap()),
        AnyFilter::Window(WindowBloom::for_last(3200, 0.01).unwrap()),
        AnyFilter::Bloom(Bloom::with_rate(9000, 0.001).unwrap()),
    ];
    for filter in &mut filters {
        filter.insert_all(&hashes(1).take(3000).collect::<Vec<_>>()).unwrap();
    }
    filters
}

/// Bytes that are read by calls, like a file that is not mapped.
struct Unmapped<'a>(&'a [u8]);

impl ReadAt for Unmapped<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, buf)
    }
}

/// The contents of these files end one unit before a border between regions, at the border, and one unit after it. One
/// of the borders is that between files with one level of checksums and with two levels. (The sizes of growing filters
/// cannot be chosen.)
#[test]
fn filters_that_end_around_a_border_of_regions_have_all_keys_and_no_byte_unchecked() {
    let params = RingedParams::new(7, Gamma::Bits(1.0), 3).unwrap();
    let of_size = |kind: u64, n: u64| match kind {
        0 => AnyFilter::Bloom(Bloom::from_parts(8 * n, 3).unwrap()),
        1 => AnyFilter::Counting(CountingBloom::from_parts(2 * n as usize, 3, 4).unwrap()),
        2 => AnyFilter::Stable(StableBloom::from_parts(4 * n as usize, 2, 3, 5).unwrap()),
        3 => AnyFilter::StableLight(StableBloomLight::from_parts(4 * n as usize, 3, 5).unwrap()),
        4 => AnyFilter::Blocked(BlockedBloom::from_parts(n, 8).unwrap()),
        5 => AnyFilter::SplitBlock(SplitBlockBloom::from_parts(n).unwrap()),
        6 => AnyFilter::Quotient(QuotientFilter::new(n, 9).unwrap()),
        _ => AnyFilter::Ringed(RingedBloom::with_size(params, 8 * n).unwrap()),
    };
    let end_of = |file: &[u8]| {
        let last = *Envelope::open(file, "file").unwrap().sections().last().unwrap();
        (last.offset + last.length) as usize
    };
    let dir = tempdir("regions");
    let path = dir.join("it.filter");
    let keys: Vec<KeyHash> = hashes(1).take(4000).collect();
    let cases = (0..8).flat_map(|kind| [4096, 3 * 4096].map(|border| (kind, border))).chain([(0, 1024 * 4096)]);
    for (kind, border) in cases {
        // The smallest size whose table ends at the border or after it.
        let (mut low, mut first) = (1, border as u64);
        if border == 1024 * 4096 {
            low = first - 4096;
        }
        while low < first {
            let middle = low.midpoint(first);
            if end_of(&written(&of_size(kind, middle))) < border { low = middle + 1 } else { first = middle }
        }
        let mut ends = vec![];
        for n in [first - 1, first, first + 1, first + 8] {
            let mut filter = of_size(kind, n);
            let inserted = keys[..3000].iter().take_while(|&&key| filter.insert_hash(key).is_ok()).count();
            let right: Vec<bool> = keys.iter().map(|&key| filter.contains_hash(key)).collect();
            assert!(filter.forgets() || right[..inserted].iter().all(|&found| found));
            let file = written(&filter);
            ends.push(end_of(&file));
            let rest = end_of(&file) as i64 - filter.bytes() as i64;
            assert!((0..512).contains(&rest), "{:?}: {n}, {rest}", filter.kind());
            std::fs::write(&path, &file).unwrap();
            let (opened, checked) = (AnyFilter::open(&path).unwrap(), CheckedFilter::open(&path).unwrap());
            let borrowed = FilterRef::from_bytes(&file, "file").unwrap();
            for (&key, &right) in keys.iter().zip(&right) {
                let found =
                    [opened.contains_hash(key), borrowed.contains_hash(key), checked.contains_hash(key).unwrap()];
                assert_eq!(found, [right; 3], "{:?}: {n}", filter.kind());
            }
            assert!(written(checked.whole().unwrap()) == file);
            Envelope::open(&Unmapped(&file), "file").unwrap().verify(&Unmapped(&file)).unwrap();
            let end = ends[ends.len() - 1];
            // The padding behind the checksums of regions belongs to no region, and no filter reads it.
            for at in [border - 1, border, end - 1].into_iter().filter(|&at| at < end.next_multiple_of(64)) {
                let mut damaged = file.clone();
                damaged[at] ^= 0x10;
                let refused = Envelope::open(&damaged[..], "file").and_then(|it| it.verify(&Unmapped(&damaged)));
                assert!(refused.is_err(), "{:?}: {n}, byte {at}", filter.kind());
                std::fs::write(&path, &damaged).unwrap();
                let Ok(checked) = CheckedFilter::open(&path) else { continue };
                for (&key, &right) in keys.iter().zip(&right) {
                    assert!(checked.contains_hash(key).map_or(true, |found| found == right), "{n}, byte {at}");
                }
                assert!(checked.whole().is_err(), "{:?}: {n}, byte {at}", filter.kind());
            }
        }
        assert!(ends[0] < border && border <= ends[1] && border < ends[3], "{ends:?} around {border}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

fn tempdir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("furui-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// The two sections of a filter's file.
fn sections(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let envelope = Envelope::open(file, "file").unwrap();
    let section = |tag| envelope.read_section(file, tag, 1 << 20).unwrap();
    (section(META), section(BITS))
}

/// A file with these sections, and checksums that fit.
fn sealed(kind: Kind, meta: &[u8], bits: &[u8]) -> Vec<u8> {
    let mut file = vec![];
    let mut writer = EnvelopeWriter::new(&mut file, kind, HashSpec::default()).unwrap();
    for (tag, bytes) in [(META, meta), (BITS, bits)] {
        writer.section(tag, Align::Line).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
    file
}

/// Reads a file. If it is a filter, calls all of the filter's operations.
fn use_all(file: &[u8]) -> bool {
    let borrowed = match FilterRef::from_bytes(file, "any bytes") {
        Ok(filter) => filter,
        Err(ReadError::Format(error)) => {
            assert!(error.to_string().contains("any bytes"), "{error}");
            return false;
        }
        Err(error) => panic!("{error}"),
    };
    let is_rate = |rate: f64| (0.0..=1.0).contains(&rate);
    assert!(is_rate(borrowed.false_positive_rate()) && borrowed.intended_rate().is_none_or(is_rate));
    assert!(borrowed.cardinality().is_none_or(|estimate| estimate.value >= 0.0 && estimate.error >= 0.0));
    let dir = tempdir(&format!("any-bytes-{:?}", std::thread::current().id()));
    std::fs::write(dir.join("filter"), file).unwrap();
    let mut filter = AnyFilter::open(dir.join("filter")).unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    let mut twice = filter.clone();
    if twice.union_with(&borrowed).is_ok() && twice.intersect_with(&borrowed).is_ok() {
        assert_eq!(written(&twice), file, "the union or intersection of a set with itself");
        assert_eq!(twice.similarity(&borrowed).unwrap().differing_bits, 0);
    }
    let keys: Vec<KeyHash> = hashes(3).take(50).collect();
    let _ = filter.insert_all(&keys);
    for key in keys {
        let _ = filter.insert_hash(key);
        let contained = filter.contains_hash(key);
        match &mut filter {
            AnyFilter::Counting(filter) => assert_eq!(filter.remove_hash(key), contained),
            AnyFilter::Quotient(filter) if filter.is_counting() => {
                assert_eq!(filter.remove_hash(key), Ok(contained));
            }
            AnyFilter::Quotient(filter) => assert_eq!(filter.remove_hash(key), Err(ConfigError::OneCopy)),
            _ => (),
        }
    }
    if let AnyFilter::Quotient(filter) = &filter {
        assert_eq!(filter.fingerprints().count() as u64, filter.len());
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn a_changed_file_is_refused_or_works(
        which in 0..small().len(),
        keys in prop::collection::vec(any::<u64>(), 0..12),
        changes in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), 0..8u32), 1..4),
    ) {
        let mut filter = small().swap_remove(which);
        for key in keys {
            let _ = filter.insert_hash(KeyHash::new(key));
        }
        let (mut meta, mut bits) = sections(&written(&filter));
        for (in_meta, at, bit) in changes {
            let section = if in_meta { &mut meta } else { &mut bits };
            let at = at.index(section.len());
            section[at] ^= 1 << bit;
        }
        use_all(&sealed(filter.kind(), &meta, &bits));
    }
}

#[test]
fn every_changed_bit_of_a_quotient_table_is_noticed() {
    for counting in [false, true] {
        let mut filter = QuotientFilter::with_fingerprint_bits(70, 20).unwrap();
        if counting {
            filter = filter.counting();
        }
        let keys: Vec<KeyHash> = hashes(5).take(30).collect();
        // Keys crowd at the end of the table, so that runs wrap around. The multiset has copies of some keys.
        for key in keys.iter().chain(&keys[..9]).map(|key| key.get()).chain((0..15).map(|i| u64::MAX - (i << 45))) {
            assert!(filter.insert_hash(KeyHash::new(key)).is_ok());
        }
        let (meta, bits) = sections(&written(&AnyFilter::Quotient(filter)));
        let mut refused = 0;
        for bit in 0..bits.len() * 8 {
            let mut changed = bits.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            refused += usize::from(!use_all(&sealed(Kind::QuotientFilter, &meta, &changed)));
        }
        // All changes are refused, except those of a remainder that leave the remainders in order: they give the file
        // of another set.
        assert!(refused >= bits.len() * 8 - 60 * 14 && refused < bits.len() * 8, "{refused} of {}", bits.len() * 8);
    }
}

#[test]
fn a_file_without_its_seed_is_read_by_who_has_the_seed_and_checked_by_anybody() {
    let spec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 7 };
    let mut filter = AnyFilter::from(Bloom::with_rate(100, 0.01).unwrap().hashed_by(spec));
    filter.insert("here").unwrap();
    let mut bytes = vec![];
    filter.write_without_seed(&mut bytes).unwrap();
    let dir = tempdir("without-seed");
    let path = dir.join("filter");
    std::fs::write(&path, &bytes).unwrap();

    let envelope = Envelope::open(&bytes[..], "filter").unwrap();
    assert!(envelope.seed_is_elsewhere() && envelope.verify(&bytes[..]).is_ok());
    assert_eq!(envelope.hash().seed, spec.seed_fingerprint());
    let problem = |result: Result<AnyFilter, ReadError>| match result {
        Err(ReadError::Format(error)) => error.problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(problem(AnyFilter::open(&path)), Problem::NoSeed);
    assert_eq!(problem(AnyFilter::open_with_seed(&path, 8)), Problem::OtherSeed);
    assert!(matches!(CheckedFilter::open(&path), Err(ReadError::Format(error)) if error.problem == Problem::NoSeed));
    assert!(FilterRef::from_bytes(&bytes, "filter").is_err());
    let opened = AnyFilter::open_with_seed(&path, 7).unwrap();
    assert_eq!(opened.hash_spec(), spec);
    assert!(opened.contains("here") && !opened.contains("there"));

    // If the file has its seed, the given seed is compared with it.
    opened.save(&path).unwrap();
    assert!(AnyFilter::open_with_seed(&path, 7).unwrap().contains("here"));
    assert_eq!(problem(AnyFilter::open_with_seed(&path, 8)), Problem::OtherSeed);

    // Whoever forgets the seed can unite this file with one that does not have it.
    let mut other = AnyFilter::from(Bloom::with_rate(100, 0.01).unwrap().hashed_by(spec));
    other.insert("there").unwrap();
    other.save_without_seed(dir.join("other")).unwrap();
    let mut both = SeedlessFilter::open(&path).unwrap();
    both.union_with(&SeedlessFilter::open(dir.join("other")).unwrap()).unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn only_a_filter_is_without_its_seed() {
    let mut bytes = vec![];
    EnvelopeWriter::without_seed(&mut bytes, Kind::Run, HashSpec::default()).unwrap().finish().unwrap();
    let Err(ReadError::Format(error)) = Envelope::open(&bytes[..], "run") else { panic!("a run needs its seed") };
    assert!(error.to_string().contains("seed"), "{error}");
}
