use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::net;
use crate::node::Span;

/// A peer or address that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The peer or the address prefix.
    pub who: String,
    /// The reason: the rest of a sentence that begins with "refused because".
    pub why: &'static str,
    /// How often it was refused.
    pub count: u64,
    /// The time of the last refusal, in seconds since 1970.
    pub last: u64,
}

impl From<net::Refusal> for Refusal {
    fn from(net::Refusal { who, why, count, last }: net::Refusal) -> Self {
        Self { who, why, count, last: last.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) }
    }
}

/// The state of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The node's identity in the network.
    pub peer: String,
    /// The addresses at which other nodes reach the node.
    pub addresses: Vec<String>,
    /// True if the node has been given everything that it should hold.
    pub whole: bool,
    /// The number of rounds in which the node compared its lists with its neighbours.
    pub rounds: u64,
    /// True if the last round brought nothing new, every neighbour answered, and no neighbour has come or gone since.
    pub settled: bool,
    /// The number of postings and records taken over from neighbours.
    pub taken: u64,
    /// The number of other nodes that the node knows.
    pub peers: u64,
    /// The number of words whose lists the node keeps.
    pub words: u64,
    /// The number of ids in the lists that the node keeps.
    pub postings: u64,
    /// The number of documents whose records the node keeps.
    pub documents: u64,
    /// The size of the node's files, in bytes.
    pub disk: u64,
    /// The number of searches done for the node's users.
    pub searches: u64,
    /// The number of documents published for the node's users.
    pub published: u64,
    /// The number of requests from other nodes that this node answered.
    pub answered: u64,
    /// The number of requests from other nodes that this node refused.
    pub refused: u64,
    /// The peers and addresses that were refused lately, the latest first.
    pub refusals: Vec<Refusal>,
    /// The number of bytes sent to other nodes.
    pub sent: u64,
    /// The number of bytes received from other nodes.
    pub received: u64,
    /// The recent traffic, which the page shows and JSON omits.
    #[serde(skip)]
    pub lately: Vec<Span>,
}

impl Status {
    /// The figures in Prometheus' text format, version 0.0.4.
    pub(super) fn metrics(&self) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in [
            (
                "whole",
                "gauge",
                "Whether the node has been given everything that it should hold.",
                u64::from(self.whole),
            ),
            (
                "rounds_total",
                "counter",
                "Rounds in which the node compared its lists with its neighbours.",
                self.rounds,
            ),
            ("settled", "gauge", "Whether the last round brought nothing new.", u64::from(self.settled)),
            ("taken_total", "counter", "Postings and records that the node took over from neighbours.", self.taken),
            ("peers", "gauge", "Other nodes that the node knows.", self.peers),
            ("words", "gauge", "Words whose lists the node keeps.", self.words),
            ("postings", "gauge", "Ids in the lists that the node keeps.", self.postings),
            ("documents", "gauge", "Documents whose records the node keeps.", self.documents),
            ("disk_bytes", "gauge", "Bytes of the node's files.", self.disk),
            ("searches_total", "counter", "Searches that the node has done for its users.", self.searches),
            ("published_total", "counter", "Documents that the node has published for its users.", self.published),
            ("answered_total", "counter", "Requests of other nodes that the node has answered.", self.answered),
            ("refused_total", "counter", "Requests of other nodes that the node has refused.", self.refused),
            ("sent_bytes_total", "counter", "Bytes sent to other nodes.", self.sent),
            ("received_bytes_total", "counter", "Bytes received from other nodes.", self.received),
        ] {
            text += &format!("# HELP furui_{name} {help}\n# TYPE furui_{name} {kind}\nfurui_{name} {value}\n");
        }
        text
    }
}
