//! What this node thinks of other nodes: whom it asks last, what it lets them store, and whom it blocks.

pub(in crate::node) mod allowance;
pub(in crate::node) mod blocking;
pub(in crate::node) mod blocklist;
pub(in crate::node) mod reputation;
