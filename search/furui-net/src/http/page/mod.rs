//! The pages for people: rendered by the node, and complete without script.
//!
//! ```text
//!  GET /?q=…  ──▶ head and search box ── at once
//!                 a hit, a hit, …     ── each as it is found
//!                 what got no place of ten, summary, next page, what it took ── at the end
//! ```
//!
//! `maud` escapes everything that strangers wrote; links lead to http and https only. There is one style sheet and one
//! short script, which is not needed for any function. Nothing comes from elsewhere: the policy in `guard` forbids it.

mod add;
mod document;
mod figures;
mod home;
mod invitation;
mod layout;
mod search;
mod status;
mod steps;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::html;

use super::{ApiError, Backend, Face};
use layout::{FORM, HTML, Layout};

pub(super) use invitation::invitation;
pub(super) use status::status;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
const ICON: &str = include_str!("icon.svg");

pub(super) fn routes<N: Backend>() -> Router<Face<N>> {
    let file = |content_type: &'static str, text: &'static str| {
        get(move || std::future::ready(([(header::CONTENT_TYPE, content_type)], text)))
    };
    Router::new()
        .route("/", get(search::search::<N>))
        .route("/document", get(document::document::<N>))
        .route("/add", get(add::form).post(add::publish::<N>).layer(DefaultBodyLimit::max(add::MAX_FORM)))
        .route("/style.css", file("text/css; charset=utf-8", STYLE))
        .route("/script.js", file("text/javascript; charset=utf-8", SCRIPT))
        .route("/icon.svg", file("image/svg+xml", ICON))
}

/// True if the client prefers an HTML page: browsers list `text/html` in the header `Accept`, and other programs
/// usually accept any type.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| range.trim_start().starts_with("text/html"))
}

/// Renders the form for the token, with status 401. `to` is the path of the page that is shown afterwards, and
/// `problem` says what was wrong, if something was.
pub(super) fn login(to: &str, problem: &str) -> Response {
    let page = Layout::new("Log in").page(html! {
        h1 { "This node asks for its token" }
        @if !problem.is_empty() { p.problem role="alert" { (problem) } }
        form.fields action="/login" method="post" {
            label for="token" { "Token" }
            input #token type="password" name="token" required autocomplete="current-password" autofocus;
            input type="hidden" name="to" value=(to);
            button { "Log in" }
        }
        p.note { "The owner of the node has the token in a file, which was named when the node was started." }
    });
    (StatusCode::UNAUTHORIZED, FORM, page).into_response()
}

/// Renders a page that loads itself again at once, now as a request of this node's own page.
pub(super) fn again() -> Response {
    let page = html! {
        (maud::DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "furui" } meta http-equiv="refresh" content="0"; }
            body { p { a href="" { "Go on" } } }
        }
    };
    ([(header::CONTENT_TYPE, HTML)], page.into_string()).into_response()
}

/// Renders an error as an HTML page.
pub(super) fn refusal(error: &ApiError) -> Response {
    let page = Layout::new("Not answered").page(html! {
        h1 { "Not answered" }
        p.problem role="alert" { (figures::sentence(&error.text)) }
        p { a href="/" { "To the search" } }
    });
    (error.status, [(header::CONTENT_TYPE, HTML)], page).into_response()
}
