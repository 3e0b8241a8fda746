use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use tokio::sync::mpsc;

/// The maximum number of parts that wait for a client that is slower than the node.
const WAITING: usize = 64;

/// Sends an answer to a client, part by part.
pub(super) struct Parts(mpsc::Sender<Vec<u8>>);

/// The client is gone.
pub(super) struct Gone;

impl Parts {
    /// The sender, and the response that sends its parts until the sender is dropped.
    pub(super) fn new(content_type: &'static str) -> (Self, Response) {
        let (sender, receiver) = mpsc::channel::<Vec<u8>>(WAITING);
        let parts = stream::unfold(receiver, |mut receiver| async {
            let part = receiver.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(part), receiver))
        });
        let response = ([(header::CONTENT_TYPE, content_type)], Body::from_stream(parts)).into_response();
        (Self(sender), response)
    }

    pub(super) async fn send(&self, part: impl Into<Vec<u8>>) -> Result<(), Gone> {
        self.0.send(part.into()).await.map_err(|_| Gone)
    }

    /// Waits until the client is gone.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}
