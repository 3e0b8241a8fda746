//! Publishes and withdraws documents for this node's users, and completes this node's copies of lists and records.

pub(in crate::node) mod loads;
pub(in crate::node) mod publish;
pub(in crate::node) mod publish_error;
pub(in crate::node) mod published;
pub(in crate::node) mod repair;
pub(in crate::node) mod withdraw;
