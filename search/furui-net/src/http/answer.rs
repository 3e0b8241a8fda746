use std::convert::Infallible;
use std::time::{Duration, Instant};

use furui_search::Query;
use futures::{Stream, stream};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{ApiError, Backend, Face, MAX_SEARCHES, PATIENCE};
use crate::node::{SearchError, SearchEvent, SearchOptions};

/// The maximum number of search events that wait to be sent to the client. Chosen: an event has at most the hits of one
/// page.
const WAITING: usize = 16;

/// The time after which a search is logged as a slow one. Chosen: a user notices it.
const SLOW: Duration = Duration::from_secs(1);

/// A search that is running for a client. Dropping it stops the search. The number of concurrent searches is limited.
pub(super) struct RunningSearch {
    events: mpsc::Receiver<SearchEvent>,
    search: JoinHandle<Result<(), SearchError>>,
    began: Instant,
    _permit: OwnedSemaphorePermit,
}

impl RunningSearch {
    /// Starts the search. The error is [`ApiError::busy`] if the maximum number of searches is running.
    pub(super) fn begin<N: Backend>(face: &Face<N>, query: Query, options: SearchOptions) -> Result<Self, ApiError> {
        let permit = face.searches.clone().try_acquire_owned().map_err(|_| ApiError::busy(MAX_SEARCHES, "searches"))?;
        let (sender, events) = mpsc::channel(WAITING);
        let node = face.node.clone();
        let search = tokio::spawn(async move { node.search(&query, options, sender).await });
        Ok(Self { events, search, began: Instant::now(), _permit: permit })
    }

    /// Waits for the next event of the search. No event follows [`SearchEvent::Done`] or an error.
    pub(super) async fn next(&mut self) -> Result<SearchEvent, ApiError> {
        match timeout(PATIENCE, self.events.recv()).await {
            Ok(Some(event)) => {
                self.note(&event);
                Ok(event)
            }
            Ok(None) => Err(match (&mut self.search).await {
                Ok(Err(why)) => ApiError::node(why),
                _ => ApiError::closing(),
            }),
            Err(_) => Err(ApiError::slow()),
        }
    }

    /// Logs a search that took long. What was searched for is nobody's business.
    fn note(&self, event: &SearchEvent) {
        let took = self.began.elapsed();
        if let SearchEvent::Done { found, whole, report, .. } = event
            && took >= SLOW
        {
            let (words, messages) = (report.words.len(), report.messages);
            let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(ms, words, found, whole, messages, "slow search");
        }
    }

    /// Converts each event to text as soon as it arrives, for the body of a streamed response.
    pub(super) fn stream(
        self,
        text: impl FnMut(Result<SearchEvent, ApiError>) -> String + Send + 'static,
    ) -> impl Stream<Item = Result<String, Infallible>> + Send {
        stream::unfold(Some((self, text)), |state| async {
            let (mut answer, mut text) = state?;
            let event = answer.next().await;
            let is_last = !matches!(event, Ok(SearchEvent::Hits(_) | SearchEvent::Instead(_)));
            Some((Ok(text(event)), (!is_last).then_some((answer, text))))
        })
    }
}
