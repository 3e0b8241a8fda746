use super::bit_writer::low_bits;

/// Reads a bit string in the order in which [`BitWriter`](super::bit_writer::BitWriter) wrote it. Reading beyond the
/// end returns `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: u64,
}

/// The minimum number of bits that `ahead` returns, unless the bit string ends earlier.
const AHEAD: u32 = 57;

impl<'a> BitReader<'a> {
    /// Makes a reader that begins at the bit offset `at` of `bytes`.
    pub(super) fn new(bytes: &'a [u8], at: u64) -> Self {
        Self { bytes, at }
    }

    /// The bit offset of the next bit.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    /// Reads a number of `width` bits, at most 64. `None` if fewer bits are left.
    #[inline]
    pub(super) fn bits(&mut self, width: u32) -> Option<u64> {
        if self.left() < width.into() {
            return None;
        }
        let low = width.min(32);
        let mut value = self.ahead() & low_bits(low);
        self.at += u64::from(low);
        if width > low {
            value |= (self.ahead() & low_bits(width - low)) << low;
            self.at += u64::from(width - low);
        }
        Some(value)
    }

    /// Reads a number in Rice code: first the quotient of the number by 2 to the power of `rice`, in unary (this number
    /// of zeros, then a one), then the lowest `rice` bits of the number.
    #[inline]
    pub(super) fn rice(&mut self, rice: u32) -> Option<u64> {
        let mut quotient = 0;
        let zeros = loop {
            let ahead = self.ahead() & low_bits(AHEAD);
            if ahead != 0 {
                break ahead.trailing_zeros();
            }
            quotient += u64::from(AHEAD);
            self.at += u64::from(AHEAD);
            if self.left() == 0 {
                return None;
            }
        };
        quotient += u64::from(zeros);
        self.at += u64::from(zeros) + 1;
        let remainder = self.bits(rice)?;
        (quotient <= u64::MAX >> rice).then_some(quotient << rice | remainder)
    }

    /// True if only the padding zeros of the last byte are left.
    pub(super) fn is_done(&self) -> bool {
        self.left() < 8 && self.ahead() == 0
    }

    fn left(&self) -> u64 {
        (8 * self.bytes.len() as u64).saturating_sub(self.at)
    }

    /// The next bits, at least [`AHEAD`], padded with zeros after the end of the string.
    #[inline]
    fn ahead(&self) -> u64 {
        let bytes = usize::try_from(self.at / 8).ok().and_then(|at| self.bytes.get(at..)).unwrap_or(&[]);
        let word = match bytes.first_chunk() {
            Some(&word) => u64::from_le_bytes(word),
            None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        word >> (self.at % 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bit_writer::BitWriter;

    #[test]
    fn numbers_come_back_and_then_there_are_none() {
        let numbers: Vec<(u64, u32)> =
            (0..600u32).map(|i| ((u64::MAX / 3).rotate_left(i) & low_bits(i * 7 % 65), i * 7 % 65)).collect();
        let mut writer = BitWriter::default();
        numbers.iter().for_each(|&(value, width)| writer.push_bits(value, width));
        let len = writer.len();
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes, 0);
        for (value, width) in numbers {
            assert_eq!(reader.bits(width), Some(value));
        }
        assert_eq!(reader.position(), len);
        assert!(reader.is_done());
        assert_eq!(reader.bits(8), None);
        assert_eq!(BitReader::new(&[0; 9], 8).rice(0), None, "zeros without a one");
        assert_eq!(BitReader::new(&[0, 0x80], 0).rice(1), None, "no remainder's bit");
        assert!(!BitReader::new(&[0, 0], 8).is_done());
        assert!(!BitReader::new(&[0b1000], 3).is_done());
    }
}
