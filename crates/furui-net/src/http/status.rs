use serde::Serialize;

use crate::node::Span;

/// What a node is, and what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its identity in the network.
    pub peer: String,
    /// The addresses under which others reach it.
    pub addresses: Vec<String>,
    /// Whether it has been given everything that it should hold.
    pub whole: bool,
    /// How often it has compared what it holds with its neighbours.
    pub rounds: u64,
    /// Whether the last time brought nothing new, every neighbour answered, and none has come or gone since.
    pub settled: bool,
    /// Postings and records that it took over from neighbours.
    pub taken: u64,
    /// Other nodes that it is connected to.
    pub peers: u64,
    /// Words whose lists it keeps.
    pub words: u64,
    /// Ids in these lists.
    pub postings: u64,
    /// Documents whose records it keeps.
    pub documents: u64,
    /// Bytes of its files.
    pub disk: u64,
    /// Searches that it has done for its users.
    pub searches: u64,
    /// Documents that it has published for its users.
    pub published: u64,
    /// Requests of other nodes that it has answered.
    pub answered: u64,
    /// Requests of other nodes that it has refused.
    pub refused: u64,
    /// Bytes sent to other nodes.
    pub sent: u64,
    /// Bytes received from other nodes.
    pub received: u64,
    /// The same lately, for people, so not in JSON.
    #[serde(skip)]
    pub lately: Vec<Span>,
}

impl Status {
    /// Prometheus' text format, version 0.0.4.
    pub(super) fn metrics(&self) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in [
            (
                "whole",
                "gauge",
                "Whether the node has been given everything that it should hold.",
                u64::from(self.whole),
            ),
            ("rounds_total", "counter", "How often it has compared what it holds with its neighbours.", self.rounds),
            ("settled", "gauge", "Whether the last time brought nothing new.", u64::from(self.settled)),
            ("taken_total", "counter", "Postings and records that it took over from neighbours.", self.taken),
            ("peers", "gauge", "Other nodes that it is connected to.", self.peers),
            ("words", "gauge", "Words whose lists it keeps.", self.words),
            ("postings", "gauge", "Ids in these lists.", self.postings),
            ("documents", "gauge", "Documents whose records it keeps.", self.documents),
            ("disk_bytes", "gauge", "Bytes of its files.", self.disk),
            ("searches_total", "counter", "Searches that it has done for its users.", self.searches),
            ("published_total", "counter", "Documents that it has published for its users.", self.published),
            ("answered_total", "counter", "Requests of other nodes that it has answered.", self.answered),
            ("refused_total", "counter", "Requests of other nodes that it has refused.", self.refused),
            ("sent_bytes_total", "counter", "Bytes sent to other nodes.", self.sent),
            ("received_bytes_total", "counter", "Bytes received from other nodes.", self.received),
        ] {
            text += &format!("# HELP furui_{name} {help}\n# TYPE furui_{name} {kind}\nfurui_{name} {value}\n");
        }
        text
    }
}
