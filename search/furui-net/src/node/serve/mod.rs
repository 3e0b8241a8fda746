//! The serving side: answers other nodes, and checks what they claim before it is stored.

pub(in crate::node) mod claims;
pub(in crate::node) mod keeper;
