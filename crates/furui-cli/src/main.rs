//! `furui`: have I seen this?

mod blocks;
mod cli;
mod interrupt;
mod keys;
mod memory;
mod seen;
mod size;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Exit codes are grep's: 0 done or found, 1 nothing found, 2 error.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Seen(options) => seen::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("furui: {error}");
            ExitCode::from(ERROR)
        }
    }
}
