#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions are used after their presence was checked")
)]

use super::pattern::Pattern;
use super::{Room, generic, key_range};
#[cfg(target_arch = "x86_64")]
use super::{line_inline, line_vectors};
use crate::hash::KeyHash;

#[cfg(test)]
mod tests;

/// A line of a cache as eight lanes, little-endian words of 64 bits.
pub(crate) type Line = [u8; 64];

/// Four lanes of a line.
pub(crate) type Half = [u8; 32];

/// How to set and test bits in all lanes of a line at once: in one or two vectors, or lane by lane.
///
/// Which bits, a [`Pattern`] says, and how far to the left each of its lanes is turned, a word that is called a choice:
/// lane i by as much as its bits 16 + 6 i to 21 + 6 i. As with [`Words`](super::Words), a structure asks once which instructions there are, keeps the
/// answer, and runs each whole operation, or batch of them, through [`run`](Self::run).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines(pub(super) Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Portable,
    /// Only if AVX2, BMI1 and BMI2 were found: a proof that `unsafe` below relies on.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Only if AVX2, AVX-512F and DQ, BMI1, BMI2 and POPCNT were found, likewise.
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
        #[cfg(target_arch = "x86_64")]
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("popcnt");
        let levels = [
            #[cfg(target_arch = "x86_64")]
            (bmi && avx512).then_some(Level::Avx512),
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
                line_vectors::run_avx512(
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
                line_vectors::run_avx2(
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

    /// Sets the bits of the pattern, turned as `choice` says. True if one of them was not set.
    #[inline(always)]
    pub(crate) fn set(self, line: &mut Line, choice: u64, pattern: &Pattern) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_vectors::set_pattern_avx512(line, choice, pattern) != 0 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe {
                !line_vectors::is_zero_avx2(line_vectors::set_pattern_avx2(halves_mut(line), choice, pattern))
            },
            Level::Portable => generic::set(halves_mut(line), choice, pattern),
        }
    }

    /// Whether all bits of the pattern are set, turned as `choice` says.
    #[inline(always)]
    pub(crate) fn test(self, line: &Line, choice: u64, pattern: &Pattern) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_vectors::test_pattern_avx512(line, choice, pattern) == 0 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe {
                line_vectors::is_zero_avx2(line_vectors::test_pattern_avx2(halves(line), choice, pattern))
            },
            Level::Portable => generic::test(halves(line), choice, pattern),
        }
    }

    /// [`set`](Self::set) of a bit in each lane, the lower four of one line and the upper four of it or of another.
    #[inline(always)]
    pub(crate) fn set_halves(self, halves: [&mut Half; 2], choice: u64) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_vectors::set_halves_avx512(halves, choice) != 0 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { !line_vectors::is_zero_avx2(line_vectors::set_avx2(halves, choice)) },
            Level::Portable => generic::set(halves, choice, &Pattern::LINE),
        }
    }

    /// [`test`](Self::test) of a bit in each lane, likewise.
    #[inline(always)]
    pub(crate) fn test_halves(self, halves: [&Half; 2], choice: u64) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_vectors::test_halves_avx512(halves, choice) == 0 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { line_vectors::is_zero_avx2(line_vectors::test_avx2(halves, choice)) },
            Level::Portable => generic::test(halves, choice, &Pattern::LINE),
        }
    }

    /// Whether a line is one vector. Asked before an operation on one key below, outside of [`run`](Self::run), this and
    /// [`is_narrow`](Self::is_narrow) can be settled before a loop over keys.
    #[inline(always)]
    pub(crate) fn is_wide(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == Level::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Whether a line is two vectors.
    #[inline(always)]
    pub(crate) fn is_narrow(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == Level::Avx2;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// [`set`](Self::set) of a bit in each lane for one key.
    #[inline(always)]
    pub(crate) fn set_inline(self, line: &mut Line, choice: u64) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_inline::avx512::set(line, choice) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { line_inline::avx2::set(line, choice) },
            _ => self.run(line, choice, &Pattern::LINE, Self::set),
        }
    }

    /// [`set`](Self::set) for one key.
    #[inline(always)]
    pub(crate) fn set_pattern_inline(self, line: &mut Line, choice: u64, pattern: &Pattern) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_inline::avx512::set_pattern(line, choice, pattern) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { line_inline::avx2::set_pattern(line, choice, pattern) },
            _ => self.run(line, choice, pattern, Self::set),
        }
    }

    /// [`test`](Self::test) of a bit in each lane for one key.
    #[inline(always)]
    pub(crate) fn test_inline(self, line: &Line, choice: u64) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_inline::avx512::test(line, choice) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { line_inline::avx2::test(line, choice) },
            _ => self.run(line, choice, &Pattern::LINE, Self::test),
        }
    }

    /// [`test`](Self::test) for one key.
    #[inline(always)]
    pub(crate) fn test_pattern_inline(self, line: &Line, choice: u64, pattern: &Pattern) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { line_inline::avx512::test_pattern(line, choice, pattern) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { line_inline::avx2::test_pattern(line, choice, pattern) },
            _ => self.run(line, choice, pattern, Self::test),
        }
    }

    /// Writes the keys with hashes less than `bound` to the start of `below` and the others to that of `above`, both in
    /// their order, and says how many are less. All three are of one length.
    pub(super) fn split(self, keys: &[KeyHash], bound: u64, below: &mut Room, above: &mut Room) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` says that the instructions exist.
            Level::Avx512 => unsafe { key_range::split_avx512(keys, bound, below, above) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` says that the instructions exist.
            Level::Avx2 => unsafe { key_range::split_avx2(keys, bound, below, above) },
            Level::Portable => key_range::split(keys, bound, below, above),
        }
    }
}

#[inline(always)]
fn halves(line: &Line) -> [&Half; 2] {
    let [low, high] = line.as_chunks().0 else { unreachable!("64 bytes are twice 32") };
    [low, high]
}

#[inline(always)]
fn halves_mut(line: &mut Line) -> [&mut Half; 2] {
    let [low, high] = line.as_chunks_mut().0 else { unreachable!("64 bytes are twice 32") };
    [low, high]
}
