use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use furui_search::ContentId;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{ApiError, BODY_TIME, Call, Face, MAX_IDS, PATIENCE};

/// The maximum length of a body, in bytes, if each line has an id and ends in two characters.
const MAX_BODY: usize = MAX_IDS * (2 * ContentId::BYTES + 2);

pub(super) async fn wanted(State(face): State<Face>, body: Body) -> Result<Response, ApiError> {
    let body = timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await.map_err(|_| ApiError::Body)?;
    let ids = body.ok().and_then(|body| ids(&body)).ok_or(ApiError::Ids)?;
    let (answer, wanted) = oneshot::channel();
    let asking = async {
        face.node.send(Call::Wanted { ids, answer }).await.map_err(|_| ApiError::Closing)?;
        wanted.await.map_err(|_| ApiError::Closing)
    };
    let wanted = timeout(PATIENCE, asking).await.map_err(|_| ApiError::Slow)??;
    Ok(match wanted {
        Ok(wanted) => {
            // The indices of the wanted ids.
            let places = wanted.into_iter().enumerate().filter(|(_, wanted)| *wanted);
            let wanted: Vec<usize> = places.map(|(place, _)| place).collect();
            ([(header::CONTENT_TYPE, "application/json")], format!("{}\n", json!({ "wanted": wanted }))).into_response()
        }
        Err(refused) => ApiError::Node(refused.error).into_response(),
    })
}

/// The ids in the lines of a body.
fn ids(body: &[u8]) -> Option<Vec<ContentId>> {
    let lines = str::from_utf8(body).ok()?.lines();
    let ids = lines.map(|line| line.trim_end().parse()).collect::<Result<Vec<_>, _>>().ok()?;
    (ids.len() <= MAX_IDS).then_some(ids)
}
