//! A node for tests: the real HTTP interface in front of an index in memory.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use furui_net::http::{Call, Document, Event, Hit, Published, Refused, Status, Step, Summary, serve};
use furui_search::{ContentId, Fit, Place, Record, Showings};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// A node that answers over HTTP. It ends when the value is dropped.
pub struct FakeNode {
    address: SocketAddr,
    documents: Arc<Mutex<BTreeMap<ContentId, Document>>>,
    _runtime: Runtime,
}

impl FakeNode {
    pub fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (node, calls) = mpsc::channel(8);
        let documents = Arc::default();
        runtime.spawn(serve(listener, node, std::future::pending()));
        runtime.spawn(answer(calls, Arc::clone(&documents)));
        Self { address, documents, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The records that were published, by URL.
    pub fn records(&self) -> Vec<Record> {
        let documents = self.documents.lock().unwrap();
        let mut records: Vec<_> =
            documents.values().map(|document| Record::decode(&document.record).unwrap()).collect();
        records.sort_by(|a, b| a.url.cmp(&b.url));
        records
    }
}

async fn answer(mut calls: mpsc::Receiver<Call>, documents: Arc<Mutex<BTreeMap<ContentId, Document>>>) {
    while let Some(call) = calls.recv().await {
        match call {
            Call::Unpublish { urls, answer } => {
                let mut documents = documents.lock().unwrap();
                let mut withdraw = |url: &String| {
                    let before = documents.len();
                    documents.retain(|_, document| Record::decode(&document.record).unwrap().url != *url);
                    documents.len() < before
                };
                let _ = answer.send(Ok(urls.iter().map(&mut withdraw).collect()));
            }
            Call::UnpublishSome { answer } => {
                let mut documents = documents.lock().unwrap();
                let some: Vec<ContentId> = documents.keys().take(3).copied().collect();
                some.iter().for_each(|id| drop(documents.remove(id)));
                let _ = answer.send(Ok(some.len()));
            }
            Call::Wanted { ids, answer } => {
                let documents = documents.lock().unwrap();
                let _ = answer.send(Ok(ids.iter().map(|id| !documents.contains_key(id)).collect()));
            }
            Call::Publish { documents: published, answer, .. } => {
                let mut documents = documents.lock().unwrap();
                let refused =
                    published.iter().any(|document| document.words.iter().any(|(word, _)| word == "refuseme"));
                let scarce = published.iter().filter(|it| it.words.iter().any(|(word, _)| word == "scarce")).count();
                let new = published.into_iter().filter(|it| documents.insert(it.id, it.clone()).is_none()).count();
                let refusal = Refused { error: "the disk is full; make room".into() };
                let published = Published { new: new as u64, changed: 0, scarce: scarce as u64 };
                let _ = answer.send(if refused { Err(refusal) } else { Ok(published) });
            }
            Call::Search { asked, events } => {
                let clauses = asked.query.clauses();
                let (fit, showings) = (Fit::new(clauses).unwrap(), Showings::new(clauses).unwrap());
                let fits = |document: &&Document| {
                    asked.cursor.is_none_or(|cursor| document.id > cursor.id)
                        && fit.fits(&Record::decode(&document.record).unwrap())
                };
                let found: Vec<Document> = documents.lock().unwrap().values().filter(fits).cloned().collect();
                let shown = &found[..found.len().min(asked.limit as usize)];
                if asked.explain {
                    let _ = events
                        .send(Event::Step(Step { step: "looked up".into(), sent: 10, received: 20, done: None }))
                        .await;
                }
                for document in shown {
                    let record = Record::decode(&document.record).unwrap();
                    let _ = events.send(Event::Hit(Hit::new(document.id, showings.of(&record), 1.0))).await;
                }
                let cursor = (shown.len() < found.len()).then(|| Place::by_id(shown[shown.len() - 1].id));
                let end = Summary { total: shown.len() as u64, bytes: 30, cursor, whole: true };
                let _ = events.send(Event::End(end)).await;
            }
            Call::Block { .. } | Call::Blocked { .. } => {}
            Call::Status { answer } => {
                let documents = documents.lock().unwrap().len() as u64;
                let _ = answer.send(Status { documents, ..Status::default() });
            }
        }
    }
}
