use furui_search::Report;

/// The traffic between this node and others for fetching and verifying the documents of one search.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::node) struct Spent {
    /// The number of bytes sent to other nodes.
    pub(in crate::node) sent: u64,
    /// The number of bytes received from other nodes.
    pub(in crate::node) received: u64,
    /// The number of requests to other nodes.
    pub(in crate::node) messages: u64,
    /// The number of whole records that were received.
    pub(in crate::node) fetched: u64,
}

impl Spent {
    pub(in crate::node) fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.messages += other.messages;
        self.fetched += other.fetched;
    }

    /// Adds this traffic to the report of a search.
    pub(in crate::node) fn report(self, report: Report) -> Report {
        Report {
            show_messages: self.messages,
            show_sent_bytes: self.sent,
            show_back_bytes: self.received,
            fetched: self.fetched,
            ..report
        }
    }
}
