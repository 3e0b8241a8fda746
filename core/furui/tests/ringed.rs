//! The properties of `RingedBloom` that users rely on: the paper's filter bit by bit, keys that fit filters of every
//! size, the values of rates, and files.

use furui::filter::{AnyFilter, Filter, FilterMut, FilterRef, Gamma, RingedBloom, RingedKey, RingedParams};
use furui::format::{Align, Envelope, EnvelopeWriter, Kind, Tag};
use furui::raw::{ringed_rate, ringed_rate_refined};
use furui::{HashAlgorithm, HashSpec, KeyHash};
use proptest::prelude::*;
use std::io::Write;

const META: Tag = Tag::new(*b"META");
const BITS: Tag = Tag::new(*b"BITS");

/// The golden file, written once by version 1 of the format and never written again. Every later version reads it.
const GOLDEN: &[u8] = include_bytes!("golden/v1/ringed.filter");

fn params(probes: u32, gamma: Gamma, delta: u32) -> RingedParams {
    RingedParams::new(probes, gamma, delta).unwrap()
}

/// Uniform hashes (SplitMix64). Different lists have no hash in common.
fn hashes(list: u64, n: u64) -> impl Iterator<Item = KeyHash> {
    (0..n).map(move |i| {
        let mut x = (list << 40 | i).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        KeyHash::new(x ^ x >> 31)
    })
}

/// A filter with room for `room` keys that holds `keys`.
fn filter_of(params: RingedParams, room: u64, keys: impl Iterator<Item = KeyHash>) -> RingedBloom {
    let mut filter = RingedBloom::with_size(params, room).unwrap();
    keys.for_each(|key| {
        filter.insert_hash(key).unwrap();
    });
    filter
}

fn file_of(filter: &RingedBloom) -> Vec<u8> {
    let mut file = Vec::new();
    AnyFilter::Ringed(filter.clone()).write_to(&mut file).unwrap();
    file
}

/// The filter of the paper's section 3, to the letter: V has nγ bits, and each key has T = h₀ mod n and τ = (γT + hᵢ)
/// mod γn. γ is g / 2³², rounded as docs/format.md specifies.
struct Paper {
    n: u128,
    g: u128,
    delta: u128,
    k: u32,
    v: Vec<bool>,
}

impl Paper {
    fn new(params: RingedParams, n: u64) -> Self {
        let g = (params.gamma() * 2f64.powi(32)) as u128;
        let m = (u128::from(n) * g).div_ceil(1 << 32);
        Self { n: n.into(), g, delta: params.delta().into(), k: params.probes(), v: vec![false; m as usize] }
    }

    fn bits(&self, key: KeyHash) -> Vec<usize> {
        let h0 = key.get();
        let y = (h0 ^ h0 >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let r = y ^ y >> 32;
        let multipliers = std::iter::successors(Some(1u64), |m| Some(m.wrapping_mul(2_862_933_555_777_941_757)));
        let t = u128::from(h0) % self.n;
        let window = (self.delta * self.g) >> 32;
        multipliers
            .take(self.k as usize)
            .map(|multiplier| (u128::from(r.wrapping_mul(multiplier) >> 32) * window) >> 32)
            .map(|h| ((((t * self.g) >> 32) + h) % self.v.len() as u128) as usize)
            .collect()
    }

    fn insert(&mut self, key: KeyHash) {
        self.bits(key).into_iter().for_each(|bit| self.v[bit] = true);
    }

    fn contains(&self, key: KeyHash) -> bool {
        self.bits(key).into_iter().all(|bit| self.v[bit])
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.v.len().div_ceil(64) * 8];
        (0..self.v.len()).for_each(|i| bytes[i / 8] |= u8::from(self.v[i]) << (i % 8));
        bytes
    }
}

fn any_params() -> impl Strategy<Value = RingedParams> {
    let gamma = prop_oneof![
        Just(Gamma::Whole),
        Just(Gamma::Exact),
        (1.0..100.0f64).prop_map(Gamma::Bits),
        (1..100u32).prop_map(|bits| Gamma::Bits(f64::from(bits))),
    ];
    let delta = prop_oneof![Just(1), 1..20u32, 1..2000u32, Just(100_000)];
    (1..=64u32, gamma, delta).prop_map(|(probes, gamma, delta)| params(probes, gamma, delta))
}

fn any_hash() -> impl Strategy<Value = KeyHash> {
    prop_oneof![4 => any::<u64>(), 1 => 0..3u64, 1 => (0..3u64).prop_map(|i| u64::MAX - i)].prop_map(KeyHash::new)
}

proptest! {
    #[test]
    fn every_bit_is_where_the_paper_puts_it(
        params in any_params(),
        n in prop_oneof![1..5u64, 1..300u64, 1..20_000u64],
        keys in prop::collection::vec(any_hash(), 0..100),
        asked in prop::collection::vec(any_hash(), 0..100),
    ) {
        let mut filter = RingedBloom::with_size(params, n).unwrap();
        let mut paper = Paper::new(params, n);
        for &key in &keys {
            let new = !paper.contains(key);
            paper.insert(key);
            prop_assert_eq!(RingedKey::new(key).hash(), key);
            prop_assert_eq!(filter.contains_key(&RingedKey::new(key)), filter.contains_hash(key));
            prop_assert_eq!(filter.insert_hash(key), Ok(new));
        }
        let file = file_of(&filter);
        let envelope = Envelope::open(&*file, "it").unwrap();
        prop_assert_eq!(envelope.read_section(&*file, BITS, usize::MAX).unwrap(), paper.bytes());
        prop_assert!(asked.iter().all(|&key| filter.contains_hash(key) == paper.contains(key)));
        let windows = (0..n).map(|t| {
            let ones = (0..u64::from(params.window())).filter(|&h| {
                paper.v[(((u128::from(t) * paper.g) >> 32) + u128::from(h)) as usize % paper.v.len()]
            });
            (ones.count() as f64 / f64::from(params.window())).powi(params.probes() as i32)
        });
        if n < 300 && params.delta() <= 2000 {
            let rate = windows.sum::<f64>() / n as f64;
            prop_assert!((filter.false_positive_rate() - rate).abs() <= 1e-9 * rate);
        }
    }

    #[test]
    fn any_sizes_in_a_file_give_a_filter_that_works_or_an_error(
        groups in prop_oneof![0..40u64, any::<u64>()],
        gamma in prop_oneof![(1..40u64).prop_map(|whole| whole << 32), (1u64 << 32)..(1 << 38), any::<u64>()],
        delta in prop_oneof![0..20u32, any::<u32>()],
        probes in 0..70u32,
        reserved in prop_oneof![9 => Just(0), 1 => any::<u64>()],
        bits in prop::collection::vec(any::<u8>(), 0..200),
        fitting in any::<bool>(),
    ) {
        let m = (u128::from(groups) * u128::from(gamma)).div_ceil(1 << 32);
        let mut bits = bits;
        if fitting && m < 1 << 16 {
            bits.resize(m.div_ceil(64) as usize * 8, 0);
            (m as usize..8 * bits.len()).for_each(|i| bits[i / 8] &= !(1 << (i % 8)));
        }
        let mut file = Vec::new();
        let mut out = EnvelopeWriter::new(&mut file, Kind::RingedBloom, HashSpec::default()).unwrap();
        out.section(META, Align::Line).unwrap();
        for field in [groups, gamma, u64::from(delta) | u64::from(probes) << 32, reserved] {
            out.write_all(&field.to_le_bytes()).unwrap();
        }
        out.section(BITS, Align::Line).unwrap();
        out.write_all(&bits).unwrap();
        out.finish().unwrap();
        if let Ok(filter) = FilterRef::from_bytes(&file, "it") {
            let keys: Vec<_> = hashes(0, 50).collect();
            let one_by_one: Vec<_> = keys.iter().map(|&key| filter.contains_hash(key)).collect();
            let mut answers = Vec::new();
            filter.contains_all(&keys, &mut answers);
            prop_assert_eq!(answers, one_by_one);
            prop_assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
            prop_assert!(filter.intended_rate().is_some_and(|rate| (0.0..=1.0).contains(&rate)));
            let mut again = Vec::new();
            filter.write_to(&mut again).unwrap();
            prop_assert_eq!(again, file);
        }
    }
}

#[test]
fn sizes_are_those_of_the_formulas() {
    // The values of M(α, 1) for k = 1 to 11.
    let whole = [2, 3, 5, 6, 8, 9, 11, 12, 13, 15, 16];
    for (k, bits) in (1..).zip(whole) {
        let params = RingedParams::with_rate(0.5f64.powi(k), Gamma::Whole, 1000).unwrap();
        assert_eq!((params.probes(), params.gamma()), (k as u32, f64::from(bits)));
        assert_eq!((params.window(), params.bits(1344)), (1000 * bits, Ok(1344 * u64::from(bits))));
    }
    let exact = params(7, Gamma::Exact, 1000);
    assert_eq!((exact.window(), exact.bits(1_000_000)), (10_098, Ok(10_098_866)));
    assert_eq!(RingedParams::with_rate(0.01, Gamma::Exact, 1000), Ok(exact));
    assert_eq!(exact.bits(0), exact.bits(1));
    assert!(exact.bits(1 << 60).is_err());
}

#[test]
fn a_key_computed_once_serves_filters_of_every_size_and_every_rate() {
    let hashes: Vec<KeyHash> = hashes(0, 5000).collect();
    let keys: Vec<RingedKey> = hashes.iter().map(|&hash| RingedKey::new(hash)).collect();
    let mut answers = Vec::new();
    // The numbers of probes are less than, equal to and greater than the number that a `RingedKey` holds.
    for probes in [1, 5, 8, 9, 20, 64] {
        for (gamma, delta) in [(Gamma::Whole, 1), (Gamma::Exact, 10), (Gamma::Whole, 1000), (Gamma::Exact, 100_000)] {
            let params = params(probes, gamma, delta);
            for n in [0, 1, 2, 97, 1000, 5000] {
                let filter = filter_of(params, n as u64, hashes[..n].iter().copied());
                filter.contains_all_keys(&keys, &mut answers);
                assert!(answers[..n].iter().all(|&answer| answer), "{params}, {n} keys");
                assert!(keys.iter().zip(&answers).all(|(key, &answer)| filter.contains_key(key) == answer));
                assert!(hashes.iter().zip(&answers).all(|(&hash, &answer)| filter.contains_hash(hash) == answer));
            }
        }
    }
}

/// The mean false-positive rate of many filters of n keys. The rate of each filter is computed from its bits.
fn measured(params: RingedParams, n: u64, keys: u64) -> f64 {
    let filters = (keys / n).max(1);
    let rate = |list| filter_of(params, n, hashes(list, n)).false_positive_rate();
    (1..=filters).map(rate).sum::<f64>() / filters as f64
}

#[test]
fn the_formulas_are_as_near_to_the_measured_rate_as_they_say() {
    for delta in [1, 10, 100, 1000, 100_000] {
        for n in [1, 2, 10, 100, 1000, 10_000] {
            let params = params(7, Gamma::Whole, delta);
            let rate = measured(params, n, 60_000);
            let (refined, expected) = (params.expected_rate(n).unwrap(), ringed_rate_refined(7, n, delta.into(), 11.0));
            assert!((refined / expected - 1.0).abs() < 1e-9, "n = {n}, delta = {delta}: {refined}, {expected}");
            assert!(
                (refined / rate - 1.0).abs() < 0.06,
                "n = {n}, delta = {delta}: measured {rate}, refined {refined}"
            );
            let off = rate / ringed_rate(7, n, delta.into(), 11.0);
            let table = match (delta, n) {
                (1, 100..) => 1.43,
                (1, 10) => 1.46,
                (1, 2) => 1.67,
                (10, 100..) => 0.89,
                (_, 10) => 1.09,
                (_, 2) => 1.48,
                (_, 1) => 2.05,
                _ => 1.0,
            };
            assert!((off / table - 1.0).abs() < 0.06, "n = {n}, delta = {delta}: off by {off}");
        }
    }
}

#[test]
fn the_formulas_hold_for_a_million_keys() {
    let params = params(7, Gamma::Whole, 1000);
    let (rate, expected) = (measured(params, 1_000_000, 1), params.expected_rate(1_000_000).unwrap());
    assert!((expected / rate - 1.0).abs() < 0.01, "measured {rate}, expected {expected}");
}

#[test]
fn the_measured_rate_with_a_fractional_gamma_is_the_expected_one() {
    for (delta, n) in [(10, 10), (10, 5000), (100, 10), (1000, 100), (1000, 20_000), (100_000, 20_000)] {
        let params = params(7, Gamma::Exact, delta);
        let (rate, expected) = (measured(params, n, 40_000), params.expected_rate(n).unwrap());
        assert!((rate / expected - 1.0).abs() < 0.06, "n = {n}, delta = {delta}: measured {rate}, expected {expected}");
    }
}

#[test]
fn the_smallest_filter_of_a_rate_keeps_it_and_one_with_fewer_bits_does_not() {
    for (n, rate, delta) in
        [(30_000, 0.3, 1000), (30_000, 0.01, 100), (30_000, 1e-6, 1000), (100, 0.01, 1000), (20_000, 0.001, 1)]
    {
        let empty = RingedBloom::with_window(n, rate, delta).unwrap();
        assert!(empty.params().expected_rate(n).unwrap() <= rate, "n = {n}, {}", empty.params());
        let fewer = params(empty.probes(), Gamma::Bits(empty.params().gamma() - 0.01), delta);
        // With windows of one group, groups have whole numbers of bits, so there may be no smaller filter.
        assert!(delta == 1 || fewer.expected_rate(n).unwrap() > rate, "n = {n}, {}", empty.params());
        let measured = measured(empty.params(), n, 60_000);
        assert!((0.9..1.04).contains(&(measured / rate)), "n = {n}, {}: measured {measured}", empty.params());
    }
    // The groups of keys with equal hashes are computed separately.
    let finest = 1e6 * 2f64.powi(-64);
    let params = RingedBloom::with_rate(1_000_000, 2.0 * finest).unwrap().params();
    assert!(params.expected_rate(1_000_000).unwrap() <= finest * (1.0 + 1e-9));
}

#[test]
fn the_papers_formula_is_summed_exactly() {
    // The formula is summed term by term, where the binomial coefficients are integers that a float represents exactly.
    for (k, gamma) in [(1, 2.0), (7, 11.0), (11, 15.87)] {
        for n in 1..=40u64 {
            for delta in [1, 2, 3, 7, 39, 40, 41, 100, 1000] {
                let (rest, rounds) = (delta % n, delta / n * n);
                let mut coefficient = 1.0;
                let mut sum = 0.0;
                for t in 0..=n {
                    let chance =
                        (rest as f64 / n as f64).powi(t as i32) * ((n - rest) as f64 / n as f64).powi((n - t) as i32);
                    let load = f64::from(k) * (t + rounds) as f64 / (delta as f64 * gamma);
                    sum += coefficient * chance * (1.0 - (-load).exp()).powi(k);
                    coefficient *= (n - t) as f64 / (t + 1) as f64;
                }
                let rate = ringed_rate(k as u32, n, delta, gamma);
                assert!((rate / sum - 1.0).abs() < 1e-9, "k = {k}, n = {n}, delta = {delta}: {rate}, not {sum}");
            }
        }
    }
}

#[test]
fn formulas_end_and_are_probabilities_at_the_ends_of_their_ranges() {
    for (k, n, delta, gamma) in [
        (7, u64::MAX, 1, 11.0),
        (7, u64::MAX, u64::MAX, 11.0),
        (7, 1, u64::MAX, 11.0),
        (2, 1, 47, 1.0),
        (64, 1, 1, 1.0),
        (64, 2, u64::from(u32::MAX), 65536.0),
    ] {
        for rate in [ringed_rate(k, n, delta, gamma), ringed_rate_refined(k, n.min(1000), delta, gamma)] {
            assert!((0.0..=1.0).contains(&rate), "{k}, {n}, {delta}, {gamma}: {rate}");
        }
    }
    // A window that goes around the ring many times is as good as one that goes around once: a Bloom filter of the
    // ring's bits.
    let (rounds, one) = (ringed_rate_refined(7, 100, 1_000_000, 11.0), ringed_rate_refined(7, 100, 100, 11.0));
    assert!((rounds / one - 1.0).abs() < 1e-6, "{rounds}, {one}");
}

#[test]
fn rates_fall_to_the_limit_as_delta_grows_for_any_number_of_keys() {
    for (k, gamma) in [(3, 5.0), (7, 11.0), (11, 16.0), (64, 93.0)] {
        let limit = (1.0 - (-f64::from(k) / gamma).exp()).powi(k);
        for n in [1, 2, 10, 1000, 1_000_000, 10_000_000] {
            let rates = [1, 10, 100, 1000, 10_000, 10 * n].map(|delta| ringed_rate(k as u32, n, delta, gamma));
            assert!(rates.iter().all(|&rate| rate > 0.999_999 * limit && rate < 1.0), "n = {n}: {rates:?}");
            assert!(n < 100_000 || rates.is_sorted_by(|more, less| more > less), "n = {n}: {rates:?}");
            assert!((rates[5] / limit - 1.0).abs() < 1e-9, "n = {n}: {rates:?}, not {limit}");
        }
    }
    // A window of 1000 groups costs less than 1 %, as in figure 4.
    let large = ringed_rate(7, 100_000, 1000, 11.0) / ringed_rate(7, 100_000, 100_000, 11.0);
    assert!((1.008..1.010).contains(&large), "{large}");
}

#[test]
fn union_and_intersection_are_those_of_the_bits() {
    let params = params(5, Gamma::Exact, 100);
    let one = filter_of(params, 2000, hashes(0, 1000));
    let two = filter_of(params, 2000, hashes(0, 500).chain(hashes(1, 500)));
    let mut union = one.clone();
    union.union_with(&two).unwrap();
    assert_eq!(union, filter_of(params, 2000, hashes(0, 1000).chain(hashes(1, 500))));
    let mut both = one.clone();
    both.intersect_with(&two).unwrap();
    assert!(hashes(0, 500).all(|key| both.contains_hash(key)));
    let contained = |filter: &RingedBloom| hashes(2, 20_000).filter(|&key| filter.contains_hash(key)).count();
    assert!(contained(&both) <= contained(&one).min(contained(&two)));
    // The test covers filters over borrowed bytes too.
    let file = file_of(&two);
    let AnyFilter::Ringed(borrowed) = FilterRef::from_bytes(&file, "it").unwrap() else { panic!("another kind") };
    let mut again = one.clone();
    again.union_with(&borrowed).unwrap();
    assert_eq!(again, union);
}

#[test]
fn filters_that_do_not_fit_are_refused_with_both_named() {
    let of = |delta, n| RingedBloom::with_size(params(5, Gamma::Whole, delta), n).unwrap();
    let mut one = of(10, 100);
    for (other, named) in
        [(of(11, 100), "10 groups in a window and the other 11"), (of(10, 101), "100 groups and the other 101")]
    {
        let error = one.union_with(&other).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        assert_eq!(one.intersect_with(&other).unwrap_err().to_string(), error);
    }
    let salted = of(10, 100).hashed_by(HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 7 });
    let error = one.union_with(&salted).unwrap_err().to_string();
    assert!(error.contains("xxh3") && error.contains("siphash"), "{error}");
}

/// A filter with three keys in a ring of 5 groups of 7 / ln 2 bits, with windows of 2 groups.
fn golden() -> RingedBloom {
    let spec = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 0x0123_4567_89AB_CDEF };
    let mut filter = RingedBloom::with_size(params(7, Gamma::Exact, 2), 5).unwrap().hashed_by(spec);
    for key in ["one", "two", "three"] {
        filter.insert_hash(spec.hash(key.as_bytes())).unwrap();
    }
    filter
}

#[test]
fn today_reads_and_writes_the_bytes_of_version_1() {
    assert_eq!(file_of(&golden()), GOLDEN);
    let read = FilterRef::from_bytes(GOLDEN, "golden").unwrap();
    let AnyFilter::Ringed(filter) = &read else { panic!("another kind") };
    assert_eq!((filter.capacity(), filter.bits(), filter.params()), (5, 51, params(7, Gamma::Exact, 2)));
    let hash = |i: u32| filter.hash_spec().hash(&i.to_le_bytes());
    assert!(["one", "two", "three"].iter().all(|key| read.contains_hash(filter.hash_spec().hash(key.as_bytes()))));
    assert!((0..1000).all(|i| read.contains_hash(hash(i)) == golden().contains_hash(hash(i))));
}

#[test]
#[ignore = "writes the golden file, once for all"]
fn write_the_golden_file() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/ringed.filter"), file_of(&golden())).unwrap();
}
