use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use furui_search::ContentId;
use serde_json::json;

use super::lines::json;
use super::{ApiError, Backend, Face, MAX_IDS, body_lines, run};

pub(super) async fn wanted<N: Backend>(State(face): State<Face<N>>, body: Body) -> Result<Response, ApiError> {
    // The maximum length of the body allows each line an id and a line end of two characters.
    let rule = format!("a body of ids has 40 hexadecimal digits in each line, and at most {MAX_IDS} lines");
    let lines = body_lines(body, MAX_IDS * (2 * ContentId::BYTES + 2), &rule).await?;
    let ids = lines.iter().map(|line| line.trim_end().parse()).collect::<Result<Vec<ContentId>, _>>();
    let ids = ids.map_err(|_| ApiError::invalid(rule))?;
    let wanted = run(async move { face.node.wanted(&ids).await }).await?;
    let wanted: Vec<usize> = (0..wanted.len()).filter(|&index| wanted[index]).collect();
    Ok(json(&json!({ "wanted": wanted })))
}
