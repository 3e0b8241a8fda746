//! The options of `furui mcp`.

use clap::Args;

use super::node::NodeAddress;

/// Let a program for language models search: a server of the Model Context Protocol, on standard input and output
///
/// It has two tools: search finds documents, and fetch reads one. Both ask a running node. The program starts this
/// command itself; it ends when its standard input does.
#[derive(Args)]
pub struct McpOptions {
    #[command(flatten)]
    pub node: NodeAddress,
}
