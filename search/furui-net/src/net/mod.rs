//! Talks to other nodes. Only this module knows libp2p.
//!
//! ```text
//!   Net ──commands──▶ Driver ──▶ Swarm: kad       /furui/kad/1   who is closest to a key
//!    ▲                  │               exchange  /furui/1       a request, an answer
//!    └── answers ───────┤               identify, ping, limits, incoming limits
//!                       └──▶ Inbound: what others ask, within their quotas
//! ```
//!
//! A [`Net`] finds the nodes nearest to a key ([`Net::closest`], [`Net::replicas`]), and carries requests and answers
//! ([`Net::call`], [`Inbound`]) without interpreting their bytes. Everything that a peer can make grow has a named
//! limit.

mod area;
mod behaviour;
mod blocked;
mod bootstrap;
mod buffer_budget;
mod codec;
mod config;
mod counters;
mod diversity;
mod driver;
mod exchange;
mod handle;
mod identity;
mod incoming_limits;
mod invitation;
mod known;
mod listening;
mod network;
mod peer_address;
mod prefix;
mod quota;
mod reach;
mod refusals;
mod routes;
mod shared;
mod signature;
mod start_error;
mod streams;
mod transport;

pub use codec::MAX_MESSAGE;
pub use config::Config;
pub use counters::Counters;
pub use diversity::{Chosen, WINDOW, choose};
pub use exchange::{CallError, Inbound, Reply};
pub use handle::Net;
pub(crate) use identity::is_open_to_others;
pub use identity::{Identity, IdentityError};
pub use invitation::{Invitation, InvitationError};
pub use known::{identity_of, name, peer_of};
pub(crate) use listening::{ports, with_port_of_before};
pub use network::{Network, NetworkError};
pub use peer_address::{NoPeerAddress, PeerAddress};
pub use prefix::Prefix;
pub use refusals::{Refusal, Refusals};
pub(crate) use signature::{is_signed, is_withdrawn};
pub use start_error::StartError;
pub use transport::Transport;
