use super::super::{ContentId, Place, limits};
use super::reader::Reader;
use super::writer::Writer;
use super::{Cost, MessageError};

/// Selects the documents that a [`Search`](super::Search) returns: the best ones in a slice of the first word's list.
///
/// The receiver processes the postings of its list in the order of their bounds. The bound of a posting is the maximum
/// score of its document. A slice contains the next postings of the whole list in this order. [`Ranked::next`] is the
/// beginning of the following slice; no later document has a score above the bound there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// The mean number of words in a document, as an exponent of two; in [`Scale::LENGTHS`](crate::Scale::LENGTHS).
    pub log_length: u8,
    /// The idf of each word that must occur, in the order of the words; at most [`limits::IDF`].
    pub idfs: Vec<u32>,
    /// The maximum number of documents in the answer, from 1 to [`limits::PAGE`] + 1.
    pub best: u32,
    /// The minimum score of documents in the answer.
    pub floor: u32,
    /// If set, the answer contains only documents after this place in the order of scores.
    pub after: Option<Place>,
    /// The bound and the id at which the slice begins; `None` for the first slice.
    pub from: Option<Place>,
}

/// The answer to a [`Search`](super::Search).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The best documents of the slice, best first.
    pub places: Vec<Place>,
    /// The bound (maximum score) and the id at which the next slice begins; `None` at the end of the list.
    pub next: Option<Place>,
    /// The number of ids of the first word's list that were examined.
    pub seen: u64,
    /// The number of examined documents that match the search.
    pub found: u64,
    /// True if all lists were [complete](super::WordSize::whole).
    pub whole: bool,
    /// The costs of the exchanges with the nodes that keep the lists of the other words.
    pub costs: Vec<Cost>,
}

impl Ranking {
    pub(super) fn encode(&self, to: &mut Writer) {
        to.log_length(self.log_length);
        to.all("words", &self.idfs, limits::WORDS, |to, &idf| to.varint(idf.into()));
        to.varint(self.best.into());
        to.varint(self.floor.into());
        place_or_none(to, self.after);
        place_or_none(to, self.from);
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(Self {
            log_length: from.log_length()?,
            idfs: from.all("words", limits::WORDS, 1, |from| from.varint32("an idf"))?,
            best: from.varint32("documents that are wanted")?,
            floor: from.varint32("the least score")?,
            after: read_place_or_none(from)?,
            from: read_place_or_none(from)?,
        })
    }
}

impl Ranked {
    pub(super) fn encode(&self, to: &mut Writer) {
        to.all("documents", &self.places, limits::PAGE + 1, |to, &place| put_place(to, place));
        place_or_none(to, self.next);
        to.varint(self.seen);
        to.varint(self.found);
        to.flag(self.whole);
        Cost::encode_all(&self.costs, to);
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(Self {
            places: from.all("documents", limits::PAGE + 1, 1 + ContentId::BYTES, read_place)?,
            next: read_place_or_none(from)?,
            seen: from.varint("how many ids were looked at")?,
            found: from.varint("how many were found")?,
            whole: from.flag("whether the lists are whole")?,
            costs: Cost::decode_all(from)?,
        })
    }
}

fn put_place(to: &mut Writer, place: Place) {
    to.varint(place.score.into());
    to.id(place.id);
}

fn read_place(from: &mut Reader<'_>) -> Result<Place, MessageError> {
    Ok(Place { score: from.varint32("a score")?, id: from.id()? })
}

fn place_or_none(to: &mut Writer, place: Option<Place>) {
    to.flag(place.is_some());
    if let Some(place) = place {
        put_place(to, place);
    }
}

fn read_place_or_none(from: &mut Reader<'_>) -> Result<Option<Place>, MessageError> {
    Ok(if from.flag("whether there is a place")? { Some(read_place(from)?) } else { None })
}
