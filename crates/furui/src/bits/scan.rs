use super::arch;

/// Fills `out` with the positions in `haystack` that hold `byte`, ascending; what `out` held before is dropped.
///
/// This is how lines are found: one pass of 64 bytes a step over the whole block, then one hash per line, is faster
/// than a search from each line's start. Cost: about 0.05 ns a byte with AVX-512 or AVX2.
///
/// # Panics
/// If `haystack` has 4 GiB or more.
pub fn byte_positions(haystack: &[u8], byte: u8, out: &mut Vec<u32>) {
    assert!(u32::try_from(haystack.len()).is_ok(), "blocks are shorter than 4 GiB");
    out.clear();
    arch::byte_positions(haystack, byte, out);
}
