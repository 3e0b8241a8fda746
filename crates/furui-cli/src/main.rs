//! `furui`: have I seen this?

mod blocks;
mod cli;
mod demo;
mod dict;
mod filter;
mod input;
mod interrupt;
mod keys;
mod manual;
mod memory;
mod node;
mod output;
mod pipes;
mod progress;
mod publish;
mod report;
mod search;
mod seen;
mod size;
mod store;
mod unpublish;
mod wait;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Exit codes are grep's: 0 done or found, 1 nothing found, 2 error.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Seen(options) => seen::run(&options),
        Command::Filter(command) => filter::run(&command),
        Command::Dict(command) => dict::run(&command),
        Command::Node(options) => node::run(&options),
        Command::Publish(options) => publish::run(&options),
        Command::Unpublish(options) => unpublish::run(&options),
        Command::Search(options) => search::run(&options),
        Command::Demo(options) => demo::run(&options),
        Command::Compact(options) => store::compact(&options),
        Command::Snapshot(options) => store::snapshot(&options),
        Command::Info(options) => store::info(&options.path, options.json),
        Command::Verify(store) => store::verify(&store.path),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::pages(dir.as_deref()),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::from(ERROR)
        }
    }
}

/// Says what went wrong.
fn complain(error: &furui::Error) {
    // A standard error that takes nothing is no reason to say it any louder.
    let _ = writeln!(std::io::stderr(), "furui: {error}");
}
