//! The commands of the search engine: `furui node`, and those that send requests to a node. Only builds with the
//! feature `node` have these commands; other builds have `no_network.rs` in the place of this module.

mod block;
mod demo;
mod node;
mod notes;
mod options;
mod publish;
mod search;
mod unpublish;

use std::process::ExitCode;

use crate::error::Error;
use clap::Subcommand;

pub use notes::NOTES;
use options::block::{BlockOptions, PurgeOptions, UnblockOptions};
use options::demo::DemoOptions;
use options::node::NodeOptions;
use options::publish::PublishOptions;
use options::search::SearchOptions;
use options::unpublish::UnpublishOptions;

/// The text below the list of all commands in the help.
pub const MISSING: Option<&str> = None;

#[derive(Subcommand)]
pub enum NetworkCommand {
    Node(NodeOptions),
    Publish(PublishOptions),
    Unpublish(UnpublishOptions),
    Search(SearchOptions),
    Block(BlockOptions),
    Unblock(UnblockOptions),
    Purge(PurgeOptions),
    Demo(DemoOptions),
}

pub fn run(command: &NetworkCommand) -> Result<ExitCode, Error> {
    match command {
        NetworkCommand::Node(options) => node::run(options),
        NetworkCommand::Publish(options) => publish::run(options),
        NetworkCommand::Unpublish(options) => unpublish::run(options),
        NetworkCommand::Search(options) => search::run(options),
        NetworkCommand::Block(options) => block::block(options),
        NetworkCommand::Unblock(options) => block::unblock(options),
        NetworkCommand::Purge(options) => block::purge(options),
        NetworkCommand::Demo(options) => demo::run(options),
    }
}
