//! The properties that every filter promises, tested on every filter. To test a new filter, add a line to `FILTERS`
//! and, if its constructor can refuse parameters, to `REFUSALS` too.

use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, Concurrent, ConfigError, CountingBloom, FilterMut, Gamma, GrowingBloom,
    InsertError, Mismatch, QuotientFilter, RingedBloom, RingedParams, SplitBlockBloom, StableBloom, StableBloomLight,
    WindowBloom,
};
use furui::seen::Recent;
use furui::{HashAlgorithm, HashSpec, Hashes, KeyHash};

type Maker = fn() -> Box<dyn FilterMut>;

/// Every filter, new and empty, with room for [`ROOM`] keys at [`RATE`] or lower.
const FILTERS: &[(&str, Maker)] = &[
    ("BlockedBloom", || Box::new(BlockedBloom::with_rate(ROOM, RATE).unwrap())),
    ("BlockedBloom, two lines a key", || Box::new(BlockedBloom::from_parts(130, 11).unwrap())),
    ("Bloom", || Box::new(Bloom::with_rate(ROOM, RATE).unwrap())),
    ("Bloom, variable size", || Box::new(Bloom::variable_size(ROOM, RATE).unwrap())),
    ("Bloom, SHA-1", || Box::new(Bloom::with_rate(ROOM, RATE).unwrap().hashed_by(SHA1))),
    ("CountingBloom", || Box::new(CountingBloom::with_rate(ROOM, RATE).unwrap())),
    ("GrowingBloom", || Box::new(GrowingBloom::with_rate(RATE).unwrap())),
    ("QuotientFilter", || Box::new(QuotientFilter::with_rate(ROOM + 100, RATE).unwrap())),
    ("QuotientFilter, counting", || Box::new(QuotientFilter::with_rate(3 * ROOM, RATE).unwrap().counting())),
    ("SplitBlockBloom", || Box::new(SplitBlockBloom::with_rate(ROOM, RATE).unwrap())),
    ("RingedBloom", || Box::new(ringed(RATE, Gamma::Whole, 1000, ROOM).unwrap())),
    ("RingedBloom, fractional", || Box::new(ringed(RATE, Gamma::Exact, 1000, ROOM).unwrap())),
    ("RingedBloom, window beyond the ring", || Box::new(ringed(RATE, Gamma::Exact, 100_000, ROOM).unwrap())),
    ("RingedBloom, of a rate", || Box::new(RingedBloom::with_window(ROOM, RATE, 100).unwrap())),
    ("RingedBloom, n-divided", || Box::new(ringed(RATE, Gamma::Bits(30.5), 1, ROOM).unwrap())),
    ("StableBloom", || Box::new(StableBloom::with_rate(100_000, 2, RATE).unwrap())),
    ("StableBloomLight", || Box::new(StableBloomLight::with_rate(100_000, RATE).unwrap())),
    ("WindowBloom", || Box::new(WindowBloom::for_last(ROOM, RATE).unwrap())),
    ("WindowBloom, of time", || Box::new(WindowBloom::with_rate("1h".parse().unwrap(), ROOM / 20, RATE).unwrap())),
    ("Recent<u16, 8>", || Box::new(Recent::<u16, 8>::new(8192).unwrap())),
    ("Recent<u32>", || Box::new(Recent::<u32>::new(8192).unwrap())),
    ("Recent<u64, 1>", || Box::new(Recent::<u64, 1>::new(8192).unwrap())),
];

/// The result of a constructor for invalid parameters.
type Refusal = fn() -> Option<ConfigError>;

/// Parameters that each constructor must refuse.
const REFUSALS: &[(&str, Refusal)] = &[
    ("BlockedBloom, rate 0", || BlockedBloom::with_rate(ROOM, 0.0).err()),
    ("BlockedBloom, rate beyond the lines", || BlockedBloom::with_rate(ROOM, 1e-10).err()),
    ("BlockedBloom, too many keys", || BlockedBloom::with_rate(1 << 40, RATE).err()),
    ("BlockedBloom, no lines", || BlockedBloom::from_parts(0, 8).err()),
    ("BlockedBloom, 17 probes", || BlockedBloom::from_parts(2, 17).err()),
    ("BlockedBloom, one line without a second", || BlockedBloom::from_parts(3, 9).err()),
    ("BlockedBloom, more than any memory", || BlockedBloom::from_parts(1 << 34, 8).err()),
    ("Bloom, rate 0", || Bloom::with_rate(ROOM, 0.0).err()),
    ("Bloom, rate 1", || Bloom::variable_size(ROOM, 1.0).err()),
    ("Bloom, rate beyond the hash", || Bloom::with_rate(ROOM, 1e-18).err()),
    ("Bloom, too many keys", || Bloom::with_rate(1 << 50, RATE).err()),
    ("Bloom, no bits", || Bloom::from_parts(0, 3).err()),
    ("Bloom, 65 probes", || Bloom::from_parts(100, 65).err()),
    ("Bloom, more than any memory", || Bloom::from_parts(1 << 43, 3).err()),
    ("CountingBloom, rate 0", || CountingBloom::with_rate(ROOM, 0.0).err()),
    ("CountingBloom, rate 1", || CountingBloom::with_rate(ROOM, 1.0).err()),
    ("CountingBloom, rate beyond the hash", || CountingBloom::with_rate(ROOM, 1e-18).err()),
    ("CountingBloom, too many keys", || CountingBloom::with_rate(1 << 50, RATE).err()),
    ("CountingBloom, 3 bits", || CountingBloom::from_parts(100, 3, 3).err()),
    ("GrowingBloom, rate 1", || GrowingBloom::with_rate(1.0).err()),
    ("GrowingBloom, no rate", || GrowingBloom::with_rate(f64::NAN).err()),
    ("GrowingBloom, rate beyond the hash", || GrowingBloom::with_rate(1e-15).err()),
    ("QuotientFilter, rate 0", || QuotientFilter::with_rate(ROOM, 0.0).err()),
    ("QuotientFilter, rate beyond the hash", || QuotientFilter::with_rate(ROOM, 1e-18).err()),
    ("QuotientFilter, too many keys", || QuotientFilter::with_rate(1 << 50, RATE).err()),
    ("QuotientFilter, 64 bits in one slot", || QuotientFilter::with_fingerprint_bits(1, 64).err()),
    ("SplitBlockBloom, rate 0", || SplitBlockBloom::with_rate(ROOM, 0.0).err()),
    ("SplitBlockBloom, rate beyond the block", || SplitBlockBloom::with_rate(ROOM, 1e-9).err()),
    ("SplitBlockBloom, too many keys", || SplitBlockBloom::with_rate(1 << 40, RATE).err()),
    ("SplitBlockBloom, no blocks", || SplitBlockBloom::from_parts(0).err()),
    ("SplitBlockBloom, more than Parquet takes", || SplitBlockBloom::for_parquet(1 << 28, RATE).err()),
    ("RingedBloom, rate 0", || ringed(0.0, Gamma::Whole, 1000, ROOM).err()),
    ("RingedBloom, rate 1", || ringed(1.0, Gamma::Whole, 1000, ROOM).err()),
    ("RingedBloom, no window", || ringed(RATE, Gamma::Whole, 0, ROOM).err()),
    ("RingedBloom, window too long", || ringed(RATE, Gamma::Whole, u32::MAX, ROOM).err()),
    ("RingedBloom, half a bit", || ringed(RATE, Gamma::Bits(0.5), 1000, ROOM).err()),
    ("RingedBloom, no number of bits", || ringed(RATE, Gamma::Bits(f64::NAN), 1000, ROOM).err()),
    ("RingedBloom, too many bits", || ringed(RATE, Gamma::Bits(1e300), 1000, ROOM).err()),
    ("RingedBloom, too many probes", || RingedParams::new(65, Gamma::Whole, 1000).err()),
    ("RingedBloom, rate beyond the hash", || RingedBloom::with_rate(ROOM, 1e-18).err()),
    ("RingedBloom, too many keys", || ringed(RATE, Gamma::Whole, 1000, 1 << 50).err()),
    ("RingedBloom, more than any memory", || ringed(RATE, Gamma::Bits(65536.0), 1000, 1 << 27).err()),
    ("StableBloom, rate 2", || StableBloom::with_rate(1000, 2, 2.0).err()),
    ("StableBloom, no counters", || StableBloom::with_rate(0, 2, RATE).err()),
    ("StableBloomLight, rate -1", || StableBloomLight::with_rate(1000, -1.0).err()),
    ("StableBloomLight, P above m", || StableBloomLight::from_parts(1000, 4, 1001).err()),
    ("CountingBloom, more than any memory", || CountingBloom::from_parts(1 << 40, 3, 8).err()),
    ("StableBloomLight, too many counters", || StableBloomLight::with_rate(1 << 50, RATE).err()),
    ("WindowBloom, no keys", || WindowBloom::for_last(0, RATE).err()),
    ("WindowBloom, rate 0", || WindowBloom::for_last(ROOM, 0.0).err()),
    ("WindowBloom, rate 1", || WindowBloom::for_last(ROOM, 1.0).err()),
    ("WindowBloom, rate beyond the hash", || WindowBloom::for_last(ROOM, 1e-17).err()),
    ("WindowBloom, too many keys", || WindowBloom::for_last(1 << 50, RATE).err()),
    ("WindowBloom, more than any memory", || WindowBloom::for_last(1 << 38, RATE).err()),
    ("Recent, more than any memory", || Recent::<u64>::new(1 << 40).err()),
    ("Recent, one set", || Recent::<u16>::new(4).err()),
];

fn ringed(rate: f64, gamma: Gamma, delta: u32, keys: u64) -> Result<RingedBloom, ConfigError> {
    RingedBloom::with_size(RingedParams::with_rate(rate, gamma, delta)?, keys)
}

const SHA1: HashSpec = HashSpec { algorithm: HashAlgorithm::Sha1, seed: 0 };

const ROOM: u64 = 5000;
const RATE: f64 = 0.01;

/// Hashes that a filter might mistake for its empty slots, or might get wrong by its masks or by rounding.
const EXTREMES: [u64; 6] = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 32];

/// `n` keys. Lists with different `list` have no key in common.
fn keys(list: u64, n: u64) -> Vec<KeyHash> {
    (0..n).map(|i| HashSpec::default().hash(&(list << 32 | i).to_le_bytes())).collect()
}

/// A stream in which keys repeat, after few or many other keys.
fn stream() -> Vec<KeyHash> {
    let keys = keys(0, ROOM);
    let pick = |i: usize| keys[(i * 7919 + i * i % 211) % keys.len()];
    (0..2 * keys.len()).map(pick).collect()
}

fn each(law: impl Fn(&str, Maker)) {
    for &(name, maker) in FILTERS {
        law(name, maker);
    }
}

#[test]
fn an_empty_filter_contains_nothing() {
    each(|name, new| {
        let filter = new();
        assert!(keys(0, 1000).iter().all(|&key| !filter.contains_hash(key)), "{name}");
        assert_eq!(filter.false_positive_rate(), 0.0, "{name}");
        for extreme in EXTREMES {
            assert!(!filter.contains_hash(KeyHash::new(extreme)), "{name}: hash {extreme:#x}");
        }
    });
}

#[test]
fn what_was_inserted_last_is_contained() {
    each(|name, new| {
        let mut filter = new();
        for key in stream().into_iter().chain(EXTREMES.map(KeyHash::new)) {
            filter.insert_hash(key).unwrap();
            assert!(filter.contains_hash(key), "{name}: {key:?}");
        }
    });
}

#[test]
fn what_was_ever_inserted_is_contained_unless_it_forgets() {
    each(|name, new| {
        let mut filter = new();
        let keys = keys(0, ROOM);
        for &key in &keys {
            filter.insert_hash(key).unwrap();
        }
        let kept = keys.iter().filter(|&&key| filter.contains_hash(key)).count();
        assert!(filter.forgets() || kept == keys.len(), "{name}: {kept} of {}", keys.len());
    });
}

#[test]
fn insert_says_new_exactly_if_the_filter_did_not_contain_it() {
    each(|name, new| {
        let mut filter = new();
        let mut seen = std::collections::HashSet::new();
        for key in stream() {
            let contained = filter.contains_hash(key);
            let called_new = filter.insert_hash(key).unwrap();
            assert_eq!(called_new, !contained, "{name}");
            let really_new = seen.insert(key);
            assert!(filter.forgets() || really_new || !called_new, "{name}: a present key was called new");
        }
    });
}

#[test]
fn contains_all_is_contains_one_by_one() {
    each(|name, new| {
        let mut filter = new();
        for key in keys(0, ROOM / 2) {
            filter.insert_hash(key).unwrap();
        }
        for length in [0, 1, 7, 64, 65, 1000, ROOM] {
            let asked = keys(0, length);
            let mut answers = vec![true; 3];
            filter.contains_all(&asked, &mut answers);
            let one_by_one: Vec<bool> = asked.iter().map(|&key| filter.contains_hash(key)).collect();
            assert_eq!(answers, one_by_one, "{name}, {length} keys");
        }
    });
}

#[test]
fn insert_all_is_insert_one_by_one() {
    each(|name, new| {
        let (mut batches, mut one_by_one) = (new(), new());
        for batch in stream().chunks(1501) {
            // A quotient filter sorts a batch: the number of new keys in it is specified, but not which keys they are.
            let expected = batch.iter().filter(|&&key| one_by_one.insert_hash(key).unwrap()).count();
            assert_eq!(batches.insert_all(batch), Ok(expected as u64), "{name}");
        }
        let asked: Vec<KeyHash> = [keys(0, ROOM), keys(1, ROOM)].concat();
        assert!(asked.iter().all(|&key| batches.contains_hash(key) == one_by_one.contains_hash(key)), "{name}");
    });
}

#[test]
fn the_measured_rate_is_the_stated_one() {
    const TRIALS: u64 = 100_000;
    each(|name, new| {
        let mut filter = new();
        for key in keys(0, ROOM) {
            filter.insert_hash(key).unwrap();
        }
        // With the filter fixed, each lookup is a coin toss with the stated rate.
        let rate = filter.false_positive_rate();
        assert!((0.0..=1.1 * RATE).contains(&rate), "{name}: {rate}");
        let hits = keys(1, TRIALS).iter().filter(|&&key| filter.contains_hash(key)).count() as f64;
        let expected = rate * TRIALS as f64;
        assert!(
            (hits - expected).abs() <= 3.0 * expected.sqrt(),
            "{name}: {hits} false positives, {expected} expected"
        );
    });
}

#[test]
fn equal_insertions_give_equal_answers() {
    each(|name, new| {
        let (mut one, mut two) = (new(), new());
        for key in stream() {
            assert_eq!(one.insert_hash(key), two.insert_hash(key), "{name}");
        }
        assert!(keys(1, 50_000).iter().all(|&key| one.contains_hash(key) == two.contains_hash(key)), "{name}");
    });
}

/// Checks that `$filter` accepts a batch of hashes of its own spec, with the same results as for the keys one by one,
/// and refuses a batch of any other spec.
macro_rules! assert_own_hashes_only {
    ($filter:expr) => {{
        let filter = &mut $filter;
        let (spec, other) = (filter.hash_spec(), HashSpec { seed: 9, ..filter.hash_spec() });
        let own: Hashes = spec.hasher().hash_all(["以前", "珠玉"]);
        let foreign = other.hasher().hash_all(["以前", "珠玉"]);
        let (mismatch, mut answers) = (Mismatch::Hash { ours: spec, theirs: other }, vec![true]);
        assert_eq!(filter.contains_hashes(&foreign, &mut answers), Err(mismatch));
        assert_eq!(answers, [true], "unchanged");
        assert_eq!(filter.insert_hashes(&foreign).map_err(InsertError::from), Err(InsertError::Mismatch(mismatch)));
        filter.contains_hashes(&own, &mut answers).unwrap();
        assert_eq!(answers, [false, false], "nothing was inserted");
        assert_eq!(filter.insert_hashes(&own).unwrap(), 2);
        filter.contains_hashes(&own, &mut answers).unwrap();
        assert!(answers == [true, true] && filter.contains("以前") && filter.contains("珠玉"));
        assert_eq!(filter.insert_hashes(&own).unwrap(), 0);
    }};
}

#[test]
fn hashes_of_another_spec_are_an_error_for_every_kind_of_filter() {
    assert_own_hashes_only!(Bloom::with_rate(ROOM, RATE).unwrap());
    assert_own_hashes_only!(Bloom::with_rate(ROOM, RATE).unwrap().hashed_by(SHA1));
    assert_own_hashes_only!(BlockedBloom::with_rate(ROOM, RATE).unwrap());
    assert_own_hashes_only!(SplitBlockBloom::with_rate(ROOM, RATE).unwrap());
    assert_own_hashes_only!(RingedBloom::with_rate(ROOM, RATE).unwrap());
    assert_own_hashes_only!(CountingBloom::with_rate(ROOM, RATE).unwrap());
    assert_own_hashes_only!(StableBloom::with_rate(100_000, 2, RATE).unwrap());
    assert_own_hashes_only!(StableBloomLight::with_rate(100_000, RATE).unwrap());
    assert_own_hashes_only!(GrowingBloom::with_rate(RATE).unwrap());
    assert_own_hashes_only!(WindowBloom::for_last(ROOM, RATE).unwrap());
    assert_own_hashes_only!(QuotientFilter::with_rate(ROOM, RATE).unwrap());
    assert_own_hashes_only!(Concurrent::new(Bloom::with_rate(ROOM, RATE).unwrap()).unwrap());
    assert_own_hashes_only!(Concurrent::new(BlockedBloom::with_rate(ROOM, RATE).unwrap()).unwrap());
    let mut any =
        AnyFilter::from(QuotientFilter::with_rate(ROOM, RATE).unwrap().hashed_by(HashSpec::random()).counting());
    assert_own_hashes_only!(any);
    let (own, foreign) =
        [any.hash_spec(), HashSpec::default()].map(|spec| spec.hasher().hash_all(["以前", "?"])).into();
    assert!(matches!(any.remove_hashes(&foreign), Err(ConfigError::Mismatch(Mismatch::Hash { .. }))));
    assert_eq!(any.remove_hashes(&own), Ok(1));
    // The filter keeps a copy for each insertion above.
    while any.remove("以前").unwrap() {}
    assert!(!any.contains("以前") && any.contains("珠玉"));
}

#[test]
fn parameters_that_cannot_be_are_refused_with_what_can() {
    for (name, make) in REFUSALS {
        let error = make().unwrap_or_else(|| panic!("{name} was accepted"));
        assert!(
            ["from", "more than", "less than", "must be", "one of", "ask for"]
                .iter()
                .any(|hint| error.to_string().contains(hint)),
            "{name}: {error}"
        );
    }
}
