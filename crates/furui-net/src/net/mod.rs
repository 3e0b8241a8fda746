//! Talks to other nodes. Only this module knows libp2p.
//!
//! ```text
//!   Net ──commands──▶ Driver ──▶ Swarm: kad       /furui/kad/1   who is closest to a key
//!    ▲                  │               exchange  /furui/1       a request, an answer
//!    └── answers ───────┤               identify, ping, limits
//!                       └──▶ Inbound: what others ask, within their quotas
//! ```
//!
//! A [`Net`] finds the nodes nearest to a key ([`Net::closest`], [`Net::replicas`]), and carries requests and answers
//! ([`Net::call`], [`Inbound`]) without interpreting their bytes. Everything that a peer can make grow has a named
//! limit.

mod area;
mod behaviour;
mod codec;
mod command;
mod config;
mod counters;
mod driver;
mod exchange;
mod handle;
mod identity;
mod known;
mod quota;
mod routes;

pub use codec::MAX_MESSAGE;
pub use config::{Config, StartError, Transport};
pub use counters::Counters;
pub use exchange::{CallError, Inbound, Reply, TooLong};
pub use handle::Net;
pub use identity::{Identity, IdentityError};
