//! The functions that [`Cpu`](super::super::Cpu) calls: code compiled for a level of x86-64, and assembly that can be
//! inlined into any code.
#![expect(unsafe_code, reason = "vectors are loaded")]

use std::arch::asm;
use std::arch::x86_64::*;

/// Calls a version of `f` that is compiled for x86-64-v3, so that counts, masks and selects inside `f` take only a few
/// instructions.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(in super::super) fn run_v3<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// True if the processor has all instructions for which [`run_v3`] is compiled.
pub(in super::super) fn has_v3() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// True if the processor has all instructions of [`Level::V4`](super::super::Level::V4). They include those for which
/// [`run_v4`] is compiled.
pub(in super::super) fn has_v4() -> bool {
    has_v3()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

/// Calls a version of `f` that is compiled for F, BW and VL of AVX-512 in addition to the instructions of [`run_v3`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")]
pub(in super::super) fn run_v4<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The AVX-512 version of [`super::super::Cpu::positions`], which finds a byte value among 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(in super::super) fn positions_v4(bytes: &[u8; 64], byte: u8) -> u64 {
    // SAFETY: `bytes` is 64 readable bytes and the load needs no alignment.
    let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
}

/// The AVX2 version of [`super::super::Cpu::positions`], which finds a byte value among 64 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn positions_v3(bytes: &[u8; 64], byte: u8) -> u64 {
    let pattern = _mm256_set1_epi8(byte as i8);
    // SAFETY: `bytes` is 64 readable bytes, so both halves are, and the loads need no alignment.
    let (low, high) =
        unsafe { (_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast())) };
    let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern)) as u32;
    let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern)) as u32;
    u64::from(low) | u64::from(high) << 32
}

/// The AVX-512 version of [`super::super::Cpu::starts_with`]. Masked loads touch no byte outside the slices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(in super::super) fn starts_with_v4(text: &[u8], prefix: &[u8]) -> bool {
    if text.len() < prefix.len() {
        return false;
    }
    if prefix.len() <= 32 {
        let lanes = _bzhi_u32(u32::MAX, prefix.len() as u32);
        // SAFETY: one lane is loaded for each byte of `prefix`, and `text` is at least as long as `prefix`.
        let (a, b) = unsafe {
            (
                _mm256_maskz_loadu_epi8(lanes, text.as_ptr().cast()),
                _mm256_maskz_loadu_epi8(lanes, prefix.as_ptr().cast()),
            )
        };
        return _mm256_cmpneq_epi8_mask(a, b) == 0;
    }
    let mut at = 0;
    while at < prefix.len() {
        let lanes = _bzhi_u64(u64::MAX, (prefix.len() - at).min(64) as u32);
        // SAFETY: both slices have at least `prefix.len()` bytes, and only bytes before this length are loaded.
        let (a, b) = unsafe {
            (
                _mm512_maskz_loadu_epi8(lanes, text.as_ptr().add(at).cast()),
                _mm512_maskz_loadu_epi8(lanes, prefix.as_ptr().add(at).cast()),
            )
        };
        if _mm512_cmpneq_epi8_mask(a, b) != 0 {
            return false;
        }
        at += 64;
    }
    true
}

/// The AVX2 version of [`super::super::Cpu::sum_7bit`]. `count` must be at most 64.
#[inline]
#[target_feature(enable = "avx2")]
pub(in super::super) fn sum_7bit_v3(bytes: &[u8; 64], count: usize) -> u32 {
    let numbers =
        _mm256_set_epi64x(0x1F1E_1D1C_1B1A_1918, 0x1716_1514_1312_1110, 0x0F0E_0D0C_0B0A_0908, 0x0706_0504_0302_0100);
    let low7 = _mm256_set1_epi8(0x7F);
    let half = |half: &[u8], count: i8| {
        // SAFETY: each half is 32 readable bytes, and the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        let counted = _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(count), numbers), low7);
        _mm256_sad_epu8(_mm256_and_si256(bytes, counted), _mm256_setzero_si256())
    };
    let (low, high) = bytes.split_at(32);
    let sums = _mm256_add_epi64(half(low, count as i8), half(high, count as i8 - 32));
    let sums = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    (_mm_cvtsi128_si64(sums) + _mm_extract_epi64::<1>(sums)) as u32
}

/// The AVX-512 version of [`super::super::Cpu::sum_7bit`]: the sum of the low 7 bits of each byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(in super::super) fn sum_7bit_v4(bytes: &[u8]) -> u32 {
    let lanes = _bzhi_u64(u64::MAX, bytes.len().min(64) as u32);
    // SAFETY: no more lanes are loaded than there are bytes.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(lanes, bytes.as_ptr().cast()) };
    let low = _mm512_and_si512(bytes, _mm512_set1_epi8(0x7F));
    _mm512_reduce_add_epi64(_mm512_sad_epu8(low, _mm512_setzero_si512())) as u32
}

/// The position of the `n`-th one of `word`, as defined by [`super::super::generic::select`].
///
/// This is assembly, which can be inlined everywhere. A compiler does not inline a function that uses these
/// instructions into one compiled without them, and a call would take as long as all the rest of the work.
///
/// # Safety
/// The processor must have BMI1 and BMI2.
#[inline(always)]
pub(in super::super) unsafe fn select_inline(word: u64, n: u32) -> u32 {
    let position: u64;
    // SAFETY: the caller has checked that the processor has the instructions; they touch no memory.
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

/// The number of ones in `word`.
///
/// # Safety
/// The processor must have POPCNT.
#[inline(always)]
pub(in super::super) unsafe fn count_ones_inline(word: u64) -> u32 {
    let ones: u64;
    // SAFETY: the caller has checked that the processor has the instruction, which touches no memory.
    unsafe {
        asm!("popcnt {ones}, {word}", word = in(reg) word, ones = lateout(reg) ones, options(pure, nomem, nostack));
    }
    ones as u32
}
