//! What people have on their disks: sources, bookmarks, histories, mail and books, as the real programs write them.

use std::fs;
use std::process::Command;

use furui_node::furui_search::Record;

use super::text;
use crate::support::fake_node::FakeNode;
use crate::support::{TempDir, feed, run};

/// Runs a program, which must succeed. Returns false, with a message, if it is not installed.
pub(super) fn ran(program: &str, args: &[&str], input: &str) -> bool {
    if Command::new(program).arg("--version").output().is_err() {
        println!("SKIPPED: {program} is not installed");
        return false;
    }
    let mut command = Command::new(program);
    command.args(args);
    let output = feed(command, input.as_bytes());
    assert!(output.status.success(), "{program}: {}", text(&output.stderr));
    true
}

/// Publishes these files to a new node, with these sums and messages, and returns the documents by URL.
pub(super) fn published(args: &[&str], sums: &str, errors: &[&str]) -> Vec<Record> {
    let node = FakeNode::new();
    let output = run(&[&["publish", "--node", &node.url()], args].concat(), b"");
    let found: Vec<&str> = text(&output.stderr).lines().collect();
    assert_eq!(found.len(), errors.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(errors) {
        assert!(found.contains(expected) && found.ends_with("; left out"), "{found}");
    }
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), &*format!("{sums}\n")));
    node.records()
}

pub(super) fn parts(records: &[Record]) -> Vec<(&str, &str, &str)> {
    records.iter().map(|record| (&*record.url, &*record.title, &*record.text)).collect()
}

#[test]
fn a_source_tree_is_published_without_what_its_gitignore_excludes() {
    let dir = TempDir::new();
    for inner in ["tree/src/gen", "tree/target/debug", "tree/shut", "tree/.git"] {
        fs::create_dir_all(dir.join(inner)).unwrap();
    }
    for (name, bytes) in [
        ("tree/.gitignore", &b"target/\n*.log\n!keep.log\n/src/gen/*.rs\n"[..]),
        ("tree/src/.gitignore", b"!again.log\nsecret.toml\n"),
        ("tree/shut/.gitignore", &vec![b'x'; (256 << 10) + 1]),
        ("tree/Makefile", b"all: build"),
        ("tree/src/main.rs", b"fn main() {}"),
        ("tree/src/conf.yaml", b"---\na: b\n---\nc: d\n"),
        ("tree/src/note.txt", b"---\ntitle: A note\ntags: x\n---\nwords"),
        ("tree/src/again.log", b"again"),
        ("tree/src/secret.toml", b"hidden"),
        ("tree/src/gen/made.rs", b"hidden"),
        ("tree/src/gen/made.c", b"made"),
        ("tree/src/logo.png", b"\x89PNG\r\n\0"),
        ("tree/src/program", b"\x7fELF\0"),
        ("tree/src/latin.c", b"/* caf\xe9 */"),
        ("tree/target/debug/x.rs", b"hidden"),
        ("tree/a.log", b"hidden"),
        ("tree/keep.log", b"kept"),
        ("tree/shut/key.pem", b"hidden"),
        ("tree/.git/config", b"hidden"),
    ] {
        dir.file(name, bytes);
    }
    let errors = ["shut/.gitignore: with those above it, more than 262144 bytes", "latin.c: no text: not UTF-8"];
    let tree = dir.join("tree");
    let records = published(&[&tree], "7 documents: 7 new, 0 known; 2 left out, 2 of other kinds", &errors);
    let found: Vec<_> = parts(&records);
    let expected = [
        ("Makefile", "Makefile", "all: build"),
        ("keep.log", "keep.log", "kept"),
        ("src/again.log", "src/again.log", "again"),
        ("src/conf.yaml", "src/conf.yaml", "---\na: b\n---\nc: d\n"),
        ("src/gen/made.c", "src/gen/made.c", "made"),
        ("src/main.rs", "src/main.rs", "fn main() {}"),
        ("src/note.txt", "A note", "words"),
    ];
    let expected = expected.map(|(path, title, text)| (format!("file://{tree}/{path}"), title, text));
    assert_eq!(found, expected.each_ref().map(|(url, title, text)| (url.as_str(), *title, *text)));
    // What is named is published, whatever the rules.
    let secret = dir.join("tree/src/secret.toml");
    let records = published(&[&secret], "1 documents: 1 new, 0 known", &[]);
    assert_eq!((&*records[0].title, &*records[0].text), ("secret.toml", "hidden"));
}

#[test]
fn bookmarks_are_published_under_the_urls_of_their_pages() {
    let dir = TempDir::new();
    // As Firefox exports them.
    let html = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- This is an automatically generated file.\n     It will be read and \
        overwritten.\n     DO NOT EDIT! -->\n<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'\"></meta>\n<TITLE>Bookmarks</TITLE>\n\
        <H1>Bookmarks Menu</H1>\n\n<DL><p>\n    <DT><H3 ADD_DATE=\"1700000000\" LAST_MODIFIED=\"1700000000\">Séries</H3>\n\
        \x20   <DL><p>\n        <DT><A HREF=\"https://a.example/sieve#top\" ADD_DATE=\"1700000000\" TAGS=\"maths,old\">The \
        sieve</A>\n    </DL><p>\n    <DT><A HREF=\"place:type=6&sort=14&maxResults=10\">Recent Tags</A>\n\
        \x20   <DT><A HREF=\"javascript:void(0)\">Run</A>\n    <DT><A HREF=\"https://u:p@a.example/\">With password</A>\n\
        </DL>\n";
    let json = r#"{
   "checksum": "8e55c3a6d1",
   "roots": {
      "bookmark_bar": {
         "children": [ {
            "children": [ {
               "date_added": "13300000000000000", "guid": "1", "id": "6", "name": "The filter", "type": "url",
               "url": "https://b.example/" } ],
            "date_added": "13300000000000000", "id": "5", "name": "Papers", "type": "folder" } ],
         "id": "1", "name": "Bookmarks bar", "type": "folder" },
      "other": { "children": [ ], "id": "2", "name": "Other bookmarks", "type": "folder" },
      "synced": { "children": [ ], "id": "3", "name": "Mobile bookmarks", "type": "folder" }
   },
   "version": 1
}"#;
    let (html, json) = (dir.file("exported.html", html.as_bytes()), dir.file("Bookmarks", json.as_bytes()));
    let error = "exported.html: bookmark 4: ";
    let sums = "2 documents: 2 new, 0 known; 1 left out, 2 of other kinds";
    let records = published(&[&html, &json], sums, &[error]);
    let expected = [
        ("https://a.example/sieve", "The sieve", "Séries\nmaths\nold"),
        ("https://b.example/", "The filter", "Papers"),
    ];
    assert_eq!(parts(&records), expected);
    let broken = dir.file("broken", b"{\"roots\": []}");
    published(
        &["--format", "bookmarks", &broken],
        "0 documents: 0 new, 0 known; 1 left out",
        &["broken: not the bookmarks of a browser"],
    );
}

#[test]
fn histories_are_published_under_the_urls_of_their_pages() {
    let dir = TempDir::new();
    let firefox = "PRAGMA journal_mode=wal; CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title \
        LONGVARCHAR, rev_host LONGVARCHAR, visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL, guid TEXT);\
        INSERT INTO moz_places (url, title) VALUES ('https://a.example/#x', 'The sieve'), ('https://b.example/', NULL), \
        ('about:config', 'Settings'), ('https://c.example/', X'ff');";
    let chromium = "CREATE TABLE urls(id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR, visit_count \
        INTEGER DEFAULT 0 NOT NULL); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
        INSERT INTO urls (url, title) SELECT 'https://d.example/' || i, 'page ' || i FROM n;";
    for (name, sql) in [("places.sqlite", firefox), ("History", chromium), ("other.db", "CREATE TABLE x (url);")] {
        if !ran("sqlite3", &[&dir.join(name)], sql) {
            return;
        }
    }
    let whole = fs::read(dir.join("History")).unwrap();
    dir.file("cut", &whole[..whole.len() / 2]);
    dir.file("rubbish", &[b"SQLite format 3\0", &whole[5000..9000]].concat());
    let node = FakeNode::new();
    let output = run(&["publish", "--node", &node.url(), &dir.join("")], b"");
    let errors = text(&output.stderr);
    assert!(errors.contains("places.sqlite: row 4: ") && errors.contains("rubbish: "), "{errors}");
    assert!(errors.contains("cut: database disk image is malformed; left out"), "{errors}");
    let records = node.records();
    assert_eq!(records.len(), 3001);
    assert_eq!(parts(&records)[..2], [("https://a.example/", "The sieve", ""), ("https://d.example/1", "page 1", "")]);
    let sums = text(&output.stdout);
    assert_eq!(sums, "3,001 documents: 3,001 new, 0 known; 3 left out, 2 of other kinds\n");
}

#[test]
fn mail_is_published_message_by_message() {
    let dir = TempDir::new();
    let script = "import mailbox, sys, email.message\n\
        def message(number, html):\n\
        \x20   m = email.message.EmailMessage()\n\
        \x20   m['From'] = 'Zoë <z@x.example>'; m['To'] = 'all@x.example'; m['Subject'] = f'Letter {number} 篩'\n\
        \x20   m['Date'] = 'Mon, 01 Jan 2024 10:00:00 +0000'; m['Message-ID'] = f'<n{number}/1@x.example>'\n\
        \x20   m.set_content(f'From here on it is naïve {number}\\n' if not html else f'<p>bold <b>{number}</b>', subtype='html' if html else 'plain')\n\
        \x20   m.add_attachment(b'attached', maintype='application', subtype='octet-stream', filename='a.bin')\n\
        \x20   return m\n\
        box = mailbox.mbox(sys.argv[1] + '/Inbox'); box.add(message(1, False)); box.add(message(2, True)); box.flush()\n\
        folder = mailbox.Maildir(sys.argv[1] + '/Mail'); folder.add(message(3, False)); folder.add(message(1, False))\n";
    if !ran("python3", &["-", &dir.join("")], script) {
        return;
    }
    dir.file("note.eml", b"Subject: no id\n\nwords\n");
    dir.file("bad.eml", b"\x89PNG\0");
    let errors = ["bad.eml: not an electronic message"];
    let records = published(&[&dir.join("")], "4 documents: 4 new, 0 known; 1 left out, 1 repeated", &errors);
    let url = format!("file://{}", dir.join("note.eml"));
    let head = "From: Zoë z@x.example. To: all@x.example. Date: 2024-01-01";
    let letter = |number| format!("{head}\nFrom here on it is naïve {number}");
    let expected = [
        (url.as_str(), "no id", "\nwords"),
        ("mid:n1%2F1@x.example", "Letter 1 篩", &*letter(1)),
        ("mid:n2%2F1@x.example", "Letter 2 篩", &*format!("{head}\nbold 2")),
        ("mid:n3%2F1@x.example", "Letter 3 篩", &*letter(3)),
    ];
    assert_eq!(parts(&records), expected);
}

/// Writes the files of a book into a directory: its chapters with these texts.
fn write_book(dir: &TempDir, chapters: &[(&str, String)]) {
    fs::create_dir_all(dir.join("book/META-INF")).unwrap();
    fs::create_dir_all(dir.join("book/OEBPS/text")).unwrap();
    dir.file("book/mimetype", b"application/epub+zip");
    dir.file(
        "book/META-INF/container.xml",
        b"<?xml version=\"1.0\"?><container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\" version=\"1.0\"><rootfiles>\
          <rootfile full-path=\"OEBPS/content.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles></container>",
    );
    let mut package = "<?xml version='1.0'?><package xmlns=\"http://www.idpf.org/2007/opf\" version=\"3.0\"><metadata \
        xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>Sieves &amp; filters</dc:title><dc:creator>A. Author\
        </dc:creator><dc:creator>B. Author</dc:creator><dc:language>EN</dc:language></metadata><manifest>"
        .to_owned();
    let mut spine = String::new();
    for (number, (name, text)) in chapters.iter().enumerate() {
        package += &format!("<item id=\"c{number}\" href=\"text/{}\" media-type=\"x\"/>", name.replace(' ', "%20"));
        spine += &format!("<itemref idref=\"c{number}\"/><itemref idref=\"c{number}\"/>");
        dir.file(&format!("book/OEBPS/text/{name}"), text.as_bytes());
    }
    package += &format!(
        "<item id=\"lost\" href=\"../lost.xhtml\"/></manifest><spine>{spine}<itemref idref=\"lost\"/></spine>"
    );
    dir.file("book/OEBPS/content.opf", package.as_bytes());
}

#[test]
fn books_are_published_chapter_by_chapter() {
    let dir = TempDir::new();
    let chapter = |title: &str, text: &str| {
        format!(
            "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>{title}</title></head><body>{text}</body></html>"
        )
    };
    let bomb = chapter("Bomb", &"0".repeat(17 << 20));
    write_book(
        &dir,
        &[
            ("cover.xhtml", chapter("Sieves &amp; filters", "<img src=\"x.png\"/>")),
            ("1 a.xhtml", chapter("On sieves", "<p>A sieve</p>")),
            ("2.xhtml", chapter("Sieves &amp; filters", "<p>A filter</p>")),
            ("bomb.xhtml", bomb),
        ],
    );
    let zip = |command: &str| ran("sh", &["-ec", &format!("cd {}; {command}", dir.join("book"))], "");
    if !ran("zip", &["-v"], "") {
        return;
    }
    zip("zip -qX0 ../book.epub mimetype; zip -qrg9 ../book.epub META-INF OEBPS");
    let book = dir.join("book.epub");
    let errors = [
        "book.epub: OEBPS/text/bomb.xhtml: a file of more than 16777216 bytes",
        "book.epub: lost.xhtml: it is not in the archive",
    ];
    let sums = "2 documents: 2 new, 0 known; 2 left out, 1 of other kinds";
    let records = published(&["--lang", "en", &book], sums, &errors);
    let url = |part: &str| format!("file://{book}#{part}");
    let (one, two) = (url("OEBPS/text/1%20a.xhtml"), url("OEBPS/text/2.xhtml"));
    let expected = [
        (&*one, "Sieves & filters: On sieves", "A. Author, B. Author\nA sieve"),
        (&*two, "Sieves & filters", "A. Author, B. Author\nA filter"),
    ];
    assert_eq!(parts(&records), expected);
    // A book that is cut off, and an archive that is none of books, also under another name.
    let bytes = fs::read(&book).unwrap();
    let cut = dir.file("cut.epub", &bytes[..bytes.len() - 30]);
    zip("zip -q ../archive.epub mimetype");
    let errors =
        ["cut.epub: no ZIP archive: it has no end", "archive.epub: no book: the archive has no META-INF/container.xml"];
    let sums = "0 documents: 0 new, 0 known; 2 left out";
    published(&[&cut, &dir.join("archive.epub")], sums, &errors);
}
