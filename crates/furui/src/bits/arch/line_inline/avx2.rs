//! One line in two vectors of AVX2.
//!
//! The upper halves of all registers are cleared at the end, as at the end of a function: else later instructions of SSE
//! would wait for them. So no register of vectors outlives this, as none does a call.
#![expect(unsafe_code, reason = "vector instructions are used after their presence was checked")]

use std::arch::asm;

use super::super::Line;
use super::super::pattern::Pattern;

#[repr(C, align(64))]
struct Constants {
    /// Where in a choice the bit of each lane is.
    shifts: [u64; 8],
    sixty_three: u64,
    one: u64,
    sixty_four: u64,
}

static CONSTANTS: Constants =
    Constants { shifts: [16, 22, 28, 34, 40, 46, 52, 58], sixty_three: 63, one: 1, sixty_four: 64 };

/// See [`super::super::Lines::set_inline`].
///
/// # Safety
/// There must be AVX2.
#[inline(always)]
pub(in super::super) unsafe fn set(line: &mut Line, choice: u64) -> bool {
    let new: u8;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and change the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vmovq xmm0, {choice}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, ymmword ptr [rip + {constants} + 32]",
            "vpsrlvq ymm0, ymm0, ymmword ptr [rip + {constants}]",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 64]",
            "vpand ymm1, ymm1, ymm2",
            "vpand ymm0, ymm0, ymm2",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 72]",
            "vpsllvq ymm1, ymm2, ymm1",
            "vpsllvq ymm0, ymm2, ymm0",
            "vmovdqu ymm2, ymmword ptr [{line}]",
            "vmovdqu ymm3, ymmword ptr [{line} + 32]",
            "vpor ymm4, ymm2, ymm0",
            "vpor ymm5, ymm3, ymm1",
            "vmovdqu ymmword ptr [{line}], ymm4",
            "vmovdqu ymmword ptr [{line} + 32], ymm5",
            "vpandn ymm0, ymm2, ymm0",
            "vpandn ymm1, ymm3, ymm1",
            "vpor ymm0, ymm0, ymm1",
            "vptest ymm0, ymm0",
            "setne {new}",
            "vzeroupper",
            line = in(reg) line.as_mut_ptr(),
            choice = in(reg) choice,
            constants = sym CONSTANTS,
            new = out(reg_byte) new,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _,
            options(nostack),
        );
    }
    new != 0
}

/// See [`super::super::Lines::set_pattern_inline`].
///
/// # Safety
/// There must be AVX2.
#[inline(always)]
pub(in super::super) unsafe fn set_pattern(line: &mut Line, choice: u64, pattern: &Pattern) -> bool {
    let new: u8;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and the pattern, and change the 64 bytes of `line`,
    // unaligned.
    unsafe {
        asm!(
            "vmovq xmm0, {choice}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, ymmword ptr [rip + {constants} + 32]",
            "vpsrlvq ymm0, ymm0, ymmword ptr [rip + {constants}]",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 64]",
            "vpand ymm1, ymm1, ymm2",
            "vpand ymm0, ymm0, ymm2",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 80]",
            "vpsubq ymm3, ymm2, ymm1",
            "vpsubq ymm2, ymm2, ymm0",
            "vmovdqu ymm4, ymmword ptr [{pattern}]",
            "vmovdqu ymm5, ymmword ptr [{pattern} + 32]",
            "vpsllvq ymm0, ymm4, ymm0",
            "vpsrlvq ymm2, ymm4, ymm2",
            "vpor ymm0, ymm0, ymm2",
            "vpsllvq ymm1, ymm5, ymm1",
            "vpsrlvq ymm3, ymm5, ymm3",
            "vpor ymm1, ymm1, ymm3",
            "vmovdqu ymm2, ymmword ptr [{line}]",
            "vmovdqu ymm3, ymmword ptr [{line} + 32]",
            "vpor ymm4, ymm2, ymm0",
            "vpor ymm5, ymm3, ymm1",
            "vmovdqu ymmword ptr [{line}], ymm4",
            "vmovdqu ymmword ptr [{line} + 32], ymm5",
            "vpandn ymm0, ymm2, ymm0",
            "vpandn ymm1, ymm3, ymm1",
            "vpor ymm0, ymm0, ymm1",
            "vptest ymm0, ymm0",
            "setne {new}",
            "vzeroupper",
            line = in(reg) line.as_mut_ptr(),
            choice = in(reg) choice,
            pattern = in(reg) pattern.0.as_ptr(),
            constants = sym CONSTANTS,
            new = out(reg_byte) new,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _,
            options(nostack),
        );
    }
    new != 0
}

/// See [`super::super::Lines::test_inline`].
///
/// # Safety
/// There must be AVX2.
#[inline(always)]
pub(in super::super) unsafe fn test(line: &Line, choice: u64) -> bool {
    let signs: u32;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS` and the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vmovq xmm0, {choice}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, ymmword ptr [rip + {constants} + 32]",
            "vpsrlvq ymm0, ymm0, ymmword ptr [rip + {constants}]",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 64]",
            // 63 less the count: the bit becomes the sign of its lane.
            "vpandn ymm1, ymm1, ymm2",
            "vpandn ymm0, ymm0, ymm2",
            "vmovdqu ymm2, ymmword ptr [{line}]",
            "vpsllvq ymm0, ymm2, ymm0",
            "vmovdqu ymm2, ymmword ptr [{line} + 32]",
            "vpsllvq ymm1, ymm2, ymm1",
            "vpand ymm0, ymm0, ymm1",
            "vmovmskpd {signs:e}, ymm0",
            "vzeroupper",
            line = in(reg) line.as_ptr(),
            choice = in(reg) choice,
            constants = sym CONSTANTS,
            signs = lateout(reg) signs,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _,
            options(pure, readonly, nostack),
        );
    }
    signs == 0b1111
}

/// See [`super::super::Lines::test_pattern_inline`].
///
/// # Safety
/// There must be AVX2.
#[inline(always)]
pub(in super::super) unsafe fn test_pattern(line: &Line, choice: u64, pattern: &Pattern) -> bool {
    let all: u8;
    // SAFETY: the caller sees to the instructions; they read `CONSTANTS`, the pattern and the 64 bytes of `line`, unaligned.
    unsafe {
        asm!(
            "vmovq xmm0, {choice}",
            "vpbroadcastq ymm0, xmm0",
            "vpsrlvq ymm1, ymm0, ymmword ptr [rip + {constants} + 32]",
            "vpsrlvq ymm0, ymm0, ymmword ptr [rip + {constants}]",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 64]",
            "vpand ymm1, ymm1, ymm2",
            "vpand ymm0, ymm0, ymm2",
            "vpbroadcastq ymm2, qword ptr [rip + {constants} + 80]",
            "vpsubq ymm3, ymm2, ymm1",
            "vpsubq ymm2, ymm2, ymm0",
            "vmovdqu ymm4, ymmword ptr [{pattern}]",
            "vmovdqu ymm5, ymmword ptr [{pattern} + 32]",
            "vpsllvq ymm0, ymm4, ymm0",
            "vpsrlvq ymm2, ymm4, ymm2",
            "vpor ymm0, ymm0, ymm2",
            "vpsllvq ymm1, ymm5, ymm1",
            "vpsrlvq ymm3, ymm5, ymm3",
            "vpor ymm1, ymm1, ymm3",
            "vmovdqu ymm2, ymmword ptr [{line}]",
            "vpandn ymm0, ymm2, ymm0",
            "vmovdqu ymm2, ymmword ptr [{line} + 32]",
            "vpandn ymm1, ymm2, ymm1",
            "vpor ymm0, ymm0, ymm1",
            "vptest ymm0, ymm0",
            "sete {all}",
            "vzeroupper",
            line = in(reg) line.as_ptr(),
            choice = in(reg) choice,
            pattern = in(reg) pattern.0.as_ptr(),
            constants = sym CONSTANTS,
            all = out(reg_byte) all,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _,
            options(pure, readonly, nostack),
        );
    }
    all != 0
}
