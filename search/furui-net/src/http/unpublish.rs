use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::lines::json;
use super::{ApiError, Backend, Face, MAX_BODY, MAX_IDS, MAX_PUBLISHES, body_lines, run};

/// The query parameters of `POST /unpublish`. `all` is true if all published documents are withdrawn.
#[derive(Deserialize)]
pub(super) struct What {
    #[serde(default)]
    all: bool,
}

pub(super) async fn unpublish<N: Backend>(
    State(Face { node, publishes, .. }): State<Face<N>>,
    what: Result<Parameters<What>, QueryRejection>,
    body: Body,
) -> Result<Response, ApiError> {
    let Parameters(What { all }) = what.map_err(|error| ApiError::publish(error.body_text()))?;
    let _permit = publishes.try_acquire().map_err(|_| ApiError::busy(MAX_PUBLISHES, "publishing requests"))?;
    if all {
        let withdrawn = run(async move { node.withdraw_some().await }).await?;
        tracing::info!(withdrawn, "unpublished");
        return Ok(json(&json!({ "withdrawn": withdrawn })));
    }
    let rule = format!("a body of URLs has one URL in each line, at most {MAX_IDS} lines, and at most one MiB");
    let urls = body_lines(body, MAX_BODY, &rule).await?;
    let found = run(async move { node.withdraw(&urls).await }).await?;
    let unknown: Vec<usize> = (0..found.len()).filter(|&index| found[index].is_none()).collect();
    let others = found.iter().enumerate().filter_map(|(at, others)| {
        let others = others.as_ref().filter(|others| !others.is_empty())?;
        let publishers: Vec<String> = others.iter().map(ToString::to_string).collect();
        Some(json!({ "at": at, "publishers": publishers }))
    });
    let others: Vec<_> = others.collect();
    tracing::info!(withdrawn = found.len() - unknown.len(), "unpublished");
    Ok(json(&json!({ "withdrawn": found.len() - unknown.len(), "unknown": unknown, "others": others })))
}
