use std::borrow::Cow;

use url::{Url, form_urlencoded};

use super::canonical::canonical;
use crate::error::Error;

/// The schemes of the URLs that are canonicalised. In other schemes a fragment may have another meaning, and many texts
/// look like URLs: `ERROR: ticket #12`, `localhost:8080/#/a`, `C:\\`.
const SCHEMES: [&str; 5] = ["http", "https", "ftp", "ws", "wss"];

/// The rules that say which URLs name the same page.
pub(super) struct UrlRules {
    /// The names of the query parameters that are left out of keys. The flag is true if a name stands for all names
    /// that begin with it.
    drop: Vec<(String, bool)>,
    sort: bool,
}

impl UrlRules {
    pub(super) fn new(drop: &[String], sort: bool) -> Result<Self, Error> {
        let rule = |name: &String| match name.strip_suffix('*') {
            Some("") => Err(Error::Message("--url-drop *: drops every parameter; name some of them".into())),
            Some(start) => Ok((start.to_owned(), true)),
            None => Ok((name.clone(), false)),
        };
        Ok(Self { drop: drop.iter().map(rule).collect::<Result<_, _>>()?, sort })
    }

    /// The URL in its canonical form, as the WHATWG standard serialises it, without the fragment, which names a place
    /// in a page and not another page. `None` if the text is no URL of the [`SCHEMES`].
    pub(super) fn canonical<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        let changes_parameters = self.sort || !self.drop.is_empty();
        if let Some(canonical) = canonical(text, changes_parameters) {
            return Some(Cow::Borrowed(canonical));
        }
        let mut url = Url::parse(std::str::from_utf8(text).ok()?).ok()?;
        if !SCHEMES.contains(&url.scheme()) {
            return None;
        }
        url.set_fragment(None);
        if let Some(query) = url.query().filter(|_| changes_parameters) {
            let mut pairs: Vec<&str> = query.split('&').filter(|pair| !self.drops(pair)).collect();
            if self.sort {
                pairs.sort_unstable();
            }
            let query = pairs.join("&");
            url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
        }
        Some(Cow::Owned(String::from(url).into_bytes()))
    }

    /// True if keys leave out this parameter, a `name=value` of a URL's query.
    fn drops(&self, pair: &str) -> bool {
        let Some((name, _)) = form_urlencoded::parse(pair.as_bytes()).next() else { return false };
        self.drop.iter().any(|(rule, is_start)| if *is_start { name.starts_with(rule) } else { *name == **rule })
    }
}
