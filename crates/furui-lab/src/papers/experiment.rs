//! What is measured, and what came of it.

use std::error::Error;

use super::{Context, Plot, Source, Verdict};
use crate::table::Table;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One figure or table of a paper, or a question of our own.
#[derive(Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) source: Source,
    /// Its name within the source, `fig4`; on the command line it is `000-fig4`.
    pub(crate) name: &'static str,
    /// `Fig. 4: what it shows`.
    pub(crate) title: &'static str,
    /// What the paper claims, in a sentence or two with its figures; what we ask, if there is no paper.
    pub(crate) claim: &'static str,
    pub(crate) run: fn(&Context) -> Result<Finding>,
}

/// What an experiment found. Tables and plots have names that no other of the source has.
pub(crate) struct Finding {
    /// What it ran on, in a sentence: real data by name, or how synthetic data is made.
    pub(crate) data: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) plots: Vec<Plot>,
    pub(crate) verdict: Verdict,
    /// What a reader should know, a sentence or two each.
    pub(crate) notes: Vec<String>,
}

impl Experiment {
    /// As the command line has it.
    pub(crate) fn full_name(&self) -> String {
        format!("{}-{}", self.source.prefix(), self.name)
    }
}
