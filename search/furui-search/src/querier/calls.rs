use std::collections::HashMap;
use std::time::Duration;

use super::super::Peer;
use super::super::message::Search;

/// The requests of a query that are in flight.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) waiting: HashMap<u64, Call>,
    next: u64,
}

/// A request in flight.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) to: Peer,
    /// The time at which the request times out.
    pub(super) until: Duration,
    pub(super) of: Of,
    pub(super) sent_bytes: u64,
}

/// The purpose of a request.
#[derive(Debug)]
pub(super) enum Of {
    /// The size of the list of the word with this index.
    Size(usize),
    /// A sample of the list of the word with this index.
    Sample(usize),
    /// The next slice of the conjunction with this index, over this path of nodes.
    Slice(usize, Path),
}

/// The nodes on which the answer to a search depends if none of them fails: first the host (the node that is asked),
/// then for each other word the keeper that the host asks.
pub(super) type Path = Vec<Peer>;

/// A slice of the first list of a conjunction.
#[derive(Debug)]
pub(super) struct Slice {
    /// The index of the conjunction.
    pub(super) branch: usize,
    /// The indices of the conjunction's words, in the order of the search.
    pub(super) order: Vec<usize>,
    pub(super) search: Search,
}

impl Calls {
    /// Adds a call, and returns its number.
    pub(super) fn add(&mut self, call: Call) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, call);
        number
    }

    /// The numbers of the calls that have timed out.
    pub(super) fn late(&self, now: Duration) -> Vec<u64> {
        self.waiting.iter().filter(|(_, call)| call.until <= now).map(|(&number, _)| number).collect()
    }

    /// The time at which the next call times out; `None` if no call is in flight.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.waiting.values().map(|call| call.until).min()
    }

    /// Drops all requests for the next slice of the conjunction with the index `branch`.
    pub(super) fn forget(&mut self, branch: usize) {
        self.waiting.retain(|_, call| !matches!(call.of, Of::Slice(of, _) if of == branch));
    }
}
