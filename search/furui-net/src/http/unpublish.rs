use axum::body::{Body, to_bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{ApiError, BODY_TIME, Call, Face, MAX_IDS, PATIENCE, Refused};

/// The maximum length of a body, in bytes.
const MAX_BODY: usize = 1 << 20;

/// The parameters of the request.
#[derive(Deserialize)]
pub(super) struct What {
    #[serde(default)]
    all: bool,
}

pub(super) async fn unpublish(
    State(face): State<Face>,
    what: Result<Parameters<What>, QueryRejection>,
    body: Body,
) -> Result<Response, ApiError> {
    let Parameters(What { all }) = what.map_err(|error| ApiError::Publish(error.body_text()))?;
    let _permit = face.publishes.try_acquire().map_err(|_| ApiError::Busy("publishing requests"))?;
    let answer = if all {
        let (answer, withdrawn) = oneshot::channel();
        json!({ "withdrawn": ask(&face, Call::UnpublishSome { answer }, withdrawn).await? })
    } else {
        let body = timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await.map_err(|_| ApiError::Body)?;
        let urls = body.ok().and_then(|body| urls(&body)).ok_or(ApiError::Urls)?;
        let (answer, withdrawn) = oneshot::channel();
        let found = ask(&face, Call::Unpublish { urls, answer }, withdrawn).await?;
        let unknown: Vec<usize> = (0..found.len()).filter(|&place| !found[place]).collect();
        json!({ "withdrawn": found.len() - unknown.len(), "unknown": unknown })
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], format!("{answer}\n")).into_response())
}

async fn ask<T>(face: &Face, call: Call, answer: oneshot::Receiver<Result<T, Refused>>) -> Result<T, ApiError> {
    let asking = async {
        face.node.send(call).await.map_err(|_| ApiError::Closing)?;
        answer.await.map_err(|_| ApiError::Closing)
    };
    let answer = timeout(PATIENCE, asking).await.map_err(|_| ApiError::Slow)??;
    answer.map_err(|refused| ApiError::Node(refused.error))
}

/// The URLs in the lines of a body.
fn urls(body: &[u8]) -> Option<Vec<String>> {
    let urls: Vec<String> = str::from_utf8(body).ok()?.lines().map(str::to_owned).collect();
    (urls.len() <= MAX_IDS).then_some(urls)
}
