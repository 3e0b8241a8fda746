use axum::response::Response;
use serde::Serialize;

use super::parts::{Gone, Parts};

/// Sends lines of JSON to a client, one by one.
pub(super) struct Lines(Parts);

impl Lines {
    /// The sender, and the response that sends its lines until the sender is dropped.
    pub(super) fn new() -> (Self, Response) {
        let (parts, response) = Parts::new("application/x-ndjson");
        (Self(parts), response)
    }

    pub(super) async fn send(&self, line: &impl Serialize) -> Result<(), Gone> {
        let mut bytes = serde_json::to_vec(line).expect("what is sent here has only strings for names");
        bytes.push(b'\n');
        self.0.send(bytes).await
    }

    /// Waits until the client is gone.
    pub(super) async fn gone(&self) {
        self.0.gone().await;
    }
}
