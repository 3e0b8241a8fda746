//! The messages between nodes. The bytes are described in docs/protocol.md, "Messages".

mod clause;
mod error;
mod exchange;
mod ranked;
mod reader;
mod request;
mod response;
mod show;
mod wants;
mod writer;

use super::{Clause, ContentId, IdRange, Peer, Signature, Weight, Withdrawal, WordPostings};

pub use error::MessageError;
pub use exchange::{Cost, Meet, Met, Settle};
pub use ranked::{Ranked, Ranking};
pub use show::{Part, Shown, ShownDocument};
pub use wants::{Wants, WantsError};

/// The version of the protocol, which is the first byte of every message.
const VERSION: u8 = 1;

/// A request to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Asks for the sizes of these words' lists, and for the nodes that keep the lists.
    Size {
        /// The words, normalised, whose lists are asked about.
        words: Vec<String>,
    },
    /// Asks the node that keeps the list of the first word for the documents that contain all words.
    Search(Search),
    /// Asks the node that keeps a list for those documents of a set that are in its list, too. The sender keeps another
    /// list.
    Meet(Meet),
    /// Ends an exchange of three messages with the rejected matches and a checksum.
    Settle(Settle),
    /// Asks for the titles and snippets of documents, for their records, or for whether the receiver keeps them.
    Show {
        /// The ids of the documents, each with the requested part.
        documents: Vec<(ContentId, Part)>,
        /// The query, which determines the documents that match, the words whose weights are stated, and the text of
        /// the snippet.
        clauses: Vec<Clause>,
    },
    /// Asks the receiver to store postings and records.
    Store {
        /// For each word, the postings to add to its list.
        postings: Vec<WordPostings>,
        /// The documents to store, each with the signature of its publisher.
        records: Vec<(Signature, Vec<u8>)>,
    },
    /// Withdraws documents.
    Withdraw {
        /// The withdrawals, signed by the publishers.
        withdrawals: Vec<Withdrawal>,
    },
    /// Asks for the withdrawals of documents, in order to store copies of them.
    Withdrawn {
        /// The range of the ids of the documents whose withdrawals are requested.
        range: IdRange,
    },
    /// Asks for the sizes and fingerprints of those of the receiver's lists that the sender should hold too, in the
    /// order of their words.
    Compare {
        /// The word after which the answer begins; empty for the beginning.
        from: String,
        /// The receiver's state number when the sender last took over everything from it; 0 if the sender never has. If
        /// the state is unchanged, there is nothing to compare.
        since: u64,
    },
    /// Asks for the ids of words' lists, in order to store copies or to compare the statements of the nodes that keep
    /// them.
    List {
        /// The words. The empty word stands for the ids of the documents whose records are kept.
        words: Vec<String>,
        /// The range of ids that is requested from each list.
        range: IdRange,
        /// The maximum number of ids that are requested from each list.
        most: u32,
    },
    /// Asks for the words of the receiver's lists whose spelling is nearest to that of a word that no document has.
    Near {
        /// The word, normalised.
        word: String,
    },
    /// Asks for the names of lists that begin with this text and have the most documents.
    Beginning {
        /// The text: the beginning of a word, normalised.
        word: String,
    },
    /// Reports to a node that keeps lists that the documents of some of its postings are withdrawn, or that their
    /// records contradict the postings. The node checks this itself, whoever reports it.
    Doubt {
        /// The doubted postings, each as a word and a document in its list.
        claims: Vec<(String, ContentId)>,
    },
}

/// An answer to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// Answers a [`Request::Size`]: one size for each word.
    Sizes(Vec<WordSize>),
    /// Answers a [`Request::Search`].
    Ranked(Ranked),
    /// Answers a [`Request::Meet`].
    Met(Met),
    /// Answers a [`Request::Settle`]: true if the checksum shows that both sides have found the same ids.
    Settled(bool),
    /// Answers a [`Request::Show`].
    Shown {
        /// The answer for each document: the requested part, or the reason that it is missing.
        documents: Vec<Shown>,
        /// True if the answering node has been given everything that it should hold, including all withdrawals.
        settled: bool,
    },
    /// Answers a [`Request::Store`] or a [`Request::Doubt`].
    Stored {
        /// The number of postings and records that the answering node did not have; 0 for doubts, which are examined
        /// later.
        new: u64,
    },
    /// Answers a [`Request::Withdraw`].
    Withdrawn {
        /// The number of documents that are gone from the node because of it.
        gone: u64,
    },
    /// Answers a [`Request::Withdrawn`].
    Withdrawals {
        /// Withdrawals in the order of their documents, each with the number of whole days for which it is still
        /// remembered.
        withdrawals: Vec<(Withdrawal, u8)>,
        /// True if there are further withdrawals, of later documents in the range.
        more: bool,
    },
    /// Answers a [`Request::Compare`]: the sizes and fingerprints of lists, in the order of their words.
    Compared {
        /// The number of the answering node's state, which changes whenever something is stored or the neighbours of
        /// the node change.
        state: u64,
        /// For each list: its word, the number of its ids, and its fingerprint, which is the sum of the ids' hashes.
        lists: Vec<(String, u64, u64)>,
        /// True if there are further lists after the last one in `lists`.
        more: bool,
    },
    /// Answers a [`Request::List`]: the lists of the first words, up to the maximum size of a message. At least a part
    /// of the first list is included.
    Listed(Vec<Listed>),
    /// Answers a [`Request::Near`], the nearest first, or a [`Request::Beginning`], those of the most documents first:
    /// names of lists, each with the number of its documents; at most [`NEAR`](super::limits::NEAR).
    Near(Vec<(String, u64)>),
    /// Refuses a request for the stated reason.
    Refused(Refusal),
}

/// The reason that a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The node has reached a limit. Another node that keeps the data should be asked, or this one later.
    Busy,
    /// The request violates the protocol.
    Invalid,
    /// The state of the exchange that a [`Settle`] ends is unknown, or has expired.
    Forgotten,
    /// None of the nodes that keep a word's list has answered.
    Unreachable,
    /// This node's storage failed.
    Failed,
    /// More ids match than a [`Meet`]'s coding allows in a cell, or than an answer may contain. The set should be sent
    /// as full ids.
    Crowded,
    /// The records that prove a message's postings are unavailable. The postings should be sent again when the records
    /// are stored.
    Unproven,
}

/// A word, the size of its list, and the nodes that keep the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word, normalised.
    pub word: String,
    /// The number of ids in the word's list.
    pub size: u64,
    /// The nodes that keep the word's list, in the order in which to ask them.
    pub holders: Vec<Peer>,
}

/// Asks the node that keeps the list of the first word of `must` for the documents in which all words of `must` and no
/// word of `without` occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The words that must occur. The receiver keeps the list of the first one; the others are in the order in which
    /// their lists are to be compared.
    pub must: Vec<Term>,
    /// The words that must not occur.
    pub without: Vec<Term>,
    /// The maximum number of ids of its list that the receiver examines; at least one.
    pub most: u32,
    /// The coding in which nodes should send each other sets of ids for this search.
    pub wants: Wants,
    /// An unpredictable number chosen for this query. It is the key of the check bits of coded sets.
    pub salt: u64,
    /// The selection of the documents to return, and the parameters of their scores.
    pub ranking: Ranking,
}

/// The answer for one word of a [`Request::Size`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSize {
    /// The number of ids in the word's list on this node.
    pub ids: u64,
    /// The mean of the base-2 logarithms of the lengths of these documents, rounded; in
    /// [`Scale::LENGTHS`](crate::Scale::LENGTHS).
    pub log_length: u8,
    /// True if the list is complete: this node has been given everything that it should hold.
    pub whole: bool,
    /// The nodes nearest to the word's key that this node knows, including itself, in ascending distance.
    pub holders: Vec<Peer>,
}

/// A part of a list that is transferred to another node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The ids of the part of the list, ascending.
    pub ids: Vec<ContentId>,
    /// The weight of each posting; empty for the list of the documents whose records are kept.
    pub weights: Vec<Weight>,
    /// For each id, the number of whole days for which it is still kept, so that a copy does not outlive the original.
    pub days: Vec<u8>,
    /// True if there are further ids in the range after the last of `ids`.
    pub more: bool,
}
