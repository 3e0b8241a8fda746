use std::time::Duration;

use super::super::{Cost, Peer};

/// What a query took. Look-ups are the network's, and their bytes are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number that salted the query's checks: with it, what its exchanges took can be computed anew.
    pub salt: u64,
    /// The words, as far as they are known.
    pub words: Vec<WordReport>,
    /// Words that had to be looked up.
    pub lookups: u64,
    /// When the words were known, and the first slice was asked for.
    pub planned: Option<Duration>,
    /// Requests that the querier sent.
    pub messages: u64,
    /// Documents whose text was looked at, because a query has phrases and lists know only words; the network does that.
    pub checked: u64,
    /// Requests that failed, were refused, answered against the protocol or not in time.
    pub failures: u64,
    /// Bytes of those requests.
    pub sent_bytes: u64,
    /// Bytes of the answers.
    pub back_bytes: u64,
    /// What the nodes say that their exchanges took, in all; its term and coding mean nothing.
    pub exchanged: Cost,
    /// The rounds, if they were to be told: at most [`limits::ROUNDS`](super::super::limits::ROUNDS).
    pub rounds: Vec<Round>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordReport {
    /// The word.
    pub word: String,
    /// How many ids its list has.
    pub size: u64,
    /// Whether the node that said so has been given all that it should hold.
    pub whole: bool,
}

/// One slice of one conjunction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Which of the query's clauses.
    pub clause: usize,
    /// The words in the order in which they were met: the first one's list was sliced.
    pub words: Vec<String>,
    /// Whose list was sliced.
    pub host: Peer,
    /// How many ids were to be looked at.
    pub most: u32,
    /// How many were.
    pub seen: u64,
    /// How many were found.
    pub found: u64,
    /// Bytes of the request.
    pub sent_bytes: u64,
    /// Bytes of the answer.
    pub back_bytes: u64,
    /// What the exchanges took.
    pub costs: Vec<Cost>,
    /// When the answer came.
    pub at: Duration,
}

impl Report {
    pub(super) fn add(&mut self, cost: &Cost) {
        // A peer tells these numbers: they may be any.
        let all = &mut self.exchanged;
        all.sent_bits = all.sent_bits.saturating_add(cost.sent_bits);
        all.back_bits = all.back_bits.saturating_add(cost.back_bits);
        all.sent_bytes = all.sent_bytes.saturating_add(cost.sent_bytes);
        all.back_bytes = all.back_bytes.saturating_add(cost.back_bytes);
    }
}
