use super::{Buffer, NoMemory};

/// A bit string that grows at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitWriter {
    /// The complete 64-bit words, little-endian.
    bytes: Vec<u8>,
    /// The bits after the complete 64-bit words, fewer than 64.
    word: u64,
    len: u64,
}

impl BitWriter {
    #[inline]
    pub(crate) fn push(&mut self, bit: bool) -> Result<(), NoMemory> {
        self.word |= u64::from(bit) << (self.len % 64);
        self.len += 1;
        if self.len.is_multiple_of(64) { self.flush() } else { Ok(()) }
    }

    #[inline]
    pub(crate) fn push_zeros(&mut self, count: u64) -> Result<(), NoMemory> {
        let room = 64 - self.len % 64;
        if count < room {
            self.len += count;
            return Ok(());
        }
        self.flush()?;
        self.len += count;
        let end = (self.len / 64 * 8) as usize;
        self.bytes.try_reserve(end - self.bytes.len()).map_err(|_| NoMemory)?;
        self.bytes.resize(end, 0);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), NoMemory> {
        self.bytes.try_reserve(8).map_err(|_| NoMemory)?;
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        self.word = 0;
        Ok(())
    }

    /// The number of bits that were pushed so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the bits as little-endian words.
    pub(crate) fn finish(mut self) -> Result<Buffer, NoMemory> {
        if !self.len.is_multiple_of(64) {
            self.flush()?;
        }
        Buffer::copied(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_in_the_order_they_came() {
        for zeros in [0, 1, 5, 63, 64, 65, 127, 128, 200] {
            let mut writer = BitWriter::default();
            let mut expected = vec![];
            for ones in 0..70 {
                (0..ones).for_each(|_| writer.push(true).unwrap());
                writer.push_zeros(zeros).unwrap();
                writer.push(false).unwrap();
                expected.extend(std::iter::repeat_n(true, ones));
                expected.extend(std::iter::repeat_n(false, zeros as usize + 1));
            }
            assert_eq!(writer.len(), expected.len() as u64);
            let bytes = writer.finish().unwrap();
            assert_eq!(bytes.len(), expected.len().div_ceil(64) * 8);
            assert!(
                (0..bytes.len() * 8).all(|i| (bytes[i / 8] >> (i % 8) & 1 == 1) == (expected.get(i) == Some(&true)))
            );
        }
    }
}
