use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::{AsyncRead, AsyncWrite};
use serde::Serialize;

/// The traffic of a node since its start.
///
/// The bytes of requests and answers are counted exactly. The bytes on the wire are all bytes of the transport,
/// including encryption and multiplexing. The difference is the overhead of these layers and of routing: look-ups,
/// joining, and keeping connections alive. Users see only the bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// The bytes of requests and answers received, framing included.
    #[serde(skip)]
    pub exchange_in: u64,
    /// The bytes of requests and answers sent, framing included.
    #[serde(skip)]
    pub exchange_out: u64,
    /// The bytes received from the transport, with encryption, multiplexing and routing.
    #[serde(rename = "received")]
    pub wire_in: u64,
    /// The bytes sent to the transport, with encryption, multiplexing and routing.
    #[serde(rename = "sent")]
    pub wire_out: u64,
    /// The number of look-ups of a key's nearest nodes that were answered from the routing table.
    #[serde(skip)]
    pub known: u64,
    /// The number of look-ups of a key's nearest nodes that were answered from the cached result of an earlier one.
    #[serde(skip)]
    pub cached: u64,
    /// The number of look-ups of a key's nearest nodes that sent requests to other nodes.
    #[serde(skip)]
    pub asked: u64,
    /// The number of requests by other nodes that were refused because of a quota.
    #[serde(skip)]
    pub refused: u64,
}

/// The counters of this node.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<Counters>);

impl Tally {
    pub(super) fn add(&self, add: impl FnOnce(&mut Counters)) {
        add(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The present values.
    pub(super) fn read(&self) -> Counters {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that counts its bytes below the encryption layer.
pub(super) struct Counted<S> {
    stream: S,
    tally: Arc<Tally>,
}

impl<S> Counted<S> {
    pub(super) fn new(stream: S, tally: Arc<Tally>) -> Self {
        Self { stream, tally }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Poll::Ready(Ok(n)) = poll {
            self.tally.add(|all| all.wire_in += n as u64);
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, buf);
        if let Poll::Ready(Ok(n)) = poll {
            self.tally.add(|all| all.wire_out += n as u64);
        }
        poll
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}
