use std::collections::HashSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

use super::Prefix;

/// A network of addresses: those that begin with the same bits, written as `192.0.2.0/24` or `2001:db8::/32`. A single
/// address is a network, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    ip: IpAddr,
    bits: u8,
}

impl Network {
    /// True if the address is in the network.
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self.ip, ip.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => first_bits(own, self.bits) == first_bits(ip, self.bits),
            (IpAddr::V6(own), IpAddr::V6(ip)) => first_bits_v6(own, self.bits) == first_bits_v6(ip, self.bits),
            _ => false,
        }
    }

    /// True if the first address of a prefix is in the network.
    pub fn has(&self, prefix: Prefix) -> bool {
        match prefix {
            Prefix::Local => false,
            Prefix::V4(octets) => self.contains(Ipv4Addr::from(octets).into()),
            Prefix::V6(first) => {
                let mut octets = [0; 16];
                octets[..7].copy_from_slice(&first);
                self.contains(Ipv6Addr::from(octets).into())
            }
        }
    }
}

fn first_bits(ip: Ipv4Addr, bits: u8) -> u32 {
    ip.to_bits().checked_shr(32 - u32::from(bits)).unwrap_or(0)
}

fn first_bits_v6(ip: Ipv6Addr, bits: u8) -> u128 {
    ip.to_bits().checked_shr(128 - u32::from(bits)).unwrap_or(0)
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.bits)
    }
}

/// A text is not a network of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoNetwork;

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let (ip, bits) = text.split_once('/').map_or((text, None), |(ip, bits)| (ip, Some(bits)));
        let ip: IpAddr = ip.parse().map_err(|_| NoNetwork)?;
        let most = if ip.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| NoNetwork))?;
        let ip = match ip {
            _ if bits > most => return Err(NoNetwork),
            IpAddr::V4(ip) => {
                Ipv4Addr::from_bits(first_bits(ip, bits).checked_shl(32 - u32::from(bits)).unwrap_or(0)).into()
            }
            IpAddr::V6(ip) => {
                Ipv6Addr::from_bits(first_bits_v6(ip, bits).checked_shl(128 - u32::from(bits)).unwrap_or(0)).into()
            }
        };
        Ok(Self { ip, bits })
    }
}

/// The peers and networks with which the node does not speak.
#[derive(Debug, Default)]
pub(super) struct Blocked(RwLock<(HashSet<PeerId>, Vec<Network>)>);

impl Blocked {
    pub(super) fn set(&self, peers: HashSet<PeerId>, networks: Vec<Network>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = (peers, networks);
    }

    pub(super) fn has_peer(&self, peer: &PeerId) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).0.contains(peer)
    }

    pub(super) fn has_address(&self, address: &Multiaddr) -> bool {
        let ip = match address.iter().next() {
            Some(Protocol::Ip4(ip)) => ip.into(),
            Some(Protocol::Ip6(ip)) => ip.into(),
            _ => return false,
        };
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.iter().any(|network| network.contains(ip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_the_addresses_that_begin_as_they_do() {
        for (network, shown, inside, outside) in [
            ("192.0.2.77/24", "192.0.2.0/24", "192.0.2.1", "192.0.3.1"),
            ("192.0.2.77", "192.0.2.77/32", "::ffff:192.0.2.77", "192.0.2.78"),
            ("2001:db8::1/32", "2001:db8::/32", "2001:db8:ffff::", "2001:db9::"),
            ("0.0.0.0/0", "0.0.0.0/0", "8.8.8.8", "::8"),
        ] {
            let network: Network = network.parse().expect("a network");
            assert_eq!(network.to_string(), shown);
            let has = |ip: &str| network.contains(ip.parse().expect("an address"));
            assert!(has(inside) && !has(outside), "{shown}");
        }
        for bad in ["", "example.org", "192.0.2.0/33", "192.0.2.0/x", "2001:db8::/129"] {
            assert_eq!(bad.parse::<Network>(), Err(NoNetwork), "{bad}");
        }
    }
}
