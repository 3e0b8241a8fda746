use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use libp2p::Multiaddr;
use libp2p::core::Transport;
use libp2p::core::transport::{DialOpts, ListenerId, PortUse, TransportError, TransportEvent};

use super::prefix::ip_of;

/// Decides which addresses a node may dial. Peers state addresses (when they identify themselves, in look-ups, and as
/// the nodes that keep lists in a search), and must not make a node dial services of its machine or of its owner's
/// network.
///
/// A node with a public address dials public addresses only. A node whose own addresses are all private or loopback
/// addresses also dials private ones, and a node that has loopback addresses only dials everything. IPv4 and IPv6 are
/// told apart if the node has addresses of both. A bootstrap address in the node's configuration counts as one of its
/// own. The members of a private network are trusted, so there a node dials private addresses in any case.
#[derive(Debug)]
pub(super) struct Reach {
    /// The [`Kind`] of the node's own addresses, of IPv4 and of IPv6: the most public one that it has.
    own: [AtomicU8; 2],
    /// The [`Kind`] of the bootstrap addresses: the nearest one, so that the node may dial peers of that kind too.
    named: AtomicU8,
}

/// The kinds of addresses, from public to loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Public,
    Private,
    Loopback,
}

impl Kind {
    /// The kind of an address; `None` if it is not an IP address.
    pub(super) fn of(address: &Multiaddr) -> Option<Self> {
        Some(match ip_of(address)? {
            IpAddr::V4(ip) => Self::of_v4(ip),
            IpAddr::V6(ip) => Self::of_v6(ip),
        })
    }

    fn of_v4(ip: Ipv4Addr) -> Self {
        let [a, b, ..] = ip.octets();
        // The system treats 0.0.0.0 as the loopback address.
        if ip.is_loopback() || a == 0 {
            return Self::Loopback;
        }
        // The shared address space between a provider and its customers (100.64.0.0/10), and the range for benchmarks
        // (198.18.0.0/15).
        let is_shared = a == 100 && b & 0xc0 == 64 || a == 198 && b & 0xfe == 18;
        let is_near = ip.is_private() || ip.is_link_local() || ip.is_broadcast() || ip.is_multicast() || is_shared;
        if is_near { Self::Private } else { Self::Public }
    }

    fn of_v6(ip: Ipv6Addr) -> Self {
        if ip.is_loopback() || ip.is_unspecified() {
            return Self::Loopback;
        }
        let octets = ip.octets();
        let embedded = |at: usize| Ipv4Addr::from(<[u8; 4]>::try_from(&octets[at..at + 4]).expect("four bytes"));
        match ip.segments() {
            // Packets to translation addresses (NAT64, 6to4) reach the embedded IPv4 address. The same holds for
            // IPv4-compatible addresses `::a.b.c.d`.
            [0x64, 0xff9b, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0, 0, ..] => Self::of_v4(embedded(12)),
            [0x2002, ..] => Self::of_v4(embedded(2)),
            _ if ip.is_unique_local() || ip.is_unicast_link_local() || ip.is_multicast() => Self::Private,
            _ => Self::Public,
        }
    }
}

impl Default for Reach {
    /// Allows public addresses only.
    fn default() -> Self {
        Self { own: [const { AtomicU8::new(Kind::Public as u8) }; 2], named: AtomicU8::new(Kind::Public as u8) }
    }
}

impl Reach {
    /// Sets the node's own addresses.
    pub(super) fn set_own(&self, addresses: &[Multiaddr]) {
        let of = |is_v6| addresses.iter().filter(move |address| is_of_v6(address) == is_v6).filter_map(Kind::of).min();
        let all = addresses.iter().filter_map(Kind::of).min().unwrap_or(Kind::Public);
        for (own, kind) in self.own.iter().zip([of(false), of(true)]) {
            own.store(kind.unwrap_or(all) as u8, Ordering::Relaxed);
        }
    }

    /// Allows private addresses, whatever the node's own are.
    pub(super) fn allow_private(&self) {
        self.named.fetch_max(Kind::Private as u8, Ordering::Relaxed);
    }

    /// Records a bootstrap address of the configuration, so that addresses of its kind may be dialled.
    pub(super) fn name(&self, address: &Multiaddr) {
        if let Some(kind) = Kind::of(address) {
            self.named.fetch_max(kind as u8, Ordering::Relaxed);
        }
    }

    /// True if the node may dial the address. Addresses other than IP addresses are within the process, and are
    /// allowed.
    pub(super) fn allows(&self, address: &Multiaddr) -> bool {
        let own = &self.own[usize::from(is_of_v6(address))];
        let most = own.load(Ordering::Relaxed).max(self.named.load(Ordering::Relaxed));
        Kind::of(address).is_none_or(|kind| kind as u8 <= most)
    }
}

/// True if this is an IPv6 address that does not stand for one of IPv4.
fn is_of_v6(address: &Multiaddr) -> bool {
    ip_of(address).is_some_and(|ip| ip.is_ipv6())
}

/// A transport that dials only addresses that [`Reach`] allows, whichever behaviour requests it: Kademlia dials
/// addresses that it learns during a look-up.
///
/// Each outgoing connection has a port of its own. If it used the port on which the node listens, as is usual in
/// libp2p, the node could not dial a peer while the system remembers a connection of this port to it that was closed
/// less than a minute ago, and nodes would fail to get to know each other.
pub(super) struct Within<T> {
    transport: T,
    reach: Arc<Reach>,
}

impl<T> Within<T> {
    pub(super) fn new(reach: Arc<Reach>, transport: T) -> Self {
        Self { transport, reach }
    }
}

impl<T: Transport + Unpin> Transport for Within<T> {
    type Output = T::Output;
    type Error = T::Error;
    type ListenerUpgrade = T::ListenerUpgrade;
    type Dial = T::Dial;

    fn listen_on(&mut self, id: ListenerId, address: Multiaddr) -> Result<(), TransportError<Self::Error>> {
        self.transport.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.transport.remove_listener(id)
    }

    fn dial(&mut self, address: Multiaddr, options: DialOpts) -> Result<Self::Dial, TransportError<Self::Error>> {
        if self.reach.allows(&address) {
            self.transport.dial(address, DialOpts { port_use: PortUse::New, ..options })
        } else {
            Err(TransportError::MultiaddrNotSupported(address))
        }
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Pin::new(&mut self.transport).poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use libp2p::multiaddr::Protocol;

    use super::*;

    fn address(ip: &str) -> Multiaddr {
        let ip: IpAddr = ip.parse().expect("an address");
        Multiaddr::from(ip).with(Protocol::Tcp(1))
    }

    #[test]
    fn addresses_have_kinds_however_they_are_written() {
        for (ips, kind) in [
            (
                &[
                    "127.0.0.1",
                    "127.9.9.9",
                    "0.0.0.0",
                    "::1",
                    "::",
                    "::ffff:127.0.0.1",
                    "::127.0.0.1",
                    "64:ff9b::7f00:1",
                ][..],
                Kind::Loopback,
            ),
            (
                &[
                    "10.0.0.1",
                    "192.168.1.1",
                    "172.16.0.1",
                    "169.254.169.254",
                    "100.64.0.1",
                    "198.18.0.1",
                    "224.0.0.1",
                    "fe80::1",
                    "fd00::1",
                    "ff02::1",
                    "::ffff:10.0.0.1",
                    "2002:0a00:0001::",
                ][..],
                Kind::Private,
            ),
            (
                &["192.0.2.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "2001:db8::1", "2002:0808:0808::"][..],
                Kind::Public,
            ),
        ] {
            for ip in ips {
                assert_eq!(Kind::of(&address(ip)), Some(kind), "{ip}");
            }
        }
        assert_eq!(Kind::of(&"/memory/7".parse().expect("an address")), None);
    }

    #[test]
    fn a_node_dials_what_is_as_far_as_itself() {
        let (public, private, loopback) = (address("192.0.2.1"), address("10.0.0.1"), address("127.0.0.1"));
        let all = [&public, &private, &loopback];
        let reach = Reach::default();
        for (own, allowed) in [
            (&[loopback.clone(), private.clone(), public.clone()][..], [true, false, false]),
            (&[loopback.clone(), private.clone()], [true, true, false]),
            (std::slice::from_ref(&loopback), [true, true, true]),
            // An address of IPv6 says nothing of those of IPv4, and the other way round.
            (&[private.clone(), address("2001:db8::1")], [true, true, false]),
            (&[public.clone(), address("fd00::1")], [true, false, false]),
            (&[address("2001:db8::1")], [true, false, false]),
        ] {
            reach.set_own(own);
            assert_eq!(all.map(|address| reach.allows(address)), allowed, "{own:?}");
        }
        reach.set_own(&[private.clone(), address("2001:db8::1")]);
        assert!(reach.allows(&address("2001:db8::2")) && !reach.allows(&address("fd00::2")));
        reach.set_own(std::slice::from_ref(&public));
        reach.name(&private);
        assert_eq!(all.map(|address| reach.allows(address)), [true, true, false]);
        assert!(reach.allows(&"/memory/7".parse().expect("an address")));
        let reach = Reach::default();
        assert_eq!(all.map(|address| reach.allows(address)), [true, false, false]);
        reach.allow_private();
        assert_eq!(all.map(|address| reach.allows(address)), [true, true, false]);
    }
}
