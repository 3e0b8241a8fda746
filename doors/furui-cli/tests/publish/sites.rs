//! Sites on this machine, and the publishers that sites, directories and crawls name.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use furui_node::furui_search::PublisherKey;

use super::crawls::warc_record;
use super::text;
use crate::support::node::FakeNode;
use crate::support::{TempDir, failure, run};

/// A web server on this machine that answers each path with given bytes. It ends with the tests.
fn site(answers: impl Fn(&str, &str) -> Vec<u8> + Send + 'static) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let here = url.clone();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
            let answer = answers(&here, first.split(' ').nth(1).unwrap());
            connection.write_all(&answer).unwrap();
        }
    });
    url
}

fn http(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The text form of a publisher key.
fn key(byte: u8) -> String {
    PublisherKey::new([byte; 32]).to_string()
}

/// The publisher keys in the records of a node, by URLs.
fn keys(node: &FakeNode) -> Vec<(String, Option<String>)> {
    let key = |key: PublisherKey| key.to_string();
    node.records().into_iter().map(|record| (record.url, record.publisher.map(key))).collect()
}

#[test]
fn a_site_names_its_publisher_in_its_pages_or_in_a_file() {
    let node = FakeNode::new();
    let fetched = Arc::new(AtomicUsize::new(0));
    let site = site({
        let fetched = Arc::clone(&fetched);
        move |here, path| match path {
            "/sitemap.xml" => {
                let urls = ["/a", "/b", "/c"].map(|path| format!("<url><loc>{here}{path}</loc></url>")).concat();
                http("200 OK", "Content-Type: text/xml\r\n", format!("<urlset>{urls}</urlset>").as_bytes())
            }
            "/.well-known/furui-publisher" => {
                fetched.fetch_add(1, Ordering::Relaxed);
                http("200 OK", "Content-Type: text/plain\r\n", format!("furui:{}\n", key(1)).as_bytes())
            }
            "/b" => {
                let named = format!("<link rel=furui-publisher href={}><p>page b", key(2));
                http("200 OK", "Content-Type: text/html\r\n", named.as_bytes())
            }
            "/c" => http("200 OK", "Content-Type: text/html\r\n", b"<link rel=furui-publisher href=12D3>c"),
            path => http("200 OK", "Content-Type: text/html\r\n", format!("page {path}").as_bytes()),
        }
    });
    let output = run(&["publish", "--node", &node.url(), &format!("{site}/sitemap.xml"), &format!("{site}/d")], b"");
    assert_eq!(text(&output.stdout), "4 documents: 4 new, 0 known\n");
    let errors = text(&output.stderr);
    assert!(errors.lines().count() == 1 && errors.contains("/c: not the key of a publisher"), "{errors}");
    let expected = [("/a", Some(key(1))), ("/b", Some(key(2))), ("/c", None), ("/d", Some(key(1)))];
    assert_eq!(keys(&node), expected.map(|(path, key)| (format!("{site}{path}"), key)));
    assert_eq!(fetched.load(Ordering::Relaxed), 1);
}

#[test]
fn a_directory_and_a_line_name_a_publisher_too() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    fs::create_dir_all(dir.join("site/.well-known")).unwrap();
    dir.file("site/.well-known/furui-publisher", key(3).as_bytes());
    dir.file("site/a.html", b"<p>page a");
    let lines = format!(
        "{{\"url\":\"u:1\",\"text\":\"one\",\"publisher\":\"{}\"}}\n{{\"url\":\"u:2\",\"text\":\"two\"}}\n\
         {{\"url\":\"u:3\",\"text\":\"three\",\"publisher\":\"me\"}}\n",
        key(4)
    );
    dir.file("site/more.jsonl", lines.as_bytes());
    // A crawl is not the site that is published, and only its pages name their publishers.
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let named = format!("{head}<link rel=furui-publisher href={}>crawled", key(5));
    let crawl = [("http://c.example/1", head.to_owned() + "crawled"), ("http://c.example/2", named)];
    let crawl = crawl.map(|(url, answer)| warc_record("response", url, answer.as_bytes())).concat();
    dir.file("site/crawl.warc", &crawl);
    let base = "http://s.example/";
    let output = run(&["publish", "--base", base, "--node", &node.url(), &dir.join("site")], b"");
    assert_eq!(text(&output.stdout), "5 documents: 5 new, 0 known; 1 left out\n");
    assert!(text(&output.stderr).contains("more.jsonl: line 3: publisher: not the key of a publisher"));
    let expected = [
        ("http://c.example/1", None),
        ("http://c.example/2", Some(key(5))),
        ("http://s.example/a.html", Some(key(3))),
        ("u:1", Some(key(4))),
        ("u:2", None),
    ];
    assert_eq!(keys(&node), expected.map(|(url, key)| (url.to_owned(), key)));
}

#[test]
fn a_site_on_this_machine_is_published_by_its_sitemap_and_no_other() {
    let node = FakeNode::new();
    let site = site(|here, path| match path {
        "/sitemap.xml" => {
            let urls = ["/a", "/moved", "/away", "/gone", "/picture", "/b?x=1&amp;y=2"];
            let mut urls: String = urls.map(|path| format!("<url><loc>{here}{path}</loc></url>")).concat();
            urls += "<url><loc>http://192.0.2.1/</loc></url><url><loc>https://127.0.0.1/</loc></url>";
            http("200 OK", "Content-Type: text/xml\r\n", format!("<urlset>{urls}</urlset>").as_bytes())
        }
        "/index.xml" => {
            let sitemap = format!("<sitemapindex><sitemap><loc>{here}/sitemap.xml</loc></sitemap></sitemapindex>");
            http("200 OK", "Content-Type: text/xml\r\n", sitemap.as_bytes())
        }
        "/moved" => http("302 Found", "Location: /c\r\n", b""),
        "/away" => http("302 Found", "Location: http://192.0.2.1/\r\n", b""),
        "/loop" => http("302 Found", "Location: /loop\r\n", b""),
        "/gone" => http("404 Not Found", "", b"words"),
        "/picture" => http("200 OK", "Content-Type: image/png\r\n", b"PNG"),
        path => http("200 OK", "Content-Type: text/html; charset=utf-8\r\n", format!("<p>page {path}").as_bytes()),
    });
    let output = run(&["publish", "--node", &node.url(), &format!("{site}/index.xml")], b"");
    assert_eq!(text(&output.stdout), "3 documents: 3 new, 0 known; 4 left out, 1 of other kinds\n");
    let errors = text(&output.stderr);
    for error in [
        "/gone: the server answers 404",
        "192.0.2.1/: only sites on this machine",
        "/away: only sites",
        "only http: URLs are fetched",
    ] {
        assert!(errors.contains(error), "{error}: {errors}");
    }
    let urls: Vec<_> = node.records().into_iter().map(|record| record.url).collect();
    assert_eq!(urls, ["/a", "/b?x=1&y=2", "/c"].map(|path| format!("{site}{path}")));
    // The site's page is published under the public name of the site.
    let base = ["--base", "https://public.example/"];
    let output = run(&["publish", "--node", &node.url(), base[0], base[1], &format!("{site}/a")], b"");
    assert_eq!(text(&output.stdout), "1 documents: 1 new, 0 known\n");
    assert!(node.records().iter().any(|record| record.url == "https://public.example/a"));
    let message = failure(&["publish", "--node", &node.url(), &format!("{site}/loop")], b"");
    assert!(message.contains("redirected more than 5 times"), "{message}");
    let message = failure(&["publish", "--node", &node.url(), "http://example.org/sitemap.xml"], b"");
    assert!(message.contains("only sites on this machine are fetched") && message.contains("WARC"), "{message}");
}

#[test]
fn a_site_leads_to_no_other_service_of_this_machine() {
    let node = FakeNode::new();
    let page = |path: &str| http("200 OK", "Content-Type: text/html\r\n", format!("<p>page {path}").as_bytes());
    let other = site(move |_, path| page(path));
    let port = other.rsplit(':').next().unwrap().to_owned();
    let site = site(move |here, path| match path {
        "/sitemap.xml" => {
            let urls = [
                format!("{other}/secret-admin"),
                format!("http://2130706433:{port}/"),
                format!("http://localhost:{port}/"),
                format!("{here}/via-redirect"),
                format!("{here}/a"),
            ];
            let urls = urls.map(|url| format!("<url><loc>{url}</loc></url>")).concat();
            http("200 OK", "Content-Type: text/xml\r\n", format!("<urlset>{urls}</urlset>").as_bytes())
        }
        "/via-redirect" => http("302 Found", &format!("Location: {other}/redirected\r\n"), b""),
        path => page(path),
    });
    let output = run(&["publish", "--node", &node.url(), &format!("{site}/sitemap.xml")], b"");
    assert_eq!(text(&output.stdout), "1 documents: 1 new, 0 known; 4 left out\n");
    assert_eq!(text(&output.stderr).matches("that of the given URL, are fetched").count(), 4);
    assert_eq!(node.records()[0].url, format!("{site}/a"));
}
