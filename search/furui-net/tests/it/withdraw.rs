//! Withdrawal of published documents: who can withdraw them, and that they stay withdrawn.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::answer::{all, search};
use crate::common::{Directory, NOBODY, Publishes, by, config, document, find, network, url};
use furui_net::net::Identity;
use furui_net::node::{Document, Node, Published};
use furui_net::shelf::{Published as Publishing, Shelf, ShelfOptions};
use furui_search::{
    ContentId, IdRange, Publication, PublisherKey, Record, Refusal, Request, Response, Signature, Weight, Withdrawal,
    limits,
};
use tokio::time::timeout;

/// The time limit for what happens in the background.
const LONG: Duration = Duration::from_secs(60);

fn page(url: &str, text: &str) -> Document {
    Document::new(&Record { url: url.into(), title: String::new(), text: text.into(), publisher: NOBODY }).unwrap()
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
    nodes[0].publishes((0..60).map(document).collect(), false).await.unwrap();
    nodes[1].publishes((60..80).map(document).collect(), false).await.unwrap();
    assert_eq!(found(&nodes, "document").await, urls(0..80));

    let withdrawn: Vec<String> = (0..30).map(url).collect();
    assert_eq!(nodes[0].withdraw(&withdrawn).await, Ok(vec![Some(vec![]); 30]));
    assert_eq!(found(&nodes, "document").await, urls(30..80));
    // A document of another node, an unknown document, and one that was withdrawn already cannot be withdrawn.
    assert_eq!(nodes[0].withdraw(&[url(70), url(1000), url(0)]).await, Ok(vec![None; 3]));
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
    assert_eq!(nodes[0].wanted(&[by(&nodes[0], &again[0]).id]), Ok(vec![true]));
    assert_eq!(nodes[0].publishes(again, false).await, Ok(Published { new: 10, changed: 0, scarce: 0 }));
    assert_eq!(found(&nodes, "document").await, urls((0..10).chain(60..80)));
    assert_eq!(nodes[0].withdraw(&[url(3)]).await, Ok(vec![Some(vec![])]));
    assert!(!found(&nodes, "document").await.contains(&url(3)));
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_is_changed_is_found_by_its_new_words_only() {
    let nodes = network(5).await;
    let versions = ["apple pear", "pear plum", "apple pear"].map(|text| page("http://a.example/", text));
    let other = page("http://b.example/", "apple plum");
    let publish = async |documents: &[&Document]| {
        nodes[0].publishes(documents.iter().map(|&document| document.clone()).collect(), false).await.unwrap()
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
async fn the_lists_of_words_that_are_searched_for_lose_what_was_withdrawn() {
    for count in [1, 2, 5] {
        let nodes = network(count).await;
        repaired(&nodes).await;
        nodes[0].publishes((0..5).map(document).collect(), false).await.unwrap();
        for version in 0..20 {
            let text = format!("a zebra in its version {version}");
            nodes[0].publishes(vec![page("http://a.example/", &text)], false).await.unwrap();
        }
        let postings = async || {
            let statuses = futures::future::join_all(nodes.iter().map(Node::status)).await;
            statuses.into_iter().map(|status| status.unwrap().shelf.postings).sum::<u64>()
        };
        // A posting of each earlier version at each of the list's keepers.
        let expected = postings().await - 19 * count.min(limits::REPLICAS) as u64;
        let lost = async {
            while postings().await != expected {
                let answer = search(&nodes[count - 1], "zebra", all()).await.unwrap();
                assert_eq!((answer.urls(), answer.whole), (vec!["http://a.example/".to_owned()], true));
            }
        };
        timeout(LONG, lost).await.unwrap_or_else(|_| panic!("{count} nodes keep what was withdrawn"));
        shut_down(&nodes).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_have_published_stays_until_both_withdraw_it_and_the_first_is_told_so() {
    let nodes = network(5).await;
    let shared: Vec<Document> = (0..10).map(document).collect();
    nodes[0].publishes(shared.clone(), false).await.unwrap();
    nodes[1].publishes(shared.clone(), false).await.unwrap();
    let all: Vec<String> = (0..10).map(url).collect();
    // A stranger withdraws nothing, neither with a signature that is not the publisher's nor with its own.
    for (publisher, is_refused) in [(nodes[0].publisher(), true), (nodes[4].publisher(), true)] {
        let signature = Signature { at: u32::MAX, bytes: [3; 64] };
        let withdrawals = shared.iter().map(|it| Withdrawal { id: by(&nodes[0], it).id, publisher, signature });
        let withdraw = Request::Withdraw { withdrawals: withdrawals.collect() }.encode().unwrap();
        for node in &nodes[..4] {
            let answer = nodes[4].net().call(&node.net().me(), withdraw.clone()).await.unwrap();
            assert_eq!(Response::decode(&answer) == Ok(Response::Refused(Refusal::Invalid)), is_refused);
        }
    }
    assert_eq!(nodes[2].withdraw(&all).await, Ok(vec![None; 10]));
    assert_eq!(found(&nodes, "document").await, urls(0..10));

    assert_eq!(nodes[0].withdraw(&all).await, Ok(vec![Some(vec![nodes[1].publisher()]); 10]));
    repaired(&nodes).await;
    assert_eq!(found(&nodes, "document").await, urls(0..10));
    assert_eq!(nodes[1].withdraw(&all[..5]).await, Ok(vec![Some(vec![]); 5]));
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
        let node = Node::start(Some(&directory.path().join(number.to_string())), config).await.unwrap();
        node.net().joined().await;
        node
    };
    let mut nodes = vec![start(0, None).await];
    for number in 1..4 {
        nodes.push(start(number, nodes.first()).await);
    }
    repaired(&nodes).await;
    nodes[0].publishes((0..40).map(document).collect(), false).await.unwrap();
    nodes.pop().unwrap().shutdown().await;
    let half: Vec<String> = (0..20).map(url).collect();
    assert_eq!(nodes[0].withdraw(&half).await, Ok(vec![Some(vec![]); 20]));
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

fn key(who: u8) -> PublisherKey {
    PublisherKey::new([who; 32])
}

fn signature(at: u32) -> Signature {
    Signature { at, bytes: [at as u8; 64] }
}

/// A document that publisher 1 has published at this time.
fn published(number: u8, at: u32) -> Publishing {
    (id(number), key(1), Publication { signature: signature(at), first: at.into(), network: 0 })
}

fn withdrawal(number: u8, who: u8, at: u32) -> Withdrawal {
    Withdrawal { id: id(number), publisher: key(who), signature: signature(at) }
}

#[test]
fn a_shelf_lets_go_of_a_record_when_its_publisher_says_so() {
    let directory = Directory::new();
    let open = || Shelf::open(directory.path(), ShelfOptions::default()).unwrap();
    let mut shelf = open();
    let records: Vec<(ContentId, Vec<u8>)> = (0..50).map(|number| (id(number), vec![number; 100])).collect();
    let all = |at| (0..50).map(|number| published(number, at)).collect::<Vec<_>>();
    let postings = [("word".to_owned(), records.iter().map(|(id, _)| (*id, Weight::default())).collect::<Vec<_>>())];
    assert_eq!(shelf.store((&postings, &records, &all(10)), 1000).unwrap().new, 100);
    // Ten of them are published again later, in spite of the withdrawal of before.
    assert_eq!(shelf.store((&[], &records[..10], &all(30)[..10]), 1000).unwrap().new, 0);
    let changes = shelf.changes();

    let some = |who: u8, at| (0..20).map(|number| withdrawal(number, who, at)).collect::<Vec<_>>();
    assert_eq!(shelf.withdraw(&some(3, 90), 900, false).unwrap(), 0);
    assert_eq!(shelf.withdraw(&some(1, 9), 900, false).unwrap(), 0);
    assert_eq!(shelf.withdraw(&some(1, 20), 900, false).unwrap(), 10);
    assert_eq!(shelf.withdraw(&some(1, 20), 900, false).unwrap(), 0);
    assert_ne!(shelf.changes(), changes, "others are to hear of it");
    for round in 0..3 {
        let kept: Vec<bool> = (0..50).map(|number| shelf.document(id(number)).unwrap().is_some()).collect();
        assert_eq!(kept, (0..50).map(|number| !(10..20).contains(&number)).collect::<Vec<_>>(), "{round}");
        let has: Vec<bool> = (0..50).map(|number| shelf.has_record(id(number)).unwrap()).collect();
        assert_eq!(has, kept, "{round}");
        assert_eq!(shelf.withdrawal(id(15)).unwrap(), Some(withdrawal(15, 1, 20)));
        assert_eq!(shelf.withdrawal(id(25)).unwrap(), None);
        // The record does not come back with the signature of before.
        assert_eq!(shelf.store((&[], &records, &all(20)), 1000).unwrap().new, 0);
        assert_eq!(shelf.withdrawn(IdRange::ALL, 100).unwrap().len(), 10);
        if round == 0 {
            drop(shelf);
            shelf = open();
        } else {
            shelf.expire(500).unwrap();
            assert_eq!(shelf.statistics().unwrap().records, 40);
            assert_eq!(shelf.fingerprint("word").unwrap().0, 50);
        }
    }
    // The record comes back with a later one.
    assert_eq!(shelf.store((&[], &records[15..16], &[published(15, 21)]), 1000).unwrap().new, 1);
    assert_eq!(shelf.document(id(15)).unwrap(), Some(vec![15; 100]));
    assert_eq!(shelf.publication(id(15)).unwrap().unwrap().1.signature.at, 21);
    // Withdrawals and documents expire.
    shelf.expire(900).unwrap();
    assert_eq!(shelf.withdrawn(IdRange::ALL, 100).unwrap(), []);
    shelf.expire(1000).unwrap();
    assert_eq!(shelf.publication(id(15)).unwrap(), None);
    assert_eq!(shelf.statistics().unwrap().documents, 0);
}

#[test]
fn the_documents_of_a_url_are_named_in_the_order_in_which_they_came() {
    let mut shelf = Shelf::in_memory(ShelfOptions::default()).unwrap();
    // The last six bytes of an id stand for the URL.
    let of_url = |number: u8, url: u8| {
        let mut bytes = [number; 20];
        bytes[14..].fill(url);
        ContentId::new(bytes)
    };
    let mut store = |id: ContentId, first, network| {
        let publication = Publication { signature: signature(5), first, network };
        shelf.store((&[], &[(id, b"record".to_vec())], &[(id, key(1), publication)]), 1000).unwrap();
        shelf.publication(id).unwrap().unwrap().1
    };
    store(of_url(1, 9), 300, 0);
    store(of_url(2, 9), 100, 0);
    store(of_url(3, 8), 100, 0);
    assert_eq!(store(of_url(4, 9), 200, 0), Publication { signature: signature(5), first: 200, network: 0 });
    // The earliest time counts, and the first network that is known.
    let first = store(of_url(4, 9), 250, 7);
    assert_eq!((first.first, first.network), (200, 7));
    assert_eq!(store(of_url(4, 9), 50, 8).network, 7);
    let others = |shelf: &mut Shelf, most| shelf.others_of_url(of_url(1, 9), most).unwrap();
    assert_eq!(others(&mut shelf, 9), [of_url(4, 9), of_url(2, 9)]);
    assert_eq!(others(&mut shelf, 1), [of_url(4, 9)]);
    let withdrawn = Withdrawal { id: of_url(4, 9), publisher: key(1), signature: signature(5) };
    assert_eq!(shelf.withdraw(&[withdrawn], 1000, false).unwrap(), 1);
    assert_eq!(others(&mut shelf, 9), [of_url(2, 9)]);
    shelf.expire(1000).unwrap();
    assert_eq!(others(&mut shelf, 9), []);
}

#[test]
fn withdrawals_of_what_is_not_here_are_remembered_only_if_another_tells_of_them() {
    let mut shelf = Shelf::in_memory(ShelfOptions::default()).unwrap();
    shelf.withdraw(&[withdrawal(1, 1, 20)], 100, false).unwrap();
    shelf.withdraw(&[withdrawal(2, 1, 20), withdrawal(9, 1, 20)], 100, true).unwrap();
    let remembered = [2, 9].map(|number| (withdrawal(number, 1, 20), 100));
    assert_eq!(shelf.withdrawn(IdRange::ALL, 10).unwrap(), remembered);
    let from = IdRange { first: id(2).head() + 1, last: u64::MAX };
    assert_eq!(shelf.withdrawn(from, 10).unwrap(), remembered[1..]);
    // What somebody else has withdrawn does not matter.
    shelf.withdraw(&[withdrawal(3, 2, 20)], 100, true).unwrap();
    let records = [1, 2, 3].map(|number| (id(number), vec![number]));
    let all = [1, 2, 3].map(|number| published(number, 10));
    assert_eq!(shelf.store((&[], &records, &all), 50).unwrap().new, 2);
    let kept = [1, 2, 3].map(|number| shelf.document(id(number)).unwrap().is_some());
    assert_eq!(kept, [true, false, true]);
}
