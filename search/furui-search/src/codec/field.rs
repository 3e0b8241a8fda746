//! The numbers in front of the bits of a coded set or an answer.

/// Appends a number, seven bits a byte, least significant first. All bytes but the last have their highest bit set.
pub(super) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads fields from the front of a byte string. Reading beyond the end gives `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes().map(|[byte]| byte)
    }

    /// Reads a number that [`push_number`] wrote. `None` if it takes more bytes than necessary, or has more than 64
    /// bits.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7F);
            if part << shift >> shift != part {
                return None;
            }
            number |= part << shift;
            if byte < 0x80 {
                return (byte != 0 || shift == 0).then_some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling() {
        for number in (0..64).flat_map(|bits| [1 << bits, (1 << bits) - 1, u64::MAX >> bits]) {
            let mut bytes = vec![];
            push_number(&mut bytes, number);
            let mut fields = Fields(&bytes);
            assert_eq!((fields.number(), fields.0.len()), (Some(number), 0));
            assert!((0..bytes.len()).all(|len| Fields(&bytes[..len]).number().is_none()));
        }
        assert_eq!(Fields(&[0x80, 0]).number(), None, "overlong");
        assert_eq!(Fields(&[0xFF; 11]).number(), None);
        assert_eq!(Fields(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2]).number(), None, "65 bits");
    }
}
