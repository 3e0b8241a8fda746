//! The handlers of `/block`, `/unblock`, `/purge` and `/blocked`, with which the owner of the node blocks peers,
//! networks, sites and words.

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde_json::json;

use super::lines::json;
use super::{ApiError, Backend, Face, MAX_BODY, MAX_IDS, body_lines, run};
use crate::node::Block;

pub(super) async fn change<N: Backend>(
    State(Face { node, .. }): State<Face<N>>,
    uri: Uri,
    body: Body,
) -> Result<Response, ApiError> {
    let lines =
        body_lines(body, MAX_BODY, &format!("a body has at most {MAX_IDS} lines and {MAX_BODY} bytes, in UTF-8"))
            .await?;
    let blocks = lines.iter().map(|line| line.parse::<Block>()).collect::<Result<Vec<_>, _>>();
    let blocks = blocks.map_err(ApiError::invalid)?;
    Ok(json(&match uri.path() {
        "/purge" => json!({ "removed": run(async move { node.purge(&blocks).await }).await? }),
        path => {
            let add = path == "/block";
            json!({ "changed": run(async move { node.block(&blocks, add).await }).await? })
        }
    }))
}

pub(super) async fn list<N: Backend>(State(face): State<Face<N>>) -> Response {
    json(&json!({ "blocked": face.node.blocked().iter().map(ToString::to_string).collect::<Vec<_>>() }))
}
