use crate::say::escape::push_escaped;

/// Appends the part of a key with the index `nth` among `count` parts. If the key has only one part, it is the key.
/// Otherwise each part follows its length (docs/format.md, "Keys of several parts"); if the key is a text, there is a
/// tab between parts, and the parts have escapes for tabs.
pub(super) fn part(nth: usize, count: usize, is_text: bool, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    debug_assert!(nth < count);
    if count == 1 {
        return append(out);
    }
    if is_text {
        let mut plain = vec![];
        append(&mut plain);
        if nth > 0 {
            out.push(b'\t');
        }
        return push_escaped(out, &plain);
    }
    let start = out.len();
    out.extend([0; 4]);
    append(out);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}
