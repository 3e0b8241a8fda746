use std::io::{self, BufRead, ErrorKind, Read};

use crate::response::Response;
use crate::{MAX_PAGE, Media};

/// The maximum size of a record's own header, in bytes.
pub const MAX_HEADER: usize = 64 << 10;
/// The maximum size of a response that is read, in bytes: a page and its HTTP header.
const MAX_ANSWER: usize = MAX_PAGE + (64 << 10);

/// Reads pages that a crawler stored: the `response` records of a WARC file (ISO 28500), version 1.0 or 1.1. To read a
/// compressed file, wrap it in a [`Gunzip`](crate::Gunzip).
///
/// A record that is cut off or damaged yields an [`Item::Broken`], and reading continues at the next line that begins a
/// record. Memory: one page.
pub struct Warc<R: BufRead> {
    from: R,
    /// The number of records of the file that have begun so far.
    records: u64,
    /// A line that was read in advance and is still to be parsed.
    line: Vec<u8>,
    has_line: bool,
    /// True if the previous record was reported as broken. The bytes up to the next record are then skipped without a
    /// report.
    was_broken: bool,
}

/// An item of a WARC file: a page, or a record without a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A page that was received with status 200.
    Page(Capture),
    /// A record without a page: it is not a response, its status is not 200, or it is not text.
    Other,
    /// A record that should hold a page but cannot be read.
    Broken(Broken),
}

/// A page as a crawler received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The number of the record in the file, counted from 1.
    pub record: u64,
    /// The URL of the page.
    pub url: String,
    /// The kind and charset of the page.
    pub media: Media,
    /// True if a header of the response asks search engines to leave the page out.
    pub noindex: bool,
    /// The bytes of the page, without chunks and compression.
    pub body: Vec<u8>,
}

/// A record of a WARC file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The number of the record in the file, counted from 1.
    pub record: u64,
    /// The URL of the page, if it could still be read.
    pub url: Option<String>,
    /// The reason that the record cannot be read.
    pub why: String,
}

/// The fields of a record's header that are needed to read a page.
#[derive(Default)]
struct Header {
    is_response: bool,
    is_http: bool,
    url: Option<String>,
    length: Option<u64>,
}

impl<R: BufRead> Warc<R> {
    /// Makes a reader of the records in `from`.
    pub fn new(from: R) -> Self {
        Self { from, records: 0, line: Vec::new(), has_line: false, was_broken: false }
    }

    /// The reader from which the bytes of the file come.
    pub fn reader(&self) -> &R {
        &self.from
    }

    /// Reads the next record. Returns `None` at the end of the file.
    ///
    /// # Errors
    /// The errors of the underlying reader, except [`InvalidData`](ErrorKind::InvalidData) and
    /// [`UnexpectedEof`](ErrorKind::UnexpectedEof), for which a broken record is returned.
    pub fn next_item(&mut self) -> io::Result<Option<Item>> {
        let mut url = None;
        match self.read_item(&mut url) {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
                let why = error.to_string();
                self.was_broken = true;
                Ok(Some(Item::Broken(Broken { record: self.records, url, why })))
            }
            other => {
                self.was_broken = false;
                other
            }
        }
    }

    fn read_item(&mut self, url: &mut Option<String>) -> io::Result<Option<Item>> {
        if !self.find_record()? {
            return Ok(None);
        }
        let header = self.header()?;
        url.clone_from(&header.url);
        let length = header.length.ok_or_else(|| broken("no Content-Length"))?;
        if !(header.is_response && header.is_http) {
            self.skip(length)?;
            return Ok(Some(Item::Other));
        }
        if length > MAX_ANSWER as u64 {
            self.skip(length)?;
            return Err(broken(&format!("more than {MAX_ANSWER} bytes")));
        }
        let mut answer = Vec::new();
        let read = self.from.by_ref().take(length).read_to_end(&mut answer)?;
        if (read as u64) < length {
            return Err(broken("it ends in the middle"));
        }
        let response = Response::read(&answer).map_err(|why| broken(&why))?;
        let Response { status: 200, media: Some(media), noindex, body } = response else {
            return Ok(Some(Item::Other));
        };
        let url = header.url.ok_or_else(|| broken("no WARC-Target-URI"))?;
        Ok(Some(Item::Page(Capture { record: self.records, url, media, noindex, body })))
    }

    /// Skips to the next line that begins a record. Returns false if there is none.
    fn find_record(&mut self) -> io::Result<bool> {
        let mut is_lost = false;
        loop {
            if !self.has_line && !self.read_line()? {
                return if is_lost { Err(broken("bytes that are not a record follow")) } else { Ok(false) };
            }
            self.has_line = false;
            if self.line.starts_with(b"WARC/1.") {
                if is_lost {
                    self.has_line = true;
                    return Err(broken("bytes that are not a record follow"));
                }
                self.records += 1;
                return Ok(true);
            }
            is_lost |= !self.line.trim_ascii().is_empty() && !self.was_broken;
        }
    }

    /// Reads a line, or the beginning of a line that is longer than the maximum size of a header. Returns false at the
    /// end of the file.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.from.by_ref().take(MAX_HEADER as u64).read_until(b'\n', &mut self.line)?;
        self.has_line = !self.line.is_empty();
        Ok(self.has_line)
    }

    fn header(&mut self) -> io::Result<Header> {
        let mut header = Header::default();
        let mut left = MAX_HEADER;
        while self.read_line()? {
            // The next record begins although no empty line has ended this header.
            if self.line.starts_with(b"WARC/1.") {
                return Err(broken("its header does not end"));
            }
            self.has_line = false;
            left = left.checked_sub(self.line.len()).ok_or_else(|| broken("a header of more than 64 KiB"))?;
            let line = String::from_utf8_lossy(&self.line);
            let line = line.trim();
            if line.is_empty() {
                return Ok(header);
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "warc-type" => header.is_response = value.eq_ignore_ascii_case("response"),
                "content-type" => header.is_http = value.to_ascii_lowercase().starts_with("application/http"),
                "content-length" => header.length = value.parse().ok(),
                // Some writers put the URL between angle brackets, as an example in the standard does.
                "warc-target-uri" => header.url = Some(value.trim_matches(['<', '>']).to_owned()),
                _ => {}
            }
        }
        Err(broken("its header does not end"))
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.from.by_ref().take(length), &mut io::sink())?;
        if skipped < length { Err(broken("it ends in the middle")) } else { Ok(()) }
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;
    use crate::{Gunzip, Kind};

    fn record(kind: &str, url: &str, block: &str) -> Vec<u8> {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
        .into_bytes()
    }

    fn answer(url: &str, text: &str) -> Vec<u8> {
        record("response", url, &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{text}"))
    }

    fn items(from: impl BufRead) -> Vec<Item> {
        let mut warc = Warc::new(from);
        std::iter::from_fn(|| warc.next_item().unwrap()).collect()
    }

    fn url(item: &Item) -> &str {
        match item {
            Item::Page(capture) => &capture.url,
            Item::Other => "-",
            Item::Broken(broken) => &broken.why,
        }
    }

    #[test]
    fn answers_with_pages_are_read_and_others_passed_over() {
        let file = [
            record("warcinfo", "", "software: x\r\n"),
            answer("<http://a/>", "<p>one"),
            record("request", "http://a/", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "http://b/", "HTTP/1.1 404 Gone\r\n\r\nno"),
            record("response", "http://c/", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nPNG"),
            record(
                "response",
                "http://d/",
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Robots-Tag: noindex\r\n\r\nd",
            ),
        ];
        let items = items(&file.concat()[..]);
        assert_eq!(items.iter().map(url).collect::<Vec<_>>(), ["-", "http://a/", "-", "-", "-", "http://d/"]);
        let Item::Page(page) = &items[1] else { panic!() };
        assert_eq!((page.record, page.noindex, &page.body[..]), (2, false, &b"<p>one"[..]));
        assert_eq!(page.media, Media { kind: Kind::Html, charset: Some("utf-8".into()) });
        let Item::Page(page) = &items[5] else { panic!() };
        assert!(page.noindex && page.media.kind == Kind::Text);
    }

    #[test]
    fn broken_records_are_named_and_the_next_is_read() {
        let no_length = b"WARC/1.0\r\nWARC-Type: response\r\n\r\nrubbish\r\n\r\n".to_vec();
        let endless = b"WARC/1.0\r\nWARC-Type: response\r\n".to_vec();
        let huge = [&b"WARC/1.0\r\nx: "[..], &vec![b'x'; MAX_HEADER], b"\r\n\r\n"].concat();
        let no_http = record("response", "http://n/", "nothing");
        let cut = &answer("http://z/", "text")[..150];
        let file =
            [&answer("http://a/", "a")[..], &no_length, &endless, &answer("http://b/", "b"), &huge, &no_http, cut];
        let items = items(&file.concat()[..]);
        let found: Vec<&str> = items.iter().map(url).collect();
        assert_eq!(found[..4], ["http://a/", "no Content-Length", "its header does not end", "http://b/"]);
        assert_eq!(found[4], "a header of more than 64 KiB");
        assert!(found[5].starts_with("no HTTP answer"), "{}", found[5]);
        assert_eq!(found[6..], ["it ends in the middle"]);
        let Item::Broken(last) = &items[6] else { panic!() };
        assert_eq!((last.record, last.url.as_deref()), (7, Some("http://z/")));
    }

    #[test]
    fn what_is_no_warc_is_one_broken_record() {
        let found = items(&b"this is\nno WARC\n"[..]);
        assert_eq!(found.iter().map(url).collect::<Vec<_>>(), ["bytes that are not a record follow"]);
        assert_eq!(items(&b"\r\n\r\n"[..]), []);
        let found =
            items(&[&answer("http://a/", "a")[..], b"more than it says\r\n", &answer("http://b/", "b")].concat()[..]);
        assert_eq!(
            found.iter().map(url).collect::<Vec<_>>(),
            ["http://a/", "bytes that are not a record follow", "http://b/"]
        );
    }

    #[test]
    fn a_damaged_member_costs_its_record_and_no_other() {
        let pack = |bytes: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let mut damaged = pack(&answer("http://b/", &"words that are many, ".repeat(50)));
        let middle = damaged.len() / 2;
        damaged[middle..middle + 8].fill(0xff);
        let file = [pack(&answer("http://a/", "a")), damaged, pack(&answer("http://c/", "c"))].concat();
        let items = items(BufReader::new(Gunzip::new(&file[..])));
        let pages: Vec<&str> = items.iter().filter(|item| matches!(item, Item::Page(_))).map(url).collect();
        assert_eq!(pages, ["http://a/", "http://c/"]);
        assert!(items.iter().any(|item| matches!(item, Item::Broken(_))), "{items:?}");
    }

    proptest! {
        #[test]
        fn any_change_of_a_file_ends_in_items(at in 0..400usize, by in prop::collection::vec(any::<u8>(), 0..20)) {
            let mut file = [answer("http://a/", "a"), answer("http://b/", "b")].concat();
            let end = (at + by.len()).min(file.len());
            file.splice(at.min(end)..end, by);
            items(&file[..]);
        }
    }
}
