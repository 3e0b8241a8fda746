//! `furui filter`: commands on filters, which are small files that answer "have I seen this?".

mod build;
pub mod cascade;
mod change;
mod combine;
mod compare;
mod describe;
mod file;
mod gather;
mod list;
mod observe;
mod resize;
mod seed;
mod window;

use std::process::ExitCode;

use crate::cli::{FilterCommand, FilterKind};
use crate::error::Error;
pub use combine::combine;
pub use describe::{details, fields};
pub use file::{form_of, open, refuse_pipe};
pub use observe::Observer;
pub use seed::given as given_seed;
pub use window::tell_time;

/// Runs a subcommand of `furui filter`.
pub fn run(command: &FilterCommand) -> Result<ExitCode, Error> {
    match command {
        FilterCommand::Build(options) if options.kind == FilterKind::Cascade => cascade::build(options),
        FilterCommand::Build(options) => build::run(options),
        FilterCommand::Insert(options) if file::is_cascade(&options.change.filter)? => cascade::insert(options),
        FilterCommand::Insert(options) => change::insert(options),
        FilterCommand::Remove(options) => change::remove(&options.change),
        FilterCommand::Compare(options) => compare::run(options),
        FilterCommand::Resize(options) => resize::run(options),
        FilterCommand::List(options) => list::run(options),
    }
}
