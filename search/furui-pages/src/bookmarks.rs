use std::slice;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use serde::Deserialize;

use crate::lines::Lines;
use crate::{Address, Document, Entry, MAX_PAGE, Page, Unreadable, charset};

/// The number of folders around a bookmark whose names are a part of its text; those of the folders further inside are
/// left out, so that the text of a bookmark is bounded. Chosen: more than people have.
const MAX_FOLDERS: usize = 16;
/// The maximum length of a folder's name in the texts of its bookmarks, in bytes; a longer one is left out. Chosen.
const MAX_FOLDER: usize = 256;

/// The bookmarks of a browser: the HTML that all browsers export, in Netscape's form, or Chromium's file `Bookmarks`,
/// in JSON.
///
/// Each bookmark is a document under its URL, with its title. The text is the names of the folders in which it is, its
/// tags, and its description.
pub struct Bookmarks(Form);

enum Form {
    Netscape(String),
    Chromium(Box<Chromium>),
}

/// The file of Chromium, without what is not needed.
#[derive(Deserialize)]
struct Chromium {
    roots: Roots,
}

/// The folders of Chromium in which all others are. Their names are not the user's.
#[derive(Deserialize)]
struct Roots {
    bookmark_bar: Option<Node>,
    other: Option<Node>,
    synced: Option<Node>,
}

/// A bookmark of Chromium, or a folder.
#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    name: String,
    /// The URL of a bookmark; a folder has none.
    url: Option<String>,
    #[serde(default)]
    children: Vec<Node>,
}

impl Bookmarks {
    /// Parses a file. Memory: a few times its size.
    ///
    /// # Errors
    /// If there are more than [`MAX_PAGE`] bytes, or if they begin with `{` and are not a file of Chromium.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > MAX_PAGE {
            return Err(Unreadable::TooLong);
        }
        if bytes.trim_ascii_start().starts_with(b"{") {
            // The parser refuses values in more than 128 others.
            let file = serde_json::from_slice(bytes).map_err(|_| Unreadable::Bookmarks)?;
            return Ok(Self(Form::Chromium(file)));
        }
        // A bookmark ends where the next item of the list begins, and so does the last one.
        Ok(Self(Form::Netscape(charset::decode_html(bytes, None).into_owned() + "<dt>")))
    }

    /// The bookmarks, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let documents: Box<dyn Iterator<Item = Document> + '_> = match &self.0 {
            Form::Netscape(text) => {
                let mut reader = Reader::default();
                let emitter = CallbackEmitter::new(move |event: CallbackEvent<'_>, _: Span<()>| reader.event(event));
                Box::new(Tokenizer::new_with_emitter(&**text, emitter).flatten())
            }
            Form::Chromium(file) => Box::new(Walk::new(&file.roots)),
        };
        documents.zip(1_u64..).map(|(mut document, number)| {
            document.place = format!("bookmark {number}");
            Entry::Document(document)
        })
    }
}

/// A bookmark with these lines of text. Its place is not known yet.
fn document<'a>(url: String, title: String, lines: impl Iterator<Item = &'a str>) -> Document {
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let page = Page { title, text: lines.join("\n"), ..Page::default() };
    Document { place: String::new(), address: Address::Url(url), page }
}

/// The names of those folders that are a part of a bookmark's text.
fn named<'a>(folders: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    folders.filter(|name| (1..=MAX_FOLDER).contains(&name.len())).take(MAX_FOLDERS)
}

/// Visits the bookmarks of Chromium.
struct Walk<'a> {
    /// For each folder around the present place its name, and what is yet to be visited in it.
    open: Vec<(&'a str, slice::Iter<'a, Node>)>,
}

impl<'a> Walk<'a> {
    fn new(Roots { bookmark_bar, other, synced }: &'a Roots) -> Self {
        let roots = [synced, other, bookmark_bar].into_iter().flatten();
        Self { open: roots.map(|root| ("", root.children.iter())).collect() }
    }
}

impl Iterator for Walk<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        loop {
            let (_, rest) = self.open.last_mut()?;
            match rest.next() {
                Some(Node { name, url: Some(url), .. }) => {
                    let folders = named(self.open.iter().map(|(name, _)| *name));
                    return Some(document(url.clone(), name.clone(), folders));
                }
                Some(folder) => self.open.push((&folder.name, folder.children.iter())),
                None => drop(self.open.pop()),
            }
        }
    }
}

/// Collects the bookmarks between the tags of Netscape's form.
#[derive(Default)]
struct Reader {
    /// The names of the folders around the present place.
    folders: Vec<String>,
    tag: Vec<u8>,
    attribute: Attribute,
    url: Option<String>,
    tags: String,
    place: Place,
    heading: Lines,
    title: Lines,
    description: Lines,
}

/// The use of an attribute of the current tag.
#[derive(Clone, Copy, Default)]
enum Attribute {
    #[default]
    Other,
    Url,
    Tags,
}

/// To what the text at the present place belongs.
#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    Between,
    Heading,
    Title,
    Description,
}

impl Reader {
    /// Takes the next part of the file. Returns the bookmark that it ends.
    fn event(&mut self, event: CallbackEvent<'_>) -> Option<Document> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = name.to_owned();
                self.attribute = Attribute::Other;
                return self.start();
            }
            CallbackEvent::AttributeName { name } => {
                self.attribute = match (self.tag.as_slice(), name) {
                    (b"a", b"href") => Attribute::Url,
                    (b"a", b"tags") => Attribute::Tags,
                    _ => Attribute::Other,
                };
            }
            CallbackEvent::AttributeValue { value } => {
                let value = String::from_utf8_lossy(value);
                match self.attribute {
                    Attribute::Other => {}
                    Attribute::Url => self.url = Some(value.trim().to_owned()),
                    Attribute::Tags => self.tags = value.replace(',', "\n"),
                }
            }
            CallbackEvent::EndTag { name } => {
                // The attributes of an end tag are reported before the tag, and mean nothing.
                self.tag.clear();
                match name {
                    b"dl" => {
                        let ended = self.take();
                        self.folders.pop();
                        return ended;
                    }
                    b"a" | b"h3" => self.place = Place::Between,
                    _ => {}
                }
            }
            CallbackEvent::String { value } => {
                let value = String::from_utf8_lossy(value);
                match self.place {
                    Place::Between => {}
                    Place::Heading => self.heading.push(&value, false),
                    Place::Title => self.title.push(&value, false),
                    Place::Description => self.description.push(&value, true),
                }
            }
            _ => {}
        }
        None
    }

    fn start(&mut self) -> Option<Document> {
        let place = match self.tag.as_slice() {
            b"dd" => {
                self.place = Place::Description;
                return None;
            }
            b"dl" => {
                let ended = self.take();
                self.folders.push(std::mem::take(&mut self.heading).finish());
                return ended;
            }
            b"h3" => Place::Heading,
            b"a" => Place::Title,
            b"dt" | b"hr" => Place::Between,
            _ => return None,
        };
        let ended = self.take();
        self.place = place;
        if matches!(place, Place::Heading) {
            self.heading = Lines::default();
        }
        ended
    }

    /// Ends the bookmark, if there is one, or the description of a folder.
    fn take(&mut self) -> Option<Document> {
        self.place = Place::Between;
        let tags = std::mem::take(&mut self.tags);
        let title = std::mem::take(&mut self.title).finish();
        let description = std::mem::take(&mut self.description).finish();
        let url = self.url.take()?;
        let folders = named(self.folders.iter().map(String::as_str));
        Some(document(url, title, folders.chain([&*tags, &*description])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String, String)> {
        let bookmarks = Bookmarks::read(text.as_bytes()).unwrap();
        let parts = bookmarks.entries().map(|entry| match entry {
            Entry::Document(Document { address: Address::Url(url), page, .. }) => (url, page.title, page.text),
            other => panic!("{other:?}"),
        });
        parts.collect()
    }

    fn own(parts: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        parts.iter().map(|(url, title, text)| (url.to_string(), title.to_string(), text.to_string())).collect()
    }

    #[test]
    fn bookmarks_of_firefox_have_folders_tags_and_descriptions() {
        let file = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- made by hand -->\n<TITLE>Bookmarks</TITLE>\n\
            <H1>Bookmarks Menu</H1>\n<DL><p>\n\
            <DT><H3 ADD_DATE=\"1\">Work &amp; play</H3>\n<DD>About the folder\n<DL><p>\n\
            <DT><A HREF=\"http://a.example/?x&amp;y\" TAGS=\"red,dark blue\">The  first</A>\n<DD>In two\nlines\n\
            <DT><H3>Inner</H3>\n<DL><p><DT><A HREF=\"http://b.example/\">Second</A>\n</DL><p>\n\
            <HR><DT><A HREF=\"http://c.example/\">Third</A>\n</DL><p>\n\
            <DT><A HREF=\"place:sort=8\">Recent</A>\n</DL>\n";
        let expected = [
            ("http://a.example/?x&y", "The first", "Work & play\nred\ndark blue\nIn two\nlines"),
            ("http://b.example/", "Second", "Work & play\nInner"),
            ("http://c.example/", "Third", "Work & play"),
            ("place:sort=8", "Recent", ""),
        ];
        assert_eq!(read(file), own(&expected));
    }

    #[test]
    fn bookmarks_of_chromium_have_the_names_of_folders() {
        let file = r#"{"checksum": "0", "roots": {
            "bookmark_bar": {"children": [
                {"name": "News", "type": "folder", "children": [{"name": "One", "type": "url", "url": "http://a.example/"}]},
                {"name": "Two", "type": "url", "url": "http://b.example/"}], "name": "Bookmarks bar", "type": "folder"},
            "other": {"children": [{"name": "Three", "url": "chrome://flags/"}], "name": "Other bookmarks"}}, "version": 1}"#;
        let expected =
            [("http://a.example/", "One", "News"), ("http://b.example/", "Two", ""), ("chrome://flags/", "Three", "")];
        assert_eq!(read(file), own(&expected));
    }

    #[test]
    fn deep_folders_and_what_is_no_bookmark_are_bounded() {
        let deep = "<DL><H3>f</H3>".repeat(10_000) + "<A HREF=u:>x</A>";
        assert_eq!(read(&deep), own(&[("u:", "x", ["f"; MAX_FOLDERS].join("\n").as_str())]));
        let deep = r#"{"roots":{"other":"#.to_owned() + &r#"{"children":["#.repeat(100_000);
        assert_eq!(Bookmarks::read(deep.as_bytes()).err(), Some(Unreadable::Bookmarks));
        assert_eq!(Bookmarks::read(b"{}").err(), Some(Unreadable::Bookmarks));
        assert_eq!(Bookmarks::read(&vec![b' '; MAX_PAGE + 1]).err(), Some(Unreadable::TooLong));
        assert_eq!(read("</DL></DL></A><DD>text<DT></A HREF=u:>"), []);
        assert_eq!(read(""), []);
    }
}
