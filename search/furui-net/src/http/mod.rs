//! The local HTTP interface of a node, without state of its own: pages for people, and lines of JSON for the command
//! line and other programs.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` and, to search, `/?q=…` | a page for people, see `page` |
//! | `POST /publish` or, to publish also what was published recently, `/publish?again=true`; the body has lines `{"url":…,"title":…,"text":…}` | lines: `{"documents":…,"new":…,"changed":…,"scarce":…}` after each batch, `{"line":…,"error":…}` for each line that is not a document; the last line is `{"documents":…,"new":…,"changed":…,"scarce":…,"bad":…,"done":true}` |
//! | `GET /add`, and `POST /add` with its fields `url`, `title`, `text` and `file` as `multipart/form-data` | a form with which people publish a document, and what has become of it |
//! | `POST /wanted`, a body of ids of documents, 40 hexadecimal digits in each line, at most 4096 lines | `{"wanted":[…]}`: the indices, from 0, of the ids that were not published recently |
//! | `POST /unpublish`, a body of URLs, one in each line, at most 4096 lines and one MiB | `{"withdrawn":…,"unknown":[…],"others":[{"at":…,"publishers":[…]},…]}`: the number of URLs under which something was published, the indices, from 0, of the other URLs, and of those of which others have published the same text |
//! | `POST /unpublish?all=true` | `{"withdrawn":…}`: the number of documents that this request withdrew, perhaps only a part of all; repeat the request until the number is 0 |
//! | `GET /search?q=…` and, if wanted, `&limit=…&cursor=…&coding=…&rate=…&explain=true` ([`Wants::named`](furui_search::Wants::named)) | lines: `{"id":…,"url":…,"title":…,"snippet":…,"title_marks":[[0,5],…],"marks":[[…],…],"score":…}` as they are found (marks in bytes), `{"step":…,"sent":…,"received":…,"ms":…}` for each step if explained (`ms` only if the time is known); the last line is `{"total":…,"bytes":…,"cursor":…,"whole":…}` |
//! | the same with `&format=json` and, if wanted, `&pageno=…` | one JSON document as of SearXNG: `{"query":…,"number_of_results":…,"results":[{"url":…,"title":…,"content":…,"score":…,…},…],…,"cursor":…,"whole":…}` |
//! | `GET /suggest?q=…` | `["wor",["word","words"]]`: what has been typed, and its completions |
//! | `GET /opensearch.xml` | the description by which browsers add the node to their search engines; needs no token |
//! | `GET /openapi.json` | the description of all that programs may ask (OpenAPI 3.1); needs no token |
//! | `GET /document?id=…` | the document, from the nodes that keep it: a page for clients that accept `text/html`, and `{"id":…,"url":…,"title":…,"text":…,"publishers":[…],"trusted":…}` for all others |
//! | `POST /block`, `/unblock` and `/purge`, a body of what is meant ([`Block`](crate::node::Block)), one in each line, at most 4096 lines | `{"changed":…}`: how many were not blocked, or were blocked, before; for `/purge` `{"removed":…}`: the number of documents and postings |
//! | `POST /trust` and `/untrust`, a body of names of peers (`12D3…`), one in each line, at most 4096 lines | `{"changed":…}`: how many were not trusted, or were trusted, before |
//! | `GET /trusted` | `{"trusted":[…]}`: the publishers whom the owner trusts |
//! | `GET /blocked` | `{"blocked":[…]}`: what is blocked |
//! | `POST /invite` | `{"invitation":…}`: the line by which others join the node's private network, or a page with it for clients that accept `text/html` |
//! | `GET /open?url=…`, the `file:` URL of a result | the file, if its document is published from a watched directory; for clients with the token or, if there is none, on this machine |
//! | `POST /snapshot`, for the same clients | for each file of a copy of the node a line `{"file":…,"bytes":…}` and its bytes; the last line is `{"done":true}` |
//! | `GET /login`, and `POST /login` with `token=…&to=…` | a form for the token, and the cookie by which a browser is known then |
//! | `GET /healthz` | `{"ok":true,"whole":…,"peers":…}`, or status 503 and `{"ok":false,"error":"…"}`; needs no token |
//! | `GET /robots.txt` | that crawlers may fetch nothing; needs no token |
//! | `GET /status` | what the node is and holds: a page for clients that accept `text/html`, JSON for all others |
//! | `GET /metrics` | the figures of `/status`, for Prometheus |
//!
//! Every error is `{"error":"…"}` with a sentence that says what to do, and has a status from 400 on. If an error
//! occurs after the first line of an answer was sent, the error is the last line. If the last line of an answer is
//! missing, the answer was cut off.
//!
//! The handlers call the [`Node`](crate::node::Node) itself, or what stands for it in a test ([`Backend`]).
//! [`MAX_SEARCHES`] and [`MAX_PUBLISHES`] limit the concurrent work, [`MAX_LINE`] and [`BATCH_BYTES`] the memory of a
//! request, and [`MAX_CONNECTIONS`], [`HEAD_TIME`], `BODY_TIME` and `STALL_TIME` the connections and their time.
//! Requests without the token, if there is one, and from pages of other sites are refused, see `guard`. A browser gets
//! errors as pages.

mod answer;
mod arranged;
mod backend;
mod block;
mod client;
mod connections;
mod error;
mod estimate;
mod guard;
mod health;
mod invite;
mod lines;
mod login;
mod open;
mod openapi;
mod opensearch;
mod options;
mod page;
mod publish;
mod search;
mod search_json;
mod search_lines;
mod shown;
mod shown_url;
mod snapshot;
mod status;
mod step;
mod suggest;
mod token;
mod unpublish;
mod wanted;

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use furui_search::Wants;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::watched::Watched;
use error::ApiError;
use guard::Gate;

pub use backend::Backend;
pub use connections::{HEAD_TIME, MAX_CONNECTIONS};
pub use options::ServeOptions;
pub use publish::{PublishLine, PublishSums, read_line};
pub use search_lines::{SearchLine, Summary};
pub use shown::{SNIPPET, Shown, TITLE};
pub use shown_url::ShownUrl;
pub use snapshot::SnapshotLine;
pub use step::Step;
pub use token::{Token, TokenError};

/// The maximum number of searches that a node runs for its HTTP clients at the same time. The value is a choice, not a
/// measurement.
pub const MAX_SEARCHES: usize = 64;
/// The maximum number of HTTP requests that publish or withdraw at the same time. The value is a choice, not a
/// measurement.
pub const MAX_PUBLISHES: usize = 8;
/// The maximum number of copies of a node that are made and sent at the same time. Chosen: they are in one directory.
const MAX_SNAPSHOTS: usize = 1;
/// The maximum length of a line of a published body, in bytes. It suffices for the longest document with all of its
/// characters escaped.
pub const MAX_LINE: usize = 8 << 20;
/// The maximum number of documents of a request that are published in one batch. The value is a choice, not a
/// measurement.
pub const BATCH_DOCUMENTS: usize = 256;
/// The size in bytes at which a batch of a request's documents is published. Chosen: the size of a few messages.
pub const BATCH_BYTES: usize = 1 << 20;
/// The maximum number of lines in a request's body of ids, of URLs, or of entries to block. The value is a choice, not
/// a measurement.
pub const MAX_IDS: usize = 4096;
/// The maximum length of a request's body of URLs or of entries to block, in bytes. The value is a choice, not a
/// measurement.
const MAX_BODY: usize = 1 << 20;
/// The maximum length of the fields of the login form, in bytes. Chosen: more than a token and the URL of a page have.
const MAX_FORM: usize = 16 << 10;
/// The maximum number of results of one search. The cursor in the last line of the answer continues the search. The
/// value is a choice, not a measurement.
pub const MAX_LIMIT: u32 = 1_000;
/// The default number of results of a search. Chosen: one page of results.
const DEFAULT_LIMIT: u32 = 10;
/// The maximum pause of a client while it sends documents to publish, and the maximum time for it to send any other
/// body. Chosen: a client runs on the node's own machine or near it.
const BODY_TIME: Duration = Duration::from_secs(10);
/// The maximum time without progress of a node while it answers a search or publishes a batch. Chosen: longer than all
/// time limits between nodes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Serves the HTTP interface until the future `until` is ready. Requests in progress then have a second to finish.
pub async fn serve(listener: TcpListener, node: impl Backend, options: ServeOptions, until: impl Future<Output = ()>) {
    connections::run(listener, router(node, options), until).await;
}

/// The state that all handlers of HTTP requests share.
#[derive(Clone)]
struct Face<N> {
    node: N,
    /// The coding of sets for searches that do not state one.
    wants: Wants,
    token: Option<Token>,
    watched: Option<Watched>,
    searches: Arc<Semaphore>,
    publishes: Arc<Semaphore>,
    snapshots: Arc<Semaphore>,
}

fn router<N: Backend>(node: N, options: ServeOptions) -> Router {
    let ServeOptions { wants, token, hosts, watched } = options;
    let gate = Arc::new(Gate { token: token.clone(), hosts });
    let face = Face {
        node,
        wants,
        token,
        watched,
        searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
        publishes: Arc::new(Semaphore::new(MAX_PUBLISHES)),
        snapshots: Arc::new(Semaphore::new(MAX_SNAPSHOTS)),
    };
    Router::new()
        .merge(page::routes())
        .route("/publish", post(publish::publish::<N>))
        .route("/wanted", post(wanted::wanted::<N>))
        .route("/unpublish", post(unpublish::unpublish::<N>))
        .route("/block", post(block::change::<N>))
        .route("/unblock", post(block::change::<N>))
        .route("/purge", post(block::change::<N>))
        .route("/blocked", get(block::list::<N>))
        .route("/invite", post(invite::invite::<N>))
        .route("/trust", post(block::trust::<N>))
        .route("/untrust", post(block::trust::<N>))
        .route("/trusted", get(block::trusted::<N>))
        .route("/search", get(search::search::<N>))
        .route("/suggest", get(suggest::suggest::<N>))
        .route("/opensearch.xml", get(opensearch::opensearch))
        .route("/openapi.json", get(openapi::openapi))
        .route("/snapshot", post(snapshot::snapshot::<N>))
        .route("/open", get(open::open::<N>))
        .route("/login", get(login::form::<N>).post(login::login::<N>).layer(DefaultBodyLimit::max(MAX_FORM)))
        .route("/healthz", get(health::health::<N>))
        .route("/robots.txt", get(health::robots))
        .route("/status", get(status::status::<N>))
        .route("/metrics", get(status::metrics::<N>))
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(async || ApiError::method())
        .layer(middleware::from_fn_with_state(gate, guard::guard))
        .with_state(face)
}

/// Runs a call of the node to completion even if the client disconnects, and waits for its result at most for
/// [`PATIENCE`].
async fn run<T, E>(call: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Display + Send + 'static,
{
    let done = timeout(PATIENCE, tokio::spawn(call)).await.map_err(|_| ApiError::slow())?;
    done.map_err(|_| ApiError::closing())?.map_err(ApiError::node)
}

/// Reads the lines of a request's body. If it is longer than `most` bytes, has more than [`MAX_IDS`] lines, is not
/// UTF-8 or was cut off, the error contains `rule`.
async fn body_lines(body: Body, most: usize, rule: &str) -> Result<Vec<String>, ApiError> {
    let body = timeout(BODY_TIME, to_bytes(body, most)).await.map_err(|_| ApiError::late())?;
    let lines = |body: &[u8]| Some(str::from_utf8(body).ok()?.lines().map(str::to_owned).collect());
    let lines = body.ok().and_then(|body| lines(&body)).filter(|lines: &Vec<String>| lines.len() <= MAX_IDS);
    lines.ok_or_else(|| ApiError::invalid(rule))
}
