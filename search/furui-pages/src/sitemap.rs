use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// The maximum number of URLs of a sitemap, as the sitemap protocol says.
pub const MAX_SITEMAP_URLS: usize = 50_000;

/// A sitemap (sitemaps.org): a list of pages and of other sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// The URLs of pages, in their order in the sitemap.
    pub pages: Vec<String>,
    /// The URLs of other sitemaps, if this one is an index.
    pub sitemaps: Vec<String>,
    /// True if the sitemap has more than [`MAX_SITEMAP_URLS`] URLs. Further URLs are left out.
    pub has_more: bool,
}

impl Sitemap {
    /// Parses a sitemap. `None` if the bytes are not one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut found = Self::default();
        let (mut is_sitemap, mut is_index, mut in_loc) = (false, false, false);
        let mut url = String::new();
        let text = String::from_utf8_lossy(bytes);
        let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
            match event {
                CallbackEvent::OpenStartTag { name } => {
                    is_index |= name == b"sitemapindex";
                    is_sitemap |= is_index || name == b"urlset";
                    in_loc = is_sitemap && name == b"loc";
                    url.clear();
                }
                CallbackEvent::String { value } if in_loc => url.push_str(&String::from_utf8_lossy(value)),
                // A URL can also be in a CDATA section, which the tokenizer reports as a comment.
                CallbackEvent::Comment { value } if in_loc => {
                    let text = value.strip_prefix(b"[CDATA[").and_then(|text| text.strip_suffix(b"]]"));
                    url.push_str(&String::from_utf8_lossy(text.unwrap_or_default()));
                }
                CallbackEvent::EndTag { name } if in_loc && name == b"loc" => {
                    in_loc = false;
                    let urls = if is_index { &mut found.sitemaps } else { &mut found.pages };
                    if urls.len() == MAX_SITEMAP_URLS {
                        found.has_more = true;
                    } else if !url.trim().is_empty() {
                        urls.push(url.trim().to_owned());
                    }
                }
                _ => {}
            }
            None
        });
        let Ok(()) = Tokenizer::new_with_emitter(&*text, emitter).finish();
        is_sitemap.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_sitemaps_are_told_apart() {
        let pages = Sitemap::read(
            b"<?xml version='1.0'?><urlset xmlns='x'><url><loc> http://a/?b=1&amp;c=2\n</loc><lastmod>2026</lastmod></url>\
              <url><loc><![CDATA[http://a/d]]></loc><image:loc>no</image:loc></url></urlset>",
        );
        assert_eq!(pages.unwrap().pages, ["http://a/?b=1&c=2", "http://a/d"]);
        let index =
            Sitemap::read(b"<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>").unwrap();
        assert_eq!((index.pages.len(), index.sitemaps.len()), (0, 1));
        assert_eq!(Sitemap::read(b"<html><loc>x</loc>"), None);
        let many = format!("<urlset>{}", "<loc>u</loc>".repeat(MAX_SITEMAP_URLS + 1));
        let many = Sitemap::read(many.as_bytes()).unwrap();
        assert_eq!((many.pages.len(), many.has_more), (MAX_SITEMAP_URLS, true));
    }
}
