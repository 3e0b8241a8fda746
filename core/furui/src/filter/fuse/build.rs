use super::ConfigError;
use super::shape::Shape;
use crate::filter::probes::MULTIPLIER;
use crate::format::field::{put, u32_at};
use crate::hash::KeyHash;

/// How many multipliers are tried for a shard. Measured: of uniform hashes the first one does in nine cases of ten or
/// more. But a few small sets have so many first places near each other that hardly any does: they need a larger table.
const MULTIPLIERS: usize = 16;

/// Builds the blocks of shards, one after the other, with the same working memory of about 21 bytes a key.
pub(super) struct Construction {
    shape: Shape,
    /// For each place, the number of keys that have it (upper 32 bits), and the XOR of their indices (lower 32 bits),
    /// which for a single key is its index.
    cells: Vec<u64>,
    /// The places that have had a single key, in the order in which they were found.
    single: Vec<u32>,
    /// The index of each key that was taken out, and the place that is set for it.
    order: Vec<(u32, u32)>,
}

impl Construction {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, cells: vec![0; shape.places()], single: vec![], order: vec![] }
    }

    /// Fills a zeroed block with the fingerprints of `keys`, which are different and ascend, and writes its multiplier.
    ///
    /// # Errors
    /// [`ConfigError::Unbuildable`] if none of the multipliers does.
    pub(super) fn build(&mut self, keys: &[KeyHash], block: &mut [u8]) -> Result<(), ConfigError> {
        let powers = std::iter::successors(Some(MULTIPLIER), |power| Some(power.wrapping_mul(MULTIPLIER)));
        let multiplier = powers.take(MULTIPLIERS).find(|&multiplier| self.peel(keys, multiplier));
        let multiplier = multiplier.ok_or(ConfigError::Unbuildable { keys: keys.len() as u64 })?;
        let shape = self.shape;
        for &(index, place) in self.order.iter().rev() {
            // The place that is set is still 0.
            let xor = shape.difference(block, shape.places_of(keys[index as usize], multiplier, 0));
            let bit = place as usize * shape.width() as usize;
            let word = u32_at(block, bit / 8) | xor << (bit % 8);
            put(block, bit / 8, word.to_le_bytes());
        }
        let end = block.len() - 8;
        put(block, end, multiplier.to_le_bytes());
        Ok(())
    }

    /// Finds the order in which the keys can be taken out, each from a place that no remaining key has. Returns false
    /// if there is none with this multiplier.
    fn peel(&mut self, keys: &[KeyHash], multiplier: u64) -> bool {
        /// One key in the upper half of a cell.
        const ONE: u64 = 1 << 32;
        let Self { shape, cells, single, order } = self;
        let places_of = |key| shape.of_single_bits().places_of(key, multiplier, 0).bits;
        cells.fill(0);
        single.clear();
        order.clear();
        for (index, &key) in keys.iter().enumerate() {
            for place in places_of(key) {
                cells[place] = cells[place].wrapping_add(ONE) ^ index as u64;
            }
        }
        single.extend((0..cells.len() as u32).filter(|&place| cells[place as usize] >> 32 == 1));
        while let Some(place) = single.pop() {
            let cell = cells[place as usize];
            if cell >> 32 != 1 {
                continue;
            }
            let index = cell as u32;
            order.push((index, place));
            for place in places_of(keys[index as usize]) {
                let cell = cells[place].wrapping_sub(ONE) ^ u64::from(index);
                cells[place] = cell;
                if cell >> 32 == 1 {
                    single.push(place as u32);
                }
            }
        }
        order.len() == keys.len()
    }
}
