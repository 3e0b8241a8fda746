use super::super::{Peer, Place};

/// What a [`Querier`](super::Querier) wants done, or has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryEvent {
    /// Find the nodes closest to this word, and tell them to [`Querier::on_holders`](super::Querier::on_holders).
    Lookup {
        /// The word.
        word: String,
    },
    /// Send this, and tell the answer to [`Querier::on_response`](super::Querier::on_response), or its absence to
    /// [`Querier::on_failure`](super::Querier::on_failure).
    Send {
        /// To whom.
        to: Peer,
        /// The number to name with the answer.
        call: u64,
        /// What: the bytes of a [`Request`](super::super::Request).
        request: Vec<u8>,
    },
    /// Let later queries ask others before this node ([`Querier::ask_last`](super::Querier::ask_last)), until it
    /// answers: it did not in time, or not as the protocol says.
    Shun {
        /// Which.
        peer: Peer,
    },
    /// The next documents of the answer.
    Page {
        /// In the order of the answer; none has been in a page before. With the last one a later query goes on
        /// ([`QueryOptions::after`](super::QueryOptions::after)).
        places: Vec<Place>,
    },
    /// The end: nothing comes after it.
    Done {
        /// How many ids the pages had.
        found: u64,
        /// Whether there may be more after the last page, because no more were asked for.
        more: bool,
        /// Whether every list came from a node that says it has been given all that it should hold.
        whole: bool,
    },
    /// The end, before the answer was: what the pages had is true, and complete up to their last document.
    Failed {
        /// The word whose keepers do not answer.
        word: String,
    },
}
