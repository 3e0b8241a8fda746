use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use furui_search::Peer;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use sha2::{Digest, Sha256};

/// The part of a peer's address that represents one owner: a whole IPv4 address, or the first 56 bits of an IPv6
/// address, which providers assign to one customer. Limits for strangers are counted per prefix too, because identities
/// are free and addresses are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prefix {
    /// No address: a connection within the process, or the node itself. Limits per prefix do not apply.
    Local,
    /// A whole IPv4 address.
    V4([u8; 4]),
    /// The first 56 bits of an IPv6 address.
    V6([u8; 7]),
}

impl Prefix {
    /// The prefix of the remote address of a connection.
    pub(super) fn of(address: &Multiaddr) -> Self {
        ip_of(address).map_or(Self::Local, Self::of_ip)
    }

    /// The prefix of the address that a peer states.
    pub fn of_peer(peer: &Peer) -> Self {
        Multiaddr::try_from(peer.address().to_vec()).map_or(Self::Local, |address| Self::of(&address))
    }

    /// The prefix by which the keepers of a key are told apart. In a private network, whose members are trusted, each
    /// node stands for itself, as those of one site often share a prefix of IPv6.
    pub(crate) fn among(is_private: bool) -> fn(&Peer) -> Self {
        if is_private { |_| Self::Local } else { Self::of_peer }
    }

    /// True if limits per prefix apply. They do not apply to connections within the process or the machine.
    pub fn is_counted(self) -> bool {
        match self {
            Self::Local => false,
            Self::V4([first, ..]) => first != 127,
            // Of this prefix, only the loopback address ::1 can belong to a node.
            Self::V6(prefix) => prefix != [0; 7],
        }
    }

    /// A hash of the prefix, by which publishers of one network are counted as one; 0 if there is no address.
    pub fn network(self) -> u32 {
        if self == Self::Local {
            return 0;
        }
        let hash: [u8; 32] = Sha256::digest(self.to_string()).into();
        let (first, _) = hash.split_first_chunk().expect("longer than that");
        u32::from_le_bytes(*first).max(1)
    }

    /// The prefix of an IP address. An IPv4-mapped IPv6 address is treated as an IPv4 address.
    pub fn of_ip(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self::V4(ip.octets()),
            IpAddr::V6(ip) => {
                let octets = ip.octets();
                Self::V6(std::array::from_fn(|at| octets[at]))
            }
        }
    }
}

/// The IP address in an address, if there is one. An IPv4-mapped IPv6 address is returned as an IPv4 address.
pub(super) fn ip_of(address: &Multiaddr) -> Option<IpAddr> {
    match address.iter().next()? {
        Protocol::Ip4(ip) => Some(ip.into()),
        Protocol::Ip6(ip) => Some(ip.to_canonical()),
        _ => None,
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("this process"),
            Self::V4([a, b, c, d]) => write!(f, "{a}.{b}.{c}.{d}/32"),
            Self::V6(prefix) => {
                let mut octets = [0; 16];
                octets[..7].copy_from_slice(prefix);
                write!(f, "{}/56", Ipv6Addr::from(octets))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_has_one_prefix() {
        let of = |address: &str| Prefix::of(&address.parse().expect("a multiaddress"));
        assert_eq!(of("/ip4/192.0.2.7/tcp/1"), of("/ip4/192.0.2.7/tcp/9"));
        assert_ne!(of("/ip4/192.0.2.7/tcp/1"), of("/ip4/192.0.2.8/tcp/1"));
        assert_eq!(of("/ip6/2001:db8:0:1::5/tcp/1"), of("/ip6/2001:db8:0:fe:1::/tcp/1"));
        assert_ne!(of("/ip6/2001:db8:0:1::5/tcp/1"), of("/ip6/2001:db8:0:100::5/tcp/1"));
        assert_eq!(of("/ip6/::ffff:192.0.2.7/tcp/1"), of("/ip4/192.0.2.7/tcp/1"));
        assert_eq!(of("/memory/5"), Prefix::Local);
        for (address, is_counted) in [
            ("/memory/5", false),
            ("/ip4/127.0.0.1/tcp/1", false),
            ("/ip6/::1/tcp/1", false),
            ("/ip4/10.0.0.1/tcp/1", true),
            ("/ip6/2001:db8::1/tcp/1", true),
        ] {
            assert_eq!(of(address).is_counted(), is_counted, "{address}");
        }
        assert_eq!(of("/ip4/192.0.2.7/tcp/1").to_string(), "192.0.2.7/32");
        assert_eq!(of("/ip6/2001:db8:0:1fe::5/tcp/1").to_string(), "2001:db8:0:100::/56");
    }
}
