//! HTTP responses as crawlers store them.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::{MAX_PAGE, Media, is_noindex};

/// The maximum number of header lines of a response.
const MAX_HEADERS: usize = 256;

/// The parts of an HTTP response that are needed to read a page.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The kind and charset of the body; `None` if it is not a page.
    pub(crate) media: Option<Media>,
    /// True if a header asks search engines to leave the page out.
    pub(crate) noindex: bool,
    /// The body; if it is a page, without chunked transfer coding, and decompressed up to one byte more than
    /// [`MAX_PAGE`].
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Parses an HTTP response. The error is the reason that it is invalid.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let mut config = httparse::ParserConfig::default();
        config
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true);
        let length = match config.parse_response(&mut response, bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Err("an HTTP response whose header does not end".into()),
            Err(error) => return Err(format!("no HTTP answer: {error}")),
        };
        let header = |name: &str| {
            let found = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
        };
        let status = response.code.unwrap_or_default();
        let media = header("content-type").map_or(Some(crate::Kind::Html.into()), |value| Media::of(&value));
        let noindex = header("x-robots-tag").is_some_and(|rules| is_noindex(&rules));
        let mut body = bytes[length..].to_vec();
        if media.is_some() {
            if header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
                // Some crawlers remove the chunks but keep the header.
                body = unchunk(&body).unwrap_or(body);
            }
            if let Some(coding) = header("content-encoding").filter(|coding| coding != "identity") {
                body = decode(body, &coding)?;
            }
        }
        Ok(Self { status, media, noindex, body })
    }
}

/// Joins the chunks of a body in the chunked transfer coding; `None` if the body is not in that form. If the body was
/// cut off, the available part is returned.
fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let (at, size) = match httparse::parse_chunk_size(bytes).ok()? {
            httparse::Status::Complete(found) => found,
            httparse::Status::Partial => return Some(body).filter(|body| !body.is_empty()),
        };
        let size = usize::try_from(size).ok()?;
        bytes = &bytes[at..];
        if size == 0 {
            return Some(body);
        }
        let Some((chunk, rest)) = bytes.split_at_checked(size) else {
            body.extend_from_slice(bytes);
            return Some(body);
        };
        body.extend_from_slice(chunk);
        bytes = rest.strip_prefix(b"\r\n").unwrap_or(rest);
    }
}

/// Decompresses a body in the content coding `coding`, such as `gzip`, unless the crawler has already done so.
fn decode(body: Vec<u8>, coding: &str) -> Result<Vec<u8>, String> {
    let decoded = match coding {
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => bounded(GzDecoder::new(&body[..])),
        "deflate" if body.first().is_some_and(|first| first & 0x0f == 8) => bounded(ZlibDecoder::new(&body[..])),
        "deflate" => bounded(DeflateDecoder::new(&body[..])),
        "gzip" | "x-gzip" => return Ok(body),
        // The crawler may have decoded the body, which is then text.
        _ if str::from_utf8(&body).is_ok() => return Ok(body),
        _ => return Err(format!("the content coding {coding:?} is not supported")),
    };
    decoded.map_err(|error| format!("a damaged body: {error}"))
}

/// Reads everything, but at most one byte more than the maximum size of a page.
fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_PAGE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn body(headers: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n");
        Response::read(&[head.as_bytes(), body].concat()).map(|response| response.body)
    }

    #[test]
    fn bodies_are_unchunked_and_decompressed_unless_they_are_already() {
        let chunked = b"4\r\nabcd\r\n2;x=y\r\nef\r\n0\r\n\r\n";
        assert_eq!(body("Transfer-Encoding: chunked\r\n", chunked), Ok(b"abcdef".to_vec()));
        assert_eq!(body("Transfer-Encoding: chunked\r\n", &chunked[..14]), Ok(b"abcd".to_vec()));
        assert_eq!(body("Transfer-Encoding: chunked\r\n", b"<p>none"), Ok(b"<p>none".to_vec()));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"text").unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(body("Content-Encoding: gzip\r\n", &packed), Ok(b"text".to_vec()));
        assert_eq!(body("Content-Encoding: gzip\r\n", b"text"), Ok(b"text".to_vec()));
        assert_eq!(body("Content-Encoding: br\r\n", b"text"), Ok(b"text".to_vec()));
        assert!(body("Content-Encoding: br\r\n", b"\xff\xff").unwrap_err().contains("\"br\""));
        assert!(body("Content-Encoding: gzip\r\n", &packed[..12]).unwrap_err().contains("damaged"));
    }

    #[test]
    fn headers_say_what_it_is() {
        let read = |head: &str| Response::read(head.as_bytes()).map_err(|_| ());
        let robots = read("HTTP/1.1 404 Gone\r\nX-Robots-Tag: otherbot: nofollow, noindex\r\n\r\n").unwrap();
        assert!(robots.noindex && robots.status == 404 && robots.media.is_some());
        assert!(read("HTTP/1.0 200 OK\r\ncontent-type: image/png\r\n\r\n").unwrap().media.is_none());
        assert!(read("HTTP/1.0 200 OK\r\ncontent-").is_err());
        assert!(read("GET / HTTP/1.0\r\n\r\n").is_err());
    }
}
