//! A set in a Valkey or Redis server, or cluster, with the module furui-valkey (`doors/furui-valkey`).
//!
//! The set has the same layout as one of `furui.valkey.Seen` of the Python package, so that both can share it.

mod address;
#[cfg(feature = "tls")]
mod encrypted;
mod failure;
mod fetch;
mod flight;
mod keys;
mod layout;
mod link;
mod node;
mod nodes;
mod set;
mod slots;
mod stream;
mod uninterrupted;
mod watched;

pub use failure::Failure;
pub use keys::RemoteKeys;
pub use set::RemoteSet;
