//! Single word instructions in the midst of portable code: a compiler does not inline a function that uses them into one
//! compiled without them, and a call would take as long as all the rest. Assembly is inlined everywhere.
#![expect(unsafe_code, reason = "word instructions are used after their presence was checked")]

use std::arch::asm;

/// See [`super::generic::select`].
///
/// # Safety
/// There must be BMI1 and BMI2.
#[inline(always)]
pub(super) unsafe fn select(word: u64, n: u32) -> u32 {
    let position: u64;
    // SAFETY: the caller sees to the instructions; they touch no memory.
    unsafe {
        asm!(
            "mov {position:e}, 1",
            "shlx {position}, {position}, {n:r}",
            "pdep {position}, {position}, {word}",
            "tzcnt {position}, {position}",
            word = in(reg) word,
            n = in(reg) n,
            position = out(reg) position,
            options(pure, nomem, nostack),
        );
    }
    position as u32
}

/// How many ones `word` has.
///
/// # Safety
/// There must be POPCNT.
#[inline(always)]
pub(super) unsafe fn count_ones(word: u64) -> u32 {
    let ones: u64;
    // SAFETY: the caller sees to the instruction, which touches no memory.
    unsafe {
        asm!("popcnt {ones}, {word}", word = in(reg) word, ones = lateout(reg) ones, options(pure, nomem, nostack));
    }
    ones as u32
}
