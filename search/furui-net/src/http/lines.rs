use std::convert::Infallible;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Serialize;
use tokio::sync::mpsc;

/// The maximum number of lines that wait for a client that is slower than the node. Chosen: a line has some hundred
/// bytes.
const WAITING: usize = 64;

/// The content type of an answer in lines.
pub(super) const LINES: &str = "application/x-ndjson";

/// Sends lines of JSON to a client that may still be sending its request.
pub(super) struct Lines(mpsc::Sender<String>);

/// The client is gone.
pub(super) struct Gone;

impl Lines {
    /// The sender, and the response that sends its lines until the sender is dropped.
    pub(super) fn new() -> (Self, Response) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let lines = stream::unfold(receiver, |mut receiver| async {
            let line: String = receiver.recv().await?;
            Some((Ok::<_, Infallible>(line), receiver))
        });
        let response = ([(header::CONTENT_TYPE, LINES)], Body::from_stream(lines)).into_response();
        (Self(sender), response)
    }

    pub(super) async fn send(&self, value: &impl Serialize) -> Result<(), Gone> {
        self.0.send(line(value)).await.map_err(|_| Gone)
    }

    /// Waits until the client is gone.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}

/// A value as a line of JSON.
pub(super) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is sent here has only strings for names") + "\n"
}

/// A response that consists of one line of JSON.
pub(super) fn json(value: &impl Serialize) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], line(value)).into_response()
}
