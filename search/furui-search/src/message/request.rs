use super::super::{ContentId, Lock, LockKey, Wants, limits};
use super::reader::Reader;
use super::writer::Writer;
use super::{Meet, MessageError, Part, Ranking, Request, Search, Settle, Term};

const SIZE: u8 = 1;
const SEARCH: u8 = 2;
const MEET: u8 = 3;
const SETTLE: u8 = 4;
const STORE: u8 = 6;
const COMPARE: u8 = 7;
const LIST: u8 = 8;
const WITHDRAW: u8 = 9;
const LOCKS: u8 = 10;
const WITHDRAWN: u8 = 11;
const SHOW: u8 = 12;
const DOUBT: u8 = 13;
const SURVEY: u8 = 14;

impl Request {
    /// Encodes the request.
    ///
    /// # Errors
    /// If the request exceeds one of the [limits].
    pub fn encode(&self) -> Result<Vec<u8>, MessageError> {
        let mut to = Writer::new(self.kind());
        match self {
            Self::Size { words } => {
                to.count("words", words.len(), limits::WORDS);
                words.iter().for_each(|word| to.word(word));
            }
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
                to.count("words with postings", postings.len(), limits::POSTINGS);
                for (word, postings) in postings {
                    to.word(word);
                    to.count("ids", postings.len(), limits::IDS);
                    postings.iter().for_each(|(id, _)| to.id(*id));
                    to.weights(postings.iter().map(|(_, weight)| *weight));
                }
                to.count("records", records.len(), limits::RECORDS);
                for (lock, record) in records {
                    to.raw(lock.as_bytes());
                    to.bytes("bytes of a record", record, limits::MESSAGE_BYTES);
                }
            }
            Self::Withdraw { keys } => {
                to.count("keys", keys.len(), limits::KEYS);
                for (id, key) in keys {
                    to.raw(id.as_bytes());
                    to.raw(key.as_bytes());
                }
            }
            Self::Locks { ids } => to.ids(ids, limits::FETCHED),
            Self::Withdrawn { range } => to.range(*range),
            Self::Compare { from, since } => {
                to.bytes("bytes of a word", from.as_bytes(), limits::WORD_BYTES);
                to.fixed(*since);
            }
            Self::List { words, range, most } => {
                to.count("words", words.len(), limits::LISTED);
                words.iter().for_each(|word| to.bytes("bytes of a word", word.as_bytes(), limits::WORD_BYTES));
                to.range(*range);
                to.varint(u64::from(*most));
            }
            Self::Survey => {}
            Self::Doubt { claims } => {
                to.count("claims", claims.len(), limits::DOUBTS);
                for (word, id) in claims {
                    to.word(word);
                    to.raw(id.as_bytes());
                }
            }
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
            SIZE => Self::Size { words: from.all("words", limits::WORDS, 2, Reader::word)? },
            SEARCH => Self::Search(Search::decode(&mut from)?),
            MEET => Self::Meet(Meet {
                word: from.word()?,
                weighted: from.flag("whether to tell how often the word occurs")?,
                set: from.bytes("bytes of a set", limits::MESSAGE_BYTES)?.to_vec(),
            }),
            SETTLE => Self::Settle(Settle {
                session: from.varint("the session")?,
                rejected: from.bytes("bytes of rejected matches", limits::MESSAGE_BYTES)?.to_vec(),
                checksum: from.fixed("the checksum")?,
            }),
            SHOW => Self::Show { documents: Part::decode_all(&mut from)?, clauses: from.clauses()? },
            STORE => Self::Store {
                postings: from.all("words with postings", limits::POSTINGS, 3, |from| {
                    let (word, ids) = (from.word()?, from.ids(limits::IDS)?);
                    let weights = from.weights(ids.len())?;
                    Ok((word, ids.into_iter().zip(weights).collect()))
                })?,
                records: from.all("records", limits::RECORDS, 1 + Lock::BYTES, |from| {
                    let lock = Lock::new(from.raw("a lock")?);
                    Ok((lock, from.bytes("bytes of a record", limits::MESSAGE_BYTES)?.to_vec()))
                })?,
            },
            WITHDRAW => Self::Withdraw {
                keys: from.all("keys", limits::KEYS, ContentId::BYTES + LockKey::BYTES, |from| {
                    Ok((ContentId::new(from.raw("an id")?), LockKey::new(from.raw("a key")?)))
                })?,
            },
            LOCKS => Self::Locks { ids: from.ids(limits::FETCHED)? },
            WITHDRAWN => Self::Withdrawn { range: from.range()? },
            COMPARE => Self::Compare { from: from.word_or_none()?, since: from.fixed("the state")? },
            LIST => Self::List {
                words: from.all("words", limits::LISTED, 1, Reader::word_or_none)?,
                range: from.range()?,
                most: from.varint32("ids of a list")?,
            },
            SURVEY => Self::Survey,
            DOUBT => Self::Doubt {
                claims: from.all("claims", limits::DOUBTS, 2 + ContentId::BYTES, |from| {
                    Ok((from.word()?, ContentId::new(from.raw("an id")?)))
                })?,
            },
            _ => return Err(MessageError::Invalid { what: "the kind of a request", at: 1 }),
        };
        from.finish()?;
        Ok(request)
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Size { .. } => SIZE,
            Self::Search(_) => SEARCH,
            Self::Meet(_) => MEET,
            Self::Settle(_) => SETTLE,
            Self::Show { .. } => SHOW,
            Self::Store { .. } => STORE,
            Self::Compare { .. } => COMPARE,
            Self::List { .. } => LIST,
            Self::Withdraw { .. } => WITHDRAW,
            Self::Locks { .. } => LOCKS,
            Self::Withdrawn { .. } => WITHDRAWN,
            Self::Survey => SURVEY,
            Self::Doubt { .. } => DOUBT,
        }
    }
}

impl Search {
    fn encode(&self, to: &mut Writer) {
        for terms in [&self.must, &self.without] {
            to.count("words", terms.len(), limits::WORDS);
            for Term { word, size, holders } in terms {
                to.word(word);
                to.varint(*size);
                to.peers(holders);
            }
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
