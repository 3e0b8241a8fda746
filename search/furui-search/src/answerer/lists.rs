//! Reads lists in slices.

use std::ops::Deref;
use std::sync::Arc;

use super::super::{ContentId, IdRange, Index, Weight};
use furui::Result;

/// The number of ids that are read at a time when a whole list is read.
const CHUNK: usize = 1 << 12;

/// All ids of a list whose heads (first 64 bits) are in a range, with the range.
pub(super) struct Slice {
    ids: Arc<[ContentId]>,
    count: usize,
    pub(super) range: IdRange,
}

impl Deref for Slice {
    type Target = [ContentId];

    fn deref(&self) -> &[ContentId] {
        &self.ids[..self.count]
    }
}

/// The first ids of a list in `range`: at most `most`, and at least one if there is one. The range of the result is the
/// part of `range` in which the list has no other ids.
///
/// This part ends before the next id of the list. Ranges cannot separate ids with equal heads: if more than `most` ids
/// have the same head, which does not happen with hashes, the rest of these ids is left out.
pub(super) fn slice(index: &mut impl Index, word: &str, range: IdRange, most: usize) -> Result<Slice> {
    let ids = index.slice(word, range, most + 1)?;
    if ids.len() <= most {
        return Ok(Slice { count: ids.len(), ids, range });
    }
    let head = ids[most].head();
    let count = ids.partition_point(|id| id.head() < head);
    let (count, last) = if count > 0 { (count, round(ids[count - 1].head(), head)) } else { (most, head) };
    Ok(Slice { ids, count, range: IdRange { last, ..range } })
}

/// Chooses the end of a range among the heads from `last` to just before `next`: the head that takes the fewest bytes
/// in a message.
fn round(last: u64, next: u64) -> u64 {
    // The end has the common leading bits of `last` and `next`, then 0 at the first bit where they differ, then ones.
    let below = u64::MAX >> (last ^ next).leading_zeros() >> 1;
    next & !(below << 1 | 1) | below
}

/// Passes all ids of a list in `range` to `see`, piece by piece, until `see` fails. If `weighted` is true, the weights
/// of the ids are passed too.
pub(super) fn stream<E>(
    index: &mut impl Index,
    word: &str,
    range: IdRange,
    weighted: bool,
    mut see: impl FnMut(&[ContentId], &[Weight]) -> std::result::Result<(), E>,
) -> Result<std::result::Result<(), E>> {
    let mut rest = range;
    loop {
        let piece = slice(index, word, rest, CHUNK)?;
        let weights = if weighted { index.weights(word, rest, CHUNK + 1)? } else { Arc::default() };
        if let Err(error) = see(&piece, &weights) {
            return Ok(Err(error));
        }
        if piece.range.last >= range.last {
            return Ok(Ok(()));
        }
        rest.first = piece.range.last + 1;
    }
}
