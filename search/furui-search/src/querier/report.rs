use std::time::Duration;

use super::super::{Cost, Peer};

/// The cost of a query. The bytes of look-ups, which the network layer performs, are not included.
///
/// ```
/// use std::time::Duration;
/// use furui_search::{Querier, Query, QueryOptions};
///
/// let mut querier = Querier::new(Query::parse("bloom filter")?.clauses(), vec![], QueryOptions::new(1))?;
/// while querier.poll(Duration::ZERO).is_some() {}
/// assert_eq!((querier.report().lookups, querier.report().messages), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The salt of the query, the key of the hash that gives check bits. With it, the cost of the exchanges can be
    /// recomputed.
    pub salt: u64,
    /// The words of the query whose sizes are known.
    pub words: Vec<WordReport>,
    /// The number of look-ups of the nodes that keep a word's list. A word may be looked up more than once.
    pub lookups: u64,
    /// The time, on the clock of the querier's caller, at which all words were known and the first slice of a list was
    /// requested; `None` before.
    pub planned: Option<Duration>,
    /// The number of requests that the querier sent.
    pub messages: u64,
    /// The number of documents whose text the network layer examined, because the query has phrases and the lists
    /// contain only words.
    pub checked: u64,
    /// True if the network layer stopped because it had examined so many documents, and further ones may fit.
    pub bounded: bool,
    /// The number of records that the network layer fetched to verify the statements of nodes.
    pub fetched: u64,
    /// The number of requests for titles, snippets and records of documents that the network layer sent to other nodes.
    pub show_messages: u64,
    /// The bytes of the requests counted in [`show_messages`](Self::show_messages).
    pub show_sent_bytes: u64,
    /// The bytes of the answers to the requests counted in [`show_messages`](Self::show_messages).
    pub show_back_bytes: u64,
    /// The number of requests that failed or were refused, or whose answers were late or violated the protocol.
    pub failures: u64,
    /// The number of slices about which the answers of the asked nodes differed. The documents that any of them found
    /// were returned.
    pub disputed: u64,
    /// The bytes of the requests that the querier sent.
    pub sent_bytes: u64,
    /// The bytes of the answers to the querier's requests.
    pub back_bytes: u64,
    /// The total cost of all exchanges, as the nodes report it. The fields `term`, `coding` and `in_three` have no
    /// meaning here.
    pub exchanged: Cost,
    /// The rounds of the query if [`QueryOptions::explain`](super::QueryOptions::explain) is set; at most
    /// [`limits::ROUNDS`](super::super::limits::ROUNDS).
    pub rounds: Vec<Round>,
}

impl Report {
    /// Adds the messages of another search to those of this one.
    pub fn add_messages(&mut self, other: &Self) {
        self.lookups += other.lookups;
        self.messages += other.messages;
        self.show_messages += other.show_messages;
        self.show_sent_bytes += other.show_sent_bytes;
        self.show_back_bytes += other.show_back_bytes;
        self.failures += other.failures;
        self.fetched += other.fetched;
        self.sent_bytes += other.sent_bytes;
        self.back_bytes += other.back_bytes;
        self.exchanged.sent_bytes += other.exchanged.sent_bytes;
        self.exchanged.back_bytes += other.exchanged.back_bytes;
    }
}

/// A word of a query, with the size of its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordReport {
    /// The word of the query that the figures are about.
    pub word: String,
    /// The number of ids in its list.
    pub size: u64,
    /// True if the list is complete: the node that reported the size has been given everything that it should hold.
    pub whole: bool,
}

/// The answer of one node to the request for one slice of one conjunction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The index of the conjunction among the clauses of the query.
    pub clause: usize,
    /// The words in the order in which their lists were intersected, beginning with a slice of the first word's list.
    pub words: Vec<String>,
    /// The node that read the slice of the first word's list, and asked the nodes that keep the other lists.
    pub host: Peer,
    /// The maximum number of ids that the node was asked to examine.
    pub most: u32,
    /// The number of ids that the node examined.
    pub seen: u64,
    /// The number of examined ids that match the conjunction.
    pub found: u64,
    /// The size of the request, in bytes.
    pub sent_bytes: u64,
    /// The size of the answer, in bytes.
    pub back_bytes: u64,
    /// The costs of the exchanges with the nodes that keep the other lists.
    pub costs: Vec<Cost>,
    /// The time, on the clock of the querier's caller, at which the answer arrived.
    pub at: Duration,
}

impl Report {
    pub(super) fn add(&mut self, cost: &Cost) {
        // These numbers come from a peer, so the additions saturate.
        let all = &mut self.exchanged;
        all.sent_bits = all.sent_bits.saturating_add(cost.sent_bits);
        all.back_bits = all.back_bits.saturating_add(cost.back_bits);
        all.sent_bytes = all.sent_bytes.saturating_add(cost.sent_bytes);
        all.back_bytes = all.back_bytes.saturating_add(cost.back_bytes);
    }
}
