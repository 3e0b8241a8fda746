//! A network of `furui node` processes, some of which are killed.

use crate::support::node::{Node, settle};
use crate::support::{TempDir, failure, run, stdout};
use serde_json::{Value, json};

/// Starts `count` nodes that know the first, the last with these further arguments, and waits until they have settled.
fn network(dir: &TempDir, count: usize, last: &[&str]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for number in 0..count {
        let first = nodes.first().map(|node| ["--bootstrap", &node.address]);
        let more = if number + 1 == count { last } else { &[] };
        let arguments = [first.as_ref().map_or(&[][..], |first| first), more].concat();
        nodes.push(Node::start(dir, &format!("node{number}"), &arguments));
    }
    settle(&nodes);
    nodes
}

/// The URLs that a search finds, which must be all.
fn find(node: &Node, query: &str) -> Vec<String> {
    assert!(node.count(query).1, "{query}");
    node.find(query)
}

/// The lines of an explained search, over HTTP.
fn explained(node: &Node, query: &str, parameters: &str) -> Vec<Value> {
    let url = format!("{}/search?q={}&limit=1000&explain=true{parameters}", node.url, query.replace(' ', "+"));
    let text = furui_node::ureq::get(url).call().unwrap().body_mut().read_to_string().unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nodes_are_killed_and_come_back_and_every_document_is_found() {
    let dir = TempDir::new();
    let start = |number: usize, others: &[Node]| {
        let bootstrap = others.iter().take(2).flat_map(|node| ["--bootstrap", &node.address]);
        Node::start(&dir, &format!("node{number}"), &bootstrap.collect::<Vec<_>>())
    };
    let mut nodes = Vec::new();
    for number in 0..8 {
        nodes.push(start(number, &nodes));
    }
    settle(&nodes);
    let lines = (0..300).map(|number| {
        format!("{{\"url\":\"http://a.example/{number:03}\",\"text\":\"all c{} k{}\"}}\n", number % 10, number % 3)
    });
    let lines: String = lines.collect();
    let publish = ["publish", "--format", "jsonl", "--node", &nodes[0].url, "-"];
    assert_eq!(stdout(&publish, lines.as_bytes()), b"300 documents: 300 new, 0 known\n");
    assert_eq!(stdout(&publish, lines.as_bytes()), b"300 documents: 0 new, 300 known\n");
    let again = [&publish[..], &["--again"]].concat();
    assert_eq!(stdout(&again, lines.as_bytes()), b"300 documents: 300 new, 0 known\n");
    settle(&nodes);
    let check = |nodes: &[Node]| {
        for (class, node) in nodes.iter().enumerate() {
            let expected = (0..300).filter(|number| number % 10 == class && number % 3 == 1);
            let expected: Vec<String> = expected.map(|number| format!("http://a.example/{number:03}")).collect();
            assert_eq!(find(node, &format!("c{class} k1 all")), expected);
        }
    };
    check(&nodes);

    // Dropping a node kills its process, which then writes nothing at its end.
    nodes.truncate(6);
    settle(&nodes);
    check(&nodes);
    let back = start(7, &nodes);
    assert!(back.status()["postings"].as_u64().unwrap() > 0, "it has its lists from disk");
    nodes.push(back);
    settle(&nodes);
    check(&nodes);

    // No node finds withdrawn documents, or old words of changed ones; not even a node that was down meanwhile.
    drop(nodes.remove(3));
    settle(&nodes);
    let ninth: String = (9..300).step_by(10).map(|number| format!("http://a.example/{number:03}\n")).collect();
    let unpublish = ["unpublish", "--node", &nodes[0].url, "--from", "-"];
    assert_eq!(stdout(&unpublish, ninth.as_bytes()), b"30 withdrawn\n");
    let changed = "{\"url\":\"http://a.example/008\",\"text\":\"c8 other words\"}\n";
    assert_eq!(nodes[0].publish(changed), "1 documents: 0 new, 1 changed, 0 known\n");
    nodes.push(start(3, &nodes));
    settle(&nodes);
    for node in &nodes {
        assert_eq!(find(node, "all c8").len(), 29);
        assert_eq!(find(node, "c9 OR other"), ["http://a.example/008"]);
    }
}

/// The result of a query with one result.
fn only(node: &Node, query: &str) -> Value {
    let mut lines = node.search(query);
    assert_eq!((lines.len(), &lines[1]["total"], &lines[1]["whole"]), (2, &json!(1), &json!(true)), "{lines:?}");
    lines.remove(0)
}

#[test]
fn of_one_url_the_first_text_is_shown_unless_another_publisher_is_trusted() {
    let dir = TempDir::new();
    let nodes = network(&dir, 4, &[]);
    let names: Vec<String> = nodes.iter().map(|node| node.status()["peer"].as_str().unwrap().to_owned()).collect();
    // The name of a node, which is its key as a publisher, is the end of its address.
    assert!(nodes[0].address.ends_with(&format!("/p2p/{}", names[0])));
    dir.file("site.html", b"<title>The page</title><p>A page about a sieve, as the site has written it.");
    let publish = ["publish", "--node", &nodes[0].url, "--base", "http://site.example/", &dir.join("site.html")];
    assert_eq!(stdout(&publish, b""), b"1 documents: 1 new, 0 known\n");
    let copy = "{\"url\":\"http://site.example/site.html\",\"text\":\"sieve, buy a sieve\"}\n";
    for node in &nodes[1..3] {
        assert_eq!(node.publish(copy), "1 documents: 1 new, 0 known\n");
    }
    let reader = &nodes[3];
    let hit = only(reader, "sieve");
    assert_eq!((&hit["title"], &hit["publishers"]), (&json!("The page"), &json!([names[0]])));
    let also = |hit: &Value| {
        let [also] = &hit["also"].as_array().unwrap()[..] else { panic!("{hit}") };
        also["publishers"].as_array().unwrap().clone()
    };
    assert_eq!(also(&hit), [json!(names[1]), json!(names[2])]);
    let text = String::from_utf8(stdout(&["search", "--node", &reader.url, "sieve"], b"")).unwrap();
    let short = |name: &str| format!("…{}", &name[name.len() - 8..]);
    assert!(text.contains(&format!("    published by {}\n", short(&names[0]))), "{text}");
    let others = format!("    another text is published by {}, {} (", short(&names[1]), short(&names[2]));
    assert!(text.contains(&others), "{text}");

    assert_eq!(stdout(&["trust", "--node", &reader.url, &names[2]], b""), b"1 trusted\n");
    assert_eq!(stdout(&["trust", "--node", &reader.url], b""), format!("{}\n", names[2]).into_bytes());
    let hit = only(reader, "sieve");
    assert_eq!((&hit["trusted"], &hit["publishers"]), (&json!(true), &json!([names[2], names[1]])));
    assert_eq!(stdout(&["untrust", "--node", &reader.url, &names[2]], b""), b"1 no longer trusted\n");
    assert_eq!(run(&["untrust", "--node", &reader.url, &names[2]], b"").status.code(), Some(1));
    assert!(failure(&["trust", "--node", &reader.url, "12D3"], b"").contains("the name of a node"));
    for none in ["", " ", &format!("{}\n{}", names[1], names[2])] {
        assert!(failure(&["trust", "--node", &reader.url, none], b"").contains("is not one line of text"));
    }
    assert_eq!(only(reader, "sieve")["publishers"], json!([names[0]]));
    // What a blocked publisher alone has published is not there.
    stdout(&["block", "--node", &reader.url, &names[0]], b"");
    assert_eq!(only(reader, "sieve")["publishers"], json!([names[1], names[2]]));

    // Who withdraws is told who else has published the text.
    let withdrawn = stdout(&["unpublish", "--node", &nodes[1].url, "http://site.example/site.html"], b"");
    let expected = "http://site.example/site.html: withdrawn; the same text is published by 1 other: ";
    assert_eq!(String::from_utf8(withdrawn).unwrap(), format!("{expected}{}\n1 withdrawn\n", names[2]));
}

#[test]
fn one_publisher_does_not_fill_an_answer_unless_all_is_asked_for() {
    let dir = TempDir::new();
    let nodes = network(&dir, 4, &[]);
    let many = (0..30).map(|n| format!("{{\"url\":\"http://a{n}.example/\",\"text\":\"sieve {n}\"}}\n"));
    assert_eq!(nodes[0].publish(&many.collect::<String>()), "30 documents: 30 new, 0 known\n");
    for (number, node) in nodes[1..3].iter().enumerate() {
        let few = (0..2).map(|n| {
            let words = (0..200).map(|word| format!("and {} more of {number}{n}, ", word * word % 397));
            let long: String = words.collect();
            format!("{{\"url\":\"http://b{number}{n}.example/\",\"text\":\"a long sieve {number}{n} {long}\"}}\n")
        });
        assert_eq!(node.publish(&few.collect::<String>()), "2 documents: 2 new, 0 known\n");
    }
    let reader = &nodes[3].url;
    let text = |more: &[&str]| {
        let search = [&["search", "--node", reader][..], more, &["sieve"]].concat();
        String::from_utf8(stdout(&search, b"")).unwrap()
    };
    let hosts = |text: &str| {
        let lines = text.lines().filter(|line| line.contains("http://"));
        lines.map(|line| line.split("//").nth(1).unwrap()[..1].to_owned()).collect::<String>()
    };
    let first = text(&[]);
    assert_eq!(hosts(&first), "aabbbbaaaa", "{first}");
    let name = nodes[0].status()["peer"].as_str().unwrap().to_owned();
    let short = &name[name.len() - 8..];
    assert!(first.ends_with(&format!("(24 more published by …{short}; --exact lists all)\n")), "{first}");
    assert!(hosts(&text(&["--limit", "3"])) == "aab" && hosts(&text(&["--exact"])) == "aaaaaaaaaa");
    assert_eq!(hosts(&text(&["--exact", "--limit", "100"])), "a".repeat(30) + "bbbb");
    let last: Value = serde_json::from_str(text(&["--json"]).lines().last().unwrap()).unwrap();
    assert_eq!((&last["total"], &last["more"]), (&json!(10), &json!([{ "publisher": name, "documents": 24 }])));
    // Whom the owner trusts has all places.
    stdout(&["trust", "--node", reader, &name], b"");
    assert_eq!(hosts(&text(&[])), "aaaaaaaaaa");
}

#[test]
fn every_coding_finds_the_same_on_five_nodes_and_says_what_it_sent() {
    let dir = TempDir::new();
    let file = dir.file("node.toml", b"coding = \"ringed\"\nrate = 0.001\n");
    let nodes = network(&dir, 5, &["--config", &file]);
    let lines: String = (0..300)
        .map(|number| {
            format!("{{\"url\":\"http://a.example/{number:03}\",\"text\":\"c{} k{}\"}}\n", number % 10, number % 3)
        })
        .collect();
    assert_eq!(nodes[0].publish(&lines), "300 documents: 300 new, 0 known\n");
    settle(&nodes);

    let golomb = "Golomb-Rice coded set (cells of 2^-";
    for (parameters, options, at, sent) in [
        ("", &[][..], 0, golomb),
        ("&coding=best", &["--coding", "best"], 0, golomb),
        ("&coding=naive", &["--coding", "naive"], 1, "ids, "),
        ("&coding=fixed", &["--coding", "fixed"], 2, "fixed filter (k = 5, 2164 bits)"),
        ("&coding=fixed&rate=1%25", &["--coding", "fixed", "--rate", "1%"], 3, "fixed filter (k = 7, 3029 bits)"),
        // Here any k is right, because eq. 18 of the paper determines it from the lists.
        ("&coding=ringed", &["--coding", "ringed"], 0, "ringed filter (k = "),
        ("&coding=ringed&rate=0.01", &["--coding", "ringed", "--rate", "0.01"], 1, "ringed filter (k = 7, gamma = 11,"),
        ("&coding=golomb", &["--coding", "golomb"], 2, golomb),
        // This node's configuration file states the coding.
        ("", &[], 4, "ringed filter (k = 10, gamma = 15, delta = 1000)"),
    ] {
        let node = &nodes[at];
        let mut met = Vec::new();
        for (class, kind) in (0..30).map(|number| (number % 10, number % 3)) {
            let lines = explained(node, &format!("c{class} k{kind}"), parameters);
            let mut urls: Vec<&str> = lines.iter().filter_map(|line| line["url"].as_str()).collect();
            urls.sort_unstable();
            let truth = (0..300).filter(|number| number % 10 == class && number % 3 == kind);
            let truth: Vec<String> = truth.map(|number| format!("http://a.example/{number:03}")).collect();
            assert_eq!(urls, truth, "{parameters}: c{class} k{kind}");
            met.extend(
                lines.into_iter().filter(|line| line["step"].as_str().is_some_and(|step| step.contains("` met by "))),
            );
        }
        // If the lists of both words are on one node, it sends no list.
        assert!(!met.is_empty(), "of 30 pairs of lists some are not on one node");
        for line in &met {
            let step = line["step"].as_str().unwrap();
            assert!(step.contains(&format!("` met by {sent}")), "{parameters}: {step}");
            assert!(line["sent"].as_u64() > Some(0) && line["received"].as_u64() > Some(0), "{line}");
        }
        let command = [&["search", "--node", &node.url, "--explain", "--limit", "100"], options, &["c1 k1"]].concat();
        let text = String::from_utf8(stdout(&command, b"")).unwrap();
        assert_eq!(text.matches("http://a.example/").count(), 10, "{text}");
    }
}
