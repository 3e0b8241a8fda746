//! Testing and setting the bits of keys: the hot loops of a ringed filter.

use super::RingedKey;
use super::key::{Fractions, HELD};
use super::ring::Ring;
use crate::bits::{bit, prefetch_for_write};
use crate::filter::batch;
use crate::hash::KeyHash;

/// A table of at most this size, in words, is not prefetched for lookups: it lies in a cache near enough for the
/// processor to overlap lookups by itself.
const NEAR: usize = (4 << 20) / 8;

/// The number of keys whose fractions are computed at a time. The fractions of this many keys fit into the first-level
/// cache.
const CHUNK: usize = 128;

/// A table of at most this size, in words, is not prefetched for insertions: a prefetch would compute the positions a
/// second time, and save no time.
const NEAR_TO_INSERT: usize = (2 << 20) / 8;

/// The number of keys that are inserted at a time, after all their cache lines were prefetched.
const INSERT_BATCH: usize = 64;

/// True if all bits of a key are set.
///
/// Windows that reach beyond the ring's end are rare, unless windows are long, so a function of its own tests them.
#[inline(always)]
pub(super) fn contains(words: &[[u8; 8]], ring: &Ring, key: &RingedKey) -> bool {
    let start = ring.start_of(key.hash().get());
    let (probes, window) = (ring.params().probes(), ring.params().window());
    let first = key.first(probes);
    let found = if ring.is_straight(start) {
        let start = start as usize;
        all_set(words, first, |fraction| start + offset(fraction, window) as usize)
    } else {
        around_the_end(words, ring, start, first)
    };
    found && (probes as usize <= HELD || others_set(words, ring, start, key))
}

/// Works like [`contains`] for a key without precomputed fractions. Tests two bits at a time.
pub(super) fn contains_hash(words: &[[u8; 8]], ring: &Ring, key: KeyHash) -> bool {
    let mut positions = positions(ring, key);
    loop {
        let Some(first) = positions.next() else { return true };
        let Some(second) = positions.next() else { return bit(words, first) == 1 };
        if bit(words, first) & bit(words, second) == 0 {
            return false;
        }
    }
}

/// The positions of the bits of a key on the ring, each computed when it is asked for, so a look-up that ends early
/// computes few.
#[inline(always)]
pub(super) fn positions(ring: &Ring, key: KeyHash) -> impl Iterator<Item = usize> {
    let start = ring.start_of(key.get());
    Fractions::of(key).take(ring.params().probes()).map(move |fraction| position(ring, start, fraction))
}

/// The offset in bits of the bit at `fraction`, which is in units of 2⁻³² windows, in a window of `window` bits.
#[inline(always)]
fn offset(fraction: u32, window: u32) -> u32 {
    ((u64::from(fraction) * u64::from(window)) >> 32) as u32
}

/// The position of the bit at a fraction of the window that begins at `start`.
#[inline(always)]
fn position(ring: &Ring, start: u64, fraction: u32) -> usize {
    ring.position(start, offset(fraction, ring.params().window()))
}

/// The case of [`contains`] where the window reaches beyond the ring's last bit.
#[inline(never)]
fn around_the_end(words: &[[u8; 8]], ring: &Ring, start: u64, fractions: &[u32]) -> bool {
    all_set(words, fractions, |fraction| position(ring, start, fraction))
}

/// True if all bits are set at the fractions that `key` does not hold. Only one in 2⁸ misses needs this test.
#[inline(never)]
fn others_set(words: &[[u8; 8]], ring: &Ring, start: u64, key: &RingedKey) -> bool {
    let mut others = Fractions::of(key.hash()).take(ring.params().probes()).skip(HELD);
    others.all(|fraction| bit(words, position(ring, start, fraction)) == 1)
}

/// True if the bits at all fractions are set.
///
/// In a half-full filter no processor can predict a bit, so bits are tested in groups. The first group of four fails in
/// 15 of 16 misses, and never in a hit.
#[inline(always)]
fn all_set(words: &[[u8; 8]], fractions: &[u32], position: impl Fn(u32) -> usize) -> bool {
    let next = |fraction: u32| bit(words, position(fraction));
    let mut rest = fractions;
    if let &[a, b, c, d, ref more @ ..] = rest {
        if next(a) & next(b) & next(c) & next(d) == 0 {
            return false;
        }
        rest = more;
    }
    loop {
        match *rest {
            [a, b, c] => return next(a) & next(b) & next(c) == 1,
            [a, b, ref more @ ..] => {
                if next(a) & next(b) == 0 {
                    return false;
                }
                rest = more;
            }
            [a] => return next(a) == 1,
            [] => return true,
        }
    }
}

/// Works like [`contains`] for every key; the answers go to `answers`, which is as long as `keys`.
pub(super) fn contains_all(words: &[[u8; 8]], ring: &Ring, keys: &[RingedKey], answers: &mut [bool]) {
    if words.len() > NEAR {
        return contains_all_far(words, ring, keys.iter().map(RingedKey::hash), answers);
    }
    answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = contains(words, ring, key));
}

/// Works like [`contains_hash`] for every key; the answers go to `answers`, which is as long as `keys`.
pub(super) fn contains_all_hashes(words: &[[u8; 8]], ring: &Ring, keys: &[KeyHash], answers: &mut [bool]) {
    if words.len() > NEAR {
        return contains_all_far(words, ring, keys.iter().copied(), answers);
    }
    let mut computed = Vec::with_capacity(CHUNK);
    for (keys, answers) in keys.chunks(CHUNK).zip(answers.chunks_mut(CHUNK)) {
        computed.clear();
        computed.extend(keys.iter().map(|&key| RingedKey::new(key)));
        contains_all(words, ring, &computed, answers);
    }
}

/// Works like [`contains_hash`] for every key; the answers go to `answers`. The table is larger than the caches, so
/// fractions are computed while cache lines are loaded.
fn contains_all_far(words: &[[u8; 8]], ring: &Ring, keys: impl Iterator<Item = KeyHash>, answers: &mut [bool]) {
    let keys = keys.map(|key| (Fractions::of(key), ring.start_of(key.get())));
    let next = |(fractions, start): &mut (Fractions, u64)| position(ring, *start, fractions.next());
    batch::contains_all(words, ring.params().probes(), keys, next, answers);
}

/// Sets the bits of a key. Returns true if one of them was not set before.
#[inline]
pub(super) fn insert(words: &mut [[u8; 8]], ring: &Ring, key: KeyHash) -> bool {
    let old = positions(ring, key).fold(1, |old, position| {
        let word = u64::from_le_bytes(words[position / 64]);
        words[position / 64] = (word | 1 << (position % 64)).to_le_bytes();
        old & word >> (position % 64)
    });
    old & 1 == 0
}

/// Inserts many keys, and returns how many of them were new. The cache lines of a batch are prefetched before they are
/// written.
pub(super) fn insert_all(words: &mut [[u8; 8]], ring: &Ring, keys: &[KeyHash]) -> u64 {
    let far = words.len() > NEAR_TO_INSERT;
    let mut new = 0;
    for batch in keys.chunks(INSERT_BATCH) {
        if far {
            for &key in batch {
                positions(ring, key).for_each(|position| prefetch_for_write(words, position / 64));
            }
        }
        new += batch.iter().map(|&key| u64::from(insert(words, ring, key))).sum::<u64>();
    }
    new
}

#[cfg(test)]
mod tests {
    use super::super::{Gamma, RingedParams};
    use super::*;
    use crate::HashSpec;
    use crate::bits::testing::mostly_ones;

    #[test]
    fn every_way_to_look_keys_up_tests_the_bits_at_their_positions() {
        // The table for the last number of keys is larger than the caches.
        let words = mostly_ones(650_000);
        let hashes: Vec<KeyHash> = (0..500u32).map(|i| HashSpec::default().hash(&i.to_le_bytes())).collect();
        let asked: Vec<RingedKey> = hashes.iter().map(|&hash| RingedKey::new(hash)).collect();
        for keys in [1, 2, 30, 1000, 70_001, 4_000_000] {
            for delta in [1, 100, 1000, 100_000] {
                for probes in [1, 3, 4, 7, 8, 9, 20] {
                    let params = RingedParams::new(probes, Gamma::Bits(10.1), delta).unwrap();
                    let ring = Ring::new(params, keys).unwrap();
                    let words = &words[..ring.bits_here().unwrap().div_ceil(64)];
                    let all_set = |&key: &KeyHash| positions(&ring, key).all(|position| bit(words, position) == 1);
                    let expected: Vec<bool> = hashes.iter().map(all_set).collect();
                    let context = format!("{keys} keys, {params}");
                    assert!(
                        asked.iter().map(|key| contains(words, &ring, key)).eq(expected.iter().copied()),
                        "{context}"
                    );
                    let each = hashes.iter().map(|&key| contains_hash(words, &ring, key));
                    assert!(each.eq(expected.iter().copied()), "{context}");
                    let mut batch = vec![false; asked.len()];
                    contains_all(words, &ring, &asked, &mut batch);
                    assert_eq!(batch, expected, "{context}");
                    batch.fill(false);
                    contains_all_hashes(words, &ring, &hashes, &mut batch);
                    assert_eq!(batch, expected, "{context}");
                }
            }
        }
    }
}
