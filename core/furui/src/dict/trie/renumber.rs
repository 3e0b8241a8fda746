use super::Trie;
use super::parts::{Parts, TriePart};
use super::values::Width;

impl Trie {
    /// Replaces each value of the trie by its index in `values`, the ascending list of all distinct values of the trie.
    /// No key of the trie may be deleted. Cost: a binary search for each key, in place.
    pub(in crate::dict) fn renumber(&mut self, values: &[u32]) {
        let (shape, body) = (&mut self.shape, &mut self.body);
        let (old, place) = (shape.width, shape.parts.range(TriePart::Values));
        debug_assert!(shape.parts.range(TriePart::Deleted).is_empty(), "deletions have no values");
        let width = Width::of((values.len() as u32).checked_sub(1).into_iter());
        // New values are not wider than old ones, so all bytes that are overwritten were read before.
        let (mut end, mut waiting, mut bits) = (place.start, 0u64, 0);
        for key in 0..shape.keys {
            let index = values.binary_search(&old.get(&body[place.clone()], key)).unwrap_or(0);
            waiting |= (index as u64) << bits;
            bits += width.bits();
            while bits >= 8 {
                body[end] = waiting as u8;
                (end, waiting, bits) = (end + 1, waiting >> 8, bits - 8);
            }
        }
        if bits > 0 {
            body[end] = waiting as u8;
            end += 1;
        }
        let mut lengths = shape.parts.lengths();
        lengths[TriePart::Values as usize] = (end - place.start) as u64;
        let parts = Parts::new(lengths).expect("parts that are not longer than before");
        body[end..parts.len()].fill(0);
        body.truncate(parts.len());
        (shape.parts, shape.width) = (parts, width);
    }
}
