//! `furui`: have I seen this?

mod blocks;
mod cli;
mod interrupt;
mod keys;
mod memory;
mod pipes;
mod report;
mod seen;
mod size;
mod store;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Exit codes are grep's: 0 done or found, 1 nothing found, 2 error.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Seen(options) => seen::run(&options),
        Command::Compact(store) => store::compact(&store.path),
        Command::Info(options) => store::info(&options.path, options.json),
        Command::Verify(store) => store::verify(&store.path),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            // A standard error that takes nothing is no reason to say it any louder.
            let _ = writeln!(std::io::stderr(), "furui: {error}");
            ExitCode::from(ERROR)
        }
    }
}
