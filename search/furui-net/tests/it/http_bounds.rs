//! The HTTP interface against clients that send half a request, take no answer, or come in crowds. The clock jumps when
//! nothing happens, so no test waits for a limit of time.

use std::io::ErrorKind;
use std::net::SocketAddr;

use crate::face::{Call, Played};
use furui_net::http::{HEAD_TIME, MAX_CONNECTIONS, ServeOptions, serve};
use furui_net::node::NodeStatus;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

const REQUEST: &str = "GET /status HTTP/1.1\r\nHost: 127.0.0.1:80\r\nConnection: close\r\n\r\n";

/// An HTTP interface in front of a node that only reports an empty state.
struct Face {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Face {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (node, mut calls) = mpsc::channel(8);
        tokio::spawn(async move {
            while let Some(call) = calls.recv().await {
                if let Call::Status { answer } = call {
                    answer.send(Ok(NodeStatus::default())).ok();
                }
            }
        });
        let (end, ended) = oneshot::channel::<()>();
        let served =
            tokio::spawn(serve(listener, Played(node), ServeOptions::default(), async move { drop(ended.await) }));
        Self { address, end, served }
    }

    /// A connection on which this text has been sent.
    async fn send(&self, text: &str) -> TcpStream {
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.writable().await.unwrap();
        assert_eq!(stream.try_write(text.as_bytes()).unwrap(), text.len());
        stream
    }
}

/// Everything up to the end of the connection.
async fn rest(stream: &TcpStream) -> String {
    let mut all = vec![];
    loop {
        stream.readable().await.unwrap();
        let mut bytes = [0; 4096];
        match stream.try_read(&mut bytes) {
            Ok(0) => return String::from_utf8(all).unwrap(),
            Ok(read) => all.extend(&bytes[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return String::from_utf8(all).unwrap(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn half_a_head_is_not_waited_for_without_end() {
    let face = Face::new().await;
    let began = Instant::now();
    for text in ["", "GET /sta", "GET /status HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"] {
        let half = face.send(text).await;
        rest(&half).await;
    }
    assert!(began.elapsed() < 4 * HEAD_TIME);
}

#[tokio::test(start_paused = true)]
async fn half_a_body_is_not_waited_for_without_end() {
    let face = Face::new().await;
    for path in ["/publish", "/wanted", "/unpublish"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 1000\r\n\r\n{{");
        let half = face.send(&head).await;
        let answer = rest(&half).await;
        assert!(answer.contains("send it again"), "{path}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_connections_waits_and_others_are_answered_when_it_is_over() {
    let face = Face::new().await;
    let mut crowd = vec![];
    for _ in 0..MAX_CONNECTIONS {
        crowd.push(face.send("GET /sta").await);
    }
    let other = face.send(REQUEST).await;
    assert!(rest(&other).await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_end_does_not_wait_for_what_is_half_sent() {
    let face = Face::new().await;
    let mut half = vec![];
    for text in ["", "GET /sta", "POST /publish HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 1000\r\n\r\n{"] {
        half.push(face.send(text).await);
    }
    // All of them have been accepted when this is answered.
    rest(&face.send(REQUEST).await).await;
    let began = std::time::Instant::now();
    face.end.send(()).unwrap();
    face.served.await.unwrap();
    // The limit is a second; the clients' own limits of time are ten.
    assert!(began.elapsed() < HEAD_TIME / 2, "{:?}", began.elapsed());
    for half in half {
        rest(&half).await;
    }
    assert!(TcpStream::connect(face.address).await.is_err());
}
