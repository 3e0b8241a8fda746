//! `furui`: have I seen this?

mod cli;
mod combine;
mod commit;
mod decode;
mod dict;
mod error;
mod files;
mod filter;
mod has;
mod hashes;
mod input;
mod interrupt;
mod keys;
mod maintain;
mod manual;
mod memory;
#[cfg(not(feature = "node"))]
mod missing;
#[cfg_attr(not(feature = "node"), path = "missing/network.rs")]
mod network;
mod opening;
mod output;
mod pipes;
#[cfg_attr(not(feature = "net"), path = "missing/remote.rs")]
mod remote;
mod say;
mod schemes;
mod seen;
mod streams;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use furui::format::Printable;
use furui::store::cascade::Combination;

use cli::{Cli, Command};
use error::Error;
use input::unread;
use output::{is_styled, print};
use schemes::scheme;

/// The exit code after an error. The codes are those of grep: 0 for done or found, 1 for nothing found, 2 for an error.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    memory::return_freed();
    manual::complete();
    let result = cli::arguments().map_or_else(explain, run);
    result.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(ERROR)
    })
}

fn run(Cli { command }: Cli) -> Result<ExitCode, Error> {
    match command {
        Command::Seen(options) => seen::run(&options).map(unread::status),
        Command::Has(options) => has::run(&options),
        Command::Union(options) => combine::run(&options, Combination::Union),
        Command::Subtract(options) => combine::run(&options, Combination::Difference),
        Command::Intersect(options) => combine::run(&options, Combination::Intersection),
        Command::Export(options) => hashes::export(&options),
        Command::Commit(options) => commit::run(&options),
        Command::Import(options) => hashes::import(&options),
        Command::Filter(command) => filter::run(&command).map(unread::status),
        Command::Dict(command) => dict::run(&command).map(unread::status),
        Command::Network(command) => network::run(&command),
        Command::Compact(options) => maintain::compact(&options),
        Command::Snapshot(options) => maintain::snapshot(&options),
        Command::Info(options) => maintain::info(&options),
        Command::Verify(options) => maintain::verify(&options.paths),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::pages(dir.as_deref()),
    }
}

/// Prints the requested help, or explains what is wrong with the arguments.
fn explain(mut error: clap::Error) -> Result<ExitCode, Error> {
    if error.use_stderr() {
        // clap suggests to write `-- -c`, which is rarely what the user meant.
        error.remove(ContextKind::Suggested);
        // Another program may have put the name of a stranger's file among the arguments.
        for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand] {
            if let Some(ContextValue::String(text)) = error.get(kind) {
                // A URL may have a password.
                let text = match scheme(Path::new(text)) {
                    Some(scheme) => format!("{}://...", Printable(scheme)),
                    None => Printable(text).to_string(),
                };
                error.insert(kind, ContextValue::String(text));
            }
        }
        // If standard error cannot be written to, the exit code must suffice.
        let _ = error.print();
        if let Some(hint) = cli::format_hint::hint(&error) {
            complain(&Error::Message(hint));
        }
        return Ok(ExitCode::from(ERROR));
    }
    let text = error.render();
    print(if is_styled() { text.ansi().to_string() } else { text.to_string() }.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints an error on standard error.
fn complain(error: &Error) {
    // If standard error cannot be written to, the exit code must suffice.
    let _ = writeln!(std::io::stderr(), "furui: {error}");
}
