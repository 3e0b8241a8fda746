use furui_search::{ContentId, PublisherKey, Record};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::node::versions::{self, Versions};
use crate::node::{Node, fetch};

/// A document as the nodes that keep it hold it. In JSON, it is the answer to `GET /document`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptDocument {
    /// The id of the document: the hash of its record.
    pub id: ContentId,
    /// The document's URL.
    pub url: String,
    /// The document's title; may be empty.
    pub title: String,
    /// The whole text of the document.
    pub text: String,
    /// The keys of those who have published this text under this URL, in the order of those of a
    /// [`Hit`](crate::node::Hit).
    pub publishers: Vec<PublisherKey>,
    /// True if the owner of this node trusts the first of the publishers.
    pub trusted: bool,
}

/// The reason that a document is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// The nodes that should keep the document do not have it, or know that it was withdrawn.
    #[error("no node keeps document {0}: it was withdrawn, has expired or was never published; search for it again")]
    Unknown(ContentId),
    /// No node that should keep the document has answered.
    #[error("none of the nodes that keep document {0} answers; try again in a minute")]
    Unreachable(ContentId),
    /// The site of the document is blocked, or everybody who has published its text.
    #[error(
        "document {0} is of a site or publisher that the owner of this node has blocked; `furui block` lists them, and \
         `furui unblock` lets them be shown again"
    )]
    Blocked(ContentId),
}

impl Node {
    /// Fetches a document from the nodes that keep it, with the names of all who have published its text. The id proves
    /// the document, and signatures prove its publishers.
    ///
    /// # Errors
    /// If nobody keeps the document, no keeper answers, or the owner of this node has blocked it.
    pub async fn document(&self, id: ContentId) -> Result<KeptDocument, DocumentError> {
        let (inner, ids) = (&*self.0, [id]);
        let (known, mut records) =
            tokio::join!(versions::of_same_text(inner, id), fetch::records(&inner.reputation, None, &ids));
        let record = records.found.remove(&id).and_then(|found| Record::decode(&found.record).ok());
        let Record { url, title, text, .. } = match record {
            Some(record) if !known.is_empty() => record,
            None if !records.gone.contains(&id) => return Err(DocumentError::Unreachable(id)),
            _ => return Err(DocumentError::Unknown(id)),
        };
        let mut versions = Versions::default();
        versions.decide(url.clone(), known, &inner.opinion());
        match versions.of(&url).filter(|_| !inner.blocklist.sites().have(&url)) {
            Some(decided) => {
                let (publishers, trusted) = (decided.publishers.clone(), decided.is_trusted);
                Ok(KeptDocument { id, url, title, text, publishers, trusted })
            }
            None => Err(DocumentError::Blocked(id)),
        }
    }
}
