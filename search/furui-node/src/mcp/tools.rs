//! What the tools take and give. The comments of fields are in the schemas that clients read.

use std::fmt::Write;

use furui_net::http::MAX_LIMIT;
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::client::Client;

/// The number of results of a search that does not state one. Chosen: one page.
const DEFAULT_LIMIT: u32 = 10;

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

/// The arguments of the tool `search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The words, all of which a document must have. "a b" in quotes is a phrase, -a excludes a word, a OR b is one of
    /// both, and site:example.org is a host
    query: String,
    /// The maximum number of results
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
    /// The cursor of an earlier answer to the same query, after which this one continues
    #[serde(default)]
    cursor: Option<String>,
}

/// The arguments of the tool `fetch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// The id of a result, 40 hexadecimal digits
    id: String,
}

/// The answer of the tool `search`: a part of the node's own.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// The results, the best first
    results: Vec<Found>,
    /// Where a search for more continues; null if there are no more results
    cursor: Option<String>,
    /// What to know of the results: that no document has all words, and others were searched for
    notes: Vec<String>,
    /// False if the answer may lack something, because nodes do not answer or have not yet all that they should hold
    whole: bool,
    /// Results that are left out, because their publishers have their places
    more: Vec<LeftOut>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct LeftOut {
    publisher: String,
    documents: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Found {
    /// The id, by which the tool fetch gets the text
    id: String,
    title: String,
    url: String,
    /// The piece of the text with most words of the query
    content: String,
    /// A higher score is better
    score: f64,
}

/// The answer of the tool `fetch`.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Document {
    id: String,
    title: String,
    url: String,
    /// The whole text
    text: String,
}

/// A tool: arguments with which a node is asked.
pub trait Tool {
    type Answer: serde::de::DeserializeOwned + Serialize;

    /// Asks the node. This takes up to seconds, and blocks.
    ///
    /// # Errors
    /// The reason of the node, or that it cannot be reached.
    fn ask(&self, client: &Client) -> Result<Self::Answer, Error>;

    /// The answer as text, for models and people.
    fn text(answer: &Self::Answer) -> String;
}

impl Tool for Search {
    type Answer = Results;

    fn ask(&self, client: &Client) -> Result<Results, Error> {
        let limit = self.limit.to_string();
        let mut parameters = vec![("q", self.query.as_str()), ("format", "json"), ("limit", &limit)];
        parameters.extend(self.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        client.get("/search", &parameters)?.read()
    }

    fn text(Results { results, cursor, notes, whole, more }: &Results) -> String {
        let mut text: String = notes.iter().map(|note| format!("({note})\n\n")).collect();
        for Found { id, title, url, content, .. } in results {
            let _ = write!(text, "{title}\n{url}\n{content}\nid: {id}\n\n");
        }
        text += match results.is_empty() {
            true => "No results. Ask for fewer words, or put OR between words that mean the same.\n",
            false => "",
        };
        for LeftOut { publisher, documents } in more {
            let _ = writeln!(text, "{documents} more published by {publisher} are left out.");
        }
        if let Some(cursor) = cursor {
            let _ = writeln!(text, "There are more results, from this cursor on: {cursor}");
        }
        text += if *whole { "" } else { "The answer may lack something.\n" };
        text
    }
}

impl Tool for Fetch {
    type Answer = Document;

    fn ask(&self, client: &Client) -> Result<Document, Error> {
        client.get("/document", &[("id", &self.id)])?.read()
    }

    fn text(Document { title, url, text, .. }: &Document) -> String {
        format!("{title}\n{url}\n\n{text}\n")
    }
}
