use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::response::{IntoResponse, Response};
use furui::search::{Place, Query};
use serde::Deserialize;
use tokio::sync::mpsc::{self, error::SendTimeoutError};
use tokio::time::timeout;

use super::lines::Lines;
use super::{ApiError, Asked, Call, DEFAULT_LIMIT, Event, Face, MAX_LIMIT, PATIENCE, Refused};

/// How many events may wait to be made lines.
const WAITING: usize = 64;

#[derive(Deserialize)]
pub(super) struct Wanted {
    q: String,
    limit: Option<u32>,
    cursor: Option<String>,
    #[serde(default)]
    explain: bool,
}

pub(super) async fn search(
    State(face): State<Face>,
    wanted: Result<Parameters<Wanted>, QueryRejection>,
) -> Result<Response, Response> {
    let asked = asked(wanted).map_err(IntoResponse::into_response)?;
    let permit = face.searches.clone().try_acquire_owned();
    let permit = permit.map_err(|_| ApiError::Busy("searches").into_response())?;
    let (events, mut answer) = mpsc::channel(WAITING);
    let call = face.node.send_timeout(Call::Search { asked, events }, PATIENCE).await;
    call.map_err(|error| match error {
        SendTimeoutError::Timeout(_) => ApiError::Slow.into_response(),
        SendTimeoutError::Closed(_) => ApiError::Closing.into_response(),
    })?;
    let (lines, response) = Lines::new();
    tokio::spawn(async move {
        let _permit = permit;
        loop {
            let event = tokio::select! {
                event = timeout(PATIENCE, answer.recv()) => event,
                () = lines.gone() => return,
            };
            let event = match event {
                Ok(Some(event)) => event,
                Ok(None) => Event::Refused(Refused { error: ApiError::Closing.to_string() }),
                Err(_) => Event::Refused(Refused { error: ApiError::Slow.to_string() }),
            };
            let is_last = matches!(event, Event::End(_) | Event::Refused(_));
            if lines.send(&event).await.is_err() || is_last {
                return;
            }
        }
    });
    Ok(response)
}

fn asked(wanted: Result<Parameters<Wanted>, QueryRejection>) -> Result<Asked, ApiError> {
    let Parameters(wanted) = wanted.map_err(|error| ApiError::Parameters(error.body_text()))?;
    let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ApiError::Limit);
    }
    let cursor = wanted.cursor.map(|cursor| cursor.parse::<Place>().map_err(|_| ApiError::Cursor));
    let query = Query::parse(&wanted.q).map_err(ApiError::Query)?;
    Ok(Asked { query, limit, cursor: cursor.transpose()?, explain: wanted.explain })
}
