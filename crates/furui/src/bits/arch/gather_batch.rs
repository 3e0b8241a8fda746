//! Bits of many keys at once: those of eight keys by one instruction, then the next ones of those keys that are left.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are called after their presence was checked")
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::Gather;
#[cfg(target_arch = "x86_64")]
use super::LANES;
use crate::hash::KeyHash;

/// How many keys go through the steps together.
#[cfg(any(test, target_arch = "x86_64"))]
const TOGETHER: usize = 256;

/// Keys of which no bit was found missing yet.
#[cfg(target_arch = "x86_64")]
struct Left {
    /// What their next bits are computed from.
    states: [u64; TOGETHER],
    /// Which they are of those that go together.
    indexes: [u32; TOGETHER],
    count: usize,
}

impl Gather {
    /// Whether all bits of each key are set, in as many `answers`: as many as `probes` says, those that
    /// [`scaled`](Self::scaled) finds by the key's hash, by that times `multiplier`, times its square, and so on.
    ///
    /// # Panics
    /// If there are fewer words than hold `bits` bits, or none.
    pub(crate) fn scaled_batch(
        self,
        words: &[[u8; 8]],
        bits: u32,
        (probes, multiplier): (u32, u64),
        keys: &[KeyHash],
        answers: &mut [bool],
    ) {
        assert!(words.len() > (bits.wrapping_sub(1) / 64) as usize, "a table beyond its words");
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (probes, multiplier, keys, answers);
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist, and the rest is asserted.
            Self::Avx512 => unsafe { scaled_batch(words.as_ptr(), bits, (probes, multiplier), keys, answers) },
        }
    }
}

/// See [`Gather::scaled_batch`].
///
/// # Safety
/// There must be at `words` at least one word, and as many as hold `bits` bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn scaled_batch(
    words: *const [u8; 8],
    bits: u32,
    (probes, multiplier): (u32, u64),
    keys: &[KeyHash],
    answers: &mut [bool],
) {
    let bits = _mm512_set1_epi64(i64::from(bits));
    let one_on = _mm512_set1_epi64(multiplier.cast_signed());
    let two_on = _mm512_set1_epi64(multiplier.wrapping_mul(multiplier).cast_signed());
    let mut left = Left { states: [0; TOGETHER], indexes: [0; TOGETHER], count: 0 };
    let mut set = [0; TOGETHER / LANES];
    for (keys, answers) in keys.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
        left.begin(keys);
        for probe in (0..probes).step_by(2) {
            // Two bits of a key at a time, and two loops: fewer keys are moved, and no load waits until it is known where those
            // before have gone.
            for (eight, set) in (0..left.count).step_by(LANES).zip(&mut set) {
                // Of 32 bits: a byte of a register is not renamed, and each turn would wait for the one before.
                let lanes = (1u32 << (left.count - eight).min(LANES)) - 1;
                // SAFETY: the words are as asked for.
                *set = unsafe {
                    let state = left.state(eight);
                    let first = test(words, bits, state, lanes);
                    if probe + 1 < probes {
                        first & test(words, bits, _mm512_mullo_epi64(state, one_on), lanes)
                    } else {
                        first
                    }
                };
            }
            left.keep(&set, two_on);
        }
        answers.fill(false);
        left.indexes[..left.count].iter().for_each(|&index| answers[index as usize] = true);
    }
}

/// In which of the lanes the bit is set that the state there tells.
///
/// # Safety
/// As of [`scaled_batch`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
unsafe fn test(words: *const [u8; 8], bits: __m512i, state: __m512i, lanes: u32) -> u32 {
    // The product of 96 bits without its lower 64: that of the upper half, and what the lower one carries over.
    let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(state, bits));
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(state), bits);
    let position = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(_mm512_add_epi64(low, high)));
    let (none, index) = (_mm256_setzero_si256(), _mm256_srli_epi32::<5>(position));
    // SAFETY: those words are read that have a position below `bits`, as all positions are.
    let word = unsafe { _mm256_mmask_i32gather_epi32::<4>(none, lanes as u8, index, words.cast()) };
    let set = _mm256_mask_test_epi32_mask(lanes as u8, _mm256_rorv_epi32(word, position), _mm256_set1_epi32(1));
    set.into()
}

#[cfg(target_arch = "x86_64")]
impl Left {
    /// Begins with all of these.
    fn begin(&mut self, keys: &[KeyHash]) {
        self.states.iter_mut().zip(keys).for_each(|(state, key)| *state = key.get());
        (0..).zip(&mut self.indexes).for_each(|(i, index)| *index = i);
        self.count = keys.len();
    }

    /// The states of eight.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn state(&self, eight: usize) -> __m512i {
        let states = &self.states[eight..eight + LANES];
        // SAFETY: eight words of 64 bits, for which no alignment is needed.
        unsafe { _mm512_loadu_si512(states.as_ptr().cast()) }
    }

    /// Keeps of each eight those whose lanes are `set`, with `factor` times their states.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
    fn keep(&mut self, set: &[u32; TOGETHER / LANES], factor: __m512i) {
        let mut kept = 0;
        for (eight, &set) in (0..self.count).step_by(LANES).zip(set) {
            let state = _mm512_maskz_compress_epi64(set as u8, _mm512_mullo_epi64(self.state(eight), factor));
            let (from, to) = (eight..eight + LANES, kept..kept + LANES);
            // SAFETY: as many words as a vector has are read and written, for which no alignment is needed.
            unsafe {
                let index = _mm256_loadu_si256(self.indexes[from].as_ptr().cast());
                let index = _mm256_maskz_compress_epi32(set as u8, index);
                _mm512_storeu_si512(self.states[to.clone()].as_mut_ptr().cast(), state);
                _mm256_storeu_si256(self.indexes[to].as_mut_ptr().cast(), index);
            }
            kept += set.count_ones() as usize;
        }
        self.count = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::testing::{mostly_ones, random};

    fn is_set(words: &[[u8; 8]], bits: u32, state: u64) -> bool {
        let position = ((u128::from(state) * u128::from(bits)) >> 64) as usize;
        words[position / 64][position % 64 / 8] >> (position % 8) & 1 == 1
    }

    #[test]
    fn bits_of_many_keys_are_those_of_each() {
        let Some(gather) = Gather::even_if_slow() else { return };
        let mut random = random();
        let (mut found, mut all) = (0, 0);
        for bits in [1, 63, 64, 65, 1000, 1 << 20] {
            let words = mostly_ones((bits as usize).div_ceil(64));
            for count in [0, 1, 7, 8, 9, 63, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER + 5] {
                for probes in [0, 1, 2, 3, 6, 7, 64] {
                    let mut keys: Vec<KeyHash> = (0..count).map(|_| KeyHash::new(random())).collect();
                    keys.iter_mut().zip([0, 1, u64::MAX]).for_each(|(key, edge)| *key = KeyHash::new(edge));
                    let multiplier = random() | 1;
                    let expected: Vec<bool> = (keys.iter())
                        .map(|key| {
                            let states = (0..probes).map(|i| key.get().wrapping_mul(multiplier.wrapping_pow(i)));
                            states.into_iter().all(|state| is_set(&words, bits, state))
                        })
                        .collect();
                    let mut answers = vec![true; count];
                    gather.scaled_batch(&words, bits, (probes, multiplier), &keys, &mut answers);
                    assert_eq!(answers, expected, "{bits} bits, {count} keys, {probes} probes by {multiplier:#x}");
                    found += expected.iter().filter(|&&set| set).count();
                    all += count;
                }
            }
        }
        assert!((all / 4..all).contains(&found), "{found} of {all} have all bits");
    }

    #[test]
    fn the_largest_table_has_its_bits_where_they_belong() {
        let Some(gather) = Gather::even_if_slow() else { return };
        // Zeros take no memory until one is written.
        let mut words = crate::bits::Buffer::zeroed(1 << 29).unwrap();
        let set = [0, 77, (1 << 31) - 1, 1 << 31, u32::MAX - 1];
        set.iter().for_each(|&position| words[position as usize / 8] |= 1 << (position % 8));
        let others = [1, 76, 78, 1 << 30, (1 << 31) + 1, u32::MAX - 2];
        // (2³² + 1) (p + 1) is scaled to the bit p.
        let key = |&position: &u32| KeyHash::new(((1 << 32) + 1) * (u64::from(position) + 1));
        let keys: Vec<KeyHash> = set.iter().chain(&others).map(key).collect();
        let mut answers = [false; 11];
        gather.scaled_batch(words.as_chunks().0, u32::MAX, (1, 1), &keys, &mut answers);
        assert_eq!(answers, [true, true, true, true, true, false, false, false, false, false, false]);
        for (count, bits) in [(1, 65), (1 << 23, 0), (0, 0)] {
            let table = &words.as_chunks().0[..count];
            let beyond = std::panic::catch_unwind(|| gather.scaled_batch(table, bits, (1, 1), &[], &mut []));
            assert!(beyond.is_err(), "{bits} bits in {count} words");
        }
    }
}
