use std::fmt::Display;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use furui_search::QueryError;
use serde::Serialize;

use super::{BODY_TIME, PATIENCE, lines};

/// The error that a client receives for its request. In JSON, it is `{"error":…}`; for an invalid query, `"at"` is the
/// position of the fault in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ApiError {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    /// A sentence for the user that says what is wrong, and what to do.
    #[serde(rename = "error")]
    pub(super) text: String,
    /// The HTTP status of the response.
    #[serde(skip)]
    pub(super) status: StatusCode,
}

impl ApiError {
    fn new(status: StatusCode, text: impl Display) -> Self {
        Self { at: None, text: text.to_string(), status }
    }

    /// The request is invalid for the reason `why`.
    pub(super) fn invalid(text: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The parameter `q` is missing, or another parameter of a search is invalid.
    pub(super) fn parameters(why: impl Display) -> Self {
        Self::invalid(format_args!("{why}; ask as in /search?q=two+words&limit=20&explain=true"))
    }

    /// A parameter of a publication is invalid.
    pub(super) fn publish(why: impl Display) -> Self {
        Self::invalid(format_args!("{why}; publish by posting to /publish, or to /publish?again=true"))
    }

    /// The path does not exist.
    pub(super) fn not_found() -> Self {
        let text = "nothing here; ask for / in a browser, /search?q=WORDS, /status, /blocked or /metrics, or post to \
                    /wanted, /publish, /unpublish, /block, /unblock or /purge";
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// The path exists, but does not allow the method of the request.
    pub(super) fn method() -> Self {
        let text = "the method is not allowed here; POST to /wanted, /publish, /unpublish, /block, /unblock and \
                    /purge, and GET everything else";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, text)
    }

    /// The request comes from a page of another site, or its `Host` is not this node.
    pub(super) fn foreign(what: &str) -> Self {
        let text = format_args!("{what}; address the node by its IP address, as in http://127.0.0.1:PORT");
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// The node is already serving the maximum number `most` of requests of this kind.
    pub(super) fn busy(most: usize, what: &str) -> Self {
        let text = format_args!("the node already runs its maximum of {most} {what}; ask again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// The node could not carry out the request for the reason `why`.
    pub(super) fn node(why: impl Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }

    /// The node is shutting down.
    pub(super) fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the node is being shut down; start it again")
    }

    /// The body of the request did not arrive in time.
    pub(super) fn late() -> Self {
        let text = format_args!("the body did not arrive within {} seconds; send it again", BODY_TIME.as_secs());
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    /// The node did not answer in time.
    pub(super) fn slow() -> Self {
        let text = format_args!("no answer within {} seconds; look at /status, and ask again", PATIENCE.as_secs());
        Self::new(StatusCode::GATEWAY_TIMEOUT, text)
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        Self { at: Some(error.at), ..Self::invalid(error) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, lines::json(&self)).into_response();
        // For requests of browsers, `guard` renders this error as a page.
        response.extensions_mut().insert(self);
        response
    }
}
