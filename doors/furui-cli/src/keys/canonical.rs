//! Tells without parsing that a URL is canonical already, as most URLs of a crawl are.

/// The bytes that are neither changed nor have a meaning in the path and in the query of a URL. The flags are one for
/// the path and two for the query.
static KEPT: [u8; 256] = {
    let mut kept = [0; 256];
    let both = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~!$&()*+,;=:@/%";
    let mut at = 0;
    while at < both.len() {
        kept[both[at] as usize] = PATH | QUERY;
        at += 1;
    }
    kept[b'\'' as usize] = PATH;
    kept[b'?' as usize] = QUERY;
    kept
};
const PATH: u8 = 1;
const QUERY: u8 = 2;

/// The part before the fragment of a URL of http or https that is the canonical form of the URL: the parser would
/// return its very bytes. `None` if the text is no such URL, or only a parser can tell. With `parameters`, the query
/// must be empty, because its parameters are changed.
pub(super) fn canonical(text: &[u8], parameters: bool) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"http").map(|rest| rest.strip_prefix(b"s").unwrap_or(rest))?.strip_prefix(b"://")?;
    let host = rest.iter().position(|byte| *byte == b'/')?;
    let last = rest[..host].rsplit(|byte| *byte == b'.').next()?;
    // A host whose last label begins with a digit may be an IPv4 address, and `xn--` must be decoded.
    let is_name = last.first()?.is_ascii_lowercase() && rest[..host].split(|byte| *byte == b'.').all(is_label);
    if !is_name {
        return None;
    }
    let (mut kept, mut before) = (PATH, 0);
    let start = text.len() - rest.len() + host;
    for (at, &byte) in text[start..].iter().enumerate() {
        match byte {
            // This may be a segment of one or two full stops, which is resolved.
            b'.' | b'%' if before == b'/' && kept == PATH => return None,
            b'?' if kept == PATH && !parameters => kept = QUERY,
            b'#' => return text[start + at..].is_ascii().then_some(&text[..start + at]),
            _ if KEPT[byte as usize] & kept == 0 => return None,
            _ => {}
        }
        before = byte;
    }
    Some(text)
}

/// True for a label of a host that IDNA leaves as it is.
fn is_label(label: &[u8]) -> bool {
    let is_kept = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    !label.is_empty()
        && label.iter().all(is_kept)
        && !label.starts_with(b"-")
        && !label.ends_with(b"-")
        && !label.windows(2).any(|two| two == b"--")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::canonical;

    /// Pieces of URLs, of which some are changed by the parser.
    const PIECES: [&str; 44] = [
        "http://", "https://", "HTTP://", "ftp://", "a", "example", ".", "..", "/", "//", "org", "com.", "1", "0x1",
        ":", ":80", ":8080", "@", "?", "&", "a=1", "b=%41", "#", "%2e", "%", "%zz", "\\", "'", "\"", "<", "^", "`",
        "{", "|", " ", "\t", "é", "xn--", "--", "-", "_", "A", "~", "*",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn what_is_taken_as_canonical_is_what_the_parser_returns(
            scheme in 0..4_usize,
            pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12),
        ) {
            let text = format!("{}{}", ["http://a", "https://example.org/", "http://a.example/x?", ""][scheme], pieces.concat());
            if let Some(found) = canonical(text.as_bytes(), false) {
                let mut url = Url::parse(&text).expect("it is a URL");
                url.set_fragment(None);
                prop_assert_eq!(url.as_str().as_bytes(), found);
            }
        }
    }

    #[test]
    fn usual_urls_are_told_without_a_parser() {
        for (text, found) in [
            ("https://en.wikipedia.org/wiki/Bloom_filter", Some("https://en.wikipedia.org/wiki/Bloom_filter")),
            ("http://example.org/a/b.html?x=1&y=%20#top", Some("http://example.org/a/b.html?x=1&y=%20")),
            ("http://example.org/", Some("http://example.org/")),
            ("http://example.org", None),
            ("http://example.org/a/../b", None),
            ("http://example.org/a/%2E/b", None),
            ("http://EXAMPLE.org/", None),
            ("http://127.1/", None),
            ("http://a.0x7f/", None),
            ("http://xn--a/", None),
            ("http://a:80/", None),
            ("ftp://a/", None),
            ("http://a/#é", None),
        ] {
            assert_eq!(canonical(text.as_bytes(), false), found.map(str::as_bytes), "{text}");
        }
        assert_eq!(canonical(b"http://a/?b", true), None);
        assert_eq!(canonical(b"http://a/b", true), Some(&b"http://a/b"[..]));
    }
}
