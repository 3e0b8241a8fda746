use std::path::PathBuf;

use furui_search::{ContentId, PublisherKey, Query};
use tokio::sync::mpsc;

use crate::net::Invitation;
use crate::node::{
    Block, Document, DocumentError, KeptDocument, Node, NodeError, NodeStatus, PublishError, Published, SearchError,
    SearchEvent, SearchOptions,
};

/// The node behind the HTTP interface: a [`Node`], or a test double. Each method behaves like the method of [`Node`]
/// with the same name. The interface completes a call even if the client has disconnected; only a search stops then,
/// because the receiver of its events is dropped.
pub trait Backend: Clone + Send + Sync + 'static {
    /// Publishes at most [`BATCH_DOCUMENTS`](super::BATCH_DOCUMENTS) documents, all different.
    fn publish(
        &self,
        documents: Vec<Document>,
        again: bool,
    ) -> impl Future<Output = Result<Published, PublishError>> + Send;
    /// For each of at most [`MAX_IDS`](super::MAX_IDS) documents, returns true unless it was published recently.
    fn wanted(&self, ids: &[ContentId]) -> impl Future<Output = Result<Vec<bool>, PublishError>> + Send;
    /// Withdraws the documents that were published under at most [`MAX_IDS`](super::MAX_IDS) URLs.
    fn withdraw(
        &self,
        urls: &[String],
    ) -> impl Future<Output = Result<Vec<Option<Vec<PublisherKey>>>, PublishError>> + Send;
    /// Withdraws a part of all published documents.
    fn withdraw_some(&self) -> impl Future<Output = Result<usize, PublishError>> + Send;
    /// Searches for at most [`MAX_LIMIT`](super::MAX_LIMIT) documents.
    fn search(
        &self,
        query: &Query,
        options: SearchOptions,
        events: mpsc::Sender<SearchEvent>,
    ) -> impl Future<Output = Result<(), SearchError>> + Send;
    /// Completes the beginning of a word.
    fn completions(&self, beginning: &str) -> impl Future<Output = Result<Vec<String>, NodeError>> + Send;
    /// Fetches a document from the nodes that keep it.
    fn document(&self, id: ContentId) -> impl Future<Output = Result<KeptDocument, DocumentError>> + Send;
    /// Blocks at most [`MAX_IDS`](super::MAX_IDS) peers, networks, sites and words, or unblocks them.
    fn block(&self, blocks: &[Block], add: bool) -> impl Future<Output = Result<u64, NodeError>> + Send;
    /// Removes the stored data of at most [`MAX_IDS`](super::MAX_IDS) peers, networks, sites and words.
    fn purge(&self, blocks: &[Block]) -> impl Future<Output = Result<u64, NodeError>> + Send;
    /// The key under which the node publishes.
    fn publisher(&self) -> PublisherKey;
    /// Adds at most [`MAX_IDS`](super::MAX_IDS) publishers to those whom the owner trusts, or removes them.
    fn trust(&self, publishers: &[PublisherKey], add: bool) -> impl Future<Output = Result<u64, NodeError>> + Send;
    /// Returns the publishers whom the owner trusts.
    fn trusted(&self) -> Vec<PublisherKey>;
    /// Returns all blocked peers, networks, sites and words.
    fn blocked(&self) -> Vec<Block>;
    /// The invitation into the node's private network; `None` in the open one.
    fn invitation(&self) -> Option<Invitation>;
    /// Copies the node's files into a directory, and returns its path.
    fn snapshot(&self) -> impl Future<Output = Result<PathBuf, NodeError>> + Send;
    /// The state of the node.
    fn status(&self) -> impl Future<Output = Result<NodeStatus, NodeError>> + Send;
}

impl Backend for Node {
    async fn publish(&self, documents: Vec<Document>, again: bool) -> Result<Published, PublishError> {
        self.publish(documents, again).await
    }

    async fn wanted(&self, ids: &[ContentId]) -> Result<Vec<bool>, PublishError> {
        self.wanted(ids)
    }

    async fn withdraw(&self, urls: &[String]) -> Result<Vec<Option<Vec<PublisherKey>>>, PublishError> {
        self.withdraw(urls).await
    }

    async fn withdraw_some(&self) -> Result<usize, PublishError> {
        self.withdraw_some().await
    }

    async fn search(
        &self,
        query: &Query,
        options: SearchOptions,
        events: mpsc::Sender<SearchEvent>,
    ) -> Result<(), SearchError> {
        self.search(query, options, events).await
    }

    async fn completions(&self, beginning: &str) -> Result<Vec<String>, NodeError> {
        self.completions(beginning).await
    }

    async fn document(&self, id: ContentId) -> Result<KeptDocument, DocumentError> {
        self.document(id).await
    }

    async fn block(&self, blocks: &[Block], add: bool) -> Result<u64, NodeError> {
        self.block(blocks, add).await
    }

    async fn purge(&self, blocks: &[Block]) -> Result<u64, NodeError> {
        self.purge(blocks).await
    }

    fn publisher(&self) -> PublisherKey {
        self.publisher()
    }

    async fn trust(&self, publishers: &[PublisherKey], add: bool) -> Result<u64, NodeError> {
        self.trust(publishers, add)
    }

    fn trusted(&self) -> Vec<PublisherKey> {
        self.trusted()
    }

    fn blocked(&self) -> Vec<Block> {
        self.blocked()
    }

    fn invitation(&self) -> Option<Invitation> {
        self.invitation()
    }

    async fn snapshot(&self) -> Result<PathBuf, NodeError> {
        self.snapshot().await
    }

    async fn status(&self) -> Result<NodeStatus, NodeError> {
        self.status().await
    }
}
