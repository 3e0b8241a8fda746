//! A set in a Valkey or Redis server, or cluster, with the module furui-valkey (`doors/furui-valkey`).
//!
//! The set is laid out as `furui.valkey.Seen` of the Python package lays it out, so that both share it.

mod address;
mod failure;
mod keys;
mod layout;
mod link;
mod node;
mod nodes;
mod set;
mod slots;

pub use keys::RemoteKeys;
pub use set::RemoteSet;
