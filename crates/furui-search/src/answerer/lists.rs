//! Lists, slice by slice.

use std::ops::Deref;
use std::sync::Arc;

use super::super::{ContentId, IdRange, Index, Weight};
use furui::Result;

/// Ids looked at in one piece when a list streams by.
const CHUNK: usize = 1 << 12;

/// The ids of a list in a range of heads; no id of the list beside them is in it.
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

/// The first ids of a list in `range`, at most `most` (and at least one is allowed), with the part of `range` that they are
/// all of.
///
/// The part ends just before an id that is not among them. Ids with one head are not told apart by ranges: if there are
/// more than `most` of them, which no hash gives, those above are left out.
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

/// The roundest end between two heads, from `last` on and before `next`: that which takes the fewest bytes in a message.
fn round(last: u64, next: u64) -> u64 {
    // Up to the highest bit in which the two differ, those of `next`; there and below, 0 and ones.
    let below = u64::MAX >> (last ^ next).leading_zeros() >> 1;
    next & !(below << 1 | 1) | below
}

/// Has all of a list's ids in `range` pass by, until `see` fails; with their weights, if these are asked for.
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
