use furui_search::Weight;

use super::varint;

/// A posting of a list: the number of a document, and the use of the word in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting {
    pub(super) number: u32,
    /// The [bits](Weight::use_bits) of a weight that differ from those of [most words](Weight::PLAIN_USE).
    pub(super) uses: u16,
}

impl Posting {
    /// The posting of a document with this number, in which a word has this weight.
    pub(super) fn new(number: u32, weight: Weight) -> Self {
        Self { number, uses: weight.use_bits() ^ Weight::PLAIN_USE }
    }

    /// The encoded length of the posting in bytes, given that its number is at least `least`.
    pub(super) fn length(self, least: u64) -> usize {
        let uses = if self.uses > 0 { varint::length(self.uses.into()) } else { 0 };
        varint::length((u64::from(self.number) - least) << 1) + uses
    }

    /// Encodes the posting: twice the difference of its number and `least`, plus 1 if its uses are not 0; then its
    /// uses, unless they are 0. Those of most postings are.
    pub(super) fn put(self, least: u64, out: &mut Vec<u8>) {
        let gap = u64::from(self.number) - least;
        varint::put(out, gap << 1 | u64::from(self.uses > 0));
        if self.uses > 0 {
            varint::put(out, self.uses.into());
        }
    }

    /// The minimum document number that the next posting in the list can have.
    pub(super) fn next(self) -> u64 {
        u64::from(self.number) + 1
    }
}

/// Encodes postings in ascending order.
pub(super) fn put_all(out: &mut Vec<u8>, postings: &[Posting]) {
    let mut least = 0;
    for posting in postings {
        posting.put(least, out);
        least = posting.next();
    }
}

/// Decodes all of `bytes`, which [`put_all`] wrote, and appends the postings to `out`. `None` if the bytes are invalid.
pub(super) fn take_all(mut bytes: &[u8], out: &mut Vec<Posting>) -> Option<()> {
    let mut least = 0u64;
    while !bytes.is_empty() {
        let coded = varint::take(&mut bytes)?;
        let number = u32::try_from(least.checked_add(coded >> 1)?).ok()?;
        let uses = if coded & 1 == 0 { 0 } else { u16::try_from(varint::take(&mut bytes)?).ok()? };
        let posting = Posting { number, uses };
        out.push(posting);
        least = posting.next();
    }
    Some(())
}

/// Merges two ascending lists of postings. If both have a posting of a document, that of `postings` is kept.
pub(super) fn merge(postings: &mut Vec<Posting>, more: &[Posting]) {
    let in_order = postings.last().zip(more.first()).is_none_or(|(last, first)| last.number < first.number);
    postings.extend_from_slice(more);
    if !in_order {
        // The stable sort merges the two ascending runs in linear time.
        postings.sort_by_key(|posting| posting.number);
        postings.dedup_by_key(|posting| posting.number);
    }
}

/// True if one of these postings, which are in ascending order, has this document number.
pub(super) fn has(postings: &[Posting], number: u32) -> bool {
    postings.binary_search_by_key(&number, |posting| posting.number).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_ascending_postings_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut postings = vec![];
            if take_all(&bytes, &mut postings).is_some() {
                prop_assert!(postings.is_sorted_by(|a, b| a.number < b.number));
            }
        }

        #[test]
        fn postings_come_back_from_as_many_bytes_as_was_said(
            postings in prop::collection::btree_map(any::<u32>(), 0..1u16 << 12, 0..50),
        ) {
            let postings: Vec<_> = postings.into_iter().map(|(number, uses)| Posting { number, uses }).collect();
            let (mut out, mut found, mut least, mut length) = (vec![], vec![], 0, 0);
            put_all(&mut out, &postings);
            for posting in &postings {
                length += posting.length(least);
                least = posting.next();
            }
            prop_assert_eq!(out.len(), length);
            prop_assert_eq!(take_all(&out, &mut found), Some(()));
            prop_assert_eq!(found, postings);
        }
    }
}
