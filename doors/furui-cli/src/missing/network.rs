//! A build without the feature `node`: the commands of the search engine print how to get a build with them.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::error::Error;
use clap::{Args, Subcommand};

use crate::missing::install;

use crate::say::notes::Notes;

pub const NOTES: &[Notes] = &[];

/// The text below the list of all commands in the help, which says that the commands of the search engine are missing.
pub fn missing() -> Option<String> {
    Some(format!(
        "This build has no search engine. The commands node, invite, publish, unpublish, search, mcp, block, unblock, \
         purge, trust, untrust and demo are in a build with it: {}",
        install("node")
    ))
}

#[derive(Subcommand)]
pub enum NetworkCommand {
    #[command(hide = true, disable_help_flag = true)]
    Node(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Invite(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Publish(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Unpublish(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Search(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Mcp(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Block(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Unblock(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Purge(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Trust(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Untrust(Anything),
    #[command(hide = true, disable_help_flag = true)]
    Demo(Anything),
}

/// A command of the search engine, which this build does not have
#[derive(Args)]
pub struct Anything {
    /// Any arguments; they are ignored
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub fn run(command: &NetworkCommand) -> Result<ExitCode, Error> {
    let name = match command {
        NetworkCommand::Node(_) => "node",
        NetworkCommand::Invite(_) => "invite",
        NetworkCommand::Publish(_) => "publish",
        NetworkCommand::Unpublish(_) => "unpublish",
        NetworkCommand::Search(_) => "search",
        NetworkCommand::Mcp(_) => "mcp",
        NetworkCommand::Block(_) => "block",
        NetworkCommand::Unblock(_) => "unblock",
        NetworkCommand::Purge(_) => "purge",
        NetworkCommand::Trust(_) => "trust",
        NetworkCommand::Untrust(_) => "untrust",
        NetworkCommand::Demo(_) => "demo",
    };
    Err(no_engine(&format!("the command \"{name}\"")))
}

/// Takes the place of the function that copies a node, and always returns the error that says which build can.
pub fn snapshot(_: &str, _: Option<&Path>, _: &Path, _: Option<&Path>) -> Result<ExitCode, Error> {
    Err(no_engine("the option \"--node\""))
}

fn no_engine(what: &str) -> Error {
    Error::Message(format!(
        "{what} belongs to the search engine, which this build of furui does not have; \
         install one that has it: {}",
        install("node")
    ))
}
