/// Appends a part of a key, after the length of the part. If the key has only one part, the length is left out
/// (docs/format.md, "Keys of several parts").
pub(super) fn part(nth: usize, count: usize, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    debug_assert!(nth < count);
    if count == 1 {
        return append(out);
    }
    let start = out.len();
    out.extend([0; 4]);
    append(out);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}
