use super::Experiment;
pub(super) const EXPERIMENTS: &[Experiment] = &[];
