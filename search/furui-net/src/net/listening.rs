//! Chooses the ports on which a node listens.

use std::io;
use std::net::{IpAddr, SocketAddr};

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use socket2::{Domain, Socket, Type};

use super::PeerAddress;

/// Fails if another program listens on this address, or on the same port of another one that includes it.
///
/// libp2p lets several sockets of one user share a port (`SO_REUSEPORT`), so that a second node would start without an
/// error, and the system would give each connection to one of the two. A socket without this option is refused the
/// port.
pub(super) fn check_free(address: &Multiaddr) -> io::Result<()> {
    let Some(socket_address) = socket_address(address).filter(|address| address.port() != 0) else { return Ok(()) };
    let socket = Socket::new(Domain::for_address(socket_address), Type::STREAM, None)?;
    if socket_address.is_ipv6() {
        // libp2p listens on IPv4 and IPv6 by two sockets.
        socket.set_only_v6(true)?;
    }
    // Connections of an earlier node that the system still remembers do not count. On Windows, the option would allow
    // to share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&socket_address.into())
}

/// Replaces port 0 of an address to listen on by the first of `ports` for its IP version that is free, and takes that
/// one out of `ports`: so a node that is started again has the addresses that others know. `ports` has the ports on
/// which the node has listened, each with true for IPv6.
pub(crate) fn with_port_of_before(listen: &str, ports: &mut Vec<(bool, u16)>) -> String {
    let address = listen.parse::<Multiaddr>().ok();
    let Some(socket) = address.as_ref().and_then(socket_address).filter(|socket| socket.port() == 0) else {
        return listen.to_owned();
    };
    let at = |port: u16| Multiaddr::from(socket.ip()).with(Protocol::Tcp(port));
    let is_free = |&(is_v6, port): &(bool, u16)| is_v6 == socket.is_ipv6() && check_free(&at(port)).is_ok();
    match ports.iter().position(is_free) {
        Some(found) => at(ports.remove(found).1).to_string(),
        None => listen.to_owned(),
    }
}

/// The ports on which a node listens at these addresses, each with true for IPv6.
pub(crate) fn ports(addresses: &[PeerAddress]) -> Vec<(bool, u16)> {
    let mut ports: Vec<(bool, u16)> = addresses.iter().filter_map(PeerAddress::port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The IP address and the port of an address that has nothing else.
fn socket_address(address: &Multiaddr) -> Option<SocketAddr> {
    let mut parts = address.iter();
    let ip: IpAddr = match parts.next()? {
        Protocol::Ip4(ip) => ip.into(),
        Protocol::Ip6(ip) => ip.into(),
        _ => return None,
    };
    match (parts.next()?, parts.next()) {
        (Protocol::Tcp(port), None) => Some(SocketAddr::new(ip, port)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_is_taken_again_if_it_is_free() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = taken.local_addr().expect("an address").port();
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let mut ports = vec![(true, free), (false, port), (false, free)];
        let mut again = |listen: &str| with_port_of_before(listen, &mut ports);
        // What the owner says goes before.
        for listen in ["/ip4/127.0.0.1/tcp/7", "/memory/0", "/ip6/::1/udp/0", "nothing"] {
            assert_eq!(again(listen), listen);
        }
        assert_eq!(again("/ip4/0.0.0.0/tcp/0"), format!("/ip4/0.0.0.0/tcp/{free}"));
        assert_eq!(again("/ip4/127.0.0.1/tcp/0"), "/ip4/127.0.0.1/tcp/0");
        let address = |ip: &str| format!("{ip}/tcp/{port}").parse::<Multiaddr>().expect("an address");
        for ip in ["/ip4/127.0.0.1", "/ip4/0.0.0.0"] {
            assert_eq!(check_free(&address(ip)).expect_err("it is taken").kind(), io::ErrorKind::AddrInUse);
        }
        drop(taken);
        check_free(&address("/ip4/127.0.0.1")).expect("it is free");
    }
}
