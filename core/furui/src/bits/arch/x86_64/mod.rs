//! Vector code for x86-64. Callers must have checked that the processor has the instructions of a function's level.
#![expect(unsafe_code, reason = "vector instructions are called after their presence was checked")]

use std::arch::x86_64::*;

use super::generic;

mod levels;

pub(super) use levels::*;

/// The x86-64 version of [`super::prefetch`], which fetches a cache line before it is read.
#[inline(always)]
pub(super) fn prefetch<T>(item: &T) {
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe { _mm_prefetch(std::ptr::from_ref(item).cast(), _MM_HINT_T0) };
}

/// The x86-64 version of [`super::prefetch_at`], which fetches a cache line before it is read.
#[inline(always)]
pub(super) fn prefetch_at<T>(items: &[T], at: usize) {
    // SAFETY: SSE is part of x86-64, and a prefetch never faults, whatever the address.
    unsafe { _mm_prefetch(items.as_ptr().cast::<i8>().wrapping_add(at), _MM_HINT_T0) };
}

/// The version for x86-64-v3 of [`super::select_zero`], which finds the zero of a given rank in a bit string.
#[target_feature(enable = "popcnt,bmi1,bmi2")]
pub(super) fn select_zero_v3(words: &[[u8; 8]], rank: u64) -> Option<usize> {
    generic::select_zero_by(words, rank, |word, rank| _tzcnt_u64(_pdep_u64(1 << rank, word)) as u32)
}

/// The AVX-512 version of [`super::unary_numbers`]. It gets the positions of a word's ones by compressing the bytes 0
/// to 63 under the word as a mask, and then computes eight numbers at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
pub(super) fn unary_numbers_v4(words: &[[u8; 8]], base: u64, numbers: &mut [u64]) -> bool {
    let every_position: [u8; 64] = std::array::from_fn(|i| i as u8);
    // SAFETY: the array is 64 readable bytes, and the load needs no alignment.
    let every_position = unsafe { _mm512_loadu_si512(every_position.as_ptr().cast()) };
    let indices = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    let mut done = 0;
    for (w, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let count = word.count_ones() as usize;
        if count > numbers.len() - done {
            return false;
        }
        let mut positions = [0; 64];
        let compressed = _mm512_maskz_compress_epi8(word, every_position);
        // SAFETY: `positions` is 64 writable bytes, and the store needs no alignment.
        unsafe { _mm512_storeu_si512(positions.as_mut_ptr().cast(), compressed) };
        for (eight, first) in positions.as_chunks::<8>().0.iter().zip((done..done + count).step_by(8)) {
            let start = base.wrapping_add(w as u64 * 64).wrapping_sub(first as u64);
            let offsets = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(i64::from_le_bytes(*eight)));
            let offsets = _mm512_sub_epi64(offsets, indices);
            let result = _mm512_add_epi64(_mm512_set1_epi64(start as i64), offsets);
            // Lanes beyond the number of bits set in the word are overwritten by the next word's numbers, or are cut
            // off at the end.
            let room = numbers[first..].len().min(8);
            let lanes = if room == 8 { 0xFF } else { (1 << room) - 1 };
            // SAFETY: no lane is stored beyond the end of `numbers`.
            unsafe { _mm512_mask_storeu_epi64(numbers[first..].as_mut_ptr().cast(), lanes, result) };
        }
        done += count;
    }
    done == numbers.len()
}

/// The AVX-512 version of [`super::append_packed`] for whole groups of eight values. It stops before the first group
/// for which there are not 64 bytes to load, and returns the number of groups done. One permutation moves the eight
/// bytes that hold a number into its lane.
#[target_feature(enable = "avx512f,avx512vbmi")]
pub(super) fn append_packed_v4(packed: &[u8], bits: u32, values: &mut [u64]) -> usize {
    let bit = |lane: usize| lane * bits as usize;
    let bytes: [u8; 64] = std::array::from_fn(|i| (bit(i / 8) / 8 + i % 8) as u8);
    let shifts: [u64; 8] = std::array::from_fn(|lane| (bit(lane) % 8) as u64);
    // SAFETY: each array is 64 readable bytes, and the loads need no alignment.
    let (bytes, shifts) =
        unsafe { (_mm512_loadu_si512(bytes.as_ptr().cast()), _mm512_loadu_si512(shifts.as_ptr().cast())) };
    let mask = _mm512_set1_epi64((1 << bits) - 1);
    let width = _mm_cvtsi64_si128(i64::from(bits));
    let mut rest = packed;
    for (g, group) in values.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let Some(room) = rest.first_chunk::<64>() else { return g };
        // SAFETY: `room` is 64 readable bytes and `group` 64 readable and writable ones; nothing needs alignment.
        unsafe {
            let words = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(room.as_ptr().cast()));
            let numbers = _mm512_and_si512(_mm512_srlv_epi64(words, shifts), mask);
            let above = _mm512_sll_epi64(_mm512_loadu_si512(group.as_ptr().cast()), width);
            _mm512_storeu_si512(group.as_mut_ptr().cast(), _mm512_or_si512(above, numbers));
        }
        rest = &rest[bits as usize..];
    }
    values.len() / 8
}

/// The AVX-512 version of [`super::byte_positions`], which finds all positions of a byte value.
#[target_feature(enable = "avx512bw,bmi1")]
pub(super) fn byte_positions_v4(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    let pattern = _mm512_set1_epi8(byte as i8);
    flatten(haystack, byte, out, |block| {
        // SAFETY: `block` is 64 readable bytes and the load needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        _mm512_cmpeq_epi8_mask(bytes, pattern)
    });
}

/// The AVX2 version of [`super::byte_positions`], which finds all positions of a byte value.
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn byte_positions_v3(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    let pattern = _mm256_set1_epi8(byte as i8);
    flatten(haystack, byte, out, |block| {
        // SAFETY: `block` is 64 readable bytes, so both halves are, and the loads need no alignment.
        let (low, high) =
            unsafe { (_mm256_loadu_si256(block.as_ptr().cast()), _mm256_loadu_si256(block.as_ptr().add(32).cast())) };
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern)) as u32;
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern)) as u32;
        u64::from(low) | u64::from(high) << 32
    });
}

/// Appends the positions of the ones in the match mask of every 64-byte block. The first four positions of a block are
/// written whether they exist or not, which saves a branch per match in text with lines of usual lengths; a loop writes
/// the rest.
#[inline(always)]
fn flatten(haystack: &[u8], byte: u8, out: &mut Vec<u32>, mask_of: impl Fn(&[u8; 64]) -> u64) {
    let (blocks, tail) = haystack.as_chunks::<64>();
    let mut len = out.len();
    for (i, block) in blocks.iter().enumerate() {
        let mut mask = mask_of(block);
        let count = mask.count_ones() as usize;
        if out.len() < len + 64 {
            out.resize((len + 64).max(out.len() * 2), 0);
        }
        let base = i as u32 * 64;
        let slots = &mut out[len..len + 64];
        for slot in &mut slots[..4] {
            // An empty mask has 64 trailing zeros. The number that is stored then is overwritten by the next block, or
            // cut off at the end.
            *slot = base + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        }
        let mut k = 4;
        while mask != 0 {
            slots[k] = base + mask.trailing_zeros();
            mask &= mask - 1;
            k += 1;
        }
        len += count;
    }
    out.truncate(len);
    let tail_start = out.len();
    generic::byte_positions(tail, byte, out);
    let base = (blocks.len() * 64) as u32;
    for position in &mut out[tail_start..] {
        *position += base;
    }
}

/// The AVX-512 version of [`super::decrement_2bit`], which subtracts 1 from 2-bit counters.
#[target_feature(enable = "avx512f")]
pub(super) fn decrement_2bit_v4(words: &mut [[u8; 8]]) {
    let low_bits = _mm512_set1_epi64(0x5555_5555_5555_5555);
    let (blocks, tail) = words.as_chunks_mut::<8>();
    for block in blocks {
        // SAFETY: `block` is 64 readable bytes and the load needs no alignment.
        let x = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        // (x | x >> 1) & low_bits, in one instruction: 0xA8 is the truth table of (a | b) & c.
        let nonzero = _mm512_ternarylogic_epi64::<0xA8>(x, _mm512_srli_epi64::<1>(x), low_bits);
        // SAFETY: `block` is 64 writable bytes and the store needs no alignment.
        unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), _mm512_sub_epi64(x, nonzero)) };
    }
    generic::decrement_2bit(tail);
}

/// The AVX2 version of [`super::decrement_2bit`], which subtracts 1 from 2-bit counters.
#[target_feature(enable = "avx2")]
pub(super) fn decrement_2bit_v3(words: &mut [[u8; 8]]) {
    let low_bits = _mm256_set1_epi64x(0x5555_5555_5555_5555);
    let (blocks, tail) = words.as_chunks_mut::<4>();
    for block in blocks {
        // SAFETY: `block` is 32 readable bytes and the load needs no alignment.
        let x = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
        let nonzero = _mm256_and_si256(_mm256_or_si256(x, _mm256_srli_epi64::<1>(x)), low_bits);
        // SAFETY: `block` is 32 writable bytes and the store needs no alignment.
        unsafe { _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_sub_epi64(x, nonzero)) };
    }
    generic::decrement_2bit(tail);
}

/// The x86-64 version of [`super::prefetch_for_write`], which fetches a cache line before it is changed.
#[inline]
pub(super) fn prefetch_for_write<T>(items: &[T], index: usize) {
    if let Some(item) = items.get(index) {
        // SAFETY: a prefetch changes nothing, and an x86-64 processor that cannot prefetch for a write ignores the
        // instruction.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(item).cast()) };
    }
}
