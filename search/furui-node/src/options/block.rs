//! The options of `furui block`, `furui unblock`, `furui purge`, `furui trust` and `furui untrust`.

use clap::Args;

use super::node::NodeAddress;

/// Block peers, addresses, sites and words on this node; without arguments, print what is blocked
///
/// The node does not speak with blocked peers and addresses, stores nothing under a blocked word, and neither stores
/// nor shows documents of a blocked site, nor shows what a blocked peer alone has published. What it has already stored
/// is kept: see "furui purge". The list is the file "blocked" in the node's directory, which the node reads again on
/// SIGHUP. Other nodes are not told.
#[derive(Args)]
pub struct BlockOptions {
    /// A peer (12D3…), an address or network (192.0.2.0/24), a site (example.org, with the hosts below it), or a word
    #[arg(value_name = "PEER|PREFIX|SITE|WORD")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
}

/// Trust publishers: under one URL, their text is shown before those of others; without arguments, print who is trusted
///
/// Without this, the text that was published from most networks is shown, then the oldest. The list is the file
/// "trusted" in the node's directory, which the node reads again on SIGHUP. Other nodes are not told.
#[derive(Args)]
pub struct TrustOptions {
    /// The name of a peer (12D3…), as "furui search --json" shows it
    #[arg(value_name = "PEER")]
    pub peers: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
}

/// Trust publishers no longer
#[derive(Args)]
pub struct UntrustOptions {
    /// The name of a peer, as it was trusted
    #[arg(value_name = "PEER", required = true)]
    pub peers: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
}

/// Unblock what "furui block" blocked
#[derive(Args)]
pub struct UnblockOptions {
    /// What is to be unblocked, as it was blocked
    #[arg(value_name = "PEER|PREFIX|SITE|WORD", required = true)]
    pub what: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
}

/// Remove from this node what a peer or network sent, the documents of a site, or the list of a word
///
/// What is published through this node is kept, apart from the lists of words. Other nodes keep what they have, and
/// send it again unless it is blocked: see "furui block".
#[derive(Args)]
pub struct PurgeOptions {
    /// A peer (12D3…), an address or network (192.0.2.0/24), a site (example.org, with the hosts below it), or a word
    #[arg(value_name = "PEER|PREFIX|SITE|WORD", required = true)]
    pub what: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
}
