use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{ApiError, Call, Face, PATIENCE, Status, page};

pub(super) async fn status(State(face): State<Face>, headers: HeaderMap) -> Result<Response, ApiError> {
    let status = ask(&face).await?;
    if page::is_wanted(&headers) {
        return Ok(page::status(&status));
    }
    let json = serde_json::to_string(&status).expect("a status has only strings for names");
    Ok(([(header::CONTENT_TYPE, "application/json")], json + "\n").into_response())
}

pub(super) async fn metrics(State(face): State<Face>) -> Result<Response, ApiError> {
    let status = ask(&face).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], status.metrics()).into_response())
}

async fn ask(face: &Face) -> Result<Status, ApiError> {
    let (answer, status) = oneshot::channel();
    let asking = async {
        face.node.send(Call::Status { answer }).await.map_err(|_| ApiError::Closing)?;
        status.await.map_err(|_| ApiError::Closing)
    };
    timeout(PATIENCE, asking).await.unwrap_or(Err(ApiError::Slow))
}
