use furui_search::{
    Clause, ContentId, Index, Part, PublisherKey, Record, RecordHead, Refusal, Response, Showing, Showings, Shown,
    Snippet, limits,
};

use crate::node::kept::Kept;
use crate::shelf::packed::{self, Effort};

/// The maximum number of bytes of records that are examined for one answer.
const EXAMINED_BYTES: usize = limits::MESSAGE_BYTES;
/// The maximum number of bytes of an answer, apart from the number and the kind of each document.
const SHOWN_BYTES: usize = limits::MESSAGE_BYTES - (16 << 10);
/// The maximum number of bytes of what is shown of a document, apart from its URL, its title, its snippet, its weights
/// and its marks.
const OTHER_BYTES: usize = 64 + PublisherKey::BYTES;
/// The maximum number of bytes of a mark.
const MARK_BYTES: usize = 4;

/// Answers a request to show documents, up to the maximum size of a message.
pub(in crate::node) fn answer(
    kept: &mut Kept,
    documents: &[(ContentId, Part)],
    clauses: &[Clause],
) -> furui::Result<Response> {
    let Some(showings) = Showings::new(clauses) else { return Ok(Response::Refused(Refusal::Invalid)) };
    let mut room = Room { examined: EXAMINED_BYTES, shown: SHOWN_BYTES };
    // Whether a document has a phrase is in no list, so two keepers are asked.
    let has_phrases = clauses.iter().any(Clause::has_phrases);
    let mut shown = Vec::with_capacity(documents.len());
    for &(id, part) in documents {
        shown.push(match part {
            Part::Presence if !has_phrases => match kept.shelf.has_record(id)? {
                true => Shown::Kept,
                false => gone(kept, id)?,
            },
            // Whether there is anything to examine is cheaper to find out than the record.
            _ if room.examined == 0 && kept.shelf.has_record(id)? => Shown::Later,
            _ if room.examined > 0 => match kept.document(id)? {
                Some(record) => room.show(&record, part, &showings),
                None => gone(kept, id)?,
            },
            _ => gone(kept, id)?,
        });
    }
    Ok(Response::Shown { documents: shown, settled: kept.is_settled() })
}

/// The answer for a document that is not kept.
fn gone(kept: &mut Kept, id: ContentId) -> furui::Result<Shown> {
    let keys = kept.shelf.keys_of(id, limits::LOCKS)?;
    Ok(if keys.is_empty() { Shown::Unknown } else { Shown::Withdrawn(keys) })
}

/// What may still be examined for an answer, and put into it, in bytes.
struct Room {
    examined: usize,
    shown: usize,
}

impl Room {
    fn show(&mut self, record: &[u8], part: Part, showings: &Showings<'_>) -> Shown {
        let is_first = self.examined == EXAMINED_BYTES;
        if record.len() > self.examined && !is_first {
            // Records of this answer end here, so that the time for an answer does not depend on their order.
            self.examined = 0;
            return Shown::Later;
        }
        self.examined = self.examined.saturating_sub(record.len());
        let (shown, bytes) = match part {
            Part::Record => {
                let packed = packed::pack(record, Effort::Least);
                let bytes = packed.len();
                (Shown::Record(packed), bytes)
            }
            Part::Snippet | Part::Presence => {
                // A record of another version cannot be shown.
                let Ok(record) = Record::decode(record) else { return Shown::Unknown };
                match showings.of(&record) {
                    None => (Shown::Unfit, 0),
                    Some(_) if part == Part::Presence => (Shown::Kept, 0),
                    Some(showing) => {
                        let bytes = most_bytes(&showing);
                        (Shown::Document(Box::new(showing)), bytes)
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

/// The maximum number of bytes that this takes in a message.
fn most_bytes(showing: &Showing) -> usize {
    let Showing { head: RecordHead { url, title, .. }, weights, snippet } = showing;
    let Snippet { title_marks, text, marks } = snippet;
    let texts = url.len() + title.len() + text.len();
    OTHER_BYTES + texts + weights.len() + MARK_BYTES * (title_marks.len() + marks.len())
}
