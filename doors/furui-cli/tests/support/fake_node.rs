//! A node in the process of the tests: the real HTTP interface in front of an index in memory.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use furui_node::furui_net::http::{Backend, ServeOptions, serve};
use furui_node::furui_net::net::Invitation;
use furui_node::furui_net::node::{
    Block, Document, DocumentError, Hit, KeptDocument, NodeError, NodeStatus, PublishError, Published, SearchError,
    SearchEvent, SearchOptions,
};
use furui_node::furui_search::{ContentId, Fit, Place, PublisherKey, Query, Record, Report, Showings};
use furui_node::tokio::net::TcpListener;
use furui_node::tokio::runtime::{Builder, Runtime};
use furui_node::tokio::sync::mpsc;

/// The key under which the node publishes.
pub const KEY: PublisherKey = PublisherKey::new([7; PublisherKey::BYTES]);

/// A node that answers over HTTP. It stops when the value is dropped.
pub struct FakeNode {
    address: SocketAddr,
    index: Index,
    _runtime: Runtime,
}

/// The documents of a node.
#[derive(Clone, Default)]
struct Index(Arc<Mutex<BTreeMap<ContentId, Document>>>);

impl FakeNode {
    pub fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let index = Index::default();
        runtime.spawn(serve(listener, index.clone(), ServeOptions::default(), std::future::pending()));
        Self { address, index, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The records that were published, by URL.
    pub fn records(&self) -> Vec<Record> {
        let documents = self.index.lock();
        let mut records: Vec<_> =
            documents.values().map(|document| Record::decode(&document.record).unwrap()).collect();
        records.sort_by(|a, b| a.url.cmp(&b.url));
        records
    }
}

impl Index {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ContentId, Document>> {
        self.0.lock().unwrap()
    }
}

impl Backend for Index {
    async fn publish(&self, published: Vec<Document>, _: bool) -> Result<Published, PublishError> {
        let mut documents = self.lock();
        let have = |it: &&Document, it_has: &str| it.words.iter().any(|(word, _)| word == it_has);
        let scarce = published.iter().filter(|it| have(it, "scarce")).count() as u64;
        let refused = published.iter().any(|it| have(&it, "refuseme"));
        let new = published.into_iter().filter(|it| documents.insert(it.id, it.clone()).is_none()).count() as u64;
        let why = "the disk is full; make room".into();
        if refused { Err(PublishError::Storage { why }) } else { Ok(Published { new, changed: 0, scarce }) }
    }

    async fn wanted(&self, ids: &[ContentId]) -> Result<Vec<bool>, PublishError> {
        let documents = self.lock();
        Ok(ids.iter().map(|id| !documents.contains_key(id)).collect())
    }

    async fn withdraw(&self, urls: &[String]) -> Result<Vec<Option<Vec<PublisherKey>>>, PublishError> {
        let mut documents = self.lock();
        let mut withdraw = |url: &String| {
            let before = documents.len();
            documents.retain(|_, document| Record::decode(&document.record).unwrap().url != *url);
            // Of the URLs with this word, somebody else has published the same text.
            let others = if url.contains("shared") { vec![KEY] } else { vec![] };
            (documents.len() < before).then_some(others)
        };
        Ok(urls.iter().map(&mut withdraw).collect())
    }

    fn publisher(&self) -> PublisherKey {
        KEY
    }

    async fn trust(&self, publishers: &[PublisherKey], _: bool) -> Result<u64, NodeError> {
        Ok(publishers.len() as u64)
    }

    fn trusted(&self) -> Vec<PublisherKey> {
        vec![KEY]
    }

    async fn withdraw_some(&self) -> Result<usize, PublishError> {
        let mut documents = self.lock();
        let some: Vec<ContentId> = documents.keys().take(3).copied().collect();
        some.iter().for_each(|id| drop(documents.remove(id)));
        Ok(some.len())
    }

    async fn search(
        &self,
        query: &Query,
        options: SearchOptions,
        events: mpsc::Sender<SearchEvent>,
    ) -> Result<(), SearchError> {
        let clauses = query.clauses();
        let (fit, showings) = (Fit::new(clauses).unwrap(), Showings::new(clauses).unwrap());
        let place = |id| Place { score: Place::ONE, id };
        let records: Vec<(Place, Record)> = (self.lock().values())
            .map(|document| (place(document.id), Record::decode(&document.record).unwrap()))
            .filter(|(place, record)| options.after.is_none_or(|after| *place > after) && fit.fits(record))
            .collect();
        let limit = usize::try_from(options.limit).unwrap();
        let hits = records.iter().take(limit).map(|(place, record)| Hit::new(*place, showings.of(record)));
        let hits: Vec<Hit> = hits.collect();
        let cursor = records.get(limit).map(|_| records[limit - 1].0);
        let report = Box::new(Report { show_sent_bytes: 10, show_back_bytes: 20, ..Report::default() });
        let found = hits.len() as u64;
        // Sending fails if the client has gone.
        if found > 0 {
            let _ = events.send(SearchEvent::Hits(hits)).await;
        }
        let _ = events.send(SearchEvent::Done { found, passed_over: vec![], cursor, whole: true, report }).await;
        Ok(())
    }

    async fn completions(&self, _: &str) -> Result<Vec<String>, NodeError> {
        Ok(vec![])
    }

    async fn document(&self, id: ContentId) -> Result<KeptDocument, DocumentError> {
        Err(DocumentError::Unknown(id))
    }

    async fn block(&self, _: &[Block], _: bool) -> Result<u64, NodeError> {
        Ok(0)
    }

    async fn purge(&self, _: &[Block]) -> Result<u64, NodeError> {
        Ok(0)
    }

    fn blocked(&self) -> Vec<Block> {
        vec![]
    }

    fn invitation(&self) -> Option<Invitation> {
        None
    }

    async fn snapshot(&self) -> Result<PathBuf, NodeError> {
        Err(NodeError::Stopped)
    }

    async fn status(&self) -> Result<NodeStatus, NodeError> {
        Ok(NodeStatus { peer: KEY.to_string(), ..NodeStatus::default() })
    }
}
