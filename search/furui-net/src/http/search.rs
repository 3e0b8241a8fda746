use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::response::Response;
use furui::filter::sizing;
use furui_search::{Place, Query, Wants};
use serde::Deserialize;

use super::answer::Answer;
use super::lines::Lines;
use super::{ApiError, Asked, DEFAULT_LIMIT, Event, Face, MAX_LIMIT};

#[derive(Deserialize)]
pub(super) struct Wanted {
    q: String,
    limit: Option<u32>,
    cursor: Option<String>,
    coding: Option<String>,
    /// A number, or a percentage.
    rate: Option<String>,
    #[serde(default)]
    explain: bool,
}

pub(super) async fn search(
    State(face): State<Face>,
    wanted: Result<Parameters<Wanted>, QueryRejection>,
) -> Result<Response, ApiError> {
    let mut answer = Answer::ask(&face, asked(wanted)?).await?;
    let (lines, response) = Lines::new();
    tokio::spawn(async move {
        loop {
            let event = tokio::select! {
                event = answer.next() => event,
                () = lines.gone() => return,
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
    let cursor = wanted.cursor.as_deref().map(cursor).transpose()?;
    let query = Query::parse(&wanted.q).map_err(ApiError::Query)?;
    let rate = wanted.rate.as_deref().map(|text| {
        sizing::parse_rate(text)
            .ok_or_else(|| ApiError::Parameters(format!("rate={text:?} is no rate: 0.01 is one, or 1%25")))
    });
    let wants = Wants::named(wanted.coding.as_deref(), rate.transpose()?).map_err(ApiError::Coding)?;
    Ok(Asked { query, limit, cursor, wants, explain: wanted.explain })
}

/// Reads a cursor that an earlier answer contained.
pub(super) fn cursor(text: &str) -> Result<Place, ApiError> {
    text.parse().map_err(|_| ApiError::Cursor)
}
