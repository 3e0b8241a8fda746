//! What this node publishes for its users, and how it keeps its copies complete.

pub(in crate::node) mod loads;
pub(in crate::node) mod publish;
pub(in crate::node) mod publish_error;
pub(in crate::node) mod published;
pub(in crate::node) mod repair;
pub(in crate::node) mod withdraw;
