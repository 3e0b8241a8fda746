use furui_net::http::{BATCH_BYTES, BATCH_DOCUMENTS, PublishLine, PublishSums};
use furui_search::{ContentId, Record};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::client::Client;

/// Documents that are published in one request.
#[derive(Default)]
pub(super) struct Batch {
    documents: Vec<Document>,
    bytes: usize,
}

struct Document {
    id: ContentId,
    /// The file and line of the document, for messages.
    place: String,
    line: Vec<u8>,
}

/// The JSON form of a document in a request.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    title: &'a str,
    text: &'a str,
}

/// The JSON answer of a node to the ids of offered documents: the indices of those that it wants.
#[derive(Deserialize)]
struct Wanted {
    wanted: Vec<usize>,
}

impl Batch {
    /// Adds a document to the batch, given by its record and the record's id. `place` is its file and line, for
    /// messages.
    pub(super) fn push(&mut self, place: String, record: &Record, id: ContentId) {
        let Record { url, title, text, .. } = record;
        let line = serde_json::to_vec(&Line { url, title, text }).expect("a document has only strings for names");
        self.bytes += line.len();
        self.documents.push(Document { id, place, line });
    }

    pub(super) fn is_full(&self) -> bool {
        self.documents.len() == BATCH_DOCUMENTS || self.bytes >= BATCH_BYTES
    }

    /// Publishes the documents that the node wants, or all of them if `again` is true. Calls `bad` with the place of
    /// each document that the node refuses, and the reason.
    pub(super) fn send(
        self,
        client: &Client,
        again: bool,
        bad: impl FnMut(&str, &str) -> Result<(), Error>,
    ) -> Result<PublishSums, Error> {
        if self.documents.is_empty() {
            return Ok(PublishSums::default());
        }
        let all = self.documents.len();
        let wanted = if again { self.documents } else { self.wanted(client)? };
        let known = (all - wanted.len()) as u64;
        let sent = if wanted.is_empty() { PublishSums::default() } else { send(&wanted, client, again, bad)? };
        Ok(PublishSums { documents: sent.documents + known, ..sent })
    }

    /// Asks the node which of the batch's documents it wants, because they were not published recently, and returns
    /// these.
    fn wanted(self, client: &Client) -> Result<Vec<Document>, Error> {
        let ids: String = self.documents.iter().map(|document| format!("{}\n", document.id)).collect();
        let Wanted { wanted } = client.post("/wanted", ids.as_bytes())?.read()?;
        let mut wanted = wanted.into_iter().peekable();
        let numbered = (0..).zip(self.documents);
        Ok(numbered.filter(|(number, _)| wanted.next_if_eq(number).is_some()).map(|(_, document)| document).collect())
    }
}

fn send(
    documents: &[Document],
    client: &Client,
    again: bool,
    mut bad: impl FnMut(&str, &str) -> Result<(), Error>,
) -> Result<PublishSums, Error> {
    let mut body = Vec::with_capacity(documents.iter().map(|document| document.line.len() + 1).sum());
    for document in documents {
        body.extend_from_slice(&document.line);
        body.push(b'\n');
    }
    let mut lines = client.post(if again { "/publish?again=true" } else { "/publish" }, &body)?;
    loop {
        match lines.read()? {
            PublishLine::Bad { line, error } => {
                let document = (line as usize).checked_sub(1).and_then(|line| documents.get(line));
                bad(document.map_or("a line", |document| &document.place), &error)?;
            }
            PublishLine::Sums(sums) if sums.done => return Ok(sums),
            PublishLine::Sums(_) => {}
        }
    }
}
