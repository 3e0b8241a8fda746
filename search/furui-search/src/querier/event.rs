use super::super::{ContentId, Peer, Place};

/// A task that a [`Querier`](super::Querier) gives to its caller, or a part of its answer.
///
/// ```
/// use std::time::Duration;
/// use furui_search::{Querier, Query, QueryEvent, QueryOptions};
///
/// let mut querier = Querier::new(Query::parse("filter")?.clauses(), vec![], QueryOptions::new(1))?;
/// assert_eq!(querier.poll(Duration::ZERO), Some(QueryEvent::Lookup { word: "filter".into() }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryEvent {
    /// Requests that the caller looks up the nodes nearest to this word, and passes them to
    /// [`Querier::on_holders`](super::Querier::on_holders).
    Lookup {
        /// The word, normalised, whose nearest nodes are to be looked up.
        word: String,
    },
    /// Requests that the caller sends a message. The caller passes the answer to
    /// [`Querier::on_response`](super::Querier::on_response), or calls
    /// [`Querier::on_failure`](super::Querier::on_failure) if there is none.
    Send {
        /// The node to which the request is sent.
        to: Peer,
        /// The number that the caller passes with the answer.
        call: u64,
        /// The encoded [`Request`](super::super::Request).
        request: Vec<u8>,
    },
    /// Requests that the caller checks against the records of these documents whether they contain the word, because
    /// the nodes that keep its list state different sizes. The caller passes the result to
    /// [`Querier::on_proof`](super::Querier::on_proof) within two seconds.
    Prove {
        /// The word that the documents should contain.
        word: String,
        /// The ids of the documents to check.
        ids: Vec<ContentId>,
    },
    /// Reports that the node did not answer in time or violated the protocol. Until this node answers again, later
    /// queries should ask other nodes first ([`Querier::ask_last`](super::Querier::ask_last)).
    Shun {
        /// The node that has failed.
        peer: Peer,
    },
    /// The next documents of the answer.
    Page {
        /// The places of the documents in rank order, without duplicates. If nodes state different scores for a
        /// document, the document has one place with each score, and its record shows which one is right. A later query
        /// can continue after the last place ([`QueryOptions::after`](super::QueryOptions::after)).
        places: Vec<Place>,
    },
    /// The end of the answer. No event follows.
    Done {
        /// The total number of ids in all pages.
        found: u64,
        /// True if there may be more documents after the last page, because the limit was reached.
        more: bool,
        /// True if all lists were [complete](super::super::WordSize::whole), as the nodes that keep them state.
        whole: bool,
    },
    /// The query cannot be completed. The pages so far are correct, and complete up to their last document.
    Failed {
        /// The word of which no node that keeps the list answers.
        word: String,
    },
}
