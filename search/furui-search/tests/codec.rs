//! Coded sets against plain sets: every coding finds the ids that are in both lists, takes the predicted bits, and
//! decodes any bytes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod predict;

use std::ops::RangeInclusive;

use furui::filter::{Gamma, RingedKey, RingedParams};
use furui_search::{
    CodecError, CodedSet, Coding, ContentId, Golomb, MAX_FILTER_BYTES, MAX_MATCHES, MAX_PER_CELL, MAX_SET, Matcher,
    Matches, Settlement, Wants, plan, settle,
};
use predict::{Size, predict};
use proptest::prelude::*;

/// An id with this head. Ids with the same head but different `rest` have different hashes.
fn id(head: u64, rest: u64) -> ContentId {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&head.swap_bytes().to_le_bytes());
    let mixed = (head ^ rest.rotate_left(32) ^ 0x5EED).wrapping_mul(0xD129_0DAC_6E5A_42B5);
    bytes[8..16].copy_from_slice(&(mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes());
    bytes[16..].copy_from_slice(&(rest as u32).to_le_bytes());
    ContentId::new(bytes)
}

/// `count` ids over the whole range of heads, determined by the seed.
fn uniform(seed: u64, count: u64) -> Vec<ContentId> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    };
    sorted((0..count).map(|_| id(next(), next())).collect())
}

fn sorted(mut ids: Vec<ContentId>) -> Vec<ContentId> {
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn intersection(a: &[ContentId], b: &[ContentId]) -> Vec<ContentId> {
    a.iter().copied().filter(|id| b.binary_search(id).is_ok()).collect()
}

fn matches(sent: &[u8], other: &[ContentId]) -> Result<Matches, CodecError> {
    let mut matcher = Matcher::new(CodedSet::decode(sent)?);
    matcher.feed(other)?;
    Ok(matcher.finish())
}

fn both(own: &[ContentId], settlement: &Settlement) -> Vec<ContentId> {
    settlement.both.iter().map(|&place| own[place as usize]).collect()
}

/// The ids in both lists, found through the codec. If a third message disagrees, the exchange is repeated with long
/// checks.
fn meet(own: &[ContentId], other: &[ContentId], coding: Coding) -> Result<Vec<ContentId>, CodecError> {
    let sent = CodedSet::encode(own, coding)?;
    let Matches { coded: back, session } = matches(&sent.bytes, other)?;
    let settlement = settle(own, coding, &back.bytes)?;
    let found = both(own, &settlement);
    let Some(claim) = settlement.claim else { return Ok(found) };
    if session.unwrap().confirm(&claim.rejected.bytes, claim.checksum)? {
        return Ok(found);
    }
    let Coding::Golomb(golomb) = coding else { unreachable!() };
    let again = Golomb { check_bits: plan::CHECK_BITS, three_messages: false, ..golomb };
    meet(own, other, Coding::Golomb(again))
}

fn ringed(probes: u32, gamma: Gamma, delta: u32) -> Coding {
    Coding::Ringed(RingedParams::new(probes, gamma, delta).unwrap())
}

fn any_coding() -> impl Strategy<Value = Coding> {
    prop_oneof![
        Just(Coding::Ids),
        (1u32..3000, 1u8..12).prop_map(|(bits, probes)| Coding::Fixed { bits, probes }),
        (1u32..12, any::<bool>(), 1u32..2000).prop_map(|(probes, whole, delta)| ringed(
            probes,
            if whole { Gamma::Whole } else { Gamma::Exact },
            delta
        )),
        any_golomb(40..=64, false).prop_map(Coding::Golomb),
        any_golomb(40..=64, true).prop_map(Coding::Golomb),
    ]
}

fn any_golomb(check_bits: RangeInclusive<u8>, three_messages: bool) -> impl Strategy<Value = Golomb> {
    (1u8..=64, check_bits, any::<u32>()).prop_map(move |(cell_bits, check_bits, salt)| Golomb {
        cell_bits,
        check_bits,
        salt,
        three_messages,
    })
}

/// Ids that are uniform, crowd around a place, or have few heads. Each crowd has at most as many ids as a cell may
/// have.
fn any_ids() -> impl Strategy<Value = Vec<ContentId>> {
    let uniform = (any::<u64>(), 0u64..3).prop_map(|(head, rest)| id(head, rest));
    let crowd = (0u64..40, 0u64..2).prop_map(|(head, rest)| id(0x7000_0000_0000_0000 + head, rest));
    let ends = (0u64..4, 0u64..3).prop_map(|(head, rest)| id(head.wrapping_sub(2), rest));
    let ids = prop_oneof![4 => uniform, 2 => crowd, 1 => ends];
    proptest::collection::vec(ids, 0..60).prop_map(sorted)
}

/// Two lists that have some ids in common.
fn any_lists() -> impl Strategy<Value = (Vec<ContentId>, Vec<ContentId>)> {
    (any_ids(), any_ids(), any_ids())
        .prop_map(|(a, b, common)| (sorted([&a[..], &common].concat()), sorted([&b[..], &common].concat())))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_coding_finds_what_is_in_both((own, other) in any_lists(), coding in any_coding()) {
        let found = match meet(&own, &other, coding) {
            // If a set has only two or four cells, even uniform ids exceed the limit of a cell.
            Err(CodecError::TooMany { what: "matches in one cell", .. }) => return Ok(()),
            found => found,
        };
        prop_assert_eq!(found, Ok(intersection(&own, &other)));
    }

    #[test]
    fn what_is_sent_has_the_size_that_is_predicted((own, other) in any_lists(), coding in any_coding()) {
        let sent = CodedSet::encode(&own, coding).unwrap();
        let Ok(Matches { coded: back, session }) = matches(&sent.bytes, &other) else { return Ok(()) };
        let claim = settle(&own, coding, &back.bytes).unwrap().claim;
        prop_assert_eq!(session.is_some(), claim.is_some());
        let predicted = predict(&own, &other, coding).unwrap();
        let size = |bits, bytes: &[u8]| Size { bits, bytes: bytes.len() as u64 };
        prop_assert_eq!(predicted.sent, size(sent.bits, &sent.bytes));
        prop_assert_eq!(predicted.back, size(back.bits, &back.bytes));
        prop_assert_eq!(predicted.claim, claim.map(|claim| size(claim.bits(), &claim.rejected.bytes)));
        prop_assert_eq!(predicted.both, intersection(&own, &other).len() as u64);
    }

    #[test]
    fn slices_are_as_good_as_the_whole_list(
        (own, other) in any_lists(),
        coding in any_coding(),
        slices in proptest::collection::vec(0usize..9, 0..30),
    ) {
        let sent = CodedSet::encode(&own, coding).unwrap().bytes;
        let Ok(whole) = matches(&sent, &other) else { return Ok(()) };
        let mut sliced = Matcher::new(CodedSet::decode(&sent).unwrap());
        let mut keyed = sliced.clone();
        let mut rest = &other[..];
        for len in slices.into_iter().chain([usize::MAX]) {
            let (slice, after) = rest.split_at(len.min(rest.len()));
            rest = after;
            sliced.feed(slice).unwrap();
            let keys: Vec<_> = slice.iter().map(|id| RingedKey::new(id.hash())).collect();
            keyed.feed_keys(slice, &keys).unwrap();
        }
        prop_assert_eq!(sliced.finish(), whole.clone());
        prop_assert_eq!(keyed.finish(), whole);
    }

    #[test]
    fn any_bytes_are_a_set_or_an_error(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
        tag in 0u8..6,
        (own, other) in any_lists(),
        coding in any_coding(),
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = tag;
        }
        if let Ok(answer) = matches(&bytes, &other) {
            let read = CodedSet::decode(&bytes).unwrap();
            // The answer to this set is also read as if it were an answer to another set, `own`.
            check_settlement(&own, read.coding(), &answer.coded.bytes);
        }
        check_settlement(&own, coding, &bytes);
    }

    #[test]
    fn whatever_is_cut_or_flipped_is_read_or_refused((own, other) in any_lists(), coding in any_coding()) {
        let sent = CodedSet::encode(&own, coding).unwrap().bytes;
        let Ok(Matches { coded: back, session }) = matches(&sent, &other) else { return Ok(()) };
        for len in 0..sent.len() {
            prop_assert!(CodedSet::decode(&sent[..len]).is_err(), "{} of {} bytes", len, sent.len());
        }
        for len in 0..back.bytes.len() {
            prop_assert!(settle(&own, coding, &back.bytes[..len]).is_err(), "{} of {} bytes", len, back.bytes.len());
        }
        prop_assert!(CodedSet::decode(&[&sent[..], &[0]].concat()).is_err());
        prop_assert!(settle(&own, coding, &[&back.bytes[..], &[0]].concat()).is_err());
        flips(&sent, |bytes| {
            if let Ok(answer) = matches(bytes, &other) {
                check_settlement(&own, CodedSet::decode(bytes).unwrap().coding(), &answer.coded.bytes);
            }
        });
        flips(&back.bytes, |bytes| check_settlement(&own, coding, bytes));
        if let Some(claim) = settle(&own, coding, &back.bytes).unwrap().claim {
            let session = session.unwrap();
            let rejected = &claim.rejected.bytes;
            prop_assert!((0..rejected.len()).all(|len| session.confirm(&rejected[..len], claim.checksum).is_err()));
            flips(rejected, |bytes| assert_ne!(session.confirm(bytes, claim.checksum), Ok(true)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// There are so many matches that a third message is worth it.
    #[test]
    fn a_confirmed_claim_is_the_intersection(
        seed: u64,
        (own, other, common) in (0u64..500, 0u64..3000, 200u64..500),
        cell_bits in 6u8..24,
        salt: u32,
    ) {
        let common = uniform(seed, common);
        let own = sorted([&uniform(seed ^ 1 << 40, own)[..], &common].concat());
        let other = sorted([&uniform(seed ^ 1 << 41, other)[..], &common].concat());
        let coding = Coding::Golomb(Golomb { cell_bits, check_bits: 40, salt, three_messages: true });
        let sent = CodedSet::encode(&own, coding).unwrap().bytes;
        let mut matcher = Matcher::new(CodedSet::decode(&sent).unwrap());
        if matcher.feed(&other).is_err() {
            return Ok(());
        }
        // Without room for a session, two messages suffice.
        let in_two = matcher.clone().without_session().finish();
        prop_assert!(in_two.session.is_none());
        let settlement = settle(&own, coding, &in_two.coded.bytes).unwrap();
        prop_assert_eq!((&both(&own, &settlement), settlement.claim), (&common, None));

        prop_assert!(matcher.matches() >= common.len());
        let Matches { coded: back, session } = matcher.finish();
        prop_assert!(back.bits < in_two.coded.bits);
        let settlement = settle(&own, coding, &back.bytes).unwrap();
        let found = both(&own, &settlement);
        prop_assert!(common.iter().all(|id| found.contains(id)), "nothing that is in both is lost");
        let (claim, session) = (settlement.claim.unwrap(), session.unwrap());
        if session.confirm(&claim.rejected.bytes, claim.checksum).unwrap() {
            prop_assert_eq!(found, common);
        }
        prop_assert_eq!(session.confirm(&claim.rejected.bytes, claim.checksum ^ 1), Ok(false));
        let predicted = predict(&own, &other, coding).unwrap();
        prop_assert_eq!((predicted.back.bits, predicted.claim.map(|claim| claim.bits)), (back.bits, Some(claim.bits())));
        let rejected = &claim.rejected.bytes;
        prop_assert!((0..rejected.len()).all(|len| session.confirm(&rejected[..len], claim.checksum).is_err()));
        flips(rejected, |bytes| assert_ne!(session.confirm(bytes, claim.checksum), Ok(true)));
        flips(&back.bytes, |bytes| check_settlement(&own, coding, bytes));
    }
}

/// Flips each bit in turn; if there are many bytes, only some of the bits.
fn flips(bytes: &[u8], mut with: impl FnMut(&[u8])) {
    let step = 1 + bytes.len() / 40;
    let mut bytes = bytes.to_vec();
    for bit in (0..8 * bytes.len()).step_by(step) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        with(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Checks that reading an answer gives an error, or ascending places of own ids.
fn check_settlement(own: &[ContentId], coding: Coding, bytes: &[u8]) {
    if let Ok(Settlement { both, .. }) = settle(own, coding, bytes) {
        assert!(both.is_sorted_by(|a, b| a < b) && both.iter().all(|&place| (place as usize) < own.len()));
    }
}

const GOLOMB: Golomb = Golomb { cell_bits: 8, check_bits: 40, salt: 7, three_messages: false };

#[test]
fn ids_that_crowd_one_cell_are_found_up_to_the_limit_and_refused_beyond_with_the_way_out() {
    let crowd = |count: u64| sorted((0..count).map(|rest| id(1 << 40, rest)).collect());
    let most = MAX_PER_CELL as u64;
    let coding = Coding::Golomb(GOLOMB);
    assert_eq!(meet(&crowd(1000), &crowd(most), coding), Ok(crowd(most)));
    assert_eq!(meet(&crowd(1), &crowd(most), coding), Ok(crowd(1)));
    let error = meet(&crowd(1), &crowd(most + 1), coding).unwrap_err();
    assert_eq!(error.to_string(), "more than 64 matches in one cell: send the set as ids");
    assert_eq!(meet(&crowd(1), &crowd(most + 1), Coding::Ids), Ok(crowd(1)));
}

#[test]
fn the_plan_has_no_cell_crowd_and_tells_ids_apart_whatever_the_sizes() {
    for (own, other) in [(20_000, 200), (20_000, 2000), (3000, 60), (1, 20_000), (200, 20_000), (0, 3000), (2000, 0)] {
        let common = uniform(own + other, own.min(other) / 2);
        let own = sorted([&uniform(own, own)[..], &common].concat());
        let other = sorted([&uniform(other + 1, other)[..], &common].concat());
        for wants in [Wants::Best, Wants::Ringed { probes: None, delta: 1000 }] {
            let coding = plan::choose(wants, own.len() as u64, other.len() as u64, 9);
            assert_eq!(meet(&own, &other, coding), Ok(intersection(&own, &other)), "{coding:?}");
        }
    }
    // If each cell has many ids of the set, there are more check bits.
    let check_bits = |own, other| match plan::golomb(own, other, 1) {
        Coding::Golomb(golomb) => golomb.check_bits,
        _ => panic!(),
    };
    // 2²⁸ pairs in 2⁷ cells are 2²¹ pairs a cell; 2⁴⁵ pairs in 2²⁶ cells are 2¹⁹.
    assert_eq!((check_bits(1000, 1000), check_bits(1 << 20, 256), check_bits(1 << 24, 1 << 21)), (40, 53, 51));
}

#[test]
fn answers_that_break_the_rules_are_refused() {
    let own = uniform(1, 100);
    let malformed = |coding, bytes: &[u8], what| {
        let error = settle(&own, coding, bytes).unwrap_err();
        assert!(matches!(error, CodecError::Malformed(_)) && error.to_string().contains(what), "{error}");
    };
    let ids = |ids: &[ContentId]| {
        let mut bytes = vec![ids.len() as u8];
        ids.iter().for_each(|id| bytes.extend(id.as_bytes()));
        bytes
    };
    let fixed = Coding::Fixed { bits: 100, probes: 3 };
    malformed(fixed, &ids(&[own[1], own[0]]), "order");
    malformed(fixed, &ids(&[own[1], own[1]]), "order");
    malformed(fixed, &[&ids(&[own[0]])[..], &[0]].concat(), "number of ids");
    malformed(fixed, &[0x81, 0], "number of matches");
    malformed(fixed, &[0x81, 0x80, 0x10], "too many matches");
    // A single rank below 100 has the Rice parameter 6, so the quotient 2 gives a rank of 128 or more.
    malformed(Coding::Ids, &[1, 0b100, 0], "ranks");
    malformed(Coding::Ids, &[101], "ranks");
    // Each of 128 matches of rank 0 without checks is coded as a single 1 bit.
    let golomb = Coding::Golomb(Golomb { check_bits: 0, ..GOLOMB });
    malformed(golomb, &[&[0x80, 1][..], &[0xFF; 16]].concat(), "one cell");
    malformed(golomb, &[1, 0, 0, 0, 0, 0, 0, 0, 0], "out of range");
    malformed(golomb, &[0, 0], "after the last");
    // An id that is a false positive of the filter causes no error, and is not taken to be in both lists.
    let strangers = uniform(2, 10);
    assert_eq!(settle(&own, fixed, &ids(&strangers)).unwrap().both, []);
}

#[test]
fn every_limit_is_kept() {
    let too_many = |result: Result<(), CodecError>, expected: &str| {
        let error = result.unwrap_err();
        assert!(matches!(error, CodecError::TooMany { what, .. } if what == expected), "{error}");
    };
    let many: Vec<_> = (0..=MAX_SET as u64).map(|i| id(i << 40, 0)).collect();
    let encode = |ids: &[ContentId], coding| CodedSet::encode(ids, coding).map(drop);
    for coding in [Coding::Ids, ringed(7, Gamma::Exact, 100), Coding::Golomb(GOLOMB)] {
        too_many(encode(&many, coding), "ids in a set");
    }
    too_many(encode(&many[..2], Coding::Fixed { bits: u32::MAX, probes: 3 }), "bytes of a filter");
    too_many(encode(&many[..2000], ringed(7, Gamma::Bits(65536.0), 1)), "bytes of a filter");

    // The sizes that a peer states are compared with the same limits before memory is allocated.
    let decode = |bytes: &[u8]| CodedSet::decode(bytes).map(drop);
    let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
    too_many(decode(&[&[0][..], &huge].concat()), "ids in a set");
    too_many(decode(&[&[1, 3][..], &huge].concat()), "bytes of a filter");
    too_many(decode(&[&[3, 8, 40][..], &[0; 4], &huge].concat()), "ids in a set");
    let mut long = CodedSet::encode(&[], Coding::Golomb(GOLOMB)).unwrap().bytes;
    long.resize(MAX_FILTER_BYTES + 100, 0);
    too_many(decode(&long), "bytes of a filter");

    // This filter has all bits set.
    let all = Coding::Fixed { bits: 1, probes: 1 };
    let sent = CodedSet::encode(&many[..1], all).unwrap();
    too_many(matches(&sent.bytes, &many).map(drop), "matches");
    let back = matches(&sent.bytes, &many[..MAX_MATCHES]).unwrap().coded;
    assert_eq!(settle(&many[..1], all, &back.bytes).unwrap().both, [0]);
}

#[test]
fn parameters_and_sets_that_cannot_be_are_refused_with_the_reason() {
    let own = uniform(3, 10);
    let refused = |own: &[ContentId], coding, reason| {
        let error = CodedSet::encode(own, coding).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    };
    refused(&[own[1], own[0]], Coding::Ids, "sort them");
    refused(&[own[0], own[0]], Coding::Ids, "sort them");
    refused(&own, Coding::Fixed { bits: 0, probes: 1 }, "at least 1 bit");
    refused(&own, Coding::Fixed { bits: 9, probes: 65 }, "1 to 64 probes");
    for (golomb, reason) in [
        (Golomb { cell_bits: 0, ..GOLOMB }, "cells of 1 to 64"),
        (Golomb { cell_bits: 65, ..GOLOMB }, "cells of 1 to 64"),
        (Golomb { check_bits: 65, ..GOLOMB }, "checks of 0 to 64"),
    ] {
        refused(&own, Coding::Golomb(golomb), reason);
    }
    let sent = CodedSet::encode(&own, ringed(7, Gamma::Exact, 10)).unwrap();
    let mut matcher = Matcher::new(CodedSet::decode(&sent.bytes).unwrap());
    assert_eq!(matcher.feed_keys(&own, &[]), Err(CodecError::Keys { keys: 0, ids: 10 }));
}

#[test]
fn the_paper_counts_bits_so() {
    for n in [0, 1, 7, 1343] {
        let own = uniform(n, n);
        let bits = |coding| CodedSet::encode(&own, coding).unwrap().bits;
        assert_eq!(bits(Coding::Ids), 160 * n);
        assert_eq!(bits(Coding::Fixed { bits: 2164, probes: 5 }), 2164);
        // Equation 7 with γ of equation 6, and with γ = k / ln 2.
        assert_eq!(bits(ringed(7, Gamma::Whole, 100_000)), 11 * n);
        assert_eq!(bits(ringed(7, Gamma::Exact, 1000)), (n as f64 * 7.0 / std::f64::consts::LN_2).ceil() as u64);
    }
}

#[test]
fn the_best_rate_is_that_of_section_6() {
    // If C₁ = C₂, α is about 0.013, whatever the size.
    assert!((plan::best_rate(5000, 5000, 0) - 0.013).abs() < 1e-4);
    for (own, other, both) in [(10, 1000, 0), (1000, 1000, 200), (30, 62_000, 5), (5000, 9000, 4000)] {
        let alpha = plan::best_rate(own, other, both);
        let least = plan::traffic(own, other, both, alpha);
        for factor in [0.5, 0.9, 1.1, 2.0] {
            assert!(plan::traffic(own, other, both, alpha * factor) > least, "{own} {other} {both} {factor}");
        }
    }
    // For lists of one size, the paper's 2⁻⁷ is the second nearest power of ½; the minimum of eq. 17 is at 2⁻⁶.
    assert_eq!(plan::ringed_probes(1000, 1000), 6);
    assert_eq!((plan::ringed_probes(1, 0), plan::ringed_probes(0, 1), plan::ringed_probes(900, 1)), (1, 64, 1));
    for (own, other) in [(1, 1), (10, 1000), (1000, 62_000), (62_000, 62_000)] {
        let traffic = |k: u8| plan::traffic(own, other, 0, 0.5f64.powi(k.into()));
        let best = plan::ringed_probes(own, other);
        assert!((1..=64).all(|k| traffic(k) >= traffic(best)));
    }
}

#[test]
fn a_page_waits_for_a_third_message_only_if_it_can_save_much() {
    let three = |own, other| {
        let coding = plan::choose_for_page(Wants::Best, own, other, 1);
        matches!(coding, Coding::Golomb(golomb) if golomb.three_messages)
    };
    // The maximum number of matches, of 40 bits each, without a third message.
    let most = plan::PAGE_THIRD_BITS as u64 / u64::from(plan::CHECK_BITS);
    assert!(three(most + 1, 1 << 20) && !three(most * 9 / 10, 1 << 20));
    assert_eq!(plan::choose_for_page(Wants::Naive, 4, 4, 1), plan::choose(Wants::Naive, 4, 4, 1));
}

#[test]
fn each_wish_gets_its_coding() {
    let choose = |wants, own, other| plan::choose(wants, own, other, 1);
    assert_eq!(choose(Wants::Naive, 5, 5), Coding::Ids);
    assert_eq!(choose(Wants::Fixed { bits: 2164, probes: 5 }, 5, 5), Coding::Fixed { bits: 2164, probes: 5 });
    assert_eq!(choose(Wants::Ringed { probes: Some(7), delta: 100 }, 5, 5), ringed(7, Gamma::Whole, 100));
    assert_eq!(choose(Wants::Ringed { probes: None, delta: 100 }, 5, 5), ringed(6, Gamma::Exact, 100));
    assert_eq!(choose(Wants::Ringed { probes: Some(7), delta: 0 }, 5, 5), Coding::Ids);
    let Coding::Golomb(small) = choose(Wants::Best, 30, 5000) else { panic!() };
    assert_eq!((small.check_bits, small.three_messages), (40, false));
    // If all ids match, the checks of 120 ids have enough bits for a third message to be worth it, and those of 30 ids
    // do not.
    let Coding::Golomb(hot) = choose(Wants::Best, 120, 120) else { panic!() };
    assert_eq!((hot.check_bits, hot.three_messages), (40, true));
    let Coding::Golomb(large) = choose(Wants::Best, 100_000, 200_000) else { panic!() };
    assert!(large.three_messages && large.check_bits > 40);
    // Empty and huge lists cause no panic.
    for (own, other) in [(0, 0), (0, 10), (10, 0), (u64::MAX, u64::MAX)] {
        for wants in [Wants::Best, Wants::Ringed { probes: None, delta: 10 }, Wants::Fixed { bits: 9, probes: 1 }] {
            let coding = plan::choose(wants, own, other, 1);
            assert!(plan::expected(coding, own, other) >= 0.0, "{own} {other} {coding:?}");
        }
    }
}

#[test]
fn a_small_set_goes_as_ids_once_a_filter_takes_more() {
    let fixed = Coding::Fixed { bits: 2164, probes: 5 };
    // 13 ids are 2080 bits; a filter with so few ids has nearly no false positives.
    assert_eq!(plan::or_ids(fixed, 13, 100), Coding::Ids);
    assert_eq!(plan::or_ids(fixed, 14, 100), fixed);
    let coding = ringed(7, Gamma::Whole, 1000);
    assert_eq!(plan::or_ids(coding, 10, 100), coding);
    assert_eq!(plan::or_ids(coding, 10, 100_000), Coding::Ids);
    // There is no filter for this many ids.
    assert_eq!(plan::or_ids(coding, u64::MAX, u64::MAX), Coding::Ids);
    let golomb = plan::golomb(10, 1 << 40, 1);
    assert_eq!(plan::or_ids(golomb, 10, 1 << 40), golomb);
}

#[test]
fn expected_bits_are_those_of_random_lists_and_the_plan_is_the_best() {
    let lists: Vec<_> = (0..12u64).map(|seed| (uniform(2 * seed, 300), uniform(2 * seed + 1, 6000))).collect();
    let mean = |coding| {
        let of = |(own, other): &(Vec<_>, Vec<_>)| predict(own, other, coding).unwrap();
        let total: u64 = lists.iter().map(of).map(|p| p.sent.bits + p.back.bits + p.claim.map_or(0, |c| c.bits)).sum();
        total as f64 / lists.len() as f64
    };
    for coding in [
        plan::golomb(300, 6000, 5),
        plan::golomb_in_three(300, 6000, 5),
        ringed(9, Gamma::Exact, 1000),
        Coding::Fixed { bits: 3000, probes: 5 },
    ] {
        let (expected, mean) = (plan::expected(coding, 300, 6000), mean(coding));
        assert!((mean / expected - 1.0).abs() < 0.1, "{coding:?}: {mean}, expected {expected}");
    }
    let Coding::Golomb(best) = plan::golomb(300, 6000, 5) else { panic!() };
    let least = mean(Coding::Golomb(best));
    for cells in [-2, 2] {
        let other = Golomb { cell_bits: best.cell_bits.checked_add_signed(cells).unwrap(), ..best };
        assert!(mean(Coding::Golomb(other)) > least, "{other:?} is better than {best:?}");
    }
}

/// The examples of docs/protocol.md, "Coded sets": a coding, the bytes of the set and those of the answer.
#[test]
fn golden_bytes() {
    let own = [0x10, 0x11, 0x42, 0xC7, 0xFF].map(|byte| ContentId::new([byte; 20]));
    let other = [0x11, 0x1F, 0x42, 0x80, 0xFF].map(|byte| ContentId::new([byte; 20]));
    let salt = 0x89AB_CDEF;
    let golomb = Golomb { cell_bits: 4, check_bits: 12, salt, three_messages: false };
    let golden = [
        (Coding::Ids, "00 05 10×20 11×20 42×20 c7×20 ff×20", "03 16"),
        (Coding::Fixed { bits: 44, probes: 3 }, "01 03 2c 2c 08 04 00 25 0b", "03 11×20 42×20 ff×20"),
        (ringed(3, Gamma::Exact, 2), "02 03 f8 62 fd 53 04 00 00 00 02 05 70 9e 0c", "03 11×20 42×20 ff×20"),
        (Coding::Golomb(golomb), "03 04 0c ef cd ab 89 04 0b 0b", "04 7d 79 fb ea f6 7c 00"),
        (
            Coding::Golomb(Golomb { three_messages: true, ..golomb }),
            "04 04 0c ef cd ab 89 04 0b 0b",
            "04 0c 7d 79 fb ea f6 7c 00",
        ),
    ];
    let page = include_str!("../../../docs/protocol.md").replace(' ', "");
    for shown in golden[..4].iter().flat_map(|(_, set, answer)| [*set, answer]).chain(["04 04 7d eb 7c", "01 03"]) {
        assert!(page.contains(&shown.replace(' ', "")), "docs/protocol.md does not show {shown}");
    }
    for (coding, set, answer) in golden {
        let sent = CodedSet::encode(&own, coding).unwrap();
        assert_eq!(hex(&sent.bytes), set, "{coding:?}");
        let read = CodedSet::decode(&sent.bytes).unwrap();
        assert_eq!(read.coding(), coding);
        let Matches { coded: back, session } = matches(&sent.bytes, &other).unwrap();
        assert_eq!(hex(&back.bytes), answer, "{coding:?}");
        let settlement = settle(&own, coding, &back.bytes).unwrap();
        assert_eq!(settlement.both, [1, 2, 4]);
        assert_eq!((settlement.claim, session), (None, None));
    }
    let in_three = Coding::Golomb(Golomb { three_messages: true, ..golomb });
    let settlement = settle(&own, in_three, &[4, 4, 0x7d, 0xeb, 0x7c]).unwrap();
    let claim = settlement.claim.unwrap();
    assert_eq!(
        (settlement.both, &hex(&claim.rejected.bytes)[..], claim.checksum),
        (vec![1, 2, 4], "01 03", 0xCD98_4EF2_CB60_94F6)
    );
}

/// The bytes in hexadecimal; a run of equal bytes is written as byte×times.
fn hex(bytes: &[u8]) -> String {
    let runs = bytes.chunk_by(|a, b| a == b).map(|run| match run.len() {
        times @ 8.. => format!("{:02x}×{times}", run[0]),
        times => vec![format!("{:02x}", run[0]); times].join(" "),
    });
    runs.collect::<Vec<_>>().join(" ")
}
