//! A node as a service: its token, its log, its files opened in a browser, and a copy of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use furui_node::ureq::Agent;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::node::{Node, refusal};
use crate::support::process::Process;
use crate::support::{TempDir, failure, furui, run, stdout};

/// Fetches a path of a node, with these headers. Returns the status, the headers as text, and the body.
fn get(node: &Node, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
    let agent: Agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
    let request = agent.get(format!("{}{path}", node.url));
    let mut response =
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).call().unwrap();
    let head = response.headers().iter().map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()));
    let head = head.collect();
    (response.status().as_u16(), head, response.body_mut().read_to_string().unwrap())
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    let dir = TempDir::new();
    let data = dir.join("node");
    let start = |more: &[&str]| refusal(&data, more);
    let message = start(&["--http", "0.0.0.0:0"]);
    assert!(message.contains("other machines could publish") && message.contains("--http-token FILE"), "{message}");
    let message = start(&["--http", "127.0.0.1:0", "--http-host", "search.lan"]);
    assert!(message.contains("behind the name search.lan"), "{message}");
    let message = start(&["--http-host", "http://search.lan"]);
    assert!(message.contains("not the name of a host"), "{message}");
    let token = dir.join("token");
    fs::write(&token, "0123456789abcdef0123").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(start(&["--http", "127.0.0.1:0", "--http-token", &token]).contains("chmod 600"));
    fs::remove_file(&token).unwrap();

    let mut node = Node::start(&dir, "node", &["--http", "0.0.0.0:0", "--http-token", &token]);
    node.url = node.url.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(fs::metadata(&token).unwrap().permissions().mode() & 0o777, 0o600);
    let document = b"{\"url\":\"http://a.example/\",\"text\":\"a sieve\"}\n";
    let message = failure(&["publish", "--node", &node.url], document);
    assert!(message.contains("asks for its token") && message.contains("--token FILE"), "{message}");
    stdout(&["publish", "--node", &node.url, "--token", &token], document);
    for command in [&["search", "--node", &node.url, "sieve"][..], &["block", "--node", &node.url]] {
        failure(command, b"");
        let with = |file: &str| run(&[&command[..3], &["--token", file], &command[3..]].concat(), b"").status.code();
        assert_eq!((with(&token), with(&dir.join("missing"))), (Some(0), Some(2)));
    }
    let text = fs::read_to_string(&token).unwrap();
    let by_environment = |value: &str| {
        furui().args(["search", "--node", &node.url, "sieve"]).env("FURUI_TOKEN", value).output().unwrap().status.code()
    };
    assert_eq!((by_environment(text.trim()), by_environment(&"x".repeat(64))), (Some(0), Some(2)));
    assert_eq!(get(&node, "/status", &[]).0, 401);
    assert_eq!(get(&node, "/status", &[("authorization", &format!("Bearer {}", text.trim()))]).0, 200);
    let (status, _, body) = get(&node, "/healthz", &[]);
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()["ok"].as_bool()), (200, Some(true)));
}

#[test]
fn a_result_in_a_watched_folder_opens_on_the_page_and_nothing_else_does() {
    let dir = TempDir::new();
    let watched = dir.path().canonicalize().unwrap().join("watched");
    fs::create_dir(&watched).unwrap();
    let path = |name: &str| watched.join(name).to_str().unwrap().to_owned();
    fs::write(path("a & b.txt"), "a fulmar <script>alert(1)</script>").unwrap();
    fs::write(path("page.html"), "<title>P</title>a fulmar<script>alert(1)</script>").unwrap();
    fs::write(path("secret.png"), "no fulmar \0").unwrap();
    let node = Node::start(&dir, "node", &["--watch", watched.to_str().unwrap()]);
    let urls = ["a%20&%20b.txt", "page.html"].map(|name| format!("file://{}", path(name)));
    node.finds("fulmar", &[&urls[0], &urls[1]]);
    // Another publisher's file has the same form of URL.
    let other = b"{\"url\":\"file:///etc/passwd\",\"text\":\"a fulmar elsewhere\"}\n";
    stdout(&["publish", "--node", &node.url], other);
    let (_, _, page) = get(&node, "/?q=fulmar", &[("accept", "text/html")]);
    let link =
        |url: &str| format!("/open?url={}", url::form_urlencoded::byte_serialize(url.as_bytes()).collect::<String>());
    for url in &urls {
        assert!(page.contains(&format!("<a href=\"{}\">", link(url))), "{url}: {page}");
    }
    assert!(page.contains("file:///etc/passwd") && page.matches("href=\"/open?").count() == 2, "{page}");

    let (status, head, body) = get(&node, &link(&urls[0]), &[]);
    assert!(status == 200 && head.contains("content-type: text/plain; charset=utf-8"), "{head}");
    assert_eq!(body, "a fulmar <script>alert(1)</script>");
    let (status, head, _) = get(&node, &link(&urls[1]), &[]);
    assert!(status == 200 && head.contains("content-type: text/html\n"), "{head}");
    assert!(head.contains("content-security-policy: sandbox; default-src 'none'"), "{head}");
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    for url in [
        "file:///etc/passwd".to_owned(),
        format!("file://{}", path("secret.png")),
        format!("file://{}", path("../node/identity")),
        format!("file://{}", path("missing.txt")),
        "http://a.example/".to_owned(),
        String::new(),
    ] {
        assert_eq!(get(&node, &link(&url), &[]).0, 404, "{url}");
    }
    // Pages of other sites cannot open it, nor can who reaches the node by another way.
    let cross = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(get(&node, &link(&urls[0]), &cross).0, 403);
    // What goes, or becomes a link, is not opened any more, even before it is withdrawn.
    fs::remove_file(path("page.html")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path("page.html")).unwrap();
    assert_eq!(get(&node, &link(&urls[1]), &[]).0, 404);
}

#[test]
fn the_log_tells_what_happens_and_not_what_is_searched_for() {
    let dir = TempDir::new();
    let config = dir.file("node.toml", b"log = \"info\"\nlog-format = \"json\"\n");
    let node = Node::start(&dir, "node", &["--config", &config]);
    stdout(&["publish", "--node", &node.url], b"{\"url\":\"http://a.example/\",\"text\":\"a capercaillie\"}\n");
    assert_eq!(node.find("capercaillie"), ["http://a.example/"]);
    node.says("\"message\":\"published\"");
    let other = Node::start(&dir, "other", &["--log", "info", "--bootstrap", &node.address]);
    node.says("\"message\":\"peer joined\"");
    other.says(" INFO peer joined peer=12D3");
    other.end();
    node.says("\"message\":\"peer lost\"");
    fs::write(&config, "log = \"off\"\nlog-format = \"json\"\n").unwrap();
    node.signal(Signal::HUP);
    let mut after = String::new();
    for count in 0.. {
        assert!(count < 200, "the level does not change: {}", node.log());
        // The level changes a moment after the signal.
        let line = format!("{{\"url\":\"http://a.example/{count}\",\"text\":\"capercaillie {count}\"}}\n");
        let before = node.log();
        stdout(&["publish", "--node", &node.url], line.as_bytes());
        after = node.log();
        if before == after {
            break;
        }
    }
    let lines: Vec<Value> = after.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for message in ["started", "listening", "listening for HTTP", "published"] {
        assert!(lines.iter().any(|line| line["message"] == message && line["level"] == "INFO"), "{message}: {after}");
    }
    let published = lines.iter().find(|line| line["message"] == "published").unwrap();
    assert_eq!((&published["documents"], &published["new"]), (&1.into(), &1.into()));
    assert!(!after.contains("capercaillie"), "{after}");
    fs::write(&config, "log = \"loud\"\n").unwrap();
    let message = refusal(&dir.join("node"), &["--config", &config]);
    assert!(message.contains("line 1") && message.contains("unknown variant `loud`"), "{message}");
}

#[test]
fn a_node_that_is_started_with_a_copy_answers_as_the_first() {
    let dir = TempDir::new();
    let watched = dir.path().canonicalize().unwrap().join("watched");
    fs::create_dir(&watched).unwrap();
    fs::write(watched.join("a.txt"), "a plover of the folder").unwrap();
    let node = Node::start(&dir, "node", &["--watch", watched.to_str().unwrap()]);
    let lines: String = (0..500)
        .map(|n| format!("{{\"url\":\"http://a.example/{n}\",\"text\":\"plover x{n} y{}\"}}\n", n % 7))
        .collect();
    stdout(&["publish", "--node", &node.url], lines.as_bytes());
    stdout(&["block", "--node", &node.url, "spam.example"], b"");
    let trusted = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp";
    stdout(&["trust", "--node", &node.url, trusted], b"");
    let file = format!("file://{}/a.txt", watched.display());
    node.finds("folder", &[&file]);
    let queries = ["plover", "x77 plover", "y3", "plover -y3", "\"plover x12\"", "folder", "nothing"];
    let answers = |node: &Node| queries.map(|query| node.find(query));
    let expected = answers(&node);
    assert_eq!(expected[0].len(), 501);

    let copy = dir.join("copy");
    assert!(stdout(&["snapshot", "--node", &node.url, &copy], b"").ends_with(b" bytes copied\n"));
    let message = failure(&["snapshot", "--node", &node.url, &copy], b"");
    assert!(message.contains("it is not empty"), "{message}");
    let message = failure(&["snapshot", "--node", &node.url, &dir.file("file", b"")], b"");
    assert!(message.contains("file: Not a directory"), "{message}");
    let (other, elsewhere) = (dir.join("other"), watched.to_str().unwrap());
    let message = failure(&["snapshot", "--node", &node.url, "--keys", elsewhere, &other], b"");
    assert!(message.contains("watched/identity: No such file"), "{message}");
    assert!(!fs::exists(&other).unwrap() && !fs::exists(format!("{other}.incomplete")).unwrap());
    let files = |directory: &str| {
        let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files(&copy), ["blocked", "peers", "published.redb", "shelf.redb", "trusted", "watched.redb", "words"]);
    assert!(!files(&dir.join("node")).contains(&"snapshot".into()), "a copy is left");
    let with_key = dir.join("with-key");
    stdout(&["snapshot", "--node", &node.url, "--keys", &dir.join("node"), &with_key], b"");
    // What is published later is not in the copies.
    stdout(&["publish", "--node", &node.url], b"{\"url\":\"http://a.example/new\",\"text\":\"a plover\"}\n");
    assert_eq!(node.find("plover").len(), 502);
    node.end();

    for (data, is_same) in [("copy", false), ("with-key", true)] {
        let node = Node::start(&dir, data, &["--watch", watched.to_str().unwrap()]);
        assert_eq!(answers(&node), expected, "{data}");
        assert_eq!(stdout(&["block", "--node", &node.url], b""), b"site:spam.example\n");
        assert_eq!(stdout(&["trust", "--node", &node.url], b""), format!("{trusted}\n").as_bytes());
        let key = |data: &str| fs::read(dir.join(&format!("{data}/identity"))).unwrap();
        assert_eq!(key(data) == key("node"), is_same);
        assert_eq!(fs::metadata(dir.join(&format!("{data}/identity"))).unwrap().permissions().mode() & 0o777, 0o600);
        if is_same {
            assert_eq!(stdout(&["unpublish", "--node", &node.url, "http://a.example/77"], b""), b"1 withdrawn\n");
            node.finds("x77", &[]);
        }
        node.end();
    }
}

#[test]
fn the_unit_of_systemd_is_one() {
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../search/furui-node/furui-node.service");
    let text = fs::read_to_string(unit).unwrap();
    for line in ["ProtectSystem=strict", "NoNewPrivileges=true", "ExecReload=/bin/kill -HUP $MAINPID"] {
        assert!(text.lines().any(|it| it == line), "{line}");
    }
    let dir = TempDir::new();
    // The program is not where the unit looks for it.
    let here = text.replace("/usr/local/bin/furui", env!("CARGO_BIN_EXE_furui"));
    let copy = dir.file("furui-node.service", here.as_bytes());
    match Command::new("systemd-analyze").args(["verify", &copy]).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !said.contains("furui-node.service"), "{said}");
        }
        Err(error) => eprintln!("SKIPPED: systemd-analyze: {error}"),
    }
    let options = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/furui ")).unwrap();
    let options: Vec<&str> = options.split(' ').collect();
    let config = dir.file("node.toml", b"listen = [\"/ip4/127.0.0.1/tcp/0\"]\nhttp = \"127.0.0.1:0\"\n");
    let place = |option: &&str| match *option {
        "/etc/furui/node.toml" => config.clone(),
        "/var/lib/furui" => dir.join("data"),
        other => other.to_owned(),
    };
    let mut options: Vec<String> = options.iter().map(place).collect();
    options.push("--http".into());
    options.push("127.0.0.1:nowhere".into());
    // All options but the last are known.
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let message = failure(&options, b"");
    assert!(message.contains("127.0.0.1:nowhere"), "{message}");
}

#[test]
fn a_node_completes_words_that_it_keeps_the_commonest_first() {
    let dir = TempDir::new();
    let node = Node::start(&dir, "node", &[]);
    let words = ["takin tak", "takahe takin", "takahe TAKAPU, of the takins"];
    let lines =
        words.map(|text| serde_json::json!({ "url": format!("http://tak.example/{}", text.len()), "text": text }));
    node.publish(&lines.map(|line| format!("{line}\n")).concat());
    for (typed, completed) in [
        ("tak", &["takin", "takahe", "takapu"][..]),
        ("%22rare+Taka", &["\"rare takahe", "\"rare takapu"]),
        ("zebra", &[]),
        ("site:tak", &[]),
    ] {
        let (status, _, body) = get(&node, &format!("/suggest?q={typed}"), &[]);
        let suggested: (String, Vec<String>) = serde_json::from_str(&body).unwrap();
        assert_eq!((status, suggested.1), (200, completed.iter().map(ToString::to_string).collect()), "{typed}");
    }
}

#[test]
fn a_proxy_passes_on_the_name_of_the_host() {
    let nginx = ["/usr/sbin/nginx", "nginx"].into_iter().find(|nginx| Command::new(nginx).arg("-v").output().is_ok());
    let Some(nginx) = nginx else {
        eprintln!("SKIPPED: there is no nginx on this machine (Debian: nginx-light)");
        return;
    };
    let dir = TempDir::new();
    let token = dir.join("token");
    let node = Node::start(&dir, "node", &["--http-token", &token, "--http-host", "search.lan"]);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "daemon off; master_process off; pid {0}/pid; error_log stderr; events {{}} http {{ access_log off; \
         client_body_temp_path {0}/a; proxy_temp_path {0}/b; fastcgi_temp_path {0}/c; uwsgi_temp_path {0}/d; \
         scgi_temp_path {0}/e; server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {1}; \
         proxy_set_header Host $host; proxy_set_header X-Forwarded-Proto $scheme; proxy_buffering off; }} }} }}",
        dir.path().display(),
        node.url
    );
    let config = dir.file("nginx.conf", config.as_bytes());
    let mut proxy = Command::new(nginx);
    proxy.args(["-c", &config]);
    let _proxy = Process::start(proxy);
    let agent: Agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
    let url = format!("http://127.0.0.1:{port}");
    let begun = std::time::Instant::now();
    while agent.get(format!("{url}/healthz")).call().is_err() {
        assert!(begun.elapsed().as_secs() < 20, "nginx does not answer");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let ask = |host: &str, cookie: &str| {
        let request = agent.get(format!("{url}/")).header("host", host).header("accept", "text/html");
        request.header("cookie", cookie).call().unwrap().status().as_u16()
    };
    assert_eq!((ask("search.lan", ""), ask("evil.example", "")), (401, 403));
    let form = format!("token={}&to=/", fs::read_to_string(&token).unwrap().trim());
    let login = |origin: &str| {
        let request = agent.post(format!("{url}/login")).header("host", "search.lan").header("origin", origin);
        request.header("content-type", "application/x-www-form-urlencoded").send(&form).unwrap()
    };
    assert_eq!(login("https://evil.example").status(), 403);
    let answer = login("https://search.lan");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(answer.status() == 303 && cookie.ends_with("; Secure"), "{cookie}");
    assert_eq!(ask("search.lan", cookie.split(';').next().unwrap()), 200);
}
