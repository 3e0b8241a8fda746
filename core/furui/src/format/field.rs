//! Little-endian fields at fixed places of a byte slice. The slice must be long enough: these functions are for blocks
//! whose length is a constant of the format.
//!
//! They are always inlined. Loops over fields are compiled once for each set of vector instructions, and in such a loop
//! a function call for each field would take longer than everything else.

#[inline(always)]
pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a range of N bytes")
}

#[inline(always)]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[inline(always)]
pub(crate) fn put<const N: usize>(bytes: &mut [u8], at: usize, field: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&field);
}
