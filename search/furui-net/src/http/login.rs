//! The form with which a browser shows the token of a node, and its answer.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::client::{COOKIE, is_of_own_page};
use super::{ApiError, Backend, Face, page};

/// The time for which a browser keeps the cookie, in seconds. Chosen: a year.
const LIFE: u32 = 365 * 24 * 60 * 60;

/// The fields of the form.
#[derive(Deserialize)]
pub(super) struct Form {
    #[serde(default)]
    token: String,
    /// The path of the page that the browser had asked for.
    #[serde(default)]
    to: String,
}

pub(super) async fn form<N: Backend>(State(face): State<Face<N>>) -> Response {
    match face.token {
        Some(_) => page::login("/", ""),
        None => to("/"),
    }
}

pub(super) async fn login<N: Backend>(
    State(face): State<Face<N>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Result<Response, ApiError> {
    if !is_of_own_page(&headers) {
        return Err(ApiError::foreign("a form that is not of this node"));
    }
    let Some(token) = &face.token else { return Ok(to("/")) };
    let form =
        serde_json::to_value(form_urlencoded::parse(&body).into_owned().collect::<std::collections::BTreeMap<_, _>>());
    let Form { token: offered, to: path } =
        form.and_then(serde_json::from_value).map_err(|error| ApiError::invalid(error.to_string()))?;
    if !token.is(offered.trim().as_bytes()) {
        tracing::info!("a wrong token in the login form");
        return Ok(page::login(&path, "This is not the token."));
    }
    // Behind a proxy the page is reached by https, and the cookie must not go elsewhere.
    let is_secure = headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LIFE}{secure}", token.cookie());
    let mut response = to(&path);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Sends the browser to a page of this node.
fn to(path: &str) -> Response {
    // A path that begins with two slashes, or with a backslash, leads to another site.
    let is_own = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    let path = Some(path).filter(|_| is_own).and_then(|path| HeaderValue::from_str(path).ok());
    let path = path.unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response()
}
