//! The properties of `Bloom` that users rely on: the bits that docs/format.md specifies, the requested rate, combined
//! sets, and threads that lose no key.

use std::sync::Arc;

use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, Concurrent, Estimate, Filter, FilterMut, Gamma, RingedBloom, RingedParams,
    Shareable, sizing,
};
use furui::{HashAlgorithm, HashSpec, Hashes, KeyHash};
use proptest::prelude::*;

const SHA1: HashSpec = HashSpec { algorithm: HashAlgorithm::Sha1, seed: 3 };

/// The first `n` hashes of list number `list`. Different lists have no hash in common.
fn hashes(list: u64, n: u64) -> Vec<KeyHash> {
    (0..n).map(|i| HashSpec::default().hash(&(list << 40 | i).to_le_bytes())).collect()
}

fn filter_of(keys: &[KeyHash]) -> Bloom {
    let mut filter = Bloom::from_parts(60_007, 7).unwrap();
    filter.insert_all(keys).unwrap();
    filter
}

/// The positions of a key's bits, as docs/format.md specifies them.
fn positions(key: KeyHash, bits: u64, probes: u32, hash: HashSpec) -> Vec<usize> {
    let mut multiple = key.get();
    (0..probes)
        .map(|i| {
            let digest = sha1_smol::Sha1::from([&i.to_le_bytes()[..], &key.get().to_le_bytes()].concat()).digest();
            let salted = u64::from_le_bytes(*digest.bytes().first_chunk().unwrap());
            let x = if hash.algorithm == HashAlgorithm::Sha1 { salted } else { multiple };
            multiple = multiple.wrapping_mul(2_862_933_555_777_941_757);
            ((u128::from(x) * u128::from(bits)) >> 64) as usize
        })
        .collect()
}

proptest! {
    #[test]
    fn it_is_the_filter_of_the_format_description(
        bits in 1..2000u64,
        probes in 1..=64u32,
        sha1: bool,
        keys in prop::collection::vec(any::<u64>(), 0..300),
        alone in 0..20usize,
    ) {
        let hash = if sha1 { SHA1 } else { HashSpec::default() };
        let keys: Vec<KeyHash> = keys.into_iter().map(KeyHash::new).collect();
        let mut filter = Bloom::from_parts(bits, probes).unwrap().hashed_by(hash);
        let mut model = vec![false; bits as usize];
        let mut model_insert = |key: KeyHash| {
            let positions = positions(key, bits, probes, hash);
            let new = positions.iter().any(|&position| !model[position]);
            positions.iter().for_each(|&position| model[position] = true);
            new
        };
        let (first, rest) = keys.split_at(alone.min(keys.len()));
        for &key in first {
            prop_assert_eq!(filter.insert_hash(key), Ok(model_insert(key)));
        }
        let new = rest.iter().filter(|&&key| model_insert(key)).count() as u64;
        prop_assert_eq!(filter.insert_all(rest), Ok(new));

        prop_assert_eq!(filter.ones(), model.iter().filter(|&&bit| bit).count() as u64);
        let asked: Vec<KeyHash> = keys.iter().copied().chain(hashes(1, 300)).collect();
        let expected: Vec<bool> =
            asked.iter().map(|&key| positions(key, bits, probes, hash).iter().all(|&position| model[position])).collect();
        prop_assert_eq!(&asked.iter().map(|&key| filter.contains_hash(key)).collect::<Vec<_>>(), &expected);
        let mut answers = vec![];
        filter.contains_all(&asked, &mut answers);
        prop_assert_eq!(&answers, &expected);

        let mut file = vec![];
        AnyFilter::Bloom(filter).write_to(&mut file).unwrap();
        let table = &file[128..][..8 * model.len().div_ceil(64)];
        prop_assert!((0..8 * table.len()).all(|i| (table[i / 8] >> (i % 8) & 1 == 1) == (model.get(i) == Some(&true))));
    }
}

#[test]
fn the_measured_rate_is_the_one_asked_for_within_3_percent() {
    const KEYS: u64 = 100_000;
    for (rate, trials, hash) in [(0.1, 200_000, SHA1), (0.01, 2_000_000, HashSpec::default())] {
        let mut filter = Bloom::with_rate(KEYS, rate).unwrap().hashed_by(hash);
        assert!(sizing::rate(filter.probes(), KEYS, filter.bits()) <= rate);
        filter.insert_all(&hashes(0, KEYS)).unwrap();
        let mut answers = vec![];
        filter.contains_all(&hashes(1, trials), &mut answers);
        let measured = answers.iter().filter(|&&yes| yes).count() as f64 / trials as f64;
        assert!((measured / rate - 1.0).abs() < 0.03, "a rate of {measured} instead of {rate}");
        assert!((filter.false_positive_rate() / rate - 1.0).abs() < 0.03);
    }
}

#[test]
fn the_rivals_of_the_ringed_paper_have_its_sizes() {
    let variable = Bloom::variable_size(1000, 0.01).unwrap();
    assert_eq!((variable.probes(), variable.bits(), variable.capacity()), (7, 10_099, 1000));
    assert_eq!(sizing::least(0.01, 1000), (9594, 7));
    assert_eq!(Bloom::from_parts(9594, 7).unwrap().capacity(), 0);
    let few_probes = Bloom::with_rate(1000, 0.01).unwrap();
    assert_eq!((few_probes.probes(), few_probes.bits(), few_probes.capacity()), (6, 9618, 1000));
}

#[test]
fn or_is_the_filter_of_the_union_and_and_keeps_what_both_have() {
    let keys = hashes(0, 6000);
    let (mut one, two) = (filter_of(&keys[..4000]), filter_of(&keys[2000..]));
    let mut both = one.clone();
    both.intersect_with(&two).unwrap();
    assert!(keys[2000..4000].iter().all(|&key| both.contains_hash(key)));
    assert!(both.false_positive_rate() < one.false_positive_rate());
    let others = hashes(1, 20_000);
    assert!(others.iter().all(|&key| !both.contains_hash(key) || one.contains_hash(key) && two.contains_hash(key)));

    one.union_with(&two).unwrap();
    assert_eq!(one, filter_of(&keys));
}

#[test]
fn filters_that_do_not_fit_are_refused_with_both_their_numbers() {
    let mut filter = Bloom::from_parts(1000, 7).unwrap();
    let others = [
        (Bloom::from_parts(1001, 7).unwrap(), ["1000", "1001"]),
        (Bloom::from_parts(1000, 8).unwrap(), ["7", "8"]),
        (Bloom::from_parts(1000, 7).unwrap().hashed_by(SHA1), ["xxh3", "sha1"]),
        (Bloom::from_parts(1000, 7).unwrap().hashed_by(HashSpec { seed: 9, ..HashSpec::default() }), ["0x", "09"]),
    ];
    for (other, named) in others {
        let errors = [filter.union_with(&other), filter.intersect_with(&other), filter.similarity(&other).map(|_| ())];
        for error in errors.map(|result| result.unwrap_err().to_string()) {
            assert!(named.iter().all(|name| error.contains(name)), "{error}");
        }
    }
    assert_eq!(filter, Bloom::from_parts(1000, 7).unwrap(), "nothing was changed");
}

#[test]
fn similarity_tells_sizes_and_what_is_common_within_3_errors() {
    let keys = hashes(2, 6000);
    let (one, two) = (filter_of(&keys[..4000]), filter_of(&keys[2000..5000]));
    let similarity = one.similarity(&two).unwrap();
    let near = |what: &str, truth: f64, Estimate { value, error }: Estimate| {
        assert!((value - truth).abs() < 3.0 * error && error < 0.03 * truth, "{what}: {value} ± {error}, {truth}");
    };
    near("one", 4000.0, similarity.a);
    near("two", 3000.0, similarity.b);
    near("union", 5000.0, similarity.union);
    near("intersection", 2000.0, similarity.intersection);
    near("jaccard", 0.4, similarity.jaccard);
    assert_eq!(similarity.a, one.cardinality());
    assert_eq!(one.similarity(&one).unwrap().differing_bits, 0);
}

/// Four threads insert overlapping parts of the keys, one by one and in batches.
fn threads_lose_nothing<F: Shareable + Send + Sync>(new: impl Fn() -> F, insert: impl Fn(&mut F, &Hashes)) -> [F; 2] {
    let keys: Vec<[u8; 8]> = (0..9000u64).map(u64::to_le_bytes).collect();
    let shared = Arc::new(Concurrent::new(new()).unwrap());
    let hasher = &shared.hash_spec().hasher();
    let mut alone = new();
    insert(&mut alone, &hasher.hash_all(&keys));
    std::thread::scope(|scope| {
        for start in [0, 1500, 3000, 4500] {
            let (shared, part) = (Arc::clone(&shared), &keys[start..start + 4500]);
            scope.spawn(move || {
                part[..3000].chunks(500).for_each(|keys| _ = shared.insert_hashes(&hasher.hash_all(keys)).unwrap());
                part[3000..].iter().for_each(|key| _ = shared.insert(key));
                // The other threads may still be inserting.
                let mut found = vec![];
                shared.contains_hashes(&hasher.hash_all(part), &mut found).unwrap();
                assert!(found == [true; 4500] && part.iter().all(|key| shared.contains(key)));
                assert!(!part.iter().any(|key| shared.insert(key)), "what is there is not new");
            });
        }
    });
    assert_eq!(shared.insert_hashes(&hasher.hash_all(&keys)), Ok(0));
    [alone, shared.to_filter().unwrap()]
}

#[test]
fn threads_that_share_a_filter_lose_nothing() {
    let default = HashSpec::default();
    for (bits, hash) in [(60_007, default), (100, default), (20_000_003, default), (60_007, SHA1)] {
        let new = || Bloom::from_parts(bits, 7).unwrap().hashed_by(hash);
        let [alone, together] = threads_lose_nothing(new, |filter, keys| _ = filter.insert_hashes(keys).unwrap());
        assert_eq!(together, alone);
    }
    for (lines, probes) in [(200, 8), (3, 5), (200, 14), (40_000, 8)] {
        let new = || BlockedBloom::from_parts(lines, probes).unwrap();
        let [alone, together] = threads_lose_nothing(new, |filter, keys| _ = filter.insert_hashes(keys).unwrap());
        assert_eq!(together, alone);
    }
}

#[test]
fn the_bytes_of_a_filter_make_it_again_and_no_others_do() {
    let keys: Vec<_> = (0..9u8).map(|key| HashSpec::default().hash(&[key])).collect();
    let mut bloom = Bloom::from_parts(100, 3).unwrap();
    bloom.insert_all(&keys).unwrap();
    let bytes = bloom.as_bytes().to_vec();
    assert_eq!((bytes.len(), Bloom::from_bytes(100, 3, &bytes)), (13, Ok(bloom)));
    assert!(Bloom::from_bytes(100, 3, &bytes[1..]).is_err() && Bloom::from_bytes(105, 3, &bytes).is_err());
    assert!(Bloom::from_bytes(3, 1, &[0b1000]).is_err(), "a bit after the last");

    let params = RingedParams::new(3, Gamma::Exact, 10).unwrap();
    let mut ringed = RingedBloom::with_size(params, 9).unwrap();
    ringed.insert_all(&keys).unwrap();
    let bytes = ringed.as_bytes().to_vec();
    assert_eq!(RingedBloom::from_bytes(params, 9, &bytes), Ok(ringed));
    assert!(RingedBloom::from_bytes(params, 8, &bytes).is_err());
}
