//! Decodes any bytes as a coded set, an answer and a claim. Half of the inputs are valid ones that were changed at any
//! place. The result is an error, or a set that matches ids, an answer that names own ids, and a claim that is true or
//! not. Unchanged bytes give exactly the ids that are in both lists.
#![no_main]

use furui::filter::{Gamma, RingedParams};
use furui_search::{CodecError, CodedSet, Coding, ContentId, Golomb, Matcher, settle};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use predict::predict;

#[path = "../../search/furui-search/tests/predict/mod.rs"]
mod predict;

#[derive(Arbitrary, Debug)]
struct Input {
    coding: [u8; 4],
    salt: u32,
    own: Vec<(u64, u8)>,
    other: Vec<(u64, u8)>,
    common: Vec<(u64, u8)>,
    changes: [Change; 3],
}

/// How the bytes of the set, of the answer or of the claim are changed.
#[derive(Arbitrary, Debug)]
enum Change {
    None,
    Flip(Vec<(u16, u8)>),
    Cut(u16),
    Any(Vec<u8>),
}

fuzz_target!(|input: Input| {
    let own = ids(&[&input.own[..], &input.common].concat());
    let other = ids(&[&input.other[..], &input.common].concat());
    let Ok(sent) = CodedSet::encode(&own, coding(input.coding, input.salt)) else { return };

    let bytes = changed(&sent.bytes, &input.changes[0]);
    let Ok(set) = CodedSet::decode(&bytes) else { return assert_ne!(bytes, sent.bytes) };
    let coding = set.coding();
    let mut matcher = Matcher::new(set);
    match other.chunks(3).try_for_each(|slice| matcher.feed(slice)) {
        Err(CodecError::TooMany { .. }) => return,
        fed => fed.expect("an ascending list"),
    }
    let answer = matcher.finish();
    let good = bytes == sent.bytes;
    if good {
        let sizes = predict(&own, &other, coding).expect("it could be coded");
        assert_eq!((sizes.sent.bits, sizes.sent.bytes), (sent.bits, bytes.len() as u64));
        assert_eq!((sizes.back.bits, sizes.back.bytes), (answer.coded.bits, answer.coded.bytes.len() as u64));
    }

    let back = changed(&answer.coded.bytes, &input.changes[1]);
    let good = good && back == answer.coded.bytes;
    let Ok(settlement) = settle(&own, coding, &back) else { return assert!(!good) };
    assert!(settlement.both.is_sorted_by(|a, b| a < b));
    let found: Vec<_> = settlement.both.iter().map(|&place| own[place as usize]).collect();
    let truth: Vec<_> = own.iter().copied().filter(|id| other.binary_search(id).is_ok()).collect();
    match (settlement.claim, answer.session) {
        (Some(claim), Some(session)) => {
            let rejected = changed(&claim.rejected.bytes, &input.changes[2]);
            let confirmed = session.confirm(&rejected, claim.checksum);
            if good && rejected == claim.rejected.bytes && confirmed.expect("a good claim") {
                assert_eq!(found, truth);
            }
        }
        // Short checks let false positives through, and a fuzzer may find one in 2⁴⁰.
        (None, None) if good && !matches!(coding, Coding::Golomb(golomb) if golomb.check_bits < 60) => {
            assert_eq!(found, truth);
        }
        (None, None) => {}
        // Each side sees in the answer whether there is a third message, so the sides differ only after a change.
        _ => assert!(!good),
    }
});

fn coding([tag, a, b, c]: [u8; 4], salt: u32) -> Coding {
    match tag % 5 {
        0 => Coding::Ids,
        1 => Coding::Fixed { bits: 1 + u32::from(a) * 7, probes: b },
        2 => {
            let gamma = [Gamma::Whole, Gamma::Exact, Gamma::Bits(f64::from(c) / 3.0)][usize::from(c % 3)];
            RingedParams::new(1 + u32::from(a % 64), gamma, 1 + u32::from(b)).map_or(Coding::Ids, Coding::Ringed)
        }
        tag => Coding::Golomb(Golomb { cell_bits: a, check_bits: b, salt, three_messages: tag == 4 }),
    }
}

fn ids(parts: &[(u64, u8)]) -> Vec<ContentId> {
    let mut ids: Vec<_> = parts
        .iter()
        .map(|&(head, rest)| {
            let mut bytes = [rest; ContentId::BYTES];
            bytes[..8].copy_from_slice(&head.to_be_bytes());
            ContentId::new(bytes)
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn changed(bytes: &[u8], change: &Change) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match change {
        Change::None => {}
        Change::Flip(flips) => flips.iter().for_each(|&(at, by)| {
            if let Some(at) = usize::from(at).checked_rem(bytes.len()) {
                bytes[at] ^= by;
            }
        }),
        Change::Cut(len) => bytes.truncate((*len).into()),
        Change::Any(any) => bytes.clone_from(any),
    }
    bytes
}
