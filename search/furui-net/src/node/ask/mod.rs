//! The asking side: searches, and finds out from other nodes what documents are.

pub(in crate::node) mod answer;
pub(in crate::node) mod asking;
pub(in crate::node) mod doubts;
pub(in crate::node) mod fetch;
pub(in crate::node) mod filling;
pub(in crate::node) mod publishers;
pub(in crate::node) mod search;
pub(in crate::node) mod showing;
pub(in crate::node) mod spent;
pub(in crate::node) mod survey;
pub(in crate::node) mod versions;
