//! The options of `furui unpublish`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::node::NodeAddress;

/// Withdraw documents that were published, so that no node finds them any more
///
/// Only documents that this node has published can be withdrawn. A document that other nodes have published, too, can
/// be found until these nodes withdraw it.
#[derive(Args)]
#[group(required = true, multiple = true, args = ["urls", "from", "all"])]
pub struct UnpublishOptions {
    /// The URLs of the documents
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Read the URLs from a file, one a line; "-" is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub from: Option<PathBuf>,
    /// Withdraw everything that this node has published
    #[arg(long, conflicts_with_all = ["urls", "from"])]
    pub all: bool,
    #[command(flatten)]
    pub node: NodeAddress,
}
