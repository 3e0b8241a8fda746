use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use crate::elements::{is_block, is_skipped};
use crate::front_matter::FrontMatter;
use crate::lines::Lines;
use crate::{Page, charset, is_noindex};

/// The maximum number of bytes of an attribute that are stored; the rest is ignored.
const MAX_ATTRIBUTE: usize = 4 << 10;

/// Extracts title, text and metadata of an HTML page. `charset` is the one that the sender stated; see [`Page`] for the
/// metadata.
///
/// The text is that of all elements except scripts, styles, navigation (`<nav>`) and embedded objects. Runs of spaces
/// become one space, and each block becomes a line; the lines of `<pre>` are kept. Front matter, with which the sources
/// of static sites begin, is not text; the title that it states goes before that of `<title>`.
///
/// Tags are read as in browsers, but no tree is built: any bytes are read in one pass. Except in odd cases, an element
/// without an end tag ends where it would in a browser; a `<nav>` that is not closed ends at `<main>` or `<article>`.
pub fn html(bytes: &[u8], charset: Option<&str>) -> Page {
    let text = charset::decode_html(bytes, charset);
    let front_matter = FrontMatter::split(&text);
    let mut reader = Reader::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        reader.event(event);
        None
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(front_matter.rest, emitter).finish();
    let Reader { title, text, mut page, .. } = reader;
    page.title = front_matter.title.unwrap_or_else(|| title.finish());
    page.text = text.finish();
    page
}

/// Collects the text between the tags of an HTML page, and the metadata.
#[derive(Default)]
struct Reader {
    page: Page,
    title: Lines,
    text: Lines,
    tag: Vec<u8>,
    attribute: Attribute,
    /// The attribute `name`, `rel` or `lang` of the current tag.
    named: Vec<u8>,
    /// The attribute `content` or `href` of the current tag.
    value: Option<Vec<u8>>,
    /// The name of the element that is being skipped, and the number of open elements with that name.
    skipped: Option<(Vec<u8>, u32)>,
    in_title: bool,
    has_title: bool,
    /// The number of `<pre>` elements that enclose the current position.
    pre: u32,
}

/// The use of an attribute of the current tag.
#[derive(Clone, Copy, Default)]
enum Attribute {
    #[default]
    Other,
    Named,
    Value,
}

impl Reader {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag.clear();
                self.tag.extend_from_slice(name);
                self.named.clear();
                self.value = None;
                self.attribute = Attribute::Other;
            }
            CallbackEvent::AttributeName { name } => {
                self.attribute = match (self.tag.as_slice(), name) {
                    (b"html", b"lang") | (b"meta", b"name") | (b"link", b"rel") => Attribute::Named,
                    (b"meta", b"content") | (b"link", b"href") => Attribute::Value,
                    _ => Attribute::Other,
                };
            }
            CallbackEvent::AttributeValue { value } if value.len() <= MAX_ATTRIBUTE => match self.attribute {
                Attribute::Other => {}
                Attribute::Named => self.named = value.to_ascii_lowercase(),
                Attribute::Value => self.value = Some(value.to_vec()),
            },
            CallbackEvent::CloseStartTag { self_closing } => self.start(self_closing),
            CallbackEvent::EndTag { name } => {
                // The attributes of an end tag are reported before the tag. They have no meaning, and are dropped.
                self.tag.clear();
                self.end(name);
            }
            CallbackEvent::String { value } => self.string(value),
            _ => {}
        }
    }

    fn start(&mut self, self_closing: bool) {
        let tag = std::mem::take(&mut self.tag);
        if let Some((skipped, depth)) = &mut self.skipped {
            if *skipped == tag {
                *depth += 1;
            } else if skipped == b"nav" && matches!(tag.as_slice(), b"main" | b"article") {
                self.skipped = None;
            }
        }
        if self.skipped.is_none() {
            if is_skipped(&tag) {
                // Of the skipped elements, only `<svg/>` can end with its own tag.
                self.skipped = (!(self_closing && tag == b"svg")).then(|| (tag.clone(), 1));
                self.text.end_line();
            } else {
                self.start_of(&tag);
            }
        }
        self.tag = tag;
    }

    fn start_of(&mut self, tag: &[u8]) {
        let value = self.value.take();
        match tag {
            b"html" if self.page.lang.is_none() && !self.named.is_empty() => {
                // The language is kept as written, but in lower case, since language tags are not case-sensitive.
                self.page.lang = Some(String::from_utf8_lossy(&self.named).trim().to_owned());
            }
            b"meta" if self.named == b"robots" => {
                self.page.noindex |= is_noindex(&String::from_utf8_lossy(&value.unwrap_or_default()));
            }
            b"link" => {
                let href = value.map(|href| String::from_utf8_lossy(&href).trim().to_owned());
                let href = href.filter(|href| !href.is_empty());
                if self.page.canonical.is_none()
                    && self.named.split(u8::is_ascii_whitespace).any(|it| it == b"canonical")
                {
                    self.page.canonical = href;
                }
            }
            b"title" => self.in_title = !std::mem::replace(&mut self.has_title, true),
            b"pre" => self.pre += 1,
            _ => {}
        }
        self.break_at(tag);
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((skipped, depth)) = &mut self.skipped {
            if *skipped == name {
                *depth -= 1;
            }
            let over = *depth == 0 || matches!(name, b"body" | b"html");
            if over {
                self.skipped = None;
            }
            return;
        }
        match name {
            b"title" => self.in_title = false,
            b"pre" => self.pre = self.pre.saturating_sub(1),
            _ => {}
        }
        self.break_at(name);
    }

    fn break_at(&mut self, tag: &[u8]) {
        if is_block(tag) {
            self.text.end_line();
        }
    }

    fn string(&mut self, value: &[u8]) {
        if self.skipped.is_some() {
            return;
        }
        let value = String::from_utf8_lossy(value);
        if self.in_title {
            self.title.push(&value, false);
        } else {
            self.text.push(&value, self.pre > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(source: &str) -> Page {
        html(source.as_bytes(), None)
    }

    #[test]
    fn a_page_says_what_a_reader_sees() {
        let read = page(
            "<!DOCTYPE html><html lang=pt-BR><head><meta charset=utf-8><title>\n A &amp; B \n</title>\
             <link rel='stylesheet canonical' href=' /there '><style>p{}</style><script>if (a<b) {\"</p>\"}</script></head>\
             <body><nav><ul><li>Home<li>About</ul></nav><h1>One</h1><p>two <b>th</b>ree<br>four&nbsp;five\n six\
             <table><tr><td>a<td>b</table><pre>x\n  y</pre><svg><title>no</title></svg><noscript>no</noscript>&#31721;",
        );
        assert_eq!(read.title, "A & B");
        assert_eq!(read.text, "One\ntwo three\nfour five six\na\nb\nx\ny\n篩");
        assert_eq!(read.canonical.as_deref(), Some("/there"));
        assert_eq!(read.lang.as_deref(), Some("pt-br"));
        assert!(!read.noindex);
    }

    #[test]
    fn front_matter_is_no_text() {
        let read = page("---\ntitle: Stated\nlayout: post\n---\n<title>{{ page.title }}</title><p>words");
        assert_eq!((read.title.as_str(), read.text.as_str()), ("Stated", "words"));
        assert_eq!(page("---\n<p>words").text, "---\nwords");
    }

    #[test]
    fn what_asks_not_to_be_found_says_so() {
        for (content, noindex) in
            [("noindex", true), ("NoFollow, NOINDEX", true), ("none", true), ("nofollow", false), ("", false)]
        {
            assert_eq!(page(&format!("<META NAME=Robots CONTENT='{content}'>x")).noindex, noindex, "{content}");
        }
        assert!(!page("<meta name=description content=noindex>").noindex);
        assert!(!page("<nav><meta name=robots content=noindex></nav>x").noindex);
    }

    #[test]
    fn the_first_title_and_canonical_link_count() {
        let read = page("<title>a</title><title>b</title><link rel=canonical href=c><link rel=canonical href=d>");
        assert_eq!((read.title.as_str(), read.canonical.as_deref()), ("a", Some("c")));
        assert_eq!(page("<link rel=canonical href=''>").canonical, None);
        assert_eq!(page("<link rel=alternate href=x>").canonical, None);
    }

    #[test]
    fn tags_that_do_not_match_hide_nothing() {
        assert_eq!(page("<nav>menu<main>text").text, "text");
        assert_eq!(page("<nav>a<nav>b</nav>c</nav>d").text, "d");
        assert_eq!(page("</nav></pre></script>text</p x=1>").text, "text");
        assert_eq!(page("<svg/>text").text, "text");
        assert_eq!(page("a<!-- b -->c<![CDATA[d]]>").text, "ac");
        assert_eq!(page("<html lang=''>x").lang, None);
        assert_eq!(page("a</html lang=de>").lang, None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_page_that_is_not_much_longer(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let read = html(&bytes, None);
            prop_assert!(read.text.len() <= 3 * bytes.len());
        }

        #[test]
        fn any_tags_are_read(parts in prop::collection::vec(prop::sample::select(&[
            "<nav>", "</nav>", "<main>", "<pre>", "</pre>", "<title>", "</title>", "<script>", "</script>", "<svg>", "</svg>",
            "<html lang=x>", "<link rel=canonical href=y>", "</body>", "word", " ", "\n", "&amp", "<", "<!--", "-->", "='",
        ][..]), 0..40)) {
            let read = page(&parts.concat());
            prop_assert!(!read.text.contains("  ") && !read.text.contains("\n\n") && read.text.trim() == read.text);
        }
    }
}
