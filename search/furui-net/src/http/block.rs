//! `/block`, `/unblock`, `/purge` and `/blocked`: what the owner of the node does not want.

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{ApiError, BODY_TIME, Blocking, Call, Face, MAX_IDS, PATIENCE};
use crate::node::Block;

/// The maximum length of a body, in bytes.
const MAX_BODY: usize = 1 << 20;

pub(super) async fn change(State(face): State<Face>, uri: Uri, body: Body) -> Result<Response, ApiError> {
    let what = match uri.path() {
        "/block" => Blocking::Block,
        "/unblock" => Blocking::Unblock,
        _ => Blocking::Purge,
    };
    let body = timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await.map_err(|_| ApiError::Body)?;
    let body = body.map_err(|_| ApiError::Blocks(format!("a body has at most {MAX_BODY} bytes")))?;
    let lines = str::from_utf8(&body).map_err(|_| ApiError::Blocks("the body is not UTF-8".into()))?.lines();
    let blocks = lines.map(|line| line.parse::<Block>()).collect::<Result<Vec<_>, _>>();
    let blocks = blocks.map_err(|error| ApiError::Blocks(error.to_string()))?;
    if blocks.len() > MAX_IDS {
        return Err(ApiError::Blocks(format!("a body has at most {MAX_IDS} lines")));
    }
    let (answer, changed) = oneshot::channel();
    let asking = async {
        face.node.send(Call::Block { what, blocks, answer }).await.map_err(|_| ApiError::Closing)?;
        changed.await.map_err(|_| ApiError::Closing)
    };
    let changed = timeout(PATIENCE, asking).await.map_err(|_| ApiError::Slow)??;
    let changed = changed.map_err(|refused| ApiError::Node(refused.error))?;
    let of_purge = what == Blocking::Purge;
    Ok(line(&if of_purge { json!({ "removed": changed }) } else { json!({ "changed": changed }) }))
}

pub(super) async fn list(State(face): State<Face>) -> Result<Response, ApiError> {
    let (answer, blocked) = oneshot::channel();
    let asking = async {
        face.node.send(Call::Blocked { answer }).await.map_err(|_| ApiError::Closing)?;
        blocked.await.map_err(|_| ApiError::Closing)
    };
    let blocked = timeout(PATIENCE, asking).await.map_err(|_| ApiError::Slow)??;
    Ok(line(&json!({ "blocked": blocked.iter().map(ToString::to_string).collect::<Vec<_>>() })))
}

fn line(answer: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], format!("{answer}\n")).into_response()
}
