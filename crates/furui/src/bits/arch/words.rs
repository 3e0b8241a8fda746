#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "word instructions are used after their presence was checked")
)]

use super::generic;
#[cfg(target_arch = "x86_64")]
use super::{word_inline, x86_64};

/// Which word instructions (population count, count of zeros, deposit of bits) the code at hand may use.
///
/// Detection costs more than the instructions save, so a structure asks once, keeps the answer, and runs each whole
/// operation through [`run`](Self::run).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// True only if the instructions of x86-64-v3 were found: the proof that `unsafe` below relies on.
    #[cfg(target_arch = "x86_64")]
    v3: bool,
}

impl Words {
    /// Asks the processor.
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            v3: x86_64::has_v3(),
        }
    }

    /// No instruction beyond the target's own.
    #[cfg(test)]
    pub(crate) const fn portable() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            v3: false,
        }
    }

    /// Calls `f`, compiled once for each set of instructions. What it calls must be `#[inline(always)]`, and so must
    /// `f`, or it stays portable code.
    #[inline(always)]
    pub(crate) fn run<R>(self, f: impl FnOnce(Self) -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        if self.v3 {
            // SAFETY: `v3` says that the instructions exist.
            return unsafe {
                x86_64::run_v3(
                    #[inline(always)]
                    || f(Self { v3: true }),
                )
            };
        }
        generic::run(
            #[inline(always)]
            || {
                f(Self {
                    #[cfg(target_arch = "x86_64")]
                    v3: false,
                })
            },
        )
    }

    /// The same, if [`count_ones`](Self::count_ones) and [`select`](Self::select) are few instructions outside of
    /// [`run`](Self::run) too: then an operation that needs no others can be inlined into whatever calls it.
    #[inline(always)]
    pub(crate) fn inlined(self) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if self.v3 {
            return Some(Self { v3: true });
        }
        None
    }

    /// How many ones `word` has: a single instruction outside of [`run`](Self::run) too.
    #[inline(always)]
    pub(crate) fn count_ones(self, word: u64) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if self.v3 {
            // SAFETY: `v3` says that the instruction exists.
            return unsafe { word_inline::count_ones(word) };
        }
        word.count_ones()
    }

    /// The position of the `n`-th one of `word`, counted from 0; 64 if there are not that many. `n` is below 64. In a few
    /// instructions outside of [`run`](Self::run) too.
    #[inline(always)]
    pub(crate) fn select(self, word: u64, n: u32) -> u32 {
        debug_assert!(n < 64);
        #[cfg(target_arch = "x86_64")]
        if self.v3 {
            // SAFETY: `v3` says that the instructions exist.
            return unsafe { word_inline::select(word, n) };
        }
        generic::select(word, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn select_finds_the_nth_one_in_every_kind_of_word() {
        let mut words = vec![0, 1, u64::MAX, 1 << 63, 0x8000_0000_0000_0001, 0xFF00, 0x5555_5555_5555_5555];
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        for i in 0..2000 {
            x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(i);
            let y = x.rotate_left(23).wrapping_mul(x | 1);
            words.extend([x, x & y, x | y, x & y & (y >> 7)]);
        }
        for word in words {
            assert_eq!(Words::detect().count_ones(word), word.count_ones(), "{word:#x}");
            assert_eq!(Words::portable().count_ones(word), word.count_ones(), "{word:#x}");
            let ones: Vec<u32> = (0..64).filter(|&i| word >> i & 1 == 1).collect();
            for n in 0..64 {
                let expected = ones.get(n as usize).copied().unwrap_or(64);
                assert_eq!(Words::portable().select(word, n), expected, "{word:#x}, {n}");
                assert_eq!(Words::detect().select(word, n), expected, "{word:#x}, {n}");
            }
        }
    }
}
