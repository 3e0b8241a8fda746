use furui_search::Report;

/// What it has cost a search to find out from other nodes what documents are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// The bytes sent to other nodes.
    pub(super) sent: u64,
    /// The bytes received from other nodes.
    pub(super) received: u64,
    /// The number of requests.
    pub(super) messages: u64,
    /// The number of whole records that were received.
    pub(super) fetched: u64,
}

impl Spent {
    pub(super) fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.messages += other.messages;
        self.fetched += other.fetched;
    }

    /// The report of a search that has cost this in addition.
    pub(super) fn report(self, report: Report) -> Report {
        Report {
            show_messages: self.messages,
            show_sent_bytes: self.sent,
            show_back_bytes: self.received,
            fetched: self.fetched,
            ..report
        }
    }
}
