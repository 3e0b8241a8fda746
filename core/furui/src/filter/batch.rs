//! Batches of keys: how filters overlap the cache misses of many lookups or insertions.

use std::hint::select_unpredictable;

use crate::bits::{Cpu, bit, prefetch};
use crate::hash::KeyHash;

/// The number of keys by which the prefetch is ahead of the look-ups or insertions of a batch.
const AHEAD: usize = 16;

/// Calls `each` with every key and its index, in order. If the table is `far` (beyond the near caches), `fetch` is
/// called `AHEAD` keys earlier, to prefetch what `each` will touch.
#[inline(always)]
pub(super) fn for_each<T>(
    mut table: T,
    far: bool,
    keys: &[KeyHash],
    fetch: impl Fn(&T, KeyHash),
    mut each: impl FnMut(&mut T, usize, KeyHash),
) {
    // Not `Iterator::for_each`, nor any other that takes `each`: it would be compiled without the instructions of the
    // caller, and would call `each` once for each key.
    if !far {
        for (i, &key) in keys.iter().enumerate() {
            each(&mut table, i, key);
        }
        return;
    }
    keys.iter().take(AHEAD).for_each(|&key| fetch(&table, key));
    for (i, &key) in keys.iter().enumerate() {
        if let Some(&soon) = keys.get(i + AHEAD) {
            fetch(&table, soon);
        }
        each(&mut table, i, key);
    }
}

/// The number of lookups of a batch that run interleaved. It is several times the number of cache misses that a core
/// can have outstanding, and so small that a prefetched line is still in the nearest cache when it is read.
const IN_FLIGHT: usize = 128;

/// A key of a batch whose bits are being tested, one after the other.
#[derive(Clone, Copy)]
struct Lookup<S> {
    /// The state from which the next positions of the key are computed.
    state: S,
    /// The position in the table of the bit whose cache line was prefetched.
    position: usize,
    /// The number of bits of the key that are still to be tested after the one at `position`.
    left: u32,
    /// The index of the key in the batch.
    key: usize,
}

/// Tests all bits of each key, and stores in `answers` whether they are set. A key has `probes` bits; `next` computes
/// the position of the next one from the state of the key.
///
/// Each round tests the next bit of every key in flight, and prefetches the line of the bit after it. Keys that fail
/// drop out without a branch, and new keys take their places, so a miss costs two lines and no key waits for another.
/// This saves time for tables larger than the caches, and none for smaller ones.
#[inline(always)]
pub(super) fn contains_all<S: Copy>(
    words: &[[u8; 8]],
    probes: u32,
    keys: impl Iterator<Item = S>,
    next: impl Fn(&mut S) -> usize,
    answers: &mut [bool],
) {
    Cpu::detect().run(
        #[inline(always)]
        |_| each(words, probes, keys, next, answers),
    );
}

#[inline(always)]
fn each<S: Copy>(
    words: &[[u8; 8]],
    probes: u32,
    keys: impl Iterator<Item = S>,
    next: impl Fn(&mut S) -> usize,
    answers: &mut [bool],
) {
    let begin = |(key, mut state)| {
        let position = next(&mut state);
        prefetch(&words[position / 64]);
        Lookup { state, position, left: probes - 1, key }
    };
    let mut lookups = keys.enumerate().map(begin);
    let Some(first) = lookups.next() else { return };
    let mut in_flight = [first; IN_FLIGHT];
    let mut count = 1;
    loop {
        for (place, lookup) in in_flight[count..].iter_mut().zip(lookups.by_ref()) {
            *place = lookup;
            count += 1;
        }
        if count == 0 {
            return;
        }
        let mut kept = 0;
        for i in 0..count {
            let Lookup { mut state, position, left, key } = in_flight[i];
            let set = bit(words, position) == 1;
            answers[key] = set;
            let goes_on = set & (left > 0);
            let ahead = next(&mut state);
            // A key that drops out prefetches the line it has just read, which is in the cache already.
            prefetch(&words[select_unpredictable(goes_on, ahead, position) / 64]);
            in_flight[kept] = Lookup { state, position: ahead, left: left.wrapping_sub(1), key };
            kept += usize::from(goes_on);
        }
        count = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::testing::{mostly_ones, random};

    const BITS: usize = 10_000;

    #[test]
    fn as_many_answers_as_keys_whatever_the_others_answer() {
        let (half, all) = (mostly_ones(BITS.div_ceil(64)), vec![[0xff; 8]; BITS.div_ceil(64)]);
        let mut random = random();
        for words in [half, all] {
            for keys in [0, 1, 2, IN_FLIGHT - 1, IN_FLIGHT, IN_FLIGHT + 1, 2 * IN_FLIGHT, 1000] {
                for probes in [1, 2, 7, 64] {
                    let keys: Vec<usize> = (0..keys).map(|_| random() as usize % BITS).collect();
                    let next = |position: &mut usize| {
                        *position = (*position + 77) % BITS;
                        *position
                    };
                    let expected: Vec<bool> = (keys.iter())
                        .map(|&key| {
                            let mut key = key;
                            (0..probes).all(|_| {
                                let position = next(&mut key);
                                words[position / 64][position % 64 / 8] >> (position % 8) & 1 == 1
                            })
                        })
                        .collect();
                    let mut answers = vec![false; keys.len()];
                    contains_all(&words, probes, keys.iter().copied(), next, &mut answers);
                    assert_eq!(answers, expected, "{} keys, {probes} probes", keys.len());
                }
            }
        }
    }
}
