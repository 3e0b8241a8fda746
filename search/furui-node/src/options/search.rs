//! The options of `furui search`.

use clap::Args;

use super::between;
use super::node::{CodingOptions, NodeAddress};

/// Find the documents that contain all of the words
///
/// a b finds documents with both words; a OR b, documents with at least one of the words; a -b, documents with the
/// first word and without the second; '"a b"', documents with b directly after a; and site:example.org, documents on
/// that host and its subdomains. Parentheses group words. Quotes and parentheses must be quoted in the shell.
#[derive(Args)]
pub struct SearchOptions {
    /// The words, after all options; -WORD excludes a word. If the first word is excluded, write -- before it
    #[arg(value_name = "QUERY", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub query: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
    /// Print a line of JSON for each document (id, url, title, snippet, score, and the byte ranges of the words in
    /// title and snippet: title_marks, marks; and if other documents have the URL, publishers, and also: the ids and
    /// publishers of these), and a last line with total and bytes
    #[arg(long)]
    pub json: bool,
    /// Show the N-th document in the program that the system has for its address, and print its title and URL only
    ///
    /// Addresses of the web are opened, and files that this node publishes from a watched directory, which the node
    /// itself shows
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "explain", "limit"],
        value_parser = between::<u64>(1, u64::MAX))]
    pub open: Option<u64>,
    /// Do not show the results in a pager
    ///
    /// On a terminal, they are shown in the program of the environment variable PAGER, or in less. NO_PAGER=1 is the
    /// same as this option
    #[arg(long)]
    pub no_pager: bool,
    /// Print at most N documents
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = between::<u64>(1, u64::MAX))]
    pub limit: u64,
    #[command(flatten)]
    pub coding: CodingOptions,
    /// Also print each step of the search: what was sent in which coding, and the size of every message
    #[arg(long)]
    pub explain: bool,
}
