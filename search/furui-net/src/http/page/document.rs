use std::convert::Infallible;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use furui_search::ContentId;
use maud::html;
use serde::Deserialize;

use super::add::address;
use super::figures::bytes;
use super::is_wanted;
use super::layout::{HTML, Layout};
use super::search::{linked_title, published_by};
use crate::http::lines::json;
use crate::http::{ApiError, Backend, Face, MAX_SEARCHES, Shown, ShownUrl, TITLE, run};
use crate::node::KeptDocument;

/// The maximum number of characters of a text that are shown. Chosen: some ten printed pages.
const TEXT: usize = 20_000;

/// The query parameter of `GET /document`: the id of a document, in hexadecimal.
#[derive(Deserialize)]
pub(super) struct Wanted {
    id: String,
}

/// Handles `GET /document`: shows a document as the nodes that keep it hold it.
pub(super) async fn document<N: Backend>(
    State(Face { node, searches, .. }): State<Face<N>>,
    headers: HeaderMap,
    wanted: Result<Parameters<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let id = wanted.ok().and_then(|Parameters(Wanted { id })| id.parse::<ContentId>().ok()).ok_or_else(|| {
        ApiError::invalid("/document?id=ID needs the id of a document, which has 40 hexadecimal digits; copy it whole")
    })?;
    let permit = searches.try_acquire_owned().map_err(|_| ApiError::busy(MAX_SEARCHES, "searches"))?;
    let fetched = run(async move {
        let _permit = permit;
        Ok::<_, Infallible>(node.document(id).await)
    });
    let document = fetched.await?.map_err(ApiError::document)?;
    let mut response = if is_wanted(&headers) {
        ([(header::CONTENT_TYPE, HTML)], page(&document)).into_response()
    } else {
        json(&document)
    };
    response.headers_mut().insert(header::VARY, header::ACCEPT.into());
    Ok(response)
}

fn page(KeptDocument { id, url, title, text, publishers, trusted }: &KeptDocument) -> String {
    let title = Shown::new(title, &[], TITLE);
    let (lines, is_cut) = beginning(text);
    Layout::new(if title.text.is_empty() { "A document" } else { &title.text }).page(html! {
        h1 { (linked_title(url, &title, None)) }
        p.url { bdi { (address(&ShownUrl::on_page(url))) } }
        (published_by(publishers, *trusted))
        p.note { "This is what nodes keep as document " code { (id) } ": " (bytes(text.len() as u64)) " of text. What is
            at its URL may be something else." }
        @for line in lines { p dir="auto" { (line) } }
        @if is_cut { p.note { "The text goes on; " code { "/document?id=…" } " has all of it for programs." } }
    })
}

/// The first [`TEXT`] characters of a text as people see it, line by line without the empty ones, and whether there are
/// more.
fn beginning(text: &str) -> (Vec<String>, bool) {
    let (mut lines, mut left) = (vec![], TEXT);
    let mut all = text.lines().filter(|line| !line.trim().is_empty());
    for line in all.by_ref() {
        let is_cut = line.char_indices().nth(left).is_some();
        let Shown { text: shown, .. } = Shown::new(line, &[], left);
        left = left.saturating_sub(line.chars().count());
        lines.push(shown);
        if left == 0 {
            return (lines, is_cut || all.next().is_some());
        }
    }
    (lines, false)
}
