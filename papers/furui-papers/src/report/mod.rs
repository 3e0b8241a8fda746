//! What an experiment is made of, and how its findings become pages: tables, plots, verdicts, and a page for each
//! source.

mod axis;
mod context;
mod experiment;
pub(crate) mod page;
mod plot;
mod source;
mod table;
pub(crate) mod theirs;
mod verdict;

pub(crate) use axis::Axis;
pub(crate) use context::{Context, Result};
pub(crate) use experiment::{Experiment, Finding, Run};
pub(crate) use plot::{Mark, Plot};
pub(crate) use source::Source;
pub(crate) use table::{Cell, Table};
pub(crate) use verdict::{Grade, Verdict, brief};
