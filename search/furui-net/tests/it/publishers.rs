//! Of the documents of one URL, one is shown, and its publishers are named: nobody takes the place of others.

use std::collections::BTreeSet;

use crate::answer::best;
use crate::common::{Publishes, UNSIGNED, config, network, signed};
use furui_net::net::{Identity, Net};
use furui_net::node::{Block, Document, Node};
use furui_search::{Place, PublisherKey, Record, Refusal, Request, Response};

const URL: &str = "http://site.example/page";

fn record(url: &str, text: &str) -> Record {
    let publisher = PublisherKey::new([0; PublisherKey::BYTES]);
    Record { url: url.into(), title: String::new(), text: text.into(), publisher }
}

fn document(url: &str, text: &str) -> Document {
    Document::new(&record(url, text)).unwrap()
}

async fn publish(nodes: &[&Node], text: &str) {
    for node in nodes {
        assert_eq!(node.publishes(vec![document(URL, text)], false).await.unwrap().new, 1);
    }
}

/// Checks that the node shows one text, of these publishers, and names those of all others.
async fn check(node: &Node, snippet: &str, publishers: &[&Node], others: &[&[&Node]]) {
    let keys = |of: &[&Node]| of.iter().map(|node| node.publisher()).collect::<BTreeSet<_>>();
    let answer = best(node, "sieve", 10).await;
    let [hit] = &answer.hits[..] else { panic!("{:?}", answer.hits) };
    assert_eq!(hit.snippet, snippet);
    assert_eq!(hit.publishers.iter().copied().collect::<BTreeSet<_>>(), keys(publishers));
    let also: BTreeSet<BTreeSet<PublisherKey>> =
        hit.also.iter().map(|other| other.publishers.iter().copied().collect()).collect();
    assert_eq!(also, others.iter().map(|of| keys(of)).collect());
    assert!(answer.whole && answer.cursor.is_none());
}

async fn shut_down(nodes: &[Node]) {
    for node in nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_text_of_a_url_stays_unless_the_owner_trusts_or_blocks() {
    let nodes = network(6).await;
    let [site, a, b, c, reader, other] = &nodes[..] else { panic!() };
    let own = "a page about a sieve that comes from the site itself";
    publish(&[site], own).await;
    let only = best(reader, "sieve", 10).await;
    assert_eq!((only.hits.len(), &only.hits[0].publishers), (1, &vec![site.publisher()]));
    assert!(only.report.show_messages <= 3, "{:?}", only.report);

    // The copy ranks higher, because it names the word in fewer words; and three have published it, of one network.
    publish(&[a, b, c], "sieve sieve").await;
    for node in [reader, other] {
        check(node, own, &[site], &[&[a, b, c]]).await;
    }
    // Where its publisher is trusted, a text is shown first; on other nodes nothing changes.
    assert_eq!(reader.trust(&[b.publisher()], true).unwrap(), 1);
    check(reader, "sieve sieve", &[a, b, c], &[&[site]]).await;
    assert!(best(reader, "sieve", 10).await.hits[0].trusted && !best(other, "sieve", 10).await.hits[0].trusted);
    assert_eq!(best(reader, "sieve", 10).await.hits[0].publishers[0], b.publisher());
    check(other, own, &[site], &[&[a, b, c]]).await;
    assert_eq!(reader.trust(&[b.publisher()], false).unwrap(), 1);
    check(reader, own, &[site], &[&[a, b, c]]).await;
    // A node trusts itself.
    check(a, "sieve sieve", &[a, b, c], &[&[site]]).await;

    // What blocked publishers alone have published is not there for the node that blocks them.
    let block = |node: &Node| Block::Peer(node.publisher().to_string());
    other.block(&[block(site), block(a)], true).await.unwrap();
    check(other, "sieve sieve", &[b, c], &[]).await;
    other.block(&[block(b), block(c)], true).await.unwrap();
    assert!(best(other, "sieve", 10).await.hits.is_empty());
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_forged_texts_of_ten_pages_displace_none_and_are_found_beside_them() {
    let nodes = network(6).await;
    let [site, _, _, _, reader, forger] = &nodes[..] else { panic!() };
    let url = |page: usize| format!("http://site.example/{page}");
    let pages = (0..10).map(|page| {
        let words = "many other words that a page about such a thing may have ".repeat(1 + page);
        document(&url(page), &format!("page{page} about a sieve. {words}"))
    });
    site.publishes(pages.collect(), false).await.unwrap();
    let before: Vec<Place> = best(reader, "sieve", 10).await.places();
    assert_eq!(before.len(), 10);
    // Each of twenty identities publishes other texts under all URLs, with the word as often as they can.
    for number in 0..20 {
        let identity = Identity::generate();
        let text = format!("forged {number} {}", "sieve ".repeat(60));
        let forged = (0..10).map(|page| signed(&identity, record(&url(page), &text)));
        let (documents, signatures): (Vec<_>, Vec<_>) = forged.unzip();
        let records = signatures.into_iter().zip(&documents).map(|(by, document)| (by, document.record.clone()));
        send(forger, &nodes, &Request::Store { postings: vec![], records: records.collect() }).await;
        let words = documents.iter().flat_map(|document| {
            document.words.iter().map(|(word, weight)| (word.clone(), vec![(document.id, *weight)]))
        });
        send(forger, &nodes, &Request::Store { postings: words.collect(), records: vec![] }).await;
    }
    for node in [reader, site] {
        let answer = best(node, "sieve", 10).await;
        assert_eq!(answer.places(), before);
        assert!(answer.hits.iter().all(|hit| hit.publishers == [site.publisher()] && !hit.also.is_empty()));
    }
    shut_down(&nodes).await;
}

/// Sends a request of this node to all nodes, which may refuse it.
async fn send(from: &Node, nodes: &[Node], request: &Request) {
    for node in nodes {
        let _ = from.net().call(&node.net().me(), request.encode().unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_publishes_in_the_name_of_another() {
    let nodes = network(5).await;
    let [site, a, b, ..] = &nodes[..] else { panic!() };
    publish(&[a], "a sieve").await;
    let forged = Document::new(&Record { publisher: site.publisher(), ..record(URL, "sieve sieve") }).unwrap();
    let (stranger, _inbound) = Net::start(config(nodes.first())).await.unwrap();
    stranger.joined().await;
    let records = vec![(UNSIGNED, forged.record.clone())];
    let store = Request::Store { postings: vec![], records }.encode().unwrap();
    for node in &nodes {
        let answer = stranger.call(&node.net().me(), store.clone()).await.unwrap();
        assert_eq!(Response::decode(&answer).unwrap(), Response::Refused(Refusal::Invalid));
    }
    // Nor does a node publish what names another as its publisher.
    assert!(b.publish(vec![forged], false).await.is_err());
    stranger.shutdown().await;
    for node in &nodes {
        node.net().refresh().await;
    }
    // The stranger was a neighbour, so its neighbours compare their lists anew.
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    check(b, "a sieve", &[a], &[]).await;
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_several_versions_of_its_documents_is_full() {
    const PAGES: usize = 30;
    let nodes = network(4).await;
    for (number, node) in nodes[..3].iter().enumerate() {
        let documents = (0..PAGES).map(|page| {
            let text = format!("sieve number{number} {}", "word ".repeat((page * 7 + number * 11) % 40));
            document(&format!("http://site.example/{page}"), &text)
        });
        node.publishes(documents.collect(), false).await.unwrap();
    }
    let reader = &nodes[3];
    let page = best(reader, "sieve", 10).await;
    assert_eq!((page.hits.len(), page.whole, page.cursor.is_some()), (10, true, true));
    assert_eq!(page.urls().into_iter().collect::<BTreeSet<_>>().len(), 10);
    let all = best(reader, "sieve", 1000).await;
    assert_eq!((all.hits.len(), all.whole, all.cursor), (PAGES, true, None));
    assert!(all.hits.iter().all(|hit| hit.also.len() == 2 && hit.publishers == [nodes[0].publisher()]));
    // Each node shows its own texts.
    let own = best(&nodes[1], "sieve", 1000).await;
    assert!(own.hits.len() == PAGES && own.hits.iter().all(|hit| hit.publishers == [nodes[1].publisher()]));
    shut_down(&nodes).await;
}
