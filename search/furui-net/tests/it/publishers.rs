//! Of the documents of one URL, one is shown: that of the site's own key, or else the one with the most publishers.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::best;
use crate::common::{config, network};
use furui_net::net::Net;
use furui_net::node::{Document, Node};
use furui_search::{ContentId, Lock, PublisherKey, Record, Refusal, Request, Response, Showings, Shown};
use furui_search::{Part, limits};

const URL: &str = "http://site.example/page";

fn key(node: &Node) -> PublisherKey {
    PublisherKey::of_identity(node.net().me().identity()).unwrap()
}

fn document(url: &str, text: &str, publisher: Option<PublisherKey>) -> Document {
    Document::new(&Record { url: url.into(), title: String::new(), text: text.into(), publisher }).unwrap()
}

async fn publish(nodes: &[&Node], document: &Document) {
    for node in nodes {
        assert_eq!(node.publish(vec![document.clone()], false).await.unwrap().new, 1);
    }
}

/// Checks that every node shows only the first of these documents of one URL, and names the publishers of all.
async fn check(nodes: &[Node], expected: &[(&Document, &[&Node])]) {
    let publishers = |of: &[&Node]| of.iter().map(|node| key(node)).collect::<BTreeSet<_>>();
    for node in nodes {
        let answer = best(node, "sieve", 10).await;
        let [hit] = &answer.hits[..] else { panic!("{:?}", answer.hits) };
        let (shown, others) = expected.split_first().unwrap();
        assert_eq!(hit.id, shown.0.id);
        assert_eq!(hit.publishers.iter().copied().collect::<BTreeSet<_>>(), publishers(shown.1));
        let also: BTreeMap<ContentId, BTreeSet<PublisherKey>> =
            hit.also.iter().map(|other| (other.id, other.publishers.iter().copied().collect())).collect();
        assert_eq!(also, others.iter().map(|(document, of)| (document.id, publishers(of))).collect());
        assert_eq!(answer.cursor, None);
    }
}

async fn shut_down(nodes: &[Node]) {
    for node in nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_of_the_sites_key_is_shown_before_a_copy_that_four_others_publish() {
    let nodes = network(6).await;
    let [site, a, b, c, d, e] = &nodes[..] else { panic!() };
    let own = document(URL, "a page about a sieve that comes from the site itself", Some(key(site)));
    publish(&[site], &own).await;
    let only = best(a, "sieve", 10).await;
    assert_eq!((only.hits.len(), &only.hits[0].publishers, &only.hits[0].also), (1, &vec![], &vec![]));
    // Publishers are requested only when there is a second document of the URL.
    assert!(only.report.show_messages <= 3, "{:?}", only.report);

    // The copy ranks higher, because it is short.
    let copy = document(URL, "sieve sieve", None);
    publish(&[a, b, c, d], &copy).await;
    check(&nodes, &[(&own, &[site]), (&copy, &[a, b, c, d])]).await;
    // A copy that names the key is not published with it.
    let third = document(URL, "sieve sieve sieve", Some(key(site)));
    publish(&[e], &third).await;
    check(&nodes, &[(&own, &[site]), (&copy, &[a, b, c, d]), (&third, &[e])]).await;
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_publishes_a_sites_documents_before_it_does_not_take_its_place() {
    let nodes = network(6).await;
    let [site, a, b, c, d, e] = &nodes[..] else { panic!() };
    // A record has four locks at most, and the last of five would be lost.
    let own = document(URL, "a page about a sieve", Some(key(site)));
    publish(&[a, b, c, d], &own).await;
    publish(&[site], &own).await;
    let copy = document(URL, "sieve", None);
    publish(&[e], &copy).await;
    for node in &nodes {
        let answer = best(node, "sieve", 10).await;
        let [hit] = &answer.hits[..] else { panic!("{:?}", answer.hits) };
        assert_eq!((hit.id, hit.publishers.contains(&key(site))), (own.id, true));
    }
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_sites_key_the_document_with_the_most_publishers_is_shown() {
    let nodes = network(5).await;
    let [a, b, c, d, e] = &nodes[..] else { panic!() };
    let first = document(URL, "sieve", None);
    publish(&[a], &first).await;
    // It names a key, with which nobody has published it.
    let second = document(URL, "a sieve, and many other words beside it", Some(key(e)));
    publish(&[b, c], &second).await;
    check(&nodes, &[(&second, &[b, c]), (&first, &[a])]).await;
    // Each of two documents names a key with which it was published.
    let third = document(URL, "a sieve of the third", Some(key(d)));
    publish(&[d], &third).await;
    check(&nodes, &[(&third, &[d]), (&second, &[b, c]), (&first, &[a])]).await;
    publish(&[e], &second).await;
    check(&nodes, &[(&second, &[b, c, e]), (&third, &[d]), (&first, &[a])]).await;
    // What its publishers withdraw has no publishers.
    assert_eq!(e.withdraw(&[URL.to_owned()]).await, Ok(vec![true]));
    for node in &nodes {
        node.net().refresh().await;
    }
    check(&nodes, &[(&third, &[d]), (&second, &[b, c]), (&first, &[a])]).await;
    shut_down(&nodes).await;
}

/// Joins as a node that sends these requests to all others.
async fn send(nodes: &[Node], request: &Request) {
    let (stranger, _inbound) = Net::start(config(nodes.first())).await.unwrap();
    stranger.joined().await;
    for node in nodes {
        let answer = stranger.call(&node.net().me(), request.encode().unwrap()).await.unwrap();
        assert!(matches!(Response::decode(&answer).unwrap(), Response::Stored { .. } | Response::Refused(_)));
    }
    stranger.shutdown().await;
    for node in nodes {
        node.net().refresh().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publisher_counts_only_with_its_signature() {
    let nodes = network(5).await;
    let [site, a, b, c, _] = &nodes[..] else { panic!() };
    let forged = document(URL, "sieve sieve", Some(key(site)));
    publish(&[a], &forged).await;
    let other = document(URL, "a sieve of others", None);
    publish(&[b, c], &other).await;
    let locks = [[1; 64], [2; 64]].map(|signature| Lock::new([7; Lock::BYTES]).by(key(site), signature));
    let records = locks.map(|lock| (lock, forged.record.clone())).to_vec();
    send(&nodes, &Request::Store { postings: vec![], records }).await;
    check(&nodes, &[(&other, &[b, c]), (&forged, &[a])]).await;
    shut_down(&nodes).await;
}

/// Joins as a node that keeps records and shows them, and answers no requests for locks, or says that there are none.
async fn join_withholding(first: &Node, is_silent: bool) -> Net {
    let (net, mut inbound) = Net::start(config(Some(first))).await.unwrap();
    net.joined().await;
    tokio::spawn(async move {
        let mut kept: BTreeMap<ContentId, Vec<u8>> = BTreeMap::new();
        let mut unanswered = vec![];
        while let Some(asked) = inbound.recv().await {
            let response = match Request::decode(&asked.request).unwrap() {
                Request::Store { records, .. } => {
                    let new = records.len() as u64;
                    kept.extend(records.into_iter().map(|(_, record)| (ContentId::of(&record), record)));
                    Response::Stored { new }
                }
                Request::Show { documents, clauses } => {
                    let showings = Showings::new(&clauses).unwrap();
                    let show = |(id, part)| match kept.get(&id) {
                        Some(record) if part == Part::Snippet => {
                            let (_, showing) = showings.view(&Record::decode(record).unwrap());
                            Shown::Document(Box::new(showing))
                        }
                        Some(_) if part == Part::Presence => Shown::Kept,
                        _ => Shown::Unknown,
                    };
                    Response::Shown { documents: documents.into_iter().map(show).collect(), settled: true }
                }
                Request::Locks { .. } if is_silent => {
                    unanswered.push(asked);
                    continue;
                }
                Request::Locks { ids } => Response::Locks(vec![vec![]; ids.len()]),
                _ => Response::Refused(Refusal::Busy),
            };
            let _ = asked.reply.send(response.encode().unwrap());
        }
    });
    net
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keepers_that_withhold_locks_hide_no_publisher() {
    let nodes = network(4).await;
    let hostile = [join_withholding(&nodes[0], false).await, join_withholding(&nodes[0], true).await];
    for node in &nodes {
        node.net().refresh().await;
    }
    let [site, a, b, _] = &nodes[..] else { panic!() };
    for page in 0..10 {
        let url = format!("http://site.example/{page}");
        let own = document(&url, &format!("page{page} of the site"), Some(key(site)));
        let copy = document(&url, &format!("page{page}"), None);
        publish(&[site], &own).await;
        publish(&[a, b], &copy).await;
        for node in &nodes {
            let answer = best(node, &format!("page{page}"), 10).await;
            let [hit] = &answer.hits[..] else { panic!("{:?}", answer.hits) };
            assert_eq!((hit.id, &hit.publishers), (own.id, &vec![key(site)]));
            assert_eq!(hit.also.iter().map(|other| other.id).collect::<Vec<_>>(), [copy.id]);
        }
    }
    for net in hostile {
        net.shutdown().await;
    }
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_several_versions_of_its_documents_is_full() {
    const PAGES: usize = 30;
    let nodes = network(4).await;
    for (number, node) in nodes[..3].iter().enumerate() {
        let documents = (0..PAGES).map(|page| {
            let text = format!("sieve number{number} {}", "word ".repeat((page * 7 + number * 11) % 40));
            document(&format!("http://site.example/{page}"), &text, None)
        });
        node.publish(documents.collect(), false).await.unwrap();
    }
    for node in &nodes {
        let page = best(node, "sieve", 10).await;
        assert_eq!((page.hits.len(), page.whole, page.cursor.is_some()), (10, true, true));
        assert_eq!(page.urls().into_iter().collect::<BTreeSet<_>>().len(), 10);
        let all = best(node, "sieve", 1000).await;
        assert_eq!((all.hits.len(), all.whole, all.cursor), (PAGES, true, None));
        assert!(all.hits.iter().all(|hit| hit.also.len() == 2 && hit.publishers.len() == 1));
        // With one publisher each, the smallest id decides.
        assert!(all.hits.iter().all(|hit| hit.also.iter().all(|other| other.id > hit.id)));
        // For each document, a lock of each keeper was requested.
        let bytes = all.report.show_back_bytes;
        let locks = (3 * PAGES * limits::REPLICAS * Lock::BYTES) as u64;
        assert!(bytes < locks + 3 * PAGES as u64 * 700, "{bytes}");
    }
    shut_down(&nodes).await;
}
