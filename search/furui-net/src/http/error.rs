use std::fmt;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use furui_search::{QueryError, WantsError};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::{BODY_TIME, MAX_IDS, MAX_LIMIT, MAX_PUBLISHES, MAX_SEARCHES, PATIENCE, lines};

/// Why a request was not answered. In JSON, it is `{"error":…}`, and `"at"` says where in a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ApiError {
    /// The path does not exist.
    NotFound,
    /// The path exists, but not with the method of the request.
    Method,
    /// The request comes from another site's page, or was addressed to another host. The text says which.
    Foreign(&'static str),
    /// `q` is missing, or another parameter of a search is invalid. The text says why.
    Parameters(String),
    /// A parameter of a publication is invalid. The text says why.
    Publish(String),
    /// The body is not a list of ids.
    Ids,
    /// The body is not a list of URLs.
    Urls,
    /// The body of a request to block something cannot be understood. The text says why.
    Blocks(String),
    /// `limit` is 0 or too large.
    Limit,
    /// `cursor` is not a cursor.
    Cursor,
    /// `coding` and `rate` do not name a coding.
    Coding(WantsError),
    /// The query cannot be understood.
    Query(QueryError),
    /// The node already runs its maximum number of searches, or of publishing requests. The text says which.
    Busy(&'static str),
    /// The node refused. The text is its reason.
    Node(String),
    /// The node is shutting down.
    Closing,
    /// The body of the request did not arrive in time.
    Body,
    /// The body of the request ended early. The text says why.
    CutOff(String),
    /// The node took too long.
    Slow,
}

impl ApiError {
    /// The HTTP status of the error.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Foreign(_) => StatusCode::FORBIDDEN,
            Self::Parameters(_)
            | Self::Publish(_)
            | Self::Ids
            | Self::Urls
            | Self::Blocks(_)
            | Self::CutOff(_)
            | Self::Limit
            | Self::Cursor
            | Self::Coding(_)
            | Self::Query(_) => StatusCode::BAD_REQUEST,
            Self::Busy(_) | Self::Closing => StatusCode::SERVICE_UNAVAILABLE,
            Self::Node(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Body => StatusCode::REQUEST_TIMEOUT,
            Self::Slow => StatusCode::GATEWAY_TIMEOUT,
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str(
                "nothing here; ask for / in a browser, /search?q=WORDS, /status, /blocked or /metrics, or post to /wanted, \
                 /publish, /unpublish, /block, /unblock or /purge",
            ),
            Self::Method => {
                f.write_str(
                    "the method is not allowed here; POST to /wanted, /publish, /unpublish, /block, /unblock and /purge, and \
                     GET everything else",
                )
            }
            Self::Foreign(what) => write!(f, "{what}; address the node by its IP address, as in http://127.0.0.1:PORT"),
            Self::Parameters(why) => write!(f, "{why}; ask as in /search?q=two+words&limit=20&explain=true"),
            Self::Publish(why) => write!(f, "{why}; publish by posting to /publish, or to /publish?again=true"),
            Self::Ids => write!(f, "a body of ids has 40 hexadecimal digits in each line, and at most {MAX_IDS} lines"),
            Self::Urls => {
                write!(f, "a body of URLs has one URL in each line, at most {MAX_IDS} lines, and at most one MiB")
            }
            Self::Blocks(why) => f.write_str(why),
            Self::Limit => write!(f, "a limit is a number from 1 to {MAX_LIMIT}; use the cursor of the answer to get more"),
            Self::Cursor => f.write_str(
                "this is not a cursor; copy it from the last line of an answer: it has 48 hexadecimal digits",
            ),
            Self::Coding(error) => error.fmt(f),
            Self::Query(error) => error.fmt(f),
            Self::Busy(what) => write!(
                f,
                "the node already runs its maximum of {} {what}; ask again later",
                if *what == "searches" { MAX_SEARCHES } else { MAX_PUBLISHES }
            ),
            Self::Node(why) => f.write_str(why),
            Self::Closing => f.write_str("the node is being shut down; start it again"),
            Self::Body => write!(f, "the body did not arrive within {} seconds; send it again", BODY_TIME.as_secs()),
            Self::CutOff(why) => write!(f, "the body was cut off: {why}; send it again"),
            Self::Slow => write!(f, "no answer within {} seconds; look at /status, and ask again", PATIENCE.as_secs()),
        }
    }
}

impl Serialize for ApiError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = json!({ "error": self.to_string() });
        if let Self::Query(error) = self {
            line["at"] = error.at.into();
        }
        line.serialize(serializer)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status(), lines::json(&self)).into_response();
        // If a browser sent the request, the function `guard` turns the error into a page.
        response.extensions_mut().insert(self);
        response
    }
}
