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

/// A request of a query in flight.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) to: Peer,
    /// The time at which the request counts as failed if no answer has arrived.
    pub(super) until: Duration,
    pub(super) of: Of,
    pub(super) sent_bytes: u64,
}

/// The purpose of a request of a query.
#[derive(Debug)]
pub(super) enum Of {
    /// The size of a word's list. The number is the index of the word among the query's words.
    Size(usize),
    /// A sample of a word's list, by which its size is checked. The number is the index of the word among the query's
    /// words.
    Sample(usize),
    /// The next slice of a conjunction, over this path of nodes. The number is the index of the conjunction among the
    /// query's clauses.
    Slice(usize, Path),
}

/// The nodes on which the answer to a search depends if none of them fails: first the host (the node that is asked),
/// then for each other word the node that the host asks about its list.
pub(super) type Path = Vec<Peer>;

/// A slice (a part) of the first word's list of a conjunction, which is requested from other nodes.
#[derive(Debug)]
pub(super) struct Slice {
    /// The index of the conjunction among the query's clauses.
    pub(super) branch: usize,
    /// The indices, among the query's words, of the conjunction's words, in the order in which the search compares
    /// their lists.
    pub(super) order: Vec<usize>,
    pub(super) search: Search,
}

impl Calls {
    /// Adds a request in flight, and returns the number that identifies its answer.
    pub(super) fn add(&mut self, call: Call) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, call);
        number
    }

    /// The numbers of the requests that have timed out.
    pub(super) fn late(&self, now: Duration) -> Vec<u64> {
        self.waiting.iter().filter(|(_, call)| call.until <= now).map(|(&number, _)| number).collect()
    }

    /// The time at which the next request times out; `None` if none is in flight.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.waiting.values().map(|call| call.until).min()
    }

    /// Drops all requests for the next slice of the conjunction with the index `branch`.
    pub(super) fn forget(&mut self, branch: usize) {
        self.waiting.retain(|_, call| !matches!(call.of, Of::Slice(of, _) if of == branch));
    }
}
