//! The HTTP interface in front of a node that the test simulates, and a client that sees every byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

use crate::common::NOBODY;
use furui_net::http::{Backend, ServeOptions, serve};
use furui_net::net::Invitation;
use furui_net::node::{
    Block, Document, DocumentError, Hit, KeptDocument, NodeError, NodeStatus, PublishError, Published, SearchError,
    SearchEvent, SearchOptions,
};
use furui_search::{ContentId, Place, PublisherKey, Query, Report};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// A call of the interface, which the test answers.
pub enum Call {
    Publish {
        documents: Vec<Document>,
        again: bool,
        answer: oneshot::Sender<Result<Published, PublishError>>,
    },
    Wanted {
        ids: Vec<ContentId>,
        answer: oneshot::Sender<Result<Vec<bool>, PublishError>>,
    },
    Withdraw {
        urls: Vec<String>,
        answer: oneshot::Sender<Result<Vec<Option<Vec<PublisherKey>>>, PublishError>>,
    },
    WithdrawSome {
        answer: oneshot::Sender<Result<usize, PublishError>>,
    },
    /// The search fails if an error is sent. It ends if `error` is dropped.
    Search {
        query: Query,
        options: SearchOptions,
        events: mpsc::Sender<SearchEvent>,
        error: oneshot::Sender<SearchError>,
    },
    Document {
        id: ContentId,
        answer: oneshot::Sender<Result<KeptDocument, DocumentError>>,
    },
    Status {
        answer: oneshot::Sender<Result<NodeStatus, NodeError>>,
    },
}

/// A node that passes its calls to the test.
#[derive(Clone)]
pub struct Played(pub mpsc::Sender<Call>);

impl Played {
    async fn ask<T>(&self, call: impl FnOnce(oneshot::Sender<T>) -> Call) -> T {
        let (answer, answered) = oneshot::channel();
        assert!(self.0.send(call(answer)).await.is_ok());
        answered.await.unwrap()
    }
}

impl Backend for Played {
    async fn publish(&self, documents: Vec<Document>, again: bool) -> Result<Published, PublishError> {
        self.ask(|answer| Call::Publish { documents, again, answer }).await
    }

    async fn wanted(&self, ids: &[ContentId]) -> Result<Vec<bool>, PublishError> {
        self.ask(|answer| Call::Wanted { ids: ids.to_vec(), answer }).await
    }

    async fn withdraw(&self, urls: &[String]) -> Result<Vec<Option<Vec<PublisherKey>>>, PublishError> {
        self.ask(|answer| Call::Withdraw { urls: urls.to_vec(), answer }).await
    }

    fn publisher(&self) -> PublisherKey {
        NOBODY
    }

    async fn trust(&self, _: &[PublisherKey], _: bool) -> Result<u64, NodeError> {
        Ok(0)
    }

    fn trusted(&self) -> Vec<PublisherKey> {
        vec![]
    }

    async fn withdraw_some(&self) -> Result<usize, PublishError> {
        self.ask(|answer| Call::WithdrawSome { answer }).await
    }

    async fn search(
        &self,
        query: &Query,
        options: SearchOptions,
        events: mpsc::Sender<SearchEvent>,
    ) -> Result<(), SearchError> {
        let (error, failed) = oneshot::channel();
        let _ = self.0.send(Call::Search { query: query.clone(), options, events, error }).await;
        failed.await.map_or(Ok(()), Err)
    }

    async fn completions(&self, beginning: &str) -> Result<Vec<String>, NodeError> {
        Ok(vec![format!("{beginning}ing"), format!("{beginning}s")])
    }

    async fn document(&self, id: ContentId) -> Result<KeptDocument, DocumentError> {
        self.ask(|answer| Call::Document { id, answer }).await
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
        self.ask(|answer| Call::Status { answer }).await
    }
}

/// The address of a new HTTP interface, and the receiver of its calls.
pub async fn face() -> (SocketAddr, mpsc::Receiver<Call>) {
    face_with(ServeOptions::default()).await
}

/// As [`face`], with these options.
pub async fn face_with(options: ServeOptions) -> (SocketAddr, mpsc::Receiver<Call>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (node, calls) = mpsc::channel(8);
    tokio::spawn(serve(listener, Played(node), options, std::future::pending()));
    (address, calls)
}

/// The end of a search that found one document.
pub fn done(cursor: Option<Place>, whole: bool, report: Report) -> SearchEvent {
    SearchEvent::Done { found: 1, passed_over: vec![], cursor, whole, report: Box::new(report) }
}

/// The event of one document.
pub fn found(hit: Hit) -> SearchEvent {
    SearchEvent::Hits(vec![hit])
}

/// A request that has been sent.
pub struct Asked(BufReader<TcpStream>);

impl Asked {
    pub fn new(address: SocketAddr, request: &str, headers: &str, body: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let head = format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        Self(BufReader::new(stream))
    }

    /// The status and the body of the complete answer.
    pub fn answer(self) -> (u16, String) {
        let (status, _, body) = self.whole();
        (status, body)
    }

    /// Status, headers and body.
    pub fn whole(mut self) -> (u16, String, String) {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), if head.contains("chunked") { unchunked(body) } else { body.to_owned() })
    }

    /// Everything that has arrived up to `end`.
    pub fn until(&mut self, end: &str) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(end.as_bytes()) {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
        }
        String::from_utf8(bytes).unwrap()
    }

    /// The next line of the answer, which is JSON.
    pub fn line(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the answer has ended");
            if line.starts_with('{') {
                return serde_json::from_str(&line).unwrap();
            }
        }
    }
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        text += &rest[..length];
        body = &rest[length + 2..];
    }
    text
}

pub const HOST: &str = "Host: 127.0.0.1:80\r\n";

pub fn get(address: SocketAddr, path: &str) -> Asked {
    Asked::new(address, &format!("GET {path}"), HOST, b"")
}
