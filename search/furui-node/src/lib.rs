//! The commands of the search engine: `furui node`, and those that send requests to a node.
//!
//! The command `furui` has them if it is built with the feature `node`. What they share with its other commands, such
//! as reading compressed input and the checks of standard output, they take from it as a [`Program`].

mod block;
mod client;
mod demo;
mod error;
mod extract;
mod gitignore;
mod invite;
mod log;
mod logging;
mod mcp;
mod node;
mod opening;
mod options;
mod pager;
mod program;
mod publish;
mod search;
mod snapshot;
mod unpublish;
mod watch;

use std::process::ExitCode;

use clap::Subcommand;

pub use error::Error;
use options::block::{BlockOptions, PurgeOptions, TrustOptions, UnblockOptions, UntrustOptions};
use options::demo::DemoOptions;
use options::invite::InviteOptions;
use options::mcp::McpOptions;
use options::node::NodeOptions;
use options::publish::PublishOptions;
use options::search::SearchOptions;
use options::unpublish::UnpublishOptions;
pub use program::{Part, Program};
pub use snapshot::snapshot;

/// The crates from which tests of the command build a node and a client of their own.
#[doc(hidden)]
pub use {furui_net, furui_search, tokio, ureq};

/// A command of the search engine with its options, as typed.
#[derive(Subcommand)]
#[expect(missing_docs, reason = "a comment here would be printed as the help, in place of that of the options")]
pub enum NetworkCommand {
    Node(Box<NodeOptions>),
    Invite(InviteOptions),
    Publish(PublishOptions),
    Unpublish(UnpublishOptions),
    Search(SearchOptions),
    Mcp(McpOptions),
    Block(BlockOptions),
    Unblock(UnblockOptions),
    Purge(PurgeOptions),
    Trust(TrustOptions),
    Untrust(UntrustOptions),
    Demo(DemoOptions),
    #[command(name = extract::NAME, hide = true)]
    Extract,
}

/// Runs a command as a part of `program`. The exit code is 0 if it did or found something, and 1 if there was nothing.
///
/// # Errors
/// If the node, the input or the output fails.
pub fn run(command: &NetworkCommand, program: &'static dyn Program) -> Result<ExitCode, Error> {
    match command {
        NetworkCommand::Node(options) => node::run(options, program),
        NetworkCommand::Invite(options) => invite::run(options, program),
        NetworkCommand::Publish(options) => publish::run(options, program),
        NetworkCommand::Unpublish(options) => unpublish::run(options, program),
        NetworkCommand::Search(options) => search::run(options, program),
        NetworkCommand::Mcp(options) => mcp::run(options),
        NetworkCommand::Block(options) => block::block(options, program),
        NetworkCommand::Unblock(options) => block::unblock(options, program),
        NetworkCommand::Purge(options) => block::purge(options, program),
        NetworkCommand::Trust(options) => block::trust(options, program),
        NetworkCommand::Untrust(options) => block::untrust(options, program),
        NetworkCommand::Demo(options) => demo::run(options, program),
        NetworkCommand::Extract => extract::run(program),
    }
}
