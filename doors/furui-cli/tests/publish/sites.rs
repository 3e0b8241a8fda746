//! Sites on this machine, and who publishes them.

use std::fs;

use furui_node::furui_search::PublisherKey;

use super::text;
use crate::support::fake_node::{FakeNode, KEY};
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

#[test]
fn the_node_publishes_in_its_own_name_whatever_a_page_or_a_line_says() {
    let node = FakeNode::new();
    let dir = TempDir::new();
    let other = PublisherKey::new([3; PublisherKey::BYTES]);
    fs::create_dir_all(dir.join("site/.well-known")).unwrap();
    dir.file("site/.well-known/furui-publisher", other.to_string().as_bytes());
    dir.file("site/a.html", format!("<link rel=furui-publisher href={other}><p>page a").as_bytes());
    dir.file("site/b.jsonl", format!("{{\"url\":\"u:1\",\"text\":\"one\",\"publisher\":\"{other}\"}}\n").as_bytes());
    let output = run(&["publish", "--base", "http://s.example/", "--node", &node.url(), &dir.join("site")], b"");
    assert_eq!(text(&output.stdout), "2 documents: 2 new, 0 known\n");
    assert!(node.records().iter().all(|record| record.publisher == KEY));
    assert_eq!(node.records().len(), 2);
    // The command knows the ids of documents before it sends them, because it asks for the key first.
    let output = run(&["publish", "--base", "http://s.example/", "--node", &node.url(), &dir.join("site")], b"");
    assert_eq!(text(&output.stdout), "2 documents: 0 new, 2 known\n");
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
