/// The maximum length in bytes of the head in front of a value: two numbers of five bytes each.
pub(super) const MAX_HEAD: usize = 10;

/// The head in front of a value in a file: two numbers (a step of ids and a length) as variable-length integers of one
/// to five bytes, in groups of 7 bits, the low ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueHead {
    /// The difference between the value's id and that of the value before it.
    pub(super) step: u32,
    /// The length of the value, in bytes.
    pub(super) length: u32,
}

impl ValueHead {
    /// Appends the encoded head to `out`.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        for mut number in [self.step, self.length] {
            while number >= 1 << 7 {
                out.push(number as u8 | 1 << 7);
                number >>= 7;
            }
            out.push(number as u8);
        }
    }

    /// Reads the head at the beginning of `bytes`. Returns it with the number of bytes that it takes; `None` if it is
    /// not valid.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (step, first) = number(bytes)?;
        let (length, second) = number(&bytes[first..])?;
        Some((Self { step, length }, first + second))
    }
}

fn number(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut number = 0u64;
    for (i, &byte) in bytes.iter().enumerate().take(MAX_HEAD / 2) {
        number |= u64::from(byte & 0x7F) << (7 * i);
        if byte < 1 << 7 {
            return Some((u32::try_from(number).ok()?, i + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_were_written_and_nothing_else_is_one() {
        for step in [0, 1, 127, 128, 1 << 14, u32::MAX] {
            for length in [0, 1, 300, 1 << 24, u32::MAX] {
                let (head, mut bytes) = (ValueHead { step, length }, vec![]);
                head.write(&mut bytes);
                assert!(bytes.len() <= MAX_HEAD);
                for cut in 0..bytes.len() {
                    assert_eq!(ValueHead::read(&bytes[..cut]), None);
                }
                bytes.push(0xFF);
                assert_eq!(ValueHead::read(&bytes), Some((head, bytes.len() - 1)));
            }
        }
        assert_eq!(ValueHead::read(&[0xFF; 10]), None, "no end");
        assert_eq!(ValueHead::read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0]), None, "more than 32 bits");
    }
}
