use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt};
use libp2p::PeerId;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::{Prefix, Refusals};

/// The maximum total size of the requests of other nodes that are held in memory, in bytes. A request is held from the
/// arrival of its first byte until it is answered. The value is a choice, not a measurement.
const MAX_REQUEST_BYTES: usize = 64 << 20;
/// The maximum total size of one peer's requests that are held in memory, over all of its connections, in bytes.
/// Further requests of the peer wait unread. Chosen: four of the largest requests, which fill a sixteenth of
/// [`MAX_REQUEST_BYTES`].
pub(super) const PEER_REQUEST_BYTES: usize = 4 << 20;
/// The maximum total size of one address prefix's requests that are held in memory, in bytes. Chosen: four prefixes
/// fill [`MAX_REQUEST_BYTES`].
const PREFIX_REQUEST_BYTES: usize = 16 << 20;
/// The maximum number of one peer's requests that wait unread. The streams of further ones are closed.
/// The value is a choice, not a measurement.
const PEER_WAITING: usize = 16;
/// The maximum number of requests of one address prefix that wait unread. Chosen: as many as those of eight peers.
const PREFIX_WAITING: usize = 128;
/// The number of bytes by which the memory for a request grows as its bytes arrive, so that an announced length alone
/// allocates no memory. Chosen: a small part of a peer's share, and few steps for most requests.
pub(super) const STEP: usize = 16 << 10;
/// The time in which each [`STEP`] of a request must arrive: the minimum rate is about 5 KiB a second. Chosen:
/// below the slowest common links.
const STEP_TIME: Duration = Duration::from_secs(3);

/// The memory for the requests of other nodes, in a share for each peer and address prefix, and a common pool.
///
/// ```text
///   length ──▶ room for all of it in the share of the peer, and of its prefix ── none? wait, unread
///   bytes  ──▶ step by step, room in the pool of all ── none? the slowest request is closed
/// ```
///
/// A peer that sends requests slowly, or withholds their last bytes, fills its own share and hinders no other peer.
pub(super) struct BufferBudget {
    pool: Arc<Semaphore>,
    state: Mutex<State>,
    refusals: Arc<Refusals>,
}

#[derive(Default)]
struct State {
    peers: HashMap<PeerId, Arc<Share>>,
    prefixes: HashMap<Prefix, Arc<Share>>,
    /// The peer and address prefix of the connection that is being opened, for the codec of this connection.
    next: Option<RequestReader>,
    /// The requests whose bytes are being read, by the numbers that they were given.
    readings: BTreeMap<u64, Reading>,
    next_reading: u64,
}

/// The memory for the requests of one peer or address prefix.
#[derive(Debug)]
struct Share {
    bytes: Arc<Semaphore>,
    waiting: Semaphore,
}

/// A request of another node whose bytes are being read.
struct Reading {
    /// The time at which the last [`STEP`] of its bytes arrived.
    at: Instant,
    evicted: Arc<Notify>,
}

/// Reads requests into the shares of the peer and address prefix of one connection.
#[derive(Clone)]
pub(super) struct RequestReader {
    buffers: Arc<BufferBudget>,
    peer: Arc<Share>,
    prefix: Option<Arc<Share>>,
    name: (PeerId, Prefix),
}

/// The memory that is reserved for one request. Dropping this releases the memory.
#[derive(Debug)]
pub(crate) struct RequestMemory {
    _peer: OwnedSemaphorePermit,
    _prefix: Option<OwnedSemaphorePermit>,
    taken: Option<OwnedSemaphorePermit>,
}

impl Share {
    fn new(bytes: usize, waiting: usize) -> Arc<Self> {
        Arc::new(Self { bytes: Arc::new(Semaphore::new(bytes)), waiting: Semaphore::new(waiting) })
    }

    /// Reserves `bytes` bytes, and waits until they are available. The error is the reason for a refusal.
    async fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, &'static str> {
        // A request is at most as long as a share, so the reservation can succeed.
        let bytes = bytes as u32;
        match Arc::clone(&self.bytes).try_acquire_many_owned(bytes) {
            Ok(taken) => Ok(taken),
            Err(_) => {
                let _waiting = self.waiting.try_acquire().map_err(|_| "too many of its requests waited")?;
                let taken = Arc::clone(&self.bytes).acquire_many_owned(bytes).await;
                taken.map_err(|_| "the node is being shut down")
            }
        }
    }
}

impl BufferBudget {
    pub(super) fn new(refusals: Arc<Refusals>) -> Arc<Self> {
        let pool = Arc::new(Semaphore::new(MAX_REQUEST_BYTES));
        Arc::new(Self { pool, state: Mutex::default(), refusals })
    }

    /// Records the peer and address prefix of the connection that is being opened. The codec of this connection then
    /// obtains them with [`opened`](Self::opened).
    pub(super) fn open(self: &Arc<Self>, peer: PeerId, prefix: Prefix) {
        let mut state = self.state();
        let peer_share = of(&mut state.peers, peer, PEER_REQUEST_BYTES, PEER_WAITING);
        let prefix_share = match prefix {
            Prefix::Local => None,
            prefix => Some(of(&mut state.prefixes, prefix, PREFIX_REQUEST_BYTES, PREFIX_WAITING)),
        };
        let origin =
            RequestReader { buffers: Arc::clone(self), peer: peer_share, prefix: prefix_share, name: (peer, prefix) };
        state.next = Some(origin);
    }

    /// Removes and returns the peer and address prefix that [`open`](Self::open) has recorded, as the reader of the
    /// connection's requests; `None` if none is recorded.
    pub(super) fn opened(&self) -> Option<RequestReader> {
        self.state().next.take()
    }

    /// Evicts the slowest request other than `own`: the one whose last step is the oldest. Returns false if no other
    /// request is being read.
    fn evict_slowest(&self, own: u64) -> bool {
        let mut state = self.state();
        let others = state.readings.iter().filter(|(number, _)| **number != own);
        let Some((&slowest, _)) = others.min_by_key(|(_, reading)| reading.at) else { return false };
        if let Some(reading) = state.readings.remove(&slowest) {
            reading.evicted.notify_one();
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the share of memory of the peer or address prefix `key`, and makes it if it is missing. Unused shares are
/// removed.
fn of<K: Hash + Eq>(shares: &mut HashMap<K, Arc<Share>>, key: K, bytes: usize, waiting: usize) -> Arc<Share> {
    if !shares.contains_key(&key) {
        shares.retain(|_, share| Arc::strong_count(share) > 1 || share.bytes.available_permits() < bytes);
    }
    Arc::clone(shares.entry(key).or_insert_with(|| Share::new(bytes, waiting)))
}

/// A guard that keeps a request in the list of readings until it is dropped.
struct ReadingEntry<'a> {
    buffers: &'a BufferBudget,
    number: u64,
    evicted: Arc<Notify>,
}

impl<'a> ReadingEntry<'a> {
    fn new(buffers: &'a BufferBudget) -> Self {
        let evicted = Arc::new(Notify::new());
        let mut state = buffers.state();
        let number = state.next_reading;
        state.next_reading += 1;
        state.readings.insert(number, Reading { at: Instant::now(), evicted: Arc::clone(&evicted) });
        drop(state);
        Self { buffers, number, evicted }
    }

    /// Records that a further [`STEP`] of the request has arrived.
    fn step(&self) {
        if let Some(reading) = self.buffers.state().readings.get_mut(&self.number) {
            reading.at = Instant::now();
        }
    }
}

impl Drop for ReadingEntry<'_> {
    fn drop(&mut self) {
        self.buffers.state().readings.remove(&self.number);
    }
}

impl RequestReader {
    /// Reads a request of `length` bytes, which is at most as long as a peer's share.
    pub(super) async fn read<T: AsyncRead + Unpin>(
        &self,
        io: &mut T,
        length: usize,
    ) -> io::Result<(Vec<u8>, RequestMemory)> {
        let refuse = |why| self.refuse(why);
        let peer = self.peer.take(length).await.map_err(refuse)?;
        let prefix = match &self.prefix {
            Some(prefix) => Some(prefix.take(length).await.map_err(refuse)?),
            None => None,
        };
        let mut room = RequestMemory { _peer: peer, _prefix: prefix, taken: None };
        let entry = ReadingEntry::new(&self.buffers);
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let from = bytes.len();
            let step = STEP.min(length - from);
            let read = async {
                let more = match Arc::clone(&self.buffers.pool).try_acquire_many_owned(step as u32) {
                    Ok(more) => more,
                    Err(_) if self.buffers.evict_slowest(entry.number) => {
                        let more = Arc::clone(&self.buffers.pool).acquire_many_owned(step as u32).await;
                        more.map_err(|_| refuse("the node is being shut down"))?
                    }
                    Err(_) => return Err(refuse("too many bytes of requests were held")),
                };
                match &mut room.taken {
                    Some(taken) => taken.merge(more),
                    None => room.taken = Some(more),
                }
                bytes.resize(from + step, 0);
                io.read_exact(&mut bytes[from..]).await
            };
            tokio::select! {
                read = timeout(STEP_TIME, read) => read.map_err(|_| refuse("the bytes of its request came too slowly"))??,
                () = entry.evicted.notified() => {
                    return Err(refuse("its request was the slowest when the memory for requests was full"));
                }
            }
            entry.step();
        }
        drop(entry);
        Ok((bytes, room))
    }

    /// Notes that a request of this peer is refused.
    fn refuse(&self, why: &'static str) -> io::Error {
        let (peer, prefix) = self.name;
        self.buffers.refusals.note(format!("{peer} at {prefix}"), why);
        io::Error::new(io::ErrorKind::ResourceBusy, why)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::stream::{FuturesUnordered, StreamExt, TryStreamExt, iter};

    use super::*;

    const MIB: usize = 1 << 20;

    fn origin(buffers: &Arc<BufferBudget>, host: u8) -> RequestReader {
        buffers.open(PeerId::random(), Prefix::V4([127, 0, 0, host]));
        buffers.opened().expect("just opened")
    }

    /// A stream that yields some bytes and then blocks forever.
    fn withheld(bytes: usize) -> impl AsyncRead + Unpin {
        iter([Ok::<_, io::Error>(vec![7; bytes])]).chain(futures::stream::pending()).into_async_read()
    }

    async fn fails_or_holds(origin: RequestReader) -> io::Result<(Vec<u8>, RequestMemory)> {
        origin.read(&mut withheld(MIB - 1), MIB).await
    }

    #[tokio::test(start_paused = true)]
    async fn who_withholds_bytes_fills_its_own_share_and_no_other() {
        let buffers = BufferBudget::new(Arc::default());
        let (hog, honest) = (origin(&buffers, 1), origin(&buffers, 2));
        let mut hogged: FuturesUnordered<_> = (0..66).map(|_| fails_or_holds(hog.clone())).collect();
        // The requests that are not allowed to wait are refused at once.
        let refused = std::iter::from_fn(|| hogged.next().now_or_never().flatten()).count();
        assert_eq!(refused, 66 - PEER_REQUEST_BYTES / MIB - PEER_WAITING);
        assert!(buffers.pool.available_permits() >= MAX_REQUEST_BYTES - PEER_REQUEST_BYTES);
        let (bytes, room) = honest.read(&mut withheld(MIB), MIB).await.expect("there is room");
        assert_eq!(bytes, vec![7; MIB]);
        drop(room);
        // The other readings fail, because their last bytes do not arrive in time.
        while let Some(ended) = hogged.next().await {
            assert_eq!(ended.expect_err("a byte is missing").kind(), io::ErrorKind::ResourceBusy);
        }
        assert_eq!(buffers.pool.available_permits(), MAX_REQUEST_BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn when_many_hosts_fill_the_pool_the_slowest_goes() {
        let buffers = BufferBudget::new(Arc::default());
        let mut hogged: FuturesUnordered<_> = (0..20)
            .flat_map(|host| {
                let hog = origin(&buffers, host);
                (0..4).map(move |_| fails_or_holds(hog.clone()))
            })
            .collect();
        // An evicted reading ends only when it is polled.
        let mut evicted = 0;
        for _ in 0..1000 {
            evicted += usize::from(hogged.next().now_or_never().flatten().is_some());
        }
        assert!(evicted >= 4 * 20 - MAX_REQUEST_BYTES / MIB, "{evicted} were evicted by each other");
        let honest = origin(&buffers, 100);
        let mut body = withheld(MIB);
        let mut read = std::pin::pin!(honest.read(&mut body, MIB));
        let read = loop {
            tokio::select! {
                biased;
                Some(_) = hogged.next() => {}
                read = &mut read => break read,
            }
        };
        assert_eq!(read.expect("room was made").0.len(), MIB);
    }

    #[tokio::test]
    async fn one_host_with_many_identities_has_one_share() {
        let buffers = BufferBudget::new(Arc::default());
        let mut hogged: FuturesUnordered<_> = (0..20).map(|_| fails_or_holds(origin(&buffers, 1))).collect();
        while hogged.next().now_or_never().flatten().is_some() {}
        assert_eq!(buffers.state().prefixes[&Prefix::V4([127, 0, 0, 1])].bytes.available_permits(), 0);
        assert!(buffers.pool.available_permits() >= MAX_REQUEST_BYTES - PREFIX_REQUEST_BYTES);
    }

    #[test]
    fn shares_of_those_that_are_gone_are_forgotten() {
        let buffers = BufferBudget::new(Arc::default());
        for _ in 0..100 {
            drop(origin(&buffers, 1));
        }
        assert!(buffers.state().peers.len() <= 2);
    }
}
