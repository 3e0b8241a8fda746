//! The pages for people, as bytes, in front of a node that the test simulates.

use std::net::SocketAddr;
use std::time::Duration;

use crate::face::{Asked, Call, done, face, found, get};
use furui_net::net::Counters;
use furui_net::node::{
    DocumentError, Hit, Instead, KeptDocument, NodeStatus, Published, SearchError, SearchEvent, Span, Version,
};
use furui_net::shelf::Statistics;
use furui_search::{ContentId, Peer, Place, PublisherKey, Record, Report, Round, SimHash, WordReport};
use tokio::sync::mpsc;

/// The headers that browsers send.
const BROWSER: &str =
    "Host: 127.0.0.1:80\r\nAccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\nSec-Fetch-Site: none\r\n";

fn browse(address: SocketAddr, path: &str) -> Asked {
    Asked::new(address, &format!("GET {path}"), BROWSER, b"")
}

fn id(last: u8) -> ContentId {
    let mut bytes = [0; ContentId::BYTES];
    bytes[ContentId::BYTES - 1] = last;
    ContentId::new(bytes)
}

fn hit(url: &str, title: &str) -> Hit {
    let title_marks = title.find("title").map(|at| [at, at + 5]).into_iter().collect();
    Hit {
        url: url.into(),
        title: title.into(),
        snippet: "… the <b>bloom & co, 篩".into(),
        title_marks,
        marks: vec![[11, 21], [23, 26]],
        ..Hit::new(Place { score: 1, id: id(7) }, None)
    }
}

fn end(cursor: Option<Place>, whole: bool) -> SearchEvent {
    done(cursor, whole, Report { sent_bytes: 1000, show_back_bytes: 234, ..Report::default() })
}

/// Answers the next search with these events, and then this error.
async fn play(calls: &mut mpsc::Receiver<Call>, events: Vec<SearchEvent>, why: Option<SearchError>) {
    let Some(Call::Search { events: to, error, .. }) = calls.recv().await else { panic!() };
    for event in events {
        to.send(event).await.unwrap();
    }
    if let Some(why) = why {
        error.send(why).unwrap();
    }
}

/// The page for an answer with these events.
async fn page(path: &str, events: Vec<SearchEvent>) -> String {
    page_with(path, events, None).await
}

async fn page_with(path: &str, events: Vec<SearchEvent>, why: Option<SearchError>) -> String {
    let (address, mut calls) = face().await;
    let asked = browse(address, path);
    play(&mut calls, events, why).await;
    let (status, body) = asked.answer();
    assert_eq!(status, 200);
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_page_is_sent_as_it_is_found() {
    let (address, mut calls) = face().await;
    let mut asked = browse(address, "/?q=Bloom+%3C&cursor=0000000700000000000000000000000000000000000000ff&from=11");
    let Some(Call::Search { query, options, events, .. }) = calls.recv().await else { panic!() };
    assert_eq!(query.clauses()[0].must, ["bloom"]);
    let after = Some(Place { score: 7, id: id(255) });
    assert_eq!((options.limit, options.shared, options.after, options.explain), (10, true, after, true));
    // Before anything was found, the page has its head, the box with the query, the heading, and the beginning of the
    // list.
    let head = asked.until("<ol class=\"results\" start=\"11\">");
    assert!(head.contains("value=\"Bloom &lt;\"") && head.contains("<h1>Results for "), "{head}");
    events.send(found(hit("http://a.example/", "A title"))).await.unwrap();
    // The page shows this document before the search has ended.
    let first = asked.until("</li>");
    assert!(first.contains("<a href=\"http://a.example/\" rel=\"noreferrer noopener\">"), "{first}");
    assert!(first.contains("<bdi>A <mark>title</mark></bdi></a>"), "{first}");
    assert!(first.contains(">… the &lt;b&gt;<mark>bloom &amp; co</mark>, <mark>篩</mark></p>"), "{first}");
    events.send(end(Some(Place { score: 16, id: id(9) }), true)).await.unwrap();
    let rest = asked.until("</html>");
    assert!(rest.contains("Result 11, and there are more; ") && rest.contains("1.23\u{a0}kB"), "{rest}");
    let next = "/?q=Bloom+%3C&amp;cursor=000000100000000000000000000000000000000000000009&amp;from=12\
                &amp;back=11.0000000700000000000000000000000000000000000000ff";
    assert!(rest.contains(&format!("<a rel=\"next\" href=\"{next}\">")), "{rest}");
    assert!(!rest.contains("not yet been given"), "{rest}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_previous_page_is_a_link_and_the_total_is_told() {
    let cursor = |byte| Place { score: 16, id: id(byte) };
    let hits = |count| SearchEvent::Hits((0..count).map(|_| hit("http://a.example/", "A")).collect());
    let body = page("/?q=a", vec![hits(3), end(None, true)]).await;
    assert!(body.contains("Results 1 to 3 of 3; ") && !body.contains("Previous page"), "{body}");
    let body = page("/?q=a", vec![hits(3), end(None, false)]).await;
    assert!(body.contains("Results 1 to 3 of at least 3; "), "{body}");
    let words = vec![WordReport { word: "a".into(), size: 512, whole: true }];
    let round = Round {
        clause: 0,
        words: vec!["a".into()],
        host: Peer::new(&[], &[]),
        most: 10,
        seen: 10,
        found: 5,
        sent_bytes: 0,
        back_bytes: 0,
        costs: vec![],
        at: Duration::ZERO,
    };
    let report = Report { words, rounds: vec![round], ..Report::default() };
    let body = page("/?q=a", vec![hits(3), done(Some(cursor(1)), true, report)]).await;
    assert!(body.contains("Results 1 to 3 of about 260; "), "{body}");
    let place = |byte: u8| format!("0000001000000000000000000000000000000000000000{byte:02x}");
    let path = format!("/?q=a&cursor={}&from=21&back=1,11.{}", place(2), place(1));
    let body = page(&path, vec![hits(10), end(Some(cursor(3)), true)]).await;
    let back = format!("<a rel=\"prev\" href=\"/?q=a&amp;cursor={}&amp;from=11&amp;back=1\">Previous page", place(1));
    assert!(body.contains(&back), "{body}");
    let next = format!("from=31&amp;back=1,11.{},21.{}\">Next page", place(1), place(2));
    assert!(body.contains(&next), "{body}");
    let path = format!("/?q=a&cursor={}&from=11&back=1", place(1));
    let body = page(&path, vec![hits(1), end(None, true)]).await;
    assert!(body.contains("<a rel=\"prev\" href=\"/?q=a\">Previous page") && body.contains("Result 11, the last; "));
    // What nobody could have got by a link is ignored.
    for back in ["x", "1,y.z", "1,11.z", "%3Cscript%3E", "-1"] {
        let body = page(&format!("/?q=a&cursor={}&from=11&back={back}", place(1)), vec![end(None, true)]).await;
        assert!(!body.contains("Previous page"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_a_result_pretends_to_be_is_not_shown() {
    let title = format!("pay\u{200b}pal{} {}", "\u{301}".repeat(40), "T".repeat(3000));
    let events = vec![
        SearchEvent::Hits(vec![
            hit("http://paypal.com@evil.example/login", &title),
            hit("http://раураl.com/", "Cyrillic"),
            hit("http://paypal.com⁄login.evil.example/", ""),
            hit("not a url", ""),
        ]),
        end(None, true),
    ];
    let body = page("/?q=a", events).await;
    let url = "<a href=\"http://evil.example/login\" rel=\"noreferrer noopener\">";
    assert!(body.contains(url), "{body}");
    assert!(body.contains("<bdi>http://<b>evil.example</b>/login (with a user name)</bdi>"), "{body}");
    let cut = format!("paypal{} {}…", "\u{301}".repeat(4), "T".repeat(140 - 11));
    assert!(body.contains(&format!("<bdi>{cut}</bdi>")), "{body}");
    assert!(body.contains("<bdi>http://<b>xn--l-7sba6dbr.com</b>/</bdi>"), "{body}");
    assert!(body.contains("<b>paypal.xn--comlogin-g03d.evil.example</b>"), "{body}");
    assert!(body.contains("<bdi>not a url</bdi>") && !body.contains("href=\"not"), "{body}");
}

/// Sends the form of `/add` with these fields, the last of which is a file.
fn add(address: SocketAddr, more: &str, fields: [&str; 3], file: &[u8]) -> Asked {
    let mut body = Vec::new();
    for (name, value) in ["url", "title", "text"].into_iter().zip(fields) {
        body.extend(format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes());
    }
    let head = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"notes.txt\"\r\n\r\n";
    body.extend([head.as_bytes(), file, b"\r\n--B--\r\n"].concat());
    let headers = format!("{BROWSER}Content-Type: multipart/form-data; boundary=B\r\n{more}");
    Asked::new(address, "POST /add", &headers, &body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_document_is_published_by_a_form() {
    let (address, mut calls) = face().await;
    let (status, head, body) = browse(address, "/add").whole();
    // With the policy of the other pages, a browser would send the form with "Origin: null".
    assert!(head.contains("referrer-policy: same-origin"), "{head}");
    assert!(status == 200 && body.contains("enctype=\"multipart/form-data\""), "{body}");
    let cases = [
        (["https://example.org/a", "A <title>", "a text"], &b""[..], "A <title>", "a text"),
        ([" https://example.org/a ", "", ""], b"\xef\xbb\xbfof a file", "notes.txt", "of a file"),
        (["https://example.org/a", "A", "a text"], b"and more", "A", "a text\nand more"),
    ];
    for (fields, file, title, text) in cases {
        let asked = add(address, "", fields, file);
        let Some(Call::Publish { documents, again, answer }) = calls.recv().await else { panic!() };
        let record = Record::decode(&documents[0].record).unwrap();
        assert_eq!(
            (record.url.as_str(), record.title.as_str(), record.text.as_str()),
            ("https://example.org/a", title, text)
        );
        assert!(documents.len() == 1 && !again);
        answer.send(Ok(Published { new: 1, changed: 0, scarce: 0 })).ok().unwrap();
        let (status, body) = asked.answer();
        assert!(status == 200 && body.contains("It is published.") && !body.contains("<title>\""), "{body}");
        assert!(body.contains("https://<b>example.org</b>/a"), "{body}");
    }
    for (fields, file, why) in [
        (["not a url", "A", "a text"], &b""[..], "The URL &quot;not a url&quot; is none"),
        (["http://me:secret@a.example/", "A", "a text"], b"", "leave it out"),
        (["http://a.example/", "", " "], b"", "A document without words"),
        (["http://a.example/", "", ""], b"\xff\xfe", "is not text in UTF-8"),
        (["http://a.example/", "", ""], b"<!doctype html><p>a", "is no plain text"),
        (["http://a.example/", "<b>", ""], &[b'a'; 2 << 20], "more than 1048576 bytes"),
    ] {
        let (status, body) = add(address, "", fields, file).answer();
        assert!(status == 400 && body.contains(why), "{why}: {body}");
        assert!(!body.contains("<b>"), "{body}");
    }
    // No other site sends the form, and no browser that does not say which site does.
    assert_eq!(add(address, "Origin: http://evil.example\r\n", ["http://a.example/", "A", "b"], b"").answer().0, 403);
    let bare = "Host: 127.0.0.1:80\r\nContent-Type: multipart/form-data; boundary=B\r\n";
    assert_eq!(Asked::new(address, "POST /add", bare, b"--B--\r\n").answer().0, 403);
    assert!(calls.try_recv().is_err(), "something was published");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_publishers_of_a_result_and_of_its_other_versions_are_named() {
    let [one, two] = [1, 2].map(|byte| PublisherKey::new([byte; 32]));
    let code = |key: PublisherKey| format!("<code title=\"{key}\">{}</code>", key.short());
    let also = vec![Version { id: id(8), publishers: vec![one, two] }, Version { id: id(9), publishers: vec![] }];
    let shown = Hit { publishers: vec![one], also, ..hit("http://a.example/", "A title") };
    let trusted = Hit { publishers: vec![two, one], trusted: true, ..hit("http://b.example/", "A title") };
    let page = page("/?q=a", vec![found(shown), found(trusted), end(None, true)]).await;
    for named in [
        format!(">published by {}</p>", code(one)),
        format!(">published by {}, {}, whom this node trusts</p>", code(two), code(one)),
        format!("<a href=\"/document?id={}\">another text</a> is published by {}, {}<", id(8), code(one), code(two)),
        format!("<a href=\"/document?id={}\">another text</a> is published by nobody known<", id(9)),
    ] {
        assert!(page.contains(&named), "{named}: {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn another_text_of_a_url_is_one_click_away() {
    let (address, mut calls) = face().await;
    let path = format!("/document?id={}", id(8));
    let [one, two] = [1, 2].map(|byte| PublisherKey::new([byte; 32]));
    let kept = KeptDocument {
        id: id(8),
        url: "http://bank.example@evil.example/".into(),
        title: "pay\u{200b}pal <b>".into(),
        text: format!(
            "<script>alert(1)</script>\n\n \u{202e}second{} line\n{}",
            "\u{301}".repeat(40),
            "T".repeat(30_000)
        ),
        publishers: vec![one, two],
        trusted: true,
    };
    let asked = [browse(address, &path), get(address, &path)];
    for _ in &asked {
        let Some(Call::Document { id: wanted, answer }) = calls.recv().await else { panic!() };
        assert_eq!(wanted, id(8));
        answer.send(Ok(kept.clone())).ok().unwrap();
    }
    let [page, json] = asked.map(Asked::answer);
    assert_eq!((page.0, json.0), (200, 200));
    for part in [
        "<h1><a href=\"http://evil.example/\" rel=\"noreferrer noopener\"><bdi>paypal &lt;b&gt;</bdi></a></h1>",
        "<bdi>http://<b>evil.example</b>/ (with a user name)</bdi>",
        &format!("{}</code>, <code", one.short()),
        ", whom this node trusts</p>",
        &format!("document <code>{}</code>: 30.1\u{a0}kB of text", id(8)),
        "<p dir=\"auto\">&lt;script&gt;alert(1)&lt;/script&gt;</p><p dir=\"auto\">second\u{301}\u{301}\u{301}\u{301} line</p>",
        "TTT…</p><p class=\"note\">The text goes on;",
    ] {
        assert!(page.1.contains(part), "{part}: {}", page.1);
    }
    assert!(page.1.len() < 25_000 && !page.1.contains("<script>"), "{}", page.1);
    // Programs get all of it.
    assert_eq!(serde_json::from_str::<KeptDocument>(&json.1).unwrap(), kept);

    for (why, status, text) in [
        (DocumentError::Unknown(id(8)), 404, "it was withdrawn, has expired or was never published"),
        (DocumentError::Unreachable(id(8)), 504, "answers; try again in a minute."),
        (DocumentError::Blocked(id(8)), 403, "`furui unblock`"),
    ] {
        let asked = browse(address, &path);
        let Some(Call::Document { answer, .. }) = calls.recv().await else { panic!() };
        answer.send(Err(why)).ok().unwrap();
        let (answered, body) = asked.answer();
        assert!(answered == status && body.contains("<h1>Not answered</h1>") && body.contains(text), "{body}");
    }
    // The node is not asked for a document if the id is invalid.
    for wrong in ["", "?id=", "?id=12", "?id=%3Cb%3E", "?ID=1", &format!("?id={}z", "0".repeat(39))] {
        let (status, body) = browse(address, &format!("/document{wrong}")).answer();
        assert!(status == 400 && body.contains("has 40 hexadecimal digits; copy it whole."), "{wrong}: {body}");
    }
    let (status, body) = get(address, &format!("/document?id={}", "0".repeat(10_000))).answer();
    assert!(status == 400 && body.starts_with("{\"error\":"), "{body}");
    assert!(calls.try_recv().is_err(), "the node was asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn one_publisher_has_two_places_unless_the_owner_trusts_him() {
    let [one, two, friend] = [1, 2, 3].map(|byte| PublisherKey::new([byte; 32]));
    // Each is on a host of its own, and has a text of its own.
    let mut number = 0;
    let mut by = |key, trusted, title| {
        number += 1;
        let of = hit(&format!("http://a{number}.example/"), title);
        let simhash = Some(SimHash::of_bits(u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Hit { publishers: vec![key], trusted, text_hash: Some([number; 32]), simhash, ..of }
    };
    let crowd = ["one-1", "one-2", "one-3", "one-4"].map(|title| by(one, false, title));
    let two = by(two, false, "two-1");
    let two_again = two.clone();
    let friends = [(); 3].map(|()| by(friend, true, "friend"));
    let hits: Vec<Hit> = crowd.iter().cloned().chain([two]).chain(friends).collect();
    let text = page("/?q=a", vec![SearchEvent::Hits(hits), end(None, true)]).await;
    let (places, more) = text.split_once("<details").unwrap();
    assert_eq!(places.matches("<bdi>one-").count(), 2);
    assert_eq!((places.matches("<bdi>two-1").count(), places.matches("<bdi>friend").count()), (1, 3));
    assert!(
        places.contains("<li value=\"5\"><h2><a href=\"http://a5.example/\" rel=\"noreferrer noopener\"><bdi>two-1")
    );
    let (more, rest) = more.split_once("</details>").unwrap();
    assert!(more.starts_with(" class=\"more\"><summary>2 more published by <code title=\""), "{more}");
    assert!(more.contains("<li value=\"3\">") && more.contains("one-4"), "{more}");
    assert!(rest.contains("Results 1 to 8 of 8"), "{rest}");
    // A text that is too short for a SimHash gains no place by what others have lost.
    let short = Hit { simhash: None, ..two_again };
    let text = page("/?q=a", vec![SearchEvent::Hits([crowd.to_vec(), vec![short]].concat()), end(None, true)]).await;
    let (places, more) = text.split_once("<details").unwrap();
    assert!(!places.contains("<bdi>two-1") && more.contains("<bdi>two-1"), "{text}");
    // What got no place is shown although the search breaks off.
    let text = page_with(
        "/?q=a",
        vec![SearchEvent::Hits(crowd.to_vec())],
        Some(SearchError::Unreachable { word: "a".into() }),
    )
    .await;
    assert!(text.contains("one-3") && text.contains("These are not all results."), "{text}");
    // If there is nobody else, nobody is displaced.
    let text = page("/?q=a", vec![SearchEvent::Hits(crowd.to_vec()), end(None, true)]).await;
    assert!(text.contains("<details class=\"more\" open>"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_host_has_two_places_and_a_text_one() {
    // Bookmarks have no text, and are not alike.
    let of =
        |url: &str, text: u8| Hit { text_hash: (text > 0).then_some([text; 32]), ..hit(url, &format!("title-{text}")) };
    let hits = vec![
        of("http://a.example/1", 1),
        of("http://b.example/", 1),
        of("http://a.example/2", 2),
        of("http://a.example/3", 3),
        of("http://c.example/", 4),
        of("http://d.example/", 0),
        of("http://e.example/", 0),
        Hit { simhash: Some(SimHash::of_bits(0xff00)), ..of("http://f.example/", 5) },
        Hit { simhash: Some(SimHash::of_bits(0xffff_ff00)), ..of("http://g.example/", 6) },
        Hit { simhash: Some(SimHash::of_bits(0xff07)), ..of("http://h.example/", 7) },
    ];
    let text = page("/?q=a", vec![SearchEvent::Hits(hits), end(None, true)]).await;
    let (places, more) = text.split_once("<details").unwrap();
    assert_eq!(places.matches("<li value=").count(), 7);
    let (alike, host) = more.split_once("</details>").unwrap();
    assert!(alike.contains(">2 with nearly the text of a result above<"), "{alike}");
    assert!(alike.contains("<li value=\"2\">") && alike.contains("<li value=\"10\">"), "{alike}");
    assert!(host.contains(">1 more from <bdi>a.example</bdi><") && host.contains("<li value=\"4\">"), "{host}");
    assert!(host.contains("Results 1 to 10 of 10"), "{host}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_node_hears_when_the_reader_has_gone() {
    let (address, mut calls) = face().await;
    let asked = browse(address, "/?q=a");
    let Some(Call::Search { events, .. }) = calls.recv().await else { panic!() };
    drop(asked);
    events.closed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_strangers_write_is_text() {
    let script = "<script>alert(1)</script>";
    let events = vec![
        SearchEvent::Hits(vec![hit("javascript:alert(1)", script), hit("http://a.example/\"onclick=\"x", "")]),
        end(None, false),
    ];
    let body = page("/?q=%3Cscript%3E&from=3", events).await;
    assert!(!body.contains("<script>"), "{body}");
    assert!(!body.contains("href=\"javascript:") && body.contains("<bdi>javascript:alert(1)</bdi>"), "{body}");
    assert!(body.contains("<a href=\"http://a.example/&quot;onclick=&quot;x\" rel="), "{body}");
    assert!(body.contains("Results 3 to 4, the last; ") && body.contains("there may be more"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_missing_is_said_in_words() {
    let body = page("/?q=a", vec![end(None, true)]).await;
    assert!(body.contains("Nothing was found; ") && body.contains("Ask for fewer words"), "{body}");
    let body =
        page("/?q=a&cursor=000000000000000000000000000000000000000000000009&from=11", vec![end(None, true)]).await;
    assert!(body.contains("There are no more results.") && body.contains("<a href=\"/?q=a\">First page</a>"), "{body}");
    let body = page("/?q=a", vec![end(Some(Place { score: 16, id: id(9) }), true)]).await;
    assert!(
        body.contains("Nothing was found so far, ") && body.contains("09&amp;from=1&amp;back=1\">Next page"),
        "{body}"
    );
    let why = SearchError::Unreachable { word: "a".into() };
    let body = page_with("/?q=a", vec![found(hit("", ""))], Some(why)).await;
    let keeper = "None of the nodes that keep document <code>0000000000000000000000000000000000000007</code> answers.";
    assert!(body.contains(keeper), "{body}");
    let sentence = "These are not all results. None of the nodes that keep the list of `a` answers; try again in a \
                    minute.</p>";
    assert!(body.contains(sentence) && body.ends_with("</html>\n"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_a_search_took_is_drawn_and_told() {
    let round = Round {
        clause: 0,
        words: vec!["a".into()],
        host: Peer::new(&[], &[]),
        most: 9,
        seen: 8,
        found: 7,
        sent_bytes: 2500,
        back_bytes: 2,
        costs: vec![],
        at: Duration::from_millis(3),
    };
    let body = page("/?q=a", vec![done(None, true, Report { rounds: vec![round], ..Report::default() })]).await;
    let (_, details) = body.split_once("<details class=\"steps\">").unwrap();
    assert!(details.contains("<svg class=\"plan\"") && details.contains("role=\"img\""), "{body}");
    assert_eq!(details.matches("<rect class=\"time\"").count(), 2, "{body}");
    let row = "<td>round 1: 8 of at most 9 ids of `a` examined, 7 found</td><td>2.50\u{a0}kB</td><td>2\u{a0}B</td><td>3.0\u{a0}ms</td>";
    assert!(details.contains(row), "{body}");
    assert!(details.contains("of them failed</td><td></td>") && details.contains("the last result found"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_a_question_there_is_a_box_and_help() {
    let (address, _calls) = face().await;
    for path in ["/", "/?q=", "/?q=+"] {
        let (status, head, body) = get(address, path).whole();
        assert_eq!(status, 200);
        assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
        assert!(body.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{body}");
        assert!(body.contains("<form role=\"search\" action=\"/\" method=\"get\">"), "{body}");
        assert!(body.contains("<label for=\"q\">") && body.contains(" autofocus"), "{body}");
        assert!(body.contains("name=\"viewport\"") && body.matches("<h1>").count() == 1, "{body}");
        assert!(!body.contains("style=") && !body.contains("onclick"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_was_searched_for_instead_is_told() {
    let hits = || SearchEvent::Hits(vec![hit("http://a.example/", "A")]);
    let body = page("/?q=%E6%B0%B4+%28b%3Ci", vec![hits(), end(None, true)]).await;
    let note = "<p class=\"note\" role=\"status\"><bdi>Searched for as it is written: at character 3: ";
    assert!(body.contains(note) && body.contains("value=\"水 (b&lt;i\""), "{body}");
    let instead = SearchEvent::Instead(Instead::Corrected { query: "a <b".into() });
    let body = page("/?q=aa", vec![instead, hits(), end(None, true)]).await;
    assert!(body.contains("These are the results for <a href=\"/?q=a+%3Cb\"><bdi>a &lt;b</bdi></a>."), "{body}");
    let instead = SearchEvent::Instead(Instead::Most { missing: vec!["<c".into()] });
    let body = page("/?q=a", vec![instead, hits(), end(None, true)]).await;
    assert!(body.contains("Nothing has the words: &lt;c; these have most of the others."), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_query_without_words_is_explained() {
    let (address, _calls) = face().await;
    let (status, body) = get(address, "/?q=%21%3F").answer();
    assert!(status == 400 && body.contains("The query has no words; "), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_browser_is_told_to_trust_nothing() {
    let (address, _calls) = face().await;
    for path in ["/", "/style.css", "/script.js", "/icon.svg", "/nothing", "/?q=%28"] {
        let (_, head, _) = browse(address, path).whole();
        for header in [
            "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
             form-action 'self'; frame-ancestors 'none'; base-uri 'none'\r\n",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
        ] {
            assert!(format!("{head}\r\n").contains(header), "{path}: {head}");
        }
    }
    // Requests from pages of other sites are refused, and a browser gets errors as pages.
    let foreign = BROWSER.replace("none", "cross-site");
    let (status, body) = Asked::new(address, "GET /?q=a", &foreign, b"").answer();
    assert!(status == 403 && body.contains("<h1>Not answered</h1>") && body.contains("A request from"), "{body}");
    let rebound = BROWSER.replace("127.0.0.1:80", "evil.example");
    assert_eq!(Asked::new(address, "GET /", &rebound, b"").answer().0, 403);
    let (status, body) = browse(address, "/?q=a&cursor=12").answer();
    assert!(status == 400 && body.contains("This is not a cursor"), "{body}");
    assert!(browse(address, "/?q=a&from=x").answer().1.contains("<h1>Not answered</h1>"));
    assert!(get(address, "/?q=a&cursor=12").answer().1.starts_with("{\"error\":"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_status_is_a_page_for_people() {
    let (address, mut calls) = face().await;
    let node = tokio::spawn(async move {
        for whole in [true, false] {
            let Some(Call::Status { answer }) = calls.recv().await else { panic!() };
            let lately = (0..7).map(|at| Span { sent: 1000 * at, received: 0 }).collect();
            let peer = "<12D3".into();
            let shelf = Statistics { words: 12_345, disk_bytes: 5_000_000, ..Statistics::default() };
            let traffic = Counters { wire_in: 77, ..Counters::default() };
            let status = NodeStatus { peers: 4, shelf, traffic, whole, lately, peer, ..NodeStatus::default() };
            answer.send(Ok(status)).ok().unwrap();
        }
    });
    let (status, head, body) = browse(address, "/status").whole();
    assert!(status == 200 && head.contains("vary: accept") && head.contains("text/html"), "{head}");
    assert!(body.contains("12\u{202f}345") && body.contains("5.00\u{a0}MB") && body.contains("&lt;12D3"), "{body}");
    assert!(body.contains("77\u{a0}B"), "{body}");
    assert!(body.contains("It is whole") && body.contains(env!("CARGO_PKG_VERSION")), "{body}");
    assert!(body.contains("<polyline class=\"sent\"") && body.contains("The last 2 minutes"), "{body}");
    // The last six spans are a minute; the span before belongs to an incomplete minute.
    assert!(body.contains("<th scope=\"row\">0</th><td>21.0\u{a0}kB</td>"), "{body}");
    assert!(body.contains("<th scope=\"row\">1</th><td>0\u{a0}B</td>"), "{body}");
    assert!(browse(address, "/status").answer().1.contains("It is not whole yet"));
    node.await.unwrap();
}
