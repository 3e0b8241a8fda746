//! Nodes in one process, and documents that are easy to distinguish.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Document, Node, PublishError, Published, SearchError};
use furui_search::{Act, Asked, PublisherKey, Record, Scale, Score, Signature, Weight};

use crate::answer::{all, search};

/// The time limit of a call: short enough to notice silence soon, long enough not to take slowness for silence.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(3);

/// The configuration of a node that joins the network of `first`.
pub fn config(first: Option<&Node>) -> Config {
    let mut config = Config::new(Identity::generate(), Transport::Memory);
    config.bootstrap = first.map(|first| first.net().listen_addresses()).unwrap_or_default();
    config.call_timeout = CALL_TIMEOUT;
    config
}

/// Starts `count` nodes that all know the first.
pub async fn network(count: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(count);
    for _ in 0..count {
        nodes.push(Node::start(None, config(nodes.first())).await.unwrap());
    }
    for node in &nodes {
        tokio::time::timeout(Duration::from_secs(20), node.net().joined()).await.unwrap();
    }
    for node in &nodes {
        node.net().refresh().await;
    }
    nodes
}

/// The publisher of documents that no node has published yet.
pub const NOBODY: PublisherKey = PublisherKey::new([7; PublisherKey::BYTES]);

/// A signature of nobody.
pub const UNSIGNED: Signature = Signature { at: u32::MAX, bytes: [1; 64] };

/// The record of a document as this identity publishes it, with its signature.
pub fn signed(identity: &Identity, record: Record) -> (Document, Signature) {
    let document = Document::new(&Record { publisher: identity.publisher(), ..record }).unwrap();
    let signature = identity.sign(Act::Publish, document.id, u32::MAX);
    (document, signature)
}

/// Publishes documents whoever their publisher is.
pub trait Publishes {
    /// Publishes these documents as those of this node.
    async fn publishes(&self, documents: Vec<Document>, again: bool) -> Result<Published, PublishError>;
}

impl Publishes for Node {
    async fn publishes(&self, documents: Vec<Document>, again: bool) -> Result<Published, PublishError> {
        self.publish(documents.iter().map(|document| by(self, document)).collect(), again).await
    }
}

/// These documents as this node publishes them.
pub fn all_by(node: &Node, documents: impl IntoIterator<Item = Document>) -> Vec<Document> {
    documents.into_iter().map(|document| by(node, &document)).collect()
}

/// The document as this node publishes it.
pub fn by(node: &Node, document: &Document) -> Document {
    Document::new(&Record { publisher: node.publisher(), ..Record::decode(&document.record).unwrap() }).unwrap()
}

pub fn document(number: usize) -> Document {
    let text = format!("document {number} of class c{} and kind k{}", letters(number % 7), letters(number % 3));
    Document::new(&Record { url: url(number), title: String::new(), text, publisher: NOBODY }).unwrap()
}

/// The number with a letter for each digit, so that a word with it has no parts.
pub fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

pub fn url(number: usize) -> String {
    format!("http://site.example/{number}")
}

/// The URLs of all documents that a node finds.
pub async fn find(node: &Node, query: &str) -> Result<BTreeSet<String>, SearchError> {
    Ok(search(node, query, all()).await?.urls().into_iter().collect())
}

/// Searches at every node for the first `count` documents, and compares.
pub async fn check(nodes: &[Node], count: usize) {
    for (at, node) in nodes.iter().enumerate() {
        let (class, kind) = (at % 7, at % 3);
        let numbers = |fits: &dyn Fn(usize) -> bool| (0..count).filter(|&n| fits(n)).map(url).collect();
        let expected: BTreeSet<String> = numbers(&|number| number % 7 == class && number % 3 == kind);
        assert_eq!(find(node, &format!("c{} k{}", letters(class), letters(kind))).await.unwrap(), expected);
        let expected: BTreeSet<String> = numbers(&|number| number % 7 == class && number % 3 != kind);
        assert_eq!(find(node, &format!("document c{} -k{}", letters(class), letters(kind))).await.unwrap(), expected);
    }
}

/// A directory that is removed when the value is dropped.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new() -> Self {
        let name = format!("furui-net-{}-{}", std::process::id(), furui::HashSpec::random().seed);
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The score of a document for words of a query, each with its idf and the weight of its posting.
pub fn score_of<'a>(scale: Scale, words: impl IntoIterator<Item = (&'a str, u32, Weight)>) -> u32 {
    let (mut score, mut idfs, mut size) = (Score::default(), 0, 0);
    for (word, idf, weight) in words {
        (idfs, size) = (idfs + idf, weight.size_bits());
        score.add(&scale, idf, Asked::of(word).grade(weight).unwrap(), size);
    }
    score.of(idfs, size)
}
