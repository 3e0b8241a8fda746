//! The experiments of the paper on quotient filters.

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[];
