use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{self, error::SendTimeoutError};
use tokio::time::timeout;

use super::{ApiError, Asked, Call, Event, Face, PATIENCE, Refused};

/// The maximum number of events that wait to be sent to the client.
const WAITING: usize = 64;

/// A node's answer to a search. The number of concurrent answers is limited.
pub(super) struct Answer {
    events: mpsc::Receiver<Event>,
    _permit: OwnedSemaphorePermit,
}

impl Answer {
    /// Passes the search to the node.
    pub(super) async fn ask(face: &Face, asked: Asked) -> Result<Self, ApiError> {
        let permit = face.searches.clone().try_acquire_owned().map_err(|_| ApiError::Busy("searches"))?;
        let (events, answer) = mpsc::channel(WAITING);
        let call = face.node.send_timeout(Call::Search { asked, events }, PATIENCE).await;
        call.map_err(|error| match error {
            SendTimeoutError::Timeout(_) => ApiError::Slow,
            SendTimeoutError::Closed(_) => ApiError::Closing,
        })?;
        Ok(Self { events: answer, _permit: permit })
    }

    /// The next event. No event follows an [`Event::End`] or [`Event::Refused`].
    pub(super) async fn next(&mut self) -> Event {
        let refused = |error: ApiError| Event::Refused(Refused { error: error.to_string() });
        match timeout(PATIENCE, self.events.recv()).await {
            Ok(Some(event)) => event,
            Ok(None) => refused(ApiError::Closing),
            Err(_) => refused(ApiError::Slow),
        }
    }
}
