//! The best documents come first, in the same order on every node.

use crate::common::{NOBODY, Publishes, all_by, score_of};
use std::collections::BTreeMap;

use crate::answer::search;
use crate::common::network;
use furui_net::node::{Document, Node, SearchOptions};
use furui_search::{Place, Record, Scale, idf};

/// Texts in which `sieve` and `filter` occur more or less often, among other words.
fn records() -> Vec<Record> {
    let text = |number: usize| {
        let mut words = vec![format!("number{number}")];
        words.extend(vec!["sieve".to_owned(); number % 5]);
        words.extend(vec!["filter".to_owned(); number * 7 % 4]);
        words.extend((0..number * 13 % 40).map(|other| format!("other{other}")));
        words.join(" ")
    };
    let title = |number: usize| if number.is_multiple_of(50) { "a sieve" } else { "" }.to_owned();
    let record = |number| Record {
        url: format!("http://rank.example/{number}"),
        title: title(number),
        text: text(number),
        publisher: NOBODY,
    };
    (0..600).map(record).collect()
}

async fn pages(node: &Node, query: &str, limit: u64) -> (Vec<Place>, Option<Place>) {
    let mut places = Vec::new();
    let mut after = None;
    loop {
        let options = SearchOptions { limit, after, ..SearchOptions::default() };
        let answer = search(node, query, options).await.unwrap();
        places.extend(answer.places());
        let next = answer.cursor;
        if next.is_none() || places.len() >= 100 {
            return (places, next);
        }
        after = next;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_gives_the_best_documents_in_one_order() {
    let nodes = network(5).await;
    let documents = all_by(&nodes[0], records().iter().map(|record| Document::new(record).unwrap()));
    let published = nodes[0].publishes(documents.clone(), false).await.unwrap();
    assert_eq!((published.new, published.scarce), (600, 0));

    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    // All documents are short.
    let scale = Scale::new(*Scale::LENGTHS.start());
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    documents.iter().flat_map(|document| &document.words).for_each(|(word, _)| *sizes.entry(word).or_default() += 1);
    for query in ["sieve", "filter sieve", "sieve filter other3", "sieve -other3"] {
        let must: Vec<&str> = query.split(' ').filter(|word| !word.starts_with('-')).collect();
        let longest = must.iter().map(|word| sizes[word]).max().unwrap();
        let score = |document: &&Document| {
            let words: BTreeMap<&str, _> = document.words.iter().map(|(word, weight)| (&**word, *weight)).collect();
            let fits = !query.contains('-') || !words.contains_key("other3");
            let must = must.iter().map(|word| Some((*word, idf(longest, sizes[word]), *words.get(word)?)));
            Some(Place { score: score_of(scale, must.collect::<Option<Vec<_>>>()?), id: document.id }).filter(|_| fits)
        };
        let mut truth: Vec<Place> = documents.iter().filter_map(|document| score(&document)).collect();
        truth.sort_unstable();
        for node in &nodes {
            let (places, next) = pages(node, query, 20).await;
            assert_eq!(places, truth[..truth.len().min(100)], "{query}");
            assert_eq!(next.is_some(), truth.len() > 100);
        }
    }
}
