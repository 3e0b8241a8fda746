#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "instructions are used after their presence was checked")
)]

use super::generic;
#[cfg(target_arch = "x86_64")]
use super::x86_64;

/// A proof that the processor has an instruction set for which this module has a version of its code.
///
/// Detection takes longer than the instructions save. So a structure calls [`detect`](Self::detect) once, keeps the
/// result, and runs each whole operation through [`run`](Self::run). Inside `run`, each method of this type takes a few
/// instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cpu(Level);

/// An instruction set that is found at run time. A value above `Portable` is made only in [`Cpu::all`], which checks
/// that the processor has its instructions. `unsafe` code relies on that check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Level {
    /// No instructions but those for which the program was compiled.
    Portable,
    /// The instructions of x86-64-v3: AVX2, BMI1, BMI2, LZCNT, POPCNT.
    #[cfg(target_arch = "x86_64")]
    V3,
    /// The instructions of AVX-512 as Ice Lake and Zen 4 have it: F, BW, DQ, VL, VBMI and VBMI2, on top of x86-64-v3.
    #[cfg(target_arch = "x86_64")]
    V4,
}

impl Cpu {
    /// The best instruction set that the processor has, among those for which this module has code.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::sync::LazyLock;
            static FOUND: LazyLock<Cpu> = LazyLock::new(|| Cpu::all().pop().unwrap_or(Cpu(Level::Portable)));
            *FOUND
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self(Level::Portable)
    }

    /// All instruction sets that the processor has, the best last.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self(Level::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            let v3 = x86_64::has_v3();
            all.extend(v3.then_some(Self(Level::V3)));
            all.extend((v3 && x86_64::has_v4()).then_some(Self(Level::V4)));
        }
        all
    }

    /// The level (instruction set), for code that has one version for each level.
    #[inline(always)]
    pub(crate) fn level(self) -> Level {
        self.0
    }

    /// This instruction set without AVX-512, for loops of which the compiler makes worse code with it.
    #[inline(always)]
    pub(crate) fn without_avx512(self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if self.0 == Level::V4 {
            return Self(Level::V3);
        }
        self
    }

    /// Calls `f`, which is compiled once for each instruction set. `f` and every function that it calls must be
    /// `#[inline(always)]`: a function that is not inlined stays portable code.
    #[inline(always)]
    pub(crate) fn run<R>(self, f: impl FnOnce(Self) -> R) -> R {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level says that the instructions exist.
            Level::V4 => unsafe {
                x86_64::run_v4(
                    #[inline(always)]
                    || f(Self(Level::V4)),
                )
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level says that the instructions exist.
            Level::V3 => unsafe {
                x86_64::run_v3(
                    #[inline(always)]
                    || f(Self(Level::V3)),
                )
            },
            Level::Portable => generic::run(
                #[inline(always)]
                || f(Self(Level::Portable)),
            ),
        }
    }

    /// Returns this value if [`count_ones`](Self::count_ones) and [`select`](Self::select) are a few instructions even
    /// outside of [`run`](Self::run). An operation that needs only these two can then be inlined into its callers.
    #[inline(always)]
    pub(crate) fn inlined(self) -> Option<Self> {
        (self.0 != Level::Portable).then_some(self)
    }

    /// The number of ones in `word`. Above the portable level, this is one instruction even outside of
    /// [`run`](Self::run).
    #[inline(always)]
    pub(crate) fn count_ones(self, word: u64) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if self.0 != Level::Portable {
            // SAFETY: every level above the portable one has POPCNT.
            return unsafe { x86_64::count_ones_inline(word) };
        }
        word.count_ones()
    }

    /// The position of the `n`-th one of `word`, counted from 0; 64 if there is none. `n` must be below 64. Above the
    /// portable level, this is a few instructions even outside of [`run`](Self::run).
    #[inline(always)]
    pub(crate) fn select(self, word: u64, n: u32) -> u32 {
        debug_assert!(n < 64);
        #[cfg(target_arch = "x86_64")]
        if self.0 != Level::Portable {
            // SAFETY: every level above the portable one has BMI1 and BMI2.
            return unsafe { x86_64::select_inline(word, n) };
        }
        generic::select(word, n)
    }

    /// A mask of the 64 positions in `bytes`: a bit is set if the byte there is `byte`.
    #[inline(always)]
    pub(crate) fn positions(self, bytes: &[u8; 64], byte: u8) -> u64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level says that the instructions exist.
            Level::V4 => unsafe { x86_64::positions_v4(bytes, byte) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level says that the instructions exist.
            Level::V3 => unsafe { x86_64::positions_v3(bytes, byte) },
            Level::Portable => generic::positions(bytes, byte),
        }
    }

    /// True if `text` begins with `prefix`.
    #[inline(always)]
    pub(crate) fn starts_with(self, text: &[u8], prefix: &[u8]) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level says that the instructions exist.
            Level::V4 => unsafe { x86_64::starts_with_v4(text, prefix) },
            _ => generic::starts_with(text, prefix),
        }
    }

    /// The sum of the low 7 bits of each of the first `count` bytes; `count` must be at most 64.
    #[inline(always)]
    pub(crate) fn sum_7bit(self, bytes: &[u8], count: usize) -> u32 {
        debug_assert!(count <= 64);
        #[cfg(target_arch = "x86_64")]
        match self.0 {
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
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn code_for_instructions_that_are_missing_here_is_said_to_be_untested() {
        let tested = Cpu::all();
        assert_eq!(tested[0].level(), Level::Portable);
        #[cfg(target_arch = "x86_64")]
        let levels = &[(Level::V3, "AVX2"), (Level::V4, "AVX-512")][..];
        #[cfg(not(target_arch = "x86_64"))]
        let levels: &[(Level, &str)] = &[];
        for (level, name) in levels.iter().filter(|(level, _)| !tested.contains(&Cpu(*level))) {
            // This is not `eprintln!`, whose output is shown only for tests that fail.
            let skipped = format!("SKIPPED: the tests of {level:?}: this processor has no {name}\n");
            std::io::stderr().write_all(skipped.as_bytes()).unwrap();
        }
    }

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
            for cpu in Cpu::all() {
                assert_eq!(cpu.run(|cpu| cpu.positions(&block, byte)), naive, "{cpu:?}");
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
                    for cpu in Cpu::all() {
                        let got = cpu.run(|cpu| cpu.starts_with(text, &prefix));
                        assert_eq!(got, text.starts_with(&prefix), "{cpu:?} {len} {end} {damaged:?}");
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
                for cpu in Cpu::all() {
                    let sum = cpu.run(|cpu| cpu.sum_7bit(&bytes, count));
                    assert_eq!(sum, naive, "{cpu:?} {count} {behind}");
                }
            }
        }
    }

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
            for cpu in Cpu::all() {
                assert_eq!(cpu.count_ones(word), word.count_ones(), "{word:#x}");
            }
            let ones: Vec<u32> = (0..64).filter(|&i| word >> i & 1 == 1).collect();
            for n in 0..64 {
                let expected = ones.get(n as usize).copied().unwrap_or(64);
                for cpu in Cpu::all() {
                    assert_eq!(cpu.select(word, n), expected, "{word:#x}, {n}");
                }
            }
        }
    }
}
