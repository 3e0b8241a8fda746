use furui_search::{Refusal, Response, WordSize};

use super::check::Check;
use super::examination::Doubts;

/// The outcome of handling a request: a complete answer, or the work that remains before the answer is complete.
pub(super) enum Later {
    Now(Response),
    Sizes(Vec<(String, WordSize)>),
    /// A message that is answered after its postings are checked.
    Check(Box<Check>),
    /// Doubted postings that are examined after the request is answered.
    Doubts(Box<Doubts>),
}

impl Later {
    pub(super) fn refused(why: Refusal) -> Self {
        Self::Now(Response::Refused(why))
    }
}
