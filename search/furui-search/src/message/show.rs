use std::ops::Range;

use super::super::{
    ContentId, Grade, MAX_TITLE, MAX_URL, Publication, PublisherKey, RecordHead, Showing, Signature, SimHash, Snippet,
    Weight, Withdrawal, limits,
};
use super::MessageError;
use super::reader::Reader;
use super::writer::Writer;

/// The part of a document that a [`Request::Show`](super::Request::Show) asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The title, snippet and grades, answered with [`Shown::Document`].
    Snippet,
    /// The presence of the document on the node, answered with [`Shown::Kept`]. If the query has phrases and the
    /// document does not match, the answer is [`Shown::Unfit`].
    Presence,
    /// The whole record, answered with [`Shown::Record`].
    Record,
    /// What tells one document of a URL from another, answered with [`Shown::Version`].
    Version,
    /// The publisher of the document, answered with [`Shown::Publisher`].
    Publisher,
}

/// What a node shows of a document that matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDocument {
    /// The title, snippet and grades.
    pub showing: Showing,
    /// The publisher's signature of the publication.
    pub signature: Signature,
    /// The other documents of the URL that the node keeps, those first that it has kept for longest; at most
    /// [`limits::VERSIONS`].
    pub others: Vec<ContentId>,
}

/// The answer for one document of a [`Request::Show`](super::Request::Show).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The document matches the query.
    Document(Box<ShownDocument>),
    /// The whole record, even if it does not match the query.
    Record {
        /// What the node knows of the publication, to be kept with a copy of the record.
        publication: Publication,
        /// The record, compressed by the network layer.
        record: Vec<u8>,
    },
    /// The node keeps the record. If the query has phrases, the document matches it.
    Kept {
        /// The other documents of the URL, as in [`ShownDocument::others`].
        others: Vec<ContentId>,
    },
    /// The node does not keep the record.
    Unknown,
    /// The message is full, or the maximum number of bytes of records was examined. The document should be requested
    /// again.
    Later,
    /// The record matches none of the query's clauses.
    Unfit,
    /// The document was withdrawn.
    Withdrawn {
        /// The public key of the document's publisher, by which the signature is checked.
        publisher: PublisherKey,
        /// The publisher's signature of the withdrawal.
        signature: Signature,
    },
    /// What tells the document from others of its URL. It matches the query.
    Version {
        /// The parts from which the id is computed.
        head: Box<RecordHead>,
        /// What the node knows of the publication.
        publication: Publication,
    },
    /// Who has published the document, whether or not it matches the query.
    Publisher {
        /// The public key.
        publisher: PublisherKey,
    },
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
            let part = match from.tag("the part of a document", 5)? {
                0 => Self::Snippet,
                1 => Self::Presence,
                2 => Self::Record,
                3 => Self::Version,
                _ => Self::Publisher,
            };
            Ok((id, part))
        })
    }
}

impl Shown {
    pub(super) fn encode(&self, to: &mut Writer) {
        match self {
            Self::Document(document) => {
                let ShownDocument { showing, signature, others } = &**document;
                to.byte(0);
                to.raw(&signature.to_bytes());
                to.ids(others, limits::VERSIONS);
                encode(showing, to);
            }
            Self::Record { publication, record } => {
                to.byte(1);
                publication.encode(to);
                to.bytes("bytes of a record", record, limits::MESSAGE_BYTES);
            }
            Self::Kept { others } => {
                to.byte(2);
                to.ids(others, limits::VERSIONS);
            }
            Self::Unknown => to.byte(3),
            Self::Later => to.byte(4),
            Self::Unfit => to.byte(5),
            Self::Withdrawn { publisher, signature } => {
                to.byte(6);
                to.raw(publisher.as_bytes());
                to.raw(&signature.to_bytes());
            }
            Self::Version { head, publication } => {
                to.byte(7);
                publication.encode(to);
                encode_head(head, to);
            }
            Self::Publisher { publisher } => {
                to.byte(8);
                to.raw(publisher.as_bytes());
            }
        }
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(match from.tag("what is shown of a document", 9)? {
            0 => {
                let signature = Signature::from_bytes(from.raw("a signature")?);
                let others = from.ids(limits::VERSIONS)?;
                Self::Document(Box::new(ShownDocument { showing: decode(from)?, signature, others }))
            }
            1 => Self::Record {
                publication: Publication::decode(from)?,
                record: from.bytes("bytes of a record", limits::MESSAGE_BYTES)?.to_vec(),
            },
            2 => Self::Kept { others: from.ids(limits::VERSIONS)? },
            3 => Self::Unknown,
            4 => Self::Later,
            5 => Self::Unfit,
            6 => Self::Withdrawn {
                publisher: PublisherKey::new(from.raw("a publisher key")?),
                signature: Signature::from_bytes(from.raw("a signature")?),
            },
            7 => {
                let publication = Publication::decode(from)?;
                Self::Version { head: Box::new(decode_head(from)?), publication }
            }
            _ => Self::Publisher { publisher: PublisherKey::new(from.raw("a publisher key")?) },
        })
    }
}

impl Publication {
    fn encode(&self, to: &mut Writer) {
        to.raw(&self.signature.to_bytes());
        to.raw(&self.first.to_le_bytes());
        to.raw(&self.network.to_le_bytes());
    }

    fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(Self {
            signature: Signature::from_bytes(from.raw("a signature")?),
            first: u64::from_le_bytes(from.raw("a time")?),
            network: u32::from_le_bytes(from.raw("a network")?),
        })
    }
}

impl Withdrawal {
    /// The encoded length of a withdrawal, in bytes.
    pub(super) const BYTES: usize = ContentId::BYTES + PublisherKey::BYTES + Signature::BYTES;

    pub(super) fn encode(&self, to: &mut Writer) {
        to.id(self.id);
        to.raw(self.publisher.as_bytes());
        to.raw(&self.signature.to_bytes());
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(Self {
            id: from.id()?,
            publisher: PublisherKey::new(from.raw("a publisher key")?),
            signature: Signature::from_bytes(from.raw("a signature")?),
        })
    }
}

fn encode_head(head: &RecordHead, to: &mut Writer) {
    let RecordHead { url, title, publisher, text_bytes, text_hash } = head;
    to.require(head.check().is_ok(), "the lengths of a document");
    to.bytes("bytes of a URL", url.as_bytes(), MAX_URL);
    to.bytes("bytes of a title", title.as_bytes(), MAX_TITLE);
    to.raw(publisher.as_bytes());
    to.varint((*text_bytes).into());
    to.raw(text_hash);
}

fn decode_head(from: &mut Reader<'_>) -> Result<RecordHead, MessageError> {
    let head = RecordHead {
        url: from.text("a URL, which is not UTF-8,", "bytes of a URL", MAX_URL)?,
        title: from.text("a title, which is not UTF-8,", "bytes of a title", MAX_TITLE)?,
        publisher: PublisherKey::new(from.raw("a publisher key")?),
        text_bytes: from.varint32("bytes of a text")?,
        text_hash: from.raw("the hash of a text")?,
    };
    from.require(head.check().is_ok(), "the lengths of a document")?;
    Ok(head)
}

fn encode(Showing { head, grades, size_bits, window, simhash, snippet }: &Showing, to: &mut Writer) {
    encode_head(head, to);
    to.all("grades", grades, limits::QUERY_WORDS, |to, grade| to.byte(grade.map_or(0, |it| it.bits() + 1)));
    to.raw(&size_bits.to_le_bytes());
    to.byte(*window);
    to.raw(&simhash.map_or(0, SimHash::bits).to_le_bytes());
    encode_marks(&snippet.title_marks, &head.title, to);
    to.bytes("bytes of a snippet", snippet.text.as_bytes(), limits::SNIPPET_BYTES);
    encode_marks(&snippet.marks, &snippet.text, to);
}

fn decode(from: &mut Reader<'_>) -> Result<Showing, MessageError> {
    let head = decode_head(from)?;
    let grades = from.all("grades", limits::QUERY_WORDS, 1, |from| {
        let bits = from.byte("a grade")?.checked_sub(1);
        let grade = bits.and_then(Grade::of_bits);
        from.require(grade.is_some() || bits.is_none(), "a grade")?;
        Ok(grade)
    })?;
    let size_bits = u16::from_le_bytes(from.raw("the lengths of a document")?);
    from.require(Weight::of_bits(1 << 4, size_bits).is_some(), "the lengths of a document")?;
    let window = from.byte("a window")?;
    let simhash = Some(u64::from_le_bytes(from.raw("a SimHash")?)).filter(|bits| *bits != 0).map(SimHash::of_bits);
    let title_marks = decode_marks(&head.title, from)?;
    let text = from.text("a snippet, which is not UTF-8,", "bytes of a snippet", limits::SNIPPET_BYTES)?;
    let marks = decode_marks(&text, from)?;
    Ok(Showing { head, grades, size_bits, window, simhash, snippet: Snippet { title_marks, text, marks } })
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
