use super::super::Surveyed;
use super::super::{Coding, ContentId, Lock, LockKey, Weight, limits};
use super::reader::Reader;
use super::writer::Writer;
use super::{Cost, Listed, MessageError, Met, Ranked, Refusal, Response, Shown, WordSize};

const SIZES: u8 = 0x81;
const MET: u8 = 0x83;
const SETTLED: u8 = 0x84;
const STORED: u8 = 0x86;
const COMPARED: u8 = 0x87;
const LISTED: u8 = 0x88;
const REFUSED: u8 = 0x89;
const RANKED: u8 = 0x8a;
const WITHDRAWN: u8 = 0x8b;
const LOCKS: u8 = 0x8c;
const KEYS: u8 = 0x8d;
const SHOWN: u8 = 0x8e;
const SURVEYED: u8 = 0x8f;

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
                to.count("words", sizes.len(), limits::WORDS);
                for WordSize { ids, whole, holders } in sizes {
                    to.varint(*ids);
                    to.flag(*whole);
                    to.peers(holders);
                }
            }
            Self::Ranked(ranked) => ranked.encode(&mut to),
            Self::Met(Met { matches, whole, session, steps }) => {
                to.flag(*whole);
                to.flag(session.is_some());
                if let Some(session) = session {
                    to.varint(*session);
                }
                to.bytes("bytes of matches", matches, limits::MESSAGE_BYTES);
                to.bytes("bytes of steps", steps, limits::MESSAGE_BYTES);
            }
            Self::Settled(same) => to.flag(*same),
            Self::Shown { documents, settled } => {
                to.flag(*settled);
                to.count("documents", documents.len(), limits::FETCHED);
                documents.iter().for_each(|shown| shown.encode(&mut to));
            }
            Self::Stored { new } => to.varint(*new),
            Self::Withdrawn { opened } => to.varint(*opened),
            Self::Locks(documents) => {
                to.count("documents", documents.len(), limits::FETCHED);
                for locks in documents {
                    to.count("locks", locks.len(), limits::LOCKS);
                    for (lock, days) in locks {
                        to.raw(lock.as_bytes());
                        to.byte(*days);
                    }
                }
            }
            Self::Keys { keys, more } => {
                to.flag(*more);
                to.count("keys", keys.len(), limits::KEYS);
                for (id, key, days) in keys {
                    to.raw(id.as_bytes());
                    to.raw(key.as_bytes());
                    to.byte(*days);
                }
            }
            Self::Compared { state, lists, more } => {
                to.fixed(*state);
                to.flag(*more);
                to.count("lists", lists.len(), limits::LISTS);
                for (word, ids, fingerprint) in lists {
                    to.word(word);
                    to.varint(*ids);
                    to.fixed(*fingerprint);
                }
            }
            Self::Listed(lists) => {
                to.count("lists", lists.len(), limits::LISTED);
                for Listed { ids, weights, days, more } in lists {
                    to.flag(*more);
                    to.ids(ids, limits::IDS);
                    to.flag(!weights.is_empty());
                    if !weights.is_empty() {
                        let weights: Vec<u8> = weights.iter().flat_map(|weight| weight.to_bytes()).collect();
                        to.all_bytes("the weights of ids", &weights, Weight::BYTES * ids.len());
                    }
                    to.all_bytes("the days of ids", days, ids.len());
                }
            }
            Self::Surveyed(surveyed) => surveyed.encode(&mut to),
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
        let response = match kind {
            SIZES => Self::Sizes(from.all("words", limits::WORDS, 3, |from| {
                Ok(WordSize {
                    ids: from.varint("the size of a list")?,
                    whole: from.flag("whether a list is whole")?,
                    holders: from.peers()?,
                })
            })?),
            RANKED => Self::Ranked(Ranked::decode(&mut from)?),
            MET => Self::Met(Met {
                whole: from.flag("whether a list is whole")?,
                session: if from.flag("whether there is a session")? {
                    Some(from.varint("the session")?)
                } else {
                    None
                },
                matches: from.bytes("bytes of matches", limits::MESSAGE_BYTES)?.to_vec(),
                steps: from.bytes("bytes of steps", limits::MESSAGE_BYTES)?.to_vec(),
            }),
            SETTLED => Self::Settled(from.flag("whether the sets are the same")?),
            SHOWN => Self::Shown {
                settled: from.flag("whether a node is settled")?,
                documents: from.all("documents", limits::FETCHED, 1, Shown::decode)?,
            },
            STORED => Self::Stored { new: from.varint("how many were new")? },
            WITHDRAWN => Self::Withdrawn { opened: from.varint("how many locks were opened")? },
            LOCKS => Self::Locks(from.all("documents", limits::FETCHED, 1, |from| {
                from.all("locks", limits::LOCKS, Lock::BYTES + 1, |from| {
                    Ok((Lock::new(from.raw("a lock")?), from.byte("the days of a lock")?))
                })
            })?),
            KEYS => Self::Keys {
                more: from.flag("whether there are more")?,
                keys: from.all("keys", limits::KEYS, ContentId::BYTES + LockKey::BYTES + 1, |from| {
                    let id = ContentId::new(from.raw("an id")?);
                    Ok((id, LockKey::new(from.raw("a key")?), from.byte("the days of a key")?))
                })?,
            },
            COMPARED => {
                let state = from.fixed("the state")?;
                let more = from.flag("whether there are more")?;
                let lists = from.all("lists", limits::LISTS, 11, |from| {
                    Ok((from.word()?, from.varint("the size of a list")?, from.fixed("a fingerprint")?))
                })?;
                Self::Compared { state, lists, more }
            }
            LISTED => Self::Listed(from.all("lists", limits::LISTED, 2, |from| {
                let (more, ids) = (from.flag("whether there are more")?, from.ids(limits::IDS)?);
                // A list without ids has no weights, so that each list has exactly one encoding.
                let weighted = from.tag("whether there are weights", if ids.is_empty() { 1 } else { 2 })? == 1;
                let weights = if weighted { from.weights(ids.len())? } else { Vec::new() };
                Ok(Listed { days: from.take("the days of ids", ids.len())?.to_vec(), ids, weights, more })
            })?),
            SURVEYED => Self::Surveyed(Surveyed::decode(&mut from)?),
            REFUSED => Self::Refused(REFUSALS[usize::from(from.tag("why it was refused", REFUSALS.len() as u8)?)]),
            _ => return Err(MessageError::Invalid { what: "the kind of an answer", at: 1 }),
        };
        from.finish()?;
        Ok(response)
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Sizes(_) => SIZES,
            Self::Ranked(_) => RANKED,
            Self::Met(_) => MET,
            Self::Settled(_) => SETTLED,
            Self::Shown { .. } => SHOWN,
            Self::Stored { .. } => STORED,
            Self::Withdrawn { .. } => WITHDRAWN,
            Self::Locks(_) => LOCKS,
            Self::Keys { .. } => KEYS,
            Self::Surveyed(_) => SURVEYED,
            Self::Compared { .. } => COMPARED,
            Self::Listed(_) => LISTED,
            Self::Refused(_) => REFUSED,
        }
    }
}

impl Cost {
    pub(super) fn encode_all(costs: &[Self], to: &mut Writer) {
        to.count("costs", costs.len(), limits::COSTS);
        for cost in costs {
            to.varint(u64::from(cost.term));
            to.bytes("bytes of a coding", &cost.coding.header(), Coding::MAX_HEADER);
            to.flag(cost.in_three);
            for number in [cost.sent_bits, cost.back_bits, cost.sent_bytes, cost.back_bytes] {
                to.varint(number);
            }
        }
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
