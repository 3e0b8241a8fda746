//! Numbers in LEB128: 7 bits a byte, least significant first. All bytes but the last have the highest bit set.

/// Appends the encoding of a number, at most 10 bytes.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number of bytes that [`put`] appends.
pub fn length(number: u64) -> usize {
    (70 - (number | 1).leading_zeros() as usize) / 7
}

/// Decodes a number, and removes it from the front of `bytes`. Each number has exactly one valid encoding: `None` if
/// the bytes end within the number, or if it has unnecessary zeros or more than 64 bits. `bytes` is then not changed.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        let part = u64::from(byte & 0x7f);
        if index == 9 && part > 1 {
            return None;
        }
        number |= part << (7 * index);
        if byte < 0x80 {
            if byte == 0 && index > 0 {
                return None;
            }
            *bytes = &bytes[index + 1..];
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling() {
        for number in (0..64).flat_map(|bits| [1 << bits, (1 << bits) - 1, u64::MAX >> bits]) {
            let mut bytes = vec![];
            put(&mut bytes, number);
            assert_eq!(bytes.len(), length(number));
            let mut rest = &bytes[..];
            assert_eq!((take(&mut rest), rest.len()), (Some(number), 0));
            assert!((0..bytes.len()).all(|len| take(&mut &bytes[..len]).is_none()));
        }
        assert_eq!(take(&mut &[0x80, 0][..]), None, "overlong");
        assert_eq!(take(&mut &[0xFF; 11][..]), None);
        assert_eq!(take(&mut &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2][..]), None, "65 bits");
    }
}
