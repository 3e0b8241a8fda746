//! The options of `furui commit`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use super::{WaitOptions, place};

/// Record in a store the lines that `furui seen --pending` found to be new
///
/// `furui seen --store STORE --pending FILE > out && upload out && furui commit STORE FILE`: a line is recorded only
/// after it has come to its place, however often the job fails and is started again. All lines of the FILEs and the
/// note are recorded in one change: after a crash all are there or none. Lines that are there already do no harm, so
/// the same FILE may be committed again. The FILEs are not removed. The number of lines that were recorded is printed
/// on standard error.
#[derive(Args)]
pub struct CommitOptions {
    /// The store
    #[arg(value_name = "STORE", value_hint = ValueHint::DirPath, value_parser = place::local())]
    pub store: PathBuf,
    /// Files of --pending, from one run or from several
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Leave this note in the store, as in --note 2026-11-27
    ///
    /// It replaces the note that is there, in the same change that records the lines, and says how far the store has
    /// followed its source. `furui info` prints it. At most 4 KiB
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub note: Option<String>,
    /// Fail unless the note of the store is TEXT
    ///
    /// "" is a store without a note. So of two jobs that began with the same note only one is recorded
    #[arg(long, value_name = "TEXT")]
    pub after: Option<String>,
    #[command(flatten)]
    pub wait: WaitOptions,
}
