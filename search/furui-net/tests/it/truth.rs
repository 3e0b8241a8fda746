//! Random operations in networks whose nodes come, go and come back: an answer that is called whole is the true one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use furui_net::net::{Config, Identity, Network, Transport};
use furui_net::node::{Document, Node};
use furui_search::Record;

use crate::answer::{all, search};
use crate::common::{CALL_TIMEOUT, Directory};
use crate::local::Random;

/// The words of the documents, the commonest first.
const WORDS: usize = 30;
/// The maximum number of nodes that are away at the same time: one less than the number of copies.
const AWAY: usize = 2;
const STEPS: usize = 24;
const QUERIES: usize = 6;

/// A network, and what its members have published.
struct Town {
    directory: Directory,
    network: Option<Network>,
    identities: Vec<Identity>,
    /// The node of each member; `None` while it is away.
    nodes: Vec<Option<Node>>,
    /// For each URL, the member that has published it, and the words of its text.
    truth: BTreeMap<String, (usize, BTreeSet<String>)>,
    published: usize,
    random: Random,
}

impl Town {
    async fn new(network: Option<Network>, seed: u64) -> Self {
        let (directory, random) = (Directory::new(), Random::new(seed));
        let mut town = Self {
            directory,
            network,
            identities: vec![],
            nodes: vec![],
            truth: BTreeMap::new(),
            published: 0,
            random,
        };
        for _ in 0..6 {
            town.join().await;
        }
        for (member, node) in town.here() {
            node.repaired().await;
            town.publish(member, 20).await;
        }
        town
    }

    /// The members that are here, with their nodes.
    fn here(&self) -> Vec<(usize, Node)> {
        self.nodes.iter().enumerate().filter_map(|(member, node)| Some((member, node.clone()?))).collect()
    }

    async fn join(&mut self) {
        let first = self.here().first().map(|(_, node)| node.net().listen_addresses());
        self.identities.push(Identity::generate());
        self.nodes.push(None);
        self.start(self.nodes.len() - 1, first.unwrap_or_default()).await;
    }

    /// Starts the node of a member, which finds others by these addresses, or by those of before.
    async fn start(&mut self, member: usize, bootstrap: Vec<String>) {
        let mut config = Config::new(self.identities[member].clone(), Transport::Tcp);
        config.network = self.network.clone();
        config.bootstrap = bootstrap;
        config.call_timeout = CALL_TIMEOUT;
        let node = Node::start(Some(&self.directory.path().join(member.to_string())), config).await.unwrap();
        let _ = tokio::time::timeout(Duration::from_secs(20), node.net().joined()).await;
        self.nodes[member] = Some(node);
    }

    async fn publish(&mut self, member: usize, count: usize) {
        let urls = (self.published..self.published + count).map(|number| format!("http://site.example/{number}"));
        self.published += count;
        self.publish_at(member, urls.collect()).await;
    }

    /// Publishes new texts at these URLs.
    async fn publish_at(&mut self, member: usize, urls: Vec<String>) {
        let node = self.nodes[member].clone().unwrap();
        let mut documents = vec![];
        for url in urls {
            let words: Vec<String> = (0..5 + self.random.below(25)).map(|_| self.word()).collect();
            let record = Record { url, title: String::new(), text: words.join(" "), publisher: node.publisher() };
            documents.push(Document::new(&record).unwrap());
            self.truth.insert(record.url, (member, words.into_iter().collect()));
        }
        node.publish(documents, false).await.unwrap();
    }

    /// A word, which is a common one with a high probability.
    fn word(&mut self) -> String {
        let last = self.random.below(WORDS) + 1;
        format!("w{}", self.random.below(last))
    }

    /// Some URLs under which a member has published.
    fn some_of(&mut self, member: usize) -> Vec<String> {
        let own: Vec<String> = self.truth.iter().filter(|(_, it)| it.0 == member).map(|(url, _)| url.clone()).collect();
        let first = if own.is_empty() { 0 } else { self.random.below(own.len()) };
        own.into_iter().skip(first).take(4).collect()
    }

    /// Does something at random, and returns what it was.
    async fn step(&mut self) -> String {
        let here = self.here();
        let away: Vec<usize> = (0..self.nodes.len()).filter(|&member| self.nodes[member].is_none()).collect();
        let member = self.random.below(here.len());
        let (member, node) = here[member].clone();
        match self.random.below(8) {
            0 if away.len() < AWAY => {
                self.nodes[member] = None;
                node.shutdown().await;
                format!("{member} leaves")
            }
            1 | 2 if !away.is_empty() => {
                let back = away[self.random.below(away.len())];
                self.start(back, vec![]).await;
                format!("{back} comes back")
            }
            3 if self.nodes.len() < 9 => {
                self.join().await;
                "one joins".to_owned()
            }
            4 | 5 => {
                let urls = self.some_of(member);
                self.publish_at(member, urls.clone()).await;
                format!("{member} changes {urls:?}")
            }
            6 => {
                let urls = self.some_of(member);
                node.withdraw(&urls).await.unwrap();
                urls.iter().for_each(|url| drop(self.truth.remove(url)));
                format!("{member} withdraws {urls:?}")
            }
            _ => {
                self.publish(member, 5).await;
                format!("{member} publishes")
            }
        }
    }

    /// Searches at a node. True if the answer is called whole; then it is compared with the truth.
    async fn ask(&mut self, after: &str) -> bool {
        let here = self.here();
        let (at, node) = &here[self.random.below(here.len())];
        let (one, other) = (self.word(), self.word());
        let (query, other, is_wanted) = match self.random.below(3) {
            0 => (one.clone(), &one, true),
            1 if one != other => (format!("{one} -{other}"), &other, false),
            _ => (format!("{one} {other}"), &other, true),
        };
        let answer = search(node, &query, all()).await.unwrap();
        let fits = |words: &BTreeSet<String>| words.contains(&one) && words.contains(other) == is_wanted;
        let truth = self.truth.iter().filter(|(_, (_, words))| fits(words)).map(|(url, _)| url);
        if answer.whole {
            let found: BTreeSet<String> = answer.urls().into_iter().collect();
            assert_eq!(found, truth.cloned().collect(), "{query} at {at}, after: {after}");
        }
        answer.whole
    }

    /// Takes [`STEPS`] steps, and searches after each of them.
    async fn live(mut self) {
        let mut whole = 0;
        for _ in 0..STEPS {
            let after = self.step().await;
            for _ in 0..QUERIES {
                whole += usize::from(self.ask(&after).await);
            }
        }
        assert!(whole > STEPS * QUERIES / 2, "only {whole} answers were called whole");
        for (_, node) in self.here() {
            node.shutdown().await;
        }
    }
}

/// The seed, which is printed if the test fails: that of the environment variable `FURUI_SEED`, or always the same.
fn seed() -> u64 {
    let seed = std::env::var("FURUI_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("FURUI_SEED={seed}");
    seed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_whole_is_true_in_an_open_network() {
    Town::new(None, seed()).await.live().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_whole_is_true_among_friends() {
    Town::new(Some(Network::generate("town").unwrap()), seed()).await.live().await;
}
