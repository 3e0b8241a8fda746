use super::*;
use crate::filter::probes::positions;

fn key(i: u64) -> KeyHash {
    HashSpec::default().hash(&i.to_le_bytes())
}

#[test]
fn the_cursor_goes_round_whatever_the_numbers() {
    // A model of the filter handles one counter at a time.
    for (counters, decrements) in [(31, 7), (32, 32), (33, 33), (100, 37), (1000, 999), (4099, 300)] {
        let mut filter = StableBloomLight::from_parts(counters, 3, decrements).unwrap();
        let (mut model, mut cursor) = (vec![0u8; counters], 0);
        for i in 0..500 {
            _ = filter.insert_hash(key(i));
            for _ in 0..decrements {
                model[cursor] = model[cursor].saturating_sub(1);
                cursor = (cursor + 1) % counters;
            }
            positions(key(i), 3, counters).for_each(|position| model[position] = MAX);
            assert!(
                (0..counters).all(|at| filter.counters.cells.get(at) == model[at]),
                "m = {counters}, insertion {i}"
            );
        }
    }
}

#[test]
fn a_batch_does_what_its_keys_do_one_by_one() {
    let keys: Vec<KeyHash> = (0..5000u64).map(|i| key(i * i % 3001)).collect();
    let mut one_by_one = StableBloomLight::with_rate(10_000, 0.05).unwrap();
    let mut batches = one_by_one.clone();
    for batch in keys.chunks(701) {
        let expected = batch.iter().filter(|&&key| one_by_one.insert_hash(key).unwrap()).count() as u64;
        assert_eq!(batches.insert_all(batch), Ok(expected));
    }
    assert_eq!(batches, one_by_one);
}

#[test]
fn whole_rounds_empty_it() {
    let mut filter = StableBloomLight::with_rate(10_001, 0.01).unwrap();
    (0..3000).for_each(|i| _ = filter.insert_hash(key(i)));
    filter.decrement(3 * 10_001);
    assert_eq!(filter.counters.cells.count_nonzero(), 0);
}

#[test]
fn a_key_is_remembered_for_two_rounds_of_the_cursor() {
    let mut filter = StableBloomLight::with_rate(100_000, 0.01).unwrap();
    let two_rounds = 2 * filter.counters() as u64 / filter.decrements() as u64;
    for i in 0..3 * two_rounds {
        _ = filter.insert_hash(key(i));
        assert!(filter.contains_hash(key(i.saturating_sub(two_rounds))), "insertion {i}");
    }
}

#[test]
fn the_rate_comes_to_rest_where_the_formula_says() {
    const COUNTERS: usize = 1 << 16;
    const TRIALS: u64 = 400_000;
    for (probes, decrements) in [(4, 27), (4, 29), (2, 10), (6, 8)] {
        let mut filter = StableBloomLight::from_parts(COUNTERS, probes, decrements).unwrap();
        let four_rounds = 4 * COUNTERS / decrements;
        (0..four_rounds as u64).for_each(|i| _ = filter.insert_hash(key(i)));
        let hits = (0..TRIALS).filter(|&i| filter.contains_hash(key(1 << 40 | i))).count() as f64;
        let measured = hits / TRIALS as f64;

        // For the filter in its present state, the trials are independent.
        let now = filter.false_positive_rate();
        let sigma = (now * (1.0 - now) / TRIALS as f64).sqrt();
        assert!((measured - now).abs() < 3.0 * sigma, "k = {probes}: {measured}, as it stands {now}");
        // In a settled filter, every counter is above 0 with equal probability: the fill varies by at most sqrt(fill (1
        // - fill) / m).
        let rest = filter.stable_rate();
        let (k, fill) = (f64::from(probes), rest.powf(1.0 / f64::from(probes)));
        let of_state = rest * k * ((1.0 - fill) / fill / COUNTERS as f64).sqrt();
        assert!((measured - rest).abs() < 3.0 * sigma.hypot(of_state), "k = {probes}: {measured}, at rest {rest}");
    }
}

#[test]
fn with_rate_keeps_the_rate() {
    for (rate, probes, decrements) in [(0.01, 4, 27), (1e-5, 10, 66)] {
        let filter = StableBloomLight::with_rate(1 << 20, rate).unwrap();
        assert_eq!((filter.probes(), filter.decrements()), (probes, decrements));
        assert!(filter.stable_rate() <= rate && filter.stable_rate() > 0.9 * rate);
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_could_be() {
    assert!(StableBloomLight::with_rate(1000, 0.0).unwrap_err().to_string().contains("more than 0"));
    assert!(StableBloomLight::with_rate(1000, f64::NAN).is_err());
    assert!(StableBloomLight::with_rate(3, 0.01).unwrap_err().to_string().contains("from 5"));
    assert!(StableBloomLight::with_rate(20, 0.01).unwrap_err().to_string().contains("from 1 to 20"));
    assert!(StableBloomLight::with_rate(0, 0.01).is_err());
    assert!(StableBloomLight::from_parts(1000, 65, 10).unwrap_err().to_string().contains("from 1 to 64"));
    assert!(StableBloomLight::from_parts(usize::MAX, 4, 10).is_err());
}
