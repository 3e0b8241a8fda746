//! Quotient pages compared with sorted sets: they are exact and as full as possible, and any bytes can be decoded
//! without a panic.

use std::collections::BTreeSet;

use furui::format::Problem;
use furui::raw::{PAGE_BYTES, Page, RemainderBits};
use furui::store::Fingerprints;
use proptest::collection::vec;
use proptest::prelude::*;

/// Strategy for sets of hashes: uniform, dense, in clusters, and with the smallest and largest hashes.
fn keys() -> impl Strategy<Value = Vec<u64>> {
    let dense = (any::<u64>(), vec(1..4u64, 1..2000)).prop_map(|(start, steps)| {
        let mut key = start;
        steps
            .into_iter()
            .map(|step| {
                key = key.saturating_add(step);
                key
            })
            .collect()
    });
    let clusters = vec((any::<u64>(), 0..60u32, vec(any::<u64>(), 1..40)), 1..20).prop_map(|clusters| {
        clusters.iter().flat_map(|(top, shift, low)| low.iter().map(move |low| top ^ low >> shift)).collect()
    });
    prop_oneof![
        vec(any::<u64>(), 1..2000),
        dense,
        clusters,
        Just(vec![0]),
        Just(vec![u64::MAX]),
        Just(vec![0, u64::MAX])
    ]
    .prop_map(|keys: Vec<u64>| BTreeSet::from_iter(keys).into_iter().collect::<Vec<u64>>())
    .prop_filter("some keys", |keys| !keys.is_empty())
}

fn widths() -> impl Strategy<Value = RemainderBits> {
    (RemainderBits::MIN..=RemainderBits::MAX).prop_map(|bits| RemainderBits::new(bits).unwrap())
}

/// The size of a page of `keys`, by the formula of docs/format.md.
fn page_size(keys: &[u64], bits: RemainderBits) -> u128 {
    let steps = (keys[keys.len() - 1] >> bits.get()) - (keys[0] >> bits.get());
    let unary = (u128::from(steps) + keys.len() as u128).div_ceil(8);
    // The unary part is read in words, and may not reach into the last two bytes.
    let beyond = if unary > 4088 { PAGE_BYTES as u128 } else { 0 };
    6 + unary + (keys.len() as u128 * u128::from(bits.get())).div_ceil(8) + beyond
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn a_page_holds_its_keys_and_no_others(keys in keys(), bits in widths(), others in vec(any::<u64>(), 50)) {
        let mut bytes = [0xA5; PAGE_BYTES];
        let taken = Page::encode(&keys, bits, &mut bytes);
        let (inside, outside) = keys.split_at(taken);
        let page = Page::new(&bytes, keys[0], bits).unwrap();
        prop_assert_eq!(page.check(), Ok(()));
        let elsewhere = Page::new(&bytes, keys[0] ^ 1 << bits.get(), bits).unwrap();
        prop_assert_eq!(elsewhere.check(), Err(Problem::Checksum), "a page that lies where another belongs");
        prop_assert_eq!(page.len(), taken);
        prop_assert_eq!(page.first(), keys[0]);

        let mut decoded = vec![7];
        page.decode(&mut decoded).unwrap();
        prop_assert_eq!(decoded[0], 7, "decoding appends");
        prop_assert_eq!(&decoded[1..], inside);

        for &key in inside {
            prop_assert!(page.contains(key));
            for near in [key.wrapping_sub(1), key.wrapping_add(1), key ^ 1 << bits.get()] {
                prop_assert_eq!(page.contains(near), inside.binary_search(&near).is_ok());
            }
        }
        for key in outside.iter().take(50).chain(&others) {
            prop_assert_eq!(page.contains(*key), inside.binary_search(key).is_ok());
        }
    }

    #[test]
    fn a_page_is_as_full_as_it_can_be(keys in keys(), bits in widths()) {
        let taken = Page::encode(&keys, bits, &mut [0; PAGE_BYTES]);
        prop_assert!(taken == 1 || page_size(&keys[..taken], bits) <= PAGE_BYTES as u128);
        prop_assert!(taken == keys.len() || page_size(&keys[..=taken], bits) > PAGE_BYTES as u128);
        prop_assert!(taken <= bits.most_keys());
    }

    #[test]
    fn any_bytes_are_an_error_or_a_page_that_can_be_asked(
        mut bytes in vec(any::<u8>(), PAGE_BYTES),
        count in 0..17_000u16,
        first in prop_oneof![any::<u64>(), 0..1000u64],
        sparse in any::<bool>(),
        bits in widths(),
        hashes in vec(any::<u64>(), 20),
    ) {
        if sparse {
            bytes.iter_mut().for_each(|byte| *byte &= byte.wrapping_mul(3));
        }
        bytes[4..6].copy_from_slice(&count.to_le_bytes());
        let bytes: &[u8; PAGE_BYTES] = bytes[..].try_into().unwrap();
        if let Ok(page) = Page::new(bytes, first, bits) {
            prop_assert!(page.check().is_err());
            let mut decoded = vec![];
            let ascending = page.decode(&mut decoded).is_ok();
            prop_assert_eq!(decoded.len(), if ascending { page.len() } else { 0 });
            prop_assert!(decoded.is_sorted_by(|a, b| a < b));
            for hash in hashes {
                page.contains(hash);
                page.contains(page.first().wrapping_add(hash >> 20));
            }
        }
    }
}

#[test]
fn any_changed_byte_breaks_the_checksum() {
    let bits = RemainderBits::for_keys(1000, Fingerprints::EXACT);
    let keys: Vec<u64> = (0..500).map(|i| i * (u64::MAX / 1000)).collect();
    let mut bytes = [0; PAGE_BYTES];
    Page::encode(&keys, bits, &mut bytes);
    for at in 0..PAGE_BYTES {
        for change in [1, 0x80, 0xFF] {
            bytes[at] ^= change;
            match Page::new(&bytes, keys[0], bits) {
                Ok(page) => assert_eq!(page.check(), Err(Problem::Checksum)),
                Err(problem) => assert!(matches!(problem, Problem::Invalid(_))),
            }
            bytes[at] ^= change;
        }
    }
}

#[test]
fn remainders_are_as_wide_as_the_number_of_keys_asks() {
    // The remainder has ⌊64 − log₂ n⌋ bits, within 1 to 56.
    for (keys, bits) in [(0, 56), (1, 56), (256, 56), (257, 55), (1 << 20, 44), (100_000_000, 37), (u64::MAX, 1)] {
        assert_eq!(RemainderBits::for_keys(keys, Fingerprints::EXACT).get(), bits, "{keys} keys");
    }
    // The remainder has ⌊log₂ (m / n)⌋ bits for n of m fingerprints.
    let thousand = Fingerprints::with_rate(1_000_000, 1e-3).unwrap();
    for (keys, bits) in [(1, 29), (500_000, 10), (1_000_000, 9), (400_000_000, 1), (u64::MAX, 1)] {
        assert_eq!(RemainderBits::for_keys(keys, thousand).get(), bits, "{keys} keys");
    }
    assert_eq!(RemainderBits::new(0), None);
    assert_eq!(RemainderBits::new(57), None);
}

#[test]
fn uniform_keys_take_two_bits_more_than_their_remainders_at_most_three() {
    for keys in [1u64 << 20, (1 << 20) + 1, 3 << 19] {
        let bits = RemainderBits::for_keys(keys, Fingerprints::EXACT);
        let sample: Vec<u64> = (0..2000).map(|i| i * (u64::MAX / keys)).collect();
        let taken = Page::encode(&sample, bits, &mut [0; PAGE_BYTES]);
        let each = (PAGE_BYTES * 8) as f64 / taken as f64 - f64::from(bits.get());
        assert!((2.0..3.2).contains(&each), "{each} bits a key above the remainder at {keys} keys");
    }
}

#[test]
fn a_header_without_keys_or_with_more_than_fit_is_refused() {
    for bits in (RemainderBits::MIN..=RemainderBits::MAX).map(|bits| RemainderBits::new(bits).unwrap()) {
        let mut bytes = [0; PAGE_BYTES];
        Page::encode(&[7], bits, &mut bytes);
        assert!(Page::new(&bytes, 7, bits).is_ok());
        for count in [0, bits.most_keys() as u16 + 1, u16::MAX] {
            bytes[4..6].copy_from_slice(&count.to_le_bytes());
            assert!(Page::new(&bytes, 7, bits).is_err(), "{count} keys with {bits:?}");
        }
    }
}

#[test]
fn keys_that_are_equal_or_descend_are_an_error() {
    let bits = RemainderBits::new(56).unwrap();
    let mut bytes = [0; PAGE_BYTES];
    Page::encode(&[5, 6], bits, &mut bytes);
    for (second, ascends) in [(6, true), (5, false), (4, false)] {
        bytes[PAGE_BYTES - 7] = second;
        assert_eq!(Page::new(&bytes, 5, bits).unwrap().decode(&mut vec![]).is_ok(), ascends, "{second}");
    }
}

/// The unary part ends amid a word, and no bit separates it from the remainders, the first of which begins with a 1.
#[test]
fn behind_the_last_key_of_a_full_page_there_is_no_other_key() {
    let bits = RemainderBits::new(40).unwrap();
    let keys: Vec<u64> = (0..499).chain([12_220]).map(|quotient| quotient << 40 | 1).collect();
    let mut bytes = [0; PAGE_BYTES];
    assert_eq!(Page::encode(&keys, bits, &mut bytes), 500);
    assert_eq!(page_size(&keys, bits), PAGE_BYTES as u128);
    let page = Page::new(&bytes, keys[0], bits).unwrap();
    assert!(page.contains(keys[499]) && !page.contains(keys[499] + 1) && !page.contains(keys[499] + (1 << 40)));
}
