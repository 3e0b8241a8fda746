use std::collections::VecDeque;
use std::future::{Ready, ready};
use std::iter::{Once, once};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::{AsyncRead, AsyncWrite, ready};
use libp2p::core::muxing::{StreamMuxer, StreamMuxerEvent};
use libp2p::core::upgrade::{InboundConnectionUpgrade, OutboundConnectionUpgrade, UpgradeInfo};
use yamux::{Connection, ConnectionError, Mode, Stream};

/// The maximum number of open streams of a connection. The value is a choice, not a measurement.
const MAX_STREAMS: usize = 128;
/// The size of a stream's receive window: the maximum number of unread bytes. It is the smallest window that yamux
/// allows.
const WINDOW: usize = 256 << 10;
/// The maximum number of incoming streams of a connection that wait to be accepted. The value is a choice, not a
/// measurement.
const MAX_WAITING: usize = 64;

/// Multiplexes a connection by yamux, as the crate libp2p-yamux does. That crate cannot bound the unread bytes of a
/// connection, because the windows of its streams grow up to 1 GiB. Here the windows are fixed, so a connection buffers
/// at most [`MAX_STREAMS`] times [`WINDOW`] bytes.
#[derive(Clone, Debug)]
pub(super) struct Streams;

impl Streams {
    fn muxer<C: AsyncRead + AsyncWrite + Unpin>(io: C, mode: Mode) -> Muxer<C> {
        let mut config = yamux::Config::default();
        config.set_max_num_streams(MAX_STREAMS).set_max_connection_receive_window(Some(MAX_STREAMS * WINDOW));
        Muxer { connection: Connection::new(io, config, mode), waiting: VecDeque::new(), waker: None }
    }
}

impl UpgradeInfo for Streams {
    type Info = &'static str;
    type InfoIter = Once<Self::Info>;

    fn protocol_info(&self) -> Self::InfoIter {
        once("/yamux/1.0.0")
    }
}

impl<C: AsyncRead + AsyncWrite + Send + Unpin + 'static> InboundConnectionUpgrade<C> for Streams {
    type Output = Muxer<C>;
    type Error = ConnectionError;
    type Future = Ready<Result<Self::Output, Self::Error>>;

    fn upgrade_inbound(self, io: C, _: Self::Info) -> Self::Future {
        ready(Ok(Self::muxer(io, Mode::Server)))
    }
}

impl<C: AsyncRead + AsyncWrite + Send + Unpin + 'static> OutboundConnectionUpgrade<C> for Streams {
    type Output = Muxer<C>;
    type Error = ConnectionError;
    type Future = Ready<Result<Self::Output, Self::Error>>;

    fn upgrade_outbound(self, io: C, _: Self::Info) -> Self::Future {
        ready(Ok(Self::muxer(io, Mode::Client)))
    }
}

/// A yamux connection with its streams.
///
/// The connection makes progress only while it is polled for incoming streams, so it is polled for them whenever the
/// swarm polls it. Streams that arrive before the swarm accepts them are queued.
pub(super) struct Muxer<C> {
    connection: Connection<C>,
    waiting: VecDeque<Stream>,
    /// Wakes the task that waits for an incoming stream.
    waker: Option<Waker>,
}

impl<C: AsyncRead + AsyncWrite + Unpin> Muxer<C> {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Stream, ConnectionError>> {
        self.connection.poll_next_inbound(cx).map(|next| next.unwrap_or(Err(ConnectionError::Closed)))
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin + 'static> StreamMuxer for Muxer<C> {
    type Substream = Stream;
    type Error = ConnectionError;

    fn poll_inbound(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Stream, ConnectionError>> {
        if let Some(stream) = self.waiting.pop_front() {
            return Poll::Ready(Ok(stream));
        }
        let next = self.poll_next(cx);
        if next.is_pending() {
            self.waker = Some(cx.waker().clone());
        }
        next
    }

    fn poll_outbound(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Stream, ConnectionError>> {
        self.connection.poll_new_outbound(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        self.connection.poll_close(cx)
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<StreamMuxerEvent, ConnectionError>> {
        let stream = ready!(self.poll_next(cx))?;
        // Dropping a stream resets it.
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(stream);
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
        // Further streams may be ready, so the task is polled again.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::StreamExt;
    use futures::io::{AsyncReadExt, AsyncWriteExt};
    use libp2p::core::Endpoint;
    use libp2p::core::muxing::StreamMuxerExt;
    use libp2p::core::transport::{DialOpts, ListenerId, MemoryTransport, PortUse, Transport, TransportEvent};

    use super::*;

    /// Makes the two ends of a connection in memory.
    async fn pair() -> [Muxer<impl AsyncRead + AsyncWrite + Unpin + Send + 'static>; 2] {
        let mut transport = MemoryTransport::new().boxed();
        transport.listen_on(ListenerId::next(), "/memory/0".parse().expect("an address")).expect("a free address");
        let Some(TransportEvent::NewAddress { listen_addr, .. }) = transport.next().await else { panic!("no address") };
        let options = DialOpts { role: Endpoint::Dialer, port_use: PortUse::New };
        let dial = transport.dial(listen_addr, options).expect("it listens");
        let accept = async {
            match transport.next().await {
                Some(TransportEvent::Incoming { upgrade, .. }) => upgrade.await.expect("it opens"),
                _ => panic!("nobody came"),
            }
        };
        let (here, there) = tokio::join!(dial, accept);
        [Streams::muxer(here.expect("it opens"), Mode::Client), Streams::muxer(there, Mode::Server)]
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_not_read_takes_a_window_and_no_more() {
        let [mut sender, mut receiver] = pair().await;
        let mut out = std::future::poll_fn(|cx| sender.poll_outbound_unpin(cx)).await.expect("a stream");
        let drive = |mut muxer: Muxer<_>| {
            tokio::spawn(async move { std::future::poll_fn(|cx| muxer.poll_unpin(cx)).await.map(drop) })
        };
        let _sending = drive(sender);
        // The receiver reads these bytes as fast as they arrive, which would make a window grow.
        let writing = tokio::spawn(async move {
            for _ in 0..64 {
                out.write_all(&[7; WINDOW]).await?;
            }
            // From here on, nobody reads. The paused clock advances to the time-out when no task can make progress.
            let mut written = 0;
            while let Ok(more) = tokio::time::timeout(Duration::from_secs(1), out.write(&[7; 1 << 14])).await {
                written += more?;
            }
            std::io::Result::Ok(written)
        });
        let mut stream = std::future::poll_fn(|cx| receiver.poll_inbound_unpin(cx)).await.expect("a stream");
        let _receiving = drive(receiver);
        let mut bytes = vec![0; 64 * WINDOW];
        stream.read_exact(&mut bytes).await.expect("all of it");
        let unread = writing.await.expect("no panic").expect("the connection is open");
        // The in-memory pipe between the two ends, and a frame that is being sent, hold some further bytes.
        assert!(unread <= WINDOW + (1 << 17), "{unread} bytes were taken");
    }
}
