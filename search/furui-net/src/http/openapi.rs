use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Handles `GET /openapi.json`: describes the requests of programs and their answers (OpenAPI 3.1), but not the pages
/// for people.
pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json")).into_response()
}
