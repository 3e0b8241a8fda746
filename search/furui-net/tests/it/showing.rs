//! What is shown of a document is true, whatever a keeper of a list or of a record says.

use crate::local;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::answer::best;
use crate::common::{NOBODY, Publishes, by, config, find, network, score_of};
use furui_net::net::{Identity, Net};
use furui_net::node::{Document, Hit, Node};
use furui_search::{
    ContentId, Grade, Listed, Part, Place, PublisherKey, Record, Refusal, Report, Request, Response, Scale, Showings,
    Shown, ShownDocument, Signature, Snippet, Weight,
};

/// Texts in which `sieve` occurs more or less often.
fn record(number: usize) -> Record {
    let mut words = vec![format!("number{number}")];
    words.extend(vec!["sieve".to_owned(); 1 + number % 7]);
    words.extend((0..number * 13 % 40).map(|other| format!("other{other}")));
    Record {
        url: format!("http://true.example/{number}"),
        title: format!("Title {number}"),
        text: words.join(" "),
        publisher: NOBODY,
    }
}

fn documents(count: usize) -> Vec<Document> {
    (0..count).map(|number| Document::new(&record(number)).unwrap()).collect()
}

/// How a keeper of records treats requests to show them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Denies,
    SaysUnfit,
    SaysWithdrawn,
    FalseTitle,
    FalseWeights,
    FalseSnippet,
    ShowsOnly,
}

/// Joins as a node that refuses everything but to keep records and to show them.
async fn join(first: &Node, manner: Manner) -> Net {
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
                    let showings = Showings::new(&clauses).unwrap();
                    let show = |(id, part)| shown(manner, kept.get(&id), part, &showings);
                    Response::Shown { documents: documents.into_iter().map(show).collect(), settled: true }
                }
                Request::Withdraw { .. } => Response::Withdrawn { gone: 0 },
                // It has nothing to hand over.
                Request::Compare { .. } => Response::Compared { state: 1, lists: vec![], more: false },
                Request::List { words, .. } => Response::Listed(vec![Listed::default(); words.len()]),
                Request::Withdrawn { .. } => Response::Withdrawals { withdrawals: vec![], more: false },
                _ => Response::Refused(Refusal::Busy),
            };
            let _ = asked.reply.send(response.encode().unwrap());
        }
    });
    net
}

fn shown(manner: Manner, record: Option<&(Signature, Vec<u8>)>, part: Part, showings: &Showings<'_>) -> Shown {
    let Some(&(signature, ref record)) = record else { return Shown::Unknown };
    let (_, mut showing) = showings.view(&Record::decode(record).unwrap());
    match manner {
        Manner::Denies => return Shown::Unknown,
        Manner::SaysWithdrawn => {
            let publisher = PublisherKey::new([9; PublisherKey::BYTES]);
            return Shown::Withdrawn { publisher, signature };
        }
        Manner::SaysUnfit if part == Part::Snippet => return Shown::Unfit,
        Manner::ShowsOnly if part == Part::Record => return Shown::Unknown,
        Manner::FalseTitle => showing.head.title = "A false title".into(),
        Manner::FalseWeights => showing.grades.fill(Grade::of_bits(15 << 4)),
        Manner::FalseSnippet => {
            showing.snippet.text = "buy a sieve here".into();
            showing.snippet.marks.clear();
            showing.snippet.marks.push(6..11);
        }
        Manner::SaysUnfit | Manner::ShowsOnly => {}
    }
    match part {
        Part::Snippet => Shown::Document(Box::new(ShownDocument { showing, signature, others: vec![] })),
        Part::Presence => Shown::Kept { others: vec![] },
        // It withholds the records that would prove it wrong.
        Part::Record | Part::Version | Part::Publisher => Shown::Unknown,
    }
}

/// True if this is what the record says, and the score that of its weight in a query of one word.
fn is_true(hit: &Hit) -> bool {
    let number = hit.url.rsplit('/').next().unwrap().parse().unwrap();
    let record = record(number);
    let snippet = Snippet { title_marks: vec![], text: hit.snippet.clone(), marks: vec![] };
    let score = score_of(Scale::new(0), [("sieve", 1024, record.postings()["sieve"])]);
    let score = f64::from(score) / f64::from(Place::ONE);
    (&hit.url, &hit.title, hit.score) == (&record.url, &record.title, score) && snippet.is_of(&record.text)
}

/// Two of the six nodes, so sometimes two of the three keepers of a document, do not tell the truth.
async fn shown_in_spite_of(manner: Manner) {
    let (nodes, hostile) = loop {
        let nodes = network(4).await;
        let hostile = [join(&nodes[0], manner).await, join(&nodes[0], manner).await];
        // Whoever keeps the list, and refuses to read it, leaves one answer that nobody confirms, which is not whole.
        let peers = nodes.iter().map(|node| node.net().me()).chain(hostile.iter().map(Net::me));
        let keepers = local::keepers_among(peers.collect(), "sieve");
        if hostile.iter().all(|net| !keepers.contains(&net.me())) {
            break (nodes, hostile);
        }
        shut_down(&nodes, hostile).await;
    };
    for node in &nodes {
        node.net().refresh().await;
    }
    local::repaired(&nodes).await;
    assert_eq!(nodes[1].publishes(documents(40), false).await.unwrap().new, 40);
    let mut first: Option<Vec<Place>> = None;
    for node in nodes.iter().cycle().take(12) {
        let answer = best(node, "sieve", 10).await;
        assert!(answer.whole && answer.cursor.is_some(), "{manner:?}: {:?}", answer.report);
        let places = answer.places();
        assert_eq!(places.len(), 10, "{manner:?}: a page stays full");
        assert_eq!(*first.get_or_insert(places.clone()), places, "{manner:?}");
        assert!(manner == Manner::FalseSnippet || answer.hits.iter().all(is_true), "{manner:?}");
    }
    if manner == Manner::FalseSnippet {
        // Who is caught once is not asked first for a while.
        for node in &nodes {
            let mut true_pages = 0;
            for _ in 0..200 {
                let is_true = best(node, "sieve", 10).await.hits.iter().all(is_true);
                true_pages = if is_true { true_pages + 1 } else { 0 };
                if true_pages == 20 {
                    break;
                }
            }
            assert_eq!(true_pages, 20);
        }
    }
    shut_down(&nodes, hostile).await;
}

async fn shut_down(nodes: &[Node], hostile: [Net; 2]) {
    for net in hostile {
        net.shutdown().await;
    }
    local::shut_down(nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_denies_a_document_does_not_hide_it() {
    shown_in_spite_of(Manner::Denies).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_says_that_a_document_does_not_fit_does_not_hide_it() {
    shown_in_spite_of(Manner::SaysUnfit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_claims_a_withdrawal_without_the_key_does_not_hide_a_document() {
    shown_in_spite_of(Manner::SaysWithdrawn).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_false_title_is_not_shown() {
    shown_in_spite_of(Manner::FalseTitle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn false_weights_change_no_order() {
    shown_in_spite_of(Manner::FalseWeights).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_shows_false_snippets_is_found_out() {
    shown_in_spite_of(Manner::FalseSnippet).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_withholds_records_does_not_hide_them() {
    shown_in_spite_of(Manner::ShowsOnly).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn false_postings_neither_push_documents_up_nor_push_others_off_the_page() {
    let nodes = local::network(5).await;
    // Most documents do not have the word, so that the length of its list does not round scores to a few numbers.
    let fill = |number: usize| Record {
        url: format!("u:{number}"),
        title: String::new(),
        text: format!("fill {number}"),
        publisher: NOBODY,
    };
    let fill = (0..400).map(|number| Document::new(&fill(number)).unwrap());
    nodes[0].publishes(documents(40).into_iter().chain(fill).collect(), false).await.unwrap();
    let other = Record {
        url: "http://true.example/other".into(),
        title: String::new(),
        text: "filters only".into(),
        publisher: NOBODY,
    };
    nodes[0].publishes(vec![Document::new(&other).unwrap()], false).await.unwrap();
    let before = best(&nodes[1], "sieve", 10).await;
    let all_before = best(&nodes[1], "sieve", 1000).await;
    assert_eq!((before.hits.len(), before.whole, all_before.hits.len()), (10, true, 40));

    // A stranger states that documents without a record, and one without the word, hold it; and that its own document
    // holds it most often.
    let (stranger, _inbound) = Net::start(config(Some(&nodes[0]))).await.unwrap();
    stranger.joined().await;
    let much = "nothing ".repeat(300) + "sieve";
    let forged = Record { url: "http://false.example/".into(), title: "Forged".into(), text: much, publisher: NOBODY };
    let forged = Document::new(&forged).unwrap();
    let most = Weight::of_bits(Weight::PLAIN_USE | 15, 1).unwrap();
    let mut ids: Vec<ContentId> = (0..30).map(|number| ContentId::new([number * 8; 20])).collect();
    ids.extend([by(&nodes[0], &Document::new(&other).unwrap()).id, forged.id]);
    let request = Request::Store {
        postings: vec![("sieve".into(), ids.into_iter().map(|id| (id, most)).collect())],
        records: vec![(Signature { at: 1, bytes: [1; 64] }, forged.record.clone())],
    };
    for node in &nodes {
        // Whether a node takes what is false makes no difference to what is shown.
        let _ = stranger.call(&node.net().me(), request.encode().unwrap()).await.unwrap();
    }
    stranger.shutdown().await;
    for node in &nodes {
        node.net().refresh().await;
    }
    local::repaired(&nodes).await;
    for node in &nodes {
        let answer = best(node, "sieve", 10).await;
        assert_eq!((answer.urls(), answer.whole), (before.urls(), true), "{:?}", answer.report);
        let all = best(node, "sieve", 1000).await;
        let mut urls = all.urls();
        // The stranger's document is found, too, where its words put it.
        assert!(urls.pop_if(|last| *last == "http://false.example/").is_some() || urls.len() == 40, "{urls:?}");
        assert_eq!(urls, all_before.urls());
    }
    for node in &nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_bytes_are_counted_and_no_texts_are_sent_but_for_checks() {
    let nodes = network(5).await;
    let long = |number: usize| {
        let text = (0..3000).map(|word| format!("word{} ", (word * 7919 + number * 31) % 4000)).collect::<String>();
        Document::new(&Record {
            url: format!("http://long.example/{number}"),
            title: "A title".into(),
            text,
            publisher: NOBODY,
        })
        .unwrap()
    };
    let documents: Vec<Document> = (0..60).map(long).collect();
    nodes[0].publishes(documents.clone(), false).await.unwrap();
    for node in &nodes {
        let _ = best(node, "word7", 10).await;
        let counted = || async {
            let counters = node.net().counters();
            counters.exchange_in + counters.exchange_out
        };
        let before = counted().await;
        let answer = best(node, "word7 OR word8", 10).await;
        let Report { fetched, show_messages, show_sent_bytes, show_back_bytes, .. } = answer.report;
        assert_eq!(answer.hits.len(), 10);
        assert!(fetched <= 2 && show_messages <= 2 * 4, "{:?}", answer.report);
        let bytes = show_sent_bytes + show_back_bytes;
        let of_texts = fetched * documents[0].record.len() as u64;
        assert!(bytes < 10 * 700 + of_texts, "{bytes}");
        // Nothing else but lists and answers to others is sent meanwhile.
        let wire = counted().await - before;
        assert!(wire >= bytes, "{wire} {bytes}");
    }
    for node in &nodes {
        node.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_withdrawn_while_keepers_were_away_is_not_shown_when_they_are_back() {
    let directory = std::env::temp_dir().join(format!("furui-showing-{}", std::process::id()));
    let identities: Vec<Identity> = (0..5).map(|_| Identity::generate()).collect();
    let start = async |number: usize, first: Option<&Node>| {
        let mut config = config(first);
        config.identity = identities[number].clone();
        let node = Node::start(Some(&directory.join(number.to_string())), config).await.unwrap();
        node.net().joined().await;
        node
    };
    let mut nodes = vec![start(0, None).await];
    for number in 1..5 {
        nodes.push(start(number, nodes.first()).await);
    }
    futures::future::join_all(nodes.iter().map(Node::repaired)).await;
    nodes[0].publishes(documents(60), false).await.unwrap();
    for away in nodes.drain(3..) {
        away.shutdown().await;
    }
    let url = |number| record(number).url;
    let withdrawn: Vec<String> = (0..30).map(url).collect();
    assert_eq!(nodes[0].withdraw(&withdrawn).await, Ok(vec![Some(vec![]); 30]));
    for number in 3..5 {
        nodes.push(start(number, nodes.first()).await);
    }
    let left: BTreeSet<String> = (30..60).map(url).collect();
    for node in nodes.iter().rev() {
        assert_eq!(tokio::time::timeout(Duration::from_secs(60), find(node, "sieve")).await.unwrap().unwrap(), left);
    }
    for node in &nodes {
        node.shutdown().await;
    }
    std::fs::remove_dir_all(directory).unwrap();
}
