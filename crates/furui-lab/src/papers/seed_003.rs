//! The experiments of the paper on tries built online.

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[];
