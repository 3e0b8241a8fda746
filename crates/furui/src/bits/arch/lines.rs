#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are used after their presence was checked")
)]

use super::generic;
#[cfg(target_arch = "x86_64")]
use super::x86_64;

/// A line of a cache as eight lanes, little-endian words of 64 bits.
pub(crate) type Line = [u8; 64];

/// How to set and test one bit in each of several lanes of a line at once: in one or two vectors, or lane by lane.
///
/// A bit is chosen in every lane by a word: in lane i by its bits 16 + 6 i to 21 + 6 i. Which lanes count, a mask of
/// eight bits says. As with [`Words`](super::Words), a structure asks once which instructions there are, keeps the
/// answer, and runs each whole operation, or batch of them, through [`run`](Self::run).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    /// Only if AVX2, BMI1 and BMI2 were found: a proof that `unsafe` below relies on.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Only if AVX-512F, BMI1 and BMI2 were found, likewise.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Lines {
    /// Asks the processor.
    pub(crate) fn detect() -> Self {
        Self::each().next().unwrap_or(Self(Level::Portable))
    }

    /// Every way this processor knows, the best first.
    pub(crate) fn each() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let bmi = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        let levels = [
            #[cfg(target_arch = "x86_64")]
            (bmi && is_x86_feature_detected!("avx512f")).then_some(Level::Avx512),
            #[cfg(target_arch = "x86_64")]
            (bmi && is_x86_feature_detected!("avx2")).then_some(Level::Avx2),
            Some(Level::Portable),
        ];
        levels.into_iter().flatten().map(Self)
    }

    /// Calls `f`, compiled once for each set of instructions, on these arguments. What it calls must be
    /// `#[inline(always)]`, and so must `f`, or it stays portable code.
    ///
    /// Arguments go through registers; what `f` captured would go through memory, which one key would feel.
    #[inline(always)]
    pub(crate) fn run<A, B, C, R>(self, a: A, b: B, c: C, f: impl FnOnce(Self, A, B, C) -> R) -> R {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe {
                x86_64::run_avx512(
                    a,
                    b,
                    c,
                    #[inline(always)]
                    |a, b, c| f(Self(Level::Avx512), a, b, c),
                )
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe {
                x86_64::run_avx2(
                    a,
                    b,
                    c,
                    #[inline(always)]
                    |a, b, c| f(Self(Level::Avx2), a, b, c),
                )
            },
            Level::Portable => generic::run(
                #[inline(always)]
                || f(Self(Level::Portable), a, b, c),
            ),
        }
    }

    /// Sets the bit that `choice` says in each of the `lanes`. True if one of them was not set.
    #[inline(always)]
    pub(crate) fn set(self, line: &mut Line, choice: u64, lanes: u8) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { x86_64::set_avx512(line, choice, lanes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { x86_64::set_avx2(line, choice, lanes) },
            Level::Portable => generic::set(line, choice, lanes),
        }
    }

    /// Whether the bit that `choice` says is set in all of the `lanes`.
    #[inline(always)]
    pub(crate) fn test(self, line: &Line, choice: u64, lanes: u8) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { x86_64::test_avx512(line, choice, lanes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { x86_64::test_avx2(line, choice, lanes) },
            Level::Portable => generic::test(line, choice, lanes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_set_and_test_equals_the_plain_words() {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = || {
            x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
            x.rotate_left(29).wrapping_mul(x | 1)
        };
        for way in Lines::each() {
            let mut line = [0; 64];
            for i in 0..4000 {
                if i % 40 == 0 {
                    line = [0; 64];
                }
                let (choice, lanes) = (random(), [0xFF, random() as u8][i % 2]);
                let before = line;
                let bit = |lane: u32| (choice >> (16 + 6 * lane) & 63) as usize + 64 * lane as usize;
                let chosen: Vec<usize> = (0..8).filter(|lane| lanes >> lane & 1 == 1).map(bit).collect();
                let all = chosen.iter().all(|&bit| before[bit / 8] >> (bit % 8) & 1 == 1);
                let mut after = before;
                chosen.iter().for_each(|&bit| after[bit / 8] |= 1 << (bit % 8));

                let context = format!("{way:?}, {choice:#x}, {lanes:#b}");
                assert_eq!(
                    way.run(&before, choice, lanes, |way, line, choice, lanes| way.test(line, choice, lanes)),
                    all,
                    "{context}"
                );
                assert_eq!(
                    way.run(&mut line, choice, lanes, |way, line, choice, lanes| way.set(line, choice, lanes)),
                    !all,
                    "{context}"
                );
                assert_eq!(line, after, "{context}");
                assert!(
                    way.run(&after, choice, lanes, |way, line, choice, lanes| way.test(line, choice, lanes)),
                    "{context}"
                );
            }
        }
    }
}
