//! Drives [`furui_search`] over the network: routing by Kademlia, messages over Noise-encrypted connections, postings
//! and documents in an embedded database, and an HTTP interface on loopback.

#![warn(missing_debug_implementations, unreachable_pub)]

mod database;
pub mod http;
mod meters;
pub mod net;
pub mod node;
pub mod shelf;
pub mod watched;
