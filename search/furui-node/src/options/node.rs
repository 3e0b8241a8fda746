//! The options of `furui node`, and the options by which other commands reach a node.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use furui::filter::sizing;
use furui::text;
use furui_search::Wants;

use super::service::ServiceOptions;

/// Run a node of a search engine that nobody owns: it keeps a part of the index, and answers searches
///
/// At first it prints the addresses at which other nodes reach it, as lines "listening ADDRESS", and then "http
/// ADDRESS". It runs until it is interrupted. Without --listen it listens on all network interfaces, so that other
/// nodes can reach it.
///
/// The nodes of a private network speak with nobody who does not have its key: --new-network makes one, and --join
/// brings others into it. All other nodes are in the open network.
#[derive(Args)]
#[command(next_help_heading = "Node")]
pub struct NodeOptions {
    /// The directory of the node, for its identity, index and documents
    ///
    /// It is created if it does not exist [default: furui/node in $XDG_DATA_HOME, which is ~/.local/share if it is not
    /// set]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// An address to listen on for other nodes; may be repeated
    ///
    /// Such as /ip4/0.0.0.0/tcp/4001. Port 0 picks the port of the last run, if it is free, or any free one [default:
    /// /ip4/0.0.0.0/tcp/0 and /ip6/::/tcp/0]
    #[arg(long, value_name = "MULTIADDR")]
    pub listen: Vec<String>,
    /// Another address at which other nodes reach this one; may be repeated
    ///
    /// For example behind a router that forwards a port
    #[arg(long, value_name = "MULTIADDR")]
    pub external: Vec<String>,
    /// The address of the page, and for commands [default: 127.0.0.1:7717]
    ///
    /// Port 0 picks a free port. Anybody who can reach this address may publish and search, unless there is a token,
    /// without which only an address of this machine is taken
    #[arg(long, value_name = "HOST:PORT")]
    pub http: Option<SocketAddr>,
    /// The address of a node in the network; may be repeated
    ///
    /// It ends with the identity of that node, such as /ip4/192.0.2.1/tcp/4001/p2p/12D3…, or it is a name with
    /// addresses in its DNS records, such as /dnsaddr/node.example. A node that has met others finds them again without
    /// it
    #[arg(long, value_name = "MULTIADDR")]
    pub bootstrap: Vec<String>,
    /// The most that the node keeps on disk for other nodes, such as 20GiB
    ///
    /// When it is reached, the oldest documents of the node that stored most, from the address that stored most, are
    /// removed to make room, and a node that would then have more is refused. What is published through this node is
    /// always kept [default: 10GiB, or a tenth of the disk if that is less]
    #[arg(long, value_name = "SIZE", value_parser = text::size)]
    pub disk: Option<u64>,
    /// A TOML file with these options
    ///
    /// Each has its long name, such as http = "127.0.0.1:7717" and, if an option may be repeated, bootstrap = ["…"].
    /// Options on the command line take precedence. Relative paths begin at the directory of the file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub private: PrivateOptions,
    #[command(flatten)]
    pub service: ServiceOptions,
    #[command(flatten)]
    pub coding: CodingOptions,
}

/// The ways into a private network. A node that is in one stays in it, and needs none of these options again.
#[derive(Args, Default)]
#[command(next_help_heading = "A private network")]
pub struct PrivateOptions {
    /// Make a network, and write its key to this new file
    ///
    /// Only those who have the key enter the network, of which this is the first node. Keep the file as a copy. "furui
    /// invite" prints the line by which others join
    #[arg(long, value_name = "FILE", conflicts_with = "join", value_hint = ValueHint::FilePath)]
    pub new_network: Option<PathBuf>,
    /// The name of the new network, for people [default: furui]
    ///
    /// It has letters, digits, dots, - and _
    #[arg(long, value_name = "NAME", requires = "new_network")]
    pub network_name: Option<String>,
    /// Join a network by the line that "furui invite" prints
    ///
    /// @FILE reads the line from a file, so that other users of this machine do not see the key in the list of
    /// processes
    #[arg(long, value_name = "LINE")]
    pub join: Option<String>,
    /// Change to another network, with the documents
    ///
    /// LINE is as for --join; without it, the documents go into the network that --new-network makes. To remove
    /// somebody, make a new network so, and send its line to the others, who say --rekey LINE
    #[arg(long, value_name = "LINE", num_args = 0..=1, conflicts_with = "join")]
    pub rekey: Option<Option<String>>,
    /// Do not look for nodes of the network in the local networks
    ///
    /// By multicast DNS, a node of a private network tells its addresses to the local networks of this machine, and
    /// finds others there
    #[arg(long)]
    pub no_mdns: bool,
}

/// How the lists of words are sent between nodes. The documents that are found do not depend on it.
#[derive(Args, Default)]
#[command(next_help_heading = "The papers' codings")]
pub struct CodingOptions {
    /// How searches send lists between nodes
    ///
    /// This changes the traffic, not the answer: best takes the fewest bits;
    /// naive sends ids; fixed sends Bloom filters of one size for all lists; ringed sends Bloom filters sized for each
    /// list; golomb is like best, but without a third message [default: best or, for a search, the coding of the node]
    #[arg(long, value_name = "CODING", value_parser = PossibleValuesParser::new(Wants::NAMES))]
    pub coding: Option<String>,
    /// The false-positive rate of fixed and ringed filters
    ///
    /// [default: 1/32 for fixed; for ringed the best rate for each pair of lists]
    #[arg(long, value_name = "RATE", value_parser = rate, requires = "coding")]
    pub rate: Option<f64>,
}

/// Parses a rate: `0.01`, `1e-2` or `1%`.
fn rate(text: &str) -> Result<f64, &'static str> {
    let rate = sizing::parse_rate(text).filter(|&rate| rate > 0.0 && rate < 1.0);
    rate.ok_or("not a rate, which is more than 0 and less than 1, such as 0.01 or 1%")
}

/// The address of a node, for commands that send requests to it.
#[derive(Args, Default)]
pub struct NodeAddress {
    /// The node's HTTP address, as "furui node" prints it
    #[arg(long = "node", value_name = "URL", default_value = "http://127.0.0.1:7717", value_parser = http)]
    pub url: String,
    /// A file with the node's token, if the node was started with --http-token
    ///
    /// It has the same text as the file that "furui node --http-token" names. Without this option, the token is taken
    /// from the environment variable FURUI_TOKEN, if that is set
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token: Option<PathBuf>,
}

/// Parses the address of a node, and removes a slash at its end.
pub fn http(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#']) => Ok(format!("http://{host}")),
        _ => Err("a node is reached at an address like http://127.0.0.1:7717".into()),
    }
}
