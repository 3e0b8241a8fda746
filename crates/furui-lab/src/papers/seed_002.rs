//! The experiments of the paper on duplicated URLs.

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[];
