use std::collections::BTreeMap;

use furui_search::ContentId;

use super::packed::{self, Effort};
use super::posting::{self, Posting};
use super::records::RecordBlock;
use super::{MAX_CHANGE, RECORDS, varint};

/// The maximum length of an uncompressed row, in bytes. Numbers and lengths make a row longer than the size that
/// [`MAX_CHANGE`] limits, but less than twice as long.
const MAX_ROW: usize = 2 * MAX_CHANGE;

/// The number of bytes that are charged to an origin for a posting.
const POSTING: usize = 4;
/// The number of bytes that are charged to an origin for a new word, in addition to the word's length.
const WORD: usize = 16;

/// The additions of one call of [`Shelf::store`](super::Shelf::store), with words and documents as numbers. It is
/// encoded as one row of the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The expiry time of the change's documents, in seconds since 1970.
    pub(super) expires: u32,
    /// The shelf's number of the origin of the change: the peer that sent the data.
    pub(super) origin: u32,
    /// The documents that the change claims, in ascending order. A change of this node itself claims the older
    /// documents of other origins that the node publishes too. A change of a publisher claims the documents that become
    /// [proven](super::documents::DocumentEntry::proven), and a change that was taken over claims the older documents
    /// that become [mixed](super::documents::DocumentEntry::mixed).
    pub(super) claimed: Vec<u32>,
    /// The words that the shelf did not have, with the numbers that they get.
    pub(super) words: Vec<(String, u32)>,
    /// The number of the first new document.
    pub(super) first: u32,
    /// The new documents, numbered consecutively from `first`, each with the [bits of its
    /// size](furui_search::Weight::size_bits).
    pub(super) documents: Vec<(ContentId, u16)>,
    /// The numbers of known documents whose expiry is extended, in ascending order.
    pub(super) refreshed: Vec<u32>,
    /// The known documents whose size was unknown or wrong before, each with the [bits of its
    /// size](furui_search::Weight::size_bits).
    pub(super) measured: Vec<Posting>,
    /// For each word, the new postings of its list. Words and documents are in ascending order.
    pub(super) postings: Vec<(u32, Vec<Posting>)>,
    /// The new records, each with the number of its document.
    pub(super) records: RecordBlock,
}

impl Change {
    /// The approximate size of the change in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        let words = self.words.iter().map(|(word, _)| word.len() + 8).sum::<usize>();
        let postings = self.postings.iter().map(|(_, postings)| 8 + postings.len() * 8).sum::<usize>();
        let records = self.records.iter().map(|(_, record)| record.len() + 8).sum::<usize>();
        let documents = self.documents.len() * (ContentId::BYTES + 1);
        words
            + documents
            + self.measured.len() * 8
            + (self.refreshed.len() + self.claimed.len()) * 4
            + postings
            + records
    }

    /// True if the change adds nothing to the shelf.
    pub(super) fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// The approximate size in bytes of the change's additions for each document: [`POSTING`] bytes for each posting, a
    /// new word's length for the word's first document, and a record's length.
    pub(super) fn charges(&self) -> BTreeMap<u32, u32> {
        let mut charges: BTreeMap<u32, u32> = BTreeMap::new();
        let mut charge = |number: u32, bytes: usize| {
            let sum = charges.entry(number).or_default();
            *sum = sum.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        };
        for (word, postings) in self.postings.iter().filter(|(word, _)| *word != RECORDS) {
            postings.iter().for_each(|posting| charge(posting.number, POSTING));
            if let (Some(first), Ok(at)) =
                (postings.first(), self.words.binary_search_by_key(word, |(_, number)| *number))
            {
                charge(first.number, WORD + self.words[at].0.len());
            }
        }
        self.records.iter().for_each(|(number, record)| charge(*number, record.len()));
        charges
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size() + 16);
        [self.expires, self.first, self.origin].iter().for_each(|&number| varint::put(&mut out, number.into()));
        varint::put(&mut out, self.words.len() as u64);
        for (word, number) in &self.words {
            varint::put(&mut out, u64::from(*number));
            put_bytes(&mut out, word.as_bytes());
        }
        varint::put(&mut out, self.documents.len() as u64);
        for (id, size) in &self.documents {
            out.extend(id.as_bytes());
            out.extend(size.to_le_bytes());
        }
        put_numbers(&mut out, &self.refreshed);
        put_numbers(&mut out, &self.claimed);
        put_postings(&mut out, &self.measured);
        varint::put(&mut out, self.postings.len() as u64);
        for (word, postings) in &self.postings {
            varint::put(&mut out, u64::from(*word));
            put_postings(&mut out, postings);
        }
        varint::put(&mut out, self.records.len() as u64);
        for (number, record) in &self.records {
            varint::put(&mut out, u64::from(*number));
            put_bytes(&mut out, record);
        }
        packed::pack(&out, Effort::Least)
    }

    pub(super) fn decode(row: &[u8]) -> Option<Self> {
        let raw = packed::unpack(row, MAX_ROW)?;
        let bytes = &mut raw.as_slice();
        // The fields are decoded in the order in which `encode` writes them.
        let change = Self {
            expires: varint::take_u32(bytes)?,
            first: varint::take_u32(bytes)?,
            origin: varint::take_u32(bytes)?,
            words: take_all(bytes, |bytes| {
                let number = varint::take_u32(bytes)?;
                Some((String::from_utf8(varint::take_bytes(bytes)?.to_vec()).ok()?, number))
            })?,
            documents: take_all(bytes, |bytes| {
                let id = bytes.split_off(..ContentId::BYTES)?.try_into().ok()?;
                Some((ContentId::new(id), u16::from_le_bytes(bytes.split_off(..2)?.try_into().ok()?)))
            })?,
            refreshed: take_numbers(bytes)?,
            claimed: take_numbers(bytes)?,
            measured: take_postings(bytes)?,
            postings: take_all(bytes, |bytes| Some((varint::take_u32(bytes)?, take_postings(bytes)?)))?,
            records: take_all(bytes, |bytes| Some((varint::take_u32(bytes)?, varint::take_bytes(bytes)?.to_vec())))?,
        };
        bytes.is_empty().then_some(change)
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::put(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[u32]) {
    put_postings(out, &numbers.iter().map(|&number| Posting { number, uses: 0 }).collect::<Vec<_>>());
}

fn put_postings(out: &mut Vec<u8>, postings: &[Posting]) {
    let mut coded = Vec::with_capacity(postings.len() * 2);
    posting::put_all(&mut coded, postings);
    put_bytes(out, &coded);
}

/// Decodes the number of elements, and then the elements.
fn take_all<T>(bytes: &mut &[u8], take: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    (0..varint::take(bytes)?).map(|_| take(bytes)).collect()
}

fn take_postings(bytes: &mut &[u8]) -> Option<Vec<Posting>> {
    let mut postings = vec![];
    posting::take_all(varint::take_bytes(bytes)?, &mut postings)?;
    Some(postings)
}

fn take_numbers(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    Some(take_postings(bytes)?.into_iter().map(|posting| posting.number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_comes_back_and_no_part_of_one_does() {
        let change = Change {
            expires: 99,
            words: vec![("sieve".into(), 7), ("篩".into(), 8)],
            first: 1000,
            documents: vec![(ContentId::new([3; 20]), 7), (ContentId::new([4; 20]), 0)],
            origin: 77,
            claimed: vec![2, 5],
            refreshed: vec![1, 2, 900],
            measured: vec![Posting { number: 3, uses: 200 }],
            postings: vec![(7, [1000, 1001].map(|number| Posting { number, uses: 2 }).to_vec()), (8, vec![])],
            records: vec![(1001, b"text".repeat(100)), (5, vec![])],
        };
        let row = change.encode();
        assert_eq!(Change::decode(&row), Some(change));
        assert!((0..row.len()).all(|length| Change::decode(&row[..length]).is_none()));
        let empty = Change { expires: 1, ..Change::default() };
        assert!(empty.is_empty() && Change::decode(&empty.encode()) == Some(empty));
    }
}
