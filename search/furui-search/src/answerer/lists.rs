//! Reads whole lists of document ids in chunks.

use super::super::{Asked, ContentId, Grade, IdRange, Index, Listing};
use furui::Result;

/// The number of ids that are read at a time when a whole list is read.
const CHUNK: usize = 1 << 12;

/// The size of the list that has all forms of a word of a query.
pub(super) fn size(index: &mut impl Index, word: &str) -> Result<Listing> {
    index.size(Asked::of(word).list())
}

/// A document that answers a word of a query, as the word's list says: how well it answers, and the
/// [bits](super::super::Weight::size_bits) of its lengths.
pub(super) type Match = (Grade, u16);

/// Passes all documents that answer a word of a query to `see` in chunks, until `see` returns an error.
pub(super) fn stream<E>(
    index: &mut impl Index,
    word: &str,
    mut see: impl FnMut(&[ContentId], &[Match]) -> std::result::Result<(), E>,
) -> Result<std::result::Result<(), E>> {
    let asked = Asked::of(word);
    let mut rest = IdRange::ALL;
    let (mut found, mut matches) = (Vec::new(), Vec::new());
    loop {
        let (ids, weights) = index.slice(asked.list(), rest, CHUNK + 1)?;
        // The next chunk begins with a head. If all ids of this chunk had the same head, which does not happen with
        // hashes, the remaining ids with this head would be left out.
        let next = ids.get(CHUNK).map(|id| id.head());
        let before = next.map_or(ids.len(), |head| ids.partition_point(|id| id.head() < head));
        let count = if before > 0 { before } else { ids.len().min(CHUNK) };
        let graded = weights[..count].iter().map(|weight| Some((asked.grade(*weight)?, weight.size_bits())));
        let mut ids = &ids[..count];
        if asked.is_exact() {
            found.clear();
            matches.clear();
            let graded = ids.iter().zip(graded).filter_map(|(id, it)| Some((*id, it?)));
            graded.for_each(|(id, it)| {
                found.push(id);
                matches.push(it);
            });
            ids = &found;
        } else {
            matches.clear();
            matches.extend(graded.flatten());
        }
        if let Err(error) = see(ids, &matches) {
            return Ok(Err(error));
        }
        match next.and_then(|head| if before > 0 { Some(head) } else { head.checked_add(1) }) {
            Some(head) => rest.first = head,
            None => return Ok(Ok(())),
        }
    }
}
