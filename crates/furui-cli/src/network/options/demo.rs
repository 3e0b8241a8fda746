//! The options of `furui demo`.

use clap::Args;

use crate::number;

/// Show the search engine: some nodes on this machine, a few hundred sample documents, and the page to search them
///
/// One of the nodes is yours, the others play the rest of the world. All of it is in memory, and reached from this machine
/// only; ^C ends it and leaves nothing behind.
#[derive(Args)]
pub struct DemoOptions {
    /// Where the page is, on 127.0.0.1 [default: 7717, or a free one if that is taken]
    #[arg(long, value_name = "PORT", value_parser = number::between::<u16>(0, u16::MAX.into()))]
    pub port: Option<u16>,
    /// How many nodes
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::between::<u8>(2, 20))]
    pub nodes: u8,
    /// Print the page's address, and open it in no browser
    #[arg(long)]
    pub no_open: bool,
}
