//! The options of `furui demo`.

use clap::Args;

use super::between;

/// Show the search engine: some nodes on this machine, a few hundred sample documents, and the page to search them
///
/// One of the nodes is yours; the other nodes play the rest of the world. Everything is in memory, and can be reached
/// from this machine only. ^C ends the demo, and nothing is left of it.
#[derive(Args)]
pub struct DemoOptions {
    /// The port of the page, on 127.0.0.1 [default: 7717, or a free one if that is taken]
    #[arg(long, value_name = "PORT", value_parser = between::<u16>(0, u16::MAX.into()))]
    pub port: Option<u16>,
    /// The number of nodes
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = between::<u8>(2, 20))]
    pub nodes: u8,
    /// Print the address of the page, and open no browser
    #[arg(long)]
    pub no_open: bool,
}
