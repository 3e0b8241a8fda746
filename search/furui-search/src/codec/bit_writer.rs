/// A bit string that grows at its end. Bits fill a byte from the least significant one on.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    /// The complete 64-bit words, little-endian, as bytes.
    bytes: Vec<u8>,
    /// The bits after the last complete word, fewer than 64.
    word: u64,
    len: u64,
}

/// A mask of the `n` lowest bits; `n` is at most 64.
#[inline(always)]
pub(super) const fn low_bits(n: u32) -> u64 {
    if n < 64 { (1 << n) - 1 } else { u64::MAX }
}

impl BitWriter {
    /// Appends the `width` lowest bits of `value`, whose other bits must be 0.
    #[inline]
    pub(super) fn push_bits(&mut self, value: u64, width: u32) {
        debug_assert!(value <= low_bits(width), "{value} has more than {width} bits");
        let used = (self.len % 64) as u32;
        self.word |= value << used;
        self.len += u64::from(width);
        if used + width >= 64 {
            self.flush();
            self.word = value.checked_shr(64 - used).unwrap_or(0);
        }
    }

    /// Appends `count` zero bits.
    #[inline]
    pub(super) fn push_zeros(&mut self, count: u64) {
        let room = 64 - self.len % 64;
        self.len += count;
        if count >= room {
            self.flush();
            self.bytes.resize((self.len / 64 * 8) as usize, 0);
        }
    }

    /// The number of bits written so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the bits as bytes. The last byte is padded with zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.bytes.truncate(self.len.div_ceil(8) as usize);
        self.bytes
    }

    fn flush(&mut self) {
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        self.word = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_in_the_order_they_came() {
        for zeros in [0, 1, 5, 63, 64, 65, 127, 128, 200] {
            let (mut writer, mut expected) = (BitWriter::default(), vec![]);
            for i in 0..500u32 {
                let width = i * 7 % 65;
                let value = (u64::MAX / 3).rotate_left(i) & low_bits(width);
                writer.push_bits(value, width);
                writer.push_zeros(zeros);
                expected.extend((0..width).map(|i| value >> i & 1 == 1));
                expected.extend((0..zeros).map(|_| false));
            }
            assert_eq!(writer.len(), expected.len() as u64);
            let bytes = writer.finish();
            assert_eq!(bytes.len(), expected.len().div_ceil(8));
            let bits = (0..bytes.len() * 8).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
            assert!(
                bits.eq(expected.iter().copied().chain(std::iter::repeat_n(false, bytes.len() * 8 - expected.len())))
            );
        }
    }
}
