//! Testing and setting the bits of a key in a block, word by word. All vector code must give the same results.

use super::{Block, SALTS};

/// Each word of a block with the bit in it that belongs to `key`.
#[inline(always)]
fn words_and_bits(block: &Block, key: u32) -> impl Iterator<Item = (u32, u32)> {
    let words = block.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
    words.zip(SALTS.map(|salt| 1 << (key.wrapping_mul(salt) >> 27)))
}

/// Whether all bits of the key are set.
#[inline(always)]
pub(super) fn test(block: &Block, key: u32) -> bool {
    words_and_bits(block, key).all(|(word, bit)| word & bit != 0)
}

/// Sets all bits of the key. Returns true if one of them was not set before.
#[inline(always)]
pub(super) fn set(block: &mut Block, key: u32) -> bool {
    let old = *block;
    for (bytes, (word, bit)) in block.as_chunks_mut::<4>().0.iter_mut().zip(words_and_bits(&old, key)) {
        *bytes = (word | bit).to_le_bytes();
    }
    *block != old
}
