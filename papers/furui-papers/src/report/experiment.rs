//! An experiment, and what it found.

use super::{Context, Plot, Result, Source, Table, Verdict};

/// One figure or table of a paper, or a question of our own.
#[derive(Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) source: Source,
    /// The name within the source, such as `fig4`; on the command line it is `ringed-fig4`.
    pub(crate) name: &'static str,
    /// The title, such as `Fig. 4: what it shows`.
    pub(crate) title: &'static str,
    /// The paper's claim with its figures, in a sentence or two; or, if the experiment is not from a paper, the
    /// question.
    pub(crate) claim: &'static str,
    pub(crate) run: fn(&Context) -> Result<Finding>,
}

/// The results of an experiment. The names of its tables and plots are unique within the source.
pub(crate) struct Finding {
    /// The data, in a sentence: the name of real data, or how synthetic data is made.
    pub(crate) data: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) plots: Vec<Plot>,
    pub(crate) verdict: Verdict,
    /// Remarks for the reader, of a sentence or two each.
    pub(crate) notes: Vec<String>,
}

impl Experiment {
    /// The name of the experiment on the command line.
    pub(crate) fn full_name(&self) -> String {
        format!("{}-{}", self.source.prefix(), self.name)
    }
}
