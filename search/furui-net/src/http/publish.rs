use std::collections::HashSet;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::response::Response;
use furui_search::{ContentId, PublisherKey, Record};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::lines::Lines;
use super::shown_url::check;
use super::{ApiError, BATCH_BYTES, BATCH_DOCUMENTS, BODY_TIME, Backend, Face, MAX_LINE, MAX_PUBLISHES, run};
use crate::node::{Document, Published};

/// The query parameters of `POST /publish`. `again` is true if documents that were published recently are published
/// too.
#[derive(Deserialize)]
pub(super) struct How {
    #[serde(default)]
    again: bool,
}

pub(super) async fn publish<N: Backend>(
    State(Face { node, publishes, .. }): State<Face<N>>,
    how: Result<Parameters<How>, QueryRejection>,
    body: Body,
) -> Result<Response, ApiError> {
    let Parameters(How { again }) = how.map_err(|error| ApiError::publish(error.body_text()))?;
    let permit = publishes.try_acquire_owned().map_err(|_| ApiError::busy(MAX_PUBLISHES, "publishing requests"))?;
    let (lines, response) = Lines::new();
    tokio::spawn(async move {
        let _permit = permit;
        let mut publishing = Publishing { node, again, lines, sums: PublishSums::default(), batch: Batch::default() };
        if let Err(error) = publishing.run(body).await {
            // Sending fails if the client has disconnected.
            let _ = publishing.lines.send(&error).await;
        }
    });
    Ok(response)
}

/// Parses a document, which this publisher publishes, from a line of a body: `{"url":…,"title":…,"text":…}`.
///
/// # Errors
/// A sentence that says why the line is not a document.
pub fn read_line(line: &[u8], publisher: PublisherKey) -> Result<Record, String> {
    if line.len() > MAX_LINE {
        return Err(format!("a line of more than {MAX_LINE} bytes; publish the document in parts"));
    }
    let line: Line = serde_json::from_slice(line).map_err(|error| {
        format!("not a document: {error}; write lines like {{\"url\":\"http://…\",\"title\":\"…\",\"text\":\"…\"}}")
    })?;
    check(&line.url)?;
    Ok(Record { url: line.url, title: line.title.unwrap_or_default(), text: line.text.unwrap_or_default(), publisher })
}

/// The JSON object in a line of the body: a document to publish.
#[derive(Deserialize)]
struct Line {
    url: String,
    title: Option<String>,
    text: Option<String>,
}

/// A line of the answer to `POST /publish`. The last one has `done`, or is `{"error":…}` if the request was not
/// completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PublishLine {
    /// The line of the body is not a valid document.
    Bad {
        /// The number of the line in the body of the request, from 1 on.
        line: u64,
        /// The reason that the line is not a valid document.
        error: String,
    },
    /// The totals of all batches that were published so far.
    Sums(PublishSums),
}

/// The totals for those documents of a request that have been processed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishSums {
    /// The number of documents that were processed, including those that had been published recently.
    pub documents: u64,
    /// The number of processed documents that this request published. The other ones had been published recently.
    pub new: u64,
    /// The number of published documents that replaced an earlier document under the same URL.
    pub changed: u64,
    /// The number of published documents that were stored by fewer nodes than the number of replicas that each should
    /// have.
    pub scarce: u64,
    /// The number of lines that are not valid documents.
    pub bad: u64,
    /// True in the last line of the answer, false in all others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

struct Publishing<N> {
    node: N,
    again: bool,
    lines: Lines,
    sums: PublishSums,
    batch: Batch,
}

#[derive(Default)]
struct Batch {
    documents: Vec<Document>,
    ids: HashSet<ContentId>,
    bytes: usize,
    /// The number of documents that were left out because the batch contained them already.
    repeats: u64,
}

impl<N: Backend> Publishing<N> {
    async fn run(&mut self, body: Body) -> Result<(), ApiError> {
        let mut chunks = body.into_data_stream();
        let mut splitter = Splitter::default();
        loop {
            let chunk = timeout(BODY_TIME, chunks.next()).await.map_err(|_| ApiError::late())?;
            let Some(chunk) = chunk else { break };
            let chunk = chunk
                .map_err(|error| ApiError::invalid(format_args!("the body was cut off: {error}; send it again")))?;
            let mut rest = &chunk[..];
            self.lines(std::iter::from_fn(|| splitter.next(&mut rest)).collect()).await?;
        }
        self.lines(splitter.last().into_iter().collect()).await?;
        self.flush().await?;
        self.sums.done = true;
        let PublishSums { documents, new, changed, scarce, bad, .. } = self.sums;
        tracing::info!(documents, new, changed, scarce, bad, "published");
        Ok(self.lines.send(&self.sums).await?)
    }

    /// Adds the documents in these lines to the batch, and publishes it whenever it is full.
    async fn lines(&mut self, lines: Vec<NumberedLine>) -> Result<(), ApiError> {
        if lines.is_empty() {
            return Ok(());
        }
        let publisher = self.node.publisher();
        // Parsing a megabyte and splitting it into words would block other tasks, so it runs on a blocking thread.
        let documents = tokio::task::spawn_blocking(move || {
            lines.into_iter().filter_map(|line| document(line, publisher)).collect::<Vec<_>>()
        });
        for (line, document) in documents.await.map_err(|_| ApiError::closing())? {
            match document {
                Ok(document) => {
                    self.batch.push(document);
                    if self.batch.is_full() {
                        self.flush().await?;
                        self.lines.send(&self.sums).await?;
                    }
                }
                Err(error) => {
                    self.sums.bad += 1;
                    self.lines.send(&PublishLine::Bad { line, error }).await?;
                }
            }
        }
        Ok(())
    }

    /// Publishes the batch, and sends the totals to the client.
    async fn flush(&mut self) -> Result<(), ApiError> {
        let Batch { documents, repeats, .. } = std::mem::take(&mut self.batch);
        if documents.is_empty() {
            return Ok(());
        }
        let count = documents.len() as u64 + repeats;
        let (node, again) = (self.node.clone(), self.again);
        let Published { new, changed, scarce } = tokio::select! {
            published = run(async move { node.publish(documents, again).await }) => published?,
            () = self.lines.gone() => return Err(ApiError::closing()),
        };
        self.sums.documents += count;
        self.sums.new += new;
        self.sums.changed += changed;
        self.sums.scarce += scarce;
        Ok(())
    }
}

impl Batch {
    fn push(&mut self, document: Document) {
        if self.ids.insert(document.id) {
            self.bytes += document.record.len();
            self.documents.push(document);
        } else {
            self.repeats += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.documents.len() == BATCH_DOCUMENTS || self.bytes >= BATCH_BYTES
    }
}

/// A line with its number, from 1 on. A line that is too long is cut to one byte more than [`MAX_LINE`].
type NumberedLine = (u64, Vec<u8>);

/// Parses the document in a line. Returns the line's number in the body, and the document or the reason that it is
/// invalid; `None` if the line is blank.
fn document((number, line): NumberedLine, publisher: PublisherKey) -> Option<(u64, Result<Document, String>)> {
    let is_blank = line.len() <= MAX_LINE && line.trim_ascii().is_empty();
    (!is_blank).then(|| (number, read(&line, publisher)))
}

/// Parses and checks a document in a line.
pub(super) fn read(line: &[u8], publisher: PublisherKey) -> Result<Document, String> {
    let record = read_line(line, publisher)?;
    let document = Document::new(&record).map_err(|error| error.to_string())?;
    // A document whose only word is its host is not worth publishing.
    if furui_search::words(&record.title).chain(furui_search::words(&record.text)).next().is_none() {
        return Err("a document without words could never be found; give it a title or a text".into());
    }
    Ok(document)
}

/// Splits the chunks of a body into lines.
#[derive(Default)]
struct Splitter {
    line: Vec<u8>,
    /// The number of lines of the body before the current one.
    before: u64,
}

impl Splitter {
    /// Removes the next line from the front of `rest`, and returns it with its number in the body. If `rest` has no
    /// line end, all of it is buffered as the beginning of a line, and `None` is returned.
    fn next(&mut self, rest: &mut &[u8]) -> Option<NumberedLine> {
        let end = rest.iter().position(|&byte| byte == b'\n');
        let piece = &rest[..end.unwrap_or(rest.len())];
        self.line.extend_from_slice(&piece[..piece.len().min(MAX_LINE + 1 - self.line.len())]);
        *rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
        end.map(|_| self.take())
    }

    /// Returns the last line if the body does not end with a line end.
    fn last(mut self) -> Option<NumberedLine> {
        (!self.line.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> NumberedLine {
        self.before += 1;
        (self.before, std::mem::take(&mut self.line))
    }
}
