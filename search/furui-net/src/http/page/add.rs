use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartError, MultipartRejection};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::json;
use tokio::time::timeout;

use super::figures::{encoded, sentence};
use super::layout::{FORM, Layout};
use crate::http::client::is_of_own_page;
use crate::http::publish::read;
use crate::http::{ApiError, BODY_TIME, Backend, Face, MAX_PUBLISHES, Shown, ShownUrl, TITLE, run};
use crate::node::Published;

/// The maximum size of the form with a document, in bytes. Chosen: the longest text that a document may have, and some
/// room.
pub(super) const MAX_FORM: usize = 1 << 20;

/// The fields of the form.
#[derive(Default)]
struct Fields {
    url: String,
    title: String,
    text: String,
}

/// Handles `GET /add`: the form with which a user publishes a document.
pub(super) async fn form() -> Response {
    (FORM, page(&Fields::default(), None)).into_response()
}

/// Handles `POST /add`: publishes the document in the form.
pub(super) async fn publish<N: Backend>(
    State(Face { node, publishes, .. }): State<Face<N>>,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, ApiError> {
    if !is_of_own_page(&headers) {
        return Err(ApiError::foreign("a form that is not of this node"));
    }
    let form = form.map_err(|error| ApiError::invalid(error.body_text()))?;
    let _permit = publishes.try_acquire().map_err(|_| ApiError::busy(MAX_PUBLISHES, "publishing requests"))?;
    let mut fields = Fields::default();
    if let Err(why) = timeout(BODY_TIME, fields.read(form)).await.map_err(|_| ApiError::late())? {
        return Ok(refused(&fields, &why));
    }
    let line = json!({ "url": fields.url, "title": fields.title, "text": fields.text }).to_string();
    let document = match read(line.as_bytes(), node.publisher()) {
        Ok(document) => document,
        Err(why) => return Ok(refused(&fields, &why)),
    };
    let published = run(async move { node.publish(vec![document], false).await }).await?;
    Ok((FORM, done(&fields, published)).into_response())
}

impl Fields {
    /// Reads the fields of a form. The text of a file follows what was written into the field of the text.
    async fn read(&mut self, mut form: Multipart) -> Result<(), String> {
        let failed = |error: MultipartError| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                format!("the form has more than {MAX_FORM} bytes; publish the file by `furui publish FILE`")
            }
            _ => error.body_text(),
        };
        while let Some(field) = form.next_field().await.map_err(failed)? {
            let name = field.name().unwrap_or_default().to_owned();
            let file = field.file_name().unwrap_or_default().to_owned();
            let bytes = field.bytes().await.map_err(failed)?;
            let text = String::from_utf8(bytes.to_vec()).map_err(|_| {
                format!(
                    "the file {file} is not text in UTF-8; publish it by `furui publish FILE`, which knows more kinds"
                )
            })?;
            match name.as_str() {
                "url" => text.trim().clone_into(&mut self.url),
                "title" => text.trim().clone_into(&mut self.title),
                "text" => self.text = text,
                "file" if text.trim_start().starts_with('<') => {
                    return Err(format!("the file {file} is no plain text; publish web pages by `furui publish FILE`"));
                }
                "file" if !text.is_empty() => {
                    self.text = format!("{}\n{}", self.text, text.trim_start_matches('\u{feff}')).trim().to_owned();
                    if self.title.is_empty() {
                        self.title = file;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn refused(fields: &Fields, why: &str) -> Response {
    (StatusCode::BAD_REQUEST, FORM, page(fields, Some(why))).into_response()
}

fn page(Fields { url, title, text }: &Fields, problem: Option<&str>) -> String {
    Layout::new("Publish").page(html! {
        h1 { "Publish a page or a note" }
        p { "Everybody who reaches the network of this node can find what you publish, and read all of it." }
        @if let Some(why) = problem { p.problem role="alert" { (sentence(why)) } }
        form.fields action="/add" method="post" enctype="multipart/form-data" {
            label for="url" { "Its URL, in full" }
            input #url name="url" type="url" required value=(url) maxlength=(furui_search::MAX_URL)
                placeholder="https://example.org/page";
            label for="title" { "Title" }
            input #title name="title" value=(title) maxlength=(furui_search::MAX_TITLE);
            label for="text" { "Text" }
            textarea #text name="text" rows="8" { (text) }
            label for="file" { "Or a file of plain text" }
            input #file name="file" type="file" accept=".txt,.md,text/plain";
            button { "Publish" }
        }
        p.note { "Folders, web pages and crawls are published by " code { "furui publish" } ". What was published under a
            URL is withdrawn by " code { "furui unpublish URL" } "." }
    })
}

fn done(fields: &Fields, Published { new, changed, .. }: Published) -> String {
    let what = match (new, changed) {
        (0, _) => "It was published before, word for word.",
        (_, 0) => "It is published.",
        _ => "It is published, and replaces what was published under its URL.",
    };
    let title = Shown::new(&fields.title, &[], TITLE).text;
    Layout::new("Published").page(html! {
        h1 { "Published" }
        p role="status" { (what) }
        p { @if title.is_empty() { "Its URL is " } @else { bdi { (title) } ", " } bdi { (address(&ShownUrl::on_page(&fields.url))) } }
        p {
            @if !title.is_empty() { a href={ "/?q=" (encoded(&title)) } { "Find it by its title" } " · " }
            a href="/add" { "Publish another" }
        }
    })
}

/// Renders a URL with its host emphasised.
pub(super) fn address(ShownUrl { before, host, after }: &ShownUrl) -> Markup {
    html! { (before) @if !host.is_empty() { b { (host) } } (after) }
}
