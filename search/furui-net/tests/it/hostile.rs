//! A peer that speaks the protocol, but sends any bytes.

use std::future::{Future, Ready};
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};

use furui_net::net::Net;
use furui_search::Peer;
use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, DialOpts, ListenerId, MemoryTransport, TransportError, TransportEvent};
use libp2p::core::upgrade::Version;
use libp2p::multiaddr::Protocol;
use libp2p::request_response::{self, Codec, Event, Message, OutboundFailure, ProtocolSupport};
use libp2p::swarm::SwarmEvent;
use libp2p::tcp::tokio::TcpStream;
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, Transport, identity, noise, swarm, yamux};
use tokio::net::TcpSocket;

pub struct Hostile {
    swarm: Swarm<request_response::Behaviour<Raw>>,
    victims: Vec<PeerId>,
    address: Multiaddr,
}

/// A request preceded by its length.
pub fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

impl Hostile {
    pub async fn new(victim: &Net) -> Self {
        Self::with(victim, Raw { withholds: false }).await
    }

    /// A peer that never ends its requests.
    pub async fn withholding(victim: &Net) -> Self {
        Self::with(victim, Raw { withholds: true }).await
    }

    /// A peer that knows several nodes, and speaks to them from this IPv4 address.
    pub async fn at(host: &str, victims: &[Peer]) -> Self {
        let (keys, codec) = (identity::Keypair::generate_ed25519(), Raw { withholds: false });
        let transport = encrypted(Bound(host.parse().unwrap()), &keys);
        Self::start(&keys, transport, codec, None, victims).await
    }

    async fn with(victim: &Net, codec: Raw) -> Self {
        let keys = identity::Keypair::generate_ed25519();
        Self::start(&keys, encrypted(MemoryTransport::new(), &keys), codec, Some("/memory/0"), &[victim.me()]).await
    }

    async fn start(
        keys: &identity::Keypair,
        transport: Boxed<(PeerId, StreamMuxerBox)>,
        codec: Raw,
        listen: Option<&str>,
        victims: &[Peer],
    ) -> Self {
        let behaviour = request_response::Behaviour::with_codec(
            codec,
            [(StreamProtocol::new("/furui/1"), ProtocolSupport::Full)],
            request_response::Config::default(),
        );
        let config = swarm::Config::with_tokio_executor();
        let mut swarm = Swarm::new(transport, behaviour, keys.public().to_peer_id(), config);
        let mut address = Multiaddr::empty();
        if let Some(listen) = listen {
            swarm.listen_on(listen.parse().unwrap()).unwrap();
            while address.is_empty() {
                if let SwarmEvent::NewListenAddr { address: own, .. } = swarm.select_next_some().await {
                    address = own;
                }
            }
        }
        let known = victims.iter().map(|victim| {
            let id = PeerId::from_bytes(victim.identity()).unwrap();
            swarm.add_peer_address(id, Multiaddr::try_from(victim.address().to_vec()).unwrap());
            id
        });
        Self { victims: known.collect(), swarm, address }
    }

    pub fn peer(&self) -> Peer {
        Peer::new(&self.swarm.local_peer_id().to_bytes(), &self.address.to_vec())
    }

    /// Sends `count` requests at once.
    pub fn send(&mut self, count: usize, bytes: impl Fn() -> Vec<u8>) {
        for _ in 0..count {
            self.swarm.behaviour_mut().send_request(&self.victims[0], bytes());
        }
    }

    /// Sends a request to the node with this number among those that the peer knows.
    pub fn send_to(&mut self, victim: usize, bytes: Vec<u8>) {
        self.swarm.behaviour_mut().send_request(&self.victims[victim], bytes);
    }

    /// The next answer.
    pub async fn answer(&mut self) -> Result<Vec<u8>, OutboundFailure> {
        loop {
            match self.swarm.select_next_some().await {
                SwarmEvent::Behaviour(Event::Message { message: Message::Response { response, .. }, .. }) => {
                    return if response.is_empty() { Err(OutboundFailure::ConnectionClosed) } else { Ok(response) };
                }
                SwarmEvent::Behaviour(Event::OutboundFailure { error, .. }) => return Err(error),
                _ => {}
            }
        }
    }

    /// Answers the next request with these bytes.
    pub async fn serve(&mut self, bytes: Vec<u8>) {
        loop {
            match self.swarm.select_next_some().await {
                SwarmEvent::Behaviour(Event::Message { message: Message::Request { channel, .. }, .. }) => {
                    self.swarm.behaviour_mut().send_response(channel, bytes.clone()).unwrap();
                }
                SwarmEvent::Behaviour(Event::ResponseSent { .. } | Event::InboundFailure { .. }) => return,
                _ => {}
            }
        }
    }
}

/// Connects by TCP from one address of this machine, and accepts no connections.
struct Bound(Ipv4Addr);

impl Transport for Bound {
    type Output = TcpStream;
    type Error = io::Error;
    type ListenerUpgrade = Ready<io::Result<TcpStream>>;
    type Dial = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

    fn listen_on(&mut self, _: ListenerId, address: Multiaddr) -> Result<(), TransportError<io::Error>> {
        Err(TransportError::MultiaddrNotSupported(address))
    }

    fn remove_listener(&mut self, _: ListenerId) -> bool {
        false
    }

    fn dial(&mut self, address: Multiaddr, _: DialOpts) -> Result<Self::Dial, TransportError<io::Error>> {
        let parts: Vec<Protocol<'_>> = address.iter().take(2).collect();
        let [Protocol::Ip4(ip), Protocol::Tcp(port)] = parts[..] else {
            return Err(TransportError::MultiaddrNotSupported(address));
        };
        let from = self.0;
        Ok(Box::pin(async move {
            let socket = TcpSocket::new_v4()?;
            socket.bind((from, 0).into())?;
            let stream = socket.connect((ip, port).into()).await?;
            stream.set_nodelay(true)?;
            Ok(TcpStream(stream))
        }))
    }

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<TransportEvent<Self::ListenerUpgrade, io::Error>> {
        Poll::Pending
    }
}

/// Encrypts the connections of a transport.
fn encrypted<T>(transport: T, keys: &identity::Keypair) -> Boxed<(PeerId, StreamMuxerBox)>
where
    T: Transport + Send + Unpin + 'static,
    T::Output: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T::Error: Send + Sync + 'static,
    T::Dial: Send + 'static,
    T::ListenerUpgrade: Send + 'static,
{
    transport
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(keys).unwrap())
        .multiplex(yamux::Config::default())
        .boxed()
}

/// Carries bytes unchanged, to the end of the stream. If it withholds, it does not end the streams of requests.
#[derive(Clone)]
pub struct Raw {
    withholds: bool,
}

impl Raw {
    async fn read<T: AsyncRead + Unpin>(io: &mut T) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io.read_to_end(&mut bytes).await?;
        Ok(bytes)
    }
}

impl Codec for Raw {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = Vec<u8>;

    async fn read_request<T: AsyncRead + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
    ) -> io::Result<Vec<u8>> {
        Self::read(io).await
    }

    async fn read_response<T: AsyncRead + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
    ) -> io::Result<Vec<u8>> {
        Self::read(io).await
    }

    async fn write_request<T: AsyncWrite + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        bytes: Vec<u8>,
    ) -> io::Result<()> {
        io.write_all(&bytes).await?;
        io.flush().await?;
        if self.withholds { std::future::pending().await } else { Ok(()) }
    }

    async fn write_response<T: AsyncWrite + Unpin + Send>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        bytes: Vec<u8>,
    ) -> io::Result<()> {
        io.write_all(&bytes).await
    }
}
