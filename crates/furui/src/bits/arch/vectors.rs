#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are used after their presence was checked")
)]

use super::generic;
#[cfg(target_arch = "x86_64")]
use super::x86_64;

/// Which vector and word instructions a search among bytes may use.
///
/// As [`Words`](super::Words): a structure asks once, keeps the answer, and runs each whole operation through
/// [`run`](Self::run), inside which every method is a few instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors {
    #[cfg(target_arch = "x86_64")]
    level: Level,
}

/// The proof that `unsafe` below relies on: a level above `Portable` is made only where its instructions were found.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    /// x86-64-v3: AVX2, BMI.
    V3,
    /// x86-64-v4: AVX-512 with bytes and short vectors, too.
    V4,
}

impl Vectors {
    /// Asks the processor.
    pub(crate) fn detect() -> Self {
        Self::all().pop().expect("there is always the portable code")
    }

    /// Every set of instructions there is here, the best last.
    pub(crate) fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let mut all = vec![Self { level: Level::Portable }];
            if x86_64::has_v3() {
                all.push(Self { level: Level::V3 });
                if x86_64::has_v4() {
                    all.push(Self { level: Level::V4 });
                }
            }
            all
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![Self {}]
    }

    /// Calls `f`, compiled once for each set of instructions. What it calls must be `#[inline(always)]`, and so must
    /// `f`, or it stays portable code.
    #[inline(always)]
    pub(crate) fn run<R>(self, f: impl FnOnce(Self) -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        match self.level {
            Level::V4 => {
                // SAFETY: the level says that the instructions exist.
                return unsafe {
                    x86_64::run_v4(
                        #[inline(always)]
                        || f(Self { level: Level::V4 }),
                    )
                };
            }
            Level::V3 => {
                // SAFETY: the level says that the instructions exist.
                return unsafe {
                    x86_64::run_v3(
                        #[inline(always)]
                        || f(Self { level: Level::V3 }),
                    )
                };
            }
            Level::Portable => {}
        }
        generic::run(
            #[inline(always)]
            || {
                f(Self {
                    #[cfg(target_arch = "x86_64")]
                    level: Level::Portable,
                })
            },
        )
    }

    /// The positions of `byte` among 64 bytes.
    #[inline(always)]
    pub(crate) fn positions(self, bytes: &[u8; 64], byte: u8) -> u64 {
        #[cfg(target_arch = "x86_64")]
        match self.level {
            // SAFETY: the level says that the instructions exist.
            Level::V4 => return unsafe { x86_64::positions_v4(bytes, byte) },
            // SAFETY: the level says that the instructions exist.
            Level::V3 => return unsafe { x86_64::positions_v3(bytes, byte) },
            Level::Portable => {}
        }
        generic::positions(bytes, byte)
    }

    /// Whether `text` begins with `prefix`.
    #[inline(always)]
    pub(crate) fn starts_with(self, text: &[u8], prefix: &[u8]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.level == Level::V4 {
            // SAFETY: the level says that the instructions exist.
            return unsafe { x86_64::starts_with_v4(text, prefix) };
        }
        generic::starts_with(text, prefix)
    }

    /// The sum of the low 7 bits of each of the first `count` bytes, 64 at most.
    #[inline(always)]
    pub(crate) fn sum_7bit(self, bytes: &[u8], count: usize) -> u32 {
        debug_assert!(count <= 64);
        #[cfg(target_arch = "x86_64")]
        match self.level {
            // SAFETY: the level says that the instructions exist.
            Level::V4 => return unsafe { x86_64::sum_7bit_v4(&bytes[..count]) },
            Level::V3 => {
                if let Some(bytes) = bytes.first_chunk() {
                    // SAFETY: the level says that the instructions exist.
                    return unsafe { x86_64::sum_7bit_v3(bytes, count) };
                }
            }
            Level::Portable => {}
        }
        generic::sum_7bit(&bytes[..count])
    }

    /// The position of the `n`-th one of `word`, counted from 0; 64 if there are not that many. `n` is below 64.
    #[inline(always)]
    pub(crate) fn select(self, word: u64, n: u32) -> u32 {
        debug_assert!(n < 64);
        #[cfg(target_arch = "x86_64")]
        if self.level != Level::Portable {
            // SAFETY: every level above the portable one has BMI1 and BMI2.
            return unsafe { x86_64::select(word, n) };
        }
        generic::select(word, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 22) as u8).collect()
    }

    #[test]
    fn positions_are_those_of_the_byte() {
        for (start, byte) in (0..200).zip([0, 1, 0x7F, 0x80, 0xFF].into_iter().cycle()) {
            let mut block: [u8; 64] = bytes(300)[start..].first_chunk().copied().unwrap();
            for i in (start % 7..64).step_by(start % 11 + 1) {
                block[i] = byte;
            }
            let naive = (0..64).filter(|&i| block[i] == byte).fold(0, |mask, i| mask | 1u64 << i);
            for vectors in Vectors::all() {
                assert_eq!(vectors.run(|vectors| vectors.positions(&block, byte)), naive, "{vectors:?}");
            }
        }
    }

    #[test]
    fn starts_with_is_that_of_slices() {
        let text = bytes(300);
        for len in 0..300 {
            for end in [0, len, len + 1, 300] {
                let text = &text[..end.min(300)];
                let mut prefix = bytes(len);
                for damaged in [None, Some(0), len.checked_sub(1), Some(len / 2)] {
                    if let Some(byte) = damaged.and_then(|at| prefix.get_mut(at)) {
                        *byte ^= 0x40;
                    }
                    for vectors in Vectors::all() {
                        let got = vectors.run(|vectors| vectors.starts_with(text, &prefix));
                        assert_eq!(got, text.starts_with(&prefix), "{vectors:?} {len} {end} {damaged:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_low_seven_bits() {
        for (count, behind) in (0..=64).flat_map(|count| [0, 1, 64 - count, 70].map(|behind| (count, behind))) {
            for bytes in [bytes(count + behind), vec![0xFF; count + behind]] {
                let naive: u32 = bytes[..count].iter().map(|&byte| u32::from(byte & 0x7F)).sum();
                for vectors in Vectors::all() {
                    let sum = vectors.run(|vectors| vectors.sum_7bit(&bytes, count));
                    assert_eq!(sum, naive, "{vectors:?} {count} {behind}");
                }
            }
        }
    }

    #[test]
    fn select_is_the_portable_one() {
        for i in 1..500u64 {
            let word = i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32);
            for n in 0..64 {
                for vectors in Vectors::all() {
                    assert_eq!(vectors.run(|vectors| vectors.select(word, n)), generic::select(word, n));
                }
            }
        }
    }
}
