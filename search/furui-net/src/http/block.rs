//! The handlers of `/block`, `/unblock`, `/purge` and `/blocked`, with which the owner of the node blocks peers,
//! networks, sites and words, and of `/trust`, `/untrust` and `/trusted`, with which he trusts publishers.

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use furui_search::PublisherKey;
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

pub(super) async fn trust<N: Backend>(
    State(Face { node, .. }): State<Face<N>>,
    uri: Uri,
    body: Body,
) -> Result<Response, ApiError> {
    let rule = format!("a body has at most {MAX_IDS} names of peers, one in each line");
    let lines = body_lines(body, MAX_BODY, &rule).await?;
    let peers = lines.iter().map(|line| line.trim().parse()).collect::<Result<Vec<PublisherKey>, _>>();
    let (peers, add) = (peers.map_err(ApiError::invalid)?, uri.path() == "/trust");
    Ok(json(&json!({ "changed": run(async move { node.trust(&peers, add).await }).await? })))
}

pub(super) async fn trusted<N: Backend>(State(face): State<Face<N>>) -> Response {
    json(&json!({ "trusted": face.node.trusted().iter().map(ToString::to_string).collect::<Vec<_>>() }))
}

pub(super) async fn list<N: Backend>(State(face): State<Face<N>>) -> Response {
    json(&json!({ "blocked": face.node.blocked().iter().map(ToString::to_string).collect::<Vec<_>>() }))
}
