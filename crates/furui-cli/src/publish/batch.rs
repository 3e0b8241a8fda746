use furui::Error;
use serde::Deserialize;

use crate::node::Client;

/// How many documents are sent at a time, and after how many bytes no further one is added.
const DOCUMENTS: usize = 256;
const BYTES: usize = 1 << 20;

/// Some documents on their way.
#[derive(Default)]
pub(super) struct Batch {
    body: Vec<u8>,
    /// Where each of them comes from.
    places: Vec<String>,
}

/// What has become of them.
#[derive(Default)]
pub(super) struct Sent {
    pub(super) documents: u64,
    pub(super) new: u64,
}

/// A line of a node's answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Bad {
        line: usize,
        error: String,
    },
    Progress {
        documents: u64,
        new: u64,
        #[serde(default)]
        done: bool,
    },
}

impl Batch {
    pub(super) fn push(&mut self, place: String, line: &[u8]) {
        self.places.push(place);
        self.body.extend_from_slice(line);
        self.body.push(b'\n');
    }

    pub(super) fn is_full(&self) -> bool {
        self.places.len() == DOCUMENTS || self.body.len() >= BYTES
    }

    /// Publishes them; `bad` is told the place of each that is no document, and why.
    pub(super) fn send(
        self,
        client: &Client,
        again: bool,
        mut bad: impl FnMut(&str, &str) -> Result<(), Error>,
    ) -> Result<Sent, Error> {
        if self.places.is_empty() {
            return Ok(Sent::default());
        }
        let mut lines = client.post(if again { "/publish?again=true" } else { "/publish" }, &self.body)?;
        loop {
            let Some(line) = lines.next()? else { return Err(lines.cut_off()) };
            match serde_json::from_slice(line).map_err(|error| lines.strange(&error))? {
                Line::Bad { line, error } => {
                    let place = line.checked_sub(1).and_then(|line| self.places.get(line));
                    bad(place.map_or("a line", String::as_str), &error)?;
                }
                Line::Progress { documents, new, done: true } => return Ok(Sent { documents, new }),
                Line::Progress { .. } => {}
            }
        }
    }
}
