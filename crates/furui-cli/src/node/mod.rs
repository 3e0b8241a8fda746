//! `furui node`, and asking one.

mod client;

use std::process::ExitCode;

use furui::Error;

use crate::cli::NodeOptions;

pub use client::{Client, Lines};

/// Runs the command.
pub fn run(options: &NodeOptions) -> Result<ExitCode, Error> {
    let NodeOptions { data, listen, http, bootstrap } = options;
    let what = format!("{}, {listen:?}, {http}, {bootstrap:?}", data.display());
    Err(Error::Config(format!("a node cannot be started yet ({what})")))
}
