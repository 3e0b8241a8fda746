//! Lookups of many keys in a table of bits that is far.

use std::hint::select_unpredictable;

use crate::bits::arch::{Words, prefetch};
use crate::bits::bit;

/// How many keys are under way at a time: as many lines as a core can wait for come meanwhile, many times over, and are still
/// near when their turn comes.
const UNDER_WAY: usize = 128;

/// A key under way.
#[derive(Clone, Copy)]
struct Lookup<S> {
    /// What its next positions are computed from.
    state: S,
    /// Of the bit whose line was asked for.
    position: usize,
    /// How many bits come after that.
    left: u32,
    /// Which of its batch it is.
    key: usize,
}

/// Whether all bits of each key are set, in as many `answers`: `probes` a key, whose positions `next` computes from its state.
///
/// Of each key that is under way the next bit is tested, and the line of the one after it asked for. Those that fail drop out
/// without a branch, and others take their place: a miss costs two lines, and no key waits for another.
#[inline(always)]
pub(super) fn contains_all<S: Copy>(
    words: &[[u8; 8]],
    probes: u32,
    keys: impl Iterator<Item = S>,
    next: impl Fn(&mut S) -> usize,
    answers: &mut [bool],
) {
    Words::detect().run(
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
    let mut under_way = [first; UNDER_WAY];
    let mut count = 1;
    loop {
        for (place, lookup) in under_way[count..].iter_mut().zip(lookups.by_ref()) {
            *place = lookup;
            count += 1;
        }
        if count == 0 {
            return;
        }
        let mut kept = 0;
        for i in 0..count {
            let Lookup { mut state, position, left, key } = under_way[i];
            let set = bit(words, position) == 1;
            answers[key] = set;
            let goes_on = set & (left > 0);
            let ahead = next(&mut state);
            // Of a key that drops out, a line that is there already.
            prefetch(&words[select_unpredictable(goes_on, ahead, position) / 64]);
            under_way[kept] = Lookup { state, position: ahead, left: left.wrapping_sub(1), key };
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
            for keys in [0, 1, 2, UNDER_WAY - 1, UNDER_WAY, UNDER_WAY + 1, 2 * UNDER_WAY, 1000] {
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
