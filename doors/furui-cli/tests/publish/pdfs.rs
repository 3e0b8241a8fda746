//! PDFs, which a process of their own reads, with limits; and ZIM archives, which are not read.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::slice::from_ref;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::disks::{parts, published, ran};
use super::text;
use crate::support::fake_node::FakeNode;
use crate::support::{TempDir, furui, run};

/// A file of these objects, the first of which is the catalog and the last one, if it is a dictionary without a type,
/// states who made the file.
fn pdf(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", bytes.len());
        bytes.extend([format!("{} 0 obj\n", number + 1).as_bytes(), object, b"\nendobj\n"].concat());
    }
    let end = format!("trailer\n<< /Size {} /Root 1 0 R {trailer} >>\n", objects.len() + 1);
    let start = format!("startxref\n{}\n%%EOF\n", bytes.len());
    bytes.extend([table, end, start].concat().into_bytes());
    bytes
}

fn stream(fields: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("<< {fields} /Length {} >>\nstream\n", bytes.len());
    [head.as_bytes(), bytes, b"\nendstream"].concat()
}

/// A file whose pages have these contents, with a font F and these things in the catalog and the trailer, after which
/// come other objects.
fn pages(contents: &[Vec<u8>], catalog: &str, trailer: &str, others: &[Vec<u8>]) -> Vec<u8> {
    let first = 4 + others.len();
    let kids: String = (0..contents.len()).map(|page| format!("{} 0 R ", first + 2 * page)).collect();
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R {catalog} >>").into_bytes(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} /MediaBox [0 0 600 800] >>", contents.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    objects.extend_from_slice(others);
    for (page, content) in contents.iter().enumerate() {
        let content_at = first + 2 * page + 1;
        let page =
            format!("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F 3 0 R >> >> /Contents {content_at} 0 R >>");
        objects.extend([page.into_bytes(), content.clone()]);
    }
    pdf(&objects, trailer)
}

/// The contents of a page: lines at heights, in sizes.
fn lines(lines: &[(u32, u32, &str)]) -> Vec<u8> {
    let line = |&(size, y, text): &(u32, u32, &str)| format!("BT /F {size} Tf 50 {y} Td ({text}) Tj ET\n");
    stream("", lines.iter().map(line).collect::<String>().as_bytes())
}

/// A file of one page, `words on a page`, with this title.
pub fn simple(title: &str) -> Vec<u8> {
    pages(&[lines(&[(10, 700, "words on a page")])], "", "/Info 4 0 R", &[format!("<< /Title ({title}) >>").into()])
}

/// A file whose pages are above themselves.
pub fn circle() -> Vec<u8> {
    let objects: [&[u8]; 4] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 /Parent 2 0 R >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>",
        b"<< /Length 4 0 R >>\nstream\n(x) Tj\nendstream",
    ];
    pdf(&objects.map(<[u8]>::to_vec), "")
}

#[test]
fn pdfs_are_published_with_what_they_state_or_show() {
    let dir = TempDir::new();
    let body =
        [(10, 640, "A sieve drops what is known, with-"), (10, 628, "out a look at the re-"), (10, 616, "cords.")];
    let paper = [&[(24, 740, "Sieves that"), (24, 712, "forget"), (12, 690, "A. Author")][..], &body].concat();
    let page = lines(&paper);
    let info = "<< /Title (Microsoft Word - draft.doc) /Author (B. Author) /CreationDate (D:20240131120000Z) >>";
    let xmp = "<x:xmpmeta><rdf:RDF><dc:title><rdf:Alt><rdf:li xml:lang='x-default'>Stated &amp; true</rdf:li>\
        <rdf:li xml:lang='de'>Nein</rdf:li></rdf:Alt></dc:title></rdf:RDF></x:xmpmeta>";
    dir.file("a-paper.pdf", &pages(from_ref(&page), "/Lang (en-GB)", "/Info 4 0 R", &[info.into()]));
    dir.file("b-stated", &pages(from_ref(&page), "/Metadata 4 0 R", "", &[stream("", xmp.as_bytes())]));
    dir.file("c-plain.pdf", &pages(&[lines(&body)], "", "", &[]));
    dir.file("d-deutsch.pdf", &pages(&[page], "/Lang (de)", "", &[]));
    dir.file(
        "e-scan.pdf",
        &pages(&[stream("", b"0 0 m 10 10 l S")], "", "/Info 4 0 R", &[b"<< /Title (Scan) >>".to_vec()]),
    );
    dir.file("f-wiki.zim", b"ZIM\x04\x06\0\x01\0");
    let errors = ["e-scan.pdf: no text: its pages are pictures", "f-wiki.zim: a ZIM archive, which is not read"];
    let sums = "3 documents: 3 new, 0 known; 2 left out, 1 in other languages";
    let records = published(&["--lang", "en", &dir.join("")], sums, &errors);
    let url = |name: &str| format!("file://{}", dir.join(name));
    let (a, b, c) = (url("a-paper.pdf"), url("b-stated"), url("c-plain.pdf"));
    let sentence = "A sieve drops what is known, without a look at the records.";
    let whole = format!("Sieves that\nforget\nA. Author\n{sentence}");
    let dated = format!("Author: B. Author. Date: 2024-01-31.\n{whole}");
    let expected = [(&*a, "Sieves that forget", &*dated), (&b, "Stated & true", &whole), (&c, "c-plain.pdf", sentence)];
    assert_eq!(parts(&records), expected);
}

#[test]
fn a_long_pdf_is_several_documents_and_a_broken_page_costs_only_itself() {
    let dir = TempDir::new();
    let long = |word: &str| {
        let words = word.repeat(500);
        let all: Vec<_> = (0..60).map(|line| (10, 780 - 12 * line, &*words)).collect();
        lines(&all)
    };
    let broken = stream("", b"BT /G 10 Tf (x) Tj ET");
    let file = pages(&[long("one "), broken, long("two "), long("three "), long("four ")], "", "", &[]);
    let book = dir.file("book.pdf", &file);
    let records = published(&[&book], "2 documents: 2 new, 0 known; 1 left out", &["book.pdf: page 2: "]);
    let (first, second) = (format!("file://{book}"), format!("file://{book}#page=3"));
    assert_eq!(records.iter().map(|record| &record.url).collect::<Vec<_>>(), [&first, &second]);
    assert!(records[0].text.starts_with("one one") && records[1].text.starts_with("two two"));
    // A text with more than half of what a document may have is cut between pages.
    let file = pages(&["one ", "two ", "three ", "four ", "five "].map(long), "", "", &[]);
    let book = dir.file("long.pdf", &file);
    let records = published(&[&book], "2 documents: 2 new, 0 known", &[]);
    assert_eq!(
        (&*records[1].url, records[1].text.split(' ').next()),
        (&*format!("file://{book}#page=5"), Some("five"))
    );
}

#[test]
fn real_pdfs_have_their_words() {
    let dir = TempDir::new();
    let text = "<html lang=en><title>Columns</title><body style='font-family: DejaVu Sans'><h1>Efficient filters</h1><div \
        style='columns: 2; width: 500px'><p>The office staff affirmed an efficient flow of difficult fluffy waffles. \
        <p>Of sieves and of filters this column speaks, after the first one.</div>";
    let page = dir.file("page.html", text.as_bytes());
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let file = dir.join("columns.pdf");
    let args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"];
    let own = [
        format!("--user-data-dir={}", dir.join("profile")),
        format!("--print-to-pdf={file}"),
        format!("file://{page}"),
    ];
    let args: Vec<&str> = args.into_iter().chain(own.iter().map(String::as_str)).collect();
    if !ran(&chromium, &args, "") {
        return;
    }
    let records = published(&[&file], "1 documents: 1 new, 0 known", &[]);
    let words: Vec<&str> = records[0].text.split_whitespace().collect();
    let words = words.join(" ");
    let first = words.find("The office staff affirmed an efficient flow of difficult fluffy waffles.");
    let second = words.find("Of sieves and of filters this column speaks, after the first one.");
    assert!(first.is_some() && first < second && records[0].title == "Columns", "{:?}", records[0]);
    // With a password that only protects against changes it is read, otherwise it is not.
    let (open, shut) = (dir.join("open.pdf"), dir.join("shut.pdf"));
    if ran("qpdf", &["--encrypt", "", "owner", "256", "--", &file, &open], "")
        && ran("qpdf", &["--encrypt", "user", "owner", "256", "--", &file, &shut], "")
    {
        published(&[&open], "1 documents: 1 new, 0 known", &[]);
        let errors = ["shut.pdf: encrypted with a password; publish a copy without it"];
        published(&[&shut], "0 documents: 0 new, 0 known; 1 left out", &errors);
    }
}

/// Zeros that are compressed to a thousandth, ten gigabytes of them.
fn bomb() -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.flush().unwrap();
    let start = encoder.get_ref().len();
    encoder.write_all(&vec![b' '; 32 << 20]).unwrap();
    encoder.flush().unwrap();
    let (head, block) = encoder.get_ref().split_at(start);
    [head, &block.repeat(320)].concat()
}

#[test]
fn what_is_damaged_or_malicious_costs_its_file_and_no_other() {
    let dir = TempDir::new();
    let deep = [b"[".repeat(1 << 20), b"]".repeat(1 << 20)].concat();
    dir.file("a.pdf", &simple("first"));
    dir.file("b-bomb.pdf", &large());
    dir.file("c-circle.pdf", &circle());
    dir.file("d-deep.pdf", &pages(&[stream("", &deep)], "", "/Info 4 0 R", from_ref(&deep)));
    dir.file("e-empty.pdf", b"");
    dir.file("f-other.pdf", b"%PDF-1.7 and nothing");
    dir.file("z.pdf", &simple("last"));
    let node = FakeNode::new();
    let output = run(&["publish", "--node", &node.url(), &dir.join("")], b"");
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    for error in
        ["b-bomb.pdf: its reader needs more than 2 GiB of memory", "e-empty.pdf: no PDF", "f-other.pdf: no PDF"]
    {
        assert!(errors.contains(error), "{errors}");
    }
    assert!(["c-circle.pdf: ", "d-deep.pdf: "].iter().all(|name| errors.contains(name)), "{errors}");
    let titles: Vec<String> = node.records().into_iter().map(|record| record.title).collect();
    assert_eq!((titles.first().unwrap().as_str(), titles.last().unwrap().as_str()), ("first", "last"));
}

#[test]
fn any_change_of_a_file_is_a_document_or_a_message() {
    let dir = TempDir::new();
    let sound = simple("sound");
    let mut count = 0;
    for at in (0..sound.len()).step_by(23) {
        dir.file(&format!("cut-{at:04}.pdf"), &sound[..at]);
        let mut changed = sound.clone();
        changed[at] ^= 0x15;
        dir.file(&format!("changed-{at:04}.pdf"), &changed);
        count += 2;
    }
    let node = FakeNode::new();
    let output = run(&["publish", "--node", &node.url(), &dir.join("")], b"");
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let left_out = errors.lines().filter(|line| line.ends_with("; left out")).count();
    assert_eq!((left_out + node.records().len(), errors.lines().count()), (count, left_out), "{errors}");
    assert!(left_out > 0 && !node.records().is_empty());
}

/// Sends a signal to the first process that the process with this id starts.
#[cfg(target_os = "linux")]
pub fn end_reader(of: u32, signal: &str) {
    let children = format!("/proc/{of}/task");
    let child = loop {
        let threads = fs::read_dir(&children).expect("the process has ended before its child was seen");
        // A thread may end before its children are read.
        let children = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
        if let Some(child) = children.collect::<String>().split_whitespace().next() {
            break child.to_owned();
        }
    };
    assert!(Command::new("kill").args([signal, &child]).status().unwrap().success());
}

/// A file whose reader needs more memory than it may have, after some time.
pub fn large() -> Vec<u8> {
    pages(&[stream("/Filter /FlateDecode", &bomb())], "", "", &[])
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_is_killed_costs_its_file_and_no_other() {
    let dir = TempDir::new();
    dir.file("a-bomb.pdf", &large());
    dir.file("z.pdf", &simple("last"));
    for (signal, error) in [("-KILL", "its reader has failed: signal: 9"), ("-TERM", "operation interrupted")] {
        let node = FakeNode::new();
        let mut command = furui();
        command.args(["publish", "--node", &node.url(), &dir.join("")]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let publish = command.spawn().unwrap();
        end_reader(publish.id(), signal);
        let output = publish.wait_with_output().unwrap();
        let errors = text(&output.stderr);
        assert!(errors.contains(&format!("a-bomb.pdf: {error}")), "{errors}");
        assert_eq!(text(&output.stdout), "1 documents: 1 new, 0 known; 1 left out\n");
        assert_eq!(node.records()[0].title, "last");
    }
}
