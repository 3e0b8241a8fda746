//! The options of `furui invite`.

use clap::Args;

use super::node::NodeAddress;

/// Print the line by which others join the private network of a node
///
/// The line has the key of the network, its name, and addresses of the node. Send it by a way that nobody else reads:
/// whoever has it is in the network. On another machine, "furui node --join LINE" joins.
#[derive(Args)]
pub struct InviteOptions {
    #[command(flatten)]
    pub node: NodeAddress,
}
