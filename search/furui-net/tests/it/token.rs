//! The token of the HTTP interface, and what needs none.

use std::net::SocketAddr;

use crate::face::{Asked, Call, HOST, face_with, get};
use furui_net::http::{ServeOptions, Token};
use furui_net::node::NodeStatus;
use furui_net::watched::{FileReading, Watched};
use furui_search::ContentId;
use tokio::sync::mpsc;

const TOKEN: &str = "0123456789abcdef0123";
const BROWSER: &str = "Host: search.lan\r\nAccept: text/html\r\nSec-Fetch-Site: same-origin\r\n";

async fn face() -> (SocketAddr, mpsc::Receiver<Call>) {
    let token = Some(Token::new(TOKEN).unwrap());
    face_with(ServeOptions { token, hosts: vec!["search.lan".into()], ..ServeOptions::default() }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_the_token_nothing_is_answered() {
    let (address, mut calls) = face().await;
    let document = format!("/document?id={}", "0".repeat(40));
    for path in [
        "/",
        "/?q=a",
        "/search?q=a",
        "/search?q=a&format=json",
        "/suggest?q=a",
        &document,
        "/status",
        "/metrics",
        "/blocked",
        "/open?url=file:///a",
        "/nothing",
    ] {
        for authorization in ["", "Authorization: Bearer 0123456789abcdef0124\r\n", "Cookie: furui=0123\r\n"] {
            let asked = Asked::new(address, &format!("GET {path}"), &format!("{HOST}{authorization}"), b"");
            let (status, head, body) = asked.whole();
            assert!(status == 401 && head.contains("www-authenticate: Bearer"), "{path}: {status} {head}");
            assert!(body.contains("--token FILE"), "{body}");
        }
    }
    for path in ["/publish", "/wanted", "/unpublish", "/block", "/unblock", "/purge"] {
        assert_eq!(Asked::new(address, &format!("POST {path}"), HOST, b"{}").answer().0, 401, "{path}");
    }
    assert!(calls.try_recv().is_err(), "the node was asked");
    let headers = format!("{HOST}Authorization: Bearer {TOKEN}\r\n");
    let asked = Asked::new(address, "GET /status", &headers, b"");
    let Some(Call::Status { answer }) = calls.recv().await else { panic!() };
    answer.send(Ok(NodeStatus { peers: 3, ..NodeStatus::default() })).ok().unwrap();
    assert!(asked.answer().1.contains("\"peers\":3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn monitors_and_crawlers_need_no_token() {
    let (address, mut calls) = face().await;
    assert_eq!(get(address, "/robots.txt").answer(), (200, "User-agent: *\nDisallow: /\n".into()));
    let asked = get(address, "/healthz");
    let Some(Call::Status { answer }) = calls.recv().await else { panic!() };
    answer.send(Ok(NodeStatus { peers: 3, whole: true, ..NodeStatus::default() })).ok().unwrap();
    assert_eq!(asked.answer(), (200, "{\"ok\":true,\"peers\":3,\"whole\":true}\n".into()));
    let asked = get(address, "/healthz");
    let Some(Call::Status { answer }) = calls.recv().await else { panic!() };
    answer.send(Err(furui_net::node::NodeError::Stopped)).ok().unwrap();
    let (status, body) = asked.answer();
    assert!(status == 503 && body.starts_with("{\"error\":\"the node is shut down"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_browser_logs_in_and_is_known() {
    let (address, _calls) = face().await;
    let (status, head, body) = Asked::new(address, "GET /?q=two+words&from=3", BROWSER, b"").whole();
    assert!(head.contains("referrer-policy: same-origin"), "{head}");
    assert!(status == 401 && body.contains("type=\"password\""), "{body}");
    assert!(body.contains("name=\"to\" value=\"/?q=two+words&amp;from=3\""), "{body}");
    let post = |headers: &str, body: &str| {
        let headers = format!("{BROWSER}{headers}Content-Type: application/x-www-form-urlencoded\r\n");
        Asked::new(address, "POST /login", &headers, body.as_bytes())
    };
    let (status, head, body) = post("", "token=wrong&to=%2F").whole();
    assert!(status == 401 && body.contains("This is not the token.") && !head.contains("set-cookie"), "{head}");
    let fields = format!("token={TOKEN}&to=%2F%3Fq%3Da");
    let (status, head, _) = post("Origin: https://search.lan\r\n", &fields).whole();
    assert!(status == 303 && head.contains("location: /?q=a"), "{head}");
    let cookie = head.split("set-cookie: ").nth(1).unwrap().lines().next().unwrap();
    let (value, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000; Secure");
    assert!(!value.contains(TOKEN));
    let known = format!("{BROWSER}Cookie: other=1; {value}\r\n");
    assert_eq!(Asked::new(address, "GET /", &known, b"").answer().0, 200);
    assert_eq!(Asked::new(address, "GET /", &known.replace("search.lan", "evil.example"), b"").answer().0, 403);
    // Over plain HTTP the cookie cannot be limited to HTTPS.
    assert!(!post("Origin: http://search.lan\r\n", &fields).whole().1.contains("Secure"));
    // The form leads to no other site, and no other site can send it.
    for to in ["https://evil.example/", "//evil.example", "/\\evil.example", "%0d%0ax: y", ""] {
        let (_, head, _) = post("", &format!("token={TOKEN}&to={to}")).whole();
        assert!(head.contains("location: /\r\n"), "{to}: {head}");
    }
    assert_eq!(post("Origin: https://evil.example\r\n", &fields).answer().0, 403);
    assert_eq!(Asked::new(address, "POST /login", HOST, fields.as_bytes()).answer().0, 403);
    let long = format!("{fields}&more={}", "x".repeat(20 << 10));
    assert_eq!(post("", &long).answer().0, 413);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_link_from_another_site_is_followed_with_the_cookie() {
    let (address, _calls) = face().await;
    let link = "Host: search.lan\r\nAccept: text/html\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\
                Sec-Fetch-Dest: document\r\n";
    // The browser sends no cookie with it, so the page asks once more.
    let (status, body) = Asked::new(address, "GET /?q=a", link, b"").answer();
    assert!(status == 200 && body.contains("<meta http-equiv=\"refresh\" content=\"0\">"), "{body}");
    assert_eq!(Asked::new(address, "GET /status", link, b"").answer().0, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn files_are_opened_for_the_machine_or_the_token_alone() {
    let directory = std::env::temp_dir().join(format!("furui-open-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let root = directory.canonicalize().unwrap();
    let file = root.join("notes.txt");
    std::fs::write(&file, "a note").unwrap();
    let watched = Watched::open(&directory, vec![root], vec![]).unwrap();
    let url = format!("file://{}", file.display());
    let row = (FileReading { path: file, number: 1 }, url.clone(), ContentId::new([0; ContentId::BYTES]));
    watched.claim(&[row]).unwrap();
    let path = format!("GET /open?url={url}");
    let hosts = vec!["search.lan".to_owned()];
    let options = ServeOptions { watched: Some(watched), hosts, ..ServeOptions::default() };
    let (address, _calls) = face_with(options.clone()).await;
    assert_eq!(Asked::new(address, &path, HOST, b"").answer(), (200, "a note".into()));
    // Who comes by a name comes from elsewhere, through a proxy on this machine.
    for path in [&path, "POST /snapshot"] {
        let (status, body) = Asked::new(address, path, "Host: search.lan\r\n", b"").answer();
        assert!(status == 403 && body.contains("own machine"), "{path}: {status} {body}");
    }
    let (address, _calls) = face_with(ServeOptions { token: Some(Token::new(TOKEN).unwrap()), ..options }).await;
    let with_token = format!("Host: search.lan\r\nAuthorization: Bearer {TOKEN}\r\n");
    assert_eq!(Asked::new(address, &path, &with_token, b"").answer(), (200, "a note".into()));
    assert_eq!(Asked::new(address, &path, HOST, b"").answer().0, 401);
    std::fs::remove_dir_all(directory).unwrap();
}
