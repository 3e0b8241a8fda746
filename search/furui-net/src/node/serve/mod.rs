//! Answers the requests of other nodes, and checks the postings that they send before storing them.

pub(in crate::node) mod claims;
pub(in crate::node) mod keeper;
