use std::ops::Range;

use super::super::{
    ContentId, LockKey, MAX_TITLE, MAX_URL, PublisherKey, RecordHead, Showing, Snippet, Weight, limits,
};
use super::MessageError;
use super::reader::Reader;
use super::writer::Writer;

/// The part of a document that a [`Request::Show`](super::Request::Show) asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The title, snippet and weights, answered with [`Shown::Document`].
    Snippet,
    /// The presence of the document on the node, answered with [`Shown::Kept`]. If the query has phrases and the
    /// document does not match, the answer is [`Shown::Unfit`].
    Presence,
    /// The whole record, answered with [`Shown::Record`].
    Record,
}

/// The answer for one document of a [`Request::Show`](super::Request::Show).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The document matches the query. The title, snippet and weights are included.
    Document(Box<Showing>),
    /// The whole record, compressed by the network layer, even if it does not match the query.
    Record(Vec<u8>),
    /// The node keeps the record. If the query has phrases, the document matches it.
    Kept,
    /// The node does not keep the record.
    Unknown,
    /// The message is full, or the maximum number of bytes of records was examined. The document should be requested
    /// again.
    Later,
    /// The record matches none of the query's clauses.
    Unfit,
    /// The document was withdrawn with these keys, which opened its locks on this node: at least one, and at most
    /// [`limits::LOCKS`].
    Withdrawn(Vec<LockKey>),
}

impl Part {
    pub(super) fn encode_all(documents: &[(ContentId, Self)], to: &mut Writer) {
        to.all("documents", documents, limits::FETCHED, |to, (id, part)| {
            to.id(*id);
            to.byte(*part as u8);
        });
    }

    pub(super) fn decode_all(from: &mut Reader<'_>) -> Result<Vec<(ContentId, Self)>, MessageError> {
        from.all("documents", limits::FETCHED, ContentId::BYTES + 1, |from| {
            let id = from.id()?;
            let part = match from.tag("the part of a document", 3)? {
                0 => Self::Snippet,
                1 => Self::Presence,
                _ => Self::Record,
            };
            Ok((id, part))
        })
    }
}

impl Shown {
    pub(super) fn encode(&self, to: &mut Writer) {
        match self {
            Self::Document(showing) => {
                to.byte(0);
                encode(showing, to);
            }
            Self::Record(record) => {
                to.byte(1);
                to.bytes("bytes of a record", record, limits::MESSAGE_BYTES);
            }
            Self::Kept => to.byte(2),
            Self::Unknown => to.byte(3),
            Self::Later => to.byte(4),
            Self::Unfit => to.byte(5),
            Self::Withdrawn(keys) => {
                to.byte(6);
                to.require(!keys.is_empty(), "the keys of a document");
                to.all("keys of a document", keys, limits::LOCKS, |to, key| to.raw(key.as_bytes()));
            }
        }
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(match from.tag("what is shown of a document", 7)? {
            0 => Self::Document(Box::new(decode(from)?)),
            1 => Self::Record(from.bytes("bytes of a record", limits::MESSAGE_BYTES)?.to_vec()),
            2 => Self::Kept,
            3 => Self::Unknown,
            4 => Self::Later,
            5 => Self::Unfit,
            _ => {
                let keys = from.all("keys of a document", limits::LOCKS, LockKey::BYTES, |from| {
                    Ok(LockKey::new(from.raw("a key")?))
                })?;
                from.require(!keys.is_empty(), "the keys of a document")?;
                Self::Withdrawn(keys)
            }
        })
    }
}

fn encode(Showing { head, weights, snippet }: &Showing, to: &mut Writer) {
    let RecordHead { url, title, publisher, text_bytes, text_hash } = head;
    to.require(head.check().is_ok(), "the lengths of a document");
    to.bytes("bytes of a URL", url.as_bytes(), MAX_URL);
    to.bytes("bytes of a title", title.as_bytes(), MAX_TITLE);
    to.flag(publisher.is_some());
    publisher.iter().for_each(|key| to.raw(key.as_bytes()));
    to.varint((*text_bytes).into());
    to.raw(text_hash);
    let length = weights.iter().flatten().next().map(|weight| weight.length_step());
    to.require(weights.iter().flatten().all(|it| Some(it.length_step()) == length), "the length of a document");
    to.all("weights", weights, limits::QUERY_WORDS, |to, weight| to.byte(weight.map_or(0, |it| it.step() + 1)));
    length.into_iter().for_each(|length| to.byte(length));
    encode_marks(&snippet.title_marks, title, to);
    to.bytes("bytes of a snippet", snippet.text.as_bytes(), limits::SNIPPET_BYTES);
    encode_marks(&snippet.marks, &snippet.text, to);
}

fn decode(from: &mut Reader<'_>) -> Result<Showing, MessageError> {
    let head = RecordHead {
        url: from.text("a URL, which is not UTF-8,", "bytes of a URL", MAX_URL)?,
        title: from.text("a title, which is not UTF-8,", "bytes of a title", MAX_TITLE)?,
        publisher: match from.flag("whether there is a publisher key")? {
            true => Some(PublisherKey::new(from.raw("a publisher key")?)),
            false => None,
        },
        text_bytes: from.varint32("bytes of a text")?,
        text_hash: from.raw("the hash of a text")?,
    };
    from.require(head.check().is_ok(), "the lengths of a document")?;
    let steps = from.all("weights", limits::QUERY_WORDS, 1, |from| from.tag("a weight", Weight::STEPS + 1))?;
    let length = if steps.iter().any(|&step| step > 0) { from.byte("the length of a document")? } else { 0 };
    let weights = steps.iter().map(|step| step.checked_sub(1).map(|step| Weight::of_steps(step, length))).collect();
    let title_marks = decode_marks(&head.title, from)?;
    let text = from.text("a snippet, which is not UTF-8,", "bytes of a snippet", limits::SNIPPET_BYTES)?;
    let marks = decode_marks(&text, from)?;
    Ok(Showing { head, weights, snippet: Snippet { title_marks, text, marks } })
}

/// Encodes each mark as the number of bytes since the previous mark, and its own length in bytes.
fn encode_marks(marks: &[Range<usize>], text: &str, to: &mut Writer) {
    to.count("marks", marks.len(), text.len());
    let mut at = 0;
    for (number, mark) in marks.iter().enumerate() {
        to.require(is_mark(text, at, mark, number == 0), "a mark");
        to.varint((mark.start.saturating_sub(at)) as u64);
        to.varint((mark.end.saturating_sub(mark.start)) as u64);
        at = mark.end;
    }
}

fn decode_marks(text: &str, from: &mut Reader<'_>) -> Result<Vec<Range<usize>>, MessageError> {
    let (mut at, mut is_first) = (0_usize, true);
    from.all("marks", text.len(), 2, |from| {
        let (gap, bytes) = (from.varint32("a mark")? as usize, from.varint32("a mark")? as usize);
        let start = at.saturating_add(gap);
        let mark = start..start.saturating_add(bytes);
        from.require(is_mark(text, at, &mark, is_first), "a mark")?;
        (at, is_first) = (mark.end, false);
        Ok(mark)
    })
}

/// True if this range of the text is a valid mark after a mark that ends at `at`: it consists of whole characters, and
/// does not touch the previous mark.
fn is_mark(text: &str, at: usize, mark: &Range<usize>, is_first: bool) -> bool {
    (mark.start > at || is_first) && mark.start < mark.end && text.get(mark.clone()).is_some()
}
