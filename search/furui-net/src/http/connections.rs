//! Serves HTTP connections with limits on their number, on the time for the head of a request, and on the time without
//! progress.

use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::client::ClientAddress;

/// The maximum number of open HTTP connections. Further ones wait to be accepted. Chosen: more than the requests that
/// are answered at the same time.
pub const MAX_CONNECTIONS: usize = 256;
/// The maximum time for the head of a request to arrive, and for which an idle connection is kept open. Chosen: a
/// client runs on the node's own machine or near it.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
/// The maximum time for which a client may read nothing of an answer. Chosen: three times as long as a head may take.
const STALL_TIME: Duration = Duration::from_secs(30);
/// The maximum time for which the shutdown waits for requests in progress before all connections are closed. The value
/// is a choice, not a measurement.
const CLOSING: Duration = Duration::from_secs(1);
/// The pause after accepting a connection has failed, for example because the process has too many open files. The
/// value is a choice, not a measurement.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Serves `router` until the future `until` is ready. Then no more requests are accepted, and those in progress have
/// the time [`CLOSING`] to finish before they are aborted.
pub(super) async fn run(listener: TcpListener, router: Router, until: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let (closing, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut until = pin!(until);
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
            loop {
                match listener.accept().await {
                    Ok((stream, client)) => return (stream, client.ip(), place),
                    // Too many files may be open, or the client may have disconnected already. The server continues in
                    // both cases.
                    Err(_) => sleep(ACCEPT_AGAIN).await,
                }
            }
        };
        let (stream, client, place) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut until => break,
        };
        // Without Nagle's algorithm, each line of an answer is sent at once, even if the client has not acknowledged
        // the line before it.
        let _ = stream.set_nodelay(true);
        let (router, closing) = (router.clone(), closing.subscribe());
        connections.spawn(async move {
            serve(stream, client, router, closing).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    closing.send_replace(true);
    // Dropping the set aborts the remaining tasks.
    let _ = timeout(CLOSING, async { while connections.join_next().await.is_some() {} }).await;
}

async fn serve(stream: TcpStream, client: IpAddr, router: Router, mut closing: watch::Receiver<bool>) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let stream = TokioIo::new(Moving { stream, stalled: Box::pin(sleep(STALL_TIME)), is_waiting: false });
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ClientAddress(client));
        router.call(request)
    });
    let mut connection = pin!(builder.serve_connection(stream, service));
    // An error concerns only this connection, which then ends.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closing.wait_for(|closing| *closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A connection on which a write fails if the client reads nothing for [`STALL_TIME`].
struct Moving {
    stream: TcpStream,
    /// The timer at whose end a pending write fails.
    stalled: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl Moving {
    /// Makes a write fail if it has been pending for too long.
    fn check<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.is_waiting = false;
            return poll;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.stalled.as_mut().reset(Instant::now() + STALL_TIME);
        }
        ready!(self.stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Moving {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Moving {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check(cx, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.check(cx, poll)
    }
}
