//! Counting Bloom filters count, forget what is removed, and are united as their keys are.

use furui::filter::{CountingBloom, Filter, FilterMut, Mismatch};
use furui::{HashSpec, KeyHash};

fn key(i: u64) -> KeyHash {
    HashSpec::default().hash(&i.to_le_bytes())
}

#[test]
fn a_key_is_counted_as_often_as_it_is_there_or_more_up_to_the_maximum() {
    let mut filter = CountingBloom::with_rate(1000, 0.001).unwrap();
    for i in 0..1000 {
        (0..i % 20).for_each(|_| _ = filter.insert_hash(key(i)));
    }
    let too_high = (0..1000).filter(|&i| {
        let (count, truth) = (filter.count_hash(key(i)), (i % 20).min(15));
        assert!(count >= truth, "{i}: {count}, not {truth}");
        count > truth
    });
    assert!(too_high.count() <= 10);
    assert!(filter.remove_hash(key(7)) && filter.count_hash(key(7)) >= 6);
    assert_eq!(
        (1000..2000).filter(|&i| filter.count_hash(key(i)) > 0).count(),
        (1000..2000).filter(|&i| filter.contains_hash(key(i))).count()
    );
}

#[test]
fn what_is_removed_as_often_as_inserted_is_gone_and_the_rest_stays() {
    let mut filter = CountingBloom::from_parts(4000, 5, 8).unwrap();
    for _ in 0..3 {
        (0..200).for_each(|i| _ = filter.insert_hash(key(i)));
    }
    (0..100).for_each(|i| assert!((0..3).all(|_| filter.remove_hash(key(i)))));
    assert!((100..200).all(|i| filter.contains_hash(key(i))));
    (100..200).for_each(|i| assert!((0..3).all(|_| filter.remove_hash(key(i)))));
    assert!((0..10_000).all(|i| !filter.contains_hash(key(i))), "no counter is left");
    assert!(!filter.remove_hash(key(7)), "a visibly absent key is refused");
}

#[test]
fn a_counter_that_overflowed_sticks_so_nothing_is_missed() {
    // There are far more insertions than 2-bit counters can count.
    let mut filter = CountingBloom::from_parts(64, 3, 2).unwrap();
    (0..1000).for_each(|i| _ = filter.insert_hash(key(i)));
    (500..1000).for_each(|i| assert!(filter.remove_hash(key(i))));
    assert!((0..500).all(|i| filter.contains_hash(key(i))));
}

#[test]
fn a_union_holds_each_key_as_often_as_both_and_what_is_full_sticks() {
    for bits in [2, 4, 8] {
        let mut one = CountingBloom::from_parts(500, 3, bits).unwrap();
        let (mut other, mut both) = (one.clone(), one.clone());
        for i in 0..700 {
            let half = if i % 3 == 0 { &mut one } else { &mut other };
            half.insert_hash(key(i % 90)).unwrap();
            both.insert_hash(key(i % 90)).unwrap();
        }
        one.union_with(&other).unwrap();
        assert_eq!(one, both);
    }
}

#[test]
fn filters_that_do_not_fit_are_not_united_and_both_are_named() {
    let mut one = CountingBloom::from_parts(500, 3, 4).unwrap();
    for (other, expected) in [
        (CountingBloom::from_parts(501, 3, 4), ["500 counters", "the other 501"]),
        (CountingBloom::from_parts(500, 4, 4), ["3 probes", "the other 4"]),
        (CountingBloom::from_parts(500, 3, 8), ["4 bits", "the other 8"]),
    ] {
        let message = one.union_with(&other.unwrap()).unwrap_err().to_string();
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
    }
    let seeded = one.clone().hashed_by(HashSpec { seed: 77, ..HashSpec::default() });
    assert_eq!(one.union_with(&seeded), Err(Mismatch::Hash { ours: one.hash_spec(), theirs: seeded.hash_spec() }));
}

#[test]
fn the_measured_rate_is_the_formulas() {
    const KEYS: u64 = 20_000;
    const TRIALS: u64 = 400_000;
    let mut filter = CountingBloom::with_rate(KEYS, 0.01).unwrap();
    (0..KEYS).for_each(|i| _ = filter.insert_hash(key(i)));
    let hits = (0..TRIALS).filter(|&i| filter.contains_hash(key(KEYS + i))).count() as f64;
    let measured = hits / TRIALS as f64;

    let (m, k) = (filter.counters() as f64, f64::from(filter.probes()));
    let expected = (1.0 - (1.0 - 1.0 / m).powf(k * KEYS as f64)).powf(k);
    assert!(expected <= 0.01 && expected > 0.0099, "sized for {expected}");
    let sigma = (expected / TRIALS as f64).sqrt();
    // The fill varies from set to set by at most sqrt(fill (1 - fill) / m), and the rate by k times as much.
    let fill = expected.powf(1.0 / k);
    let between_sets = expected * k * ((1.0 - fill) / fill / m).sqrt();
    assert!((measured - expected).abs() < 3.0 * sigma.hypot(between_sets), "{measured}, by (1) {expected}");
    assert!((measured - filter.false_positive_rate()).abs() < 3.0 * sigma, "{measured}");
}
