//! The handler of `/invite`, the only one whose answer has the key of the node's private network.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;

use super::client::OfOwner;
use super::lines::json;
use super::{ApiError, Backend, Face, page};

/// Answers `POST /invite`. Only a click on this node's own page, or a program, can send it: the guard refuses what
/// comes from pages of other sites, and a link cannot post.
pub(super) async fn invite<N: Backend>(
    State(face): State<Face<N>>,
    Extension(OfOwner(is_of_owner)): Extension<OfOwner>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let invitation = face.node.invitation().ok_or_else(ApiError::open)?;
    if !is_of_owner {
        return Err(ApiError::forbidden(
            "an invitation has the network's key, and is for the users of the node's own machine, and with its token",
        ));
    }
    Ok(if page::is_wanted(&headers) {
        page::invitation(&invitation)
    } else {
        json(&json!({ "invitation": invitation.to_string() }))
    })
}
