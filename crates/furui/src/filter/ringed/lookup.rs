//! Testing and setting the bits of keys: the hot loops of a ringed filter.

use super::key::{mixed, offsets};
use super::ring::Ring;
use super::{RingedKey, RingedKeys};
use crate::bits::{bit, prefetch_for_write};
use crate::filter::batch;
use crate::filter::probes::Probes;
use crate::hash::KeyHash;

/// Tables of at most this many words are in a cache near enough for the processor to overlap lookups by itself.
const NEAR: usize = (4 << 20) / 8;

/// The number of keys whose offsets are computed at a time: as many as fit into the first cache.
const CHUNK: usize = 128;

/// Into tables of at most this many words, keys are inserted as fast without a prefetch, which would compute the
/// positions twice.
const NEAR_TO_INSERT: usize = (2 << 20) / 8;

/// How many keys are inserted at a time, after all their cache lines were prefetched.
const INSERT_BATCH: usize = 64;

/// Whether all bits of a key are set.
///
/// Few windows reach beyond the ring's end, unless they are long.
#[inline(always)]
pub(super) fn contains(words: &[[u8; 8]], ring: &Ring, key: RingedKey<'_>) -> bool {
    let start = ring.start_of(key.hash().get());
    if ring.is_straight(start) {
        let start = start as usize;
        all_set(words, key.offsets(), |offset| start + offset as usize)
    } else {
        around_the_end(words, ring, start, key.offsets())
    }
}

/// Works like [`contains`] for a key without precomputed offsets. Tests two bits at a time.
pub(super) fn contains_hash(words: &[[u8; 8]], ring: &Ring, key: KeyHash) -> bool {
    let (start, mut offsets) = (ring.start_of(key.get()), offsets(key, ring.params()));
    let next = |offset| bit(words, ring.position(start, offset));
    loop {
        let Some(first) = offsets.next() else { return true };
        let Some(second) = offsets.next() else { return next(first) == 1 };
        if next(first) & next(second) == 0 {
            return false;
        }
    }
}

/// The positions of the bits of a key.
pub(super) fn positions(ring: &Ring, key: KeyHash) -> impl Iterator<Item = usize> {
    let start = ring.start_of(key.get());
    offsets(key, ring.params()).map(move |offset| ring.position(start, offset))
}

/// The case of [`contains`] where the window reaches beyond the ring's last bit.
#[inline(never)]
fn around_the_end(words: &[[u8; 8]], ring: &Ring, start: u64, offsets: &[u32]) -> bool {
    all_set(words, offsets, |offset| ring.position(start, offset))
}

/// Whether the bits at all offsets are set.
///
/// In a half-full filter no processor can predict a bit, so bits are tested in groups. The first group of four fails in
/// 15 of 16 misses, and never in a hit.
#[inline(always)]
fn all_set(words: &[[u8; 8]], offsets: &[u32], position: impl Fn(u32) -> usize) -> bool {
    let next = |offset: u32| bit(words, position(offset));
    let mut rest = offsets;
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
pub(super) fn contains_all<'a>(
    words: &[[u8; 8]],
    ring: &Ring,
    keys: impl Iterator<Item = RingedKey<'a>>,
    answers: &mut [bool],
) {
    if words.len() > NEAR {
        return contains_all_far(words, ring, keys.map(RingedKey::hash), answers);
    }
    answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = contains(words, ring, key));
}

/// Works like [`contains_hash`] for every key; the answers go to `answers`, which is as long as `keys`.
pub(super) fn contains_all_hashes(words: &[[u8; 8]], ring: &Ring, keys: &[KeyHash], answers: &mut [bool]) {
    if words.len() > NEAR {
        return contains_all_far(words, ring, keys.iter().copied(), answers);
    }
    let mut computed = RingedKeys::new(ring.params());
    for (keys, answers) in keys.chunks(CHUNK).zip(answers.chunks_mut(CHUNK)) {
        computed.clear();
        computed.extend(keys.iter().copied());
        contains_all(words, ring, computed.iter(), answers);
    }
}

/// Works like [`contains_hash`] for every key; the answers go to `answers`. The table is beyond the caches: offsets are
/// computed while cache lines are loaded.
fn contains_all_far(words: &[[u8; 8]], ring: &Ring, keys: impl Iterator<Item = KeyHash>, answers: &mut [bool]) {
    let window = ring.params().window() as usize;
    let keys = keys.map(|key| (Probes::of(mixed(key)), ring.start_of(key.get())));
    let next = |(probes, start): &mut (Probes, u64)| ring.position(*start, probes.next(window) as u32);
    batch::contains_all(words, ring.params().probes(), keys, next, answers);
}

/// Sets the bits of a key; true if one was not set.
#[inline]
pub(super) fn insert(words: &mut [[u8; 8]], ring: &Ring, hash: u64, offsets: impl Iterator<Item = u32>) -> bool {
    let start = ring.start_of(hash);
    let old = offsets.fold(1, |old, offset| {
        let position = ring.position(start, offset);
        let word = u64::from_le_bytes(words[position / 64]);
        words[position / 64] = (word | 1 << (position % 64)).to_le_bytes();
        old & word >> (position % 64)
    });
    old & 1 == 0
}

/// Inserts many keys, and returns how many of them were new. `parts` gives the hash and the offsets of a key. The cache
/// lines of a batch are prefetched before they are written.
pub(super) fn insert_all<K: Copy, O: Iterator<Item = u32>>(
    words: &mut [[u8; 8]],
    ring: &Ring,
    mut keys: impl Iterator<Item = K>,
    parts: impl Fn(K) -> (u64, O),
) -> u64 {
    if words.len() <= NEAR_TO_INSERT {
        let insert = |key| {
            let (hash, offsets) = parts(key);
            u64::from(insert(words, ring, hash, offsets))
        };
        return keys.map(insert).sum();
    }
    let mut batch = Vec::with_capacity(INSERT_BATCH);
    let mut new = 0;
    loop {
        batch.clear();
        batch.extend(keys.by_ref().take(INSERT_BATCH));
        if batch.is_empty() {
            return new;
        }
        for &key in &batch {
            let (hash, offsets) = parts(key);
            let start = ring.start_of(hash);
            offsets.for_each(|offset| prefetch_for_write(words, ring.position(start, offset) / 64));
        }
        for &key in &batch {
            let (hash, offsets) = parts(key);
            new += u64::from(insert(words, ring, hash, offsets));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Gamma, RingedParams};
    use super::*;
    use crate::HashSpec;
    use crate::bits::testing::mostly_ones;

    #[test]
    fn every_way_to_look_keys_up_tests_the_bits_at_their_positions() {
        // The tables of the last numbers of keys are larger than the caches.
        let words = mostly_ones(650_000);
        for keys in [1, 2, 30, 1000, 70_001, 4_000_000] {
            for delta in [1, 100, 1000, 100_000] {
                for probes in [1, 3, 4, 7, 8, 9, 20] {
                    let params = RingedParams::new(probes, Gamma::Bits(10.1), delta).unwrap();
                    let ring = Ring::new(params, keys).unwrap();
                    let words = &words[..ring.bits_here().unwrap().div_ceil(64)];
                    let mut asked = RingedKeys::new(params);
                    asked.extend((0..500u32).map(|i| HashSpec::default().hash(&i.to_le_bytes())));
                    let hashes: Vec<KeyHash> = asked.iter().map(RingedKey::hash).collect();
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
                    contains_all(words, &ring, asked.iter(), &mut batch);
                    assert_eq!(batch, expected, "{context}");
                    batch.fill(false);
                    contains_all_hashes(words, &ring, &hashes, &mut batch);
                    assert_eq!(batch, expected, "{context}");
                }
            }
        }
    }
}
