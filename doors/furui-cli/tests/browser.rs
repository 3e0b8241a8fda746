//! The page as users see it: in Chromium, served by the nodes of `furui demo`.

use std::time::{Duration, Instant};

use crate::support::chromium::Chromium;
use crate::support::demo::Demo;
use crate::support::node::{Node, PATIENCE, status};
use crate::support::{TempDir, stdout};
use furui_node::ureq;
use serde_json::{Value, json};

#[test]
#[ignore = "needs Chromium: cargo xtask test browser"]
fn the_page_does_what_it_says() {
    let dir = TempDir::new();
    let demo = Demo::start(dir.path().to_str().unwrap());
    let mut browser = Chromium::start();
    searching_needs_no_mouse(&mut browser, &demo.url);
    browsers_can_add_the_page_to_their_search_engines(&mut browser, &demo.url);
    the_next_page_is_a_link(&mut browser, &demo.url);
    a_phrase_is_found_and_marked(&mut browser, &demo.url);
    nothing_found_is_said(&mut browser, &demo.url);
    a_query_that_cannot_be_understood_is_searched_for_as_it_is_written(&mut browser, &demo.url);
    a_script_in_a_title_is_text(&mut browser, &demo.url);
    the_status_is_drawn(&mut browser, &demo.url);
    a_page_is_published_by_a_form_without_script(&mut browser, &demo.url);
    links_from_other_sites_lead_to_the_search_page(&mut browser, &demo.url);
    texts_stand_out_from_what_is_behind_them(&mut browser, &demo.url);
    of_several_versions_of_a_page_one_is_shown_and_the_others_are_named(&mut browser, &demo, &dir);
    there_is_room_on_a_phone(&mut browser, &demo.url);
    it_is_dark_in_the_dark(&mut browser, &demo.url);
    it_works_without_script(&mut browser, &demo.url);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test browser"]
fn a_browser_logs_in_and_opens_a_file_of_a_watched_folder() {
    let dir = TempDir::new();
    let (token, watched) = (dir.join("token"), dir.path().canonicalize().unwrap().join("watched"));
    std::fs::create_dir(&watched).unwrap();
    std::fs::write(watched.join("page.html"), "<title>A page</title>a takahe<script>document.title = 'run'</script>")
        .unwrap();
    let node = Node::start(&dir, "node", &["--http-token", &token, "--watch", watched.to_str().unwrap()]);
    let token = std::fs::read_to_string(token).unwrap();
    let mut browser = Chromium::start();
    browser.open(&format!("{}/?q=takahe", node.url));
    assert_eq!(browser.text("h1"), "This node asks for its token");
    browser.value("document.getElementById('token').focus()");
    browser.write("not it");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(browser.text("[role=alert]"), "This is not the token.");
    browser.value("document.getElementById('token').focus()");
    browser.write(token.trim());
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(browser.value("location.pathname + location.search"), "/?q=takahe");
    // The folder is published within a moment after the start.
    let began = Instant::now();
    while browser.count(".results a") == 0 {
        assert!(began.elapsed() < PATIENCE, "the file is not found");
        browser.open(&format!("{}/?q=takahe", node.url));
    }
    assert_eq!(browser.value("document.cookie"), "", "a script must not see the cookie");
    browser.value("document.querySelector('.results a').focus()");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(browser.value("location.pathname"), "/open");
    assert_eq!(browser.value("[document.title, window.origin]"), json!(["A page", "null"]), "it runs scripts");
    // A link from another site leads to the page, although the browser sends no cookie with it.
    browser.open(&format!("data:text/html,<a href='{}/?q=takahe'>go</a>", node.url));
    browser.value("document.querySelector('a').focus()");
    browser.leads_on(|browser| browser.press("Enter"));
    let began = Instant::now();
    while browser.value("document.querySelector('h1') && document.querySelector('h1').textContent")
        != "Results for takahe"
    {
        assert!(began.elapsed() < PATIENCE, "{}", browser.text("body"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn searching_needs_no_mouse(browser: &mut Chromium, url: &str) {
    browser.open(url);
    // The cursor is put into the box when the page is first drawn.
    browser.value(
        "new Promise((there) => {
            const box = document.getElementById('q');
            if (document.activeElement === box) there();
            else box.addEventListener('focus', () => there(), { once: true });
        })",
    );
    browser.write("bloom filter");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(browser.value("location.pathname + location.search"), "/?q=bloom+filter");
    assert_eq!(browser.text("h1"), "Results for bloom filter");
    assert_eq!(browser.value("document.getElementById('q').value"), "bloom filter");
    assert!(browser.count("ol.results > li h2 a[href^='https://']") > 0);
    assert!(browser.text(".snippet mark").eq_ignore_ascii_case("bloom"));
    // The status that a screen reader announces at the end is the one that is shown.
    let summary = browser.text("#summary");
    assert!(summary.starts_with("Results 1 to "), "{summary}");
    assert_eq!(browser.text("[role=status]"), summary);
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
    // The order of the Tab key: content link, name, box, button, status, first result.
    browser.value("document.activeElement.blur()");
    for expected in ["To the content", "furui 篩", "", "Search", "Status"] {
        browser.press("Tab");
        assert_eq!(browser.value("document.activeElement.textContent"), expected);
    }
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement === document.querySelector('.results a')"), true);
    assert_ne!(browser.value("getComputedStyle(document.activeElement).outlineStyle"), "none");
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.id"), "q");
}

fn browsers_can_add_the_page_to_their_search_engines(browser: &mut Chromium, url: &str) {
    browser.open(url);
    let description = browser.value("document.head.querySelector('link[rel=search]').href");
    assert_eq!(description, format!("{url}/opensearch.xml"));
    let get = |url: &str| ureq::get(url).call().unwrap().body_mut().read_to_string().unwrap();
    let read = format!(
        "(() => {{
            const read = new DOMParser().parseFromString({}, 'text/xml');
            const text = (name) => [...read.getElementsByTagName(name)].map((element) => element.textContent);
            const templates = [...read.getElementsByTagName('Url')].map((element) => element.getAttribute('template'));
            return [text('parsererror'), text('ShortName'), templates];
        }})()",
        Value::from(get(description.as_str().unwrap())),
    );
    let [problems, names, templates]: [Vec<String>; 3] = serde_json::from_value(browser.value(&read)).unwrap();
    assert_eq!((problems, names), (vec![], vec!["furui".to_owned()]));
    // What a browser makes of them leads to results, and to completions.
    browser.open(&templates[0].replace("{searchTerms}", "bloom%20filter"));
    assert_eq!(browser.text("h1"), "Results for bloom filter");
    let completed = get(&templates[1].replace("{searchTerms}", "helium%20bloo"));
    assert_eq!(completed, "[\"helium bloo\",[\"helium bloom\"]]\n");
}

fn the_next_page_is_a_link(browser: &mut Chromium, url: &str) {
    browser.open(&format!("{url}/?q=capital+Europe"));
    let titles = "[...document.querySelectorAll('.results h2')].map((title) => title.textContent)";
    let first = browser.value(titles);
    assert_eq!((browser.count(".results > li"), browser.value("document.querySelector('ol').start")), (10, json!(1)));
    browser.value("document.querySelector('a[rel=next]').focus()");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!((browser.count(".results > li"), browser.value("document.querySelector('ol').start")), (10, json!(11)));
    assert!(browser.text("#summary").starts_with("Results 11 to 20 of about "), "{}", browser.text("#summary"));
    let second = browser.value(titles);
    let first = first.as_array().unwrap();
    assert!(second.as_array().unwrap().iter().all(|title| !first.contains(title)), "{second}");
    browser.value("document.querySelector('a[rel=next]').focus()");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(browser.value("document.querySelector('ol').start"), json!(21));
    for (start, expected) in [(11, &second), (1, &json!(first))] {
        browser.value("document.querySelector('a[rel=prev]').focus()");
        browser.leads_on(|browser| browser.press("Enter"));
        assert_eq!(browser.value("document.querySelector('ol').start"), json!(start));
        assert_eq!(browser.value(titles), *expected);
    }
}

fn a_page_is_published_by_a_form_without_script(browser: &mut Chromium, url: &str) {
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.open(&format!("{url}/add"));
    for (field, text) in
        [("url", "https://kakapo.example/"), ("title", "On a parrot"), ("text", "a kakapo <b>here</b>")]
    {
        browser.value(&format!("document.getElementById('{field}').focus()"));
        browser.write(text);
    }
    browser.value("document.querySelector('.fields button').focus()");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!((browser.text("h1"), browser.text("[role=status]")), ("Published".into(), "It is published.".into()));
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": false }));
    browser.open(&format!("{url}/?q=kakapo"));
    assert_eq!(browser.text(".results a"), "On a parrot");
    assert_eq!(browser.text(".results .url b"), "kakapo.example");
    assert!(browser.text("#summary").starts_with("Result 1 of 1; "), "{}", browser.text("#summary"));
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

/// The contrast of a colour with the one behind it, by WCAG 2.
const CONTRAST: &str = "(selector) => {
    const channels = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
    const light = (colour) => {
        const [r, g, b] = channels(colour).map((c) => c / 255).map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const element = document.querySelector(selector);
    let behind = element;
    while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
    const both = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(light).sort((a, b) => b - a);
    return (both[0] + .05) / (both[1] + .05);
}";

fn texts_stand_out_from_what_is_behind_them(browser: &mut Chromium, url: &str) {
    for scheme in ["light", "dark"] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", features);
        browser.open(&format!("{url}/?q=bloom+filter"));
        for selector in [".results h2 a", ".results h2 a mark", ".snippet mark", ".url", ".url b"] {
            let contrast = browser.value(&format!("({CONTRAST})('{selector}')")).as_f64().unwrap();
            assert!(contrast >= 4.5, "{scheme}, {selector}: {contrast}");
        }
    }
    browser.call("Emulation.setEmulatedMedia", json!({ "features": [] }));
}

fn links_from_other_sites_lead_to_the_search_page(browser: &mut Chromium, url: &str) {
    let link = |path: &str| format!("data:text/html,<a href='{url}{path}'>go</a>");
    for (path, heading) in [("/?q=bloom+filter", "Results for bloom filter"), ("/status", "Not answered")] {
        browser.open(&link(path));
        browser.value("document.querySelector('a').focus()");
        browser.leads_on(|browser| browser.press("Enter"));
        assert_eq!(browser.text("h1"), heading, "{path}");
    }
}

fn a_phrase_is_found_and_marked(browser: &mut Chromium, url: &str) {
    browser.open(&format!("{url}/?q=%22morning+star%22"));
    assert_eq!((browser.count(".results > li"), browser.text(".results h2")), (1, "Venus".into()));
    assert_eq!(browser.text(".snippet mark"), "morning star");
    browser.open(&format!("{url}/?q=%22star+morning%22"));
    assert!(browser.text("#summary").starts_with("Nothing was found"));
}

fn nothing_found_is_said(browser: &mut Chromium, url: &str) {
    browser.open(&format!("{url}/?q=bloom+unheardof"));
    let note = browser.text(".note[role=status]");
    assert_eq!(note, "Nothing has the words: unheardof; these have most of the others.");
    assert!(browser.count(".results > li") > 0);
    browser.open(&format!("{url}/?q=%22bloom+unheardof%22"));
    assert!(browser.text("#summary").starts_with("Nothing was found"));
    assert!(browser.text(".advice").contains("fewer words"));
    assert_eq!(browser.count(".results > li"), 0);
}

fn a_query_that_cannot_be_understood_is_searched_for_as_it_is_written(browser: &mut Chromium, url: &str) {
    browser.open(&format!("{url}/?q=venus+%28planet"));
    let note = browser.text(".note[role=status]");
    assert!(note.starts_with("Searched for as it is written: at character 7: "), "{note}");
    assert_eq!(browser.text(".results h2"), "Venus");
    assert_eq!(browser.value("document.getElementById('q').value"), "venus (planet");
    browser.open(&format!("{url}/?q=venuss+planet"));
    assert_eq!(
        browser.text(".note[role=status]"),
        "Nothing has all of these words. These are the results for venus planet."
    );
    assert_eq!(browser.value("document.querySelector('.note a').search"), "?q=venus+planet");
    browser.open(&format!("{url}/?q=%28%21"));
    assert!(browser.text("[role=alert]").starts_with("The query has no words; "), "{}", browser.text("[role=alert]"));
    assert_eq!(browser.value("performance.getEntriesByType('navigation')[0].responseStatus"), 400);
}

fn a_script_in_a_title_is_text(browser: &mut Chromium, url: &str) {
    let title = "<script>window.taken = true</script><img src=x onerror='window.taken = true'>";
    let lines = [
        json!({ "url": "http://hostile.example/", "title": title, "text": format!("zyzzyva {title}") }),
        json!({ "url": "javascript:window.taken=true", "title": "click me", "text": "zyzzyva" }),
    ];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    stdout(&["publish", "--format", "jsonl", "--node", url, "-"], lines.as_bytes());
    browser.open(&format!("{url}/?q=zyzzyva"));
    assert_eq!(browser.count(".results > li"), 2);
    assert_eq!(browser.text(".results a"), title);
    assert_eq!((browser.count(".results a"), browser.count("main script, main img")), (1, 0));
    assert_eq!(browser.value("typeof window.taken"), "undefined");
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

fn of_several_versions_of_a_page_one_is_shown_and_the_others_are_named(
    browser: &mut Chromium,
    demo: &Demo,
    dir: &TempDir,
) {
    let url = &*demo.url;
    let other = Node::start(dir, "other", &["--bootstrap", status(&demo.url)["addresses"][0].as_str().unwrap()]);
    for (number, publisher) in [url, &other.url].into_iter().enumerate() {
        let text = format!("quokka, version {number}");
        let line = json!({ "url": "http://versions.example/", "title": format!("Version {number}"), "text": text });
        stdout(&["publish", "--format", "jsonl", "--node", publisher, "-"], format!("{line}\n").as_bytes());
    }
    // Keys and ids are long, and must not make the page wider than a phone.
    let phone = json!({ "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    // The other node may have published while it joined, so what it has published may come a little later.
    let began = Instant::now();
    browser.open(&format!("{url}/?q=quokka"));
    while browser.count(".results .also") < 2 {
        assert!(began.elapsed() < PATIENCE, "the other version is not found");
        browser.open(&format!("{url}/?q=quokka"));
    }
    assert_eq!((browser.count(".results > li"), browser.count(".results .also code")), (1, 2));
    let also = browser.text(".results .also");
    assert!(also.starts_with("published by …"), "{also}");
    assert_eq!(browser.value("document.documentElement.scrollWidth"), 320);
    // The node trusts itself, so the text of the other one is the one that is a click away.
    assert_eq!(
        (browser.text(".results h2"), browser.text(".results .also a")),
        ("Version 0".into(), "another text".into())
    );
    browser.value("document.querySelector('.results .also a').focus()");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!((browser.text("h1"), browser.text("p[dir=auto]")), ("Version 1".into(), "quokka, version 1".into()));
    assert_eq!(browser.value("document.documentElement.scrollWidth"), 320);
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
    browser.call("Emulation.clearDeviceMetricsOverride", json!({}));
}

fn the_status_is_drawn(browser: &mut Chromium, url: &str) {
    browser.open(&format!("{url}/status"));
    assert_eq!(browser.text("h1"), "Status of this node");
    assert!(browser.text(".figures").contains("Peers2 other nodes"), "{}", browser.text(".figures"));
    assert!(browser.text("main").contains(env!("CARGO_PKG_VERSION")));
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

fn there_is_room_on_a_phone(browser: &mut Chromium, url: &str) {
    let phone = json!({ "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    for path in ["/", "/?q=bloom+filter", "/?q=%28", "/status", "/add"] {
        browser.open(&format!("{url}{path}"));
        browser.value("document.querySelectorAll('details').forEach((details) => details.open = true)");
        assert_eq!(browser.value("document.documentElement.scrollWidth"), 320, "{path}");
    }
    browser.call("Emulation.clearDeviceMetricsOverride", json!({}));
}

fn it_is_dark_in_the_dark(browser: &mut Chromium, url: &str) {
    let prefers = |scheme: &str| json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    for (scheme, is_dark) in [("light", false), ("dark", true)] {
        browser.call("Emulation.setEmulatedMedia", prefers(scheme));
        browser.open(&format!("{url}/?q=bloom+filter"));
        let brightness = browser.brightness();
        let fits = if is_dark { brightness < 60.0 } else { brightness > 200.0 };
        assert!(fits, "{scheme}: {brightness}");
    }
    browser.call("Emulation.setEmulatedMedia", prefers(""));
}

fn it_works_without_script(browser: &mut Chromium, url: &str) {
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.open(url);
    browser.value("document.getElementById('q').focus()");
    browser.write("capital Europe");
    browser.leads_on(|browser| browser.press("Enter"));
    assert!(browser.text("#summary").starts_with("Results 1 to 10"));
    // The message that a search is in progress is not announced again and again.
    assert_eq!(browser.value("getComputedStyle(document.getElementById('progress')).display"), "none");
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": false }));
}
