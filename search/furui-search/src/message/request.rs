use super::super::{ContentId, Signature, Wants, Withdrawal, limits};
use super::reader::Reader;
use super::writer::Writer;
use super::{Meet, MessageError, Part, Ranking, Request, Search, Settle, Term};

impl Request {
    /// Encodes the request.
    ///
    /// # Errors
    /// If the request exceeds one of the [limits].
    pub fn encode(&self) -> Result<Vec<u8>, MessageError> {
        let mut to = Writer::new(self.kind());
        match self {
            Self::Size { words } => to.all("words", words, limits::WORDS, |to, word| to.word(word)),
            Self::Search(search) => search.encode(&mut to),
            Self::Meet(Meet { word, set, weighted }) => {
                to.word(word);
                to.flag(*weighted);
                to.bytes("bytes of a set", set, limits::MESSAGE_BYTES);
            }
            Self::Settle(Settle { session, rejected, checksum }) => {
                to.varint(*session);
                to.bytes("bytes of rejected matches", rejected, limits::MESSAGE_BYTES);
                to.fixed(*checksum);
            }
            Self::Show { documents, clauses } => {
                Part::encode_all(documents, &mut to);
                to.clauses(clauses);
            }
            Self::Store { postings, records } => {
                to.all("words with postings", postings, limits::POSTINGS, |to, (word, postings)| {
                    to.word(word);
                    to.all("ids", postings, limits::IDS, |to, (id, _)| to.id(*id));
                    to.weights(postings.iter().map(|(_, weight)| *weight));
                });
                to.all("records", records, limits::RECORDS, |to, (signature, record)| {
                    to.raw(&signature.to_bytes());
                    to.bytes("bytes of a record", record, limits::MESSAGE_BYTES);
                });
            }
            Self::Withdraw { withdrawals } => {
                to.all("withdrawals", withdrawals, limits::WITHDRAWALS, |to, withdrawal| withdrawal.encode(to));
            }
            Self::Withdrawn { range } => to.range(*range),
            Self::Compare { from, since } => {
                to.word_or_none(from);
                to.fixed(*since);
            }
            Self::List { words, range, most } => {
                to.all("words", words, limits::LISTED, |to, word| to.word_or_none(word));
                to.range(*range);
                to.varint(u64::from(*most));
            }
            Self::Near { word } | Self::Beginning { word } => to.word(word),
            Self::Doubt { claims } => to.all("claims", claims, limits::DOUBTS, |to, (word, id)| {
                to.word(word);
                to.id(*id);
            }),
        }
        to.finish()
    }

    /// Decodes a request.
    ///
    /// # Errors
    /// If the bytes are not a request, or exceed one of the [limits].
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let (kind, mut from) = Reader::new(bytes)?;
        let request = match kind {
            0x01 => Self::Size { words: from.all("words", limits::WORDS, 2, Reader::word)? },
            0x02 => Self::Search(Search::decode(&mut from)?),
            0x03 => Self::Meet(Meet {
                word: from.word()?,
                weighted: from.flag("whether to tell how often the word occurs")?,
                set: from.bytes("bytes of a set", limits::MESSAGE_BYTES)?.to_vec(),
            }),
            0x04 => Self::Settle(Settle {
                session: from.varint("the session")?,
                rejected: from.bytes("bytes of rejected matches", limits::MESSAGE_BYTES)?.to_vec(),
                checksum: from.fixed("the checksum")?,
            }),
            0x0c => Self::Show { documents: Part::decode_all(&mut from)?, clauses: from.clauses()? },
            0x06 => Self::Store {
                postings: from.all("words with postings", limits::POSTINGS, 3, |from| {
                    let (word, ids) = (from.word()?, from.ids(limits::IDS)?);
                    let weights = from.weights(ids.len())?;
                    Ok((word, ids.into_iter().zip(weights).collect()))
                })?,
                records: from.all("records", limits::RECORDS, 1 + Signature::BYTES, |from| {
                    let signature = Signature::from_bytes(from.raw("a signature")?);
                    Ok((signature, from.bytes("bytes of a record", limits::MESSAGE_BYTES)?.to_vec()))
                })?,
            },
            0x09 => Self::Withdraw {
                withdrawals: from.all("withdrawals", limits::WITHDRAWALS, Withdrawal::BYTES, Withdrawal::decode)?,
            },
            0x0b => Self::Withdrawn { range: from.range()? },
            0x07 => Self::Compare { from: from.word_or_none()?, since: from.fixed("the state")? },
            0x08 => Self::List {
                words: from.all("words", limits::LISTED, 1, Reader::word_or_none)?,
                range: from.range()?,
                most: from.varint32("ids of a list")?,
            },
            0x0e => Self::Near { word: from.word()? },
            0x0f => Self::Beginning { word: from.word()? },
            0x0d => Self::Doubt {
                claims: from
                    .all("claims", limits::DOUBTS, 2 + ContentId::BYTES, |from| Ok((from.word()?, from.id()?)))?,
            },
            _ => return Err(MessageError::Invalid { what: "the kind of a request", at: 1 }),
        };
        from.finish()?;
        Ok(request)
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Size { .. } => 0x01,
            Self::Search(_) => 0x02,
            Self::Meet(_) => 0x03,
            Self::Settle(_) => 0x04,
            Self::Show { .. } => 0x0c,
            Self::Store { .. } => 0x06,
            Self::Compare { .. } => 0x07,
            Self::List { .. } => 0x08,
            Self::Withdraw { .. } => 0x09,
            Self::Withdrawn { .. } => 0x0b,
            Self::Doubt { .. } => 0x0d,
            Self::Near { .. } => 0x0e,
            Self::Beginning { .. } => 0x0f,
        }
    }
}

impl Search {
    fn encode(&self, to: &mut Writer) {
        for terms in [&self.must, &self.without] {
            to.all("words", terms, limits::WORDS, |to, Term { word, size, holders }| {
                to.word(word);
                to.varint(*size);
                to.peers(holders);
            });
        }
        to.varint(u64::from(self.most));
        self.wants.encode(to);
        to.fixed(self.salt);
        self.ranking.encode(to);
    }

    fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        let terms = |from: &mut Reader<'_>| {
            from.all("words", limits::WORDS, 4, |from| {
                Ok(Term { word: from.word()?, size: from.varint("the size of a list")?, holders: from.peers()? })
            })
        };
        Ok(Self {
            must: terms(from)?,
            without: terms(from)?,
            most: from.varint32("ids to look at")?,
            wants: Wants::decode(from)?,
            salt: from.fixed("the salt")?,
            ranking: Ranking::decode(from)?,
        })
    }
}

impl Wants {
    fn encode(self, to: &mut Writer) {
        match self {
            Self::Best => to.byte(0),
            Self::Naive => to.byte(1),
            Self::Fixed { bits, probes } => {
                to.byte(2);
                to.varint(u64::from(bits));
                to.byte(probes);
            }
            Self::Ringed { probes, delta } => {
                to.byte(if probes.is_some() { 3 } else { 4 });
                if let Some(probes) = probes {
                    to.byte(probes);
                }
                to.varint(u64::from(delta));
            }
            Self::Golomb => to.byte(5),
        }
    }

    fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(match from.tag("the coding that is wanted", 6)? {
            0 => Self::Best,
            1 => Self::Naive,
            2 => Self::Fixed { bits: from.varint32("bits of a filter")?, probes: from.byte("probes")? },
            3 => Self::Ringed { probes: Some(from.byte("probes")?), delta: from.varint32("delta")? },
            4 => Self::Ringed { probes: None, delta: from.varint32("delta")? },
            _ => Self::Golomb,
        })
    }
}
