use super::TrieError;
use super::room::{collected, reserve};

/// A growing string of bits, such as a mark for each node at which a key ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// The first `len` bits of these words. The bits after them must be 0.
    pub(super) fn from_words(words: Vec<u64>, len: usize) -> Self {
        Self { words, len }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, bit: bool) -> Result<(), TrieError> {
        if self.len.is_multiple_of(64) {
            reserve(&mut self.words, 1)?;
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
        Ok(())
    }

    /// Appends zeros until there are at least `len` bits.
    pub(super) fn pad(&mut self, len: usize) -> Result<(), TrieError> {
        self.len = self.len.max(len);
        let (words, before) = (self.len.div_ceil(64), self.words.len());
        reserve(&mut self.words, words - before)?;
        self.words.resize(words, 0);
        Ok(())
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, TrieError> {
        let mut bytes = collected(self.words.iter().flat_map(|word| word.to_le_bytes()))?;
        bytes.truncate(self.len.div_ceil(8));
        Ok(bytes)
    }

    pub(super) fn ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}
