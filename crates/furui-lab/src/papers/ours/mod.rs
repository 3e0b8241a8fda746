//! What no paper asks.

mod filters;
mod search;

use super::Experiment;

/// One list for each module.
pub(super) fn experiments() -> Vec<Experiment> {
    [search::EXPERIMENTS, filters::EXPERIMENTS].concat()
}
