//! The answer to a search in the form that clients of SearXNG read.

use crate::common::NOBODY;
use crate::face::{Call, done, face, found, get};
use furui_net::node::{Hit, SearchEvent};
use furui_search::{ContentId, Peer, Place, PublisherKey, Query, Record, Report, Round, Showings, WordReport};
use serde_json::{Value, json};
use std::time::Duration;

/// A hit of the query `word`.
fn hit(url: &str, title: &str) -> Hit {
    let text = "One word.".to_owned();
    let record = Record { url: url.to_owned(), title: title.to_owned(), text, publisher: NOBODY };
    let place = Place { score: Place::ONE / 2, id: ContentId::of(&record.encode().unwrap()) };
    let showing = Showings::new(Query::parse("word").unwrap().clauses()).unwrap().of(&record);
    Hit { publishers: vec![PublisherKey::new([1; 32])], ..Hit::new(place, showing) }
}

/// The end of a search that found this many.
fn end(found: u64, cursor: Option<Place>, report: Report) -> SearchEvent {
    match done(cursor, true, report) {
        SearchEvent::Done { cursor, whole, report, .. } => {
            SearchEvent::Done { found, passed_over: vec![], cursor, whole, report }
        }
        other => other,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_document_has_what_clients_of_searxng_read() {
    let (address, mut calls) = face().await;
    let asked = get(address, "/search?q=word&format=json&language=en&categories=general&safesearch=0");
    let Some(Call::Search { options, events, error, .. }) = calls.recv().await else { panic!() };
    assert_eq!((options.limit, options.shared, options.after), (10, true, None));
    let hit = hit("https://a.example/", "A\u{202e} title");
    let id = hit.id;
    events.send(found(hit)).await.unwrap();
    events.send(end(1, None, Report { sent_bytes: 9, ..Report::default() })).await.unwrap();
    drop((events, error));
    let (status, head, body) = asked.whole();
    assert!(status == 200 && head.contains("content-type: application/json"), "{head}");
    let expected = json!({
        "query": "word", "number_of_results": 1, "answers": [], "corrections": [], "infoboxes": [], "suggestions": [],
        "unresponsive_engines": [], "cursor": null, "whole": true, "bounded": false, "bytes": 9, "notes": [],
        "more": [],
        "results": [{
            "url": "https://a.example/", "title": "A title", "content": "One word.", "score": 0.5,
            "publishedDate": null, "engine": "furui", "engines": ["furui"], "category": "general", "positions": [1],
            "id": id.to_string(), "publishers": [PublisherKey::new([1; 32]).to_string()], "trusted": false,
        }],
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_page_has_what_follows_the_pages_before_it() {
    let (address, mut calls) = face().await;
    let asked = get(address, "/search?q=word&format=json&pageno=2&limit=2");
    let Some(Call::Search { options, events, error, .. }) = calls.recv().await else { panic!() };
    assert_eq!((options.limit, options.after), (2, None));
    for url in ["https://a.example/", "https://b.example/"] {
        events.send(found(hit(url, "t"))).await.unwrap();
    }
    let between = Place { score: 32, id: ContentId::of(b"") };
    events.send(end(2, Some(between), Report { sent_bytes: 5, ..Report::default() })).await.unwrap();
    drop((events, error));
    let Some(Call::Search { options, events, error, .. }) = calls.recv().await else { panic!() };
    assert_eq!((options.limit, options.after), (2, Some(between)));
    for url in ["https://c.example/", "javascript:alert(1)"] {
        events.send(found(hit(url, "t"))).await.unwrap();
    }
    // Half of the first tenth of a list fits, so half of all does.
    let round = Round {
        clause: 0,
        words: vec!["word".into()],
        host: Peer::new(&[], &[]),
        most: 0,
        seen: 8,
        found: 4,
        sent_bytes: 0,
        back_bytes: 0,
        costs: vec![],
        at: Duration::ZERO,
    };
    let words = vec![WordReport { word: "word".into(), size: 80, whole: true }];
    let cursor = Place { score: 16, id: ContentId::of(b"") };
    let report = Report { words, rounds: vec![round], sent_bytes: 3, ..Report::default() };
    events.send(end(2, Some(cursor), report)).await.unwrap();
    drop((events, error));
    let answer: Value = serde_json::from_str(&asked.answer().1).unwrap();
    // A client makes a link of what is not of the web, too, so it does not get it.
    let results = answer["results"].as_array().unwrap();
    let shown: Vec<_> = results.iter().map(|result| (&result["url"], &result["positions"])).collect();
    assert_eq!(shown, [(&json!("https://c.example/"), &json!([3]))]);
    assert_eq!((&answer["number_of_results"], &answer["cursor"]), (&json!(40), &json!(cursor.to_string())));
    assert_eq!(answer["bytes"], 8);

    // There is no page after the last one.
    let asked = get(address, "/search?q=word&format=json&pageno=3&limit=2");
    let Some(Call::Search { events, error, .. }) = calls.recv().await else { panic!() };
    events.send(found(hit("https://a.example/", "t"))).await.unwrap();
    events.send(end(1, None, Report::default())).await.unwrap();
    drop((events, error));
    let answer: Value = serde_json::from_str(&asked.answer().1).unwrap();
    assert_eq!(
        (&answer["number_of_results"], &answer["results"], &answer["cursor"]),
        (&json!(1), &json!([]), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_search_that_fails_is_an_error_and_no_document() {
    let (address, mut calls) = face().await;
    let asked = get(address, "/search?q=word&format=json");
    let Some(Call::Search { events, .. }) = calls.recv().await else { panic!() };
    events.send(found(hit("https://a.example/", "t"))).await.unwrap();
    drop(events);
    drop(calls);
    let (status, body) = asked.answer();
    assert!(status == 503 && body.starts_with("{\"error\":"), "{status} {body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_has_been_typed_is_completed() {
    let (address, _calls) = face().await;
    let (status, head, body) = get(address, "/suggest?q=bloom+Filter").whole();
    assert!(status == 200 && head.contains("content-type: application/x-suggestions+json"), "{head}");
    let suggested: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(suggested, json!(["bloom Filter", ["bloom filtering", "bloom filters"]]));
    for (path, expected) in [("/suggest?q=", json!(["", []])), ("/suggest?q=site:exam", json!(["site:exam", []]))] {
        assert_eq!(serde_json::from_str::<Value>(&get(address, path).answer().1).unwrap(), expected);
    }
    let (status, body) = get(address, "/suggest").answer();
    assert!(status == 400 && body.contains("/suggest?q="), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_description_for_browsers_names_the_node_as_it_was_reached() {
    let (address, _calls) = face().await;
    for (more, site) in [("", "http://127.0.0.1:80"), ("X-Forwarded-Proto: https\r\n", "https://127.0.0.1:80")] {
        let headers = format!("{}{more}", crate::face::HOST);
        let (status, head, body) = crate::face::Asked::new(address, "GET /opensearch.xml", &headers, b"").whole();
        assert!(status == 200 && head.contains("content-type: application/opensearchdescription+xml"), "{head}");
        for part in [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSearchDescription \
             xmlns=\"http://a9.com/-/spec/opensearch/1.1/\"><ShortName>furui</ShortName>",
            &format!("<Url type=\"text/html\" method=\"get\" template=\"{site}/?q={{searchTerms}}\"></Url>"),
            &format!("template=\"{site}/suggest?q={{searchTerms}}\"></Url>"),
        ] {
            assert!(body.contains(part), "{part}: {body}");
        }
    }
    let (_, page) = get(address, "/").answer();
    let link = "<link rel=\"search\" type=\"application/opensearchdescription+xml\" title=\"furui\" \
                href=\"/opensearch.xml\">";
    assert!(page.contains(link), "{page}");
}
