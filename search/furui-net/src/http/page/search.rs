use std::time::Instant;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Query as Parameters, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use furui_search::{Query, QueryError};
use futures::stream::{self, StreamExt};
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;

use super::figures::{bytes, count, encoded, sentence, time};
use super::layout::{HTML, Layout};
use super::{home, steps};
use crate::http::answer::RunningSearch;
use crate::http::guard::Trusted;
use crate::http::search_lines::cursor;
use crate::http::{ApiError, Backend, DEFAULT_LIMIT, Face, Step, Summary};
use crate::node::{Hit, SearchEvent, SearchOptions, Version};
use crate::watched::Watched;

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    /// The cursor with which an earlier page ended; this page continues there.
    cursor: Option<String>,
    /// The rank of the first result of this page, from 1 on.
    #[serde(default = "one")]
    from: u64,
}

fn one() -> u64 {
    1
}

/// Handles `GET /`: a page of results or, without a query, the home page.
pub(super) async fn search<N: Backend>(
    State(face): State<Face<N>>,
    Extension(Trusted(is_trusted)): Extension<Trusted>,
    wanted: Result<Parameters<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(Wanted { q, cursor: place, from }) =
        wanted.map_err(|error| ApiError::parameters(error.body_text()))?;
    if q.trim().is_empty() {
        return Ok(([(header::CONTENT_TYPE, HTML)], home::home()).into_response());
    }
    let query = match Query::parse(&q) {
        Ok(query) => query,
        Err(error) => return Ok(not_understood(&q, error)),
    };
    let after = place.as_deref().map(cursor).transpose()?;
    let limit = DEFAULT_LIMIT.into();
    let options = SearchOptions { limit, after, wants: face.wants, explain: true };
    let watched = face.watched.clone().filter(|_| is_trusted);
    let mut page = Page { query: q, from, is_first: after.is_none(), started: Instant::now(), shown: 0, watched };
    let answer = RunningSearch::begin(&face, query, options)?;
    let head = stream::iter([Ok(page.head())]);
    let body = Body::from_stream(head.chain(answer.stream(move |event| page.part(event))));
    Ok(([(header::CONTENT_TYPE, HTML)], body).into_response())
}

/// The state of a page of results while it is streamed to the browser.
struct Page {
    query: String,
    /// The rank of the first result of the page, from 1 on.
    from: u64,
    is_first: bool,
    started: Instant,
    shown: u64,
    /// The watched directories, if this client may open their files.
    watched: Option<Watched>,
}

impl Page {
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

    /// Renders the part of the page for one event: results or, at the end of the search, everything after them.
    fn part(&mut self, event: Result<SearchEvent, ApiError>) -> String {
        let rest = match event {
            Ok(SearchEvent::Hits(hits)) => {
                self.shown += hits.len() as u64;
                return hits.iter().map(|hit| self.result(hit).into_string()).collect();
            }
            Ok(SearchEvent::Done { found, cursor, whole, report }) => {
                let took = self.started.elapsed();
                let mut steps = Step::all(&report);
                // This step has no messages between nodes, so its bytes are 0.
                steps.push(Step::new("the last result found, and the page sent".into(), Some(took)));
                html! {
                    (self.summary(&Summary::new(found, cursor, whole, &report), &time(took)))
                    (steps::details(&steps, took))
                }
            }
            Err(error) => html! {
                p #summary.problem role="alert" {
                    @if self.shown > 0 { "These are not all results. " }
                    (sentence(&error.text))
                }
            },
        };
        format!("</ol>{}{}", rest.into_string(), Layout::end())
    }

    fn result(&self, hit: &Hit) -> Markup {
        let name = match hit.title.trim().is_empty() {
            true => html! { bdi { (hit.url) } },
            false => html! { bdi { (marked(&hit.title, &hit.title_marks)) } },
        };
        html! {
            li {
                @if hit.url.is_empty() {
                    p.note { "None of the nodes that keep document " code { (hit.id) } " answers." }
                } @else {
                    h2 {
                        @if leads_to_the_web(&hit.url) {
                            a href=(hit.url) rel="noreferrer noopener" { (name) }
                        } @else if self.watched.as_ref().is_some_and(|watched| watched.file_of(&hit.url).is_some()) {
                            a href={ "/open?url=" (encoded(&hit.url)) } { (name) }
                        } @else {
                            (name)
                        }
                    }
                    p.url { bdi { (hit.url) } }
                    @if !hit.snippet.is_empty() { p.snippet dir="auto" { (marked(&hit.snippet, &hit.marks)) } }
                    @for version in &hit.also { (also(version)) }
                }
            }
        }
    }

    fn summary(&self, summary: &Summary, took: &str) -> Markup {
        let last = self.from.saturating_add(self.shown).saturating_sub(1);
        let messages = bytes(summary.bytes);
        html! {
            @if self.shown > 0 {
                p #summary {
                    @if self.shown == 1 { "Result " (count(last)) }
                    @else { "Results " (count(self.from)) " to " (count(last)) }
                    ", "
                    @if summary.cursor.is_some() { "and there are more" } @else { "the last" }
                    "; " (took) " and " (messages) " of messages."
                }
            } @else if summary.cursor.is_some() {
                p #summary { "Nothing was found so far, and there is more to look at; " (took) " and " (messages) " of
                    messages." }
            } @else if self.is_first {
                p #summary { "Nothing was found; " (took) " and " (messages) " of messages." }
                (advice())
            } @else {
                p #summary { "There are no more results." }
            }
            @if !summary.whole {
                p.note { "A node that was asked has not yet been given all that it should keep, so there may be more.
                    Ask again in a minute." }
            }
            @if !self.is_first || summary.cursor.is_some() {
                nav.pages aria-label="Pages" {
                    @if !self.is_first { a href={ "/?q=" (encoded(&self.query)) } { "First page" } }
                    @if let Some(cursor) = &summary.cursor {
                        @let from = last.saturating_add(1);
                        a rel="next" href={ "/?q=" (encoded(&self.query)) "&cursor=" (cursor) "&from=" (from) } {
                            "Next page"
                        }
                    }
                }
            }
        }
    }
}

/// Renders the line about a document that is not shown because another document with its URL is.
fn also(version: &Version) -> Markup {
    html! {
        p.also {
            "also as published by "
            @for (number, publisher) in version.publishers.iter().enumerate() {
                @if number > 0 { ", " }
                code { (publisher.to_string()) }
            }
            @if version.publishers.is_empty() { "nobody known" }
            ", as document " code { (version.id) }
        }
    }
}

/// Renders text with highlighted ranges. `marks` contains the byte offsets of their starts and ends (exclusive).
fn marked(text: &str, marks: &[[usize; 2]]) -> Markup {
    let mut done = 0;
    html! {
        @for &[start, end] in marks {
            (text.get(done..start).unwrap_or_default()) mark { (text.get(start..end).unwrap_or_default()) }
            @let () = done = end;
        }
        (text.get(done..).unwrap_or_default())
    }
}

/// True if a page may link to the URL. URLs of other schemes, such as `javascript:`, are shown without a link.
fn leads_to_the_web(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
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

/// Renders the page for an invalid query, with the position of the fault.
fn not_understood(query: &str, error: QueryError) -> Response {
    let (before, from) = query.split_at_checked(error.at).unwrap_or((query, ""));
    let fault = from.chars().next().map_or(0, char::len_utf8);
    let page = Layout::new("Not understood").query(query).focused().page(html! {
        h1 { "This query cannot be understood" }
        p.problem role="alert" { (sentence(&error.to_string())) }
        @if fault > 0 { p.fault { (before) mark { (from[..fault]) } (from[fault..]) } }
        p { a href="/#asking" { "How to ask" } }
    });
    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, HTML)], page).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_web_and_nowhere_else() {
        for url in ["http://a.example/", "HTTPS://a.example", "https://篩.example"] {
            assert!(leads_to_the_web(url), "{url}");
        }
        for url in ["javascript:alert(1)", "data:text/html,x", " http://a", "http:/a", "file:///etc", "", "篩篩篩篩"]
        {
            assert!(!leads_to_the_web(url), "{url}");
        }
    }
}
