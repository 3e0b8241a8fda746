//! A peer that speaks the protocol, but sends any bytes.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::io;

use furui_net::net::Net;
use furui_search::Peer;
use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, StreamExt};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport};
use libp2p::core::upgrade::Version;
use libp2p::request_response::{self, Codec, Event, Message, OutboundFailure, ProtocolSupport};
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, PeerId, StreamProtocol, Swarm, Transport, identity, noise, swarm, tcp, yamux};

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
        // Who listens at an address dials from it.
        let transport = tcp::tokio::Transport::new(tcp::Config::default());
        Self::start(&keys, encrypted(transport, &keys), codec, &format!("/ip4/{host}/tcp/0"), victims).await
    }

    async fn with(victim: &Net, codec: Raw) -> Self {
        let keys = identity::Keypair::generate_ed25519();
        Self::start(&keys, encrypted(MemoryTransport::new(), &keys), codec, "/memory/0", &[victim.me()]).await
    }

    async fn start(
        keys: &identity::Keypair,
        transport: Boxed<(PeerId, StreamMuxerBox)>,
        codec: Raw,
        listen: &str,
        victims: &[Peer],
    ) -> Self {
        let behaviour = request_response::Behaviour::with_codec(
            codec,
            [(StreamProtocol::new("/furui/1"), ProtocolSupport::Full)],
            request_response::Config::default(),
        );
        let config = swarm::Config::with_tokio_executor();
        let mut swarm = Swarm::new(transport, behaviour, keys.public().to_peer_id(), config);
        swarm.listen_on(listen.parse().unwrap()).unwrap();
        let address = loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                break address;
            }
        };
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
