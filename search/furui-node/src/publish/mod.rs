//! `furui publish`: publishes the documents of files, lines of JSON, crawls and sites at loopback addresses. Each
//! document is sent once.
//!
//! ```text
//!   tree ─── files, by name or content ─┬─ page ──▶ Page ──▶ ┐
//!   warc ─── its pages ─────────────────┤                    ├─ Record ─▶ once by URL ─▶ batch ─▶ wanted? ─▶ node
//!   web ──── a sitemap's pages ─────────┘                    │
//!   entries ─ bookmarks, history, mail, books, PDF (apart) ──┤
//!   lines ── JSON ───────────────────────────────────────────┘
//! ```

mod apart;
mod batch;
mod entries;
mod lines;
mod once;
mod sums;
mod tree;
mod warc;
mod watching;
mod web;

use std::path::Path;
use std::process::ExitCode;

use furui_pages::{Media, Page};
use furui_search::{ContentId, MAX_TITLE, PublisherKey, Record, words};
use serde::Deserialize;
use url::Url;

use crate::Error;
use crate::client::Client;
use crate::options::publish::PublishOptions;
use crate::program::Program;
use batch::Batch;
use once::Once;
use sums::{Reason, Sums};
pub(crate) use watching::Watching;

/// The part of the state of a node that tells under which key it publishes.
#[derive(Deserialize)]
struct Status {
    peer: PublisherKey,
}

/// Runs `furui publish`.
pub fn run(options: &PublishOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let client = Client::of(&options.node)?;
    let mut publisher = Publisher {
        options,
        program,
        client,
        progress: program.progress("publishing", &options.sources),
        repeats: Repeats::InRun(Box::new(Once::new()?)),
        batch: Batch::default(),
        sums: Sums::new(options.strict, program),
        key: None,
    };
    if options.sources.is_empty() {
        publisher.path(Path::new("-"))?;
    }
    for source in &options.sources {
        match source.to_str().filter(|source| source.starts_with("http://") || source.starts_with("https://")) {
            Some(url) => publisher.site(url)?,
            None => publisher.path(source)?,
        }
    }
    publisher.send()?;
    let Publisher { progress, sums, .. } = publisher;
    drop(progress);
    program.print(format!("{sums}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads documents, and sends them to a node.
pub(crate) struct Publisher<'a> {
    options: &'a PublishOptions,
    program: &'a dyn Program,
    client: Client,
    /// Advances the progress bar by a number of bytes read.
    progress: Box<dyn FnMut(usize)>,
    repeats: Repeats,
    batch: Batch,
    sums: Sums<'a>,
    /// The key under which the node publishes, once it was asked.
    key: Option<PublisherKey>,
}

/// What tells whether a document is the first of its URL.
enum Repeats {
    /// The set of the URLs that this run has met.
    InRun(Box<Once>),
    /// The table of the documents of watched files.
    Watched(Watching),
}

/// The bytes of a page, and the facts about it that are known before it is parsed.
struct Source<'a> {
    /// The file or URL from which the bytes come, for messages.
    place: String,
    /// The URL of the page, if the page itself does not state one.
    url: Url,
    /// True if the page is the user's own. Only the user's own pages may name a URL on any other host.
    is_own: bool,
    media: &'a Media,
    /// The title of the page, if the page itself does not have one.
    title: &'a str,
    bytes: &'a [u8],
}

impl Publisher<'_> {
    /// The key under which the node publishes. The node is asked after the first document was read: if both fail, the
    /// error is the one about the input.
    fn key(&mut self) -> Result<PublisherKey, Error> {
        if let Some(key) = self.key {
            return Ok(key);
        }
        let Status { peer } = self.client.get("/status", &[])?.read()?;
        Ok(*self.key.insert(peer))
    }

    /// Extracts title and text of a page, and publishes it.
    fn page(&mut self, source: Source<'_>) -> Result<(), Error> {
        let Source { place, url, is_own, media, title, bytes } = source;
        let mut page = match Page::read(bytes, media) {
            Ok(page) => page,
            Err(why) => return self.sums.leave_out(&place, &why.to_string()),
        };
        let canonical = page.canonical.take().and_then(|link| url.join(&link).ok());
        let canonical = canonical.filter(|link| matches!(link.scheme(), "http" | "https"));
        let mut url = canonical.filter(|link| is_own || is_same_site(link, &url)).unwrap_or(url);
        url.set_fragment(None);
        if page.title.is_empty() {
            title.clone_into(&mut page.title);
        }
        self.extracted(place, url, page)
    }

    /// Publishes what was extracted from a page under this URL, unless the page or the options forbid it.
    fn extracted(&mut self, place: String, url: Url, page: Page) -> Result<(), Error> {
        if page.noindex {
            self.sums.pass(Reason::NoIndex);
            return Ok(());
        }
        if !self.is_wanted_language(page.lang.as_deref()) {
            self.sums.pass(Reason::Language);
            return Ok(());
        }
        let (url, title) = (url.into(), cut(page.title, MAX_TITLE));
        let publisher = self.key()?;
        self.record(place, Record { url, title, text: page.text, publisher })
    }

    /// Adds a document to the batch, which is published when it is full. A document whose URL was published before is
    /// left out.
    fn record(&mut self, place: String, record: Record) -> Result<(), Error> {
        let encoded = match record.encode() {
            Ok(encoded) => encoded,
            Err(why) => return self.sums.leave_out(&place, &why.to_string()),
        };
        if words(&record.title).next().is_none() && words(&record.text).next().is_none() {
            let why = "a document without words could never be found; give it a title or a text";
            return self.sums.leave_out(&place, why);
        }
        let id = ContentId::of(&encoded);
        let is_first = match &mut self.repeats {
            Repeats::InRun(once) => once.is_first(&record.url)?,
            Repeats::Watched(watching) => watching.claim(&record.url, id)?,
        };
        if !is_first {
            self.sums.pass(Reason::Repeated);
            return Ok(());
        }
        self.batch.push(place, &record, id);
        if self.batch.is_full() { self.send() } else { Ok(()) }
    }

    /// True if a page in the language `lang` is to be published. `None` means that the language is unknown.
    fn is_wanted_language(&self, lang: Option<&str>) -> bool {
        let Some(lang) = lang.filter(|_| !self.options.lang.is_empty()) else { return true };
        let primary = lang.split(['-', '_']).next().unwrap_or_default();
        self.options.lang.iter().any(|wanted| [lang, primary].iter().any(|lang| wanted.eq_ignore_ascii_case(lang)))
    }

    /// Publishes the documents of the batch, and empties it.
    fn send(&mut self) -> Result<(), Error> {
        let batch = std::mem::take(&mut self.batch);
        if let Repeats::Watched(watching) = &mut self.repeats {
            watching.write()?;
        }
        let sent = batch.send(&self.client, self.options.again, |place, error| self.sums.leave_out(place, error))?;
        self.sums.add(sent);
        Ok(())
    }
}

/// True if the hosts are equal, or one is a subdomain of the other, as `www.a.example` is of `a.example`. So a page of
/// a crawl cannot replace a page of another site.
fn is_same_site(link: &Url, url: &Url) -> bool {
    let (Some(link), Some(url)) = (link.host_str(), url.host_str()) else { return false };
    let is_part =
        |part: &str, of: &str| part.strip_suffix(of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    is_part(link, url) || is_part(url, link)
}

/// Truncates a text to at most `most` bytes.
fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or_default());
    }
    text
}
