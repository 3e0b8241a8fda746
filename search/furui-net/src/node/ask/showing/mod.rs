//! Answers requests for the contents of documents that this node keeps, and requests and verifies those of documents
//! that other nodes keep.

mod answer;
mod evidence;
mod gathering;
mod proof;
mod truth;
mod verdict;

pub(in crate::node) use answer::answer;
pub(in crate::node) use gathering::Gathering;
pub(in crate::node) use proof::prove;
pub(in crate::node) use truth::Ranks;
pub(in crate::node) use verdict::Verdict;
