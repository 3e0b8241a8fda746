//! Nodes that state of documents what the documents' records disprove. Each test names an attack.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::collections::BTreeSet;

use common::{config, document, find, network, url};
use furui_net::net::Net;
use furui_net::node::{Document, Node};
use furui_search::{ContentId, Lock, Record, Refusal, Request, Response, Weight, WordPostings, limits};

const COUNT: usize = 60;
/// The weight that ranks highest.
fn highest() -> Weight {
    Weight::of_steps(15, 1)
}

/// A network of five nodes with documents, and a hostile peer.
async fn attacked() -> (Vec<Node>, Net) {
    let nodes = network(5).await;
    assert_eq!(nodes[1].publish((0..COUNT).map(document).collect(), false).await.unwrap().new, COUNT as u64);
    let stranger = stranger(&nodes).await;
    (nodes, stranger)
}

/// A peer that is no keeper of anything, because it does not answer.
async fn stranger(nodes: &[Node]) -> Net {
    let (net, inbound) = Net::start(config(Some(&nodes[0]))).await.unwrap();
    net.joined().await;
    drop(inbound);
    net
}

async fn store(from: &Net, to: &Node, postings: Vec<WordPostings>, records: &[Document]) -> Response {
    let records = records.iter().map(|it| (Lock::new([7; Lock::BYTES]), it.record.clone())).collect();
    let request = Request::Store { postings, records }.encode().unwrap();
    Response::decode(&from.call(&to.net().me(), request).await.unwrap()).unwrap()
}

/// The true postings of a document.
fn truth(document: &Document) -> Vec<WordPostings> {
    document.words.iter().map(|(word, weight)| (word.clone(), vec![(document.id, *weight)])).collect()
}

fn page(url: &str, title: &str, text: &str) -> Document {
    Document::new(&Record { url: url.into(), title: title.into(), text: text.into() }).unwrap()
}

/// Checks that each node finds the documents that were published, and no other.
async fn finds_the_same(nodes: &[Node]) {
    for node in nodes {
        for (query, fits) in [("c0", 0), ("document c3", 3)] {
            let expected: BTreeSet<String> = (0..COUNT).filter(|number| number % 7 == fits).map(url).collect();
            assert_eq!(find(node, query).await.unwrap(), expected);
        }
    }
}

/// The length of a word's list at a node.
async fn length(asking: &Net, node: &Node, word: &str) -> u64 {
    let request = Request::Size { words: vec![word.to_owned()] }.encode().unwrap();
    match Response::decode(&asking.call(&node.net().me(), request).await.unwrap()).unwrap() {
        Response::Sizes(sizes) => sizes[0].ids,
        other => panic!("{other:?}"),
    }
}

fn reasons(node: &Net) -> String {
    node.refusals().latest().iter().map(|refusal| refusal.why).collect::<Vec<_>>().join("; ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_ids_without_documents_hide_no_word() {
    let (nodes, stranger) = attacked().await;
    let mut before = vec![];
    for node in &nodes {
        before.push(length(&stranger, node, "c0").await);
    }
    let junk = |number: u32| {
        let mut id = [0xee; ContentId::BYTES];
        id[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_be_bytes());
        (ContentId::new(id), highest())
    };
    for node in &nodes {
        let postings = vec![("c0".to_owned(), (0..20_000).map(junk).collect())];
        assert_eq!(store(&stranger, node, postings, &[]).await, Response::Refused(Refusal::Unproven));
        assert!(reasons(node.net()).contains("no node has the records"));
    }
    for (node, before) in nodes.iter().zip(before) {
        assert_eq!(length(&stranger, node, "c0").await, before);
    }
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_states_a_false_weight_is_refused_and_what_it_brought_goes() {
    let (nodes, stranger) = attacked().await;
    let earlier = page("http://evil.example/1", "", "an earlier page of c0");
    let forged = page("http://evil.example/2", "a false title", "c0 once among other words");
    for node in &nodes {
        assert_eq!(store(&stranger, node, vec![], &[earlier.clone(), forged.clone()]).await, Response::Stored { new: 2 });
        assert!(matches!(store(&stranger, node, truth(&earlier), &[]).await, Response::Stored { .. }));
    }
    assert!(find(&nodes[0], "earlier").await.unwrap().contains("http://evil.example/1"));
    for node in &nodes {
        let postings = vec![("c0".to_owned(), vec![(forged.id, highest())])];
        assert_eq!(store(&stranger, node, postings, &[]).await, Response::Refused(Refusal::Invalid));
        assert!(reasons(node.net()).contains("disproves"));
        // Nothing more is taken from it, not even what is true.
        assert_eq!(store(&stranger, node, truth(&forged), &[]).await, Response::Refused(Refusal::Invalid));
        assert_eq!(length(&stranger, node, "earlier").await, 0);
    }
    finds_the_same(&nodes).await;
    assert_eq!(find(&nodes[2], "earlier").await.unwrap(), BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_that_a_document_does_not_hold_and_false_samples_are_refused() {
    let (nodes, first) = attacked().await;
    let second = stranger(&nodes).await;
    let sampled = (0..).map(|number| page(&format!("http://evil.example/{number}"), "", "a page of many words"));
    let sampled = sampled.into_iter().find(|page| furui_search::is_sampled(page.id)).unwrap();
    for node in &nodes {
        for stranger in [&first, &second] {
            store(stranger, node, vec![], std::slice::from_ref(&sampled)).await;
        }
        let absent = vec![("c0".to_owned(), vec![(sampled.id, sampled.words[0].1)])];
        assert_eq!(store(&first, node, absent, &[]).await, Response::Refused(Refusal::Invalid));
        let sample = vec![(furui_search::SAMPLE.to_owned(), vec![(sampled.id, Weight::of_steps(0, 0))])];
        assert_eq!(store(&second, node, sample, &[]).await, Response::Refused(Refusal::Invalid));
    }
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_was_honest_for_long_is_found_out_too() {
    let (nodes, stranger) = attacked().await;
    let pages: Vec<Document> =
        (0..256).map(|number| page(&format!("http://evil.example/{number}"), "", &format!("page x{number}"))).collect();
    let node = &nodes[0];
    for some in pages.chunks(16) {
        store(&stranger, node, vec![], some).await;
        for page in some {
            assert!(matches!(store(&stranger, node, truth(page), &[]).await, Response::Stored { .. }));
        }
    }
    // Most small messages of a known publisher are not checked. A large one is.
    let forged: Vec<(ContentId, Weight)> = pages.iter().map(|page| (page.id, highest())).collect();
    let words = ["c0", "c1", "c2", "c3", "c4", "c5", "c6"].map(|word| (word.to_owned(), forged.clone()));
    assert!(words.len() * forged.len() >= 1024 && forged.len() < limits::IDS);
    assert_eq!(store(&stranger, node, words.to_vec(), &[]).await, Response::Refused(Refusal::Invalid));
    assert_eq!(length(&stranger, node, "x7").await, 0);
    finds_the_same(&nodes).await;
}
