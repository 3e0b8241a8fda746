//! The options of `furui union`, `subtract` and `intersect`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{SeedOptions, place};

#[derive(Args)]
pub struct CombineOptions {
    /// The stores or the filters to combine; redis://HOST:PORT/NAME is a set in a server
    #[arg(value_name = "SET", required = true, value_hint = ValueHint::AnyPath, value_parser = place::anywhere())]
    pub sets: Vec<PathBuf>,
    /// Where the result is written: for stores a new or an empty directory, for filters a file, or "-" for standard
    /// output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath, value_parser = place::local())]
    pub output: PathBuf,
    #[command(flatten)]
    pub seed: SeedOptions,
}
