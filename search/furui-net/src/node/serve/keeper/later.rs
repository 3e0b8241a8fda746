use furui_search::{Refusal, Response, WordSize};

use super::check::Check;
use super::examination::Doubts;

/// A complete answer, or what it needs: the sizes of lists, to which the keepers of the words must be added.
pub(super) enum Later {
    Now(Response),
    Sizes(Vec<(String, WordSize)>),
    /// An answer that waits for a check.
    Check(Box<Check>),
    /// An answer at once, and an examination.
    Doubts(Box<Doubts>),
}

impl Later {
    pub(super) fn refused(why: Refusal) -> Self {
        Self::Now(Response::Refused(why))
    }
}
