//! The experiments of the column that explains Bloom filters.

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[];
