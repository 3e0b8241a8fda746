use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Serialize;
use tokio::sync::mpsc;

/// How many lines may wait for a client that is slower than the node.
const WAITING: usize = 64;

/// Lines of JSON on their way to a client, one by one.
pub(super) struct Lines(mpsc::Sender<Vec<u8>>);

/// The client has gone.
pub(super) struct Gone;

impl Lines {
    /// The sender, and the response that sends what it is given until it is dropped.
    pub(super) fn new() -> (Self, Response) {
        let (sender, receiver) = mpsc::channel::<Vec<u8>>(WAITING);
        let lines = stream::unfold(receiver, |mut receiver| async {
            let line = receiver.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(line), receiver))
        });
        let response = ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response();
        (Self(sender), response)
    }

    pub(super) async fn send(&self, line: &impl Serialize) -> Result<(), Gone> {
        let mut bytes = serde_json::to_vec(line).expect("what is sent here has only strings for names");
        bytes.push(b'\n');
        self.0.send(bytes).await.map_err(|_| Gone)
    }

    /// Waits until the client has gone.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}
