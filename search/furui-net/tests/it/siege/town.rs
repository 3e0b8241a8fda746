//! The network that is attacked: honest nodes on the loopback interface, which connect from one address.

use crate::common::Publishes;
use std::sync::Arc;
use std::time::Duration;

use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Node, SearchError, SearchOptions};
use furui_search::{ContentId, Report};
use futures::StreamExt;
use tokio::time::{Instant, timeout};

use super::library::Library;
use crate::answer::search;

/// How long a test waits for what comes soon.
pub const LONG: Duration = Duration::from_secs(60);
/// The time limit of a call: short enough to notice silence soon, long enough not to take slowness for silence.
const CALL_TIMEOUT: Duration = Duration::from_secs(3);
/// The number of queries in progress at a time.
const AT_ONCE: usize = 4;

/// The best ten documents of a query, in order, with their titles, and whether the node says that the answer is whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub hits: Vec<(ContentId, String)>,
    pub whole: bool,
}

pub struct Town {
    pub nodes: Vec<Node>,
    pub library: Arc<Library>,
    /// The answers to the queries of the library before any attack.
    pub pages: Vec<Page>,
}

/// An address of the loopback interface. Honest nodes are in the first network, attackers in others.
pub fn address(network: usize, number: usize) -> String {
    format!("127.{network}.{}.{}", number / 200, number % 200 + 1)
}

/// The configuration of a node at this address.
pub fn config(address: &str, first: Option<&Node>) -> Config {
    let mut config = Config::new(Identity::generate(), Transport::Tcp);
    config.listen = vec![format!("/ip4/{address}/tcp/0")];
    config.call_timeout = CALL_TIMEOUT;
    config.bootstrap = first.map(|first| first.net().listen_addresses()).unwrap_or_default();
    config
}

/// Waits until a new node knows the others, and they know it.
pub async fn meet(nodes: &[Node]) {
    for node in nodes {
        timeout(LONG, node.net().joined()).await.unwrap();
    }
    for node in nodes {
        timeout(LONG, node.net().refresh()).await.unwrap();
    }
}

pub async fn repaired(nodes: &[Node]) {
    let all = futures::future::join_all(nodes.iter().map(Node::repaired));
    timeout(2 * LONG, all).await.expect("all nodes are repaired");
}

/// Asks one query.
pub async fn ask(node: &Node, query: &str, limit: u64) -> Result<(Page, Report), SearchError> {
    let options = SearchOptions { limit, ..SearchOptions::default() };
    let answer = search(node, query, options).await?;
    let titles = answer.titles().into_iter().map(str::to_owned);
    let hits = answer.hits.iter().map(|hit| hit.id).zip(titles).collect();
    Ok((Page { hits, whole: answer.whole }, answer.report))
}

impl Town {
    pub async fn new(count: usize, documents: usize) -> Self {
        let mut nodes: Vec<Node> = Vec::with_capacity(count);
        for number in 0..count {
            let config = config(&address(1, number), nodes.first());
            nodes.push(Node::start(None, config).await.unwrap());
        }
        meet(&nodes).await;
        repaired(&nodes).await;
        let library = Arc::new(Library::new(documents, nodes[0].publisher()));
        let published = nodes[0].publishes(library.documents.clone(), false).await.unwrap();
        assert_eq!(published.new, documents as u64);
        let mut town = Self { nodes, library, pages: vec![] };
        for query in &town.library.queries {
            let page = ask(&town.nodes[1], query, 10).await.unwrap().0;
            assert!(!page.hits.is_empty() && page.whole, "{query}: {page:?}");
            town.pages.push(page);
        }
        town
    }

    /// Checks that all documents with each word are found, and nothing else.
    pub async fn has_everything(&self) {
        for (number, (word, list)) in self.library.lists().into_iter().enumerate() {
            let (page, _) = ask(&self.nodes[number % self.nodes.len()], &word, 1000).await.unwrap();
            let mut found: Vec<ContentId> = page.hits.into_iter().map(|(id, _)| id).collect();
            found.sort_unstable();
            assert_eq!(found, list, "{word}");
        }
    }

    /// Asks a node some queries. Returns what is not as it was before the attack, and the bytes of all messages for the
    /// queries. If the answer is as before, but the node does not call it whole, that counts only if it
    /// `must_be_whole`.
    async fn differences(&self, node: &Node, queries: &[usize], must_be_whole: bool) -> (Vec<String>, u64) {
        let asked = queries.iter().map(async |&number| {
            let (query, before) = (&self.library.queries[number], &self.pages[number]);
            let (page, report) = match ask(node, query, 10).await {
                Ok(answer) => answer,
                Err(error) => return (Some(format!("{query}: {error}")), 0),
            };
            let exchanged = report.exchanged.sent_bytes + report.exchanged.back_bytes;
            let shown = report.show_sent_bytes + report.show_back_bytes;
            let bytes = report.sent_bytes + report.back_bytes + exchanged + shown;
            let titles = |page: &Page| page.hits.iter().map(|(_, title)| title.clone()).collect::<Vec<_>>();
            let is_same = page.hits == before.hits && (page.whole || !must_be_whole);
            let what = || format!("{query}: {:?} whole {} instead of {:?}", titles(&page), page.whole, titles(before));
            ((!is_same).then(what), bytes)
        });
        let all: Vec<_> = futures::stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
        let bytes = all.iter().map(|(_, bytes)| bytes).sum();
        (all.into_iter().filter_map(|(what, _)| what).collect(), bytes)
    }

    /// Waits until each node answers each query as before the attack. Who finds that lists have false postings tells
    /// their keepers, so the next answer may be another one. Returns how long that took.
    pub async fn recovers(&self) -> Duration {
        let (began, mut last, mut left_over) = (Instant::now(), Duration::ZERO, vec![]);
        for node in &self.nodes {
            let mut queries: Vec<usize> = (0..self.pages.len()).collect();
            let recovering = async {
                while !queries.is_empty() {
                    let mut left = vec![];
                    for &query in &queries {
                        let (different, _) = self.differences(node, &[query], true).await;
                        if !different.is_empty() {
                            left.push(query);
                            left_over.push((began.elapsed(), different));
                            last = began.elapsed();
                        }
                    }
                    queries = left;
                }
            };
            if timeout(LONG, recovering).await.is_err() {
                let from = left_over.len().saturating_sub(10);
                panic!("after a minute, answers are not as before: {:#?}", &left_over[from..]);
            }
        }
        last
    }

    /// Checks that the nodes answer as before the attack: all queries, divided among so many nodes. Returns the bytes
    /// of all messages for them.
    pub async fn stands(&self, when: &str, divided: usize, must_be_whole: bool) -> u64 {
        let mut sum = 0;
        for (number, node) in self.nodes.iter().enumerate() {
            let queries: Vec<usize> =
                (0..self.pages.len()).filter(|query| query % divided == number % divided).collect();
            let (differences, bytes) = self.differences(node, &queries, must_be_whole).await;
            assert!(differences.is_empty(), "{when}, node {number}:\n{}", differences.join("\n"));
            sum += bytes;
        }
        sum
    }

    /// Adds an honest node, and waits until it is whole.
    pub async fn grow(&mut self) {
        let address = address(1, self.nodes.len());
        self.nodes.push(Node::start(None, config(&address, self.nodes.first())).await.unwrap());
        meet(&self.nodes).await;
        for node in &self.nodes {
            // Repair never ends while a neighbour is silent.
            let whole = async {
                while !node.status().await.unwrap().whole {
                    tokio::task::yield_now().await;
                }
            };
            timeout(LONG, whole).await.expect("a node is whole");
        }
    }

    pub async fn shut_down(&self) {
        for node in &self.nodes {
            node.shutdown().await;
        }
    }
}
