//! What nodes say to each other. Bytes: docs/format.md, "Messages".

mod clause;
mod error;
mod exchange;
mod ranked;
mod reader;
mod request;
mod response;
mod writer;

use super::{Clause, ContentId, IdRange, Lock, LockKey, Peer, Weight, WordPostings};

pub use error::MessageError;
pub use exchange::{CodingKind, Cost, Meet, Met, Settle, Wants};
pub use ranked::{Ranked, Ranking};

/// The first byte of every message.
const VERSION: u8 = 1;

/// What a node is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// How long are the lists of these words, and who else keeps them?
    Size {
        /// The words, normalised.
        words: Vec<String>,
    },
    /// Find the documents that hold all words: to the holder of the first.
    Search(Search),
    /// Which of these documents are in your list? From the holder of one list to that of another.
    Meet(Meet),
    /// The end of an exchange in three messages.
    Settle(Settle),
    /// The records of these documents.
    Fetch {
        /// Their ids.
        ids: Vec<ContentId>,
        /// If there are any, only records that fit one of them are wanted: see [`Fit`](super::Fit).
        clauses: Vec<Clause>,
    },
    /// Keep these: postings by word, and records of documents.
    Store {
        /// For each word the postings to add to its list.
        postings: Vec<WordPostings>,
        /// Documents to keep, each with the lock of who publishes it.
        records: Vec<(Lock, Vec<u8>)>,
    },
    /// These documents are to be found no more, as far as it is up to whoever has these keys.
    Withdraw {
        /// Documents and keys to locks of them.
        keys: Vec<(ContentId, LockKey)>,
    },
    /// The locks of these documents, for hand-over.
    Locks {
        /// Their ids.
        ids: Vec<ContentId>,
    },
    /// Which locks of documents have been opened, for hand-over.
    Withdrawn {
        /// Of which documents.
        range: IdRange,
    },
    /// What do you hold that I should hold too? Answered word by word from `from` on.
    Compare {
        /// The word to go on after; empty for the first.
        from: String,
        /// The state in which the receiver was when the sender had taken over everything from it; 0 if it never had. If
        /// it still is in it, there is nothing to compare.
        since: u64,
    },
    /// The ids of words' lists, for hand-over.
    List {
        /// The words; an empty one stands for the ids of the documents whose records are kept.
        words: Vec<String>,
        /// Which part of each list.
        range: IdRange,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// To [`Request::Size`]: one for each word.
    Sizes(Vec<WordSize>),
    /// To [`Request::Search`].
    Found(Found),
    /// To a [`Request::Search`] with a [`Ranking`].
    Ranked(Ranked),
    /// To [`Request::Meet`].
    Met(Met),
    /// To [`Request::Settle`]: whether both sides hold the same set.
    Settled(bool),
    /// To [`Request::Fetch`]: for each id its record, if it is here, fits, and there is room in the message.
    Fetched(Vec<Fetched>),
    /// To [`Request::Store`]: how many of the postings and records were new.
    Stored {
        /// New postings and records.
        new: u64,
    },
    /// To [`Request::Withdraw`].
    Withdrawn {
        /// How many locks the keys opened.
        opened: u64,
    },
    /// To [`Request::Locks`]: for each document its locks, and for how many days more each is kept, rounded down.
    Locks(Vec<Vec<(Lock, u8)>>),
    /// To [`Request::Withdrawn`].
    Keys {
        /// Documents in ascending order, keys to locks of them, and for how many days more each is remembered, rounded
        /// down.
        keys: Vec<(ContentId, LockKey, u8)>,
        /// Whether the range has others after the last of them.
        more: bool,
    },
    /// To [`Request::Compare`]: words in order with the size and the fingerprint of their lists; `more` if there are others.
    Compared {
        /// Another number whenever something is stored, or the nodes around change.
        state: u64,
        /// Word, ids in its list, sum of their hashes.
        lists: Vec<(String, u64, u64)>,
        /// Whether to go on after the last of them.
        more: bool,
    },
    /// To [`Request::List`]: the lists of the first of the words, as many as there is room for in the message; of one
    /// at least a part.
    Listed(Vec<Listed>),
    /// No: and why.
    Refused(Refusal),
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Too much is asked at once; ask another replica, or later.
    Busy,
    /// The request breaks a rule of the protocol.
    Invalid,
    /// The session of a [`Settle`] is not known (any more).
    Forgotten,
    /// None of the nodes that keep a word answered.
    Unreachable,
    /// This node's storage failed.
    Failed,
    /// More ids match than the coding of a [`Meet`]'s set allows in a cell, or an answer in all: send the set as ids.
    Crowded,
}

/// A word and who keeps its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word, normalised.
    pub word: String,
    /// How many ids its list has.
    pub size: u64,
    /// Its replicas, the one to ask first first.
    pub holders: Vec<Peer>,
}

/// Asks the holder of the first of `must` for the documents in which all of `must` and none of `without` occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Words that must occur; the receiver keeps the list of the first, the others follow in the order to ask them.
    pub must: Vec<Term>,
    /// Words that must not.
    pub without: Vec<Term>,
    /// Which ids; the first not looked at in the last answer begins the next.
    pub range: IdRange,
    /// How many ids of its list the receiver is to look at; at least one.
    pub most: u32,
    /// How sets are to be coded.
    pub wants: Wants,
    /// A number chosen for this query, unknown before: salts the checks.
    pub salt: u64,
    /// To have the best documents instead of the first; then the range is not looked at.
    pub ranking: Option<Ranking>,
}

/// The answer to a [`Search`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The ids found, ascending.
    pub ids: Vec<ContentId>,
    /// Up to which head everything was looked at; the search goes on after it, and is done at the end of its range.
    pub through: u64,
    /// How many ids of the first word's list were looked at.
    pub seen: u64,
    /// Whether all lists were [whole](WordSize::whole).
    pub whole: bool,
    /// What each exchange took.
    pub costs: Vec<Cost>,
}

/// The answer for one word of a [`Request::Size`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSize {
    /// How many ids its list has here.
    pub ids: u64,
    /// Whether this node has been given everything that it should hold.
    pub whole: bool,
    /// Of the [`SAMPLE`](super::SAMPLE): how many words its documents have on average. 0 of other words.
    pub mean_length: u32,
    /// The nodes closest to the word that this one knows, itself among them, closest first.
    pub holders: Vec<Peer>,
}

/// A part of a list that is handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The ids, ascending.
    pub ids: Vec<ContentId>,
    /// The weights of these postings; none if they are documents.
    pub weights: Vec<Weight>,
    /// For how many days more each is kept, rounded down: a copy does not outlive the original.
    pub days: Vec<u8>,
    /// Whether the range has others after the last of them.
    pub more: bool,
}

/// A record asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// Here it is.
    Record(Vec<u8>),
    /// It is not kept here.
    Unknown,
    /// It is, but the message is full, or enough was looked at for one: ask again.
    Later,
    /// It is, and fits none of the clauses.
    Unfit,
}
