use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;

use hickory_resolver::proto::rr::RData;
use hickory_resolver::{ResolverBuilder, TokioResolver};
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use tokio::net::lookup_host;
use tokio::sync::watch;

use super::{StartError, Transport};

/// The maximum number of addresses that are dialled for one host name. The value is a choice, not a measurement.
const MAX_RESOLVED: usize = 8;
/// The maximum number of names that are looked up for one address `/dnsaddr/…`, whose records may name others. The
/// value is a choice, not a measurement.
const MAX_NAMES: usize = 16;

/// An address through which a node joins the network, as its owner configured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bootstrap {
    address: Multiaddr,
    at: At,
}

/// The beginning of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
enum At {
    /// An IP address with a port, or an address within the process.
    Address,
    /// A host name with a port.
    Name(String, u16),
    /// A domain name whose TXT records state whole addresses: `NAME` in `/dnsaddr/NAME`.
    Records(String),
}

impl Bootstrap {
    /// Parses an address of the configuration. The error means that no node can be reached by this kind of
    /// address.
    pub(super) fn new(address: Multiaddr, transport: Transport) -> Result<Self, StartError> {
        use Protocol::{Dns, Dns4, Dns6, Dnsaddr, Ip4, Ip6, Memory, P2p, Tcp};
        let parts: Vec<Protocol<'_>> = address.iter().collect();
        let (at, rest) = match (transport, &parts[..]) {
            (Transport::Memory, [Memory(_), rest @ ..]) | (Transport::Tcp, [Ip4(_) | Ip6(_), Tcp(1..), rest @ ..]) => {
                (At::Address, rest)
            }
            (Transport::Tcp, [Dns(name) | Dns4(name) | Dns6(name), Tcp(port @ 1..), rest @ ..]) => {
                (At::Name(name.clone().into_owned(), *port), rest)
            }
            (Transport::Tcp, [Dnsaddr(name), rest @ ..]) => (At::Records(name.clone().into_owned()), rest),
            _ => return Err(StartError::Bootstrap { address: address.to_string() }),
        };
        if !matches!(rest, [] | [P2p(_)]) {
            return Err(StartError::Bootstrap { address: address.to_string() });
        }
        Ok(Self { address, at })
    }

    pub(super) fn address(&self) -> &Multiaddr {
        &self.address
    }

    /// True if the address has a name, which is resolved at each attempt to join.
    pub(super) fn is_name(&self) -> bool {
        self.at != At::Address
    }

    /// Returns the addresses to dial. Names are resolved by the system, a host name to the IP versions that the address
    /// allows, and `/dnsaddr/NAME` to the addresses in the TXT records `dnsaddr=…` of `_dnsaddr.NAME`: those that end
    /// as the address does, with the same peer.
    pub(super) async fn resolve(&self) -> io::Result<Vec<Multiaddr>> {
        match &self.at {
            At::Records(_) => {
                let resolver = TokioResolver::builder_tokio().and_then(ResolverBuilder::build);
                self.resolve_by(&resolver.map_err(io::Error::other)?).await
            }
            At::Address => Ok(vec![self.address.clone()]),
            At::Name(name, port) => self.resolve_host(name, *port).await,
        }
    }

    async fn resolve_host(&self, name: &str, port: u16) -> io::Result<Vec<Multiaddr>> {
        let found = lookup_host((name, port)).await?;
        let fits = |socket: &SocketAddr| match self.address.iter().next() {
            Some(Protocol::Dns4(_)) => socket.is_ipv4(),
            Some(Protocol::Dns6(_)) => socket.is_ipv6(),
            _ => true,
        };
        let with_ip = |socket: SocketAddr| {
            let rest = self.address.iter().skip(1);
            rest.fold(Multiaddr::from(socket.ip()), Multiaddr::with)
        };
        let mut addresses: Vec<Multiaddr> = found.filter(fits).map(with_ip).take(MAX_RESOLVED).collect();
        addresses.dedup();
        if addresses.is_empty() { Err(io::Error::other("the name has no address of this kind")) } else { Ok(addresses) }
    }

    /// Resolves `/dnsaddr/…` with this resolver.
    async fn resolve_by(&self, resolver: &TokioResolver) -> io::Result<Vec<Multiaddr>> {
        let end = self.address.iter().skip(1).collect::<Multiaddr>();
        let mut addresses: Vec<Multiaddr> = Vec::new();
        let mut open = VecDeque::from([self.clone()]);
        let (mut looked_up, mut last) = (0, io::Error::other("the name has no address of a node in its TXT records"));
        while let Some(next) = open.pop_front()
            && addresses.len() < MAX_RESOLVED
            && looked_up < MAX_NAMES
        {
            looked_up += 1;
            let found = match &next.at {
                At::Address => Ok(vec![next.address.clone()]),
                At::Name(name, port) => next.resolve_host(name, *port).await,
                At::Records(name) => match records(resolver, name).await {
                    Ok(records) => {
                        let fits = records.into_iter().filter(|address| address.ends_with(&end));
                        open.extend(fits.filter_map(|address| Self::new(address, Transport::Tcp).ok()).take(MAX_NAMES));
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            match found {
                Ok(found) => addresses.extend(found),
                Err(error) => last = error,
            }
        }
        addresses.truncate(MAX_RESOLVED);
        if addresses.is_empty() { Err(last) } else { Ok(addresses) }
    }
}

/// The addresses in the TXT records of a name.
async fn records(resolver: &TokioResolver, name: &str) -> io::Result<Vec<Multiaddr>> {
    // The dot at the end keeps the system from trying the name below its own domain.
    let name = format!("_dnsaddr.{}.", name.trim_end_matches('.'));
    let found = resolver.txt_lookup(name).await.map_err(io::Error::other)?;
    let texts = found.answers().iter().filter_map(|record| match &record.data {
        RData::TXT(text) => String::from_utf8(text.txt_data.concat()).ok(),
        _ => None,
    });
    Ok(texts.filter_map(|text| text.strip_prefix("dnsaddr=")?.parse().ok()).collect())
}

/// The bootstrap addresses through which the last attempt to join failed, each with the reason.
#[derive(Debug, Default)]
pub(super) struct Unreached(watch::Sender<BTreeMap<String, String>>);

impl Unreached {
    pub(super) fn note(&self, address: &Multiaddr, why: String) {
        self.0.send_if_modified(|all| all.insert(address.to_string(), why.clone()) != Some(why));
    }

    pub(super) fn reached(&self, address: &Multiaddr) {
        self.0.send_if_modified(|all| all.remove(&address.to_string()).is_some());
    }

    pub(super) fn watch(&self) -> watch::Receiver<BTreeMap<String, String>> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use hickory_resolver::net::runtime::TokioRuntimeProvider;

    use super::*;

    fn bootstrap(text: &str) -> Result<Bootstrap, StartError> {
        Bootstrap::new(text.parse().expect("a multiaddress"), Transport::Tcp)
    }

    #[tokio::test]
    async fn names_become_addresses() {
        let peer = "/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
        let local = bootstrap(&format!("/dns4/localhost/tcp/4001{peer}")).expect("it can be reached");
        let expected: Multiaddr = format!("/ip4/127.0.0.1/tcp/4001{peer}").parse().expect("an address");
        assert_eq!(local.resolve().await.expect("it is this machine"), std::slice::from_ref(&expected));
        assert_eq!(bootstrap(&expected.to_string()).expect("an IP").resolve().await.expect("itself"), [expected]);
        assert!(bootstrap("/dns/name.invalid/tcp/4001").expect("a name").resolve().await.is_err());
    }

    #[test]
    fn addresses_of_other_kinds_are_refused_at_once() {
        for text in [
            "/ip4/127.0.0.1/udp/4001/quic-v1",
            "/dnsaddr/example.org/tcp/4001",
            "/dns4/a.example",
            "/ip4/1.2.3.4/tcp/0",
            "/ip4/1.2.3.4/tcp/1/ws",
            "/memory/7",
        ] {
            let error = bootstrap(text).expect_err("it cannot be reached").to_string();
            assert!(error.contains(text) && error.contains("/dnsaddr/"), "{error}");
        }
    }

    /// Answers every question of type TXT with the records of its name, as a name server does. Returns its port.
    fn name_server(records: fn(&str) -> Vec<String>) -> u16 {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            let mut question = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut question) {
                // The name begins after 12 bytes, and has labels with their lengths; type and class follow.
                let (mut at, mut name) = (12, String::new());
                while question[at] != 0 {
                    let end = at + 1 + usize::from(question[at]);
                    name = name + str::from_utf8(&question[at + 1..end]).expect("a name") + ".";
                    at = end;
                }
                let texts = records(&name);
                let mut answer = [&question[..2], &[0x81, 0x80, 0, 1, 0, texts.len() as u8, 0, 0, 0, 0]].concat();
                answer.extend(&question[12..at + 5]);
                for text in texts {
                    let length = text.len() as u8;
                    answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, length + 1, length]);
                    answer.extend(text.bytes());
                }
                assert!(length >= at + 5 && socket.send_to(&answer, from).is_ok());
            }
        });
        port
    }

    #[tokio::test]
    async fn the_records_of_a_name_become_addresses() {
        use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};

        const PEER: &str = "/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
        let port = name_server(|name| match name {
            "_dnsaddr.node.example." => vec![
                format!("dnsaddr=/ip4/192.0.2.1/tcp/4001{PEER}"),
                format!("dnsaddr=/ip4/192.0.2.2/udp/4001/quic-v1{PEER}"),
                "dnsaddr=/ip4/192.0.2.3/tcp/4001".to_owned(),
                format!("dnsaddr=/dnsaddr/more.example{PEER}"),
                format!("dnsaddr=/dns4/localhost/tcp/9{PEER}"),
                "v=spf1 -all".to_owned(),
                "dnsaddr=x".to_owned(),
            ],
            "_dnsaddr.more.example." => vec![format!("dnsaddr=/ip6/2001:db8::1/tcp/4001{PEER}")],
            // These records name each other without end.
            "_dnsaddr.loop.example." => (0..20).map(|n| format!("dnsaddr=/dnsaddr/{n}.loop.example")).collect(),
            name if name.ends_with(".loop.example.") => vec!["dnsaddr=/dnsaddr/loop.example".to_owned()],
            _ => vec![],
        });
        let mut connection = ConnectionConfig::udp();
        connection.port = port;
        let server = NameServerConfig::new([127, 0, 0, 1].into(), true, vec![connection]);
        let config = ResolverConfig::from_parts(None, vec![], vec![server]);
        let resolver = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let resolver = resolver.build().expect("a resolver");
        let resolve = async |text: &str| {
            let found = bootstrap(text).expect("it can be reached").resolve_by(&resolver).await;
            found.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let of_peer = ["/ip4/192.0.2.1/tcp/4001", "/ip4/127.0.0.1/tcp/9", "/ip6/2001:db8::1/tcp/4001"];
        let of_peer = of_peer.map(|address| format!("{address}{PEER}"));
        let named = resolve(&format!("/dnsaddr/node.example{PEER}")).await.expect("addresses");
        assert_eq!(named, of_peer);
        let any = resolve("/dnsaddr/node.example").await.expect("addresses");
        assert_eq!(any, [&of_peer[..1], &["/ip4/192.0.2.3/tcp/4001".to_owned()], &of_peer[1..]].concat());
        for nothing in ["/dnsaddr/loop.example", "/dnsaddr/none.example"] {
            resolve(nothing).await.expect_err("it has none");
        }
    }
}
