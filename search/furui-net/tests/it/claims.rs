//! Nodes that state of documents what the documents' records disprove. Each test names an attack.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use crate::common::{Publishes, all_by, by, config, document, find, network, url};
use furui_net::net::{Identity, Net};
use furui_net::node::{Document, Node};
use furui_search::{Act, ContentId, Listed, Record, Refusal, Request, Response, Weight, WordPostings, limits};
use tokio::time::timeout;

const COUNT: usize = 60;
/// How long a test waits for what comes soon.
const LONG: Duration = Duration::from_secs(60);

/// The weight that ranks highest.
fn highest() -> Weight {
    Weight::of_bits(Weight::PLAIN_USE | 15, 1).unwrap()
}

/// A network of five nodes with documents, and a hostile peer.
async fn attacked() -> (Vec<Node>, Net) {
    let nodes = network(5).await;
    assert_eq!(nodes[1].publishes((0..COUNT).map(document).collect(), false).await.unwrap().new, COUNT as u64);
    let stranger = stranger(&nodes).await;
    (nodes, stranger)
}

/// A peer that keeps nothing.
async fn stranger(nodes: &[Node]) -> Net {
    let mut config = config(Some(&nodes[0]));
    // A check may wait for keepers of records that do not answer.
    config.call_timeout = LONG;
    let (net, mut inbound) = Net::start(config).await.unwrap();
    net.joined().await;
    tokio::spawn(async move {
        while let Some(asked) = inbound.recv().await {
            let response = handed_over(&Request::decode(&asked.request).unwrap(), &[]);
            asked.reply.send(response.encode().unwrap()).unwrap();
        }
    });
    net
}

/// The publisher of what the hostile peers bring.
static EVIL: LazyLock<Identity> = LazyLock::new(Identity::generate);

async fn store(from: &Net, to: &Node, postings: Vec<WordPostings>, records: &[Document]) -> Response {
    let sign = |document: &Document| EVIL.sign(Act::Publish, document.id, u32::MAX);
    let records = records.iter().map(|it| (sign(it), it.record.clone())).collect();
    let request = Request::Store { postings, records }.encode().unwrap();
    Response::decode(&from.call(&to.net().me(), request).await.unwrap()).unwrap()
}

/// The true postings of a document.
fn truth(document: &Document) -> Vec<WordPostings> {
    document.words.iter().map(|(word, weight)| (word.clone(), vec![(document.id, *weight)])).collect()
}

/// Postings of documents that do not exist.
fn junk(count: u32) -> Vec<(ContentId, Weight)> {
    let id = |number: u32| {
        let mut id = [0xee; ContentId::BYTES];
        id[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_le_bytes());
        ContentId::new(id)
    };
    let ids: BTreeSet<ContentId> = (0..count).map(id).collect();
    ids.into_iter().map(|id| (id, highest())).collect()
}

fn page(url: &str, title: &str, text: &str) -> Document {
    Document::new(&Record { url: url.into(), title: title.into(), text: text.into(), publisher: EVIL.publisher() })
        .unwrap()
}

/// Checks that each node finds the documents that were published, and no other.
async fn finds_the_same(nodes: &[Node]) {
    for node in nodes {
        for (query, fits) in [("ca", 0), ("document cd", 3)] {
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
        before.push(length(&stranger, node, "ca").await);
    }
    for node in &nodes {
        let postings = vec![("ca".to_owned(), junk(20_000))];
        assert_eq!(store(&stranger, node, postings, &[]).await, Response::Refused(Refusal::Unproven));
        assert!(reasons(node.net()).contains("no node has the records"));
    }
    for (node, before) in nodes.iter().zip(before) {
        assert_eq!(length(&stranger, node, "ca").await, before);
    }
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_states_a_false_weight_is_refused_and_what_it_brought_goes() {
    let (nodes, stranger) = attacked().await;
    let earlier = page("http://evil.example/1", "", "an earlier page");
    let forged = page("http://evil.example/2", "a false title", "c0 once among other words");
    for node in &nodes {
        let pages = [earlier.clone(), forged.clone()];
        assert!(matches!(store(&stranger, node, vec![], &pages).await, Response::Stored { .. }));
        assert!(matches!(store(&stranger, node, truth(&earlier), &[]).await, Response::Stored { .. }));
    }
    assert!(find(&nodes[0], "earlier").await.unwrap().contains("http://evil.example/1"));
    for node in &nodes {
        let postings = vec![("ca".to_owned(), vec![(forged.id, highest())])];
        assert_eq!(store(&stranger, node, postings, &[]).await, Response::Refused(Refusal::Invalid));
        assert!(reasons(node.net()).contains("disproves"));
        // Nothing more is taken from it, not even what is true.
        assert_eq!(store(&stranger, node, truth(&forged), &[]).await, Response::Refused(Refusal::Invalid));
        assert_eq!(length(&stranger, node, "earlier").await, 0);
    }
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_that_a_document_does_not_hold_are_refused() {
    let (nodes, stranger) = attacked().await;
    let page = page("http://evil.example/1", "", "a page of many words");
    for node in &nodes {
        store(&stranger, node, vec![], std::slice::from_ref(&page)).await;
        let absent = vec![("ca".to_owned(), vec![(page.id, page.words[0].1)])];
        assert_eq!(store(&stranger, node, absent, &[]).await, Response::Refused(Refusal::Invalid));
    }
    finds_the_same(&nodes).await;
}

/// Brings so many documents to a node that a small message is hardly ever checked any more. Returns the documents.
async fn become_known(stranger: &Net, node: &Node) -> Vec<Document> {
    let pages: Vec<Document> =
        (0..80).map(|number| page(&format!("http://evil.example/{number}"), "", &format!("page x{number}"))).collect();
    store(stranger, node, vec![], &pages).await;
    for two in pages.chunks(2) {
        let postings = two.iter().flat_map(truth).collect();
        assert!(matches!(store(stranger, node, postings, &[]).await, Response::Stored { .. }));
    }
    pages
}

async fn doubt(from: &Net, to: &Node, claims: &[(&str, ContentId)]) {
    let claims = claims.iter().map(|(word, id)| (word.to_string(), *id)).collect();
    let answer = from.call(&to.net().me(), Request::Doubt { claims }.encode().unwrap()).await.unwrap();
    assert_eq!(Response::decode(&answer).unwrap(), Response::Stored { new: 0 });
}

/// Waits until a word's list at a node has this length.
async fn reaches(asking: &Net, node: &Node, word: &str, expected: u64) {
    let waiting = async {
        while length(asking, node, word).await != expected {
            tokio::task::yield_now().await;
        }
    };
    if timeout(LONG, waiting).await.is_err() {
        panic!("{} postings of {word}, not {expected}", length(asking, node, word).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_was_honest_for_long_is_found_out_too() {
    let (nodes, stranger) = attacked().await;
    let pages = become_known(&stranger, &nodes[0]).await;
    assert_eq!(length(&stranger, &nodes[0], "x7").await, 1);
    // Most small messages of a known publisher are not checked. A large one is.
    let forged: Vec<(ContentId, Weight)> = pages.iter().map(|page| (page.id, highest())).collect();
    let words: Vec<WordPostings> = (0..60).map(|word| (format!("forged{word}"), forged.clone())).collect();
    assert!(words.len() * forged.len() >= 4096 && forged.len() < limits::IDS);
    assert_eq!(store(&stranger, &nodes[0], words, &[]).await, Response::Refused(Refusal::Invalid));
    assert_eq!(length(&stranger, &nodes[0], "x7").await, 0);
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_false_posting_on_the_document_of_another_is_found_out_whoever_brings_it() {
    let (nodes, stranger) = attacked().await;
    become_known(&stranger, &nodes[0]).await;
    let victim = by(&nodes[1], &document(3));
    // What is true is taken.
    assert!(matches!(store(&stranger, &nodes[0], truth(&victim), &[]).await, Response::Stored { .. }));
    let forged = vec![("ca".to_owned(), vec![(victim.id, highest())])];
    assert_eq!(store(&stranger, &nodes[0], forged, &[]).await, Response::Refused(Refusal::Invalid));
    assert_eq!(length(&stranger, &nodes[0], "x7").await, 0);
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_a_liar_brought_before_its_publisher_stays() {
    let (nodes, stranger) = attacked().await;
    // The publisher has given its signatures away before it publishes.
    let mut of_publisher = config(Some(&nodes[0]));
    of_publisher.identity = EVIL.clone();
    let publisher = Node::start(None, of_publisher).await.unwrap();
    publisher.net().joined().await;
    let late: Vec<Document> =
        (0..5).map(|number| page(&format!("http://late.example/{number}"), "", "a late page of late words")).collect();
    for node in &nodes {
        assert!(matches!(store(&stranger, node, vec![], &late).await, Response::Stored { .. }));
        for page in &late {
            // It leaves out a word, so that the publisher brings something new.
            let mut some = truth(page);
            some.retain(|(word, _)| word != "words");
            assert!(matches!(store(&stranger, node, some, &[]).await, Response::Stored { .. }));
        }
    }
    assert_eq!(publisher.publish(late.clone(), false).await.unwrap().new, 5);
    for node in &nodes {
        let forged = vec![("ca".to_owned(), vec![(late[0].id, highest())])];
        assert_eq!(store(&stranger, node, forged, &[]).await, Response::Refused(Refusal::Invalid));
    }
    for node in &nodes {
        assert_eq!(find(node, "late words").await.unwrap().len(), 5);
    }
    publisher.shutdown().await;
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_doubt_convicts_who_brought_what_is_false_and_nobody_else() {
    let (nodes, honest) = attacked().await;
    let (stranger, node) = (stranger(&nodes).await, &nodes[0]);
    let pages = become_known(&stranger, node).await;
    // Of the small messages of a known publisher, one in some hundred is checked.
    let before = length(&honest, node, "ca").await;
    let forged = vec![("ca".to_owned(), vec![(pages[1].id, highest())])];
    if store(&stranger, node, forged, &[]).await == (Response::Stored { new: 1 }) {
        assert_eq!(length(&honest, node, "ca").await, before + 1);
    }
    // True postings are doubted, too, and some that are in no list.
    let (three, four) = (by(&nodes[1], &document(3)), by(&nodes[1], &document(4)));
    doubt(&honest, node, &[("cd", three.id), ("document", four.id), ("cg", three.id), ("ca", pages[1].id)]).await;
    reaches(&honest, node, "ca", before).await;
    assert_eq!(length(&honest, node, "x7").await, 0);
    assert!(reasons(node.net()).contains("disproves"));
    finds_the_same(&nodes).await;
}

/// The answer of a node that hands over these lists, and nothing else.
fn handed_over(request: &Request, lists: &[WordPostings]) -> Response {
    match request {
        Request::Compare { from, .. } => {
            let lists = lists.iter().filter(|(word, _)| word > from);
            let lists = lists.map(|(word, ids)| (word.clone(), ids.len() as u64, 1)).collect();
            Response::Compared { state: 1, lists, more: false }
        }
        Request::List { words, .. } => {
            let of_word = |word: &String| lists.iter().find(|(other, _)| other == word).cloned();
            let listed = words.iter().map(|word| {
                let (ids, weights): (Vec<_>, Vec<_>) = of_word(word).unwrap_or_default().1.into_iter().unzip();
                Listed { days: vec![29; ids.len()], ids, weights, more: false }
            });
            Response::Listed(listed.collect())
        }
        Request::Withdrawn { .. } => Response::Withdrawals { withdrawals: vec![], more: false },
        _ => Response::Refused(Refusal::Failed),
    }
}

/// A node that hands over lists of its own making.
async fn neighbour(nodes: &[Node], lists: Vec<WordPostings>) -> Net {
    let (net, mut inbound) = Net::start(config(Some(&nodes[0]))).await.unwrap();
    net.joined().await;
    tokio::spawn(async move {
        while let Some(asked) = inbound.recv().await {
            let response = handed_over(&Request::decode(&asked.request).unwrap(), &lists);
            asked.reply.send(response.encode().unwrap()).unwrap();
        }
    });
    net.refresh().await;
    for node in nodes {
        node.net().refresh().await;
    }
    net
}

async fn repaired(nodes: &[Node]) {
    let all = futures::future::join_all(nodes.iter().map(Node::repaired));
    timeout(2 * LONG, all).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_neighbours_hand_over_the_false_is_left_out() {
    let (nodes, honest) = attacked().await;
    repaired(&nodes).await;
    let mut before = vec![];
    for node in &nodes {
        before.push(length(&honest, node, "ca").await);
    }
    // Documents that exist, but do not hold the word.
    let mut forged: Vec<(ContentId, Weight)> = (0..COUNT)
        .filter(|number| number % 7 == 1)
        .map(|number| (by(&nodes[1], &document(number)).id, highest()))
        .collect();
    forged.sort_unstable_by_key(|(id, _)| *id);
    let liar = neighbour(&nodes, vec![("ca".to_owned(), junk(100)), ("cd".to_owned(), forged)]).await;
    repaired(&nodes).await;
    for (node, before) in nodes.iter().zip(before) {
        assert!(length(&honest, node, "ca").await <= before);
    }
    liar.shutdown().await;
    finds_the_same(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_false_posting_that_was_taken_over_is_corrected_when_it_is_doubted() {
    let (nodes, honest) = attacked().await;
    repaired(&nodes).await;
    let all = all_by(&nodes[1], (0..COUNT).map(document));
    // A word that no document holds. If the sample finds it out, the list is left out; if not, a doubt corrects it.
    let mut forged: Vec<(ContentId, Weight)> = all.iter().map(|it| (it.id, it.words[0].1)).collect();
    forged.sort_unstable_by_key(|(id, _)| *id);
    let mut some: Vec<WordPostings> = vec![("forged".to_owned(), vec![forged[0]])];
    some.extend(all.iter().flat_map(truth).filter(|(word, _)| word.starts_with('c')).take(1));
    let mut list: Vec<(ContentId, Weight)> =
        all.iter().flat_map(truth).filter(|it| it.0 == "kb").map(|it| it.1[0]).collect();
    list.sort_unstable_by_key(|(id, _)| *id);
    some.push(("kb".to_owned(), list));
    some.sort();
    let liar = neighbour(&nodes, some).await;
    repaired(&nodes).await;
    for node in &nodes {
        doubt(&honest, node, &[("forged", forged[0].0)]).await;
        reaches(&honest, node, "forged", 0).await;
    }
    liar.shutdown().await;
    finds_the_same(&nodes).await;
}
