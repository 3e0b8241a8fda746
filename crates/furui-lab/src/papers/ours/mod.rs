//! What no paper asks.

use super::Experiment;

/// A list for each module: the codings of a search, the filters, the sets and the tries.
pub(super) const EXPERIMENTS: &[Experiment] = &[];
