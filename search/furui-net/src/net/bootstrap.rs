use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use tokio::net::lookup_host;
use tokio::sync::watch;

use super::{StartError, Transport};

/// The maximum number of addresses that are dialled for one host name. The value is a choice, not a measurement.
const MAX_RESOLVED: usize = 8;

/// An address through which a node joins the network, as its owner configured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bootstrap {
    address: Multiaddr,
    /// The host name in the address with the port; `None` if the address has no host name.
    name: Option<(String, u16)>,
}

impl Bootstrap {
    /// Parses an address of the configuration. The error means that no node can be reached by this kind of
    /// address.
    pub(super) fn new(address: Multiaddr, transport: Transport) -> Result<Self, StartError> {
        let parts: Vec<Protocol<'_>> = address.iter().collect();
        let (at, rest) = parts.split_at(parts.len().min(if transport == Transport::Tcp { 2 } else { 1 }));
        let has_end = matches!(rest, [] | [Protocol::P2p(_)]);
        let name = match (transport, at) {
            (Transport::Memory, [Protocol::Memory(_)])
            | (Transport::Tcp, [Protocol::Ip4(_) | Protocol::Ip6(_), Protocol::Tcp(1..)]) => None,
            (
                Transport::Tcp,
                [Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name), Protocol::Tcp(port @ 1..)],
            ) => Some((name.clone().into_owned(), *port)),
            _ => return Err(StartError::Bootstrap { address: address.to_string() }),
        };
        if !has_end {
            return Err(StartError::Bootstrap { address: address.to_string() });
        }
        Ok(Self { address, name })
    }

    pub(super) fn address(&self) -> &Multiaddr {
        &self.address
    }

    /// Returns the addresses to dial. A host name is resolved by the system, to the IP versions that the address
    /// allows.
    pub(super) async fn resolve(&self) -> io::Result<Vec<Multiaddr>> {
        let Some((name, port)) = &self.name else { return Ok(vec![self.address.clone()]) };
        let found = lookup_host((name.as_str(), *port)).await?;
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
            "/dnsaddr/example.org",
            "/dns4/a.example",
            "/ip4/1.2.3.4/tcp/0",
            "/ip4/1.2.3.4/tcp/1/ws",
            "/memory/7",
        ] {
            let error = bootstrap(text).expect_err("it cannot be reached").to_string();
            assert!(error.contains(text) && error.contains("/dns4/"), "{error}");
        }
    }
}
