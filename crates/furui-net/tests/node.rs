//! Nodes that publish and search together, in one process.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeSet;
use std::time::Duration;

use furui::search::{ContentId, Query, Record};
use furui_net::net::{Config, Identity, Transport};
use furui_net::node::{Document, Node, SearchEvent, SearchOptions};
use tokio::sync::mpsc;

/// Starts `count` nodes that all know the first.
async fn network(count: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut config = Config::new(Identity::generate(), Transport::Memory);
        config.bootstrap = nodes.first().map(|first| first.net().listen_addresses()).unwrap_or_default();
        nodes.push(Node::start(None, config).await.unwrap());
    }
    for node in &nodes {
        tokio::time::timeout(Duration::from_secs(20), node.net().joined()).await.unwrap();
    }
    for node in &nodes {
        node.net().refresh().await;
    }
    nodes
}

fn document(number: usize) -> Document {
    let text = format!("document {number} of class c{} and kind k{}", number % 7, number % 3);
    let record = Record { url: format!("http://site.example/{number}"), title: String::new(), text };
    let bytes = record.encode().unwrap();
    Document { id: ContentId::of(&bytes), words: record.words().into_iter().collect(), record: bytes }
}

async fn search(node: &Node, query: &str, options: SearchOptions) -> (BTreeSet<String>, u64) {
    let (events, mut came) = mpsc::channel(16);
    let node = node.clone();
    let query = Query::parse(query).unwrap();
    let task = tokio::spawn(async move { node.search(&query, options, events).await });
    let mut urls = BTreeSet::new();
    let mut total = 0;
    while let Some(event) = came.recv().await {
        match event {
            SearchEvent::Hits(hits) => {
                for hit in hits {
                    assert!(urls.insert(hit.record.unwrap().url));
                }
            }
            SearchEvent::Done { found, .. } => total = found,
        }
    }
    task.await.unwrap().unwrap();
    (urls, total)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_node_publishes_every_node_finds() {
    let nodes = network(7).await;
    let count = 400;
    assert_eq!(nodes[2].publish((0..count).map(document).collect(), false).await, Ok(count as u64));
    assert_eq!(nodes[2].publish((0..count).map(document).collect(), false).await, Ok(0));
    let all = SearchOptions { limit: None, ..SearchOptions::default() };
    for (at, node) in nodes.iter().enumerate() {
        let class = at % 7;
        let (urls, total) = search(node, &format!("c{class} k1"), all.clone()).await;
        let expected = (0..count).filter(|number| number % 7 == class && number % 3 == 1);
        assert_eq!(urls, expected.map(|number| format!("http://site.example/{number}")).collect());
        assert_eq!(total, urls.len() as u64);
        let (urls, _) = search(node, "document -k1 (c1 OR c2)", all.clone()).await;
        let expected = (0..count).filter(|number| matches!(number % 7, 1 | 2) && number % 3 != 1);
        assert_eq!(urls, expected.map(|number| format!("http://site.example/{number}")).collect());
        assert_eq!(search(node, "document nowhere", all.clone()).await.1, 0);
    }
    for node in &nodes {
        node.shutdown().await;
    }
}
