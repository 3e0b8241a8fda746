//! The key of a line: the line, one of its fields, or its canonical URL.

use std::borrow::Cow;

use furui::{HashSpec, Hashes, KeyHasher};
use url::Url;

use crate::blocks::Block;
use crate::cli::LineOptions;

/// Finds the key of a line.
pub struct Keys {
    /// What the keys are hashed by.
    pub hasher: KeyHasher,
    /// The index of the field that is the key, from 0 on, and the delimiter of fields. `None` if the whole line is the key.
    pub field: Option<(usize, u8)>,
    /// True if the key is the canonical form of a URL.
    pub url: bool,
}

impl Keys {
    /// Creates the keys that the options describe.
    pub fn new(spec: HashSpec, options: &LineOptions) -> Self {
        Self {
            hasher: spec.hasher(),
            field: options.field.map(|number| (number as usize - 1, options.delimiter)),
            url: options.url,
        }
    }

    /// Hashes the key of every line of a block by the hasher of `out`, which is cleared first.
    pub fn hash_all(&self, block: &Block<'_>, out: &mut Hashes) {
        out.clear();
        if self.field.is_none() && !self.url {
            out.extend(block.lines());
        } else {
            out.extend(block.lines().map(|line| self.key(line)));
        }
    }

    fn key<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let key = match self.field {
            // A line with fewer fields has the empty key, as in awk.
            Some((index, delimiter)) => line.split(|&byte| byte == delimiter).nth(index).unwrap_or_default(),
            None => line,
        };
        match if self.url { canonical(key) } else { None } {
            Some(url) => String::from(url).into_bytes().into(),
            None => key.into(),
        }
    }
}

/// The schemes of the URLs that are canonicalised. In other schemes a fragment may have another meaning, and many texts look like
/// URLs: `ERROR: ticket #12`, `localhost:8080/#/a`, `C:\\`.
const SCHEMES: [&str; 5] = ["http", "https", "ftp", "ws", "wss"];

/// The URL in its canonical form, as the WHATWG standard serialises it, without the fragment: a fragment names a
/// place in a page, not another page.
fn canonical(text: &[u8]) -> Option<Url> {
    let mut url = Url::parse(std::str::from_utf8(text).ok()?).ok()?;
    url.set_fragment(None);
    SCHEMES.contains(&url.scheme()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(keys: &Keys, a: &str, b: &str) -> bool {
        keys.key(a.as_bytes()) == keys.key(b.as_bytes())
    }

    #[test]
    fn urls_that_name_one_page_have_one_key() {
        let keys = Keys { hasher: HashSpec::default().hasher(), field: None, url: true };
        assert!(same(&keys, "HTTP://Example.COM:80/a/../b#top", "http://example.com/b"));
        assert!(same(&keys, "https://example.com", "https://example.com/"));
        assert!(same(&keys, "http://例え.jp/", "http://xn--r8jz45g.jp/"));
        assert!(!same(&keys, "http://example.com/?a", "http://example.com/?b"));
        for (a, b) in [
            ("no url", "No url"),
            ("ERROR: ticket #12", "ERROR: ticket #13"),
            ("localhost:8080/#/a", "localhost:8080/#/b"),
            ("data:text/plain,a#1", "data:text/plain,a#2"),
            ("C:\\Dir", "c:\\Dir"),
        ] {
            assert!(!same(&keys, a, b), "{a} {b}");
        }
    }

    #[test]
    fn a_missing_field_is_the_empty_key() {
        let keys = Keys { hasher: HashSpec::default().hasher(), field: Some((1, b'\t')), url: false };
        assert!(same(&keys, "x\tk\ty", "z\tk"));
        assert!(same(&keys, "x", "y\t"));
        assert!(!same(&keys, "x\tk", "x\tl"));
    }
}
