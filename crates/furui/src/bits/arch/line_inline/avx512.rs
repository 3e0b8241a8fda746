//! One line in a vector of AVX-512.
//!
//! Registers above the first 16, so that no later instruction of SSE waits for the halves of theirs.
#![expect(unsafe_code, reason = "vector instructions are used after their presence was checked")]

use std::arch::asm;

use super::super::Line;

#[repr(align(64))]
#[expect(dead_code, reason = "assembly reads it")]
struct Constants {
    /// Where in a choice the bit of each lane is.
    shifts: [u64; 8],
    one: u64,
}

static CONSTANTS: Constants = Constants { shifts: [16, 22, 28, 34, 40, 46, 52, 58], one: 1 };

/// See [`super::super::Lines::set_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kortestb`).
#[inline(always)]
pub(in super::super) unsafe fn set(line: &mut Line, choice: u64) -> bool {
    let new: u8;
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
            "kortestb k1, k1",
            "setne {new}",
            line = in(reg) line.as_mut_ptr(),
            choice = in(reg) choice,
            constants = sym CONSTANTS,
            new = lateout(reg_byte) new,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(nostack),
        );
    }
    new != 0
}

/// See [`super::super::Lines::set_lanes_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kortestb`).
#[inline(always)]
pub(in super::super) unsafe fn set_lanes(line: &mut Line, choice: u64, lanes: u8) -> bool {
    let new: u8;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and change the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "kmovb k1, {lanes:e}",
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vpbroadcastq zmm17, qword ptr [rip + {constants} + 64]",
            "vprolvq zmm16 {{k1}}{{z}}, zmm17, zmm16",
            "vmovdqu64 zmm17, zmmword ptr [{line}]",
            "vptestnmq k1 {{k1}}, zmm16, zmm17",
            "vporq zmm17, zmm17, zmm16",
            "vmovdqu64 zmmword ptr [{line}], zmm17",
            "kortestb k1, k1",
            "setne {new}",
            line = in(reg) line.as_mut_ptr(),
            choice = in(reg) choice,
            lanes = in(reg) u32::from(lanes),
            constants = sym CONSTANTS,
            new = lateout(reg_byte) new,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(nostack),
        );
    }
    new != 0
}

/// See [`super::super::Lines::test_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kortestb`).
#[inline(always)]
pub(in super::super) unsafe fn test(line: &Line, choice: u64) -> bool {
    let all: u8;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vpbroadcastq zmm17, qword ptr [rip + {constants} + 64]",
            "vprolvq zmm16, zmm17, zmm16",
            "vptestnmq k1, zmm16, zmmword ptr [{line}]",
            "kortestb k1, k1",
            "sete {all}",
            line = in(reg) line.as_ptr(),
            choice = in(reg) choice,
            constants = sym CONSTANTS,
            all = lateout(reg_byte) all,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(pure, readonly, nostack),
        );
    }
    all != 0
}

/// See [`super::super::Lines::test_lanes_inline`].
///
/// # Safety
/// There must be AVX-512F and DQ (`kortestb`).
#[inline(always)]
pub(in super::super) unsafe fn test_lanes(line: &Line, choice: u64, lanes: u8) -> bool {
    let all: u8;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "kmovb k1, {lanes:e}",
            "vpbroadcastq zmm16, {choice}",
            "vpsrlvq zmm16, zmm16, zmmword ptr [rip + {constants}]",
            "vpbroadcastq zmm17, qword ptr [rip + {constants} + 64]",
            "vprolvq zmm16, zmm17, zmm16",
            "vptestnmq k1 {{k1}}, zmm16, zmmword ptr [{line}]",
            "kortestb k1, k1",
            "sete {all}",
            line = in(reg) line.as_ptr(),
            choice = in(reg) choice,
            lanes = in(reg) u32::from(lanes),
            constants = sym CONSTANTS,
            all = lateout(reg_byte) all,
            out("xmm16") _, out("xmm17") _, out("k1") _,
            options(pure, readonly, nostack),
        );
    }
    all != 0
}
