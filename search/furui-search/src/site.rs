use std::net::{Ipv4Addr, Ipv6Addr};

use idna::punycode;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::limits;

/// The maximum number of words that represent the host of a document and its domains.
const MAX_SITES: usize = 8;

/// The prefix of the words that represent sites. A word of a text contains no colon, so it never represents a site.
const SITE: &str = "site:";
/// The maximum length of a label of a host name, in bytes (RFC 1035).
const MAX_LABEL: usize = 63;
/// The maximum length of a host name, in bytes (RFC 1035).
const MAX_HOST: usize = 253;

/// True if a word represents a site.
pub(super) fn is_site(word: &str) -> bool {
    word.starts_with(SITE)
}

/// The words for the host of a URL: `site:` with the host, and `site:` with each domain above it that has a dot. There
/// are at most [`MAX_SITES`] words: one for the host, and the others for the shortest domains.
///
/// ```text
///  https://Docs.Example.org:8080/page    site:docs.example.org site:example.org
///  http://localhost/                     site:localhost
///  http://192.0.2.1/                     site:192.0.2.1
///  mailto:somebody@example.org           none: there is no host
/// ```
pub(super) fn sites(url: &str) -> impl Iterator<Item = String> {
    let (host, others) = match split(url) {
        Some((Host::Name(name), _)) => {
            let dots: Vec<usize> =
                name.match_indices('.').map(|(at, _)| at).rev().skip(1).take(MAX_SITES - 1).collect();
            let others: Vec<String> = dots.into_iter().map(|at| name[at + 1..].to_owned()).collect();
            (Some(name), others)
        }
        Some((Host::Address(address), _)) => (Some(address), Vec::new()),
        None => (None, Vec::new()),
    };
    host.into_iter().chain(others).filter_map(|host| word(&host))
}

/// The word for the site that follows `site:`, which is a host, or a URL without a path.
pub(super) fn site(text: &str) -> Result<String, NoSite> {
    let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    match split(&url) {
        _ if text.is_empty() => Err(NoSite::Empty),
        Some((_, rest)) if !matches!(rest, "" | "/") => Err(NoSite::Path),
        Some((Host::Name(host) | Host::Address(host), _)) => word(&host).ok_or(NoSite::NoHost),
        None => Err(NoSite::NoHost),
    }
}

/// The reason that a text is not a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoSite {
    /// The text is empty.
    Empty,
    /// The text is not a host.
    NoHost,
    /// The text contains more than a host.
    Path,
}

fn word(host: &str) -> Option<String> {
    (SITE.len() + host.len() <= limits::WORD_BYTES).then(|| format!("{SITE}{host}"))
}

enum Host {
    /// A name, with its labels in ASCII and in lower case.
    Name(String),
    /// An IP address in its canonical spelling.
    Address(String),
}

/// Splits a URL into its host and the rest after the host and the port. `None` if it has no host.
fn split(url: &str) -> Option<(Host, &str)> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme {
        return None;
    }
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let (host, port) = match place.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        Some((address, port)) => {
            let address: Ipv6Addr = address.parse().ok()?;
            (Host::Address(format!("[{address}]")), port.strip_prefix(':').unwrap_or(port))
        }
        None => {
            let (name, port) = place.rsplit_once(':').unwrap_or((place, ""));
            (host(name)?, port)
        }
    };
    port.bytes().all(|byte| byte.is_ascii_digit()).then_some((host, rest))
}

/// The host in its canonical spelling: case folded, in normal form NFKC, with labels beyond ASCII as `xn--…`.
fn host(name: &str) -> Option<Host> {
    if name.len() > 4 * MAX_HOST {
        return None;
    }
    let lower: String = name.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let lower = lower.replace('\u{3002}', ".");
    let lower = lower.strip_suffix('.').unwrap_or(&lower);
    let labels = lower.split('.').map(label).collect::<Option<Vec<_>>>()?;
    let last = &labels[labels.len() - 1];
    if last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") {
        return Some(Host::Address(lower.parse::<Ipv4Addr>().ok()?.to_string()));
    }
    Some(labels.join(".")).filter(|host| host.len() <= MAX_HOST).map(Host::Name)
}

fn label(label: &str) -> Option<String> {
    let is_allowed = |c: char| c == '-' || c == '_' || c.is_alphanumeric() || is_combining_mark(c);
    if label.chars().count() > MAX_LABEL || !label.chars().all(is_allowed) {
        return None;
    }
    let label = if label.is_ascii() { label.to_owned() } else { format!("xn--{}", punycode::encode_str(label)?) };
    (1..=MAX_LABEL).contains(&label.len()).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> String {
        sites(url).collect::<Vec<_>>().join(" ").replace(SITE, "")
    }

    #[test]
    fn documents_have_the_words_of_their_host_and_its_domains() {
        for (url, expected) in [
            ("https://Docs.Example.org:8080/a.b?c.d", "docs.example.org example.org"),
            ("http://me:pass@www.example.org", "www.example.org example.org"),
            ("http://example.org./", "example.org"),
            ("http://org/", "org"),
            ("http://192.0.2.1:80/", "192.0.2.1"),
            ("http://[2001:DB8::0:1]:80/", "[2001:db8::1]"),
            ("http://例え.テスト/", "xn--r8jz45g.xn--zckzah"),
            ("http://XN--R8JZ45G。example/", "xn--r8jz45g.example"),
            ("http://bücher.Straße.example", "xn--bcher-kva.xn--strae-oqa.example xn--strae-oqa.example"),
            ("http://１９２.0.2.1", "192.0.2.1"),
            (
                "http://a.b.c.d.e.f.g.h.i.j/",
                "a.b.c.d.e.f.g.h.i.j i.j h.i.j g.h.i.j f.g.h.i.j e.f.g.h.i.j d.e.f.g.h.i.j c.d.e.f.g.h.i.j",
            ),
            ("file:///home/a.b/c", ""),
            ("mailto:a@example.org", ""),
            ("u:1", ""),
            ("http://a b/", ""),
            ("http://a..b/", ""),
            ("http://1.2.3/", ""),
            ("http://example.org:x/", ""),
            ("http://[::1/", ""),
            ("://example.org/", ""),
            ("not a url, as http://example.org is one", ""),
        ] {
            assert_eq!(of(url), expected, "{url}");
        }
        let long = format!("http://{}.{}.example.org/", "a".repeat(60), "b".repeat(60));
        assert_eq!(of(&long), format!("example.org {}.example.org", "b".repeat(60)), "the host is too long for a word");
        assert_eq!(of(&format!("http://{}.org/", "a".repeat(64))), "");
        assert_eq!(of(&format!("http://{}/", "é".repeat(5000))), "");
    }

    #[test]
    fn sites_to_search_are_hosts() {
        for (text, expected) in [
            ("Example.ORG", Ok("site:example.org")),
            ("https://example.org/", Ok("site:example.org")),
            ("example.org:8080", Ok("site:example.org")),
            ("例え.テスト", Ok("site:xn--r8jz45g.xn--zckzah")),
            ("[::1]", Ok("site:[::1]")),
            ("", Err(NoSite::Empty)),
            ("example.org/docs", Err(NoSite::Path)),
            ("*.example.org", Err(NoSite::NoHost)),
            (".example.org", Err(NoSite::NoHost)),
            ("\"example.org\"", Err(NoSite::NoHost)),
        ] {
            assert_eq!(site(text), expected.map(str::to_owned), "{text}");
        }
    }
}
