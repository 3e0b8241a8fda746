//! Keeps what this node decides about other nodes: which are asked last, how much data each may store here, and which
//! are blocked.

pub(in crate::node) mod allowance;
pub(in crate::node) mod owner_calls;
pub(in crate::node) mod owner_list;
pub(in crate::node) mod reputation;
pub(in crate::node) mod sources;
