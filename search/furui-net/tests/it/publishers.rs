//! Of the documents of one URL, one is shown, and its publishers are named: nobody takes the place of others.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use crate::answer::best;
use crate::common::{Publishes, UNSIGNED, all_by, config, network, signed};
use crate::face::get;
use furui_net::http::{ServeOptions, serve};
use furui_net::net::{Identity, Net};
use furui_net::node::{Block, Document, DocumentError, FURTHER, Node};
use furui_search::{ContentId, Place, PublisherKey, Record, Refusal, Request, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_texts_of_a_url_can_be_read() {
    let nodes = network(5).await;
    let [site, a, b, reader, _] = &nodes[..] else { panic!() };
    publish(&[site], "a page about a sieve").await;
    publish(&[a, b], "sieve sieve").await;
    let answer = best(reader, "sieve", 10).await;
    let id = answer.hits[0].also[0].id;
    let kept = reader.document(id).await.unwrap();
    assert_eq!((kept.id, kept.url.as_str(), kept.text.as_str(), kept.trusted), (id, URL, "sieve sieve", false));
    let keys = |of: &[&Node]| of.iter().map(|node| node.publisher()).collect::<BTreeSet<_>>();
    assert_eq!(kept.publishers.iter().copied().collect::<BTreeSet<_>>(), keys(&[a, b]));
    assert_eq!(reader.document(answer.hits[0].id).await.unwrap().text, "a page about a sieve");
    // Whom the owner trusts is named first, and whom he blocks is not named.
    assert_eq!(reader.trust(&[b.publisher()], true).unwrap(), 1);
    let kept = reader.document(id).await.unwrap();
    assert_eq!((kept.publishers, kept.trusted), (vec![b.publisher(), a.publisher()], true));
    let block = |node: &Node| Block::Peer(node.publisher().to_string());
    reader.block(&[block(b)], true).await.unwrap();
    assert_eq!(reader.document(id).await.unwrap().publishers, [a.publisher()]);
    reader.block(&[block(a)], true).await.unwrap();
    assert_eq!(reader.document(id).await, Err(DocumentError::Blocked(id)));
    reader.block(&[block(a), block(b)], false).await.unwrap();
    reader.block(&["site.example".parse().unwrap()], true).await.unwrap();
    assert_eq!(reader.document(id).await, Err(DocumentError::Blocked(id)));
    reader.block(&["site.example".parse().unwrap()], false).await.unwrap();

    // What was withdrawn is not there for anybody, nor is what never was.
    for node in [a, b] {
        assert_eq!(node.withdraw(&[URL.into()]).await.unwrap().len(), 1);
    }
    // A keeper that was too slow to be told hears of it from the others.
    let told = async {
        while reader.document(id).await != Err(DocumentError::Unknown(id)) {
            futures::future::join_all(nodes.iter().map(Node::repaired)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told).await.unwrap();
    let unknown = ContentId::new([9; ContentId::BYTES]);
    assert_eq!(reader.document(unknown).await, Err(DocumentError::Unknown(unknown)));
    shut_down(&nodes).await;
}

/// Serves the pages of a node.
async fn pages(node: &Node) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, node.clone(), ServeOptions::default(), std::future::pending()));
    address
}

/// A page of results as a browser shows it.
struct Page {
    /// The URLs of the results that have a place, in their order.
    placed: Vec<String>,
    /// The ranks and URLs of all results.
    all: BTreeSet<(u64, String)>,
    text: String,
}

impl Page {
    fn get(address: SocketAddr, path: &str) -> Self {
        let (status, text) = get(address, path).answer();
        assert_eq!(status, 200, "{text}");
        let until_quote = |text: &str| text.split('"').next().unwrap().to_owned();
        let urls = |text: &str| text.split("<h2><a href=\"").skip(1).map(until_quote).collect::<Vec<String>>();
        let ranks = text.split("<li value=\"").skip(1).map(|item| until_quote(item).parse().unwrap());
        let all: BTreeSet<(u64, String)> = ranks.zip(urls(&text)).collect();
        assert_eq!(all.len(), urls(&text).len());
        Self { placed: urls(text.split("<details").next().unwrap()), all, text }
    }

    /// The path of the page to which the link of this kind leads.
    fn link(&self, kind: &str) -> Option<String> {
        let (_, rest) = self.text.split_once(&format!("<a rel=\"{kind}\" href=\""))?;
        Some(rest.split('"').next().unwrap().replace("&amp;", "&"))
    }

    fn count(&self, host: &str) -> usize {
        self.placed.iter().filter(|url| url.contains(host)).count()
    }
}

/// The answer to a program: the URLs of the results, and the document or its last line.
struct Answer {
    urls: Vec<String>,
    end: Value,
}

fn asked(address: SocketAddr, path: &str) -> Answer {
    let (status, text) = get(address, path).answer();
    assert_eq!(status, 200, "{text}");
    let end: Value = serde_json::from_str(&text).unwrap();
    Answer { urls: urls(end["results"].as_array().unwrap()), end }
}

fn lines(address: SocketAddr, path: &str) -> Answer {
    let (status, text) = get(address, path).answer();
    assert_eq!(status, 200, "{text}");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.pop().unwrap();
    Answer { urls: urls(&lines), end }
}

fn urls(hits: &[Value]) -> Vec<String> {
    hits.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
}

/// A long document about a sieve, unlike those of other URLs, which ranks behind short ones.
fn honest(url: &str) -> Document {
    let words = (0..200).map(|number| format!("and {} more of {url}, ", number * number % 397));
    document(url, &format!("honest words about a sieve, of {url}, {}", words.collect::<String>()))
}

/// Publishes so many short documents about a sieve.
async fn publish_loud(node: &Node, count: usize) {
    let url = |number| format!("http://loud{number}.example/");
    let text = |number| format!("a sieve {number}");
    let records = (0..count).map(|number| Record { title: "A sieve".into(), ..record(&url(number), &text(number)) });
    let documents = all_by(node, records.map(|record| Document::new(&record).unwrap()));
    for some in documents.chunks(256) {
        node.publish(some.to_vec(), false).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_forty_documents_above_ten_honest_ones_does_not_fill_the_page() {
    let nodes = network(7).await;
    let [loud, reader, others @ ..] = &nodes[..] else { panic!() };
    publish_loud(loud, 40).await;
    for (number, node) in others.iter().enumerate() {
        let url = |page| format!("http://honest{number}-{page}.example/");
        let documents = (0..2).map(|page| honest(&url(page)));
        node.publishes(documents.collect(), false).await.unwrap();
    }
    let address = pages(reader).await;
    for query in ["sieve", "a+sieve", "%22a+sieve%22"] {
        let first = Page::get(address, &format!("/?q={query}"));
        assert_eq!((first.count("loud"), first.count("honest")), (2, 8), "{}", first.text);
        // The first page is read before it is known who has published it; for a phrase, two.
        let read: u64 = if query.contains("%22") { 18 } else { 8 };
        let (shown, passed_over) = (10 + read, 38 - read);
        assert!(first.all.iter().map(|(rank, _)| *rank).eq(1..=shown), "{:?}", first.all);
        assert!(first.text.contains(&format!(">{read} more published by ")), "{}", first.text);
        assert!(first.text.contains(&format!("Results 1 to {shown} of about ")), "{}", first.text);
        let note = "&amp;exact=true\">All results in the order of their scores</a>";
        assert!(first.text.contains(&format!(">{passed_over} more published by ")), "{}", first.text);
        assert!(first.text.contains(note), "{}", first.text);
        let second = Page::get(address, &first.link("next").unwrap());
        assert_eq!((second.placed.len(), second.count("honest")), (2, 2), "{}", second.text);
        let last = format!("Results {} to {}, the last", shown + 1, shown + 2);
        assert!(second.text.contains(&last) && second.link("next").is_none(), "{}", second.text);
        assert_eq!(Page::get(address, &second.link("prev").unwrap()).all, first.all);
        // The order of scores has all, as on the command line.
        let strict = best(reader, &query.replace("%22", "\"").replace('+', " "), 100).await.urls();
        assert!(strict.len() == 50 && strict[..40].iter().all(|url| url.contains("loud")));
        let exact = Page::get(address, &format!("/?q={query}&exact=true"));
        assert_eq!(exact.placed, strict[..10]);
        assert_eq!(Page::get(address, &exact.link("next").unwrap()).placed, strict[10..20]);

        // Programs get those first that have a place, too, and as many as they want.
        let answer = asked(address, &format!("/search?q={query}&format=json"));
        assert_eq!(answer.urls, first.placed);
        let more = json!([{ "publisher": loud.publisher().to_string(), "documents": 38 }]);
        assert_eq!(answer.end["more"], more);
        let next = asked(address, &format!("/search?q={query}&format=json&pageno=2"));
        assert_eq!((next.urls, &next.end["number_of_results"]), (second.placed, &json!(50)));
        let answer = lines(address, &format!("/search?q={query}"));
        assert_eq!((answer.urls, &answer.end["more"], &answer.end["total"]), (first.placed, &more, &json!(10)));
        let exact = format!("/search?q={query}&exact=true&limit=50");
        for all in [asked(address, &(exact.clone() + "&format=json")), lines(address, &exact)] {
            assert_eq!((&all.urls, all.end.get("more").filter(|it| **it != json!([]))), (&strict, None));
        }
    }
    // Whom the owner trusts may fill a page.
    reader.trust(&[loud.publisher()], true).unwrap();
    let page = Page::get(address, "/?q=sieve");
    assert_eq!((page.count("loud"), page.all.len()), (10, 10), "{}", page.text);
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn honest_results_of_one_host_come_before_the_third_of_a_loud_publisher() {
    let nodes = network(5).await;
    let [loud, reader, others @ ..] = &nodes[..] else { panic!() };
    publish_loud(loud, 40).await;
    for (number, node) in others.iter().enumerate() {
        let documents = (0..4).map(|page| honest(&format!("http://honest.example/{number}-{page}")));
        node.publishes(documents.collect(), false).await.unwrap();
    }
    let answer = asked(pages(reader).await, "/search?q=sieve&format=json");
    let louds = answer.urls.iter().filter(|url| url.contains("loud")).count();
    assert_eq!((answer.urls.len(), louds), (10, 4), "{:?}", answer.urls);
    assert!(answer.urls[8..].iter().all(|url| url.contains("loud")), "{:?}", answer.urls);
    shut_down(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_reads_a_bounded_number_of_results_of_one_publisher() {
    let nodes = network(4).await;
    let [loud, reader, other, _] = &nodes[..] else { panic!() };
    publish_loud(loud, FURTHER as usize + 10).await;
    other.publishes(vec![honest(URL)], false).await.unwrap();
    let address = pages(reader).await;
    // The first page ends before anybody else was found, so the second one continues after its results.
    let first = Page::get(address, "/?q=sieve");
    let strict = best(reader, "sieve", 100).await.urls();
    let urls: Vec<&String> = first.all.iter().map(|(_, url)| url).collect();
    assert_eq!(urls, Vec::from_iter(&strict[..10]));
    assert!(!first.text.contains("&amp;exact=true"), "{}", first.text);
    let document = asked(address, "/search?q=sieve&format=json");
    assert_eq!((document.urls, &document.end["more"]), (strict[..10].to_vec(), &json!([])));
    let second = Page::get(address, &first.link("next").unwrap());
    assert_eq!((second.count("loud"), second.count("site")), (2, 1), "{}", second.text);
    assert_eq!(second.all.len(), 11);
    assert!(second.text.contains(&format!(">{} more published by ", FURTHER - 10)), "{}", second.text);
    assert!(second.link("next").is_none());
    shut_down(&nodes).await;
}
