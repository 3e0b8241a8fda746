use std::time::Instant;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Query as Parameters, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use furui_search::{Place, PublisherKey, Query, QueryError};
use futures::stream::{self, StreamExt};
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;

use super::add::address;
use super::figures::{bytes, count, encoded, sentence, time};
use super::layout::{HTML, Layout};
use super::{home, steps};
use crate::http::answer::RunningSearch;
use crate::http::client::OfOwner;
use crate::http::estimate::estimate;
use crate::http::search::{cursor, languages, note};
use crate::http::shown_url::link;
use crate::http::{ApiError, Backend, DEFAULT_LIMIT, Face, SNIPPET, Shown, ShownUrl, Step, Summary, TITLE};
use crate::node::{Crowd, Crowds, Hit, Instead, PassedOver, SearchEvent, SearchOptions};
use crate::watched::Watched;

/// The maximum number of earlier pages in the address of a page. Chosen: the address stays below four kilobytes.
const MAX_BACK: usize = 50;

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    /// The cursor with which an earlier page ended; this page continues there.
    cursor: Option<String>,
    /// The rank of the first result of this page, from 1 on.
    #[serde(default = "one")]
    from: u64,
    /// The pages before this one, from the first: see [`Visited`].
    #[serde(default)]
    back: String,
    /// True if all results are wanted in the order of their scores, whoever has published them.
    #[serde(default)]
    exact: bool,
}

fn one() -> u64 {
    1
}

/// Handles `GET /`: a page of results or, without a query, the home page.
pub(super) async fn search<N: Backend>(
    State(face): State<Face<N>>,
    Extension(OfOwner(is_of_owner)): Extension<OfOwner>,
    headers: HeaderMap,
    wanted: Result<Parameters<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(Wanted { q, cursor: place, from, back, exact }) =
        wanted.map_err(|error| ApiError::parameters(error.body_text()))?;
    if q.trim().is_empty() {
        return Ok(([(header::CONTENT_TYPE, HTML)], home::home()).into_response());
    }
    let read = if exact { Query::parse(&q).map(|query| (query, None)) } else { Query::read(&q) };
    let (query, literally) = match read {
        Ok(read) => read,
        Err(error) => return Ok(not_understood(&q, error)),
    };
    let after = place.as_deref().map(cursor).transpose()?;
    let options = SearchOptions {
        limit: DEFAULT_LIMIT.into(),
        shared: !exact,
        after,
        wants: face.wants,
        explain: true,
        relaxed: !exact,
        languages: languages(&headers),
    };
    let watched = face.watched.clone().filter(|_| is_of_owner);
    let back = Visited::all(&back);
    let mut page = Page {
        query: q,
        exact,
        from,
        after,
        back,
        started: Instant::now(),
        shown: 0,
        crowds: (!exact).then(|| Crowds::of(DEFAULT_LIMIT.into())),
        more: Vec::new(),
        watched,
    };
    let answer = RunningSearch::begin(&face, query, options)?;
    let head = stream::iter([Ok(page.head() + &literally.map(|why| page.note(&note(&why))).unwrap_or_default())]);
    let body = Body::from_stream(head.chain(answer.stream(move |event| page.part(event))));
    Ok(([(header::CONTENT_TYPE, HTML)], body).into_response())
}

/// The state of a page of results while it is streamed to the browser.
struct Page {
    query: String,
    /// True if all results are wanted in the order of their scores.
    exact: bool,
    /// The rank of the first result of the page, from 1 on.
    from: u64,
    /// The cursor with which the page before this one ended.
    after: Option<Place>,
    /// The pages before this one that are known, from the first.
    back: Vec<Visited>,
    started: Instant,
    /// The number of results so far, those without a place included.
    shown: u64,
    /// `None` if all results have a place.
    crowds: Option<Crowds>,
    /// For each reason that a result has no place on the page, the rendered results without one.
    more: Vec<(Crowd, Vec<Markup>)>,
    /// The watched directories, if this client may open their files.
    watched: Option<Watched>,
}

impl Page {
    fn is_first(&self) -> bool {
        self.after.is_none()
    }

    /// The pages up to this one, without the first ones if there are many.
    fn visited(&self) -> Vec<Visited> {
        let this = Visited { from: self.from, cursor: self.after };
        let back = &self.back[self.back.len().saturating_sub(MAX_BACK - 1)..];
        back.iter().copied().chain([this]).collect()
    }

    /// Renders the page up to its first result.
    fn head(&self) -> String {
        let heading = format!("Results for {}", self.query);
        let head = html! {
            h1 { "Results for " bdi { (self.query) } }
            p #progress role="status" { "Searching…" }
            (PreEscaped(format!("<ol class=\"results\" start=\"{}\">", self.from)))
        };
        Layout::new(&heading).query(&self.query).begin() + &head.into_string()
    }

    /// Renders a sentence about the results that follow.
    fn note(&self, note: &str) -> String {
        let note = html! { p.note role="status" { bdi { (sentence(note)) } } }.into_string();
        format!("</ol>{note}<ol class=\"results\" start=\"{}\">", self.from)
    }

    /// Renders the part of the page for one event: results or, at the end of the search, everything after them.
    fn part(&mut self, event: Result<SearchEvent, ApiError>) -> String {
        let rest = match event {
            Ok(SearchEvent::Hits(hits)) => {
                return hits.iter().filter_map(|hit| self.place(hit)).map(Markup::into_string).collect();
            }
            Ok(SearchEvent::Instead(instead)) => return self.instead(&instead),
            Ok(SearchEvent::Done { found, passed_over, cursor, whole, report }) => {
                let took = self.started.elapsed();
                let mut steps = Step::all(&report);
                // This step has no messages between nodes, so its bytes are 0.
                steps.push(Step::new("the last result found, and the page sent".into(), Some(took)));
                let summary = Summary::new(found, passed_over, cursor, whole, &report);
                html! {
                    (self.rest())
                    (self.passed_over(&summary.more))
                    (self.summary(&summary, &time(took), estimate(&report)))
                    (steps::details(&steps, took))
                }
            }
            Err(error) => html! {
                (self.rest())
                p #summary.problem role="alert" {
                    @if self.shown > 0 { "These are not all results. " }
                    (sentence(&error.text))
                }
            },
        };
        format!("</ol>{}{}", rest.into_string(), Layout::end())
    }

    /// Renders what was searched for instead: a corrected query is a link to its own page.
    fn instead(&self, instead: &Instead) -> String {
        match instead {
            Instead::Corrected { query } => {
                let link = html! { a href={ "/?q=" (encoded(query)) } { bdi { (query) } } }.into_string();
                let note = "Nothing has all of these words. These are the results for ";
                format!("</ol><p class=\"note\" role=\"status\">{note}{link}.</p><ol class=\"results\">")
            }
            Instead::Unquoted | Instead::Forms { .. } | Instead::Most { .. } => self.note(&instead.to_string()),
        }
    }

    /// Renders a result with its rank. `None` if it is kept for [`rest`](Self::rest).
    fn place(&mut self, hit: &Hit) -> Option<Markup> {
        self.shown += 1;
        let result = self.result(hit, self.last());
        let Some(crowd) = self.crowds.as_mut().and_then(|crowds| crowds.add(hit)) else { return Some(result) };
        match self.more.iter_mut().find(|(other, _)| *other == crowd) {
            Some((_, more)) => more.push(result),
            None => self.more.push((crowd, vec![result])),
        }
        None
    }

    /// The rank of the last result so far.
    fn last(&self) -> u64 {
        self.from.saturating_add(self.shown).saturating_sub(1)
    }

    /// Renders the results that got no place, for each publisher and host. If all are of one, they are open.
    fn rest(&self) -> Markup {
        let is_alone = self.crowds.as_ref().is_some_and(|crowds| crowds.are_of_one(self.shown));
        // As for programs, those come last whose publishers have their places.
        let mut groups: Vec<_> = self.more.iter().collect();
        groups.sort_by_key(|(crowd, _)| matches!(crowd, Crowd::Publisher(_)));
        html! {
            @for (crowd, more) in groups {
                details.more open[is_alone] {
                    summary {
                        (count(more.len() as u64))
                        @match crowd {
                            Crowd::Publisher(publisher) => { " more published by " (short(publisher)) }
                            Crowd::Text => " with nearly the text of a result above",
                            Crowd::Host(host) => { " more from " bdi { (host) } }
                        }
                    }
                    ol.results { @for result in more { (result) } }
                }
            }
        }
    }

    /// Says how many further results were not read, because their publishers have their places.
    fn passed_over(&self, more: &[PassedOver]) -> Markup {
        html! {
            @if !more.is_empty() {
                p.note {
                    @for (at, PassedOver { publisher, documents }) in more.iter().enumerate() {
                        @if at > 0 { ", " }
                        (count(*documents)) " more published by " (short(publisher))
                    }
                    ". " a href={ "/?q=" (encoded(&self.query)) "&exact=true" } {
                        "All results in the order of their scores"
                    }
                }
            }
        }
    }

    /// The address of the page without its place.
    fn address(&self) -> String {
        let exact = if self.exact { "&exact=true" } else { "" };
        format!("/?q={}{exact}", encoded(&self.query))
    }

    fn result(&self, hit: &Hit, rank: u64) -> Markup {
        let url = ShownUrl::on_page(&hit.url);
        let title = Shown::new(&hit.title, &hit.title_marks, TITLE);
        let snippet = Shown::new(&hit.snippet, &hit.marks, SNIPPET);
        html! {
            li value=(rank) {
                @if hit.url.is_empty() {
                    p.note { "None of the nodes that keep document " code { (hit.id) } " answers." }
                } @else {
                    h2 { (linked_title(&hit.url, &title, self.watched.as_ref())) }
                    p.url { bdi { (address(&url)) } }
                    @if !snippet.text.is_empty() { p.snippet dir="auto" { (marked(&snippet)) } }
                    @if !hit.publishers.is_empty() { (published_by(&hit.publishers, hit.trusted)) }
                    @for version in &hit.also {
                        p.also {
                            a href={ "/document?id=" (version.id) } { "another text" }
                            " is published by " (names(&version.publishers))
                        }
                    }
                }
            }
        }
    }

    /// Says of how many documents this page shows some: exactly if it is the last one, or else about.
    fn total(&self, summary: &Summary, about: Option<u64>) -> String {
        let last = self.last();
        match (summary.cursor, about) {
            (None, _) if self.is_first() && self.from == 1 => {
                let all = last.saturating_add(summary.more.iter().map(|it| it.documents).sum());
                format!(" of {}{}", if summary.whole { "" } else { "at least " }, count(all))
            }
            (None, _) => ", the last".to_owned(),
            (Some(_), Some(about)) => format!(" of about {}", count(about.max(last.saturating_add(1)))),
            (Some(_), None) => ", and there are more".to_owned(),
        }
    }

    fn summary(&self, summary: &Summary, took: &str, about: Option<u64>) -> Markup {
        let last = self.last();
        let messages = bytes(summary.bytes);
        html! {
            @if self.shown > 0 {
                p #summary {
                    @if self.shown == 1 { "Result " (count(last)) }
                    @else { "Results " (count(self.from)) " to " (count(last)) }
                    (self.total(summary, about)) "; " (took) " and " (messages) " of messages."
                }
            } @else if summary.cursor.is_some() {
                p #summary { "Nothing was found so far, and there is more to look at; " (took) " and " (messages) " of
                    messages." }
            } @else if self.is_first() {
                p #summary { "Nothing was found; " (took) " and " (messages) " of messages." }
                (advice())
            } @else {
                p #summary { "There are no more results." }
            }
            @if summary.bounded {
                p.note { "The phrase is of words so common that not all documents with them were read; there may be
                    more. Add a word that is rarer." }
            }
            @if !summary.whole {
                p.note { "A node that was asked has not yet been given all that it should keep, so there may be more.
                    Ask again in a minute." }
            }
            @if !self.is_first() || summary.cursor.is_some() {
                nav.pages aria-label="Pages" {
                    @if !self.is_first() { a href=(self.address()) { "First page" } }
                    @if let Some((page, back)) = self.back.split_last() {
                        a rel="prev" href={ (self.address()) (page.parameters(back)) } { "Previous page" }
                    }
                    @if let Some(cursor) = &summary.cursor {
                        @let from = last.saturating_add(1);
                        @let next = Visited { from, cursor: Some(*cursor) };
                        a rel="next" href={ (self.address()) (next.parameters(&self.visited())) } {
                            "Next page"
                        }
                    }
                }
            }
        }
    }
}

/// Renders the title of a document, or its URL if it has none. It is a link if the URL is of the web, or of a file in
/// the watched directories.
pub(super) fn linked_title(url: &str, title: &Shown, watched: Option<&Watched>) -> Markup {
    let name = match title.text.trim().is_empty() {
        true => html! { bdi { (address(&ShownUrl::on_page(url))) } },
        false => html! { bdi { (marked(title)) } },
    };
    html! {
        @if let Some(link) = link(url) {
            a href=(link) rel="noreferrer noopener" { (name) }
        } @else if watched.is_some_and(|watched| watched.file_of(url).is_some()) {
            a href={ "/open?url=" (encoded(url)) } { (name) }
        } @else {
            (name)
        }
    }
}

/// Renders the line that names the publishers of a document, the first of whom the owner trusts or not.
pub(super) fn published_by(publishers: &[PublisherKey], is_trusted: bool) -> Markup {
    html! { p.also { "published by " (names(publishers)) @if is_trusted { ", whom this node trusts" } } }
}

/// Renders the short names of publishers, each with the whole name as a hint.
fn names(publishers: &[PublisherKey]) -> Markup {
    html! {
        @for (number, publisher) in publishers.iter().enumerate() {
            @if number > 0 { ", " }
            (short(publisher))
        }
        @if publishers.is_empty() { "nobody known" }
    }
}

fn short(publisher: &PublisherKey) -> Markup {
    html! { code title=(publisher) { (publisher.short()) } }
}

/// Renders text with its marked ranges highlighted.
fn marked(Shown { text, marks }: &Shown) -> Markup {
    let mut done = 0;
    html! {
        @for &[start, end] in marks {
            (text.get(done..start).unwrap_or_default()) mark { (text.get(start..end).unwrap_or_default()) }
            @let () = done = end;
        }
        (text.get(done..).unwrap_or_default())
    }
}

/// A page of results that a user has visited: the rank of its first result, and the cursor with which the page before
/// it ended. In an address it is `FROM` or `FROM.CURSOR`.
#[derive(Clone, Copy)]
struct Visited {
    from: u64,
    cursor: Option<Place>,
}

impl Visited {
    /// Reads pages that are separated by commas. If one of them cannot be read, there are none.
    fn all(text: &str) -> Vec<Self> {
        let one = |text: &str| {
            let (from, cursor) = text.split_once('.').map_or((text, None), |(from, cursor)| (from, Some(cursor)));
            Some(Self { from: from.parse().ok()?, cursor: cursor.map(str::parse).transpose().ok()? })
        };
        let pages: Option<Vec<Self>> =
            text.split(',').filter(|text| !text.is_empty()).take(MAX_BACK).map(one).collect();
        pages.unwrap_or_default()
    }

    /// The parameters of the address of this page, after the query. `back` has the pages before it.
    fn parameters(&self, back: &[Self]) -> String {
        let cursor = self.cursor.map(|cursor| format!("&cursor={cursor}&from={}", self.from)).unwrap_or_default();
        let back = back.iter().map(|page| match page.cursor {
            Some(cursor) => format!("{}.{cursor}", page.from),
            None => page.from.to_string(),
        });
        let back = back.collect::<Vec<_>>().join(",");
        if back.is_empty() { cursor } else { format!("{cursor}&back={back}") }
    }
}

fn advice() -> Markup {
    html! {
        ul.advice {
            li { "Ask for fewer words: a document must hold all of them." }
            li { "Write OR between words that mean the same." }
            li { "Words are found as they are written: try singular and plural, and check the spelling." }
            li { "Only what somebody has published can be found. To publish files of your own: "
                code { "furui publish FILE…" } }
        }
    }
}

/// Renders the page for a query without words.
fn not_understood(query: &str, error: QueryError) -> Response {
    let page = Layout::new("Not understood").query(query).focused().page(html! {
        h1 { "This query cannot be understood" }
        p.problem role="alert" { (sentence(&error.to_string())) }
        p { a href="/#asking" { "How to ask" } }
    });
    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, HTML)], page).into_response()
}
