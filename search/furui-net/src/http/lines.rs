use std::convert::Infallible;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;

/// The maximum number of lines that wait for a client which reads more slowly than the node writes. Chosen: a line has
/// some hundred bytes.
const WAITING: usize = 64;

/// The content type of an answer that consists of JSON lines.
pub(super) const LINES: &str = "application/x-ndjson";

/// Sends JSON lines to a client, which may still be sending its request.
pub(super) struct Lines(mpsc::Sender<String>);

impl Lines {
    /// Makes the sender, and the response that streams its lines until the sender is dropped.
    pub(super) fn new() -> (Self, Response) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let lines = stream::unfold(receiver, |mut receiver| async {
            let line: String = receiver.recv().await?;
            Some((Ok::<_, Infallible>(line), receiver))
        });
        let response = ([(header::CONTENT_TYPE, LINES)], Body::from_stream(lines)).into_response();
        (Self(sender), response)
    }

    /// Sends a line. Fails if the client has disconnected.
    pub(super) async fn send(&self, value: &impl Serialize) -> Result<(), SendError<String>> {
        self.0.send(line(value)).await
    }

    /// Waits until the client has disconnected.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}

/// Serializes a value as one line of JSON.
pub(super) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is sent here has only strings for names") + "\n"
}

/// Makes a response that consists of one line of JSON.
pub(super) fn json(value: &impl Serialize) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], line(value)).into_response()
}
