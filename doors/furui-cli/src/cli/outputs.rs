//! The options that say what the commands print, and where.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::headings;

/// Where a command prints to.
#[derive(Args)]
#[command(next_help_heading = headings::OUTPUT)]
pub struct PrintOptions {
    /// Print to FILE instead of standard output
    ///
    /// FILE is overwritten, as by `> FILE`, with the same guarantees. A file that is also read is refused, and is not
    /// changed. "-" is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// What `furui seen` reports about each line and each file.
#[derive(Args)]
#[command(next_help_heading = headings::OUTPUT)]
pub struct OutputOptions {
    /// Print 1 for each new line and 0 for others, at once
    ///
    /// The mark is 1 if the line would have been printed, because it is new or is kept without a key, and 0 if not. The
    /// first header of --csv and --tsv counts as new. With --store a line is recorded after its mark was read
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "alone", conflicts_with_all = ["invert", "quiet"])]
    pub mark: Option<MarkForm>,
    /// Append the repeats to FILE
    ///
    /// They are in the order of the input. If FILE is new or empty, it gets the header of --csv or --tsv, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "invert")]
    pub repeats: Option<PathBuf>,
    /// Count the lines of each file, on standard error
    ///
    /// For each file, print how many lines were new, how many were repeats, and how many had no key. With --stats=json
    /// these are in the JSON, where file_bytes has the bytes of a name that is not UTF-8. A header is not counted
    #[arg(short, long)]
    pub count: bool,
}

/// What `--mark` prints for a line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MarkForm {
    /// Only 1 or 0, without the line
    Alone,
    /// 1 or 0, a tab, and the line as it is
    Line,
}
