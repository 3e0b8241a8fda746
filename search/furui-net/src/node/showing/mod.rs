//! Shows documents: answers what is shown of those that this node keeps, and finds out what other nodes keep.

mod answer;
mod evidence;
mod gathering;
mod proof;
mod truth;
mod verdict;

pub(super) use answer::answer;
pub(super) use gathering::Gathering;
pub(super) use proof::{Proof, prove};
pub(super) use truth::Ranks;
pub(super) use verdict::Verdict;
