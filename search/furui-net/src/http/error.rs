use std::fmt::Display;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use furui_search::QueryError;
use serde::Serialize;
use tokio::sync::mpsc::error::SendError;

use super::{BODY_TIME, PATIENCE, lines};
use crate::node::DocumentError;

/// The error that a client receives for its request. In JSON, it is `{"error":…}`; for an invalid query, `"at"` is the
/// position of the fault in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ApiError {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    /// A sentence for the user that says what is wrong, and what to do about it.
    #[serde(rename = "error")]
    pub(super) text: String,
    /// The HTTP status code of the response.
    #[serde(skip)]
    pub(super) status: StatusCode,
}

impl ApiError {
    fn new(status: StatusCode, text: impl Display) -> Self {
        Self { at: None, text: text.to_string(), status }
    }

    /// Makes the error for a request that is invalid for a reason.
    pub(super) fn invalid(text: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Makes the error for a search without the parameter `q`, or with another parameter that is invalid.
    pub(super) fn parameters(why: impl Display) -> Self {
        Self::invalid(format_args!("{why}; ask as in /search?q=two+words&limit=20&explain=true"))
    }

    /// Makes the error for a publication with an invalid parameter.
    pub(super) fn publish(why: impl Display) -> Self {
        Self::invalid(format_args!("{why}; publish by posting to /publish, or to /publish?again=true"))
    }

    /// Makes the error for a path that does not exist.
    pub(super) fn not_found() -> Self {
        let text = "nothing here; ask for / in a browser, /search?q=WORDS, /document?id=ID, /status, /blocked, \
                    /metrics or /openapi.json, which describes all, or post to /wanted, /publish, /unpublish, /snapshot, /block, /unblock, /purge, /trust, \
                    /untrust or /invite";
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Makes the error for an invitation into the open network.
    pub(super) fn open() -> Self {
        let text = "this node is in the open network, which needs no invitation: others join by `furui node \
                    --bootstrap ADDRESS` with an address of /status; `furui node --new-network FILE` makes a network \
                    with a key";
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Makes the error for a path that exists, but does not allow the method of the request.
    pub(super) fn method() -> Self {
        let text = "the method is not allowed here; POST to /wanted, /publish, /unpublish, /snapshot, /block, \
                    /unblock, /purge, /trust, /untrust and /invite, and GET everything else";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, text)
    }

    /// Makes the error for a request that comes from a page of another site, or whose header `Host` does not name this
    /// node.
    pub(super) fn foreign(what: &str) -> Self {
        let text = format_args!(
            "{what}; address the node by its IP address, as in http://127.0.0.1:PORT, or by a name that was given to it \
             by --http-host"
        );
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// Makes the error (status 401) for a request to a node that has a token, if the request shows neither the token
    /// nor the cookie of a browser that has logged in with it.
    pub(super) fn no_token() -> Self {
        let text = "this node asks for its token; programs of furui take it by --token FILE or FURUI_TOKEN, others send \
                    the header \"Authorization: Bearer TOKEN\"";
        Self::new(StatusCode::UNAUTHORIZED, text)
    }

    /// Makes the error for a request that this client may not send.
    pub(super) fn forbidden(text: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// Makes the error for a document that is not shown.
    pub(super) fn document(why: DocumentError) -> Self {
        let status = match why {
            DocumentError::Unknown(_) => StatusCode::NOT_FOUND,
            DocumentError::Unreachable(_) => StatusCode::GATEWAY_TIMEOUT,
            DocumentError::Blocked(_) => StatusCode::FORBIDDEN,
        };
        Self::new(status, why)
    }

    /// Makes the error for a file that is not there, or may not be opened.
    pub(super) fn no_file() -> Self {
        let text = "there is no such file any more, or it is not published from a watched directory of this node";
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Makes the error for a node that is already serving the maximum number `most` of requests of the kind `what`.
    pub(super) fn busy(most: usize, what: &str) -> Self {
        let text = format_args!("the node already runs its maximum of {most} {what}; ask again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// Makes the error for a request that the node could not carry out for the reason `why`.
    pub(super) fn node(why: impl Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }

    /// Makes the error for a request that arrives while the node shuts down.
    pub(super) fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the node is being shut down; start it again")
    }

    /// Makes the error for a request whose body did not arrive in time.
    pub(super) fn late() -> Self {
        let text = format_args!("the body did not arrive within {} seconds; send it again", BODY_TIME.as_secs());
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    /// Makes the error for a request that the node did not answer in time.
    pub(super) fn slow() -> Self {
        let text = format_args!("no answer within {} seconds; look at /status, and ask again", PATIENCE.as_secs());
        Self::new(StatusCode::GATEWAY_TIMEOUT, text)
    }
}

impl From<SendError<String>> for ApiError {
    /// Makes an error that nobody receives, because the client has disconnected.
    fn from(_: SendError<String>) -> Self {
        Self::closing()
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
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // For requests of browsers, `guard` renders this error as a page.
        response.extensions_mut().insert(self);
        response
    }
}
