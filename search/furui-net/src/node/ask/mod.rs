//! Searches for the users of this node, and fetches documents' records from the nodes that keep them.

pub(in crate::node) mod answer;
pub(in crate::node) mod asking;
pub(in crate::node) mod crowds;
pub(in crate::node) mod document;
pub(in crate::node) mod doubts;
pub(in crate::node) mod fetch;
pub(in crate::node) mod filling;
mod forms;
pub(in crate::node) mod languages;
mod relaxing;
pub(in crate::node) mod search;
pub(in crate::node) mod sharing;
pub(in crate::node) mod showing;
mod spelling;
pub(in crate::node) mod spent;
pub(in crate::node) mod versions;
