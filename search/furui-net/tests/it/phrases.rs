//! Phrases, sites and their negations, over nodes in one process: searches find what brute force finds.

use crate::common::{NOBODY, Publishes};
use std::collections::{BTreeMap, BTreeSet};

use crate::answer::{all, best, search};
use crate::common::{config, network};
use furui_net::net::Net;
use furui_net::node::{Document, Node, SearchOptions};
use furui_search::{
    Clause, ContentId, Grade, Part, Publication, Query, Record, Refusal, Request, Response, Showings, Shown,
    ShownDocument, Signature,
};

const HOSTS: [&str; 3] = ["a.example", "www.a.example", "b.example"];
const WORDS: [&str; 7] = ["the", "new", "york", "times", "東京", "タワー", "of"];

/// Random texts of a few words, the same in every run.
fn records(count: usize) -> Vec<Record> {
    let mut state = 7_usize;
    let mut below = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut text = |words: usize| (0..words).map(|_| WORDS[below(WORDS.len())]).collect::<Vec<_>>().join(" ");
    let record = |number| Record {
        url: format!("http://{}/{number}", HOSTS[number % 3]),
        title: text(2),
        text: text(6),
        publisher: NOBODY,
    };
    (0..count).map(record).collect()
}

fn document(record: &Record) -> Document {
    Document::new(record).unwrap()
}

/// True if a text of the record has these words, one after the other.
fn has(record: &Record, phrase: &str) -> bool {
    [&record.title, &record.text].into_iter().any(|text| format!(" {text} ").contains(&format!(" {phrase} ")))
}

fn on(record: &Record, site: &str) -> bool {
    let host = record.url.split('/').nth(2).unwrap();
    host == site || host.ends_with(&format!(".{site}"))
}

type Fits = fn(&Record) -> bool;

const QUERIES: [(&str, Fits); 14] = [
    ("\"new york\"", |it| has(it, "new york")),
    ("\"the new york\"", |it| has(it, "the new york")),
    ("york \"new york\" -the", |it| has(it, "new york") && !has(it, "the")),
    ("new york -\"new york\"", |it| has(it, "new") && has(it, "york") && !has(it, "new york")),
    ("-\"the new\" -「東京 タワー」 new 東京", |it| {
        has(it, "new") && has(it, "東京") && !has(it, "the new") && !has(it, "東京 タワー")
    }),
    ("「東京 タワー」", |it| has(it, "東京 タワー")),
    ("“new york” OR 「東京 タワー」", |it| has(it, "new york") || has(it, "東京 タワー")),
    ("(\"of the\" OR york) site:a.example", |it| (has(it, "of the") || has(it, "york")) && on(it, "a.example")),
    ("site:www.a.example", |it| on(it, "www.a.example")),
    ("site:a.example -site:www.a.example -\"of the\"", |it| {
        on(it, "a.example") && !on(it, "www.a.example") && !has(it, "of the")
    }),
    ("times OR site:b.example", |it| has(it, "times") || on(it, "b.example")),
    ("the of", |it| has(it, "the") && has(it, "of")),
    ("\"times times\"", |it| has(it, "times times")),
    ("「東京タワー」", |_| false),
];

/// All documents, page by page. Each page is as full as possible, and the next one continues after it.
async fn pages(node: &Node, query: &str) -> Vec<String> {
    let (mut urls, mut after) = (Vec::new(), None);
    loop {
        let options = SearchOptions { limit: 7, after, ..SearchOptions::default() };
        let page = search(node, query, options).await.unwrap();
        assert!(page.hits.len() == 7 || page.cursor.is_none(), "{query}: {} on a page", page.hits.len());
        urls.extend(page.urls());
        after = page.cursor;
        if after.is_none() {
            return urls;
        }
    }
}

fn expected(records: &[Record], fits: Fits) -> BTreeSet<String> {
    records.iter().filter(|record| fits(record)).map(|record| record.url.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phrases_and_sites_find_what_brute_force_finds() {
    let nodes = network(5).await;
    let records = records(300);
    let published = nodes[0].publishes(records.iter().map(document).collect(), false).await.unwrap();
    assert_eq!(published.new, 300);
    for (node, (query, fits)) in nodes.iter().cycle().zip(QUERIES) {
        let expected = expected(&records, fits);
        assert!(query == "「東京タワー」" || !expected.is_empty(), "{query} is too hard");
        let answer = search(node, query, all()).await.unwrap();
        assert_eq!((answer.cursor, answer.whole), (None, true), "{query}");
        assert_eq!(BTreeSet::from_iter(answer.urls()), expected, "{query}");

        // The documents come in the same order on every node and on pages of any length.
        let ranked = best(&nodes[0], query, 1000).await;
        assert_eq!((ranked.cursor, ranked.whole, ranked.urls()), (None, true, answer.urls()), "{query}");
        assert_eq!(pages(node, query).await, ranked.urls(), "{query}, page by page");

        let has_phrases = Query::parse(query).unwrap().clauses().iter().any(Clause::has_phrases);
        let checked = answer.report.checked;
        assert!(if has_phrases { checked >= expected.len() as u64 } else { checked == 0 }, "{query}: {checked}");
    }
    for node in &nodes {
        node.shutdown().await;
    }
}

/// Joins as a node that refuses to search, and sends any requested record that it has, whether it fits or not.
async fn join_as_liar(first: &Node) -> Net {
    let (net, mut inbound) = Net::start(config(Some(first))).await.unwrap();
    net.joined().await;
    tokio::spawn(async move {
        let mut kept: BTreeMap<ContentId, (Signature, Vec<u8>)> = BTreeMap::new();
        while let Some(asked) = inbound.recv().await {
            let response = match Request::decode(&asked.request).unwrap() {
                Request::Store { records, .. } => {
                    let new = records.len() as u64;
                    kept.extend(records.into_iter().map(|(by, record)| (ContentId::of(&record), (by, record))));
                    Response::Stored { new }
                }
                Request::Show { documents, clauses } => {
                    // It makes up what to show of a document that does not fit.
                    let show = |(id, part): (ContentId, Part)| {
                        let Some(&(signature, ref record)) = kept.get(&id) else { return Shown::Unknown };
                        if part == Part::Record {
                            let packed = zstd::bulk::compress(record, 1).unwrap();
                            let publication = Publication { signature, first: 0, network: 0 };
                            let record = [&(record.len() as u32).to_le_bytes()[..], &packed].concat();
                            return Shown::Record { publication, record };
                        }
                        let record = Record::decode(record).unwrap();
                        let (_, mut showing) = Showings::new(&clauses).unwrap().view(&record);
                        showing.grades.fill(Some(Grade::default()));
                        match part {
                            Part::Presence => Shown::Kept { others: vec![] },
                            _ => Shown::Document(Box::new(ShownDocument { showing, signature, others: vec![] })),
                        }
                    };
                    Response::Shown { documents: documents.into_iter().map(show).collect(), settled: true }
                }
                _ => Response::Refused(Refusal::Busy),
            };
            let _ = asked.reply.send(response.encode().unwrap());
        }
    });
    net
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_says_that_everything_fits_is_not_believed() {
    let nodes = network(4).await;
    let liar = join_as_liar(&nodes[0]).await;
    for node in &nodes {
        node.net().refresh().await;
    }
    let records = records(90);
    let published = nodes[1].publishes(records.iter().map(document).collect(), false).await.unwrap();
    assert_eq!(published.new, 90);
    for (query, fits) in QUERIES {
        let answer = search(&nodes[2], query, all()).await.unwrap();
        assert_eq!(BTreeSet::from_iter(answer.urls()), expected(&records, fits), "{query}");
    }
    liar.shutdown().await;
    for node in &nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phrase_of_the_commonest_words_is_found_by_their_neighbours() {
    let nodes = network(4).await;
    // Every text has all words, and few have them one after the other.
    let text = |number: usize| match number % 100 {
        7 => "whether to be or not to be is not the question".to_owned(),
        _ => format!("the or not question {number} be of to is to, and in the end not to"),
    };
    let record =
        |number| Record { url: format!("u:{number}"), title: String::new(), text: text(number), publisher: NOBODY };
    let records: Vec<Record> = (0..600).map(record).collect();
    for batch in records.chunks(256) {
        nodes[0].publishes(batch.iter().map(document).collect(), false).await.unwrap();
    }
    for (query, found, read) in [
        ("\"to be or not to be\"", 6, 6),
        ("\"is not the\"", 6, 6),
        ("\"be is the\"", 0, 0),
        ("\"in the end\"", 256, 256),
        ("\"of to is\" -whether", 256, 256),
    ] {
        let answer = search(&nodes[1], query, all()).await.unwrap();
        assert_eq!((answer.hits.len(), answer.report.checked), (found, read), "{query}");
        assert_eq!(answer.report.bounded, read == 256, "{query}");
    }
    for node in &nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_finds_little_among_much_ends_with_a_cursor() {
    let nodes = network(1).await;
    let record = |number: usize| Record {
        url: format!("u:{number}"),
        title: String::new(),
        text: if number.is_multiple_of(1500) { "new york".into() } else { format!("york new {number}") },
        publisher: NOBODY,
    };
    let records: Vec<Record> = (0..4500).map(record).collect();
    for batch in records.chunks(256) {
        nodes[0].publishes(batch.iter().map(document).collect(), false).await.unwrap();
    }
    let (mut urls, mut after, mut searches) = (BTreeSet::new(), None, 0);
    loop {
        let options = SearchOptions { after, ..SearchOptions::default() };
        let page = search(&nodes[0], "\"new york\"", options).await.unwrap();
        assert!(page.report.checked <= 256 && page.report.bounded == page.cursor.is_some(), "{:?}", page.report);
        urls.extend(page.urls());
        searches += 1;
        after = page.cursor;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(urls, BTreeSet::from(["u:0".into(), "u:1500".into(), "u:3000".into()]));
    assert_eq!(searches, 4500_u32.div_ceil(256));
    nodes[0].shutdown().await;
}
