//! Shows documents: answers what is shown of those that this node keeps, and finds out what other nodes keep.

mod answer;
mod evidence;
mod gathering;
mod proof;
mod truth;
mod verdict;

pub(in crate::node) use answer::answer;
pub(in crate::node) use gathering::Gathering;
pub(in crate::node) use proof::{Proof, prove};
pub(in crate::node) use truth::Ranks;
pub(in crate::node) use verdict::Verdict;
