use std::io::Read;
use std::path::Path;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Query as Parameters, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::client::OfOwner;
use super::{ApiError, Backend, Face};

/// The maximum size of an opened file in bytes. Chosen: that of a page that is published.
const MOST: u64 = 16 << 20;
/// The content security policy of opened files: they are shown without scripts, forms, and anything from elsewhere, and
/// as if they came from a site of their own.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// The query parameter of `GET /open`: the URL of a result.
#[derive(Deserialize)]
pub(super) struct Wish {
    url: String,
}

/// Handles `GET /open`: shows a file in a watched directory whose document is published under this URL.
pub(super) async fn open<N: Backend>(
    State(Face { watched, .. }): State<Face<N>>,
    Extension(OfOwner(is_of_owner)): Extension<OfOwner>,
    what: Result<Parameters<Wish>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(Wish { url }) = what.map_err(|error| ApiError::invalid(error.body_text()))?;
    let Some(watched) = watched.filter(|_| is_of_owner) else {
        return Err(ApiError::forbidden("files are opened for the users of the node's own machine, and with a token"));
    };
    let read = tokio::task::spawn_blocking(move || {
        let path = watched.file_of(&url)?;
        let mut bytes = Vec::new();
        watched.open_file(&path).ok()?.take(MOST + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= MOST).then(|| (media(&path), bytes))
    });
    let Some((media, bytes)) = read.await.ok().flatten() else {
        return Err(ApiError::no_file());
    };
    Ok(([(header::CONTENT_TYPE, media), (header::CONTENT_SECURITY_POLICY, POLICY)], bytes).into_response())
}

/// The content type of a file: only web pages are not shown as text.
fn media(path: &Path) -> &'static str {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("html" | "htm" | "xhtml") => "text/html",
        _ => "text/plain; charset=utf-8",
    }
}
