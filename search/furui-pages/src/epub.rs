use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek};
use std::vec;

use crate::lines::Lines;
use crate::xml::{Part, parts};
use crate::zip::Zip;
use crate::{Address, Document, Entry, MAX_PAGE, html};

/// The maximum number of chapters of a book that are read. Chosen: books have some hundred at most.
const MAX_CHAPTERS: usize = 10_000;
/// The maximum size of the list of a book's contents, in bytes. Chosen: 400 bytes a chapter.
const MAX_CONTENTS: usize = 4 << 20;

/// Reads a book in the form EPUB, version 2 or 3. Each chapter is a document: a book has more text than a document may
/// have, and who finds a chapter is nearer to what was searched for. Its title is that of the book and its own; its
/// address is that of the book with the chapter's file as the fragment.
///
/// Memory: one chapter. Chapters that are encrypted are left out.
pub struct Epub<R> {
    zip: Zip<R>,
    contents: Contents,
    chapters: vec::IntoIter<String>,
}

/// What the package document of a book says.
#[derive(Default)]
struct Contents {
    title: String,
    authors: String,
    lang: Option<String>,
    /// The names of the chapters' files, in reading order.
    chapters: Vec<String>,
}

impl<R: Read + Seek> Epub<R> {
    /// Reads the contents of a book.
    ///
    /// # Errors
    /// If the file is no archive or no book, or if reading fails.
    pub fn open(from: R) -> io::Result<Self> {
        let mut zip = Zip::open(from)?;
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        let mut file = |name: &str| {
            let file = zip.read(name, MAX_CONTENTS)?;
            file.ok_or_else(|| invalid(format!("no book: the archive has no {name}")))
        };
        let name =
            package(&file("META-INF/container.xml")?).ok_or_else(|| invalid("a book without contents".into()))?;
        let mut contents = Contents::read(&name, &file(&name)?);
        let chapters = std::mem::take(&mut contents.chapters).into_iter();
        Ok(Self { zip, contents, chapters })
    }

    fn chapter(&mut self, file: String) -> Entry {
        let bytes = match self.zip.read(&file, MAX_PAGE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Entry::Broken { place: file, why: "it is not in the archive, or encrypted".into() },
            Err(error) => return Entry::Broken { place: file, why: error.to_string() },
        };
        let Contents { title, authors, lang, .. } = &self.contents;
        let mut page = html(&bytes, None);
        // Many books have their own title in each chapter.
        let own = std::mem::take(&mut page.title);
        page.title = match (title.is_empty(), own.is_empty() || own == *title) {
            (true, _) => own,
            (false, true) => title.clone(),
            (false, false) => format!("{title}: {own}"),
        };
        if page.text.is_empty() {
            return Entry::Other;
        }
        if !authors.is_empty() {
            page.text = format!("{authors}\n{}", page.text);
        }
        page.lang = page.lang.or_else(|| lang.clone());
        page.canonical = None;
        Entry::Document(Document { place: file.clone(), address: Address::Part(file), page })
    }
}

impl<R: Read + Seek> Iterator for Epub<R> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let file = self.chapters.next()?;
        Some(self.chapter(file))
    }
}

/// The name of the package document that a container names.
fn package(container: &[u8]) -> Option<String> {
    let mut package = None;
    parts(container, |part| {
        if let Part::Start(tag, mut attributes) = part
            && tag == "rootfile"
            && package.is_none()
        {
            package = attributes.remove("full-path");
        }
    });
    package
}

impl Contents {
    /// Parses the package document with this name.
    fn read(name: &str, bytes: &[u8]) -> Self {
        let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut contents = Self::default();
        let (mut title, mut authors, mut lang) = (Lines::default(), Lines::default(), Lines::default());
        // The tags whose text is wanted; the first of each counts, but of authors all.
        let mut inside = String::new();
        let mut found = HashSet::new();
        let mut files = HashMap::new();
        let mut order = Vec::new();
        parts(bytes, |part| match part {
            Part::Start(tag, mut attributes) => {
                match tag.as_str() {
                    "item" => {
                        if let (Some(id), Some(href)) = (attributes.remove("id"), attributes.remove("href")) {
                            files.insert(id, within(directory, &href));
                        }
                    }
                    "itemref" if order.len() < MAX_CHAPTERS => order.extend(attributes.remove("idref")),
                    _ => {}
                }
                inside = tag;
                if inside == "creator" {
                    authors.end_line();
                }
            }
            Part::Text(text) => match inside.as_str() {
                "title" if !found.contains("title") => title.push(&text, false),
                "language" if !found.contains("language") => lang.push(&text, false),
                "creator" => authors.push(&text, false),
                _ => {}
            },
            Part::End(tag) => {
                found.insert(tag);
                inside.clear();
            }
        });
        let mut seen = HashSet::new();
        contents.chapters =
            order.iter().filter_map(|id| files.remove(id)).filter(|file| seen.insert(file.clone())).collect();
        contents.title = title.finish();
        contents.authors = authors.finish().replace('\n', ", ");
        contents.lang = Some(lang.finish().to_ascii_lowercase()).filter(|lang| !lang.is_empty());
        contents
    }
}

/// The name in the archive of the file to which a link from a directory leads.
fn within(directory: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let mut path: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in href.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()),
            part => path.push(part),
        }
    }
    unescaped(&path.join("/"))
}

/// A path of a URL with the characters for which its escapes stand.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// An archive of these files, deflated.
    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(content).unwrap();
            let packed = encoder.finish().unwrap();
            let sizes = [packed.len() as u32, content.len() as u32].map(u32::to_le_bytes).concat();
            let length = (name.len() as u32).to_le_bytes();
            let fields = [&b"\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0"[..], &sizes, &length].concat();
            let at = (bytes.len() as u32).to_le_bytes();
            list.extend([b"PK\x01\x02\x14\0", &fields[..], &[0; 10], &at, name.as_bytes()].concat());
            bytes.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), &packed].concat());
        }
        let numbers = [list.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        let count = (files.len() as u16).to_le_bytes();
        [&bytes[..], &list, b"PK\x05\x06\0\0\0\0", &count, &count, &numbers, b"\0\0"].concat()
    }

    fn book(package: &str, chapters: &[(&str, &[u8])]) -> Vec<u8> {
        let container: &[u8] = b"<container><rootfile full-path='a/b.opf'/></container>";
        archive(&[&[("META-INF/container.xml", container), ("a/b.opf", package.as_bytes())], chapters].concat())
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<String>> {
        let entries = Epub::open(Cursor::new(bytes))?.map(|entry| match entry {
            Entry::Document(Document { place, page, .. }) => format!("{place} | {} | {}", page.title, page.text),
            Entry::Other => "other".into(),
            Entry::Broken { place, why } => format!("{place}: {why}"),
        });
        Ok(entries.collect())
    }

    #[test]
    fn chapters_are_read_in_reading_order() {
        let package = "<package><metadata><dc:title>T</dc:title><dc:title>no</dc:title></metadata><manifest>\
            <item id='1' href='x/1.xhtml'/><item id='2' href='../2%2e.xhtml#top'/><item id='3' href='3'/></manifest><spine>\
            <itemref idref='2'/><itemref idref='1'/><itemref idref='2'/><itemref idref='4'/><itemref idref='3'/></spine>";
        let bytes = book(package, &[("a/x/1.xhtml", b"<title>One</title><p>first"), ("2..xhtml", b"second")]);
        let expected =
            ["2..xhtml | T | second", "a/x/1.xhtml | T: One | first", "a/3: it is not in the archive, or encrypted"];
        assert_eq!(read(&bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_too_large_or_damaged_is_an_error() {
        let spine = "<item id=1 href=1 /><itemref idref=1 />";
        let bomb = book(spine, &[("a/1", &vec![b' '; MAX_PAGE + 1])]);
        assert_eq!(read(&bomb).unwrap(), [format!("a/1: a file of more than {MAX_PAGE} bytes in the archive")]);
        let contents = book(&" ".repeat(MAX_CONTENTS + 1), &[]);
        assert!(read(&contents).unwrap_err().to_string().contains("more than 4194304 bytes"));
        assert!(read(b"").is_err() && read(&archive(&[])).is_err() && read(&book("", &[])).unwrap().is_empty());
        let sound = book(spine, &[("a/1", b"words and words and words")]);
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0xff;
            let _ = read(&damaged);
            let _ = read(&sound[..at]);
        }
    }
}
