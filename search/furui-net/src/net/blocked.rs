use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use ipnet::IpNet;
use libp2p::{Multiaddr, PeerId};

use super::prefix::ip_of;

/// The peers and networks with which the node's owner has forbidden connections.
#[derive(Debug, Default)]
pub(super) struct Blocked(RwLock<(HashSet<PeerId>, Vec<IpNet>)>);

impl Blocked {
    pub(super) fn set(&self, peers: HashSet<PeerId>, networks: Vec<IpNet>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = (peers, networks);
    }

    pub(super) fn has_peer(&self, peer: &PeerId) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).0.contains(peer)
    }

    pub(super) fn has_address(&self, address: &Multiaddr) -> bool {
        let Some(ip) = ip_of(address) else { return false };
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.iter().any(|network| network.contains(&ip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_the_addresses_that_begin_as_they_do() {
        for (network, inside, outside) in [
            ("192.0.2.0/24", "/ip4/192.0.2.1", "/ip4/192.0.3.1"),
            ("192.0.2.77/32", "/ip6/::ffff:192.0.2.77", "/ip4/192.0.2.78"),
            ("2001:db8::/32", "/ip6/2001:db8:ffff::", "/ip6/2001:db9::"),
            ("0.0.0.0/0", "/ip4/8.8.8.8", "/ip6/::8"),
        ] {
            let blocked = Blocked::default();
            blocked.set([].into(), vec![network.parse().expect("a network")]);
            let has = |address: &str| blocked.has_address(&address.parse().expect("an address"));
            assert!(has(inside) && !has(outside), "{network}");
        }
    }
}
