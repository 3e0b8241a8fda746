//! One line in a vector of AVX-512.
//!
//! Registers above the first 16, so that no later instruction of SSE waits for the halves of theirs.
#![expect(unsafe_code, reason = "vector instructions are used after their presence was checked")]

use std::arch::asm;

use super::super::Line;
use super::super::pattern::Pattern;

#[repr(C, align(64))]
struct Constants {
    /// Where in a choice the bit of each lane is.
    shifts: [u64; 8],
    one: u64,
}

static CONSTANTS: Constants = Constants { shifts: [16, 22, 28, 34, 40, 46, 52, 58], one: 1 };

/// See [`super::super::Lines::set_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kmovb`).
#[inline(always)]
pub(in super::super) unsafe fn set(line: &mut Line, choice: u64) -> bool {
    let missing: u32;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and change the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vpbroadcastq zmm17, qword ptr [rip + {constants} + 64]",
            "vprolvq zmm16, zmm17, zmm16",
            "vmovdqu64 zmm17, zmmword ptr [{line}]",
            "vptestnmq k1, zmm16, zmm17",
            "vporq zmm17, zmm17, zmm16",
            "vmovdqu64 zmmword ptr [{line}], zmm17",
            "kmovb {missing:e}, k1",
            line = in(reg) line.as_mut_ptr(),
            choice = in(reg) choice,
            constants = sym CONSTANTS,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(nostack),
        );
    }
    missing != 0
}

/// See [`super::super::Lines::set_pattern_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kmovb`).
#[inline(always)]
pub(in super::super) unsafe fn set_pattern(line: &mut Line, choice: u64, pattern: &Pattern) -> bool {
    let missing: u32;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and the pattern, and change the 64 bytes of `line`,
    // unaligned.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vmovdqu64 zmm17, zmmword ptr [{pattern}]",
            "vprolvq zmm16, zmm17, zmm16",
            "vmovdqu64 zmm17, zmmword ptr [{line}]",
            "vpandnq zmm18, zmm17, zmm16",
            "vptestmq k1, zmm18, zmm18",
            "vporq zmm17, zmm17, zmm16",
            "vmovdqu64 zmmword ptr [{line}], zmm17",
            "kmovb {missing:e}, k1",
            line = in(reg) line.as_mut_ptr(),
            choice = in(reg) choice,
            pattern = in(reg) pattern.0.as_ptr(),
            constants = sym CONSTANTS,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("k1") _,
            options(nostack),
        );
    }
    missing != 0
}

/// See [`super::super::Lines::test_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kmovb`).
#[inline(always)]
pub(in super::super) unsafe fn test(line: &Line, choice: u64) -> bool {
    let missing: u32;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vpbroadcastq zmm17, qword ptr [rip + {constants} + 64]",
            "vprolvq zmm16, zmm17, zmm16",
            "vptestnmq k1, zmm16, zmmword ptr [{line}]",
            "kmovb {missing:e}, k1",
            line = in(reg) line.as_ptr(),
            choice = in(reg) choice,
            constants = sym CONSTANTS,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(pure, readonly, nostack),
        );
    }
    missing == 0
}

/// See [`super::super::Lines::test_pattern_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kmovb`).
#[inline(always)]
pub(in super::super) unsafe fn test_pattern(line: &Line, choice: u64, pattern: &Pattern) -> bool {
    let missing: u32;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS`, the pattern and the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vmovdqu64 zmm17, zmmword ptr [{pattern}]",
            "vprolvq zmm16, zmm17, zmm16",
            // 0x50: in the first and not in the third.
            "vpternlogq zmm16, zmm16, zmmword ptr [{line}], 0x50",
            "vptestmq k1, zmm16, zmm16",
            "kmovb {missing:e}, k1",
            line = in(reg) line.as_ptr(),
            choice = in(reg) choice,
            pattern = in(reg) pattern.0.as_ptr(),
            constants = sym CONSTANTS,
            missing = lateout(reg) missing,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(pure, readonly, nostack),
        );
    }
    missing == 0
}
