//! Nodes come and go, and nothing is lost.

use crate::common::{NOBODY, Publishes};
use std::time::Duration;

use crate::common::{check, config, document, network};
use furui_net::node::{Document, Node};
use furui_search::Record;

const COUNT: usize = 300;

async fn all_repaired(nodes: &[Node]) {
    for node in nodes {
        // Nodes that have gone must have been noticed first.
        let wait = async {
            while node.net().peers().await.len() >= nodes.len() {
                node.net().refresh().await;
            }
            node.repaired().await;
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_outlive_their_keepers_one_pair_after_the_other() {
    let mut nodes = network(9).await;
    assert_eq!(nodes[0].publishes((0..COUNT).map(document).collect(), false).await.unwrap().new, COUNT as u64);
    all_repaired(&nodes).await;
    for _ in 0..3 {
        for _ in 0..2 {
            nodes.pop().unwrap().shutdown().await;
        }
        all_repaired(&nodes).await;
        check(&nodes, COUNT).await;
    }
    assert_eq!(nodes.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_node_is_given_what_it_should_hold_and_then_nothing_more() {
    let mut nodes = network(3).await;
    assert_eq!(nodes[0].publishes((0..COUNT).map(document).collect(), false).await.unwrap().new, COUNT as u64);
    let held = nodes[0].status().await.unwrap().shelf;
    // Each list is kept by three of the four nodes, so the new node keeps three quarters of all keys on average. In the
    // worst case, all other nodes are in the other half of the key space. Then the new node keeps only the keys of its
    // own half, which have a third of the postings here.
    let new = Node::start(None, config(nodes.first())).await.unwrap();
    assert!(!new.status().await.unwrap().whole);
    new.net().joined().await;
    new.repaired().await;
    let status = new.status().await.unwrap();
    assert!(status.whole && status.repair.settled);
    assert!(status.shelf.postings > held.postings / 4 && status.shelf.records > held.records / 4, "{status:?}");
    assert_eq!(status.repair.taken, status.shelf.postings + status.shelf.records);
    nodes.push(new.clone());
    check(&nodes, COUNT).await;

    // When nothing has changed, a round is one small message to each neighbour, and its answer.
    all_repaired(&nodes).await;
    let (before, rounds) = (new.net().counters(), new.status().await.unwrap().repair.rounds);
    new.repaired().await;
    let (after, status) = (new.net().counters(), new.status().await.unwrap());
    let rounds = status.repair.rounds - rounds;
    assert!(rounds >= 2);
    // Other nodes compare their lists with this one too.
    assert!(after.exchange_out - before.exchange_out < 20 * rounds * 2 * 3 * 32, "{before:?} {after:?}");
    assert_eq!(status.repair.taken, status.shelf.postings + status.shelf.records);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_lost_with_all_its_keepers_is_published_again() {
    let mut nodes = network(6).await;
    let publish = |again| {
        let node = nodes[0].clone();
        async move { node.publishes((0..COUNT).map(document).collect(), again).await.unwrap().new }
    };
    assert_eq!(publish(false).await, COUNT as u64);
    assert_eq!(publish(false).await, 0);
    let again = publish(true);
    for _ in 0..4 {
        nodes.pop().unwrap().shutdown().await;
    }
    all_repaired(&nodes).await;
    assert_eq!(again.await, COUNT as u64);
    check(&nodes, COUNT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_is_taken_over_than_a_message_holds() {
    let old = network(1).await.remove(0);
    let words: String = (0..60).map(|word| format!("word{word} ")).collect();
    let documents = (0..1000).map(|number| {
        let (url, text) = (format!("http://a.example/{number}"), words.clone());
        Document::new(&Record { url, title: String::new(), text, publisher: NOBODY }).unwrap()
    });
    // 60,000 postings, of 23 bytes each.
    assert_eq!(old.publishes(documents.collect(), false).await.unwrap().new, 1000);
    let new = Node::start(None, config(Some(&old))).await.unwrap();
    new.net().joined().await;
    tokio::time::timeout(Duration::from_secs(60), new.repaired()).await.unwrap();
    let (old, new) = (old.status().await.unwrap().shelf, new.status().await.unwrap().shelf);
    assert_eq!((new.postings, new.records), (old.postings, old.records));
}
