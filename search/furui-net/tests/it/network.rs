//! Publishing under difficult conditions, over nodes in one process.

use crate::common::{NOBODY, Publishes, all_by, by};
use crate::local;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answer::{all, best, search};
use crate::local::document;
use furui_net::node::{Document, Hit, Node, PublishError, Published};
use furui_search::{ContentId, MAX_TEXT, MAX_TITLE, MAX_URL, Record};

fn documents(count: usize) -> Vec<Document> {
    let texts = (0..count).map(|number| format!("common c{} number{number}", number % 10));
    texts.enumerate().map(|(number, text)| document(format!("http://site.example/{number}"), text)).collect()
}

fn published(count: u64) -> Result<Published, PublishError> {
    Ok(Published { new: count, changed: 0, scarce: 0 })
}

async fn publish(node: &Node, documents: &[Document]) {
    for batch in documents.chunks(256) {
        // `scarce` is not checked: if some keepers are dead, they do not take their documents.
        assert_eq!(node.publishes(batch.to_vec(), false).await.unwrap().new, batch.len() as u64);
    }
}

fn ids<'a>(documents: impl IntoIterator<Item = &'a Document>) -> BTreeSet<ContentId> {
    documents.into_iter().map(|document| document.id).collect()
}

async fn found(node: &Node, query: &str) -> BTreeSet<ContentId> {
    let answer = search(node, query, all()).await.unwrap();
    assert!(answer.whole);
    answer.ids()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_finds_all_that_was_published_when_it_began_and_nothing_that_was_not() {
    let nodes = local::network(6).await;
    let documents = Arc::new(all_by(&nodes[0], documents(3000)));
    let published = Arc::new(AtomicUsize::new(0));
    let publisher = {
        let (node, documents, published) = (nodes[0].clone(), Arc::clone(&documents), Arc::clone(&published));
        tokio::spawn(async move {
            for batch in documents.chunks(100) {
                publish(&node, batch).await;
                published.fetch_add(batch.len(), Ordering::SeqCst);
            }
        })
    };
    let mut rounds = 0;
    while !publisher.is_finished() {
        let before = published.load(Ordering::SeqCst);
        let class = rounds % 10;
        let answer = found(&nodes[1 + rounds % 5], &format!("common c{class}")).await;
        let has = |document: &&Document| document.words.iter().any(|(word, _)| *word == format!("c{class}"));
        assert!(answer.is_superset(&ids(documents[..before].iter().filter(has))), "of {before} published");
        assert!(answer.is_subset(&ids(documents.iter().filter(has))));
        rounds += 1;
    }
    publisher.await.unwrap();
    assert!(rounds > 1);
    assert_eq!(found(&nodes[3], "common").await, ids(&*documents));
    local::shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_largest_document_and_one_of_a_hundred_thousand_words_are_kept_and_found() {
    let nodes = local::network(5).await;
    let largest = Record {
        url: "u".repeat(MAX_URL),
        title: "t ".repeat(MAX_TITLE / 2),
        text: "ab ".repeat(MAX_TEXT / 3),
        publisher: NOBODY,
    };
    let words_many = (0..100_000).map(|number| format!("x{number:05}")).collect::<Vec<_>>();
    let many = by(&nodes[0], &document("http://many.example/".into(), words_many.join(" ")));
    let all = vec![Document::new(&largest).unwrap(), many.clone()];
    assert_eq!(nodes[0].publishes(all, false).await, published(2));

    let [hit] = &best(&nodes[1], "ab t", 10).await.hits[..] else { panic!("one document has both") };
    assert_eq!((&hit.url, &hit.title), (&largest.url, &largest.title));
    for number in (0..100_000).step_by(4999) {
        assert_eq!(found(&nodes[2], &words_many[number]).await, ids([&many]), "{number}");
    }
    assert_eq!(found(&nodes[3], "x00000 x50000 x99999").await, ids([&many]));
    assert_eq!(nodes[0].publishes(vec![many], false).await, published(0));
    local::shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_published_although_some_keepers_are_dead() {
    let mut nodes = local::network(8).await;
    let documents = all_by(&nodes[0], documents(1000));
    publish(&nodes[0], &documents[..500]).await;
    for dead in nodes.drain(6..) {
        dead.shutdown().await;
    }
    publish(&nodes[0], &documents[500..]).await;
    // A node that takes the place of a dead keeper has only the first half of the list until it has compared its lists.
    local::repaired(&nodes).await;
    for node in &nodes {
        assert_eq!(found(node, "common").await, ids(&documents));
        let others = documents.iter().skip(3).step_by(10).filter(|other| other.id != documents[13].id);
        assert_eq!(found(node, "common c3 -number13").await, ids(others));
    }
    local::shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_told_what_fewer_nodes_took_than_should() {
    let nodes = local::network(3).await;
    let documents = all_by(&nodes[0], documents(30));
    assert_eq!(nodes[0].publishes(documents[..10].to_vec(), false).await, published(10));
    nodes[2].shutdown().await;
    // The third node may be known to be gone, or be called in vain.
    let scarce = Published { new: 10, changed: 0, scarce: 10 };
    assert_eq!(nodes[0].publishes(documents[10..20].to_vec(), false).await, Ok(scarce));
    nodes[1].shutdown().await;
    assert_eq!(nodes[0].publishes(documents[20..].to_vec(), false).await, Ok(scarce));
    local::shut_down(&nodes[..1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_broken_off_is_published_again_and_what_was_done_is_not() {
    let nodes = local::network(5).await;
    let documents = all_by(&nodes[0], documents(2000));
    publish(&nodes[0], &documents[..512]).await;
    let broken = tokio::spawn({
        let (node, documents) = (nodes[0].clone(), documents[512..1024].to_vec());
        async move { node.publishes(documents, false).await }
    });
    // Publishing has begun: some node has received something.
    let sent = || nodes[0].net().counters().exchange_out;
    let before = sent();
    while sent() == before && !broken.is_finished() {
        tokio::task::yield_now().await;
    }
    broken.abort();
    // Chance decides whether publishing was completed, and noted as such, before it was aborted.
    let _ = broken.await;
    let mut new = 0;
    for batch in documents.chunks(256) {
        new += nodes[0].publishes(batch.to_vec(), false).await.unwrap().new;
    }
    assert!((2000 - 1024..=2000 - 512).contains(&new), "{new}");
    for node in &nodes {
        assert_eq!(found(node, "common").await, ids(&documents));
    }
    for batch in documents.chunks(256) {
        assert_eq!(
            nodes[1].publishes(batch.to_vec(), false).await,
            published(batch.len() as u64),
            "another node does not know"
        );
    }
    // The same texts of another publisher are other documents, and each text is shown once.
    let answer = search(&nodes[2], "common", all()).await.unwrap();
    let both = |hit: &Hit| hit.publishers == [nodes[0].publisher(), nodes[1].publisher()] && hit.also.is_empty();
    assert!(answer.whole && answer.hits.iter().all(both));
    assert_eq!(answer.urls().into_iter().collect::<BTreeSet<_>>().len(), documents.len());
    assert_eq!(answer.hits.len(), documents.len());
    local::shut_down(&nodes).await;
}
