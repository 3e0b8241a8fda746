//! Queries that find nothing as they are written.

use furui_net::node::{Document, Instead, Languages, Node, SearchEvent, SearchOptions};
use furui_search::{Query, Record};
use tokio::sync::mpsc;

use crate::common::{NOBODY, Publishes, all_by, network};

/// What a node finds for a query, as titles, and what it has searched for instead.
async fn found(node: &Node, query: &str, options: SearchOptions) -> (Option<Instead>, Vec<String>) {
    let (events, mut came) = mpsc::channel(16);
    let (query, _) = Query::read(query).unwrap();
    let collect = async {
        let (mut instead, mut titles) = (None, vec![]);
        while let Some(event) = came.recv().await {
            match event {
                SearchEvent::Instead(it) => instead = Some(it),
                SearchEvent::Hits(hits) => titles.extend(hits.into_iter().map(|hit| hit.title)),
                SearchEvent::Done { found, whole, .. } => assert_eq!((found, whole), (titles.len() as u64, true)),
            }
        }
        (instead, titles)
    };
    let (done, found) = tokio::join!(node.search(&query, options, events), collect);
    done.unwrap();
    found
}

/// The options of a search that is relaxed, or is not, by somebody who reads these languages.
fn options(relaxed: bool, languages: &str) -> SearchOptions {
    SearchOptions { relaxed, languages: Languages::accepted(languages), ..SearchOptions::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_written_exactly_is_found_and_said() {
    let nodes = network(5).await;
    let texts = [
        ("Dictionaries", "A dictionary of Python maps keys to values."),
        ("Sécurité réseau", "La sécurité des réseaux et des systèmes."),
        ("getOrDefault", "map.getOrDefault(key, 0) returns the value or a default."),
        ("RFC 2616", "Hypertext transfer protocol, in UTF-8, described in RFC 2616."),
        ("C++", "std::vector in C++ and the vector of C."),
        ("京都", "東京と京都の地図"),
        ("東京都", "東京都の地図"),
        ("Deadlocks", "Transactions wait for locks. A deadlock is detected by the server."),
        ("Locks", "Transactions wait in a row."),
        ("Queues", "Who is waiting is served in turn."),
        (
            "Zwiebel",
            "Die Zwiebel und die Shallot wachsen in vielen Gärten, und beide werden gerne in der Küche verwendet.",
        ),
        (
            "Onions",
            "The onion and the shallot grow in many gardens, and both of them are used in the kitchen with pleasure; people say that these have been eaten for a very long time in all parts of the world.",
        ),
    ];
    let record = |(number, (title, text)): (usize, &(&str, &str))| {
        let url = format!("http://a.example/{number}");
        Document::new(&Record { url, title: (*title).into(), text: (*text).into(), publisher: NOBODY }).unwrap()
    };
    let documents = all_by(&nodes[0], texts.iter().enumerate().map(record));
    assert_eq!(nodes[0].publishes(documents, false).await.unwrap().new, texts.len() as u64);
    let corrected = |query: &str| Some(Instead::Corrected { query: query.into() });
    let most = |missing: &[&str]| Some(Instead::Most { missing: missing.iter().map(|it| it.to_string()).collect() });
    let forms = |found: u64, forms: &[&str]| {
        Some(Instead::Forms { found, forms: forms.iter().map(|it| it.to_string()).collect() })
    };
    for (query, instead, titles) in [
        ("gardening onion", forms(0, &["garden"]), &["Onions"][..]),
        ("wait", forms(2, &["waiting"]), &["Locks", "Deadlocks", "Queues"]),
        ("dictionaries", None, &["Dictionaries"][..]),
        ("dictionary key", None, &["Dictionaries"]),
        ("securite reseau", None, &["Sécurité réseau"]),
        ("SÉCURITÉ systemes", None, &["Sécurité réseau"]),
        ("\"reseau\"", None, &[]),
        ("deadlock \"by server\"", Some(Instead::Unquoted), &["Deadlocks"]),
        ("\"deadlock server\"", None, &[]),
        ("dead locks row", most(&["dead"]), &["Locks"]),
        ("dead lock server", corrected("deadlock server"), &["Deadlocks"]),
        ("map.getOrDefault", None, &["getOrDefault"]),
        ("get or default", None, &["getOrDefault"]),
        ("getordefault", None, &["getOrDefault"]),
        ("rfc2616", None, &["RFC 2616"]),
        ("utf8 rfc 2616", None, &["RFC 2616"]),
        ("c++ vector", None, &["C++"]),
        ("東京都", None, &["東京都"]),
        ("\"deadlocks\"", None, &["Deadlocks"]),
        ("dictionery python", corrected("dictionary python"), &["Dictionaries"]),
        ("pyhton vlaues", corrected("python values"), &["Dictionaries"]),
        ("http2616 rfc", most(&[]), &["RFC 2616"]),
        ("geadlock", corrected("deadlock"), &["Deadlocks"]),
        ("deadlock xyzzyq", most(&["xyzzyq"]), &["Deadlocks"]),
        ("\"deadlock xyzzyq\"", None, &[]),
        ("deadlock -xyzzyq", None, &["Deadlocks"]),
        ("hypertext vector transactions", most(&[]), &["C++", "Deadlocks", "Locks", "RFC 2616"]),
        ("getOrDefault(key, 0", None, &["getOrDefault"]),
    ] {
        for node in [&nodes[1], &nodes[4]] {
            let (said, of) = found(node, query, options(true, "")).await;
            let (mut titles, mut sorted) = (titles.to_vec(), of.clone());
            titles.sort_unstable();
            sorted.sort();
            assert_eq!((&said, sorted), (&instead, titles.iter().map(|it| it.to_string()).collect()), "{query}");
            // Exactly what was asked for comes first, and alone if it is all that is wanted.
            let exact = if let Some(Instead::Forms { found, .. }) = instead { found } else { 0 };
            if instead.is_some() {
                let (said, alone) = found(node, query, options(false, "")).await;
                assert_eq!((said, alone.len() as u64), (None, exact), "{query}");
                assert!(of.starts_with(&alone), "{query}: {of:?}");
            }
        }
    }
    let near = found(&nodes[2], "transactions server", options(true, "")).await.1;
    assert_eq!(near, ["Deadlocks"]);
    // Languages order what is found, and hide nothing.
    let usual = found(&nodes[3], "shallot", options(true, "")).await.1;
    assert_eq!(found(&nodes[3], "shallot", options(true, "fr")).await.1, usual);
    for (languages, titles) in [("de", ["Zwiebel", "Onions"]), ("en-US,en;q=0.7", ["Onions", "Zwiebel"])] {
        assert_eq!(found(&nodes[3], "shallot", options(true, languages)).await.1, titles, "{languages}");
        assert_eq!(found(&nodes[3], "shallot", options(false, languages)).await.1, usual, "{languages}");
    }
}
