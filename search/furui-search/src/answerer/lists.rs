//! Reads whole lists of document ids in chunks.

use super::super::{ContentId, IdRange, Index, Weight};
use furui::Result;

/// The number of ids that are read at a time when a whole list is read.
const CHUNK: usize = 1 << 12;

/// Passes all postings of a list to `see` in chunks, until `see` returns an error.
pub(super) fn stream<E>(
    index: &mut impl Index,
    word: &str,
    mut see: impl FnMut(&[ContentId], &[Weight]) -> std::result::Result<(), E>,
) -> Result<std::result::Result<(), E>> {
    let mut rest = IdRange::ALL;
    loop {
        let (ids, weights) = index.slice(word, rest, CHUNK + 1)?;
        // The next chunk begins with a head. If all ids of this chunk had the same head, which does not happen with
        // hashes, the remaining ids with this head would be left out.
        let next = ids.get(CHUNK).map(|id| id.head());
        let before = next.map_or(ids.len(), |head| ids.partition_point(|id| id.head() < head));
        let count = if before > 0 { before } else { ids.len().min(CHUNK) };
        if let Err(error) = see(&ids[..count], &weights) {
            return Ok(Err(error));
        }
        match next.and_then(|head| if before > 0 { Some(head) } else { head.checked_add(1) }) {
            Some(head) => rest.first = head,
            None => return Ok(Ok(())),
        }
    }
}
