use percent_encoding::percent_decode_str;
use url::{Position, Url};

use super::Shown;

/// The maximum number of characters of a path that are shown. Chosen: two lines of a page.
const PATH: usize = 140;

/// A URL of strangers as people see it. Its host is set apart, because only the host tells whose page it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownUrl {
    /// The scheme, if the URL has a host.
    pub before: String,
    /// The host and the port as browsers find them: names in other scripts, or in letters that look like others, are in
    /// ASCII (`xn--…`). Empty if the URL has no host.
    pub host: String,
    /// What follows, or all of a URL without a host. A user name or a password, which could look like a host, is not
    /// shown, but it is said that there is one.
    pub after: String,
}

impl ShownUrl {
    /// Takes a URL apart, for a page. A long path is cut, because the page also has the link.
    pub(super) fn on_page(text: &str) -> Self {
        Self::new(text, PATH)
    }

    /// Takes a URL apart, and cuts what follows the host after `most` characters.
    pub fn new(text: &str, most: usize) -> Self {
        let Some(url) = Url::parse(text).ok().filter(Url::has_host) else {
            let after = Shown::new(&decoded(text), &[], most).text;
            return Self { before: String::new(), host: String::new(), after };
        };
        let mut after = Shown::new(&decoded(&url[Position::BeforePath..]), &[], most).text;
        if has_user(&url) {
            after += " (with a user name)";
        }
        Self {
            before: format!("{}://", url.scheme()),
            host: url[Position::BeforeHost..Position::BeforePath].to_owned(),
            after,
        }
    }
}

/// The URL to which a page links for a result: one of the web, without a user name. `None` for others, such as
/// `javascript:`, which are shown without a link.
pub(super) fn link(text: &str) -> Option<String> {
    let mut url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    if !has_user(&url) {
        return Some(text.to_owned());
    }
    url.set_username("").and_then(|()| url.set_password(None)).ok()?;
    Some(url.into())
}

/// Checks the URL under which a document is to be published.
///
/// # Errors
/// A sentence that says why it is none.
pub(super) fn check(text: &str) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| {
        format!("the URL {text:?} is none ({error}); write it in full, as in https://example.org/page")
    })?;
    if has_user(&url) {
        return Err("the URL has a user name or a password, which everybody would see; leave it out".to_owned());
    }
    Ok(())
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Decodes the letters and digits of other scripts than ASCII. What else is encoded stays so.
fn decoded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('%') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        // A character of UTF-8 beyond ASCII has two to four bytes, each three characters long.
        let letter = [6, 9, 12].into_iter().filter_map(|length| rest.get(..length)).find_map(|piece| {
            let is_encoded = piece.as_bytes().chunks(3).all(|byte| byte[0] == b'%');
            let text = percent_decode_str(piece).decode_utf8().ok().filter(|_| is_encoded)?;
            let mut characters = text.chars();
            let letter = characters.next().filter(|letter| !letter.is_ascii() && letter.is_alphanumeric())?;
            characters.next().is_none().then_some((letter, piece.len()))
        });
        let (shown, length) = letter.unwrap_or(('%', 1));
        out.push(shown);
        rest = &rest[length..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String, String) {
        let ShownUrl { before, host, after } = ShownUrl::on_page(text);
        (before, host, after)
    }

    #[test]
    fn hosts_are_shown_as_what_they_are() {
        for (url, host, after) in [
            ("https://example.org/a?b#c", "example.org", "/a?b#c"),
            ("HTTP://EXAMPLE.org:8080", "example.org:8080", "/"),
            ("http://раураl.com/", "xn--l-7sba6dbr.com", "/"),
            ("http://paypal.com⁄login.evil.example/", "paypal.xn--comlogin-g03d.evil.example", "/"),
            ("http://paypal.com@evil.example/x", "evil.example", "/x (with a user name)"),
            ("http://paypal.com%2Flogin:pw@evil.example/", "evil.example", "/ (with a user name)"),
            ("https://例え.テスト/百科", "xn--r8jz45g.xn--zckzah", "/百科"),
            ("https://ja.example/wiki/%E7%99%BE%e7%a7%91%20%2F%C2%A0%FF%", "ja.example", "/wiki/百科%20%2F%C2%A0%FF%"),
            ("http://[::1]:80/", "[::1]", "/"),
        ] {
            let scheme = if url.to_lowercase().starts_with("https") { "https://" } else { "http://" };
            assert_eq!(parts(url), (scheme.into(), host.into(), after.into()), "{url}");
        }
        for (url, shown) in [
            ("file:///home/me/a%20b.txt", "file:///home/me/a%20b.txt"),
            ("not a\u{200b} url", "not a url"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("", ""),
        ] {
            assert_eq!(parts(url), (String::new(), String::new(), shown.into()), "{url}");
        }
        assert_eq!(ShownUrl::on_page(&format!("http://a.example/{}", "x".repeat(500))).after.chars().count(), PATH + 1);
    }

    #[test]
    fn links_lead_to_the_web_and_nowhere_else() {
        for url in ["http://a.example/", "HTTPS://a.example", "https://篩.example"] {
            assert_eq!(link(url).as_deref(), Some(url));
        }
        for url in ["javascript:alert(1)", "data:text/html,x", "http:/", "file:///etc", "", "篩篩篩篩", "http://"] {
            assert_eq!(link(url), None, "{url}");
        }
        assert_eq!(link("http://paypal.com:x@evil.example/").as_deref(), Some("http://evil.example/"));
    }

    #[test]
    fn what_is_published_has_a_url_that_gives_nothing_away() {
        for url in ["https://example.org/", "file:///a", "urn:isbn:1", "u:1", "mailto:a@example.org"] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for (url, why) in [
            ("not a url", "is none"),
            ("", "is none"),
            ("/path", "is none"),
            ("http://", "is none"),
            ("http://me:secret@example.org/", "leave it out"),
            ("ftp://me@example.org/", "leave it out"),
        ] {
            assert!(check(url).unwrap_err().contains(why), "{url}");
        }
    }
}
