use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures::future::Either;
use futures::{AsyncRead, AsyncWrite};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport};
use libp2p::core::upgrade::Version;
use libp2p::kad::store::{MemoryStore, MemoryStoreConfig};
use libp2p::pnet::{PnetConfig, PnetError, PreSharedKey};
use libp2p::swarm::NetworkBehaviour;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{
    Multiaddr, PeerId, StreamProtocol, Swarm, Transport as _, connection_limits, identify, kad, mdns, multiaddr, noise,
    ping, request_response, swarm, tcp,
};

use super::buffer_budget::BufferBudget;
use super::codec::Codec;
use super::counters::{Counted, Tally};
use super::incoming_limits::IncomingLimits;
use super::reach::{Kind, Reach, Within};
use super::shared::Shared;
use super::streams::Streams;
use super::{Config, Network, StartError, Transport};

/// The name of the Kademlia protocol in this network.
pub(super) const KAD: StreamProtocol = StreamProtocol::new("/furui/kad/1");
/// The name of the request-response protocol by which nodes exchange search messages.
const EXCHANGE: StreamProtocol = StreamProtocol::new("/furui/1");

/// The time limit for opening a connection, including handshakes. The value is a choice, not a measurement.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for one peer to answer a step of a Kademlia look-up. The value is a choice, not a measurement.
const LOOKUP_STEP_TIMEOUT: Duration = Duration::from_secs(3);
/// The time limit for a whole Kademlia look-up. The value is a choice, not a measurement.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);
/// The time after which an unused connection is closed. The value is a choice, not a measurement.
const IDLE: Duration = Duration::from_secs(600);
/// The number of disjoint paths of a look-up. No node is asked on two of them, so a hostile node can mislead only one.
/// Each path costs as much as a look-up with one path. Disjoint paths are borrowed from S/Kademlia; their number is a
/// choice.
const PATHS: NonZeroUsize = NonZeroUsize::new(2).expect("it is not 0");
/// The interval of pings. A connection is closed after two pings without an answer. The value is a choice, not a
/// measurement.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// The interval at which connected peers send each other their addresses and protocols again. The value is a choice,
/// not a measurement.
const IDENTIFY_INTERVAL: Duration = Duration::from_secs(3600);
/// The maximum number of requests in flight on a connection. The remaining streams of the connection are for the other
/// protocols. The value is a choice, not a measurement.
const MAX_EXCHANGES: usize = 64;
/// The maximum number of connections of a node. The value is a choice, not a measurement.
const MAX_CONNECTIONS: u32 = 1024;
/// The maximum number of connections between a node and one peer. The value is a choice, not a measurement.
const MAX_PER_PEER: u32 = 4;
/// The maximum number of outgoing connections whose handshakes are not complete. The value is a choice, not a
/// measurement.
const MAX_PENDING: u32 = 128;

#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    // The connection limits must be the first field, so that no other behaviour is informed of a connection that they
    // deny.
    limits: connection_limits::Behaviour,
    // This field must precede the exchange, because it records the origin of a connection for the exchange's codec.
    pub(super) incoming_limits: IncomingLimits,
    pub(super) kad: kad::Behaviour<MemoryStore>,
    pub(super) exchange: request_response::Behaviour<Codec>,
    pub(super) identify: identify::Behaviour,
    pub(super) ping: ping::Behaviour,
    /// Finds the nodes of a private network in the local networks.
    pub(super) mdns: Toggle<mdns::tokio::Behaviour>,
}

impl Behaviour {
    fn new(config: &Config, shared: &Shared) -> Result<Self, StartError> {
        let public = config.identity.keypair().public();
        let me = public.to_peer_id();
        let limits = connection_limits::ConnectionLimits::default()
            .with_max_established(Some(MAX_CONNECTIONS))
            .with_max_established_per_peer(Some(MAX_PER_PEER))
            .with_max_pending_outgoing(Some(MAX_PENDING));
        let buffers = BufferBudget::new(Arc::clone(&shared.refusals));
        let mdns = finds_by_mdns(config).then(|| mdns::tokio::Behaviour::new(mdns::Config::default(), me)).transpose();
        let mdns = mdns.map_err(|error| StartError::Mdns { why: error.to_string() })?;
        Ok(Self {
            limits: connection_limits::Behaviour::new(limits),
            incoming_limits: IncomingLimits::new(
                Arc::clone(&buffers),
                Arc::clone(&shared.refusals),
                Arc::clone(&shared.blocked),
            ),
            kad: kademlia(me),
            exchange: request_response::Behaviour::with_codec(
                Codec::new(Arc::clone(&shared.tally), buffers),
                [(EXCHANGE, request_response::ProtocolSupport::Full)],
                request_response::Config::default()
                    .with_request_timeout(config.call_timeout)
                    .with_max_concurrent_streams(MAX_EXCHANGES),
            ),
            identify: identify::Behaviour::new(
                identify::Config::new("/furui/1".to_owned(), public)
                    .with_agent_version(concat!("furui/", env!("CARGO_PKG_VERSION")).to_owned())
                    .with_interval(IDENTIFY_INTERVAL)
                    .with_hide_listen_addrs(!config.external.is_empty())
                    .with_cache_size(0),
            ),
            ping: ping::Behaviour::new(ping::Config::new().with_interval(PING_INTERVAL)),
            mdns: mdns.into(),
        })
    }
}

/// True if the node looks for others by mDNS: in a private network, unless only its own machine reaches it.
fn finds_by_mdns(config: &Config) -> bool {
    let is_far = |text: &String| text.parse().is_ok_and(|address| Kind::of(&address) != Some(Kind::Loopback));
    let is_wide = |text: &String| text.contains("/0.0.0.0/") || text.contains("/::/");
    let is_reached = config.listen.iter().any(|text| is_far(text) || is_wide(text));
    config.mdns && config.network.is_some() && config.transport == Transport::Tcp && is_reached
}

/// Makes the Kademlia behaviour, which serves for routing only: it stores nothing for other nodes, and the driver
/// refreshes the routing table.
fn kademlia(me: PeerId) -> kad::Behaviour<MemoryStore> {
    let mut config = kad::Config::new(KAD);
    config
        .set_parallelism(PATHS)
        .disjoint_query_paths(true)
        .set_query_timeout(LOOKUP_TIMEOUT)
        .set_substreams_timeout(LOOKUP_STEP_TIMEOUT)
        .set_periodic_bootstrap_interval(None)
        .set_replication_interval(None)
        .set_publication_interval(None)
        .set_provider_publication_interval(None)
        .set_record_filtering(kad::StoreInserts::FilterBoth)
        .set_caching(kad::Caching::Disabled);
    let store = MemoryStoreConfig { max_records: 0, max_provided_keys: 0, ..Default::default() };
    let mut kad = kad::Behaviour::with_config(me, MemoryStore::with_config(me, store), config);
    kad.set_mode(Some(kad::Mode::Server));
    kad
}

pub(super) fn swarm(config: &Config, shared: &Shared) -> Result<Swarm<Behaviour>, StartError> {
    let transport = transport(config, shared).map_err(|e| StartError::Encryption { why: e.to_string() })?;
    let me = config.identity.keypair().public().to_peer_id();
    // Lazy negotiation sends a stream's first message together with the protocol's name, which saves a round trip for
    // each request.
    let swarm_config = swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(IDLE)
        .with_substream_upgrade_protocol_override(Version::V1Lazy);
    Ok(Swarm::new(transport, Behaviour::new(config, shared)?, me, swarm_config))
}

fn transport(config: &Config, shared: &Shared) -> Result<Boxed<(PeerId, StreamMuxerBox)>, noise::Error> {
    let noise = noise::Config::new(config.identity.keypair())?;
    let key = config.network.as_ref().map(Network::secret);
    let tally = Arc::clone(&shared.tally);
    Ok(match config.transport {
        Transport::Tcp => {
            let tcp = tcp::tokio::Transport::new(tcp::Config::default());
            secured(Within::new(Arc::clone(&shared.reach), tcp), key, noise, tally)
        }
        Transport::Memory => secured(MemoryTransport::new(), key, noise, tally),
    })
}

/// Encrypts the connections of a transport, first with the key of a private network, if there is one, so that a
/// stranger cannot exchange a byte; then between the two nodes.
fn secured<T>(
    transport: T,
    key: Option<PreSharedKey>,
    noise: noise::Config,
    tally: Arc<Tally>,
) -> Boxed<(PeerId, StreamMuxerBox)>
where
    T: libp2p::Transport + Send + Unpin + 'static,
    T::Output: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    T::Error: Send + Sync,
    T::Dial: Send,
    T::ListenerUpgrade: Send,
{
    transport
        .map(move |stream, _| Counted::new(stream, tally))
        .and_then(move |stream, _| async move {
            Ok::<_, PnetError>(match key {
                Some(key) => Either::Left(PnetConfig::new(key).handshake(stream).await?),
                None => Either::Right(stream),
            })
        })
        .upgrade(Version::V1Lazy)
        .authenticate(noise)
        .multiplex(Streams)
        .timeout(DIAL_TIMEOUT)
        .boxed()
}

/// True if this transport supports the address, and [`Reach`] allows dialling it. Both are checked because peers can
/// state arbitrary addresses.
pub(super) fn dialable(address: &Multiaddr, transport: Transport, reach: &Reach) -> bool {
    use multiaddr::Protocol::{Ip4, Ip6, Memory, P2p, Tcp};
    let mut parts = address.iter();
    let found = match (transport, parts.next()) {
        (Transport::Memory, Some(Memory(port))) => port != 0,
        (Transport::Tcp, Some(Ip4(ip))) => !ip.is_unspecified() && matches!(parts.next(), Some(Tcp(1..))),
        // A link-local address means nothing without the name of the interface.
        (Transport::Tcp, Some(Ip6(ip))) => {
            !ip.is_unspecified() && !ip.is_unicast_link_local() && matches!(parts.next(), Some(Tcp(1..)))
        }
        _ => false,
    };
    found && reach.allows(address) && matches!(parts.next(), None | Some(P2p(_))) && parts.next().is_none()
}
