//! The HTTP interface, byte by byte, in front of a node that the test simulates.

use crate::common::NOBODY;
use std::net::SocketAddr;
use std::time::Duration;

use crate::face::{Asked, Call, HOST, done, face, found, get};
use furui_net::http::{BATCH_DOCUMENTS, MAX_IDS, MAX_LINE, MAX_PUBLISHES, MAX_SEARCHES};
use furui_net::node::{Hit, NodeStatus, PublishError, Published, Version};
use furui_net::shelf::Statistics;
use furui_search::{ContentId, Place, PublisherKey, Record, Report, Showings, Wants};
use serde_json::{Value, json};

fn post(address: SocketAddr, body: &[u8]) -> Asked {
    Asked::new(address, "POST /publish", HOST, body)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn results_are_sent_as_they_are_found() {
    let (address, mut calls) = face().await;
    let mut asked = get(
        address,
        "/search?q=Two+W%C3%B6rds&limit=7&cursor=0000000700000000000000000000000000000000000000ff&coding=ringed&rate=1%25\
         &explain=true",
    );
    let Some(Call::Search { query, options, events, .. }) = calls.recv().await else { panic!() };
    assert_eq!(query.clauses()[0].must, ["two", "wörds"]);
    let after = Some(Place { score: 7, id: numbered(255) });
    assert_eq!((options.limit, options.shared, options.after, options.explain), (7, true, after, true));
    assert_eq!(options.wants, Wants::Ringed { probes: Some(7), delta: 1000 });
    let record = Record { url: "u:1".into(), title: "t Two".into(), text: "One two wörds.".into(), publisher: NOBODY };
    let id = ContentId::of(&record.encode().unwrap());
    let showing = Showings::new(query.clauses()).unwrap().of(&record);
    events.send(found(Hit::new(Place { score: Place::ONE / 2, id }, showing))).await.unwrap();
    // This line comes before the search has ended.
    let expected = json!({
        "id": id.to_string(), "url": "u:1", "title": "t Two", "snippet": "One two wörds.",
        "title_marks": [[2, 5]], "marks": [[4, 7], [8, 14]], "score": 0.5,
    });
    assert_eq!(asked.line(), expected);
    let (own, other) = (PublisherKey::new([1; 32]), PublisherKey::new([2; 32]));
    let also = vec![Version { id: numbered(9), publishers: vec![own, other] }];
    let hit = Hit::new(Place { score: Place::ONE / 4, id: numbered(7) }, None);
    events.send(found(Hit { publishers: vec![own], also, ..hit })).await.unwrap();
    let line = asked.line();
    assert_eq!(line["publishers"], json!([own.to_string()]));
    let also = json!([{ "id": numbered(9).to_string(), "publishers": [own.to_string(), other.to_string()] }]);
    assert_eq!(line["also"], also);
    let report =
        Report { planned: Some(Duration::from_micros(1500)), sent_bytes: 2, back_bytes: 7, ..Report::default() };
    events.send(done(Some(Place { score: 16, id: numbered(10) }), false, report)).await.unwrap();
    let plan = "plan: smallest list first:; 0 looked up, 0 requests, 0 of them failed";
    assert_eq!(asked.line(), json!({ "step": plan, "sent": 0, "received": 0, "ms": 1.5 }));
    assert!(asked.line()["step"].as_str().unwrap().starts_with("results: "));
    assert_eq!(
        asked.line(),
        json!({ "total": 2, "bytes": 9, "cursor": "00000010000000000000000000000000000000000000000a", "whole": false })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_node_hears_when_the_client_has_gone() {
    let (address, mut calls) = face().await;
    let asked = get(address, "/search?q=a");
    let Some(Call::Search { events, .. }) = calls.recv().await else { panic!() };
    drop(asked);
    events.closed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_search_that_the_node_does_not_end_is_an_error() {
    let (address, mut calls) = face().await;
    let asked = get(address, "/search?q=a");
    drop(calls.recv().await.unwrap());
    let (_, body) = asked.answer();
    assert!(lines(&body)[0]["error"].as_str().unwrap().contains("shut down"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn requests_that_cannot_be_answered_say_what_to_do() {
    let (address, _calls) = face().await;
    for (request, status, expected) in [
        ("GET /nothing", 404, "/search?q=WORDS"),
        ("GET /publish", 405, "POST to /wanted, /publish, /unpublish, /snapshot, /block, /unblock, /purge, /trust"),
        ("POST /search", 405, "POST to /wanted"),
        ("POST /unpublish?all=maybe", 400, "all"),
        ("GET /search", 400, "/search?q=two+words"),
        ("GET /search?q=a&limit=0", 400, "1 to 1000"),
        ("GET /search?q=a&limit=1001", 400, "1 to 1000"),
        ("GET /search?q=a&limit=x", 400, "/search?q=two+words"),
        ("GET /search?q=a&format=json&pageno=2&cursor=12", 400, "pageno is for format=json without a cursor"),
        ("GET /search?q=a&cursor=12", 400, "48 hexadecimal"),
        ("GET /search?q=a&cursor=%2B0000000000000000000000000000000000000000000000f", 400, "48 hexadecimal"),
        ("GET /search?q=%28a&exact=true", 400, "never closed"),
        ("GET /search?q=%28a&format=json&exact=true", 400, "never closed"),
        ("GET /search?q=a&format=rss", 400, "unknown variant `rss`, expected `lines` or `json`"),
        ("GET /search?q=a&pageno=1", 400, "pageno is for format=json"),
        ("GET /search?q=a&format=json&pageno=0", 400, "from 1 to 100 for pages of 10"),
        ("GET /search?q=a&format=json&pageno=101", 400, "from 1 to 100 for pages of 10"),
        ("GET /search?q=a&format=json&pageno=4294967295&limit=2", 400, "from 1 to 500 for pages of 2"),
        ("GET /search?q=a&format=json&explain=true", 400, "explain is for the answer in lines"),
        ("GET /search?q=a&coding=zip", 400, "best, naive, fixed, ringed, golomb"),
        ("GET /search?q=a&coding=naive&rate=0.1", 400, "naive has no rate"),
        ("GET /search?q=a&coding=golomb&rate=0.1", 400, "take fixed or ringed"),
        ("GET /search?q=a&coding=ringed&rate=1", 400, "below 1"),
        ("GET /search?q=a&coding=fixed&rate=NaN", 400, "below 1"),
        ("GET /search?q=a&coding=fixed&rate=x", 400, "/search?q=two+words"),
        ("GET /search?q=a&rate=0.1", 400, "add fixed or ringed"),
    ] {
        let (got, body) = Asked::new(address, request, HOST, b"").answer();
        let error: Value = serde_json::from_str(&body).unwrap();
        assert!(got == status && error["error"].as_str().unwrap().contains(expected), "{request}: {got} {body}");
    }
    let (_, body) = get(address, "/search?q=a+%28b&exact=true").answer();
    assert_eq!(lines(&body)[0]["at"], 2);
    // What need not be exact is searched for as it is written.
    let (status, body) = get(address, "/search?q=%2A%28").answer();
    assert!(status == 400 && body.contains("no words"), "{body}");
    for headers in ["Host: evil.example\r\n", "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n"] {
        let (status, body) = Asked::new(address, "GET /status", headers, b"").answer();
        assert!(status == 403 && body.contains("by its IP address"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn documents_are_published_in_batches() {
    let (address, mut calls) = face().await;
    let count = BATCH_DOCUMENTS + 2;
    let mut body: String = (0..count).map(|i| format!("{{\"url\":\"u:{i}\",\"text\":\"Word {i}\"}}\r\n")).collect();
    // The last line has no line end, and repeats a document.
    body +=
        "\nnonsense\n{\"url\":\"u:0\",\"title\":null,\"text\":\"Word 257\"}\n{\"url\":\"u:257\",\"text\":\"Word 257\"}";
    let asked = post(address, body.as_bytes());
    let mut sizes = Vec::new();
    for _ in 0..2 {
        let Some(Call::Publish { documents, again: false, answer }) = calls.recv().await else { panic!() };
        sizes.push(documents.len());
        let record = Record::decode(&documents[0].record).unwrap();
        assert_eq!(documents[0].words, record.postings().into_iter().collect::<Vec<_>>());
        answer.send(Ok(Published { new: 1, changed: 1, scarce: 1 })).unwrap();
    }
    assert_eq!(sizes, [BATCH_DOCUMENTS, 3]);
    let (status, body) = asked.answer();
    assert_eq!(status, 200);
    let lines = lines(&body);
    assert_eq!(lines[0], json!({ "documents": BATCH_DOCUMENTS, "new": 1, "changed": 1, "scarce": 1, "bad": 0 }));
    assert_eq!(lines[1]["line"], count + 2);
    assert_eq!(
        lines[2],
        json!({ "documents": count + 2, "new": 2, "changed": 2, "scarce": 2, "bad": 1, "done": true })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_node_says_which_documents_it_wants() {
    let (address, mut calls) = face().await;
    let ask = |body: String| Asked::new(address, "POST /wanted", HOST, body.as_bytes());
    let asked = ask(format!("{}\r\n{}\n{}", numbered(1), numbered(2), numbered(3)));
    let Some(Call::Wanted { ids, answer }) = calls.recv().await else { panic!() };
    assert_eq!(ids, [numbered(1), numbered(2), numbered(3)]);
    answer.send(Ok(vec![true, false, true])).unwrap();
    assert_eq!(asked.answer(), (200, "{\"wanted\":[0,2]}\n".to_owned()));
    let asked = ask(String::new());
    let Some(Call::Wanted { answer, .. }) = calls.recv().await else { panic!() };
    answer.send(Err(PublishError::Storage { why: "the disk is broken".into() })).unwrap();
    assert_eq!(asked.answer(), (500, "{\"error\":\"the disk is broken\"}\n".to_owned()));
    let many = format!("{}\n", numbered(1)).repeat(MAX_IDS + 1);
    for body in ["x".to_owned(), format!("{}\n\n", numbered(1)), many] {
        let (status, body) = ask(body).answer();
        assert!(status == 400 && body.contains("40 hexadecimal digits in each line"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn documents_are_withdrawn_by_their_urls_or_all() {
    let (address, mut calls) = face().await;
    let ask = |path: &str, body: &[u8]| Asked::new(address, &format!("POST {path}"), HOST, body);
    let asked = ask("/unpublish", b"http://a/\r\nhttp://b/\nhttp://c/\n");
    let Some(Call::Withdraw { urls, answer }) = calls.recv().await else { panic!() };
    assert_eq!(urls, ["http://a/", "http://b/", "http://c/"]);
    answer.send(Ok(vec![None, Some(vec![]), Some(vec![NOBODY])])).unwrap();
    assert_eq!(
        asked.answer(),
        (200, format!("{{\"others\":[{{\"at\":2,\"publishers\":[\"{NOBODY}\"]}}],\"unknown\":[0],\"withdrawn\":2}}\n"))
    );
    let asked = ask("/unpublish?all=true", b"");
    let Some(Call::WithdrawSome { answer }) = calls.recv().await else { panic!() };
    answer.send(Ok(7)).unwrap();
    assert_eq!(asked.answer(), (200, "{\"withdrawn\":7}\n".to_owned()));
    for body in ["x\n".repeat(MAX_IDS + 1).into_bytes(), vec![b'x'; (1 << 20) + 1], b"\xff".to_vec()] {
        let (status, body) = ask("/unpublish", &body).answer();
        assert!(status == 400 && body.contains("a body of URLs has one URL in each line"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn lines_and_documents_too_long_are_left_out() {
    let (address, mut calls) = face().await;
    let node = tokio::spawn(async move {
        let Some(Call::Publish { documents, answer, .. }) = calls.recv().await else { panic!() };
        answer.send(Ok(Published { new: 1, changed: 0, scarce: 0 })).unwrap();
        documents.len()
    });
    let long = " ".repeat(MAX_LINE + 1);
    let text = "x".repeat(furui_search::MAX_TEXT + 1);
    let body = format!("{long}\n{{\"url\":\"u:1\",\"text\":\"{text}\"}}\n{{\"url\":\"u:2\",\"text\":\"x\"}}\n");
    let (_, body) = post(address, body.as_bytes()).answer();
    let lines = lines(&body);
    assert!(lines[0]["line"] == 1 && lines[0]["error"].as_str().unwrap().contains("a line of more than"), "{body}");
    assert!(lines[1]["line"] == 2 && lines[1]["error"].as_str().unwrap().contains("in parts"), "{body}");
    assert_eq!(lines[2], json!({ "documents": 1, "new": 1, "changed": 0, "scarce": 0, "bad": 2, "done": true }));
    assert_eq!(node.await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_a_node_refuses_ends_the_answer() {
    let (address, mut calls) = face().await;
    let asked = post(address, b"{\"url\":\"u:\",\"text\":\"x\"}");
    let Some(Call::Publish { answer, .. }) = calls.recv().await else { panic!() };
    answer.send(Err(PublishError::Storage { why: "full; make room".into() })).unwrap();
    assert_eq!(lines(&asked.answer().1), [json!({ "error": "full; make room" })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_more_is_done_at_once_than_a_node_can() {
    let (address, mut calls) = face().await;
    let mut under_way = Vec::new();
    for _ in 0..MAX_SEARCHES {
        let asked = get(address, "/search?q=a");
        under_way.push((asked, calls.recv().await.unwrap()));
    }
    let (status, body) = get(address, "/search?q=a").answer();
    assert!(status == 503 && body.contains("ask again later"), "{body}");
    for _ in 0..MAX_PUBLISHES {
        let asked = post(address, b"{\"url\":\"u:\",\"text\":\"x\"}");
        under_way.push((asked, calls.recv().await.unwrap()));
    }
    let (status, body) = post(address, b"").answer();
    assert!(status == 503 && body.contains("ask again later"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn figures_are_there_for_people_and_for_prometheus() {
    let (address, mut calls) = face().await;
    let node = tokio::spawn(async move {
        for _ in 0..2 {
            let Some(Call::Status { answer }) = calls.recv().await else { panic!() };
            let shelf = Statistics { words: 7, records: 8, documents: 9, ..Statistics::default() };
            let addresses = vec!["/ip4/…".into()];
            answer.send(Ok(NodeStatus { shelf, whole: true, addresses, ..NodeStatus::default() })).ok().unwrap();
        }
    });
    let (_, body) = get(address, "/status").answer();
    let status: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&status["words"], &status["addresses"][0]), (&json!(7), &json!("/ip4/…")));
    let mut names: Vec<&str> = status.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected = "addresses answered cut_off disk documents peer peers postings published received refusals refused rounds \
                    searches sent settled taken whole words";
    assert_eq!((names.join(" "), &status["documents"]), (expected.to_owned(), &json!(8)));
    let (_, body) = get(address, "/metrics").answer();
    assert!(body.contains("# TYPE furui_words gauge\nfurui_words 7\n") && body.contains("furui_whole 1\n"), "{body}");
    node.await.unwrap();
}

/// An id whose last byte is `last` and whose other bytes are 0.
fn numbered(last: u8) -> ContentId {
    let mut bytes = [0; ContentId::BYTES];
    bytes[ContentId::BYTES - 1] = last;
    ContentId::new(bytes)
}
