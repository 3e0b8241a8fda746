use std::net::IpAddr;

use axum::http::{HeaderMap, header};

/// The name of the cookie by which a browser is known.
pub(super) const COOKIE: &str = "furui";

/// The IP address of the client of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// True in a request of the node's owner, who may open files, copy the node and invite others. It shows the token or,
/// if the node has none, comes from this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfOwner(pub(super) bool);

/// True if a request was sent by a page of this node, or by a browser's user directly. The guard has refused other
/// values of both headers.
pub(super) fn is_of_own_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site")
}
