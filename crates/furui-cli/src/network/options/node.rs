//! The options of `furui node`, and how the commands that ask one reach it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

/// A node of a search engine that nobody owns: keeps a part of the lists of words, and answers
///
/// Prints the addresses under which others reach it, one a line as "listening ADDRESS", then "http ADDRESS", before
/// anything else. Runs until it is interrupted. Without --listen it listens on all network interfaces, so that other nodes
/// can reach it.
#[derive(Args)]
pub struct NodeOptions {
    /// Directory for the node's identity, lists and documents; it is made if it is missing. Needed, here or in a file
    #[arg(long, value_name = "DIR", required_unless_present = "config", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Where other nodes reach this one, as in /ip4/0.0.0.0/tcp/4001; may be repeated, port 0 picks one
    /// [default: /ip4/0.0.0.0/tcp/0]
    #[arg(long, value_name = "MULTIADDR")]
    pub listen: Vec<String>,
    /// Where other nodes reach this one, if that is not where it listens: behind a router that forwards a port; may be
    /// repeated
    #[arg(long, value_name = "MULTIADDR")]
    pub external: Vec<String>,
    /// Where its page is, and "furui publish" and "furui search" reach it; port 0 picks one. Whoever reaches it may publish
    /// and search [default: 127.0.0.1:7717]
    #[arg(long, value_name = "HOST:PORT")]
    pub http: Option<SocketAddr>,
    /// A node that is in the network, with its identity, as in /ip4/192.0.2.1/tcp/4001/p2p/12D3…; may be repeated.
    /// Without one this is the first node
    #[arg(long, value_name = "MULTIADDR")]
    pub bootstrap: Vec<String>,
    /// A TOML file with these options under their long names, as http = "127.0.0.1:7717" and, for what may be repeated,
    /// bootstrap = ["…"]. What is given here goes before what is there; a relative path in it begins at its directory
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
}

/// The node to ask.
#[derive(Args)]
pub struct NodeAddress {
    /// The node's HTTP address, as "furui node" prints it
    #[arg(long = "node", value_name = "URL", default_value = "http://127.0.0.1:7717", value_parser = http)]
    pub url: String,
}

/// An address that a node may have, without a slash at its end.
fn http(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#']) => Ok(format!("http://{host}")),
        _ => Err("a node is reached at an address like http://127.0.0.1:7717".into()),
    }
}
