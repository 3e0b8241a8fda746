//! Nodes of one network in this process, random documents, and brute force over them.
use crate::common::{NOBODY, letters};

use std::collections::BTreeMap;
use std::time::Duration;

use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Document, Node};
use furui_search::{ContentId, Peer, Record, limits, list_of};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

/// Starts `count` nodes that all know their neighbours.
pub async fn network(count: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut config = Config::new(Identity::generate(), Transport::Memory);
        config.bootstrap = nodes.first().map(|first| first.net().listen_addresses()).unwrap_or_default();
        nodes.push(Node::start(None, config).await.unwrap());
    }
    for node in &nodes {
        timeout(Duration::from_secs(60), node.net().joined()).await.unwrap();
    }
    for node in &nodes {
        timeout(Duration::from_secs(60), node.net().refresh()).await.unwrap();
    }
    repaired(&nodes).await;
    nodes
}

/// Waits until every node has what it should keep. All nodes compare at once, because each does so only at intervals.
pub async fn repaired(nodes: &[Node]) {
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
}

pub async fn shut_down(nodes: &[Node]) {
    for node in nodes {
        node.shutdown().await;
    }
}

/// The keepers of a word's list: the nodes whose places are nearest to its place.
pub fn keepers(nodes: &[Node], word: &str) -> Vec<Peer> {
    keepers_among(nodes.iter().map(|node| node.net().me()).collect(), word)
}

/// The peers among `peers` that keep the list of `word`.
pub fn keepers_among(mut peers: Vec<Peer>, word: &str) -> Vec<Peer> {
    let key = Sha256::digest(Sha256::new().chain_update(b"word/").chain_update(&*list_of(word)).finalize());
    peers.sort_by_key(|peer| -> Vec<u8> {
        Sha256::digest(peer.identity()).iter().zip(&key).map(|(a, b)| a ^ b).collect()
    });
    peers.truncate(limits::REPLICAS);
    peers
}

/// Pseudo-random numbers, determined by the seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn document(url: String, text: String) -> Document {
    Document::new(&Record { url, title: String::new(), text, publisher: NOBODY }).unwrap()
}

/// Documents of words whose frequency is inversely proportional to their rank: the first words are in most documents.
pub fn zipf(count: usize, random: &mut Random) -> Vec<Document> {
    const VOCABULARY: f64 = 20_000.0;
    let mut text = |number| {
        let words =
            (0..20 + random.below(60)).map(|_| format!("x{}", letters(VOCABULARY.powf(random.unit()) as usize)));
        document(format!("http://zipf.example/{number}"), words.collect::<Vec<_>>().join(" "))
    };
    (0..count).map(&mut text).collect()
}

/// For each word the documents that hold it, in order.
pub struct Lists(BTreeMap<String, Vec<ContentId>>);

impl Lists {
    pub fn of(documents: &[Document]) -> Self {
        let mut lists: BTreeMap<String, Vec<ContentId>> = BTreeMap::new();
        for document in documents {
            document.words.iter().for_each(|(word, _)| lists.entry(word.clone()).or_default().push(document.id));
        }
        lists.values_mut().for_each(|ids| ids.sort_unstable());
        Self(lists)
    }

    pub fn of_word(&self, word: &str) -> &[ContentId] {
        self.0.get(word.trim_start_matches('=')).map_or(&[], Vec::as_slice)
    }

    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}
