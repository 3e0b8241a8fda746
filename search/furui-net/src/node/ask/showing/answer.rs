use furui_search::{
    Clause, ContentId, Part, Publication, PublisherKey, Record, RecordHead, Refusal, Response, Showing, Showings,
    Shown, ShownDocument, Signature, Snippet, Withdrawal, limits,
};

use crate::node::kept::Kept;
use crate::shelf::packed::{self, Effort};

/// The maximum number of bytes of records that are examined for one answer. The first record is examined whatever its
/// size.
const EXAMINED_BYTES: usize = limits::MESSAGE_BYTES;
/// The maximum number of bytes of the contents of an answer. The rest of the message is for the index and the kind of
/// each document.
const SHOWN_BYTES: usize = limits::MESSAGE_BYTES - (16 << 10);
/// The maximum encoded size in bytes of a shown document without its URL, title, snippet, weights and marks.
const OTHER_BYTES: usize = 64 + PublisherKey::BYTES + Signature::BYTES + limits::VERSIONS * ContentId::BYTES;
/// The maximum encoded size in bytes of a mark, which is the position of a word of the query in a title or snippet.
const MARK_BYTES: usize = 4;

/// Answers a request for the contents of documents, up to the maximum size of a message. Documents that exceed it are
/// answered with [`Shown::Later`], and are to be requested again.
pub(in crate::node) fn answer(
    kept: &mut Kept,
    documents: &[(ContentId, Part)],
    clauses: &[Clause],
) -> furui::Result<Response> {
    let Some(showings) = Showings::new(clauses) else { return Ok(Response::Refused(Refusal::Invalid)) };
    let mut room = Room { examined: EXAMINED_BYTES, shown: SHOWN_BYTES };
    // No list tells whether a document contains a phrase, so the record is examined even if only the presence is asked
    // for.
    let has_phrases = clauses.iter().any(Clause::has_phrases);
    let mut shown = Vec::with_capacity(documents.len());
    for &(id, part) in documents {
        shown.push(match part {
            Part::Presence if !has_phrases => match kept.shelf.has_record(id)? {
                true => Shown::Kept { others: kept.shelf.others_of_url(id, limits::VERSIONS)? },
                false => gone(kept, id)?,
            },
            Part::Publisher => match kept.shelf.publication(id)? {
                Some((publisher, _)) => Shown::Publisher { publisher },
                None => gone(kept, id)?,
            },
            // Checking that a record exists is cheaper than reading the record.
            _ if room.examined == 0 && kept.shelf.has_record(id)? => Shown::Later,
            _ if room.examined > 0 => match (kept.shelf.document(id)?, kept.shelf.publication(id)?) {
                (Some(record), Some((_, publication))) => {
                    let others = kept.shelf.others_of_url(id, limits::VERSIONS)?;
                    room.show(&record, (part, publication, others), &showings)
                }
                _ => gone(kept, id)?,
            },
            _ => gone(kept, id)?,
        });
    }
    Ok(Response::Shown { documents: shown, settled: kept.is_sure_of(documents.iter().map(|(id, _)| *id)) })
}

/// Answers for a document that this node does not keep: with its withdrawal if there is one, and otherwise as unknown.
fn gone(kept: &mut Kept, id: ContentId) -> furui::Result<Shown> {
    Ok(match kept.shelf.withdrawal(id)? {
        Some(Withdrawal { publisher, signature, .. }) => Shown::Withdrawn { publisher, signature },
        None => Shown::Unknown,
    })
}

/// The bytes of records that may still be examined for an answer, and the bytes that may still be added to the answer.
struct Room {
    examined: usize,
    shown: usize,
}

impl Room {
    fn show(
        &mut self,
        record: &[u8],
        (part, publication, others): (Part, Publication, Vec<ContentId>),
        showings: &Showings<'_>,
    ) -> Shown {
        let is_first = self.examined == EXAMINED_BYTES;
        if record.len() > self.examined && !is_first {
            // No further record is examined for this answer, so that the time for an answer does not depend on the
            // order of records.
            self.examined = 0;
            return Shown::Later;
        }
        self.examined = self.examined.saturating_sub(record.len());
        let (shown, bytes) = match part {
            Part::Record => {
                let packed = packed::pack(record, Effort::Least);
                let bytes = packed.len() + OTHER_BYTES;
                (Shown::Record { publication, record: packed }, bytes)
            }
            Part::Publisher => return Shown::Unknown,
            Part::Snippet | Part::Presence | Part::Version => {
                // A record of another format version cannot be decoded.
                let Ok(record) = Record::decode(record) else { return Shown::Unknown };
                match showings.of(&record) {
                    None => (Shown::Unfit, 0),
                    Some(_) if part == Part::Presence => (Shown::Kept { others }, OTHER_BYTES),
                    Some(Showing { head, .. }) if part == Part::Version => {
                        let bytes = OTHER_BYTES + head.url.len() + head.title.len();
                        (Shown::Version { head: Box::new(head), publication }, bytes)
                    }
                    Some(showing) => {
                        let (bytes, signature) = (most_bytes(&showing), publication.signature);
                        (Shown::Document(Box::new(ShownDocument { showing, signature, others })), bytes)
                    }
                }
            }
        };
        if bytes > self.shown {
            return Shown::Later;
        }
        self.shown -= bytes;
        shown
    }
}

/// An upper bound of the encoded size of a shown document, in bytes.
fn most_bytes(showing: &Showing) -> usize {
    let Showing { head: RecordHead { url, title, .. }, grades, snippet, .. } = showing;
    let Snippet { title_marks, text, marks } = snippet;
    let texts = url.len() + title.len() + text.len();
    OTHER_BYTES + texts + grades.len() + MARK_BYTES * (title_marks.len() + marks.len())
}
