//! The local HTTP face of a node: pages for people, lines of JSON for the command line and other programs; no state.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` and, to search, `/?q=…` | a page for people, see `page` |
//! | `POST /publish` or, for what was published already, too, `/publish?again=true`, a body of lines `{"url":…,"title":…,"text":…}` | lines: `{"documents":…,"new":…,"changed":…,"scarce":…}` after each batch, `{"line":…,"error":…}` for each line that is no document, last `{"documents":…,"new":…,"changed":…,"scarce":…,"bad":…,"done":true}` |
//! | `POST /wanted`, a body of ids of documents, 40 hexadecimal digits a line, at most 4096 | `{"wanted":[…]}`: which of them, counted from 0, are not published already |
//! | `POST /unpublish`, a body of URLs, one a line, at most 4096 and a MiB | `{"withdrawn":…,"unknown":[…]}`: of how many something was published, and which of them, counted from 0, are others |
//! | `POST /unpublish?all=true` | `{"withdrawn":…}`: how much of all that was published; ask again until nothing is left |
//! | `GET /search?q=…` and, if wanted, `&limit=…&cursor=…&explain=true` | lines: `{"id":…,"url":…,"title":…,"snippet":…,"title_marks":[[0,5],…],"marks":[[…],…],"score":…}` as they are found (marks in bytes), `{"step":…,"sent":…,"received":…}` if explained, last `{"total":…,"bytes":…,"cursor":…,"whole":…}` |
//! | `GET /status` | what the node is and holds: a page for who accepts `text/html`, JSON for all others |
//! | `GET /metrics` | the same figures for Prometheus |
//!
//! Whatever fails is `{"error":"…"}`, a sentence that says what to do, with a status from 400 on; if lines were sent
//! before, it is the last line. An answer of lines whose last line is missing was cut off.
//!
//! The face talks to its node by [`Call`]s through a channel. Work is bounded by [`MAX_SEARCHES`] and [`MAX_PUBLISHES`]
//! at once; what a request takes in memory by [`MAX_LINE`] and [`BATCH_BYTES`]. Nothing is done for pages of other sites,
//! see `guard`. A browser is given errors as pages, too.

mod answer;
mod answering;
mod call;
mod error;
mod guard;
mod lines;
mod monitor;
mod page;
mod parts;
mod publish;
mod search;
mod status;
mod unpublish;
mod wanted;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};

pub use crate::node::{Document, Published, Span};
pub use call::{Asked, Call, Event, Hit, Refused, Step, Summary};
pub use error::ApiError;
pub use publish::read_line;
pub use status::Status;

/// How many searches may run at once.
pub const MAX_SEARCHES: usize = 64;
/// How many requests may publish at once.
pub const MAX_PUBLISHES: usize = 8;
/// The most bytes of a line of a published body: a document whose every character is escaped.
pub const MAX_LINE: usize = 8 << 20;
/// The most documents in one [`Call::Publish`].
pub const BATCH_DOCUMENTS: usize = 256;
/// After how many bytes a [`Call::Publish`] takes no further document.
pub const BATCH_BYTES: usize = 1 << 20;
/// The most ids in one question what of it is wanted, and URLs of what is to be withdrawn.
pub const MAX_IDS: usize = 4096;
/// The most results of one search; the cursor in its last line leads on.
pub const MAX_LIMIT: u32 = 1_000;
/// How many results a search has if nothing else is asked for.
pub const DEFAULT_LIMIT: u32 = 10;
/// The most characters of a document's text that a result shows.
pub const SNIPPET: usize = 200;
/// How long a node may say nothing about a search or a batch, and a client send nothing of its body.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Answers requests until the future `until` is ready, and then those that are under way.
///
/// # Errors
/// If the listener fails.
pub async fn serve(
    listener: TcpListener,
    node: mpsc::Sender<Call>,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // An answer is lines, each sent as it comes: none is to wait until the one before has been acknowledged.
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router(node)).with_graceful_shutdown(until).await
}

#[derive(Clone)]
struct Face {
    node: mpsc::Sender<Call>,
    searches: Arc<Semaphore>,
    publishes: Arc<Semaphore>,
}

fn router(node: mpsc::Sender<Call>) -> Router {
    let face = Face {
        node,
        searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
        publishes: Arc::new(Semaphore::new(MAX_PUBLISHES)),
    };
    Router::new()
        .merge(page::routes())
        .route("/publish", post(publish::publish))
        .route("/wanted", post(wanted::wanted))
        .route("/unpublish", post(unpublish::unpublish))
        .route("/search", get(search::search))
        .route("/status", get(monitor::status))
        .route("/metrics", get(monitor::metrics))
        .fallback(async || ApiError::NotFound)
        .method_not_allowed_fallback(async || ApiError::Method)
        .layer(middleware::from_fn(guard::guard))
        .with_state(face)
}
