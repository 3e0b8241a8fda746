//! Withdrawal of published documents: who can withdraw them, and that they stay withdrawn.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::common::{config, document, find, network, url};
use furui_net::net::Identity;
use furui_net::node::{Document, Node, Published};
use furui_net::shelf::{Shelf, ShelfOptions};
use furui_search::{ContentId, IdRange, Lock, LockKey, Record, Request, Response, Weight, limits};

fn page(url: &str, text: &str) -> Document {
    Document::new(&Record { url: url.into(), title: String::new(), text: text.into(), publisher: None }).unwrap()
}

async fn found(nodes: &[Node], query: &str) -> BTreeSet<String> {
    let urls = find(&nodes[0], query).await.unwrap();
    for node in &nodes[1..] {
        assert_eq!(find(node, query).await.unwrap(), urls, "{query}");
    }
    urls
}

fn urls(numbers: impl IntoIterator<Item = usize>) -> BTreeSet<String> {
    numbers.into_iter().map(url).collect()
}

async fn repaired(nodes: &[Node]) {
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
}

async fn shut_down(nodes: &[Node]) {
    for node in nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_withdrawn_is_found_by_no_node_and_by_nobody_who_joins_later() {
    let mut nodes = network(6).await;
    nodes[0].publish((0..60).map(document).collect(), false).await.unwrap();
    nodes[1].publish((60..80).map(document).collect(), false).await.unwrap();
    assert_eq!(found(&nodes, "document").await, urls(0..80));

    let withdrawn: Vec<String> = (0..30).map(url).collect();
    assert_eq!(nodes[0].withdraw(&withdrawn).await, Ok(vec![true; 30]));
    assert_eq!(found(&nodes, "document").await, urls(30..80));
    // A document of another node, an unknown document, and one that was withdrawn already cannot be withdrawn.
    assert_eq!(nodes[0].withdraw(&[url(70), url(1000), url(0)]).await, Ok(vec![false; 3]));
    assert_eq!(found(&nodes, "document").await, urls(30..80));

    nodes.push(Node::start(None, config(nodes.first())).await.unwrap());
    nodes[6].net().joined().await;
    repaired(&nodes).await;
    assert_eq!(found(&nodes, "document").await, urls(30..80));

    assert_eq!(nodes[0].withdraw_some().await, Ok(30));
    assert_eq!(nodes[0].withdraw_some().await, Ok(0));
    assert_eq!(found(&nodes, "document").await, urls(60..80));
    // Documents that are published again are found again.
    let again: Vec<Document> = (0..10).map(document).collect();
    assert_eq!(nodes[0].wanted(&[again[0].id]), Ok(vec![true]));
    assert_eq!(nodes[0].publish(again, false).await, Ok(Published { new: 10, changed: 0, scarce: 0 }));
    assert_eq!(found(&nodes, "document").await, urls((0..10).chain(60..80)));
    assert_eq!(nodes[0].withdraw(&[url(3)]).await, Ok(vec![true]));
    assert!(!found(&nodes, "document").await.contains(&url(3)));
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_is_changed_is_found_by_its_new_words_only() {
    let nodes = network(5).await;
    let versions = ["apple pear", "pear plum", "apple pear"].map(|text| page("http://a.example/", text));
    let other = page("http://b.example/", "apple plum");
    let publish = async |documents: &[&Document]| {
        nodes[0].publish(documents.iter().map(|&document| document.clone()).collect(), false).await.unwrap()
    };
    assert_eq!(publish(&[&versions[0], &other]).await, Published { new: 2, changed: 0, scarce: 0 });
    let (a, b) = ("http://a.example/".to_owned(), "http://b.example/".to_owned());
    let both = BTreeSet::from([a.clone(), b.clone()]);
    for (version, with_apple, with_plum) in [(1, &b, true), (2, &a, false)] {
        assert_eq!(publish(&[&versions[version]]).await, Published { new: 1, changed: 1, scarce: 0 });
        let apples = found(&nodes, "apple").await;
        assert!(apples.contains(with_apple) && apples.contains(&a) != with_plum, "{apples:?}");
        assert_eq!(found(&nodes, "plum").await.contains(&a), with_plum);
        assert_eq!(found(&nodes, "pear").await, BTreeSet::from([a.clone()]));
    }
    // Of two documents under one URL in a batch, the last one stays.
    assert_eq!(publish(&[&versions[1], &versions[2]]).await, Published { new: 1, changed: 1, scarce: 0 });
    let late = page("http://a.example/", "cherry");
    assert_eq!(publish(&[&page("http://a.example/", "fig"), &late]).await, Published { new: 2, changed: 2, scarce: 0 });
    assert!(found(&nodes, "fig").await.is_empty());
    assert_eq!(found(&nodes, "cherry OR plum").await, both);
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_have_published_stays_until_both_withdraw_it_and_strangers_withdraw_nothing() {
    let nodes = network(5).await;
    let shared: Vec<Document> = (0..10).map(document).collect();
    nodes[0].publish(shared.clone(), false).await.unwrap();
    nodes[1].publish(shared.clone(), false).await.unwrap();
    let all: Vec<String> = (0..10).map(url).collect();
    // A stranger's keys, as many as a message holds, open nothing.
    let keys =
        (0..limits::KEYS).map(|number| (shared[number % 10].id, LockKey::of(&[9; 32], shared[0].id, number as u32)));
    let withdraw = Request::Withdraw { keys: keys.collect() }.encode().unwrap();
    for node in &nodes[..4] {
        let answer = nodes[4].net().call(&node.net().me(), withdraw.clone()).await.unwrap();
        assert_eq!(Response::decode(&answer), Ok(Response::Withdrawn { opened: 0 }));
    }
    assert_eq!(nodes[2].withdraw(&all).await, Ok(vec![false; 10]));
    assert_eq!(found(&nodes, "document").await, urls(0..10));

    assert_eq!(nodes[0].withdraw(&all).await, Ok(vec![true; 10]));
    repaired(&nodes).await;
    assert_eq!(found(&nodes, "document").await, urls(0..10));
    assert_eq!(nodes[1].withdraw(&all[..5]).await, Ok(vec![true; 5]));
    repaired(&nodes).await;
    assert_eq!(found(&nodes, "document").await, urls(5..10));
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keepers_that_were_away_hear_of_it_and_those_that_knew_do_not_forget() {
    let directory = Directory::new();
    let identities: Vec<Identity> = (0..4).map(|_| Identity::generate()).collect();
    let start = async |number: usize, first: Option<&Node>| {
        let mut config = config(first);
        config.identity = identities[number].clone();
        let node = Node::start(Some(&directory.0.join(number.to_string())), config).await.unwrap();
        node.net().joined().await;
        node
    };
    let mut nodes = vec![start(0, None).await];
    for number in 1..4 {
        nodes.push(start(number, nodes.first()).await);
    }
    repaired(&nodes).await;
    nodes[0].publish((0..40).map(document).collect(), false).await.unwrap();
    nodes.pop().unwrap().shutdown().await;
    let half: Vec<String> = (0..20).map(url).collect();
    assert_eq!(nodes[0].withdraw(&half).await, Ok(vec![true; 20]));
    assert_eq!(found(&nodes, "document").await, urls(20..40));
    // The nodes that were told restart, one by one, and the one that was not told comes back.
    for number in [1, 2, 3] {
        if number < nodes.len() {
            nodes.remove(number).shutdown().await;
        }
        let node = start(number, nodes.first()).await;
        nodes.insert(number, node);
        repaired(&nodes).await;
    }
    assert_eq!(found(&nodes, "document").await, urls(20..40));
    // A node joins that has never heard of the documents, or of their withdrawal.
    let late = Node::start(None, config(nodes.first())).await.unwrap();
    late.net().joined().await;
    nodes.push(late);
    repaired(&nodes).await;
    assert_eq!(found(&nodes, "document").await, urls(20..40));
    shut_down(&nodes).await;
}

fn id(number: u8) -> ContentId {
    ContentId::new([number; 20])
}

fn key(who: u8, number: u8) -> LockKey {
    LockKey::of(&[who; 32], id(number), 0)
}

#[test]
fn a_shelf_lets_go_of_a_record_with_its_last_lock() {
    let directory = Directory::new();
    let open = || Shelf::open(&directory.0, ShelfOptions::default()).unwrap();
    let mut shelf = open();
    let records: Vec<(ContentId, Vec<u8>)> = (0..50).map(|number| (id(number), vec![number; 100])).collect();
    let lock = |who: u8| (0..50).map(|number| (id(number), key(who, number).lock())).collect::<Vec<_>>();
    let postings = [("word".to_owned(), records.iter().map(|(id, _)| (*id, Weight::default())).collect::<Vec<_>>())];
    assert_eq!(shelf.store((&postings, &records, &lock(1)), 1000).unwrap().new, 100);
    assert_eq!(shelf.store((&[], &records[..10], &lock(2)[..10]), 1000).unwrap().new, 0);
    let changes = shelf.changes();

    let keys = |who: u8| (0..20).map(|number| (id(number), key(who, number))).collect::<Vec<_>>();
    assert_eq!(shelf.withdraw(&keys(1), 900, false).unwrap(), 20);
    assert_eq!(shelf.withdraw(&keys(1), 900, false).unwrap(), 0);
    assert_eq!(shelf.withdraw(&keys(3), 900, false).unwrap(), 0);
    assert_ne!(shelf.changes(), changes, "others are to hear of it");
    for round in 0..3 {
        let kept: Vec<bool> = (0..50).map(|number| shelf.document(id(number)).unwrap().is_some()).collect();
        assert_eq!(kept, (0..50).map(|number| !(10..20).contains(&number)).collect::<Vec<_>>(), "{round}");
        let has: Vec<bool> = (0..50).map(|number| shelf.has_record(id(number)).unwrap()).collect();
        assert_eq!(has, kept, "{round}");
        assert_eq!(shelf.keys_of(id(15), 4).unwrap(), [key(1, 15)]);
        assert_eq!(shelf.keys_of(id(25), 4).unwrap(), []);
        // The record does not come back with the lock that was opened.
        assert_eq!(shelf.store((&[], &records, &lock(1)), 1000).unwrap().new, 0);
        assert_eq!(shelf.withdrawn(IdRange::ALL, 100).unwrap().len(), 20);
        if round == 0 {
            drop(shelf);
            shelf = open();
        } else {
            shelf.expire(500).unwrap();
            assert_eq!(shelf.statistics().unwrap().records, 40);
            assert_eq!(shelf.fingerprint("word").unwrap().0, 50);
        }
    }
    // The record comes back with another lock.
    assert_eq!(shelf.store((&[], &records[15..16], &[(id(15), key(7, 15).lock())]), 1000).unwrap().new, 1);
    assert_eq!(shelf.document(id(15)).unwrap(), Some(vec![15; 100]));
    assert_eq!(shelf.locks(id(15)).unwrap(), [(key(7, 15).lock(), 1000)]);
    // Keys and locks expire.
    shelf.expire(900).unwrap();
    assert_eq!(shelf.withdrawn(IdRange::ALL, 100).unwrap(), []);
    shelf.expire(1000).unwrap();
    assert_eq!(shelf.locks(id(15)).unwrap(), []);
    assert_eq!(shelf.statistics().unwrap().documents, 0);
}

#[test]
fn a_record_with_many_locks_goes_when_it_expires_and_one_without_too() {
    let mut shelf = Shelf::in_memory(ShelfOptions::default()).unwrap();
    let record = [(id(1), b"one".to_vec())];
    for who in 0..6 {
        shelf.store((&[], &record, &[(id(1), key(who, 1).lock())]), 100 + u64::from(who)).unwrap();
    }
    let locks = shelf.locks(id(1)).unwrap();
    assert_eq!((locks.len(), locks[3]), (limits::LOCKS, (Lock::NOBODY, 105)));
    let all: Vec<_> = (0..6).map(|who| (id(1), key(who, 1))).collect();
    assert_eq!(shelf.withdraw(&all, 100, false).unwrap(), 3);
    assert!(shelf.document(id(1)).unwrap().is_some());
    shelf.expire(105).unwrap();
    assert!(shelf.document(id(1)).unwrap().is_none());

    shelf.store((&[], &[(id(2), b"two".to_vec())], &[]), 200).unwrap();
    assert_eq!(shelf.withdraw(&[(id(2), key(0, 2))], 200, false).unwrap(), 0);
    assert!(shelf.document(id(2)).unwrap().is_some());
}

#[test]
fn keys_of_what_is_not_here_are_remembered_only_if_another_tells_of_them() {
    let mut shelf = Shelf::in_memory(ShelfOptions::default()).unwrap();
    shelf.withdraw(&[(id(1), key(1, 1))], 100, false).unwrap();
    shelf.withdraw(&[(id(2), key(1, 2)), (id(9), key(1, 9))], 100, true).unwrap();
    assert_eq!(shelf.withdrawn(IdRange::ALL, 10).unwrap(), [(id(2), key(1, 2), 100), (id(9), key(1, 9), 100)]);
    let from = IdRange { first: id(2).head() + 1, last: u64::MAX };
    assert_eq!(shelf.withdrawn(from, 10).unwrap(), [(id(9), key(1, 9), 100)]);
    let records = [(id(1), b"one".to_vec()), (id(2), b"two".to_vec())];
    let locks = [(id(1), key(1, 1).lock()), (id(2), key(1, 2).lock())];
    assert_eq!(shelf.store((&[], &records, &locks), 50).unwrap().new, 1);
    assert!(shelf.document(id(1)).unwrap().is_some() && shelf.document(id(2)).unwrap().is_none());
}

/// A directory that is removed when the value is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let name = format!("furui-withdraw-{}-{}", std::process::id(), furui::HashSpec::random().seed);
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
