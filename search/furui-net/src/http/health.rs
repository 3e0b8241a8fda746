//! The handlers for monitors and crawlers, which need no token.

use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::time::timeout;

use super::lines::json;
use super::{Backend, Face};

/// The time after which a node that does not report its state is not healthy. Chosen: monitors wait some seconds.
const LONGEST: Duration = Duration::from_secs(5);

/// Handles `GET /healthz`.
pub(super) async fn health<N: Backend>(State(face): State<Face<N>>) -> Response {
    match timeout(LONGEST, face.node.status()).await {
        Ok(Ok(status)) => json(&json!({ "ok": true, "whole": status.whole, "peers": status.peers })),
        failed => {
            let why = match failed {
                Ok(Err(why)) => why.to_string(),
                _ => format!("the storage has not answered for {} seconds", LONGEST.as_secs()),
            };
            (StatusCode::SERVICE_UNAVAILABLE, json(&json!({ "ok": false, "error": why }))).into_response()
        }
    }
}

/// Handles `GET /robots.txt`: no page of a node is for crawlers.
pub(super) async fn robots() -> Response {
    ([(header::CONTENT_TYPE, "text/plain")], "User-agent: *\nDisallow: /\n").into_response()
}
