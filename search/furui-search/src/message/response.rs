use super::super::{Coding, Withdrawal, limits};
use super::reader::Reader;
use super::writer::Writer;
use super::{Cost, Listed, MessageError, Met, Ranked, Refusal, Response, Shown, WordSize};

/// All refusals. The index of each is its code in messages.
const REFUSALS: [Refusal; 7] = [
    Refusal::Busy,
    Refusal::Invalid,
    Refusal::Forgotten,
    Refusal::Unreachable,
    Refusal::Failed,
    Refusal::Crowded,
    Refusal::Unproven,
];

impl Response {
    /// Encodes the answer.
    ///
    /// # Errors
    /// If the answer exceeds one of the [limits].
    pub fn encode(&self) -> Result<Vec<u8>, MessageError> {
        let mut to = Writer::new(self.kind());
        match self {
            Self::Sizes(sizes) => {
                to.all("words", sizes, limits::WORDS, |to, WordSize { ids, log_length, whole, holders }| {
                    to.varint(*ids);
                    to.log_length(*log_length);
                    to.flag(*whole);
                    to.peers(holders);
                })
            }
            Self::Ranked(ranked) => ranked.encode(&mut to),
            Self::Met(Met { matches, whole, session, grades }) => {
                to.flag(*whole);
                to.flag(session.is_some());
                if let Some(session) = session {
                    to.varint(*session);
                }
                to.bytes("bytes of matches", matches, limits::MESSAGE_BYTES);
                to.bytes("bytes of grades", grades, limits::MESSAGE_BYTES);
            }
            Self::Settled(same) => to.flag(*same),
            Self::Shown { documents, settled } => {
                to.flag(*settled);
                to.all("documents", documents, limits::FETCHED, |to, shown| shown.encode(to));
            }
            Self::Stored { new } => to.varint(*new),
            Self::Withdrawn { gone } => to.varint(*gone),
            Self::Withdrawals { withdrawals, more } => {
                to.flag(*more);
                to.all("withdrawals", withdrawals, limits::WITHDRAWALS, |to, (withdrawal, days)| {
                    withdrawal.encode(to);
                    to.byte(*days);
                });
            }
            Self::Compared { state, lists, more } => {
                to.fixed(*state);
                to.flag(*more);
                to.all("lists", lists, limits::LISTS, |to, (word, ids, fingerprint)| {
                    to.word(word);
                    to.varint(*ids);
                    to.fixed(*fingerprint);
                });
            }
            Self::Listed(lists) => to.all("lists", lists, limits::LISTED, |to, list| {
                let Listed { ids, weights, days, more } = list;
                to.flag(*more);
                to.ids(ids, limits::IDS);
                to.flag(!weights.is_empty());
                to.require(weights.is_empty() || weights.len() == ids.len(), "the weights of ids");
                to.weights(weights.iter().copied());
                to.require(days.len() == ids.len(), "the days of ids");
                to.raw(days);
            }),
            Self::Near(words) => to.all("words", words, limits::NEAR, |to, (word, documents)| {
                to.word(word);
                to.varint(*documents);
            }),
            Self::Refused(why) => to.byte(*why as u8),
        }
        to.finish()
    }

    /// Decodes an answer.
    ///
    /// # Errors
    /// If the bytes are not an answer, or exceed one of the [limits].
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let (kind, mut from) = Reader::new(bytes)?;
        let response =
            match kind {
                0x81 => Self::Sizes(from.all("words", limits::WORDS, 4, |from| {
                    Ok(WordSize {
                        ids: from.varint("the size of a list")?,
                        log_length: from.log_length()?,
                        whole: from.flag("whether a list is whole")?,
                        holders: from.peers()?,
                    })
                })?),
                0x8a => Self::Ranked(Ranked::decode(&mut from)?),
                0x83 => Self::Met(Met {
                    whole: from.flag("whether a list is whole")?,
                    session: if from.flag("whether there is a session")? {
                        Some(from.varint("the session")?)
                    } else {
                        None
                    },
                    matches: from.bytes("bytes of matches", limits::MESSAGE_BYTES)?.to_vec(),
                    grades: from.bytes("bytes of grades", limits::MESSAGE_BYTES)?.to_vec(),
                }),
                0x84 => Self::Settled(from.flag("whether the sets are the same")?),
                0x8e => Self::Shown {
                    settled: from.flag("whether a node is settled")?,
                    documents: from.all("documents", limits::FETCHED, 1, Shown::decode)?,
                },
                0x86 => Self::Stored { new: from.varint("how many were new")? },
                0x8b => Self::Withdrawn { gone: from.varint("how many are gone")? },
                0x8d => Self::Withdrawals {
                    more: from.flag("whether there are more")?,
                    withdrawals: from.all("withdrawals", limits::WITHDRAWALS, Withdrawal::BYTES + 1, |from| {
                        Ok((Withdrawal::decode(from)?, from.byte("the days of a withdrawal")?))
                    })?,
                },
                0x87 => {
                    let state = from.fixed("the state")?;
                    let more = from.flag("whether there are more")?;
                    let lists = from.all("lists", limits::LISTS, 11, |from| {
                        Ok((from.word()?, from.varint("the size of a list")?, from.fixed("a fingerprint")?))
                    })?;
                    Self::Compared { state, lists, more }
                }
                0x88 => Self::Listed(from.all("lists", limits::LISTED, 2, |from| {
                    let (more, ids) = (from.flag("whether there are more")?, from.ids(limits::IDS)?);
                    // A list without ids has no weights, so that each list has exactly one encoding.
                    let weighted = from.tag("whether there are weights", if ids.is_empty() { 1 } else { 2 })? == 1;
                    let weights = if weighted { from.weights(ids.len())? } else { Vec::new() };
                    Ok(Listed { days: from.take("the days of ids", ids.len())?.to_vec(), ids, weights, more })
                })?),
                0x8f => Self::Near(from.all("words", limits::NEAR, 3, |from| {
                    Ok((from.word()?, from.varint("the documents of a word")?))
                })?),
                0x89 => Self::Refused(REFUSALS[usize::from(from.tag("why it was refused", REFUSALS.len() as u8)?)]),
                _ => return Err(MessageError::Invalid { what: "the kind of an answer", at: 1 }),
            };
        from.finish()?;
        Ok(response)
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Sizes(_) => 0x81,
            Self::Ranked(_) => 0x8a,
            Self::Met(_) => 0x83,
            Self::Settled(_) => 0x84,
            Self::Shown { .. } => 0x8e,
            Self::Stored { .. } => 0x86,
            Self::Withdrawn { .. } => 0x8b,
            Self::Withdrawals { .. } => 0x8d,
            Self::Compared { .. } => 0x87,
            Self::Listed(_) => 0x88,
            Self::Near(_) => 0x8f,
            Self::Refused(_) => 0x89,
        }
    }
}

impl Cost {
    pub(super) fn encode_all(costs: &[Self], to: &mut Writer) {
        to.all("costs", costs, limits::COSTS, |to, cost| {
            to.varint(u64::from(cost.term));
            to.bytes("bytes of a coding", &cost.coding.header(), Coding::MAX_HEADER);
            to.flag(cost.in_three);
            for number in [cost.sent_bits, cost.back_bits, cost.sent_bytes, cost.back_bytes] {
                to.varint(number);
            }
        });
    }

    pub(super) fn decode_all(from: &mut Reader<'_>) -> Result<Vec<Self>, MessageError> {
        from.all("costs", limits::COSTS, 8, |from| {
            Ok(Self {
                term: from.varint32("the word of a cost")?,
                coding: from.coding("the coding of a cost")?,
                in_three: from.flag("whether there was a third message")?,
                sent_bits: from.varint("a cost")?,
                back_bits: from.varint("a cost")?,
                sent_bytes: from.varint("a cost")?,
                back_bytes: from.varint("a cost")?,
            })
        })
    }
}
